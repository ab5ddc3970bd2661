//! Sessions against each other: which cells are faster, by how much, and what else differs between
//! the runs.
//!
//! A difference needs an interval of the ratio that does not hold 1, with what the machine differs
//! by itself in it; that there is none needs an interval too narrow for one that matters. A result
//! that is warned to be wrong is listed and not judged. A pure function of the sessions and of what
//! kept runs show of the machine.

mod beside;
mod differences;
mod drift;
mod matching;
mod probed;
mod reported;
mod text;

#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::cmp::Ordering;

use serde::Serialize;

use crate::analysis::{CellResult, SummaryOf, results};
use crate::plan::{Job, ProbeCell};
use crate::session::Session;
use crate::stats::{Ratio, Summary};
use crate::text::clean_text;

pub use beside::Beside;
pub use differences::{Difference, machines};
pub use drift::{Basis as DriftBasis, Drift, Kept, alike};
pub use matching::Alone;
pub use probed::ProbePair;
pub use text::times;

/// The name and version of the JSON; keys may be added without a new one.
const SCHEMA: &str = "iotui-compare/1";

/// Cells that differ by less than this are said to be without a difference.
pub const TOLERANCE: f64 = 0.05;

/// One session against each of the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub schema: &'static str,
    pub base: Side,
    pub others: Vec<Versus>,
}

/// One of the sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// How it is called in texts: `A` is the base, `B` the first of the others.
    pub letter: String,
    pub session: String,
    pub name: String,
    pub created: String,
    pub host: String,
    pub target: String,
}

/// One session against the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Versus {
    pub side: Side,
    /// One line that sums it up.
    pub text: String,
    /// What else could be the cause.
    pub differences: Vec<Difference>,
    /// The cells that both measured, in the order of the base.
    pub cells: Vec<Pair>,
    /// What the machine differs by itself, as far as it is known; null against a reference.
    pub drift: Option<Drift>,
    /// Cells that differ in one more than the job, laid beside each other without a ratio.
    pub beside: Vec<Beside>,
    /// The cells that only one of them measured.
    pub alone: Vec<Alone>,
    /// The probes that both measured, in the order of the base.
    pub probes: Vec<ProbePair>,
    pub probes_alone: Vec<Alone<ProbeCell>>,
}

/// What is said of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Outcome {
    #[serde(rename = "faster")]
    Faster,
    #[serde(rename = "slower")]
    Slower,
    /// None that matters: the whole interval lies within [`TOLERANCE`] of 1.
    #[serde(rename = "no difference")]
    Same,
    /// The interval holds 1, and differences that matter.
    #[serde(rename = "cannot be told")]
    Unclear,
    /// Of sizes, which are no speed.
    #[serde(rename = "larger")]
    Larger,
    #[serde(rename = "smaller")]
    Smaller,
    /// Under 5 trials on a side.
    #[serde(rename = "too few trials")]
    TooFew,
    /// A side is warned to be wrong.
    #[serde(rename = "wrong")]
    Wrong,
    /// A side has no figure above 0, or failed.
    #[serde(rename = "failed")]
    Failed,
}

impl Outcome {
    /// What is said where a side failed or is wrong, and of a ratio; `speed`: it is one of speeds,
    /// not of sizes.
    fn of(failed: bool, wrong: bool, ratio: Option<Ratio>, speed: bool) -> Outcome {
        match (failed, wrong, ratio.map(|ratio| ratio.verdict())) {
            (true, ..) | (_, false, None) => Outcome::Failed,
            (_, true, _) => Outcome::Wrong,
            (.., Some(None)) => Outcome::TooFew,
            (.., Some(Some(Ordering::Equal)))
                if ratio.is_some_and(|ratio| ratio.is_alike(TOLERANCE)) =>
            {
                Outcome::Same
            }
            (.., Some(Some(Ordering::Equal))) => Outcome::Unclear,
            (.., Some(Some(Ordering::Greater))) => {
                if speed {
                    Outcome::Faster
                } else {
                    Outcome::Larger
                }
            }
            (.., Some(Some(Ordering::Less))) => {
                if speed {
                    Outcome::Slower
                } else {
                    Outcome::Smaller
                }
            }
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Outcome::Faster => "faster",
            Outcome::Slower => "slower",
            Outcome::Same => "no difference",
            Outcome::Unclear => "cannot be told",
            Outcome::Larger => "larger",
            Outcome::Smaller => "smaller",
            Outcome::TooFew => "too few trials",
            Outcome::Wrong => "wrong",
            Outcome::Failed => "failed",
        }
    }
}

/// One cell, of a job or a probe, in both sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair<Cell = Job> {
    /// As the base measured it.
    pub cell: Cell,
    pub outcome: Outcome,
    /// How much faster than the base: by bytes or, where none are moved, by operations per second;
    /// of times the inverse ratio. Of sizes, how much larger. What the machine differs by itself is
    /// in its interval.
    pub ratio: Option<Ratio>,
    /// The factor by which equal cells of two runs may differ on this machine, 95 %; `None` where
    /// it is not known.
    pub drift: Option<f64>,
    pub base: Option<SummaryOf>,
    pub other: Option<SummaryOf>,
    pub base_trials: usize,
    pub other_trials: usize,
    /// Why it is not judged: the warning or the error.
    pub reason: Option<String>,
}

