//! `switch-process`, `switch-thread`: context switches between processes or threads.
#![allow(unsafe_code)]

mod link;

use std::sync::Arc;

use link::{Futexes, Link, Pipes};

use super::helper::{HelperProcess, HelperThread, Placement};
use super::{BatchTime, Gauge, ParamRow, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;
use crate::sys::clock::monotonic_nanos;
use crate::units::show_nanos;

/// The probe of context switches between processes or threads.
pub(super) struct Switch<const PROCESSES: bool>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum By {
    Pipe,
    Futex,
}

/// Expected nanoseconds on one CPU.
const LINKS: &[ParamRow<By>] = &[
    ParamRow {
        name: "pipe",
        value: By::Pipe,
        range: (600.0, 3000.0),
        why: "the scheduler, a wait queue, and registers saved and restored",
    },
    ParamRow {
        name: "futex",
        value: By::Futex,
        range: (500.0, 3000.0),
        why: "the scheduler, a hashed wait queue, and registers saved and restored",
    },
];

impl<const PROCESSES: bool> ProbeKind for Switch<PROCESSES> {
    const INFO: &'static ProbeInfo =
        if PROCESSES { &catalog::SWITCH_PROCESS } else { &catalog::SWITCH_THREAD };
    type Params = (&'static ParamRow<By>, Placement);

    fn params(source: &mut ParamSource) -> Option<Self::Params> {
        Some((source.row("by", LINKS)?, source.word("cpus", &Placement::ALL)?))
    }

    fn check((_, place): &Self::Params, context: &ProbeContext) -> Result<(), String> {
        place.check(context)
    }

    fn estimate((by, place): &Self::Params, _: &ProbeContext) -> Option<Estimate> {
        let estimate = by.as_estimate()?;
        Some(match place {
            Placement::Same => estimate,
            Placement::Across => Estimate {
                high: 60_000.0,
                reason: "the same, and waking another CPU: up to 60 µs if it sleeps".into(),
                ..estimate
            },
        })
    }

    fn open(
        (by, place): &Self::Params,
        context: &ProbeContext,
    ) -> Result<Box<dyn Gauge>, ProbeError> {
        let link: Arc<dyn Link> = match by.value {
            By::Pipe => Arc::new(Pipes::new()?),
            By::Futex => Arc::new(Futexes::new()?),
        };
        let there = Arc::clone(&link);
        let partner = if PROCESSES {
            let body = || {
                there.split();
                there.answer();
            };
            // SAFETY: the partner makes only system calls, on memory and descriptors from before
            // the fork.
            let partner = unsafe { HelperProcess::fork(*place, context, body) }?;
            link.leave();
            Partner::Process(partner)
        } else {
            Partner::Thread(HelperThread::spawn(*place, context, move || there.answer())?)
        };
        Ok(Box::new(Switches {
            call_nanos: measure_calls(&*link),
            round_trip_nanos: 0.0,
            link,
            context: context.clone(),
            partner: Some(partner),
        }))
    }
}

enum Partner {
    Process(#[expect(dead_code, reason = "ends the partner on drop")] HelperProcess),
    Thread(#[expect(dead_code, reason = "ends the partner on drop")] HelperThread),
}

/// Measures the nanoseconds of the system calls of one switch without the switch itself, as the
/// minimum of several batches.
fn measure_calls(link: &dyn Link) -> f64 {
    const CALLS: u64 = 400;
    let batch = || {
        let begin = monotonic_nanos();
        std::hint::black_box((0..CALLS).all(|_| link.call_unpaired()));
        (monotonic_nanos() - begin) as f64 / CALLS as f64
    };
    (0..5).map(|_| batch()).min_by(f64::total_cmp).unwrap_or(0.0)
}

struct Switches {
    link: Arc<dyn Link>,
    call_nanos: f64,
    /// Nanoseconds of a round trip in the last batch.
    round_trip_nanos: f64,
    context: ProbeContext,
    partner: Option<Partner>,
}

impl Gauge for Switches {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let (mut left, mut good) = (count, true);
        let batch = BatchTime::of_block(2.0 * count as f64, || {
            while left > 0 && good {
                let some = left.min(1024);
                good = (0..some).all(|_| self.link.ping()) && !self.context.is_stopping();
                left -= some;
            }
        });
        self.context.check_stop()?;
        if !good {
            return Err(ProbeError::Missing(
                "the helper process is gone: it may not be allowed to run on its CPU".into(),
            ));
        }
        self.round_trip_nanos = batch.nanos as f64 / count.max(1) as f64;
        let calls = (self.call_nanos * batch.amount) as u64;
        Ok(BatchTime { nanos: batch.nanos.saturating_sub(calls), ..batch })
    }

    fn evidence(&self) -> Vec<String> {
        let call_nanos = format!(
            "subtracted: {:.0} ns for the wake and wait calls, measured without a waiter",
            self.call_nanos
        );
        vec![call_nanos, format!("measured round trip: {}", show_nanos(self.round_trip_nanos))]
    }
}

impl Drop for Switches {
    fn drop(&mut self) {
        self.link.end();
        self.partner.take();
    }
}
