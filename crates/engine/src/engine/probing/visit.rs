//! Runs one visit to a probe's cell: a dedicated thread, pinned to one CPU, opens it, calibrates
//! and measures.
//!
//! The thread ends with the visit, which undoes the pinning and whatever else a probe did to it. A
//! thread that does not return from the kernel is abandoned.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::engine::control::Cut;
use crate::engine::error::Failure;
use crate::probe::{BatchTime, Costs, Gauge, Opened, ProbeContext, ProbeError};
use crate::record::Warning;
use crate::sys::threads::{Affinity, unshare_files};
use crate::sys::usage::Usage;

/// The input of a visit.
#[derive(Clone)]
pub(super) struct VisitRequest {
    /// Prepares the cell, on the thread of the visit.
    pub open: Arc<dyn Fn(&ProbeContext) -> Opened + Send + Sync>,
    /// Operations per batch; `None` = to be calibrated.
    pub count: Option<u64>,
    /// Batches that are still to be measured.
    pub remaining: u32,
    /// How long a batch should take.
    pub time: Duration,
}

/// The result of a visit.
pub(super) struct Visit {
    pub count: u64,
    pub batches: Vec<BatchTime>,
    pub costs: Costs,
    /// The CPU that it was pinned to; `None` where the kernel refused or the probe uses all CPUs.
    pub cpu: Option<usize>,
    /// Usage of the thread, over all batches.
    pub usage: Usage,
    pub evidence: Vec<String>,
    pub warnings: Vec<Warning>,
}

/// How often the waiting thread checks its flags, and how long a gauge may take to end after a
/// stop.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// A batch of a calibration that took longer is not repeated.
const CONFIRM_LIMIT: Duration = Duration::from_millis(200);
/// Maximum operations per batch.
const MAX_COUNT: u64 = 1 << 40;

/// Visits the cell. `cut` returns when to end.
pub(super) fn visit(
    request: &VisitRequest,
    site: &ProbeContext,
    cut: &dyn Fn() -> Option<Cut>,
) -> Result<Visit, Failure> {
    let site = Arc::new(site.with_own_stop());
    let (sender, receiver) = channel();
    let thread_request = request.clone();
    let thread_site = Arc::clone(&site);
    let body = move || {
        let done = catch_unwind(AssertUnwindSafe(|| measure(&thread_request, &thread_site)));
        // Ignore send errors: the waiting thread may have abandoned this one.
        let _ = sender.send(done.unwrap_or_else(|_| Err(panic_error())));
    };
    let thread = std::thread::Builder::new().name("probe".into()).spawn(body);
    let thread =
        thread.map_err(|error| Failure::Cell(format!("cannot start a thread: {error}")))?;
    let done = wait(&receiver, &site, cut)?;
    // It has sent its result and is about to end.
    let _ = thread.join();
    done.map_err(|error| match error {
        ProbeError::Stopped => Failure::Stopped,
        other => Failure::Cell(other.to_string()),
    })
}

fn panic_error() -> ProbeError {
    ProbeError::Missing(
        "the probe ended without a result: this is a bug in iotui, please report it".into(),
    )
}

type Done = Result<Visit, ProbeError>;

fn wait(
    receiver: &Receiver<Done>,
    site: &ProbeContext,
    cut: &dyn Fn() -> Option<Cut>,
) -> Result<Done, Failure> {
    let mut since: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Disconnected) => return Ok(Err(panic_error())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        match cut() {
            None => {}
            // However long it takes: the visit is repeated in full.
            Some(Cut::Pause) => site.request_stop(),
            Some(Cut::End) => {
                site.request_stop();
                if since.get_or_insert_with(Instant::now).elapsed() > STOP_TIMEOUT {
                    return Err(Failure::Abandoned);
                }
            }
        }
    }
}

fn measure(request: &VisitRequest, site: &ProbeContext) -> Done {
    let cpu = site.cpu().filter(|cpu| Affinity::only(*cpu).apply().is_ok());
    // Like a program with one thread: a shared table adds some 30 ns to each call. If refused, that
    // is part of the result.
    let _ = unshare_files();
    let costs = Costs::measure();
    let begin = Instant::now();
    let mut gauge = (request.open)(site)?;
    let opened = begin.elapsed();
    // A probe may have changed the affinity.
    let cpu = cpu.filter(|cpu| Affinity::current().is_ok_and(|now| now.cpus() == [*cpu]));
    let count = match request.count {
        Some(count) => count,
        None => calibrate(&mut *gauge, site, request.time)?,
    };
    // A cell that takes long to open is measured several times before it is closed, for as long as
    // opening took, so that one with long batches leaves the others their turn.
    let several = opened
        .as_nanos()
        .div_ceil(request.time.as_nanos().max(1))
        .clamp(1, request.remaining.into());
    let before = Usage::thread().unwrap_or_default();
    let (begin, mut batches) = (Instant::now(), Vec::new());
    while batches.is_empty() || (batches.len() as u128) < several && begin.elapsed() < opened {
        site.check_stop()?;
        batches.push(gauge.run(count)?);
    }
    let usage = Usage::thread().unwrap_or_default() - before;
    site.check_stop()?;
    Ok(Visit {
        count,
        batches,
        costs,
        cpu,
        usage,
        evidence: gauge.evidence(),
        warnings: gauge.warnings(),
    })
}

/// Returns the number of operations that take about `time`, preparation within a batch included;
/// the runs warm up, too. A batch that took long enough is repeated once: the thread may have lost
/// its CPU in the first.
fn calibrate(
    gauge: &mut dyn Gauge,
    site: &ProbeContext,
    time: Duration,
) -> Result<u64, ProbeError> {
    let max = gauge.max_batch().clamp(1, MAX_COUNT);
    let mut count = 1;
    loop {
        site.check_stop()?;
        let mut took = time_batch(gauge, count)?;
        if count < max && (time..CONFIRM_LIMIT).contains(&took) {
            took = took.min(time_batch(gauge, count)?);
        }
        if count >= max || took >= time {
            return Ok(count);
        }
        let factor = (time.as_secs_f64() / took.as_secs_f64() * 1.1).clamp(1.5, 64.0);
        count =
            ((count as f64 * factor).ceil() as u64).clamp(count + 1, max.max(count + 1)).min(max);
    }
}

fn time_batch(gauge: &mut dyn Gauge, count: u64) -> Result<Duration, ProbeError> {
    let begin = Instant::now();
    gauge.run(count)?;
    Ok(begin.elapsed().max(Duration::from_nanos(1)))
}

#[cfg(test)]
mod tests;
