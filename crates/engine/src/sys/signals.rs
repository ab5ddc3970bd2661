//! Handles the signals by which others end a process: the first one stops the run and keeps its
//! results, the second ends the process.
//!
//! A dedicated thread waits for them, and all other threads block them. A thread that is stuck on a
//! pipe without a reader, or on a file system that hangs, could neither check a flag nor run a
//! handler; and no timed call is interrupted.
#![allow(unsafe_code)]

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, pthread_sigmask, sigaction,
};

use super::pause;

/// SIGKILL cannot be handled. Batch systems send SIGUSR1, SIGUSR2 and SIGXCPU before their limits.
const ALL: [Signal; 8] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGXCPU,
    Signal::SIGALRM,
];

/// Time left to the process after the second signal: enough to finish writing a report.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

static FIRST: AtomicI32 = AtomicI32::new(0);
static RECEIVED: AtomicU32 = AtomicU32::new(0);
static STOP: AtomicBool = AtomicBool::new(false);
/// Whether no run is left that a signal could stop.
static OVER: AtomicBool = AtomicBool::new(false);
/// The thread that waits for the signals; 0: none.
static SIGNAL_THREAD: AtomicI32 = AtomicI32::new(0);

/// Handles the signals from now on. A signal that the parent ignored (nohup, a shell's background
/// job) stays ignored; SIGPIPE stays as Rust sets it. Must be called before other threads are
/// started, because they inherit the blocked signals.
///
/// # Errors
/// The errno of sigaction(2) or pthread_sigmask(3).
pub fn install() -> io::Result<()> {
    static ONCE: Mutex<bool> = Mutex::new(false);
    let mut installed = ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    if *installed {
        return Ok(());
    }
    let mut wanted = SigSet::empty();
    // If the thread cannot be started, a handler does the same in whatever thread the kernel picks.
    // Without SA_RESTART, blocking calls return and notice the flag.
    let action = SigAction::new(SigHandler::Handler(on_signal), SaFlags::empty(), SigSet::empty());
    for signal in ALL {
        // SAFETY: the handler changes atomics, forwards the signal with tgkill(2) or ends the
        // process with _exit(2), all of which are async-signal-safe.
        let before = unsafe { sigaction(signal, &action)? };
        if matches!(before.handler(), SigHandler::SigIgn) {
            // SAFETY: `before` ignores the signal: no handler is installed.
            unsafe { sigaction(signal, &before)? };
        } else {
            wanted.add(signal);
        }
    }
    let mut before = SigSet::empty();
    pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&wanted), Some(&mut before))?;
    if thread::Builder::new()
        .name("signals".into())
        .stack_size(64 << 10)
        .spawn(move || run_signal_thread(&wanted))
        .is_err()
    {
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None)?;
    }
    *installed = true;
    Ok(())
}

/// Runs the thread that waits for the signals.
fn run_signal_thread(wanted: &SigSet) {
    SIGNAL_THREAD.store(nix::unistd::gettid().as_raw(), Ordering::Release);
    while let Ok(signal) = wanted.wait() {
        if record_signal(signal as i32) {
            // A further signal ends the grace period.
            let begin = Instant::now();
            while begin.elapsed() < EXIT_TIMEOUT && !is_any_pending(wanted) {
                pause::sleep(Duration::from_millis(10));
            }
            end();
        }
    }
}

/// Returns whether a signal is pending.
fn is_any_pending(wanted: &SigSet) -> bool {
    // SAFETY: a sigset_t is an array of integers, for which zero is valid: the empty set, which the
    // call fills.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one set, into a variable that outlives the call.
    if unsafe { libc::sigpending(&raw mut set) } != 0 {
        return false;
    }
    // SAFETY: sigismember reads one set, which is initialised and outlives the call; a `Signal` is
    // a valid number.
    wanted.iter().any(|signal| unsafe { libc::sigismember(&raw const set, signal as i32) } == 1)
}

extern "C" fn on_signal(signal: libc::c_int) {
    let taker = SIGNAL_THREAD.load(Ordering::Acquire);
    // Runs in a thread that was started before the signals were blocked: forwards the signal.
    // SAFETY: getpid(2) and tgkill(2) take numbers, touch no memory and are async-signal-safe.
    if taker > 0 && unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), taker, signal) } == 0 {
        return;
    }
    if record_signal(signal) {
        end();
    }
}

