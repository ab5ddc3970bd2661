//! Too little was measured for what is shown.

use super::{Rule, rule};
use crate::plan::Plan;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::trials;
use crate::record::{Latency, LevelChange, Severity, Trial, Warning};
use crate::stats;
use crate::units::{show_count, show_nanos, show_rate, show_share};

pub(super) const FEW: Rule = rule(14, "few", "fewer trials than an interval needs", few);
pub(super) const CUT: Rule = rule(14, "cut", "a trial was ended by the budget or a signal", cut);
pub(super) const SHORT_TRIAL: Rule =
    rule(14, "short-trial", "trials so short that one interruption decides them", short_trial);
pub(super) const FEW_OPERATIONS: Rule =
    rule(14, "few-operations", "fewer operations than a mean needs", few_operations);
pub(super) const FEW_FOR_PERCENTILE: Rule =
    rule(14, "few-for-percentile", "fewer operations than a percentile needs", few_for_percentile);
pub(super) const WIDE: Rule =
    rule(14, "wide", "the interval is wider than the differences it should show", wide);
pub(super) const TWO_MODES: Rule = rule(
    15,
    "two-modes",
    "the trials form two groups, and the median is one of them by chance",
    two_modes,
);

/// A preempted virtual CPU is away for 4 to 8 ms: a tenth of this.
const SHORT: u64 = 50_000_000;
/// Values from which the mean of a skewed distribution is near normal: the usual rule of thumb.
const MEAN: u64 = 30;
/// An answer is "the smallest block within 5 % of the peak": a wider interval cannot tell.
const NARROW: f64 = 0.05;
/// From here on the ends of the interval differ by about a factor of two: not even the order of the
/// figure is sure.
const UNKNOWN: f64 = 1.0 / 3.0;
/// Operations that a percentile needs: ten beyond it.
const PERCENTILES: [(&str, u64); 4] =
    [("p50", 20), ("p90", 100), ("p99", 1_000), ("p99.9", 10_000)];

fn few(evidence: &CellEvidence) -> Option<Warning> {
    let count = evidence.counted().len();
    if count == 0 || count >= Plan::ROUNDS as usize {
        return None;
    }
    let whole = match count {
        _ if count == evidence.trials.len() => "",
        1 => " that was not cut",
        _ => " that were not cut",
    };
    FEW.warn(
        Severity::Misleading,
        format!("{}{whole} cannot give a confidence interval", trials(count)),
        format!("{} are needed", Plan::ROUNDS),
        "use --trials 5 or more, or a longer --budget",
    )
}

fn cut(evidence: &CellEvidence) -> Option<Warning> {
    let count = evidence.which(|t| t.short).len();
    if count == 0 {
        return None;
    }
    let remedy = "use a longer --budget or a shorter --trial-time";
    let whole = evidence.trials.len() - count;
    if whole == 0 {
        let message =
            "no trial came to its end: the rates are those of what was done until the cut".into();
        return CUT.warn(
            Severity::Misleading,
            message,
            format!("the budget or a signal cut {}", evidence.count()),
            remedy,
        );
    }
    CUT.warn(
        Severity::Note,
        format!(
            "the budget or a signal cut trials short {}: the rates leave them out",
            evidence.of_trials(count)
        ),
        format!("rates of {}; latencies and the source of the bytes are of all", trials(whole)),
        remedy,
    )
}

fn short_trial(evidence: &CellEvidence) -> Option<Warning> {
    let times: Vec<f64> = evidence.counted().iter().map(|t| t.nanos as f64).collect();
    let median = stats::median(&times)?;
    if median >= SHORT as f64 {
        return None;
    }
    SHORT_TRIAL.warn(
        Severity::Misleading,
        format!(
            "a trial took {}: one interruption by the scheduler decides it",
            show_nanos(median)
        ),
        format!("{} or more is wanted", show_nanos(SHORT as f64)),
        "use a longer --trial-time, a larger --count or a larger --size",
    )
}

