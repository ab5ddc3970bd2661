//! Latencies: as many as planned, and only plausible ones.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};

use super::*;
use crate::backend::work::Tally;
use crate::plan::Sync;
use crate::record::{LatencyLog, LogBuckets, LogCount, LogEntry, SampleParts};
use crate::stats::Histogram;

fn check(ran: &LaneResults, spec: &Spec, label: &str) {
    for lane in &ran.lanes {
        let Some(histogram) = &lane.tally.histogram else {
            assert_eq!(spec.timed, Timed::None, "{label}");
            continue;
        };
        let ops = lane.tally.ops;
        let wanted = match spec.timed {
            // One of the remaining operations at the end may be timed, and at least one in total.
            Timed::OneIn(n) => {
                (ops / u64::from(n)).max(u64::from(ops > 0))..=ops.div_ceil(n.into())
            }
            Timed::None => 0..=0,
            Timed::Chained | Timed::Precise => ops..=ops,
        };
        assert!(
            wanted.contains(&histogram.count()),
            "{label}: {} of {ops}, not {wanted:?}",
            histogram.count()
        );
        plausible(histogram, lane.end - lane.start, spec.job.depth, label);
    }
    check_log(ran, spec, label);
}

/// Asserts that the log has exactly what the lanes counted, and their latencies.
pub(super) fn check_log(ran: &LaneResults, spec: &Spec, label: &str) {
    let Some(log) = &ran.log else {
        assert_eq!(spec.timed, Timed::None, "{label}");
        return;
    };
    assert_eq!(log.every, spec.timed.every(), "{label}");
    let sum = |of: fn(&LogEntry) -> u64| log.entries().iter().map(of).sum::<u64>();
    let all = sums(ran);
    assert_eq!(
        (sum(|of| of.ops), sum(|of| of.bytes), sum(|of| of.syscalls)),
        (all.ops, all.bytes, all.syscalls),
        "{label}"
    );
    let tallies = || ran.lanes.iter().map(|lane| &lane.tally);
    let response = |tally: &Tally| tally.paced.as_ref()?.response.clone();
    let responds = tallies().any(|tally| response(tally).is_some());
    let recorded = buckets(tallies().filter_map(|tally| tally.histogram.clone()));
    let (latency, service) = if responds {
        (buckets(tallies().filter_map(response)), recorded)
    } else {
        (recorded, BTreeMap::new())
    };
    assert_eq!(add_up(log, |entry| &entry.latency), latency, "{label}");
    assert_eq!(add_up(log, |entry| &entry.service), service, "{label}");
    let held = tallies().filter_map(|tally| Some(tally.paced.as_ref()?.held)).sum::<u64>();
    assert_eq!(sum(|of| of.held.into()), held, "{label}");
}

/// Returns the counts of histograms in the buckets of a log.
fn buckets(histograms: impl Iterator<Item = Histogram>) -> BTreeMap<u16, u64> {
    let mut all: BTreeMap<u16, u64> = BTreeMap::new();
    for (nanos, count) in histograms.flat_map(|of| of.pairs()) {
        *all.entry(LogBuckets::of(nanos) as u16).or_default() += count;
    }
    all
}

/// Returns the counts of all intervals.
fn add_up(log: &LatencyLog, of: fn(&LogEntry) -> &Vec<LogCount>) -> BTreeMap<u16, u64> {
    let mut all: BTreeMap<u16, u64> = BTreeMap::new();
    for (bucket, count) in log.entries().iter().flat_map(of) {
        *all.entry(*bucket).or_default() += u64::from(*count);
    }
    all
}

#[test]
fn intervals_of_commits_are_logged() {
    let (_file, _, target) = testing::file(1 << 18, 3);
    for info in BACKENDS.iter().map(|of| of.info()).filter(|of| !of.syncs.is_empty()) {
        for (sync, sync_every) in [(Sync::Fdatasync, 1), (Sync::Fdatasync, 3), (Sync::End, 1)] {
            let choice = Choice::plain(info.id);
            let job = Job { sync, sync_every, ..job(&choice, Op::Write, Pattern::Seq, 4096, 2, 1) };
            if !supported(&target, &job) {
                continue;
            }
            let spec = Spec { timed: Timed::Chained, ..spec(job, &target, 2) };
            let label = spec.job.label();
            check(&run(&spec).unwrap_or_else(|e| panic!("{label}: {e}")), &spec, &label);
        }
    }
}

