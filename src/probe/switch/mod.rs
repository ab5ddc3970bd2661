//! `switch-process`, `switch-thread`: from one process or thread to another and back.
#![allow(unsafe_code)]

mod link;

use std::sync::Arc;

use link::{Futexes, Link, Pipes};

use super::known::{Known, has_only};
use super::partner::{Place, Process, Thread};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;
use crate::sys::clock::monotonic_nanos;
use crate::units::show_nanos;

/// Between processes or between threads.
pub(super) struct Switch {
    info: &'static ProbeInfo,
    processes: bool,
}

pub(super) static PROCESSES: Switch = Switch { info: &PROCESS, processes: true };
pub(super) static THREADS: Switch = Switch { info: &THREAD, processes: false };

static PROCESS: ProbeInfo = ProbeInfo {
    id: "switch-process",
    group: Group::Cpu,
    title: "switch of processes",
    about: "half a round trip between two processes that wake each other by pipes or futexes",
    doc: "Two processes hand a turn to and fro: each wakes the other and sleeps. Half of a round trip, less what the same calls cost where \
          nobody waits, is one switch: the scheduler's choice, the other address space, its registers, and caches that it finds as the \
          other left them. On the same CPU one runs while the other sleeps; across CPUs the other CPU has to be woken, which on an idle \
          virtual machine takes longer than a switch. Every round trip has one switch on each side, which is counted: voluntary where it sleeps, \
          involuntary where the woken one goes first.",
    makes_files: false,
    params: &[],
};

static THREAD: ProbeInfo = ProbeInfo {
    id: "switch-thread",
    title: "switch of threads",
    about: "half a round trip between two threads that wake each other by pipes or futexes",
    doc: "As switch-process, between two threads of one process: the address space stays, so what is left is the scheduler, the registers \
          and the stack. The difference to switch-process is the price of another address space.",
    ..PROCESS
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum By {
    Pipe,
    Futex,
}

/// Nanoseconds on one CPU.
const WAYS: &[Known<By>] = &[
    Known {
        name: "pipe",
        what: By::Pipe,
        range: (600.0, 3000.0),
        why: "the scheduler, a wait queue, and registers saved and loaded",
    },
    Known {
        name: "futex",
        what: By::Futex,
        range: (500.0, 3000.0),
        why: "the scheduler, a hashed queue, and registers saved and loaded",
    },
];

fn parts(cell: &ProbeCell) -> Option<(&'static Known<By>, Place)> {
    Some((Known::of(WAYS, cell, "by")?, Place::of(cell)?))
        .filter(|_| has_only(cell, &["by", "cpus"]))
}

impl Probe for Switch {
    fn info(&self) -> &'static ProbeInfo {
        self.info
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        let cell = |by: &'static str, cpus: &'static str| {
            ProbeCell::new(self.info.id, [("by", by.into()), ("cpus", cpus.into())])
        };
        WAYS.iter().flat_map(|by| Place::ALL.map(|(cpus, _)| cell(by.name, cpus))).collect()
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        parts(cell).map_or(Ok(()), |(_, place)| place.check(site))
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        let (by, place) = parts(cell)?;
        let estimate = by.as_it_is()?;
        Some(match place {
            Place::Same => estimate,
            Place::Across => Estimate {
                high: 60_000.0,
                reason: "the same, and another CPU woken: up to 60 µs where it sleeps".into(),
                ..estimate
            },
        })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let (by, place) = parts(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        let link: Arc<dyn Link> = match by.what {
            By::Pipe => Arc::new(Pipes::new()?),
            By::Futex => Arc::new(Futexes::new()?),
        };
        let there = Arc::clone(&link);
        let partner = if self.processes {
            let body = || {
                there.split();
                there.answer();
            };
            // SAFETY: a partner answers by system calls on memory and descriptors that are there
            // already.
            let partner = unsafe { Process::fork(place, site, body) }?;
            link.leave();
            Partner::Process(partner)
        } else {
            Partner::Thread(Thread::spawn(place, site, move || there.answer())?)
        };
        Ok(Box::new(Turns {
            alone: alone(&*link),
            whole: 0.0,
            link,
            site: site.clone(),
            partner: Some(partner),
        }))
    }
}

enum Partner {
    Process(#[expect(dead_code, reason = "it ends when this is dropped")] Process),
    Thread(#[expect(dead_code, reason = "it ends when this is dropped")] Thread),
}

/// Nanoseconds of the calls of one switch, without the switch: the least of several batches.
fn alone(link: &dyn Link) -> f64 {
    const CALLS: u64 = 400;
    let batch = || {
        let begin = monotonic_nanos();
        std::hint::black_box((0..CALLS).all(|_| link.alone()));
        (monotonic_nanos() - begin) as f64 / CALLS as f64
    };
    (0..5).map(|_| batch()).min_by(f64::total_cmp).unwrap_or(0.0)
}

struct Turns {
    link: Arc<dyn Link>,
    alone: f64,
    /// Nanoseconds of a round trip, the last time.
    whole: f64,
    site: Site,
    partner: Option<Partner>,
}

impl Gauge for Turns {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let (mut left, mut good) = (count, true);
        let took = Took::whole(2.0 * count as f64, || {
            while left > 0 && good {
                let some = left.min(1024);
                good = (0..some).all(|_| self.link.ping()) && !self.site.stopping();
                left -= some;
            }
        });
        self.site.go_on()?;
        if !good {
            return Err(ProbeError::Missing(
                "the partner is gone: it may not have been let run on its CPU".into(),
            ));
        }
        self.whole = took.nanos as f64 / count.max(1) as f64;
        let calls = (self.alone * took.amount) as u64;
        Ok(Took { nanos: took.nanos.saturating_sub(calls), ..took })
    }

    fn evidence(&self) -> Vec<String> {
        let alone = format!(
            "taken out: {:.0} ns of calls that wake and wait, measured where nobody waits",
            self.alone
        );
        vec![alone, format!("a round trip as it is: {}", show_nanos(self.whole))]
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        self.link.end();
        self.partner.take();
    }
}
