//! Pauses between operations: after each, in each slot.

use std::sync::{Arc, Mutex};

use super::faulty::{Act, Faulty, OPENING};
use super::*;
use crate::backend::pace::PaceSpec;
use crate::sys::clock::monotonic_nanos;

#[test]
fn every_backend_pauses() {
    let (_file, data, target) = testing::file(span(4096) as usize, 9);
    for job in random_jobs(&target, 2) {
        let (label, depth) = (job.label(), job.depth);
        let pause = 300_000;
        let pace = Some(PaceSpec::Think(pause));
        let spec = Spec { pace, timed: Timed::Chained, ..spec(job, &target, 3) };
        let ran = run(&spec).unwrap_or_else(|error| panic!("{label}: {error}"));
        let (ops, bytes, _) = expected(&spec, &data);
        let moved = if spec.info().moves_bytes() { 3 * bytes } else { 0 };
        assert_eq!((sums(&ran).ops, sums(&ran).bytes), (3 * ops, moved), "{label}");
        for lane in &ran.lanes {
            let service = lane.tally.histogram.as_ref().unwrap();
            let busy = service.mean() * service.count() as f64;
            // At most as many operations as there are slots begin without a pause.
            let pauses = lane.tally.ops.saturating_sub(depth.into()) * pause;
            let nanos = (lane.end - lane.start) as f64 * f64::from(depth) * 1.01;
            assert!(busy + pauses as f64 <= nanos, "{label}: {busy} ns in {nanos}");
        }
    }
}

#[test]
fn slots_pause_by_themselves() {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&notes);
    let script = move |_, request| {
        if request != OPENING {
            let begin = monotonic_nanos();
            seen.lock().unwrap().push((begin, monotonic_nanos()));
        }
        Act::Whole
    };
    let (depth, pause) = (4, 1_000_000u64);
    let spec = Faulty::over(&[7; 65536], Box::new(script)).spec(1, depth);
    let spec = Spec { pace: Some(PaceSpec::Think(pause)), timed: Timed::Chained, ..spec };
    let ran = run(&spec).unwrap();
    let notes = notes.lock().unwrap();
    assert_eq!((notes.len(), sums(&ran).ops), (16, 16));
    // Operation n begins a pause after the end of one that is at least a round before it.
    for (earlier, later) in notes.iter().zip(&notes[2 * depth as usize - 1..]) {
        assert!(later.0 + 10_000 >= earlier.1 + pause, "{earlier:?} {later:?}");
    }
    let paced = ran.lanes[0].tally.paced.as_ref().unwrap();
    assert_eq!((paced.started, paced.held, paced.response.is_none()), (16, 0, true));
}