/// An operation that lasts over several intervals is in that in which it ended.
#[test]
fn a_stall_is_in_its_interval() {
    use super::faulty::{Act, Faulty, OPENING};
    let samples = Arc::new((Mutex::new(0), Condvar::new()));
    let seen = Arc::clone(&samples);
    let script = move |_, request| {
        if request != OPENING {
            let taken = seen.0.lock().unwrap();
            drop(seen.1.wait_while(taken, |taken| *taken < 4).unwrap());
        }
        Act::Whole
    };
    let spec =
        Spec { timed: Timed::Chained, ..Faulty::over(&[7; 65536], Box::new(script)).spec(1, 1) };
    let mut count = |_, _| {
        *samples.0.lock().unwrap() += 1;
        samples.1.notify_all();
    };
    let ran = workers::run(&spec, own(&spec), &mut || true, &|| None, &mut count).ok().unwrap();
    check(&ran, &spec, "stalled");
    let log = ran.log.unwrap();
    let first = log.entries().iter().find(|entry| entry.ops > 0).unwrap();
    assert!(first.index >= 3, "{first:?}");
    let slowest = LogBuckets::lowest(first.latency.last().unwrap().0.into());
    assert!(slowest >= 3 * LatencyLog::WIDTH, "{first:?}");
}

#[test]
fn samples_carry_new_latencies() {
    use super::faulty::{Act, Faulty, OPENING};
    let samples = Arc::new((Mutex::new(0), Condvar::new()));
    let (seen, done) = (Arc::clone(&samples), AtomicU32::new(0));
    // The first operations end after one sample each.
    let script = move |_, request| {
        if request != OPENING {
            let wanted = done.fetch_add(1, Relaxed).min(4);
            let taken = seen.0.lock().unwrap();
            drop(seen.1.wait_while(taken, |taken| *taken < wanted).unwrap());
        }
        Act::Whole
    };
    let spec =
        Spec { timed: Timed::Chained, ..Faulty::over(&[7; 65536], Box::new(script)).spec(1, 1) };
    let mut carried = LatencyLog::new(1);
    let mut count = |_, parts: SampleParts| {
        parts.log.into_iter().for_each(|log| carried.append(log, 0));
        *samples.0.lock().unwrap() += 1;
        samples.1.notify_all();
    };
    let ran = workers::run(&spec, own(&spec), &mut || true, &|| None, &mut count).ok().unwrap();
    let timed = |log: &LatencyLog| log.entries().iter().map(LogEntry::timed).sum::<u64>();
    let all = timed(&ran.log.unwrap());
    assert!((1..all).contains(&timed(&carried)), "{} of {all}", timed(&carried));
}

/// Asserts that latencies fit the lane's time: clocks agree within 1 %, a bucket is 0.4 % wide.
fn plausible(histogram: &Histogram, nanos: u64, depth: u32, label: &str) {
    let most = nanos as f64 * 1.02 + 1000.0;
    let mut before = 0;
    for q in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
        let Some(value) = histogram.quantile(q) else { continue };
        assert!(
            value >= before.max(1) && value as f64 <= most,
            "{label}: {value} ns at {q} of {nanos} ns"
        );
        before = value;
    }
    assert!(
        histogram.count() == 0 || histogram.max() as f64 <= most,
        "{label}: {} ns of {nanos} ns",
        histogram.max()
    );
    // Operations overlap only with operations of other slots, so their sum is at most the depth
    // times the lane's time.
    let sum = histogram.mean() * histogram.count() as f64;
    assert!(sum <= most * f64::from(depth), "{label}: {sum} ns in {depth} x {nanos} ns");
}

#[test]
fn every_mode_times_what_it_says() {
    let (_file, _, target) = testing::file(1 << 18, 10);
    for choice in choices() {
        let op = if info(&choice).ops.contains(&Op::Read) { Op::Read } else { Op::Seek };
        for depth in depths(&choice) {
            // 257 blocks, the last an odd one: 65 timed at one in 64 in one pass, and shares that
            // do not divide evenly.
            let job = Job {
                span: (1 << 18) - 511,
                xor: depth == 1,
                ..job(&choice, op, Pattern::Random, 1020, 2, depth)
            };
            if !supported(&target, &job) {
                continue;
            }
            for timed in [
                Timed::None,
                Timed::Chained,
                Timed::Precise,
                Timed::OneIn(1),
                Timed::OneIn(64),
                Timed::OneIn(1024),
            ] {
                let spec = Spec { timed, ..spec(job.clone(), &target, 3) };
                let label = format!("{} {timed:?}", spec.job.label());
                check(&run(&spec).unwrap_or_else(|e| panic!("{label}: {e}")), &spec, &label);
            }
        }
    }
}

#[test]
fn short_operations_are_timed_once_each() {
    use super::faulty::{Act, Faulty, OPENING};
    for depth in [1, 4] {
        let halves = |_, r: crate::backend::work::Request| {
            if r == OPENING || r.at > 0 || r.len < 4096 { Act::Whole } else { Act::Short(1000) }
        };
        for timed in [Timed::Chained, Timed::Precise, Timed::OneIn(4)] {
            let spec = Spec {
                timed,
                passes: 2,
                ..Faulty::over(&[7; 65536 + 5], Box::new(halves)).spec(2, depth)
            };
            check(&run(&spec).unwrap(), &spec, &format!("depth {depth} {timed:?}"));
        }
    }
}
