//! What a run continues: the trials of an earlier one, after which its rounds are counted.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use super::{CommitTimes, Latency, Trial};
use crate::plan::Plan;

/// The results of an earlier run of the same plan; empty for a new run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Earlier {
    /// In the order of measurement.
    pub trials: Vec<Arc<Trial>>,
    /// The latencies of each cell; fewer if the others are unknown.
    pub latencies: Vec<Option<Latency>>,
    /// The commits of each cell, alike.
    pub commits: Vec<Option<CommitTimes>>,
    /// How long it took, seconds; 0 if unknown.
    pub seconds: f64,
}

impl Earlier {
    /// Returns the number of rounds done.
    pub fn rounds(&self) -> u32 {
        self.trials.iter().map(|trial| trial.round).max().unwrap_or(0)
    }

    /// Returns the number of rounds that remain, if the plan fixes it.
    pub fn rounds_left(&self, plan: &Plan) -> Option<u32> {
        plan.trials.map(|trials| trials.saturating_sub(self.rounds()))
    }

    /// Returns the rounds to run.
    pub fn further_rounds(&self, plan: &Plan) -> RangeInclusive<u32> {
        let done = self.rounds();
        let last = plan.trials.unwrap_or(plan.most_rounds().saturating_add(done));
        done.saturating_add(1)..=last
    }

    /// Returns when the last trial ended, nanoseconds after the start of that run.
    pub fn end(&self) -> u64 {
        let end = |trial: &Arc<Trial>| trial.evidence.started.saturating_add(trial.nanos);
        self.trials.iter().map(end).max().unwrap_or(0)
    }

    /// Returns the seconds of both parts, where the second took `elapsed`; to milliseconds.
    pub fn add_seconds(&self, elapsed: Duration) -> f64 {
        let before = self.seconds.max(self.end() as f64 / 1e9);
        ((before + elapsed.as_secs_f64()) * 1e3).round() / 1e3
    }
}
