//! The times in which the operations of a long trial took unusually long.
//!
//! The log is cut into seconds. The usual median is that of the calm ones, whose own median is near
//! the median of all medians; the usual p99 is the middle one of all seconds. A second is unusual
//! if half of its operations took twice the usual median or more, or a tenth of them, three at
//! least, twice the usual p99, and if that many would be among as many operations of calm seconds
//! less than once in a million seconds; or if nothing ended in it although that is as improbable.
//! Slow drifts of less than that are usual, and so is the first second, in which the job starts.

use crate::record::{LatencyLog, LogBuckets, LogCount, Slept, histogram_of};
use crate::stats;

/// How often chance makes a second of a steady trial unusual.
const FALSE_ALARMS: f64 = 1e-6;
/// The length of the parts, nanoseconds, or an interval of the log.
const SECOND: u64 = 1_000_000_000;
/// A calm second has a median up to this many usual medians; half of an unusual one is slower.
const SLOW_MEDIAN: f64 = 2.0;
/// A tenth of an unusual second is slower than this many usual p99.
const SLOW_TAIL: f64 = 2.0;
const TAIL_SHARE: f64 = 0.1;
const LEAST_TAIL: u64 = 3;
/// Unusual seconds with this many others between them are one event.
const MOST_BETWEEN: usize = 3;
/// Seconds around a suspend that are not judged.
const AROUND_SLEEP: u64 = 2 * SECOND;

/// A time in which operations took unusually long. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Unusual {
    /// After the start of the trial.
    pub start: u64,
    pub nanos: u64,
    /// Of the operations that ended in its unusual seconds; `None` with too few.
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
    /// The longest of its times in which nothing ended.
    pub empty: u64,
}

/// The events of a trial, and the usual median.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Course {
    pub events: Vec<Unusual>,
    /// The usual median, nanoseconds; `None` without an operation.
    pub p50: Option<f64>,
}

/// A part of a trial.
#[derive(Clone, Default)]
struct Second {
    /// The slowest first.
    counts: Vec<LogCount>,
    timed: u64,
    /// The longest row of intervals without an operation.
    empty: u64,
}

impl Second {
    /// Returns the latency that this many operations exceed, or as many as there are.
    fn slowest_but(&self, most: u64) -> Option<f64> {
        let mut beyond = 0;
        let (bucket, _) = self.counts.iter().find(|(_, count)| {
            beyond += u64::from(*count);
            beyond > most
        })?;
        Some(LogBuckets::middle((*bucket).into()) as f64)
    }
}

/// The usual latencies: the operations of calm seconds.
struct Usual {
    all: Vec<u64>,
    total: u64,
    p50: f64,
    /// The middle one of the seconds.
    p99: f64,
}

/// Finds what is unusual in a trial of `nanos` at `rate` operations per second, `steady` or at
/// random. Seconds that touch a time in `busy` are unusual, too; those around what `slept` are not.
pub fn find(
    log: &LatencyLog,
    nanos: u64,
    (rate, steady): (f64, bool),
    busy: &[(u64, u64)],
    slept: &[Slept],
) -> Course {
    let each = SECOND.div_ceil(log.width.max(1)).max(1);
    let length = each.saturating_mul(log.width.max(1));
    let seconds = cut(log, nanos, each);
    let Some(first) = usual(&seconds, &vec![false; seconds.len()]) else {
        return Course::default();
    };
    // The second time without what the first time found.
    let intended = rate * length as f64 / 1e9;
    let least = if steady { 2.0 } else { -FALSE_ALARMS.ln() };
    let judge = |usual: &Usual| -> Vec<bool> {
        let is_unusual = |second: &Second| match second.timed {
            0 => intended >= least,
            _ => usual.is_exceeded_by(second),
        };
        seconds.iter().map(is_unusual).collect()
    };
    let found = judge(&first);
    let last = usual(&seconds, &found).unwrap_or(first);
    let mut found = judge(&last);
    // The start of the job: threads, CPUs and devices wake up.
    found.iter_mut().take(1).for_each(|first| *first = false);
    for (from, to) in busy {
        let [from, to] = [from / length, to.div_ceil(length)].map(|at| at.min(found.len() as u64));
        found[from as usize..to.max(from) as usize].fill(true);
    }
    excuse(&mut found, &seconds, length, slept);
    let events = join(&found).into_iter().map(|(from, to)| {
        let own = seconds[from..to].iter().zip(&found[from..to]).filter(|(_, is)| **is);
        event(own.map(|(second, _)| second), from as u64 * length, (to - from) as u64 * length)
    });
    Course { events: events.collect(), p50: Some(last.p50) }
}