/// The first session against each of the others, by what these sessions tell; `None` for no session
/// at all.
pub fn compare<S: Borrow<Session>>(sessions: &[S]) -> Option<Comparison> {
    compare_with(sessions, &Kept::default())
}

/// The same, with what kept runs of the same cells show of how much the machine differs by itself.
pub fn compare_with<S: Borrow<Session>>(sessions: &[S], kept: &Kept) -> Option<Comparison> {
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
    kept: &Kept,
) -> Versus {
    let results = results(other);
    let side = side(other, letter);
    let mut found = matching::matched([base, other], [measured, &results], &side.letter);
    let mut beside = Vec::new();
    if base.reference.is_some() || other.reference.is_some() {
        beside = beside::laid([measured, &results], &found.pairs, &mut found.alone);
    }
    let told = match (base.reference, other.reference) {
        (Some(_), None) => Told::Other,
        (None, Some(_)) => Told::Base,
        _ => Told::Both,
    };
    let widen =
        drift::Widen::of(&found.pairs, kept, told == Told::Both && drift::alike(base, other));
    let cells: Vec<Pair> = found.pairs.iter().map(|(a, b)| pair(a, b, told, &widen)).collect();
    let differences = differences::between([base, other], [measured, &results], found.left_out);
    let (probes, probes_alone) = probed::matched([base, other], told, &side.letter, kept);
    let of_probes = probed::text(&side.letter, &probes, probes_alone.len());
    let of_jobs = of_probes.is_none() || !cells.is_empty() || !found.alone.is_empty();
    let of_jobs = of_jobs.then(|| match told {
        Told::Both => text::text(&side.letter, &cells, found.alone.len()),
        _ => reported::text(base, other, &side.letter, &cells, found.alone.len()),
    });
    let of_reference = told.said(&side.letter);
    let drift = (told == Told::Both)
        .then(|| drift::told(&cells, &probes, kept, drift::alike(base, other)))
        .flatten();
    let laid = beside::said(&beside);
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
    /// The sum, and what its intervals hold.
    pub fn said(&self) -> String {
        self.drift
            .as_ref()
            .map_or(self.text.clone(), |drift| format!("{} {}", self.text, drift.text))
    }
}

/// Whose trials an interval comes from: figures of a report have none that could be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Both,
    /// Only the base was measured.
    Base,
    /// Only the other was measured.
    Other,
}

impl Told {
    /// Whose trials the intervals are made from, where it is one side's only.
    fn said(self, letter: &str) -> Option<String> {
        let (reference, measured) = match self {
            Told::Both => return None,
            Told::Base => (letter, "A"),
            Told::Other => ("A", letter),
        };
        Some(format!(
            "{reference} is a reference: its figures are as reported, and the intervals come from {measured}'s trials only."
        ))
    }

    /// The ratio of medians, with the interval of the sides that were measured.
    fn ratio(self, of: &Summary, base: &Summary) -> Option<Ratio> {
        let exact = |summary: &Summary| Summary {
            low: Some(summary.median),
            high: Some(summary.median),
            ..*summary
        };
        match self {
            Told::Both => Ratio::of(of, base),
            Told::Base => Ratio::of(&exact(of), base),
            Told::Other => Ratio::of(of, &exact(base)),
        }
    }
}

fn pair(base: &CellResult, other: &CellResult, told: Told, widen: &drift::Widen) -> Pair {
    let figures = match (base.throughput, other.throughput) {
        (Some(a), Some(b)) => (Some(a), Some(b)),
        _ => (base.operations, other.operations),
    };
    let by = widen.by(&base.cell);
    let ratio = figures
        .0
        .zip(figures.1)
        .and_then(|(a, b)| told.ratio(&b.summary, &a.summary))
        .map(|of| of.widened(by.unwrap_or(0.0)));
    let failed = base.error.as_ref().or(other.error.as_ref());
    let wrong = base.wrong().or(other.wrong());
    Pair {
        cell: base.cell.clone(),
        outcome: Outcome::of(failed.is_some(), wrong.is_some(), ratio, true),
        ratio,
        drift: by.filter(|_| ratio.is_some()).map(f64::exp),
        base: figures.0,
        other: figures.1,
        base_trials: base.counted().len(),
        other_trials: other.counted().len(),
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
        target: clean_text(&differences::path(&session.plan.target)),
    }
}

/// `A` to `Z`, then `S27`.
fn letter(at: usize) -> String {
    match u8::try_from(at) {
        Ok(at @ 0..26) => char::from(b'A' + at).to_string(),
        _ => format!("S{}", at + 1),
    }
}
