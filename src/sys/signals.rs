//! SIGINT, SIGTERM and SIGHUP only set a flag: the run stops by itself and keeps what it measured.
#![allow(unsafe_code)]

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

static FIRST: AtomicI32 = AtomicI32::new(0);
static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the handlers. A signal that the parent had ignored (nohup, a shell's background job) stays ignored; SIGPIPE stays as Rust sets it.
///
/// Calls that wait come back with EINTR (no SA_RESTART), so that they notice the flag.
///
/// # Errors
/// The errno of sigaction(2).
pub fn install() -> io::Result<()> {
    let ours = SigAction::new(SigHandler::Handler(on_signal), SaFlags::empty(), SigSet::empty());
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        // SAFETY: the handler stores to two atomics and nothing else.
        let before = unsafe { sigaction(signal, &ours)? };
        if matches!(before.handler(), SigHandler::SigIgn) {
            // SAFETY: puts back what was there.
            unsafe { sigaction(signal, &before)? };
        }
    }
    Ok(())
}

extern "C" fn on_signal(signal: libc::c_int) {
    let _ = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    STOP.store(true, Ordering::Release);
}

/// The number of the first signal that came, for the exit code (128 + number).
pub fn pending() -> Option<i32> {
    Some(FIRST.load(Ordering::Relaxed)).filter(|n| *n != 0)
}

/// Raised by the first signal, and free to be raised by others: whatever runs stops soon after.
pub fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// Forgets the signals that came.
pub fn reset() {
    STOP.store(false, Ordering::Release);
    FIRST.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing;

    /// In a process of its own: handlers and flags belong to the whole process.
    #[test]
    fn the_first_signal_is_kept_and_ignored_ones_stay_ignored() {
        const NAME: &str = "sys::signals::tests::the_first_signal_is_kept_and_ignored_ones_stay_ignored";
        if !testing::is_child("signals") {
            let output = testing::child(NAME, "signals");
            return assert!(output.status.success(), "{output:?}");
        }
        // SAFETY: a plain change of disposition.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        install().unwrap();
        install().unwrap();
        let send = |signal| nix::sys::signal::raise(signal).unwrap();
        send(Signal::SIGHUP);
        assert_eq!((pending(), stop_flag().load(Ordering::Acquire)), (None, false));
        send(Signal::SIGTERM);
        send(Signal::SIGINT);
        send(Signal::SIGINT);
        assert_eq!((pending(), stop_flag().load(Ordering::Acquire)), (Some(libc::SIGTERM), true));
        reset();
        assert_eq!((pending(), stop_flag().load(Ordering::Acquire)), (None, false));
        send(Signal::SIGINT);
        assert_eq!(pending(), Some(libc::SIGINT));
    }
}
