//! Compares the probes of two sessions: matched by id and parameters; the unit decides which is
//! faster.

use super::drift::{self, SavedRuns};
use super::matching::{LoneCell, list_alone, pair_up};
use super::pair::{MeasuredSides, Outcome, ProbePair};
use super::text::show_ratio;
use crate::analysis::{ProbeResult, probes, skipped_probes};
use crate::plan::ProbeCell;
use crate::session::Session;
use crate::stats::Ratio;
use crate::text::clean_text;
use crate::units::counted;

/// Probes that the summary names; the others are only counted.
const MAX_NAMED: usize = 4;

/// Returns the pairs in the order of the base, and the cells that only one session has.
pub fn match_probes(
    sessions: [&Session; 2],
    sides: MeasuredSides,
    letter: &str,
    kept: &SavedRuns,
) -> (Vec<ProbePair>, Vec<LoneCell<ProbeCell>>) {
    let results = sessions.map(probes);
    let widen = drift::WidenProbes::from_results(
        &results,
        kept,
        sides == MeasuredSides::Both && drift::is_same_setup(sessions[0], sessions[1]),
    );
    let (paired, alone) = pair_up([&results[0], &results[1]], |result| result.cell.clone());
    let pairs = paired.into_iter().map(|(base, other)| pair(base, other, sides, &widen)).collect();
    let alone = alone.map(|left| left.into_iter().map(|result| &result.cell).collect());
    let alone = list_alone(alone, letter, |side, cell| {
        let missed = skipped_probes(sessions[side]).into_iter().find(|of| of.cell == *cell);
        missed.map(|skipped| clean_text(&skipped.reason))
    });
    (pairs, alone)
}

fn pair(
    base: &ProbeResult,
    other: &ProbeResult,
    sides: MeasuredSides,
    widen: &drift::WidenProbes,
) -> ProbePair {
    let unit = base.unit.filter(|unit| other.unit == Some(*unit));
    let values = base.value.zip(other.value).filter(|_| unit.is_some());
    let by = widen.by(&base.cell);
    let ratio = values
        .and_then(|(a, b)| sides.ratio(&b.summary, &a.summary))
        .map(|of| of.widened(by.unwrap_or(0.0)));
    let speed = unit.and_then(|unit| unit.more_is_faster());
    let ratio = ratio.map(|of| if speed == Some(false) { of.inverse() } else { of });
    let bound = base.lower_bound().or(other.lower_bound());
    let apart = base.other_experiment().or(other.other_experiment()).or(bound);
    let ratio = ratio.filter(|_| apart.is_none());
    let failed = base.error.as_ref().or(other.error.as_ref());
    let wrong = base.wrong().or(other.wrong());
    let units = (unit.is_none() && base.unit.is_some() && other.unit.is_some())
        .then(|| "the units differ".into());
    ProbePair {
        cell: base.cell.clone(),
        outcome: match apart {
            Some(_) => Outcome::OtherJob,
            None => Outcome::from_ratio(failed.is_some(), wrong.is_some(), ratio, speed.is_some()),
        },
        ratio,
        drift: by.filter(|_| ratio.is_some()).map(f64::exp),
        step: None,
        base: base.value,
        other: other.value,
        base_trials: base.counted_trials().len(),
        other_trials: other.counted_trials().len(),
        reason: failed
            .map(|error| clean_text(error))
            .or(wrong.map(|warning| clean_text(&warning.message)))
            .or(apart.map(|warning| clean_text(&warning.message)))
            .or(units),
    }
}

/// Returns `Of 9 probes B is faster in fork 1.20x [1.10-1.31], slower in clock 1.50x [1.40-1.60];
/// no difference in 7.`
pub fn text(letter: &str, pairs: &[ProbePair], alone: usize) -> Option<String> {
    if pairs.is_empty() && alone == 0 {
        return None;
    }
    let count =
        |outcomes: &[Outcome]| pairs.iter().filter(|pair| outcomes.contains(&pair.outcome)).count();
    let mut said: Vec<String> =
        [Outcome::Faster, Outcome::Slower, Outcome::Larger, Outcome::Smaller]
            .into_iter()
            .filter_map(|outcome| {
                list_cells(pairs, outcome).map(|cells| format!("{} in {cells}", outcome.name()))
            })
            .collect();
    let rest = [
        (count(&[Outcome::Same]), "no difference in"),
        (count(&[Outcome::Unclear]), "inconclusive in"),
        (count(&[Outcome::TooFew]), "too few trials to tell in"),
        (pairs.iter().filter(|pair| pair.outcome.is_unjudged()).count(), "not judged in"),
    ];
    said.extend(
        rest.into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{what} {count}")),
    );
    let lone = (alone > 0)
        .then(|| format!("{} measured in only one of the two.", counted(alone, "probe")));
    let told = (!pairs.is_empty()).then(|| {
        let of = format!("Of {}", counted(pairs.len(), "probe"));
        format!("{of}, {letter} against A: {}.", said.join("; "))
    });
    Some(told.into_iter().chain(lone).collect::<Vec<_>>().join(" "))
}

/// Lists the cells with this outcome, the largest difference first.
fn list_cells(pairs: &[ProbePair], outcome: Outcome) -> Option<String> {
    let turned = |of: Ratio| {
        if matches!(outcome, Outcome::Slower | Outcome::Smaller) { of.inverse() } else { of }
    };
    let mut having: Vec<(&ProbePair, Ratio)> = pairs
        .iter()
        .filter(|pair| pair.outcome == outcome)
        .filter_map(|pair| Some((pair, turned(pair.ratio?))))
        .collect();
    having.sort_by(|a, b| b.1.ratio.total_cmp(&a.1.ratio));
    let shown =
        |(pair, of): &(&ProbePair, Ratio)| format!("{} {}", pair.cell.label(), show_ratio(of));
    let mut said: Vec<String> = having.iter().take(MAX_NAMED).map(shown).collect();
    said.extend((having.len() > MAX_NAMED).then(|| format!("{} more", having.len() - MAX_NAMED)));
    (!said.is_empty()).then(|| said.join(", "))
}