/// Records a signal; returns whether it must end the process: it is the second one, or no run is
/// left to handle it.
fn record_signal(signal: libc::c_int) -> bool {
    let _ = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    STOP.store(true, Ordering::Release);
    RECEIVED.fetch_add(1, Ordering::Relaxed) > 0 || OVER.load(Ordering::Acquire)
}

/// Ends the process with the exit code of the first signal, even if other threads are stuck.
fn end() -> ! {
    end_at_once(128 + FIRST.load(Ordering::Relaxed))
}

/// Ends the process without running any cleanup.
pub fn end_at_once(code: i32) -> ! {
    // SAFETY: _exit(2) takes a number and touches no memory.
    unsafe { libc::_exit(code) }
}

/// Makes a single signal end the process from now on: no run is left to stop.
pub fn engine_is_over() {
    OVER.store(true, Ordering::Release);
}

/// Makes a write beyond `ulimit -f` fail with EFBIG, as on a full disk, instead of ending the
/// process without a message.
pub fn ignore_file_size() {
    // SAFETY: SIG_IGN installs no handler, so that no code runs on the signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Unblocks the signals in a child before exec, which would inherit the mask.
pub(super) fn unblock() -> io::Result<()> {
    Ok(pthread_sigmask(SigmaskHow::SIG_UNBLOCK, Some(&SigSet::from_iter(ALL)), None)?)
}

/// Returns the number of the first signal received, for the exit code (128 + number).
pub fn pending() -> Option<i32> {
    Some(FIRST.load(Ordering::Relaxed)).filter(|n| *n != 0)
}

/// Returns the name of a signal: `SIGTERM`.
pub fn name(signal: i32) -> String {
    Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |of| of.as_str().into())
}

/// Returns the stop flag, which the first signal and other code can set: a run stops soon after.
pub fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// Forgets the signals received so far.
pub fn reset() {
    STOP.store(false, Ordering::Release);
    RECEIVED.store(0, Ordering::Relaxed);
    FIRST.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing;

    fn send(signal: Signal) {
        nix::sys::signal::kill(nix::unistd::Pid::this(), signal).unwrap();
    }

    /// Resets the dispositions of the parent: a background job of a script ignores SIGINT.
    fn stop_ignoring() {
        for signal in ALL {
            // SAFETY: SIG_DFL installs no handler, so that no code runs on the signal.
            unsafe { libc::signal(signal as i32, libc::SIG_DFL) };
        }
    }

    fn until(so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !so() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no signal was taken");
            thread::yield_now();
        }
    }

    /// Runs in its own process, since dispositions and flags belong to the whole process.
    #[test]
    fn the_first_signal_is_kept() {
        const NAME: &str = "sys::signals::tests::the_first_signal_is_kept";
        if !testing::is_alone(NAME, "signals") {
            return;
        }
        stop_ignoring();
        // SAFETY: SIG_IGN installs no handler, so that no code runs on the signal.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        install().unwrap();
        install().unwrap();
        send(Signal::SIGHUP);
        assert_eq!((pending(), stop_flag().load(Ordering::Acquire)), (None, false));
        send(Signal::SIGTERM);
        until(|| RECEIVED.load(Ordering::Relaxed) == 1);
        assert_eq!((pending(), stop_flag().load(Ordering::Acquire)), (Some(libc::SIGTERM), true));
        reset();
        assert_eq!((pending(), stop_flag().load(Ordering::Acquire)), (None, false));
        send(Signal::SIGINT);
        until(|| pending() == Some(libc::SIGINT));
    }

    /// Runs in its own process, which ends with the exit code of the first signal.
    #[test]
    fn the_second_signal_ends_the_process() {
        const NAME: &str = "sys::signals::tests::the_second_signal_ends_the_process";
        if !testing::is_child("second") {
            return assert_eq!(
                testing::child(NAME, "second").status.code(),
                Some(128 + libc::SIGTERM)
            );
        }
        stop_ignoring();
        install().unwrap();
        let (reader, mut writer) = io::pipe().unwrap();
        send(Signal::SIGTERM);
        until(|| pending() == Some(libc::SIGTERM));
        send(Signal::SIGINT);
        // Nothing reads from the pipe, so this never returns by itself.
        let _ = io::Write::write_all(&mut writer, &[0; 1 << 20]);
        drop(reader);
    }
}
