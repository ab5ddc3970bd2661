//! Whether the shown figures can be trusted.

use super::model::{Grade, Statement};
use crate::analysis::{CellResult, MIN_TRIALS, ProbeResult, brief_words, group_by_key, kind_words};
use crate::record::{Severity, Warning};
use crate::session::Session;
use crate::stats::Summary;
use crate::units::{show_share, show_trials};

/// Wider intervals need more trials.
const NARROW: f64 = 0.1;

/// One shown figure.
struct Shown<'a> {
    trials: usize,
    summary: Option<Summary>,
    warnings: &'a [Warning],
}

/// Returns `9 trials of each, every interval within ±4 %`, or why the figures are less certain,
/// with what ended the run; and the other warnings about figures of too few trials.
pub fn trust(
    session: &Session,
    results: &[&CellResult],
    probes: &[ProbeResult],
    settled: Option<(bool, String)>,
    widest: Option<f64>,
) -> (Statement, Option<Statement>) {
    if session.reference.is_some() {
        let text = "figures of a published report, without intervals".into();
        return (Statement { grade: Grade::Unfinished, text }, None);
    }
    let of_results = results.iter().map(|result| Shown {
        trials: result.counted_trials().len(),
        summary: result.throughput.or(result.operations).map(|of| of.summary),
        warnings: &result.warnings,
    });
    let of_probes = probes.iter().filter(|probe| probe.value.is_some()).map(|probe| Shown {
        trials: probe.counted_trials().len(),
        summary: probe.value.map(|of| of.summary),
        warnings: &probe.warnings,
    });
    let mut shown: Vec<Shown> = of_results.collect();
    if shown.is_empty() {
        shown = of_probes.collect();
    }
    let steady = session.plan.steady;
    let has_no_interval =
        |figure: &Shown| figure.summary.and_then(|summary| summary.half_width()).is_none();
    let (mut sure, mut counts) = match steady && shown.iter().any(has_no_interval) {
        true => (false, "too short for five rounds".into()),
        false if session.plan.watch => (true, "one trial, as in every watch".into()),
        false => describe_counts(&shown, widest),
    };
    if let Some((is_settled, end)) = settled {
        sure |= is_settled;
        counts += &format!("; {end}");
    }
    let is_first_look =
        !session.plan.has_long_trials() && shown.iter().any(|figure| figure.trials < MIN_TRIALS);
    match describe_warnings(&shown) {
        Some((grade, said)) => {
            let beside = Statement { grade, text: said.clone() };
            let all = Statement { grade, text: format!("{said}; {counts}") };
            (all, is_first_look.then_some(beside))
        }
        None => {
            let grade = if sure { Grade::Good } else { Grade::Unfinished };
            (Statement { grade, text: counts }, None)
        }
    }
}

/// Describes the trials and intervals, and whether they suffice. `widest`: the half width of the
/// widest interval where other figures of these results are shown than their rates.
fn describe_counts(shown: &[Shown], widest: Option<f64>) -> (bool, String) {
    let counts = || shown.iter().map(|figure| figure.trials);
    let (Some(least), Some(most)) = (counts().min(), counts().max()) else {
        return (true, String::new());
    };
    let trials = match (least, most) {
        (one, other) if one == other && shown.len() == 1 => show_trials(one),
        (one, other) if one == other => format!("{} of each", show_trials(one)),
        (one, other) => format!("{one} to {other} trials of each"),
    };
    let widths = shown.iter().map(|figure| figure.summary.and_then(|of| of.half_width()));
    let Some(widths) = widths.collect::<Option<Vec<f64>>>() else {
        return (false, format!("first look: {trials}, {MIN_TRIALS} give an interval"));
    };
    let width = widest.unwrap_or_else(|| widths.into_iter().fold(0.0, f64::max));
    let rounded = |round: fn(f64) -> f64| show_share(round(width * 100.0) / 100.0);
    match width {
        ..0.01 => (true, format!("{trials}, every interval within ±1 %")),
        ..=NARROW => (true, format!("{trials}, every interval within ±{}", rounded(f64::ceil))),
        // As next to the figures.
        _ => (false, format!("{trials}, intervals up to ±{}", rounded(f64::round))),
    }
}

/// Describes the gravest warning among the figures, and how many have one of its severity.
fn describe_warnings(shown: &[Shown]) -> Option<(Grade, String)> {
    // Trials and intervals are described already.
    let is_grave = |warning: &&Warning, severity: Severity| {
        warning.severity == severity && !warning.needs_trials() && warning.id != "cut"
    };
    for (severity, grade, name) in [
        (Severity::Wrong, Grade::Wrong, "wrong"),
        (Severity::Misleading, Grade::Misleading, "easily misread"),
    ] {
        let find = |figure: &Shown| figure.warnings.iter().find(|w| is_grave(w, severity)).cloned();
        let with: Vec<Warning> = shown.iter().filter_map(find).collect();
        if !with.is_empty() {
            let count = match (with.len(), shown.len()) {
                (1, 1) => "the figure is".into(),
                (1, all) => format!("1 of {all} figures is"),
                (some, all) => format!("{some} of {all} figures are"),
            };
            return Some((grade, format!("{count} {name}: {}", describe_kinds(&with))));
        }
    }
    None
}

/// Returns `3 queue never full, 2 others used the disk`, or the words of a single kind.
fn describe_kinds(warnings: &[Warning]) -> String {
    let mut kinds = group_by_key(warnings, |warning| &*warning.id);
    // The most frequent first.
    kinds.sort_by_key(|(_, own)| std::cmp::Reverse(own.len()));
    let words = |(id, own): &(&str, Vec<&Warning>)| match own.as_slice() {
        [one] => brief_words(one),
        _ => kind_words(id).to_string(),
    };
    match kinds.as_slice() {
        [one] => words(one),
        some => {
            let said = some.iter().map(|kind| format!("{} {}", kind.1.len(), words(kind)));
            said.collect::<Vec<_>>().join(", ")
        }
    }
}
