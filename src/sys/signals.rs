//! SIGINT, SIGTERM and SIGHUP: the first one asks the run to stop and keeps what it measured, the
//! second ends the process.
//!
//! They are taken by a thread of their own and blocked in all others. A thread that waits for a
//! pipe nobody reads, or for a file system that hangs, could neither look at a flag nor run a
//! handler; and no timed call is interrupted.
#![allow(unsafe_code)]

use std::io;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, pthread_sigmask, sigaction,
};

use super::pause;

const ALL: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// What is left to a process that was told twice to end: enough for a report on its way to a disk.
const GRACE: Duration = Duration::from_millis(500);

static FIRST: AtomicI32 = AtomicI32::new(0);
static CAME: AtomicU32 = AtomicU32::new(0);
static STOP: AtomicBool = AtomicBool::new(false);
/// There is no run that a signal could stop.
static OVER: AtomicBool = AtomicBool::new(false);
/// The thread that takes them; 0: there is none.
static TAKER: AtomicI32 = AtomicI32::new(0);

/// Takes the signals from now on. One that the parent had ignored (nohup, a shell's background job)
/// stays ignored; SIGPIPE stays as Rust sets it. Call it before other threads are started: they
/// inherit that the signals are blocked.
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
    // Where no thread can be had, a handler does the same in whatever thread the kernel picks.
    // Without SA_RESTART: calls that wait come back and notice the flag.
    let ours = SigAction::new(SigHandler::Handler(on_signal), SaFlags::empty(), SigSet::empty());
    for signal in ALL {
        // SAFETY: the handler changes atomics, passes the signal on with tgkill(2) or ends the
        // process with _exit(2): it may do all that.
        let before = unsafe { sigaction(signal, &ours)? };
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
        .spawn(move || take(&wanted))
        .is_err()
    {
        pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None)?;
    }
    *installed = true;
    Ok(())
}

/// The life of the thread that takes them.
fn take(wanted: &SigSet) {
    TAKER.store(nix::unistd::gettid().as_raw(), Ordering::Release);
    while let Ok(signal) = wanted.wait() {
        if came(signal as i32) {
            // The next one does not wait.
            let begin = Instant::now();
            while begin.elapsed() < GRACE && !waits(wanted) {
                pause::sleep(Duration::from_millis(10));
            }
            end();
        }
    }
}

/// Whether one of them waits to be taken.
fn waits(wanted: &SigSet) -> bool {
    // SAFETY: a sigset_t is an array of integers, for which zero is a value: the empty set, which
    // the call fills.
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
    let taker = TAKER.load(Ordering::Acquire);
    // In a thread that was there before the signals were blocked: passed on.
    // SAFETY: getpid(2) and tgkill(2) take numbers, touch no memory and are async-signal-safe.
    if taker > 0 && unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), taker, signal) } == 0 {
        return;
    }
    if came(signal) {
        end();
    }
}

/// Notes a signal; whether it is one that ends the process: the second one, or one that no run
/// heeds any more.
fn came(signal: libc::c_int) -> bool {
    let _ = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    STOP.store(true, Ordering::Release);
    CAME.fetch_add(1, Ordering::Relaxed) > 0 || OVER.load(Ordering::Acquire)
}

/// Ends the process with the exit code of the first signal, whatever its other threads wait for.
fn end() -> ! {
    end_at_once(128 + FIRST.load(Ordering::Relaxed))
}

/// Ends the process and runs nothing of it any more.
pub fn end_at_once(code: i32) -> ! {
    // SAFETY: _exit(2) takes a number and touches no memory.
    unsafe { libc::_exit(code) }
}

/// From now on one signal ends the process: nothing is left that it could stop.
pub fn engine_is_over() {
    OVER.store(true, Ordering::Release);
}

/// A write beyond `ulimit -f` fails with EFBIG, as on a full disk, instead of ending the process
/// without a word.
pub fn ignore_file_size() {
    // SAFETY: SIG_IGN installs no handler, so that no code runs on the signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// For a child before it becomes another program: what is blocked here would be blocked there.
pub(super) fn unblock() -> io::Result<()> {
    Ok(pthread_sigmask(SigmaskHow::SIG_UNBLOCK, Some(&SigSet::from_iter(ALL)), None)?)
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
    CAME.store(0, Ordering::Relaxed);
    FIRST.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing;

    fn send(signal: Signal) {
        nix::sys::signal::kill(nix::unistd::Pid::this(), signal).unwrap();
    }

    fn until(so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !so() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no signal was taken");
            thread::yield_now();
        }
    }

    /// In a process of its own: dispositions and flags belong to the whole process.
    #[test]
    fn the_first_signal_is_kept_and_ignored_ones_stay_ignored() {
        const NAME: &str =
            "sys::signals::tests::the_first_signal_is_kept_and_ignored_ones_stay_ignored";
        if !testing::is_child("signals") {
            let output = testing::child(NAME, "signals");
            return assert!(output.status.success(), "{output:?}");
        }
        // SAFETY: SIG_IGN installs no handler, so that no code runs on the signal.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        install().unwrap();
        install().unwrap();
        send(Signal::SIGHUP);
        assert_eq!((pending(), stop_flag().load(Ordering::Acquire)), (None, false));
        send(Signal::SIGTERM);
        until(|| CAME.load(Ordering::Relaxed) == 1);
        assert_eq!((pending(), stop_flag().load(Ordering::Acquire)), (Some(libc::SIGTERM), true));
        reset();
        assert_eq!((pending(), stop_flag().load(Ordering::Acquire)), (None, false));
        send(Signal::SIGINT);
        until(|| pending() == Some(libc::SIGINT));
    }

    /// In a process of its own, which ends: by the code of the first one.
    #[test]
    fn the_second_signal_ends_the_process() {
        const NAME: &str = "sys::signals::tests::the_second_signal_ends_the_process";
        if !testing::is_child("second") {
            return assert_eq!(
                testing::child(NAME, "second").status.code(),
                Some(128 + libc::SIGTERM)
            );
        }
        install().unwrap();
        let (reader, mut writer) = io::pipe().unwrap();
        send(Signal::SIGTERM);
        until(|| pending() == Some(libc::SIGTERM));
        send(Signal::SIGINT);
        // Nobody reads: this never returns by itself.
        let _ = io::Write::write_all(&mut writer, &[0; 1 << 20]);
        drop(reader);
    }
}
