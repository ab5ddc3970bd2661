//! The samples of each trial, in bounded memory.

use crate::curves::Metric;
use crate::record::{LaneSample, Sample};

/// Limit on kept slices.
pub const MAX_SLICES: usize = 2400;
/// The last trials, which keep their samples as long as there is room.
const FINE_TRIALS: u32 = 64;

/// The work of a stretch of a trial, of a whole one, or of several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// Measured time within it.
    pub nanos: u64,
    pub bytes: u64,
    pub ops: u64,
    pub syscalls: u64,
    /// The trial it belongs to, counted from 1; of several the last.
    pub trial: u32,
    /// The cell; `None` where trials of several were merged.
    pub cell: Option<u32>,
}

/// The quantity that a chart of the trials shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Bytes,
    Operations,
    SystemCalls,
}

impl Measure {
    /// Returns the metric of its rate per second.
    pub fn metric(self) -> Metric {
        match self {
            Measure::Bytes => Metric::Throughput,
            Measure::Operations => Metric::Operations,
            Measure::SystemCalls => Metric::SystemCalls,
        }
    }

    /// Returns the function that reads it from a lane of a sample.
    pub fn lane_value(self) -> fn(&LaneSample) -> u64 {
        match self {
            Measure::Bytes => |lane| lane.bytes,
            Measure::Operations => |lane| lane.ops,
            Measure::SystemCalls => |lane| lane.syscalls,
        }
    }
}

/// In the order of [`TrialSeries::extremes`].
const MEASURES: [Measure; 3] = [Measure::Bytes, Measure::Operations, Measure::SystemCalls];

impl Slice {
    pub fn amount(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Bytes => self.bytes,
            Measure::Operations => self.ops,
            Measure::SystemCalls => self.syscalls,
        }
    }

    /// Returns the rate per second of measured time.
    pub fn rate(&self, measure: Measure) -> f64 {
        per_second(self.amount(measure), self.nanos)
    }

    fn merge_with(&self, next: &Slice) -> Slice {
        Slice {
            nanos: self.nanos.saturating_add(next.nanos),
            bytes: self.bytes.saturating_add(next.bytes),
            ops: self.ops.saturating_add(next.ops),
            syscalls: self.syscalls.saturating_add(next.syscalls),
            trial: next.trial,
            cell: self.cell.filter(|cell| Some(*cell) == next.cell),
        }
    }
}

/// Returns an amount per second; 0 for no time.
pub fn per_second(amount: u64, nanos: u64) -> f64 {
    if nanos == 0 { 0.0 } else { amount as f64 * 1e9 / nanos as f64 }
}

/// The lowest and the highest rate that was seen, for the ends of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Extremes {
    /// Rates of whole trials, above 0; `None` before the first.
    pub low: Option<f64>,
    pub high: f64,
}

impl Extremes {
    /// Adds the rate of a whole trial.
    fn add(&mut self, rate: f64) {
        if rate.is_finite() && rate > 0.0 {
            self.low = Some(self.low.map_or(rate, |low| low.min(rate)));
            self.high = self.high.max(rate);
        }
    }

    /// Adds the rate of a sample: a moment without progress must not set the axis.
    fn add_sample(&mut self, rate: f64) {
        if rate.is_finite() {
            self.high = self.high.max(rate);
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialSeries {
    slices: Vec<Slice>,
    trials: u32,
    /// How far the samples of the current trial reach, nanoseconds from its start.
    reached: Option<u64>,
    /// Totals of the whole run: bytes, operations, system calls.
    extremes: [Extremes; 3],
}

impl TrialSeries {
    /// Ends the current trial.
    pub fn end_trial(&mut self) {
        if self.reached.take().is_none() {
            return;
        }
        let trial = self.slices.iter().rev().take_while(|slice| slice.trial == self.trials);
        let Some(whole) = trial.copied().reduce(|next, slice| slice.merge_with(&next)) else {
            return;
        };
        for (measure, extremes) in MEASURES.iter().zip(&mut self.extremes) {
            extremes.add(whole.rate(*measure));
        }
    }

    /// Removes the current trial, which will be repeated in full.
    pub fn discard_trial(&mut self) {
        if self.reached.take().is_some() {
            let trial = self.trials;
            self.slices.retain(|slice| slice.trial != trial);
            self.trials -= 1;
        }
    }

    /// Returns whether the current trial has samples.
    pub fn is_open(&self) -> bool {
        self.reached.is_some()
    }

    /// Returns how far the samples of the current trial reach, in nanoseconds.
    pub fn reached(&self) -> u64 {
        self.reached.unwrap_or(0)
    }

    /// Adds a sample of a cell.
    pub fn push(&mut self, sample: &Sample, cell: u32) {
        // A repeated trial starts over.
        if self.reached.is_none_or(|reached| sample.at <= reached) {
            self.trials = self.trials.saturating_add(1);
        }
        self.reached = Some(sample.at);
        let Sample { nanos, bytes, ops, syscalls, .. } = *sample;
        let slice = Slice { nanos, bytes, ops, syscalls, trial: self.trials, cell: Some(cell) };
        for (measure, extremes) in MEASURES.iter().zip(&mut self.extremes) {
            extremes.add_sample(slice.rate(*measure));
        }
        self.slices.push(slice);
        if self.slices.len() > MAX_SLICES {
            self.thin();
        }
    }

    /// Makes room: samples become whole trials, the oldest first; then neighbours are merged.
    fn thin(&mut self) {
        let fine = self.trials.saturating_sub(FINE_TRIALS);
        self.slices.dedup_by(|next, kept| {
            let fits = kept.trial == next.trial && next.trial < fine;
            if fits {
                *kept = kept.merge_with(next);
            }
            fits
        });
        // Long trials: half the samples of each are enough.
        if self.slices.len() > MAX_SLICES / 4 * 3 {
            self.merge_pairs(|a, b| a.trial == b.trial);
        }
        if self.slices.len() > MAX_SLICES / 4 * 3 {
            self.merge_pairs(|_, b| b.trial < fine);
        }
        if self.slices.len() > MAX_SLICES / 8 * 7 {
            self.merge_pairs(|_, _| true);
        }
    }

    fn merge_pairs(&mut self, can_merge: impl Fn(&Slice, &Slice) -> bool) {
        let mut is_merged = false;
        self.slices.dedup_by(|next, kept| {
            is_merged = !is_merged && can_merge(kept, next);
            if is_merged {
                *kept = kept.merge_with(next);
            }
            is_merged
        });
    }

    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// Returns the number of trials, with the current one.
    pub fn trials(&self) -> u32 {
        self.trials
    }

    pub fn extremes(&self, measure: Measure) -> Extremes {
        self.extremes[measure as usize]
    }
}
