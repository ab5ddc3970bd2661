//! One visit to a probe's cell: on a thread of its own, pinned to one CPU, it is opened, calibrated
//! and measured.
//!
//! The thread ends with the visit, so that pinning and whatever else a probe does to its thread is
//! gone; a thread that does not come back from the kernel is left behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::engine::control::Cut;
use crate::engine::error::Failure;
use crate::plan::ProbeCell;
use crate::probe::{BatchTime, Costs, Gauge, Probe, ProbeContext, ProbeError};
use crate::record::Warning;
use crate::sys::threads::{Affinity, unshare_files};
use crate::sys::usage::Usage;

/// What is to be done.
#[derive(Clone)]
pub(super) struct Ask {
    pub probe: &'static dyn Probe,
    pub cell: ProbeCell,
    /// Operations of a batch, where they are known.
    pub count: Option<u64>,
    /// Batches that are still wanted.
    pub wanted: u32,
    /// How long a batch should take.
    pub time: Duration,
}

/// What a visit gave.
pub(super) struct Visit {
    pub count: u64,
    pub batches: Vec<BatchTime>,
    pub costs: Costs,
    /// The CPU that it was pinned to; `None`: the kernel refused, or the probe did not want it.
    pub cpu: Option<usize>,
    /// Of the thread, over all batches.
    pub usage: Usage,
    pub evidence: Vec<String>,
    pub warnings: Vec<Warning>,
}

/// How often the waiting thread looks at the flags, and how long a gauge has to end after a stop.
const TICK: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(1);
/// No batch has more operations.
const MOST: u64 = 1 << 40;

/// Visits the cell. `cut` says when to end.
pub(super) fn visit(
    ask: &Ask,
    site: &ProbeContext,
    cut: &dyn Fn() -> Option<Cut>,
) -> Result<Visit, Failure> {
    let site = Arc::new(site.with_own_stop());
    let (to, from) = channel();
    let (own, there) = (ask.clone(), Arc::clone(&site));
    let body = move || {
        drop(to.send(
            catch_unwind(AssertUnwindSafe(|| measure(&own, &there))).unwrap_or_else(|_| Err(bug())),
        ))
    };
    let thread = std::thread::Builder::new().name("probe".into()).spawn(body);
    let thread =
        thread.map_err(|error| Failure::Cell(format!("cannot start a thread: {error}")))?;
    let done = wait(&from, &site, cut)?;
    // It has said its last word: what is left is to end.
    let _ = thread.join();
    done.map_err(|error| match error {
        ProbeError::Stopped => Failure::Stopped,
        other => Failure::Cell(other.to_string()),
    })
}

fn bug() -> ProbeError {
    ProbeError::Missing(
        "the probe ended without a word: this is a bug in iotui, please report it".into(),
    )
}

type Done = Result<Visit, ProbeError>;

fn wait(
    from: &Receiver<Done>,
    site: &ProbeContext,
    cut: &dyn Fn() -> Option<Cut>,
) -> Result<Done, Failure> {
    let mut since: Option<Instant> = None;
    loop {
        match from.recv_timeout(TICK) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Disconnected) => return Ok(Err(bug())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        match cut() {
            None => {}
            // However long it takes: it is repeated in full.
            Some(Cut::Pause) => site.request_stop(),
            Some(Cut::End) => {
                site.request_stop();
                if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                    return Err(Failure::Abandoned);
                }
            }
        }
    }
}

fn measure(ask: &Ask, site: &ProbeContext) -> Done {
    let cpu = site.cpu().filter(|cpu| Affinity::only(*cpu).apply().is_ok());
    // As a program with one thread has it: a shared table costs each call some 30 ns. Refused, it
    // is measured with that.
    let _ = unshare_files();
    let costs = Costs::measure();
    let begin = Instant::now();
    let mut gauge = ask.probe.open(&ask.cell, site)?;
    let opened = begin.elapsed();
    // A probe may want all CPUs.
    let cpu = cpu.filter(|cpu| Affinity::current().is_ok_and(|now| now.cpus() == [*cpu]));
    let count = match ask.count {
        Some(count) => count,
        None => calibrate(&mut *gauge, site, ask.time)?,
    };
    // A cell that is dear to make ready is measured several times before it is given up: for as
    // long as that took, so that one whose batches are long themselves leaves the others their
    // turn.
    let several =
        opened.as_nanos().div_ceil(ask.time.as_nanos().max(1)).clamp(1, ask.wanted.into());
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

/// The number of operations that takes about `time`, preparation within a batch included; the runs
/// are a warm-up too.
fn calibrate(
    gauge: &mut dyn Gauge,
    site: &ProbeContext,
    time: Duration,
) -> Result<u64, ProbeError> {
    let most = gauge.max_batch().clamp(1, MOST);
    let mut count = 1;
    loop {
        site.check_stop()?;
        let begin = Instant::now();
        gauge.run(count)?;
        let took = begin.elapsed().max(Duration::from_nanos(1));
        if count >= most || took >= time {
            return Ok(count);
        }
        let factor = (time.as_secs_f64() / took.as_secs_f64() * 1.1).clamp(1.5, 64.0);
        count =
            ((count as f64 * factor).ceil() as u64).clamp(count + 1, most.max(count + 1)).min(most);
    }
}

#[cfg(test)]
mod tests;
