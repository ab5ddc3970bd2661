//! Compares sessions: the faster cells, the ratios, and other differences of the runs.
//!
//! A difference needs an interval of the ratio that excludes 1, the machine's own variation
//! included; "no difference" needs an interval too narrow for one that matters. A result that is
//! marked wrong is listed and not judged. A pure function of the sessions and of saved runs.

mod beside;
mod change;
mod differences;
mod drift;
mod matching;
mod pair;
mod probed;
mod reported;
mod text;
mod variants;

#[cfg(test)]
mod tests;

use std::borrow::Borrow;

use serde::Serialize;

use crate::analysis::{CellResult, results};
use crate::plan::ProbeCell;
use crate::session::Session;
use crate::text::clean_text;

pub use beside::SideBySide;
pub use change::change;
pub use differences::{Difference, machine_differences};
use drift::Steps;
pub use drift::{Basis as DriftBasis, Drift, SavedRuns, is_same_machine, is_same_setup};
pub use matching::LoneCell;
use pair::MeasuredSides;
pub use pair::{Outcome, Pair, ProbePair};
pub use text::times;
pub use variants::{compare_variants, describe_variants, results_in};

/// The name and version of the JSON; keys may be added without a new one.
const SCHEMA: &str = "iotui-compare/1";

/// One session against each of the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub schema: &'static str,
    pub base: Side,
    pub others: Vec<Versus>,
}

impl Comparison {
    /// Returns the sessions, the base first.
    pub fn sides(&self) -> impl Iterator<Item = &Side> {
        std::iter::once(&self.base).chain(self.others.iter().map(|other| &other.side))
    }
}

/// One of the sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Its name in texts: `A` is the base, `B` the first of the others.
    pub letter: String,
    pub session: String,
    pub name: String,
    pub created: String,
    pub host: String,
    pub target: String,
    /// The name and the command of the variant, where the variants of one run are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// One session against the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Versus {
    pub side: Side,
    /// One line that sums it up.
    pub text: String,
    /// Other differences that could be the cause.
    pub differences: Vec<Difference>,
    /// The cells that both measured, in the order of the base.
    pub cells: Vec<Pair>,
    /// The machine's own variation between runs, as far as it is known; null against a reference.
    pub drift: Option<Drift>,
    /// Cells that also differ in one axis, shown side by side without a ratio.
    pub beside: Vec<SideBySide>,
    /// The cells that only one of them measured.
    pub alone: Vec<LoneCell>,
    /// The probes that both measured, in the order of the base.
    pub probes: Vec<ProbePair>,
    pub probes_alone: Vec<LoneCell<ProbeCell>>,
}

/// Compares the first session with each of the others; `None` without any session.
pub fn compare<S: Borrow<Session>>(sessions: &[S]) -> Option<Comparison> {
    compare_with(sessions, &SavedRuns::default())
}

/// Compares like [`compare`], using saved runs of the same cells to estimate the machine's own
/// variation.
pub fn compare_with<S: Borrow<Session>>(sessions: &[S], kept: &SavedRuns) -> Option<Comparison> {
    let (base, others) = sessions.split_first()?;
    let base = base.borrow();
    let measured = results(base);
    let others = others
        .iter()
        .enumerate()
        .map(|(at, other)| versus(base, &measured, other.borrow(), letter(at + 1), kept));
    Some(Comparison { schema: SCHEMA, base: side(base, letter(0)), others: others.collect() })
}

