//! A pace through every backend: as many starts as are intended, none too early, and times that the
//! target confirms.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use super::faulty::{Act, Faulty, OPENING};
use super::*;
use crate::backend::pace::{LanePaced, PaceSpec, RateSpec};
use crate::engine::coverage::trial_coverage;
use crate::plan::{Arrival, Moves, Sync};
use crate::sys::clock::monotonic_nanos;

/// The two clocks may be read this far apart, nanoseconds.
const APART: u64 = 100_000;

/// Returns a rate of `count` starts within `nanos`.
fn rate(count: u64, nanos: u64) -> PaceSpec {
    PaceSpec::Rate(RateSpec {
        per_second: count as f64 * 1e9 / nanos as f64,
        arrival: Arrival::Steady,
        nanos,
        by_work: false,
        seed: 3,
    })
}

fn paced(lane: &super::workers::LaneResult) -> &LanePaced {
    lane.tally.paced.as_ref().expect("a pace")
}

/// Asserts that `count` starts were intended, and that the lanes' times fit each other.
fn assert_paced(ran: &LaneResults, count: u64, label: &str) {
    let sum = |of: fn(&LanePaced) -> u64| ran.lanes.iter().map(|l| of(paced(l))).sum::<u64>();
    assert_eq!(sum(|p| p.started + p.unstarted), count, "{label}");
    assert_eq!(sum(|p| p.started), sums(ran).ops, "{label}");
    for lane in &ran.lanes {
        let paced = paced(lane);
        assert!(paced.complete, "{label}");
        let response = paced.response.as_ref().expect("response times");
        let service = lane.tally.histogram.as_ref().expect("service times");
        assert_eq!(
            (response.count(), service.count()),
            (lane.tally.ops, lane.tally.ops),
            "{label}"
        );
        // Each response time is its lateness and its service time, all rounded down.
        let total = |of: &crate::stats::Histogram| of.mean() * of.count() as f64;
        let late = (paced.held_nanos + paced.start_lag) as f64;
        let error = (total(response) - total(service) - late).abs();
        assert!(error <= 2.0 * lane.tally.ops as f64 + 2.0, "{label}: {error} ns");
        assert!(paced.most_late <= response.max() + 1, "{label}");
    }
}

#[test]
fn every_backend_keeps_a_rate() {
    let (_file, data, target) = testing::file(span(4096) as usize, 9);
    for job in [1, 2].into_iter().flat_map(|threads| random_jobs(&target, threads)) {
        let label = job.label();
        let pace = Some(rate(101, 4_000_000));
        let spec = Spec { pace, timed: Timed::Chained, ..spec(job, &target, 1000) };
        let ran = run(&spec).unwrap_or_else(|error| panic!("{label}: {error}"));
        assert_paced(&ran, 101, &label);
        super::latency::check_log(&ran, &spec, &label);
        assert_read(&spec, &ran, &data, &label);
    }
}

/// Asserts that the lanes read exactly the blocks that they report.
fn assert_read(spec: &Spec, ran: &LaneResults, data: &[u8], label: &str) {
    let (coverage, sums) = (trial_coverage(&ran.lanes, spec), sums(ran));
    if spec.info().moves_bytes() {
        assert_eq!(coverage.iter().map(|of| of.bytes().0).sum::<u64>(), sums.bytes, "{label}");
    }
    // Whole passes of both lanes, or the parts of a shared one, are in the XOR.
    let whole = coverage.iter().all(|of| of.passes().is_none_or(|passes| passes > 0));
    if whole && spec.info().moves() == Moves::Data {
        assert_eq!(sums.folds[0], expected(spec, data).2, "{label}");
    }
}

