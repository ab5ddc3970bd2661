//! Sessions against each other: which cells are faster, by how much, and what else differs between the runs.
//!
//! A difference needs an interval of the ratio that does not hold 1; a result that is warned to be wrong is listed and not
//! judged. A pure function of the sessions.

mod differences;
mod matching;
mod probed;
mod reported;
mod text;

#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::cmp::Ordering;

use serde::Serialize;

use super::{CellResult, Session, SummaryOf, clean_text, results};
use crate::plan::{Job, ProbeCell};
use crate::stats::{Ratio, Summary};

pub use differences::{Difference, machines};
pub use matching::Alone;
pub use probed::ProbePair;
pub use text::times;

/// The name and version of the JSON; keys may be added without a new one.
const SCHEMA: &str = "iotui-compare/1";

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
    #[serde(rename = "no difference")]
    Same,
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
    /// What is said where a side failed or is wrong, and of a ratio; `speed`: it is one of speeds, not of sizes.
    fn of(failed: bool, wrong: bool, ratio: Option<Ratio>, speed: bool) -> Outcome {
        match (failed, wrong, ratio.map(|ratio| ratio.verdict())) {
            (true, ..) | (_, false, None) => Outcome::Failed,
            (_, true, _) => Outcome::Wrong,
            (.., Some(None)) => Outcome::TooFew,
            (.., Some(Some(Ordering::Equal))) => Outcome::Same,
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
    /// How much faster than the base: by bytes or, where none are moved, by operations per second; of times the inverse ratio.
    /// Of sizes, how much larger.
    pub ratio: Option<Ratio>,
    pub base: Option<SummaryOf>,
    pub other: Option<SummaryOf>,
    pub base_trials: usize,
    pub other_trials: usize,
    /// Why it is not judged: the warning or the error.
    pub reason: Option<String>,
}

/// The first session against each of the others; `None` for no session at all.
pub fn compare<S: Borrow<Session>>(sessions: &[S]) -> Option<Comparison> {
    let (base, others) = sessions.split_first()?;
    let base = base.borrow();
    let measured = results(base);
    let others = others.iter().enumerate().map(|(at, other)| versus(base, &measured, other.borrow(), letter(at + 1)));
    Some(Comparison { schema: SCHEMA, base: side(base, letter(0)), others: others.collect() })
}

fn versus(base: &Session, measured: &[CellResult], other: &Session, letter: String) -> Versus {
    let results = results(other);
    let side = side(other, letter);
    let found = matching::matched([base, other], [measured, &results], &side.letter);
    let told = match (base.reference, other.reference) {
        (Some(_), None) => Told::Other,
        (None, Some(_)) => Told::Base,
        _ => Told::Both,
    };
    let cells: Vec<Pair> = found.pairs.iter().map(|(a, b)| pair(a, b, told)).collect();
    let differences = differences::between([base, other], [measured, &results], found.left_out);
    let (probes, probes_alone) = probed::matched([base, other], told, &side.letter);
    let of_probes = probed::text(&side.letter, &probes, probes_alone.len());
    let of_jobs = of_probes.is_none() || !cells.is_empty() || !found.alone.is_empty();
    let of_jobs = of_jobs.then(|| match told {
        Told::Both => text::text(&side.letter, &cells, found.alone.len()),
        _ => reported::text(base, other, &side.letter, &cells, found.alone.len()),
    });
    let of_reference = told.said(&side.letter);
    let text = clean_text(&of_jobs.into_iter().chain(of_probes).chain(of_reference).collect::<Vec<_>>().join(" "));
    Versus { text, differences, cells, alone: found.alone, probes, probes_alone, side }
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
        Some(format!("{reference} is a reference: its figures are as reported, and intervals are of {measured}'s trials only."))
    }

    /// The ratio of medians, with the interval of the sides that were measured.
    fn ratio(self, of: &Summary, base: &Summary) -> Option<Ratio> {
        let exact = |summary: &Summary| Summary { low: Some(summary.median), high: Some(summary.median), ..*summary };
        match self {
            Told::Both => Ratio::of(of, base),
            Told::Base => Ratio::of(&exact(of), base),
            Told::Other => Ratio::of(of, &exact(base)),
        }
    }
}

fn pair(base: &CellResult, other: &CellResult, told: Told) -> Pair {
    let figures = match (base.throughput, other.throughput) {
        (Some(a), Some(b)) => (Some(a), Some(b)),
        _ => (base.operations, other.operations),
    };
    let ratio = figures.0.zip(figures.1).and_then(|(a, b)| told.ratio(&b.summary, &a.summary));
    let failed = base.error.as_ref().or(other.error.as_ref());
    let wrong = base.wrong().or(other.wrong());
    Pair {
        cell: base.cell.clone(),
        outcome: Outcome::of(failed.is_some(), wrong.is_some(), ratio, true),
        ratio,
        base: figures.0,
        other: figures.1,
        base_trials: base.counted().len(),
        other_trials: other.counted().len(),
        reason: failed.map(|error| clean_text(error)).or(wrong.map(|warning| clean_text(&warning.message))),
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
