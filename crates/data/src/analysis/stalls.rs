//! Times in which no operation of a trial ended, although many would have.

use std::ops::Range;

use crate::analysis::cause::Slowness;
use crate::analysis::{CellNames, CellResult};
use crate::plan::Job;
use crate::record::{LatencyLog, LogBuckets, LogEntry, Trial, histogram_of};
use crate::session::Session;
use crate::stats;
use crate::units::{show_count, show_nanos, show_share};

/// A stall is at least as long as this many operations take, stalls included, and as many times
/// the median latency: neither a low rate nor lanes that end together stall.
const MIN_OPERATIONS: f64 = 20.0;
/// It is at least this many intervals long, so that wherever it begins nothing ends in one of them.
const MIN_INTERVALS: f64 = 2.0;
/// A stall that ends in the middle of an interval is this share of the empty time at least: its
/// bucket is 3.1 % wide.
const MIN_FILL: f64 = 0.97;
/// Share of the time from which stalls are described.
const MIN_SHARE: f64 = 0.01;
/// Cells that are described.
const MAX_NAMED: usize = 3;

/// The stalls of a cell.
#[derive(Debug, Clone, PartialEq)]
struct Stalls {
    count: usize,
    /// The median, nanoseconds.
    nanos: f64,
    /// Share of the time of the trials.
    share: f64,
    /// Operations per second outside of stalls.
    rate: f64,
    /// As far as what happened around the trials shows it.
    cause: Option<String>,
}

/// A trial with its log.
type Logged<'a> = (&'a Trial, LatencyLog);
/// How long nothing ended, nanoseconds, and where in the trial that lies.
type Gap = (f64, Range<u64>);

/// Describes the stalls of the cells that lost most of their time to them: `uring 4 KiB write:
/// nothing ended for 998 ms, 3 times: 64 % of the time; without that 2.66 k/s; cause unknown`.
pub fn describe_stalls(session: &Session, results: &[CellResult]) -> Vec<String> {
    if session.latencies.is_empty() || !results.iter().any(may_stall) {
        return Vec::new();
    }
    let logs = session.logs_by_cell();
    let stalling = results.iter().filter(|result| may_stall(result));
    let found = stalling.filter_map(|result| {
        let own = logs.decode(result.trials.first()?.cell);
        let own: Vec<Logged> = own.collect();
        let stalls = find(&result.cell, &own).filter(|stalls| stalls.share >= MIN_SHARE);
        Some((stalls?, &result.cell))
    });
    let mut found: Vec<(Stalls, &Job)> = found.collect();
    if found.is_empty() {
        return Vec::new();
    }
    found.sort_by(|(a, _), (b, _)| b.share.total_cmp(&a.share));
    let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
    found
        .iter()
        .take(MAX_NAMED)
        .map(|(stalls, cell)| format!("{}: {}", names.full(cell), stalls.describe()))
        .collect()
}

impl Stalls {
    fn describe(&self) -> String {
        let Stalls { count, nanos, share, rate, .. } = *self;
        let times = if count == 1 { " once".into() } else { format!(", {count} times") };
        // A stopped process and a throttled group look the same.
        format!(
            "nothing ended for {}{times}: {} of the time; without that {}/s; {}",
            show_nanos(nanos),
            show_share(share),
            show_count(rate),
            self.cause.as_deref().unwrap_or("cause unknown")
        )
    }
}

/// Returns whether an operation may have been as long as a stall; this costs less than its log.
fn may_stall(result: &CellResult) -> bool {
    let least = MIN_INTERVALS * LatencyLog::WIDTH as f64;
    result.latency.is_none_or(|latency| latency.every <= 1 && latency.max >= least)
}