#[test]
fn every_sync_method_keeps_a_rate() {
    let writes = |c: &Choice| info(c).moves() == Moves::Data && info(c).ops.contains(&Op::Write);
    let (_file, _, target) = testing::file(span(4096) as usize, 5);
    for choice in choices().into_iter().filter(writes) {
        for (sync, every) in Sync::ALL.iter().flat_map(|sync| [(*sync, 1), (*sync, 3)]) {
            let depth = *depths(&choice).last().unwrap();
            let job = Job {
                sync,
                sync_every: every,
                ..job(&choice, Op::Write, Pattern::Seq, 4096, 2, depth)
            };
            if !supported(&target, &job) {
                continue;
            }
            let label = format!("{} sync {sync} every {every}", job.label());
            let pace = Some(rate(24, 2_000_000));
            let spec = Spec { pace, timed: Timed::Chained, ..spec(job, &target, 1000) };
            let ran = run(&spec).unwrap_or_else(|error| panic!("{label}: {error}"));
            assert_paced(&ran, 24, &label);
            for lane in &ran.lanes {
                let Some(commits) = &lane.tally.commits else { continue };
                let (ops, total) = (lane.tally.ops, &commits.total);
                assert_eq!(total.count(), ops / u64::from(every), "{label}");
                let service = lane.tally.histogram.as_ref().unwrap();
                // A commit begins with its first write, not with the wait for it.
                assert!(every > 1 || total.mean() <= service.mean() + 2.0, "{label}");
            }
        }
    }
}

/// When the target began and ended each request of a lane, nanoseconds of CLOCK_MONOTONIC.
type Notes = Arc<Mutex<Vec<Vec<(u64, u64)>>>>;

/// Returns a target that notes the times of its requests, and takes 5 ms for one of lane 1.
fn noting(lanes: usize) -> (&'static Faulty, Notes) {
    let notes: Notes = Arc::new(Mutex::new(vec![Vec::new(); lanes]));
    let seen = Arc::clone(&notes);
    let script = move |lane: u32, request| {
        let begin = monotonic_nanos();
        if request == OPENING {
            return Act::Whole;
        }
        let number = seen.lock().unwrap()[lane as usize].len();
        while lane == 1 && number == 5 && monotonic_nanos() < begin + 5_000_000 {
            std::hint::spin_loop();
        }
        seen.lock().unwrap()[lane as usize].push((begin, monotonic_nanos()));
        Act::Whole
    };
    (Faulty::over(&[7; 65536], Box::new(script)), notes)
}

#[test]
fn the_target_confirms_response_times() {
    let (backend, notes) = noting(2);
    let (count, nanos) = (40u64, 20_000_000u64);
    let pace = Some(rate(count, nanos));
    let spec = Spec { pace, timed: Timed::Chained, passes: 100, ..backend.spec(2, 1) };
    let ran = run(&spec).unwrap();
    assert_paced(&ran, count, "faulty");
    for lane in &ran.lanes {
        let of_lane = &notes.lock().unwrap()[lane.lane as usize];
        let (paced, ops) = (paced(lane), of_lane.len() as u64);
        assert_eq!(ops, paced.started);
        // The pace by its definition: start j of lane k is the (2 j + k)th of all.
        let dues: Vec<u64> =
            (0..ops).map(|j| lane.start + (2 * j + u64::from(lane.lane)) * nanos / count).collect();
        let pairs = || of_lane.iter().zip(&dues);
        assert!(pairs().all(|((begin, _), due)| begin + APART >= *due), "a start was early");
        let sum = |of: fn(&(u64, u64)) -> u64| {
            pairs().map(|(note, due)| of(note) as i64 - *due as i64).sum::<i64>()
        };
        let (until_begin, until_end) = (sum(|note| note.0), sum(|note| note.1));
        let service = lane.tally.histogram.as_ref().unwrap();
        let service = (service.mean() * service.count() as f64) as i64;
        let late = (paced.held_nanos + paced.start_lag) as i64;
        let slack = (APART * ops) as i64;
        assert!(late <= until_begin + slack, "{late} ns late, at most {until_begin}");
        assert!(late >= until_end - service - slack, "{late} ns late, at least {until_end}");
        // Operations that were due while the one before them ran.
        let ends = of_lane.iter().map(|note| note.1);
        let held = ends.zip(&dues[1..]).filter(|(end, due)| **due + APART < *end).count() as u64;
        assert!(paced.held >= held, "{} held back, not {held}", paced.held);
        assert!(lane.lane == 0 || held >= 4, "{held} of lane 1");
        // The trial is as long as its starts, whatever the last operation takes.
        assert!(lane.ran - lane.start + APART >= nanos);
    }
}

