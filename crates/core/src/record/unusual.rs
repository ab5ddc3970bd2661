//! The times in which the operations of a long trial took unusually long.
//!
//! The log is cut into seconds. The usual median is that of the calm ones, whose own median is near
//! the median of all medians; the usual p99 is the middle one of all seconds. A second is unusual
//! if half of its operations took twice the usual median or more, or a tenth of them, three at
//! least, twice the usual p99, and if that many would be among as many operations of calm seconds
//! less than once in a million seconds; or if nothing ended in it although that is as improbable.
//! Slow drifts of less than that are usual, and so is the first second, in which the job starts.
//! Where an entry of the log is longer, it is judged as a whole, and counts for its time.

use super::{LatencyLog, LogBuckets, LogCount, Slept, histogram_of};
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
const MOST_BETWEEN: u64 = 3;
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

/// A part of a trial: a second, or a longer entry of its log.
#[derive(Clone, Default)]
struct Second {
    /// Nanoseconds after the start.
    start: u64,
    end: u64,
    /// The slowest first.
    counts: Vec<LogCount>,
    timed: u64,
    /// The longest row of intervals without an operation.
    empty: u64,
}

impl Second {
    fn touches(&self, from: u64, to: u64) -> bool {
        self.start < to && self.end > from
    }

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
    for (found, second) in found.iter_mut().zip(&seconds) {
        *found |= busy.iter().any(|(from, to)| second.touches(*from, *to));
    }
    excuse(&mut found, &seconds, slept);
    let events = join(&found, &seconds, MOST_BETWEEN * length).into_iter().map(|(from, to)| {
        let own = seconds[from..to].iter().zip(&found[from..to]).filter(|(_, is)| **is);
        event(own.map(|(second, _)| second), seconds[from].start, seconds[to - 1].end)
    });
    Course { events: events.collect(), p50: Some(last.p50) }
}

/// Cuts a log into parts of `each` intervals, or as long as an entry that is longer; a last part
/// that is not whole only adds what it has.
fn cut(log: &LatencyLog, nanos: u64, each: u64) -> Vec<Second> {
    let width = log.width.max(1);
    let whole = nanos / width / each;
    let mut seconds: Vec<Second> = Vec::new();
    let add = |seconds: &mut Vec<Second>, from: u64, to: u64| {
        if from / each < whole && seconds.len() < LatencyLog::MAX_READ {
            let (start, end) = (from * width, to * width);
            seconds.push(Second { start, end, ..Second::default() });
        }
    };
    // The end of what has a part, and where the row of empty intervals began.
    let (mut covered, mut next) = (0, 0);
    let mut rows: Vec<(u64, u64)> = Vec::new();
    let ends = [(whole * each, None)];
    let busy = log.entries().iter().filter(|entry| entry.ops > 0);
    for (index, entry) in busy.map(|own| (own.index.into(), Some(own))).chain(ends) {
        // Whole seconds without an operation; less than one is a part of none.
        for at in u64::div_ceil(covered, each)..(index / each).min(whole) {
            if seconds.len() >= LatencyLog::MAX_READ {
                break;
            }
            add(&mut seconds, at * each, (at + 1) * each);
            covered = (at + 1) * each;
        }
        if index > next {
            rows.push((next * width, index * width));
        }
        let Some(entry) = entry else { break };
        next = u64::from(entry.last()) + 1;
        if next - index > each {
            add(&mut seconds, index, next);
            covered = next;
        } else if index >= covered {
            let end = (index / each + 1) * each;
            add(&mut seconds, covered.max(index / each * each), end);
            covered = end.max(next);
        }
        if let Some(own) = seconds.last_mut().filter(|own| own.end > index * width) {
            own.timed += entry.timed();
            own.counts.extend_from_slice(&entry.latency);
        }
    }
    // A row of empty intervals counts in each second that it touches.
    for (from, to) in rows {
        let first = seconds.partition_point(|second| second.end <= from);
        for second in seconds[first..].iter_mut().take_while(|second| second.start < to) {
            second.empty = second.empty.max(to - from);
        }
    }
    let slowest_first = |of: &LogCount| std::cmp::Reverse(of.0);
    seconds.iter_mut().for_each(|second| second.counts.sort_unstable_by_key(slowest_first));
    seconds
}

/// Returns what is usual, without the seconds that are `out`; `None` without an operation.
fn usual(seconds: &[Second], out: &[bool]) -> Option<Usual> {
    let medians = |second: &Second| second.slowest_but(second.timed / 2);
    let kept = seconds.iter().zip(out).filter(|(_, out)| !**out).map(|(second, _)| second);
    let kept: Vec<(f64, &Second)> = kept.filter_map(|of| Some((medians(of)?, of))).collect();
    let middle = median_by_time(kept.clone())?;
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
    let tail = |second: &Second| second.slowest_but(second.timed / 100);
    let tails = kept.iter().filter_map(|(_, second)| Some((tail(second)?, *second)));
    let (p50, p99) = (histogram.quantile(0.5)? as f64, median_by_time(tails.collect())?);
    Some(Usual { all, total: histogram.count(), p50, p99 })
}

/// Returns the value that half of the time is not above; `None` without any.
fn median_by_time(mut values: Vec<(f64, &Second)>) -> Option<f64> {
    values.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let nanos = |second: &Second| u128::from(second.end - second.start);
    let all: u128 = values.iter().map(|(_, second)| nanos(second)).sum();
    let mut until = 0;
    let middle = values.iter().find(|(_, second)| {
        until += nanos(second);
        2 * until >= all
    });
    middle.map(|(value, _)| *value)
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
fn excuse(found: &mut [bool], seconds: &[Second], slept: &[Slept]) {
    let mut before = 0;
    for Slept { at, nanos } in slept {
        for start in [*at, at.saturating_add(before)] {
            let end = start.saturating_add(*nanos);
            for (found, second) in found.iter_mut().zip(seconds) {
                let touches = |time: u64| {
                    second.end.saturating_add(AROUND_SLEEP) >= time
                        && second.start <= time.saturating_add(AROUND_SLEEP)
                };
                let is_inside = second.start <= end && second.end >= start && second.timed == 0;
                *found &= !(touches(start) || touches(end) || is_inside);
            }
        }
        before = before.saturating_add(*nanos);
    }
}

/// Returns the first of each row of unusual seconds and the one after its last; others between two
/// rows join them if they take no longer than `most` nanoseconds.
fn join(found: &[bool], seconds: &[Second], most: u64) -> Vec<(usize, usize)> {
    let mut rows: Vec<(usize, usize)> = Vec::new();
    for (at, _) in found.iter().enumerate().filter(|(_, is)| **is) {
        let is_near = |end: usize| seconds[at].start <= seconds[end - 1].end.saturating_add(most);
        match rows.last_mut().filter(|(_, end)| is_near(*end)) {
            Some((_, end)) => *end = at + 1,
            None => rows.push((at, at + 1)),
        }
    }
    rows
}

fn event<'a>(own: impl Iterator<Item = &'a Second> + Clone, start: u64, end: u64) -> Unusual {
    let counts = || own.clone().flat_map(|second| &second.counts);
    let histogram = histogram_of(counts());
    let quantile = |of| histogram.quantile(of).map(|nanos| nanos as f64);
    let max = counts().map(|(bucket, _)| *bucket).max();
    Unusual {
        start,
        nanos: end - start,
        p50: quantile(0.5),
        p99: quantile(0.99),
        max: max.map(|bucket| LogBuckets::middle(bucket.into()) as f64),
        empty: own.clone().map(|second| second.empty).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests;
