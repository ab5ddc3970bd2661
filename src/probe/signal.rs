//! `signal`: installing a handler, and being interrupted.
#![allow(unsafe_code)]

use std::mem::zeroed;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::known::{Known, has_only};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;

pub(super) struct Signal;

static INFO: ProbeInfo = ProbeInfo {
    id: "signal",
    group: Group::Cpu,
    title: "signal",
    about: "a handler installed, a signal sent to oneself with its handler run, and a process asked after by kill(2)",
    doc: "install sets the handler of a real-time signal that nobody else uses: one system call. deliver sends that signal to its own thread: \
          a system call, on its way back a frame on the stack, the handler, and another system call that takes the frame away. The \
          handler counts, so every delivery is proved. The handler that was there before is put back. send is kill(2) with signal 0 to its own \
          process, which is checked and not delivered: deliver less send is what lmbench gives as its signal handler overhead.",
    makes_files: false,
    params: &[],
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Install,
    Deliver,
    Send,
}

/// Nanoseconds.
const PARTS: &[Known<Part>] = &[
    Known {
        name: "install",
        what: Part::Install,
        range: (60.0, 600.0),
        why: "one system call that swaps a structure under a lock",
    },
    Known {
        name: "deliver",
        what: Part::Deliver,
        range: (500.0, 5000.0),
        why: "two system calls, and all registers saved and loaded, the wide ones too",
    },
    Known {
        name: "send",
        what: Part::Send,
        range: (60.0, 1500.0),
        why: "one system call that finds a process and looks whether it may",
    },
];

fn part(cell: &ProbeCell) -> Option<&'static Known<Part>> {
    Known::of(PARTS, cell, "part").filter(|_| has_only(cell, &["part"]))
}

impl Probe for Signal {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        PARTS.iter().map(|part| ProbeCell::new(INFO.id, [("part", part.name.into())])).collect()
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        part(cell)?.as_it_is()
    }

    fn open(&self, cell: &ProbeCell, _: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let part = part(cell).ok_or_else(|| ProbeError::unknown(cell))?.what;
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: an all-zero sigaction is valid; the handler only counts.
        let before = unsafe {
            let mut before = zeroed();
            if libc::sigaction(number(), &counting(), &mut before) != 0 {
                return Err(ProbeError::last("sigaction"));
            }
            before
        };
        Ok(Box::new(Handler { part, before, _alone: alone }))
    }
}

/// A handler is the whole process': one gauge at a time.
static ALONE: Mutex<()> = Mutex::new(());
static CAUGHT: AtomicU64 = AtomicU64::new(0);

/// A real-time signal that no library is known to use.
fn number() -> libc::c_int {
    libc::SIGRTMIN() + 9
}

extern "C" fn caught(_: libc::c_int) {
    CAUGHT.fetch_add(1, Relaxed);
}

fn counting() -> libc::sigaction {
    // SAFETY: an all-zero sigaction is valid: no flags, nothing blocked.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = caught as extern "C" fn(libc::c_int) as usize;
    action.sa_flags = libc::SA_RESTART;
    action
}

struct Handler {
    part: Part,
    before: libc::sigaction,
    _alone: MutexGuard<'static, ()>,
}

impl Gauge for Handler {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let (number, action) = (number(), counting());
        let mut good = true;
        match self.part {
            Part::Install => {
                // SAFETY: the action is ours; nothing is asked back.
                let install = || unsafe { libc::sigaction(number, &action, ptr::null_mut()) } == 0;
                let took = Took::around(count, || (0..count).for_each(|_| good &= install()));
                if good { Ok(took) } else { Err(ProbeError::last("sigaction")) }
            }
            Part::Send => {
                // SAFETY: getpid(2) takes no argument and always succeeds.
                let process = unsafe { libc::getpid() };
                // SAFETY: kill(2) touches no memory, and signal 0 is never delivered.
                let send = || unsafe { libc::kill(process, 0) } == 0;
                let took = Took::around(count, || (0..count).for_each(|_| good &= send()));
                if good { Ok(took) } else { Err(ProbeError::last("kill")) }
            }
            Part::Deliver => {
                let before = CAUGHT.load(Relaxed);
                // SAFETY: getpid(2) and gettid(2) take no argument and always succeed.
                let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
                // Not pthread_kill, which asks for both numbers each time: two more system calls.
                // SAFETY: the signal has a handler, and goes to this thread.
                let send =
                    || unsafe { libc::syscall(libc::SYS_tgkill, process, thread, number) } == 0;
                let took = Took::around(count, || (0..count).for_each(|_| good &= send()));
                match CAUGHT.load(Relaxed) - before {
                    caught if good && caught == count => Ok(took),
                    caught => Err(ProbeError::Missing(format!("{caught} of {count} signals came"))),
                }
            }
        }
    }

    fn evidence(&self) -> Vec<String> {
        let counted = (self.part == Part::Deliver)
            .then(|| "the handler ran once for each signal".to_string());
        counted.into_iter().collect()
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        // SAFETY: `before` is what sigaction(2) itself filled in, so that its handler is valid; the
        // old action is not asked for.
        unsafe { libc::sigaction(number(), &self.before, ptr::null_mut()) };
    }
}