/// Finds the stalls of trials.
fn find(job: &Job, trials: &[Logged]) -> Option<Stalls> {
    // Where writes have no sync of their own, all wait for that of the last.
    if job.syncs_after_writes() && job.writes_per_commit() > 1 {
        return None;
    }
    // The operation that ends a stall may not be timed.
    if trials.iter().any(|(_, log)| log.every > 1) {
        return None;
    }
    let entries = || trials.iter().flat_map(|(_, log)| log.entries());
    let nanos: f64 = trials.iter().map(|(trial, _)| trial.nanos as f64).sum();
    let ops: f64 = entries().map(|entry| entry.ops as f64).sum();
    let median = histogram_of(entries().flat_map(LogEntry::service_times)).quantile(0.5);
    let least = MIN_OPERATIONS * f64::max(nanos / ops, median? as f64);
    let of_trials = trials.iter().map(|(trial, log)| {
        let own = least.max(MIN_INTERVALS * log.width as f64);
        let found = gaps(log).filter(|(gap, _)| *gap >= own);
        (*trial, found.collect::<Vec<Gap>>())
    });
    let stalled: Vec<_> = of_trials.filter(|(_, gaps)| !gaps.is_empty()).collect();
    let gaps: Vec<f64> =
        stalled.iter().flat_map(|(_, gaps)| gaps.iter().map(|(gap, _)| *gap)).collect();
    let held: f64 = gaps.iter().sum();
    let rate = ops * 1e9 / (nanos - held);
    let known = held < nanos && rate.is_finite();
    known.then_some(Stalls {
        count: gaps.len(),
        nanos: stats::median(&gaps)?,
        share: held / nanos,
        rate,
        cause: common_cause(&stalled),
    })
}

/// Names the causes of stalls; `None` unless what happened around each trial shows one.
fn common_cause(stalled: &[(&Trial, Vec<Gap>)]) -> Option<String> {
    let of_trial = |(trial, gaps): &(&Trial, Vec<Gap>)| {
        let slow: Vec<Range<u64>> = gaps.iter().map(|(_, range)| range.clone()).collect();
        let starts = slow.iter().map(|range| range.start).chain([trial.nanos]);
        let ends = [0].into_iter().chain(slow.iter().map(|range| range.end));
        let fast = ends.zip(starts).map(|(end, start)| end..start.max(end)).collect();
        let changes = slow.iter().map(|range| (range.start, true)).collect();
        Slowness { slow, fast, changes, loss: 1.0 }.cause(trial.evidence.surroundings.as_deref())
    };
    let mut causes = stalled.iter().map(of_trial).collect::<Option<Vec<String>>>()?;
    causes.dedup();
    causes.truncate(MAX_NAMED);
    Some(causes.join("; "))
}

