//! Work over the time of the run, in bounded memory, with gaps where nothing was measured.

use crate::record::Sample;
use crate::stats::merge_neighbours;
use crate::tui::curves::Metric;

/// Limit on kept slices.
pub const MAX_SLICES: usize = 2400;
/// Seconds at the end that keep full resolution: what a short window shows.
const FINE_SECONDS: f64 = 60.0;
/// Resolution of the time before that, in slices: more than the dots of any screen.
const COARSE_SLICES: f64 = 600.0;

/// The work done in one stretch of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// Seconds of the run.
    pub from: f64,
    pub to: f64,
    /// Measured time within it.
    pub nanos: u64,
    pub bytes: u64,
    pub ops: u64,
    pub syscalls: u64,
    /// The slowest and the fastest rate among the merged slices.
    pub bytes_range: (f64, f64),
    pub ops_range: (f64, f64),
    pub syscalls_range: (f64, f64),
    /// The uninterrupted piece of measuring it belongs to.
    pub piece: u32,
    /// The backend's colour; `None` where several were merged.
    pub hue: Option<usize>,
}

/// The quantity that a chart over time shows.
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
}

impl Slice {
    /// Returns the rate per second of measured time, and its extremes.
    pub fn rate(&self, measure: Measure) -> (f64, (f64, f64)) {
        let (amount, range) = match measure {
            Measure::Bytes => (self.bytes, self.bytes_range),
            Measure::Operations => (self.ops, self.ops_range),
            Measure::SystemCalls => (self.syscalls, self.syscalls_range),
        };
        (per_second(amount, self.nanos), range)
    }

    fn merge_with(&self, next: &Slice) -> Slice {
        fn wider(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
            (a.0.min(b.0), a.1.max(b.1))
        }
        Slice {
            from: self.from,
            to: next.to,
            nanos: self.nanos.saturating_add(next.nanos),
            bytes: self.bytes.saturating_add(next.bytes),
            ops: self.ops.saturating_add(next.ops),
            syscalls: self.syscalls.saturating_add(next.syscalls),
            bytes_range: wider(self.bytes_range, next.bytes_range),
            ops_range: wider(self.ops_range, next.ops_range),
            syscalls_range: wider(self.syscalls_range, next.syscalls_range),
            piece: next.piece,
            hue: self.hue.filter(|hue| Some(*hue) == next.hue),
        }
    }
}

/// Returns an amount per second; 0 for no time.
pub fn per_second(amount: u64, nanos: u64) -> f64 {
    if nanos == 0 { 0.0 } else { amount as f64 * 1e9 / nanos as f64 }
}

/// The piece of measuring in progress.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OpenPiece {
    /// When it began, seconds of the run.
    origin: f64,
    /// How far samples reach, nanoseconds since then.
    reached: u64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    slices: Vec<Slice>,
    pieces: u32,
    open: Option<OpenPiece>,
}

impl Series {
    /// Ends the current piece: a gap until the next sample.
    pub fn end_piece(&mut self) {
        self.open = None;
    }

    /// Returns whether the current piece has samples.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Adds a sample that arrived at `now`, seconds of the run.
    pub fn push(&mut self, now: f64, sample: &Sample, hue: usize) {
        let begin = sample.at.saturating_sub(sample.nanos);
        // A repeated trial starts over, and dropped samples leave a gap.
        let continued = self.open.filter(|open| {
            sample.at > open.reached && begin <= open.reached.saturating_add(1_000_000)
        });
        let origin = continued.map_or(now - sample.at as f64 / 1e9, |open| open.origin);
        if continued.is_none() {
            self.pieces = self.pieces.wrapping_add(1);
        }
        self.open = Some(OpenPiece { origin, reached: sample.at });
        let after = self.slices.last().map_or(0.0, |slice| slice.to);
        let from = (origin + begin as f64 / 1e9).max(after);
        let to = (origin + sample.at as f64 / 1e9).max(from);
        let range =
            |amount: u64| (per_second(amount, sample.nanos), per_second(amount, sample.nanos));
        self.slices.push(Slice {
            from,
            to,
            nanos: sample.nanos,
            bytes: sample.bytes,
            ops: sample.ops,
            syscalls: sample.syscalls,
            bytes_range: range(sample.bytes),
            ops_range: range(sample.ops),
            syscalls_range: range(sample.syscalls),
            piece: self.pieces,
            hue: Some(hue),
        });
        if self.slices.len() > MAX_SLICES {
            self.thin();
        }
    }

    /// Merges old slices: neighbours of one piece first, so that gaps stay visible.
    fn thin(&mut self) {
        let end = self.slices.last().map_or(0.0, |slice| slice.to);
        let max_width = end / COARSE_SLICES;
        let is_old = |a: &Slice, b: &Slice| b.to < end - FINE_SECONDS && b.to - a.from <= max_width;
        self.merge(|a, b| a.piece == b.piece && is_old(a, b));
        if self.slices.len() > MAX_SLICES / 4 * 3 {
            self.merge(is_old);
        }
        // Many samples in little time: the limit holds at the cost of resolution.
        if self.slices.len() > MAX_SLICES / 8 * 7 {
            merge_neighbours(&mut self.slices, MAX_SLICES / 2, Slice::merge_with);
        }
    }

    fn merge(&mut self, can_merge: impl Fn(&Slice, &Slice) -> bool) {
        self.slices.dedup_by(|next, kept| {
            let fits = can_merge(kept, next);
            if fits {
                *kept = kept.merge_with(next);
            }
            fits
        });
    }

    /// Returns the slices that end after `from`.
    pub fn slices_since(&self, from: f64) -> &[Slice] {
        &self.slices[self.slices.partition_point(|slice| slice.to < from)..]
    }

    /// Returns the largest rate after `from`.
    pub fn peak(&self, from: f64, measure: Measure) -> f64 {
        self.slices_since(from).iter().map(|slice| slice.rate(measure).1.1).fold(0.0, f64::max)
    }
}
