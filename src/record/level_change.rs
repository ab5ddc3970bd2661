//! The level of a cell's figure over its trials: where it stepped or drifted, and what it was
//! before and after.

use std::sync::Arc;

use serde::Serialize;

use super::Trial;
use crate::stats::course::Kind;
use crate::stats::{Summary, course};

/// The figure of a cell changed while it was measured, so that its median belongs to no level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelChange {
    pub kind: Kind,
    /// Of the levels: `B/s`, or `1/s` where no bytes move.
    pub unit: &'static str,
    /// At least two, in order. A step: all trials between steps. A drift: the first and the last
    /// third.
    pub levels: Vec<Stretch>,
}

/// Trials next to each other at one level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stretch {
    /// Indexes into the cell's trials.
    pub first_trial: usize,
    pub last_trial: usize,
    /// When the first of them began and the last of them ended, nanoseconds since the session
    /// started.
    pub began: u64,
    pub ended: u64,
    #[serde(flatten)]
    pub summary: Summary,
}

impl LevelChange {
    /// How the level of these trials changed over time; `None` where it held. Trials that were cut
    /// short are left out.
    pub fn of(trials: &[Arc<Trial>]) -> Option<Self> {
        let whole: Vec<(usize, &Trial)> =
            trials.iter().enumerate().filter(|(_, t)| !t.short).map(|(at, t)| (at, &**t)).collect();
        let moves = whole.iter().any(|(_, t)| t.bytes > 0);
        let values: Vec<f64> = whole
            .iter()
            .map(|(_, t)| if moves { t.throughput() } else { t.operations() })
            .collect();
        let found = course(&values)?;
        let stretch = |of: &crate::stats::course::Stretch| {
            let ((first_trial, first), (last_trial, last)) = (whole[of.first], whole[of.last]);
            let summary = Summary::of(&values[of.first..=of.last])?;
            Some(Stretch {
                first_trial,
                last_trial,
                began: first.evidence.started,
                ended: last.ended(),
                summary,
            })
        };
        let levels = found.stretches.iter().map(stretch).collect::<Option<Vec<_>>>()?;
        Some(Self { kind: found.kind, unit: if moves { "B/s" } else { "1/s" }, levels })
    }

    /// The first and the last level.
    pub fn ends(&self) -> (&Stretch, &Stretch) {
        (&self.levels[0], &self.levels[self.levels.len() - 1])
    }

    pub fn fell(&self) -> bool {
        let (first, last) = self.ends();
        last.summary.median < first.summary.median
    }

    /// The lowest level is less than 90 % of the highest: a median of both says nothing.
    pub fn is_large(&self) -> bool {
        let medians = || self.levels.iter().map(|level| level.summary.median);
        medians().fold(f64::INFINITY, f64::min) < 0.9 * medians().fold(0.0, f64::max)
    }

    /// When it stepped: after the end of one trial and before the end of the next. The largest step
    /// counts.
    pub fn window(&self) -> Option<(u64, u64)> {
        let size = |pair: &&[Stretch]| (pair[0].summary.median / pair[1].summary.median).ln().abs();
        let pair = self
            .levels
            .windows(2)
            .filter(|_| self.kind == Kind::Step)
            .max_by(|a, b| size(a).total_cmp(&size(b)))?;
        Some((pair[0].ended, pair[1].began))
    }
}