/// Returns the times in which nothing ended until an operation did that took that long, in
/// nanoseconds: as long as this one took, where the empty intervals allow it; and where each lies.
fn gaps(log: &LatencyLog) -> impl Iterator<Item = Gap> {
    let width = log.width as f64;
    let (mut next, mut began) = (0, 0);
    let busy = log.entries().iter().filter(|entry| entry.ops > 0);
    busy.filter_map(move |entry| {
        let empty = f64::from(entry.index.saturating_sub(next));
        // The edges may lie in the entries on both sides.
        let ended = log.start_of(entry).saturating_add(log.length_of(entry));
        let range = std::mem::replace(&mut began, log.start_of(entry))..ended;
        next = entry.last().saturating_add(1);
        let (least, most) = (empty * width, (range.end - range.start) as f64);
        let slowest = entry
            .service_times()
            .last()
            .map_or(0, |(bucket, _)| LogBuckets::middle((*bucket).into()))
            as f64;
        let is_stall = empty > 0.0 && slowest >= MIN_FILL * least;
        is_stall.then(|| (slowest.clamp(least, most.max(least)), range))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::answer::testing::cell;
    use crate::plan::{Cache, Op, Rate, Sync};
    use crate::record::{AroundStep, Surroundings};
    use crate::session::testing::job;

    const MS: u64 = 1_000_000;

    /// Returns the log of a trial of lanes whose operations take these times, one after another
    /// from its start, until `end`; and when the last one ended. Nanoseconds.
    fn run(lanes: u64, end: u64, time: impl Fn(u64) -> u64) -> (Trial, LatencyLog) {
        let mut log = LatencyLog::new(1);
        let (mut now, mut at) = (0, 0);
        while now < end {
            let took = time(at);
            (now, at) = (now + took, at + 1);
            let index = (now / LatencyLog::WIDTH) as u32;
            let latency = vec![(LogBuckets::of(took) as u16, lanes as u32)];
            log.add(LogEntry { index, ops: lanes, latency, ..LogEntry::default() });
        }
        (of_time(now), log)
    }

    fn of_time(nanos: u64) -> Trial {
        Trial { nanos, ..Trial::default() }
    }

    fn find(job: &Job, trials: &[(Trial, LatencyLog)]) -> Option<Stalls> {
        let all: Vec<Logged> = trials.iter().map(|(trial, log)| (trial, log.clone())).collect();
        super::find(job, &all)
    }

    fn read() -> Job {
        job("pread", 4096, Cache::AsIs)
    }

    #[test]
    fn planted_stalls_are_found() {
        // 376 µs each, and three of 990 ms.
        let trial = run(1, 4_600 * MS, |at| match at {
            500 | 2000 | 3000 => 990 * MS,
            _ => 376_000,
        });
        let found = find(&read(), std::slice::from_ref(&trial)).unwrap();
        let held = 3.0 * 990e6 / trial.0.nanos as f64;
        assert_eq!(found.count, 3);
        assert!((found.nanos / 990e6 - 1.0).abs() < 0.016, "{found:?}");
        assert!((found.share / held - 1.0).abs() < 0.016, "{found:?} {held}");
        assert!((found.rate / 2660.0 - 1.0).abs() < 0.04, "{found:?}");
        // The bucket of 990 ms has 998 in its middle.
        assert_eq!(
            found.describe(),
            "nothing ended for 998 ms, 3 times: 65.1 % of the time; without that 2.70 k/s; \
             cause unknown"
        );
    }

    #[test]
    fn others_active_in_stalls_are_named() {
        let (mut trial, log) = run(1, 9_600 * MS, |at| if at == 500 { 1990 * MS } else { 376_000 });
        let around = |seconds: Range<u64>| {
            let mut all = Surroundings::default();
            for second in seconds {
                let (from, nanos) = (second * 1000 * MS, 1000 * MS);
                let step = AroundStep { from, nanos, read: 50 << 20, ..AroundStep::default() };
                all.push(step);
            }
            Some(Box::new(all))
        };
        trial.evidence.surroundings = around(0..3);
        let said = find(&read(), &[(trial.clone(), log.clone())]).unwrap().describe();
        assert!(
            said.ends_with("; meanwhile others moved 150 MiB on the disk, and who is unknown"),
            "{said}"
        );
        // Two stalled trials, and one of them is not explained.
        let bare = (of_time(trial.nanos), log.clone());
        let said = find(&read(), &[(trial.clone(), log.clone()), bare]).unwrap().describe();
        assert!(said.ends_with("cause unknown"), "{said}");
        trial.evidence.surroundings = around(0..9);
        let said = find(&read(), &[(trial, log)]).unwrap().describe();
        assert!(said.ends_with("cause unknown"), "always active: {said}");
    }

    #[test]
    fn slow_work_does_not_stall() {
        for (name, trial) in [
            ("slow", run(1, 20_000 * MS, |at| (180 + at * 7919 % 700) * MS)),
            ("a commit of many lanes", run(64, 20_000 * MS, |_| 300 * MS)),
            (
                "shorter than two intervals",
                run(1, 9_000 * MS, |at| [MS, 190 * MS][usize::from(at % 999 == 7)]),
            ),
            ("one operation", run(1, 500 * MS, |_| 900 * MS)),
            ("no operation", (of_time(500 * MS), LatencyLog::new(1))),
        ] {
            assert_eq!(find(&read(), &[trial]), None, "{name}");
        }
        assert_eq!(find(&read(), &[]), None);
    }

    #[test]
    fn paced_work_does_not_stall() {
        // One operation of 2 ms in each second: by a rate, or behind a pause.
        let mut log = LatencyLog::new(1);
        let bucket = |nanos| vec![(LogBuckets::of(nanos) as u16, 64)];
        for index in 0..60 {
            let latency = bucket(2 * MS);
            log.add(LogEntry { index: index * 10, ops: 64, latency, ..LogEntry::default() });
        }
        let trial = [(of_time(60_000 * MS), log)];
        let paused = Job { think: 1000 * MS, threads: 64, ..read() };
        assert_eq!(find(&paused, &trial), None);
        let mut few = trial.clone();
        few[0].1 = LatencyLog::new(1);
        for index in [0, 13, 17, 40, 71, 99] {
            few[0].1.add(LogEntry {
                index,
                ops: 1,
                latency: bucket(2 * MS),
                ..LogEntry::default()
            });
        }
        assert_eq!(find(&Job { rate: Some(Rate::Operations(1)), ..read() }, &few), None);
        let groups = Job { op: Op::Write, sync: Sync::Fdatasync, sync_every: 1000, ..read() };
        assert_eq!(find(&groups, &trial), None);
    }

    #[test]
    fn fast_operations_end_no_stall() {
        // Nothing is asked for, for two seconds.
        let mut log = LatencyLog::new(1);
        for index in (0..50).filter(|index| !(20..40).contains(index)) {
            let latency = vec![(LogBuckets::of(100_000) as u16, 100)];
            log.add(LogEntry { index, ops: 100, latency, ..LogEntry::default() });
        }
        assert_eq!(find(&read(), &[(of_time(5_000 * MS), log.clone())]), None);
        let slow = vec![(LogBuckets::of(2050 * MS) as u16, 1)];
        log.add(LogEntry { index: 40, ops: 1, latency: slow, ..LogEntry::default() });
        assert!(find(&read(), &[(of_time(5_000 * MS), log.clone())]).is_some());
        log.every = 64;
        assert_eq!(find(&read(), &[(of_time(5_000 * MS), log)]), None, "it may not be timed");
    }

    #[test]
    fn a_stall_delays_responses() {
        // At 1,000/s: the operations that a stall holds back end together.
        let mut log = LatencyLog::new(1);
        let of = |nanos, count| (LogBuckets::of(nanos) as u16, count);
        for index in (0..50).filter(|index| !(20..30).contains(index)) {
            let late = index == 30;
            let (ops, latency, service) = match late {
                true => (1100, vec![of(500 * MS, 1100)], vec![of(100_000, 1099), of(1000 * MS, 1)]),
                false => (100, vec![of(100_000, 100)], vec![of(100_000, 100)]),
            };
            log.add(LogEntry { index, ops, latency, service, ..LogEntry::default() });
        }
        let job = Job { rate: Some(Rate::Operations(1000)), ..read() };
        let found = find(&job, &[(of_time(5_000 * MS), log)]).unwrap();
        assert!(found.count == 1 && (found.nanos / 1e9 - 1.0).abs() < 0.016, "{found:?}");
    }

    #[test]
    fn stalls_are_described_once() {
        let trial = run(1, 4_600 * MS, |at| if at == 500 { 990 * MS } else { 376_000 });
        let mut result = cell(read(), 1.0, 0.0, 1);
        std::sync::Arc::make_mut(&mut result.trials[0]).nanos = trial.0.nanos;
        let own = result.trials[0].clone();
        let mut session = crate::session::testing::session(1);
        session.trials = vec![own.clone()];
        let lines = trial.1.encode(own.cell, own.round);
        session.latencies = lines.into_iter().map(Into::into).collect();
        let said = describe_stalls(&session, &[result.clone()]);
        let [said] = &said[..] else { panic!("{said:?}") };
        assert!(
            said.contains(": nothing ended for 998 ms once: 21.7 % of the time; without that"),
            "{said}"
        );
        session.latencies.clear();
        assert_eq!(describe_stalls(&session, &[result]), [""; 0]);
    }
}
