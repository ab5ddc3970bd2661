//! `signal`: installing a handler, sending and delivering a signal.
#![allow(unsafe_code)]

use std::mem::zeroed;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::record::Estimate;

param_rows! {
    /// Expected nanoseconds.
    PARTS: SignalPart;
    "install" => Install, (60.0, 600.0), "one system call that swaps a structure under a lock";
    "deliver" => Deliver, (500.0, 5000.0),
        "two system calls, and all registers saved and restored, vector registers included";
    "send" => Send, (60.0, 1500.0), "one system call that looks up a process and checks permission";
}

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    Some(Box::new(source.row("part", PARTS)?))
}

impl KnownCell for &'static ParamRow<SignalPart> {
    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        self.as_estimate()
    }

    fn open(&self, _: &ProbeContext) -> Opened {
        let alone = GAUGE_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: an all-zero sigaction is valid, and the installed handler only increments an
        // atomic.
        let before = unsafe {
            let mut before = zeroed();
            if libc::sigaction(signal_number(), &counting_action(), &mut before) != 0 {
                return Err(ProbeError::last_os_error("sigaction"));
            }
            before
        };
        Ok(Box::new(Handler { part: self.value, before, _alone: alone }))
    }
}

/// Signal handlers are per process, so only one gauge at a time may exist.
static GAUGE_LOCK: Mutex<()> = Mutex::new(());
static DELIVERED: AtomicU64 = AtomicU64::new(0);

/// Returns a real-time signal that no known library uses.
fn signal_number() -> libc::c_int {
    libc::SIGRTMIN() + 9
}

extern "C" fn count_signal(_: libc::c_int) {
    DELIVERED.fetch_add(1, Relaxed);
}

fn counting_action() -> libc::sigaction {
    // SAFETY: an all-zero sigaction is valid: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = count_signal as extern "C" fn(libc::c_int) as usize;
    action.sa_flags = libc::SA_RESTART;
    action
}

struct Handler {
    part: SignalPart,
    before: libc::sigaction,
    _alone: MutexGuard<'static, ()>,
}

impl Gauge for Handler {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let (number, action) = (signal_number(), counting_action());
        let mut good = true;
        match self.part {
            SignalPart::Install => {
                // SAFETY: `action` is valid and outlives the call; the old action is not returned.
                let install = || unsafe { libc::sigaction(number, &action, ptr::null_mut()) } == 0;
                let batch =
                    BatchTime::of_loop(count, || (0..count).for_each(|_| good &= install()));
                if good { Ok(batch) } else { Err(ProbeError::last_os_error("sigaction")) }
            }
            SignalPart::Send => {
                // SAFETY: getpid(2) has no preconditions.
                let process = unsafe { libc::getpid() };
                // SAFETY: kill(2) touches no memory, and signal 0 is never delivered.
                let send = || unsafe { libc::kill(process, 0) } == 0;
                let batch = BatchTime::of_loop(count, || (0..count).for_each(|_| good &= send()));
                if good { Ok(batch) } else { Err(ProbeError::last_os_error("kill")) }
            }
            SignalPart::Deliver => {
                let before = DELIVERED.load(Relaxed);
                // SAFETY: getpid(2) and gettid(2) have no preconditions.
                let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
                // Not pthread_kill, which queries both ids each time, with two more system calls.
                // SAFETY: the signal goes to this thread; its handler only increments an atomic.
                let send =
                    || unsafe { libc::syscall(libc::SYS_tgkill, process, thread, number) } == 0;
                let batch = BatchTime::of_loop(count, || (0..count).for_each(|_| good &= send()));
                match DELIVERED.load(Relaxed) - before {
                    caught if good && caught == count => Ok(batch),
                    caught => Err(ProbeError::Missing(format!(
                        "only {caught} of {count} signals were delivered"
                    ))),
                }
            }
        }
    }

    fn evidence(&self) -> Vec<String> {
        let counted = (self.part == SignalPart::Deliver)
            .then(|| "the handler ran once for each signal".to_string());
        counted.into_iter().collect()
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        // SAFETY: `before` was filled in by sigaction(2), so its handler is valid; the old action
        // is not returned.
        unsafe { libc::sigaction(signal_number(), &self.before, ptr::null_mut()) };
    }
}
