//! Steps and drifts of a cell's figure over its trials, with the level of each stretch.

use std::sync::Arc;

use serde::Serialize;

use super::Trial;
use crate::stats::course::{Course, Kind};
use crate::stats::{Summary, course, median};

/// A change of a cell's figure during the measurement, which makes its median meaningless.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelChange {
    pub kind: Kind,
    /// Unit of the levels: `B/s`, or `1/s` if no bytes are moved.
    pub unit: &'static str,
    /// At least two, in order. For a step: all trials between steps. For a drift: the first and the
    /// last third.
    pub levels: Vec<Stretch>,
}

/// Consecutive trials at one level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stretch {
    /// Indexes into the cell's trials.
    pub first_trial: usize,
    pub last_trial: usize,
    /// Start of the first and end of the last of them, nanoseconds since the session started.
    pub began: u64,
    pub ended: u64,
    #[serde(flatten)]
    pub summary: Summary,
}

impl Stretch {
    /// Names its trials: `trials 1 to 6`, `trial 5`.
    pub fn name(&self) -> String {
        match (self.first_trial + 1, self.last_trial + 1) {
            (first, last) if first == last => format!("trial {first}"),
            (first, last) => format!("trials {first} to {last}"),
        }
    }
}

impl LevelChange {
    /// Detects how the level of these trials changed over time; `None` if it did not. Trials that
    /// do not count are ignored.
    pub fn from_trials(trials: &[Arc<Trial>]) -> Option<Self> {
        let full: Vec<(usize, &Trial)> = trials
            .iter()
            .enumerate()
            .filter(|(_, t)| t.counts())
            .map(|(index, t)| (index, &**t))
            .collect();
        let moves = full.iter().any(|(_, t)| t.bytes > 0);
        let values: Vec<f64> =
            full.iter().map(|(_, t)| if moves { t.throughput() } else { t.operations() }).collect();
        let (kind, ranges) = find_ranges(&full, &values)?;
        let stretch = |&(from, to): &(usize, usize)| {
            let (first_trial, first) = full[from];
            let (last_trial, last) = full[to];
            let summary = Summary::from_values(&values[from..=to])?;
            Some(Stretch {
                first_trial,
                last_trial,
                began: first.evidence.started,
                ended: last.end_time(),
                summary,
            })
        };
        let levels = ranges.iter().map(stretch).collect::<Option<Vec<_>>>()?;
        Some(Self { kind, unit: if moves { "B/s" } else { "1/s" }, levels })
    }

    /// Returns the first and the last level.
    pub fn first_and_last(&self) -> (&Stretch, &Stretch) {
        (&self.levels[0], &self.levels[self.levels.len() - 1])
    }

    /// Returns true if the last level is lower than the first.
    pub fn is_drop(&self) -> bool {
        let (first, last) = self.first_and_last();
        last.summary.median < first.summary.median
    }

    /// Returns true if the lowest level is less than 90 % of the highest, so that a common median
    /// is meaningless.
    pub fn is_large(&self) -> bool {
        let medians = || self.levels.iter().map(|level| level.summary.median);
        medians().fold(f64::INFINITY, f64::min) < 0.9 * medians().fold(0.0, f64::max)
    }

    /// Returns when the largest step happened: the end of the trial before it and the start of the
    /// one after it. `None` for a drift.
    pub fn step_window(&self) -> Option<(u64, u64)> {
        if self.kind != Kind::Step {
            return None;
        }
        let pairs = self.levels.windows(2);
        let pair = pairs.max_by(|a, b| step_size(a).total_cmp(&step_size(b)))?;
        Some((pair[0].ended, pair[1].began))
    }
}

/// Finds the stretches of the values of these trials: the first and the last of each. A last trial
/// that was cut far too late, at less than half of the rate of the others, is a separate level:
/// it lasted as long as several.
fn find_ranges(trials: &[(usize, &Trial)], values: &[f64]) -> Option<(Kind, Vec<(usize, usize)>)> {
    let ranges = |course: Course| {
        let of = course.stretches.iter().map(|stretch| (stretch.first, stretch.last));
        (course.kind, of.collect())
    };
    let (last, before) = values.split_last()?;
    let fell = median(before).is_some_and(|median| *last > 0.0 && *last < median / 2.0);
    if !fell || !trials.last().is_some_and(|(_, trial)| trial.short) {
        return course(values).map(ranges);
    }
    let steps = course(before).filter(|course| course.kind == Kind::Step).map(ranges);
    let mut all = steps.map_or_else(|| vec![(0, before.len() - 1)], |(_, all)| all);
    all.push((before.len(), before.len()));
    Some((Kind::Step, all))
}

/// Returns the ratio of two neighbouring levels as an absolute logarithm.
fn step_size(pair: &[Stretch]) -> f64 {
    (pair[0].summary.median / pair[1].summary.median).ln().abs()
}