/// Cuts a log into parts of `each` intervals; a last part that is not whole only adds what it has.
fn cut(log: &LatencyLog, nanos: u64, each: u64) -> Vec<Second> {
    let whole = nanos / log.width.max(1) / each;
    let most = LatencyLog::MAX_ENTRIES as u64;
    let mut seconds = vec![Second::default(); whole.min(most) as usize];
    let empty_until = |seconds: &mut Vec<Second>, from: u64, to: u64| {
        // A row of empty intervals counts in each second that it touches.
        let row = (to - from) * log.width;
        for at in from / each..=to.saturating_sub(1) / each {
            if let Some(second) = seconds.get_mut(at as usize).filter(|_| to > from) {
                second.empty = second.empty.max(row);
            }
        }
    };
    let mut next = 0;
    for entry in log.entries().iter().filter(|entry| entry.ops > 0) {
        let index = u64::from(entry.index);
        empty_until(&mut seconds, next, index.max(next));
        next = index + 1;
        let Some(second) = seconds.get_mut((index / each) as usize) else { continue };
        second.timed += entry.timed();
        second.counts.extend_from_slice(&entry.latency);
    }
    let end = (seconds.len() as u64 * each).max(next);
    empty_until(&mut seconds, next, end);
    let slowest_first = |of: &LogCount| std::cmp::Reverse(of.0);
    seconds.iter_mut().for_each(|second| second.counts.sort_unstable_by_key(slowest_first));
    seconds
}

/// Returns what is usual, without the seconds that are `out`; `None` without an operation.
fn usual(seconds: &[Second], out: &[bool]) -> Option<Usual> {
    let medians = |second: &Second| second.slowest_but(second.timed / 2);
    let kept = seconds.iter().zip(out).filter(|(_, out)| !**out).map(|(second, _)| second);
    let kept: Vec<(f64, &Second)> = kept.filter_map(|of| Some((medians(of)?, of))).collect();
    let middle = stats::median(&kept.iter().map(|(median, _)| *median).collect::<Vec<_>>())?;
    let calm = || kept.iter().filter(|(median, _)| *median <= SLOW_MEDIAN * middle);
    let counts = || calm().flat_map(|(_, second)| &second.counts);
    let histogram = histogram_of(counts());
    let mut all = Vec::new();
    for (bucket, count) in counts() {
        let at = usize::from(*bucket);
        if all.len() <= at {
            all.resize(at + 1, 0);
        }
        all[at] += u64::from(*count);
    }
    let tails = kept.iter().filter_map(|(_, second)| second.slowest_but(second.timed / 100));
    let tails: Vec<f64> = tails.collect();
    let (p50, p99) = (histogram.quantile(0.5)? as f64, stats::median(&tails)?);
    Some(Usual { all, total: histogram.count(), p50, p99 })
}

impl Usual {
    fn is_exceeded_by(&self, second: &Second) -> bool {
        let is_slow = |bound: f64, least: u64| {
            let slow = |bucket: usize| LogBuckets::middle(bucket) as f64 > bound;
            let own = second.counts.iter().filter(|(bucket, _)| slow((*bucket).into()));
            let own = own.map(|(_, count)| u64::from(*count)).sum::<u64>();
            if own < least {
                return false;
            }
            let known = (0..self.all.len()).filter(|bucket| slow(*bucket));
            let known: u64 = known.map(|bucket| self.all[bucket]).sum();
            let share = (known + 1) as f64 / (self.total + 1) as f64;
            stats::most_chance(second.timed, own, share) < FALSE_ALARMS
        };
        let tail = ((second.timed as f64 * TAIL_SHARE).ceil() as u64).max(LEAST_TAIL);
        is_slow(SLOW_MEDIAN * self.p50, second.timed.div_ceil(2))
            || is_slow(SLOW_TAIL * self.p99, tail)
    }
}

/// Takes out the seconds that are unusual because the machine slept: those around it, and empty
/// ones where the clock of latencies went on.
fn excuse(found: &mut [bool], seconds: &[Second], length: u64, slept: &[Slept]) {
    let mut before = 0;
    for Slept { at, nanos } in slept {
        for start in [*at, at.saturating_add(before)] {
            let end = start.saturating_add(*nanos);
            for (index, found) in found.iter_mut().enumerate() {
                let from = (index as u64).saturating_mul(length);
                let to = from.saturating_add(length);
                let touches = |time: u64| {
                    to.saturating_add(AROUND_SLEEP) >= time
                        && from <= time.saturating_add(AROUND_SLEEP)
                };
                let is_inside = from <= end && to >= start && seconds[index].timed == 0;
                *found &= !(touches(start) || touches(end) || is_inside);
            }
        }
        before = before.saturating_add(*nanos);
    }
}

/// Returns the first of each row of unusual seconds and the one after its last; a few others
/// between two rows join them.
fn join(found: &[bool]) -> Vec<(usize, usize)> {
    let mut rows: Vec<(usize, usize)> = Vec::new();
    for (at, _) in found.iter().enumerate().filter(|(_, is)| **is) {
        match rows.last_mut().filter(|(_, end)| at - *end <= MOST_BETWEEN) {
            Some((_, end)) => *end = at + 1,
            None => rows.push((at, at + 1)),
        }
    }
    rows
}

fn event<'a>(own: impl Iterator<Item = &'a Second> + Clone, start: u64, nanos: u64) -> Unusual {
    let counts = || own.clone().flat_map(|second| &second.counts);
    let histogram = histogram_of(counts());
    let quantile = |of| histogram.quantile(of).map(|nanos| nanos as f64);
    let max = counts().map(|(bucket, _)| *bucket).max();
    Unusual {
        start,
        nanos,
        p50: quantile(0.5),
        p99: quantile(0.99),
        max: max.map(|bucket| LogBuckets::middle(bucket.into()) as f64),
        empty: own.clone().map(|second| second.empty).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests;