fn few_operations(evidence: &CellEvidence) -> Option<Warning> {
    let ops = match evidence.latency {
        Some(latency) => latency.count.into(),
        None => evidence.sum(|t| t.ops),
    };
    if evidence.trials.is_empty() || ops >= MEAN.into() {
        return None;
    }
    FEW_OPERATIONS.warn(
        Severity::Misleading,
        format!("{ops} operations were timed: too few for a mean latency"),
        format!("over {}; {MEAN} are needed", evidence.count()),
        "use a smaller --block-size, a larger --size or more --trials",
    )
}

fn few_for_percentile(evidence: &CellEvidence) -> Option<Warning> {
    let latency: &Latency = evidence.latency?;
    let remedy = "use more --trials or a longer --trial-time";
    let shown = [latency.p50, latency.p90, latency.p99, latency.p999];
    let count = show_count(latency.count as f64);
    let bad = PERCENTILES
        .iter()
        .zip(shown)
        .find(|((_, needed), value)| value.is_some() && latency.count < *needed);
    if let Some(((name, needed), _)) = bad {
        let message = format!("{count} operations are too few for {name}: it is chance");
        return FEW_FOR_PERCENTILE.warn(
            Severity::Misleading,
            message,
            format!("{needed} are needed"),
            remedy,
        );
    }
    let (name, needed) = PERCENTILES[2];
    if latency.count < MEAN || latency.count >= needed {
        return None;
    }
    FEW_FOR_PERCENTILE.warn(
        Severity::Note,
        format!("{count} operations are too few for {name}, so none is shown"),
        format!("{needed} are needed"),
        remedy,
    )
}

fn wide(evidence: &CellEvidence) -> Option<Warning> {
    let half = evidence.spread.half_width.filter(|half| *half > NARROW)?;
    let outliers = match evidence.spread.outliers {
        0 => String::new(),
        count => format!(", {count} of them far off"),
    };
    // Every table shows the interval beside the figure.
    WIDE.warn(
        if half >= UNKNOWN { Severity::Misleading } else { Severity::Note },
        format!("the median is only known to ±{}", show_share(half)),
        format!("95 % interval of {}{outliers}", trials(evidence.counted().len())),
        "use more --trials or a longer --trial-time on a quiet machine",
    )
}

fn two_modes(evidence: &CellEvidence) -> Option<Warning> {
    let (one, other) = evidence.spread.two_modes?;
    // A change over time is told as that.
    if LevelChange::of(evidence.trials).is_some() {
        return None;
    }
    let (slow, fast) = (one.min(other), one.max(other));
    let show = |rate: f64| match evidence.trials().any(|t| t.bytes > 0) {
        true => show_rate(rate),
        false => format!("{} operations/s", show_count(rate).trim()),
    };
    TWO_MODES.warn(
        Severity::Misleading,
        format!("the trials form two groups, around {} and {}: no single number holds", show(slow), show(fast)),
        format!("{}, the slow ones {}", trials(evidence.counted().len()), slow_ones(evidence, slow, fast)),
        "look at the single trials and what differs between the groups; more --trials show which is usual",
    )
}

/// The numbers of the trials nearer to the slow group: `1 to 3, 7`.
fn slow_ones(evidence: &CellEvidence, slow: f64, fast: f64) -> String {
    let moves = evidence.trials().any(|t| t.bytes > 0);
    let value = |t: &Trial| if moves { t.throughput() } else { t.operations() };
    let is_slow = |t: &Trial| !t.short && (value(t) - slow).abs() < (value(t) - fast).abs();
    let numbers: Vec<usize> =
        evidence.trials().enumerate().filter(|(_, t)| is_slow(t)).map(|(at, _)| at + 1).collect();
    let runs: Vec<String> = numbers
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| {
            if run.len() == 1 {
                run[0].to_string()
            } else {
                format!("{} to {}", run[0], run[run.len() - 1])
            }
        })
        .collect();
    if runs.is_empty() { "not known".into() } else { runs.join(", ") }
}
