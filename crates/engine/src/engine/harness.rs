//! Measures the overhead of iotui's loop: the null backend for a quarter of a millisecond.

use std::sync::atomic::AtomicBool;

use crate::backend::access_pattern::Share;
use crate::backend::work::Published;
use crate::backend::{Target, Work, bare_loop, drive};
use crate::plan::Job;
use crate::sys::clock::monotonic_nanos;

/// Returns the nanoseconds per operation, the minimum of several short runs; 0 where it cannot be
/// measured.
pub(super) fn overhead_nanos(job: &Job, target: &Target) -> f64 {
    // The loop takes a few nanoseconds an operation: 30 microseconds each, which one reading of the
    // clock does not change by a percent.
    const OPS: u64 = 5_000;
    let (stop, published) = (AtomicBool::new(false), Published::default());
    let job = Job {
        block: 1,
        span: OPS,
        threads: 1,
        depth: 1,
        count: Some(0),
        xor: false,
        ..job.clone()
    };
    let once = || {
        let null = bare_loop();
        let mut lane = null.open(target, &job, 0).ok()?;
        let mut work =
            Work::new(null.assignment(&job, Share::for_lane(&job, 0, OPS, 0), &stop, &published));
        let start = monotonic_nanos();
        drive::run(lane.as_mut(), &mut work).ok()?;
        Some((monotonic_nanos() - start) as f64 / OPS as f64)
    };
    (0..8).filter_map(|_| once()).fold(f64::INFINITY, f64::min).min(1e6)
}
