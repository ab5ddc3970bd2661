//! One cell in two sessions, and the verdict on it.

use std::cmp::Ordering;

use serde::{Serialize, Serializer};

use crate::analysis::SummaryOf;
use crate::plan::{Job, ProbeCell};
use crate::stats::{Ratio, Summary};

/// The verdict on a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    Faster,
    Slower,
    /// No difference that matters: the whole interval lies within [`Ratio::TOLERANCE`] of 1.
    Same,
    /// The interval contains 1, and also differences that matter.
    Unclear,
    /// For sizes, which are not speeds.
    Larger,
    Smaller,
    /// Under 5 trials on a side.
    TooFew,
    /// A side has a warning that it is wrong.
    Wrong,
    /// A report has it of another experiment.
    OtherJob,
    /// A side has no figure above 0, or failed.
    Failed,
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Outcome {
    /// Returns the verdict on two sides that may have failed or be wrong, with their ratio;
    /// `speed`: the ratio is one of speeds, not of sizes.
    pub fn from_ratio(failed: bool, wrong: bool, ratio: Option<Ratio>, speed: bool) -> Outcome {
        match (failed, wrong, ratio.map(|ratio| ratio.verdict())) {
            (true, ..) | (_, false, None) => Outcome::Failed,
            (_, true, _) => Outcome::Wrong,
            (.., Some(None)) => Outcome::TooFew,
            (.., Some(Some(order))) => match (order, speed) {
                (Ordering::Equal, _) if ratio.is_some_and(|of| of.is_alike()) => Outcome::Same,
                (Ordering::Equal, _) => Outcome::Unclear,
                (Ordering::Greater, true) => Outcome::Faster,
                (Ordering::Greater, false) => Outcome::Larger,
                (Ordering::Less, true) => Outcome::Slower,
                (Ordering::Less, false) => Outcome::Smaller,
            },
        }
    }

    /// Returns whether there is a reason that it has no verdict.
    pub fn is_unjudged(self) -> bool {
        matches!(self, Outcome::Wrong | Outcome::OtherJob | Outcome::Failed)
    }

    pub fn name(self) -> &'static str {
        match self {
            Outcome::Faster => "faster",
            Outcome::Slower => "slower",
            Outcome::Same => "no difference",
            Outcome::Unclear => "inconclusive",
            Outcome::Larger => "larger",
            Outcome::Smaller => "smaller",
            Outcome::TooFew => "too few trials",
            Outcome::Wrong => "wrong",
            Outcome::OtherJob => "another experiment",
            Outcome::Failed => "failed",
        }
    }
}

/// One cell, of a job or a probe, in both sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair<Cell = Job> {
    /// The job as the base measured it.
    pub cell: Cell,
    pub outcome: Outcome,
    /// The speed as a multiple of the base: by bytes or, if none are moved, by operations per
    /// second; for times the inverse ratio. For sizes, how much larger. Its interval includes the
    /// machine's own variation.
    pub ratio: Option<Ratio>,
    /// The factor by which equal cells of two runs may differ on this machine, 95 %; `None` if
    /// unknown.
    pub drift: Option<f64>,
    /// The factor by which the cells like it moved together, if the machine may have done that: the
    /// interval reaches back by it.
    pub step: Option<f64>,
    pub base: Option<SummaryOf>,
    pub other: Option<SummaryOf>,
    pub base_trials: usize,
    pub other_trials: usize,
    /// The warning or error because of which it is not judged.
    pub reason: Option<String>,
}

impl<Cell> Pair<Cell> {
    /// Returns the ratio as if no cells had moved together.
    pub fn ratio_without_step(&self) -> Option<Ratio> {
        let step = self.step.map_or(0.0, f64::ln);
        self.ratio.map(|ratio| ratio.not_reaching(step))
    }

    /// Returns whether it would differ, had not all cells like it moved together.
    pub fn is_held_back(&self) -> bool {
        let alone = || self.ratio_without_step().and_then(|ratio| ratio.verdict());
        self.outcome == Outcome::Unclear && alone().is_some_and(Ordering::is_ne)
    }
}

/// One probe cell in both sessions.
pub type ProbePair = Pair<ProbeCell>;

/// The sides whose trials an interval comes from: reported figures have no reliable interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredSides {
    Both,
    /// Only the base was measured.
    Base,
    /// Only the other was measured.
    Other,
}

impl MeasuredSides {
    /// Describes whose trials the intervals come from, if only one side was measured.
    pub fn describe_reference(self, letter: &str) -> Option<String> {
        let (reference, measured) = match self {
            MeasuredSides::Both => return None,
            MeasuredSides::Base => (letter, "A"),
            MeasuredSides::Other => ("A", letter),
        };
        Some(format!(
            "{reference} is a reference: its figures are as reported, and the intervals come from {measured}'s trials only."
        ))
    }

    /// Computes the ratio of medians, with the interval of the sides that were measured.
    pub fn ratio(self, of: &Summary, base: &Summary) -> Option<Ratio> {
        fn exact(summary: &Summary) -> Summary {
            Summary { low: Some(summary.median), high: Some(summary.median), ..*summary }
        }
        match self {
            MeasuredSides::Both => Ratio::from_summaries(of, base),
            MeasuredSides::Base => Ratio::from_summaries(&exact(of), base),
            MeasuredSides::Other => Ratio::from_summaries(of, &exact(base)),
        }
    }
}