fn versus(
    base: &Session,
    measured: &[CellResult],
    other: &Session,
    letter: String,
    kept: &SavedRuns,
) -> Versus {
    let results = results(other);
    let side = side(other, letter);
    let mut found = matching::match_cells([base, other], [measured, &results], &side.letter);
    let mut beside = Vec::new();
    if base.reference.is_some() || other.reference.is_some() {
        beside = beside::pair_up([measured, &results], &found.pairs, &mut found.alone);
    }
    let sides = match (base.reference, other.reference) {
        (Some(_), None) => MeasuredSides::Other,
        (None, Some(_)) => MeasuredSides::Base,
        _ => MeasuredSides::Both,
    };
    let same = sides == MeasuredSides::Both && drift::is_same_setup(base, other);
    let widen = drift::Widen::from_pairs(&found.pairs, kept, same);
    let steps = if same { Steps::from_pairs(&found.pairs, kept) } else { Steps::default() };
    let cells: Vec<Pair> =
        found.pairs.iter().map(|(a, b)| pair(a, b, sides, &widen, &steps)).collect();
    let differences = differences::between([base, other], [measured, &results], found.left_out);
    let (probes, probes_alone) = probed::match_probes([base, other], sides, &side.letter, kept);
    let of_probes = probed::text(&side.letter, &probes, probes_alone.len());
    let of_jobs = of_probes.is_none() || !cells.is_empty() || !found.alone.is_empty();
    let of_jobs = of_jobs.then(|| match sides {
        MeasuredSides::Both => text::text(&side.letter, &cells, found.alone.len()),
        _ => reported::text(base, other, &side.letter, &cells, found.alone.len()),
    });
    let of_reference = sides.describe_reference(&side.letter);
    let drift = (sides == MeasuredSides::Both)
        .then(|| drift::describe(&cells, &probes, kept, drift::is_same_setup(base, other)))
        .flatten();
    let laid = beside::describe(&beside);
    let text = clean_text(
        &of_jobs
            .into_iter()
            .chain(of_probes)
            .chain(laid)
            .chain(of_reference)
            .collect::<Vec<_>>()
            .join(" "),
    );
    Versus {
        text,
        differences,
        cells,
        drift,
        beside,
        alone: found.alone,
        probes,
        probes_alone,
        side,
    }
}

impl Versus {
    /// Returns the summary and what its intervals include.
    pub fn describe(&self) -> String {
        self.drift
            .as_ref()
            .map_or(self.text.clone(), |drift| format!("{} {}", self.text, drift.text))
    }
}

fn pair(
    base: &CellResult,
    other: &CellResult,
    sides: MeasuredSides,
    widen: &drift::Widen,
    steps: &Steps,
) -> Pair {
    let bytes = (base.throughput, other.throughput);
    let operations = (base.operations, other.operations);
    let figures = match (bytes, operations) {
        ((Some(_), Some(_)), _) => bytes,
        (_, (Some(_), Some(_))) | ((None, None), _) => operations,
        _ => bytes,
    };
    let (by, step) = (widen.by(&base.cell), steps.of(&base.cell));
    let ratio = figures
        .0
        .zip(figures.1)
        .and_then(|(a, b)| sides.ratio(&b.summary, &a.summary))
        .map(|of| of.widened(by.unwrap_or(0.0)).reaching(step.unwrap_or(0.0)));
    let failed = base.error.as_ref().or(other.error.as_ref());
    let wrong = base.wrong().or(other.wrong());
    Pair {
        cell: base.cell.clone(),
        outcome: Outcome::from_ratio(failed.is_some(), wrong.is_some(), ratio, true),
        ratio,
        drift: by.filter(|_| ratio.is_some()).map(f64::exp),
        step: step.filter(|_| ratio.is_some()).map(f64::exp),
        base: figures.0,
        other: figures.1,
        base_trials: base.counted_trials().len(),
        other_trials: other.counted_trials().len(),
        reason: failed
            .map(|error| clean_text(error))
            .or(wrong.map(|warning| clean_text(&warning.message))),
    }
}

fn side(session: &Session, letter: String) -> Side {
    Side {
        letter,
        session: session.id.clone(),
        name: session.name.clone(),
        created: session.created.clone(),
        host: clean_text(&session.host.name),
        target: session
            .plan
            .targets()
            .map(|target| clean_text(&differences::path(target)))
            .collect::<Vec<_>>()
            .join(", "),
        variant: None,
    }
}

/// Returns the letter of a compared session by its index: `A` to `Z`, then `S27`.
pub fn letter(at: usize) -> String {
    match u8::try_from(at) {
        Ok(at @ 0..26) => char::from(b'A' + at).to_string(),
        _ => format!("S{}", at + 1),
    }
}