#[test]
fn slots_are_filled_when_due() {
    for threads in [1, 2] {
        let (backend, notes) = noting(2);
        let pace = Some(rate(60, 6_000_000));
        let spec = Spec { pace, timed: Timed::Chained, passes: 100, ..backend.spec(threads, 4) };
        let ran = run(&spec).unwrap();
        assert_paced(&ran, 60, "faulty");
        for lane in &ran.lanes {
            let gap = 100_000 * u64::from(threads);
            let of_lane = &notes.lock().unwrap()[lane.lane as usize];
            let mut begins: Vec<u64> = of_lane.iter().map(|note| note.0).collect();
            begins.sort_unstable();
            let first = lane.start + 100_000 * u64::from(lane.lane);
            let early = |(j, begin): (u64, &u64)| begin + APART < first + j * gap;
            assert!(!(0..).zip(&begins).any(early), "a start was early");
        }
    }
}

#[test]
fn random_arrivals_keep_the_rate() {
    for seed in 1..4 {
        let (backend, _) = noting(2);
        let PaceSpec::Rate(steady) = rate(201, 4_000_000) else { panic!("no rate") };
        let pace = PaceSpec::Rate(RateSpec { arrival: Arrival::Poisson, seed, ..steady });
        let spec =
            Spec { pace: Some(pace), timed: Timed::Chained, passes: 101, ..backend.spec(2, 1) };
        let mut ran = run(&spec).unwrap();
        ran.lanes.sort_by_key(|lane| lane.lane);
        let intended = |lane| paced(lane).started + paced(lane).unstarted;
        assert_eq!(ran.lanes.iter().map(intended).collect::<Vec<_>>(), [101, 100]);
    }
}

#[test]
fn a_wait_is_stopped() {
    let (_file, _, target) = testing::file(span(4096) as usize, 9);
    for job in random_jobs(&target, 2) {
        let label = job.label();
        // One start in ten minutes.
        let pace = Some(rate(2, 1_200_000_000_000));
        let spec = Spec { pace, timed: Timed::Chained, ..spec(job, &target, 1000) };
        let gone = std::cell::Cell::new(false);
        // A lane that slept on would be abandoned.
        let ran = run_with(&spec, &mut || gone.set(true), &|| gone.get());
        let ran = ran.unwrap_or_else(|error| panic!("{label}: {error}"));
        assert!(sums(&ran).ops <= 1, "{label}");
        assert!(ran.lanes.iter().all(|lane| !paced(lane).complete), "{label}");
    }
}

#[test]
fn a_fault_ends_the_pace() {
    for depth in [1, 4] {
        let count = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&count);
        let script = move |_, request| {
            if request != OPENING && seen.fetch_add(1, Relaxed) == 2 {
                return Act::Result(-(libc::EIO as isize));
            }
            Act::Whole
        };
        let backend = Faulty::over(&[7; 65536], Box::new(script));
        // An hour at 2,000/s.
        let pace = Some(rate(7_200_000, 3_600_000_000_000));
        let spec = Spec { pace, timed: Timed::Chained, passes: 100, ..backend.spec(1, depth) };
        let error = run(&spec).err().unwrap();
        assert!(error.contains("Input/output error") || error.contains("EIO"), "{error}");
        assert!(count.load(Relaxed) <= 3 + u64::from(depth), "depth {depth}");
    }
}

#[test]
fn short_operations_respond_once() {
    let script = |_, request: crate::backend::work::Request| match request {
        OPENING => Act::Whole,
        request if request.len > 1000 => Act::Short(1000),
        _ => Act::Whole,
    };
    for depth in [1, 4] {
        let backend = Faulty::over(&[7; 65536], Box::new(script));
        let pace = Some(rate(50, 5_000_000));
        let spec = Spec { pace, timed: Timed::Chained, passes: 100, ..backend.spec(1, depth) };
        let ran = run(&spec).unwrap();
        assert_paced(&ran, 50, "short");
        assert_eq!(sums(&ran).syscalls, 5 * sums(&ran).ops);
    }
}
