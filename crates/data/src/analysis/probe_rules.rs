//! Rules for problems with a probe's figure: the counterpart of the rules for cells of jobs.

use crate::analysis::ProbeResult;
use crate::plan::Plan;
use crate::record::{self, Severity, Unit, Warning};
use crate::units::{counted, show_share, verb};

/// One rule; its findings become warnings with its id.
pub struct Rule {
    pub id: &'static str,
    judge: fn(&ProbeResult, Unit) -> Option<Found>,
}

/// Severity, message, evidence and remedy.
type Found = (Severity, String, String, &'static str);

pub static RULES: &[Rule] = &[
    Rule { id: "few-batches", judge: few },
    Rule { id: record::WIDE, judge: wide },
    Rule { id: "beyond-estimate", judge: beyond },
];

/// An interval wider than the first is worth a note; one wider than the second shows the order of
/// magnitude at best.
const NARROW: f64 = 0.05;
const WIDE: f64 = 0.2;

/// Estimates are based on round figures: only a value off by this factor contradicts one.
const FACTOR: f64 = 2.0;

/// Returns the findings of the rules for this result, the most severe first.
pub fn warnings(result: &ProbeResult) -> Vec<Warning> {
    let Some(unit) = result.unit else { return Vec::new() };
    let warn = |rule: &Rule| {
        let (severity, message, evidence, remedy) = (rule.judge)(result, unit)?;
        Some(Warning { id: rule.id.into(), severity, message, evidence, remedy: remedy.into() })
    };
    let mut found: Vec<Warning> = RULES.iter().filter_map(warn).collect();
    found.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    found
}

fn batches(count: usize) -> String {
    counted(count, "batch")
}

fn few(result: &ProbeResult, _: Unit) -> Option<Found> {
    let (count, needed) = (result.counted_trials().len(), Plan::ROUNDS as usize);
    (0 < count && count < needed).then(|| {
        let verb = verb(count, "is", "are");
        let message = format!("{} {verb} too few for a confidence interval", batches(count));
        let remedy = "use {trials} 5 or more, or a longer {budget}";
        (Severity::Misleading, message, format!("{needed} are needed"), remedy)
    })
}

fn wide(result: &ProbeResult, unit: Unit) -> Option<Found> {
    let summary = result.value?.summary;
    let width = summary.half_width().filter(|width| *width > NARROW)?;
    let severity = if width > WIDE { Severity::Misleading } else { Severity::Note };
    let message = format!("the interval is ±{} of the figure", show_share(width));
    let ends = [summary.low?, summary.high?].map(|end| unit.show(end));
    let evidence =
        format!("95 %: {} to {} from {}", ends[0], ends[1], batches(result.counted_trials().len()));
    let remedy = "use a longer {budget}, or stop other programs on this machine";
    Some((severity, message, evidence, remedy))
}

fn beyond(result: &ProbeResult, unit: Unit) -> Option<Found> {
    let (value, estimate) = (result.value?.summary.median, result.estimate.as_ref()?);
    let (end, far) = if estimate.high > 0.0 && value > FACTOR * estimate.high {
        ("upper", value / estimate.high)
    } else if estimate.low > 0.0 && value < estimate.low / FACTOR {
        ("lower", value / estimate.low)
    } else {
        return None;
    };
    let message = format!(
        "the figure is {far:.2} times the {end} end of its estimate: either the figure or the estimate is wrong"
    );
    let [value, low, high] = [value, estimate.low, estimate.high].map(|of| unit.show(of));
    let evidence = format!("measured {value}, estimated {low} to {high}: {}", estimate.reason);
    let remedy =
        "run it again on an idle machine; if it persists, the estimate does not fit this machine";
    Some((Severity::Misleading, message, evidence, remedy))
}

#[cfg(test)]
mod tests;
