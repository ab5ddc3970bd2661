//! `switch-process`, `switch-thread`: context switches between processes or threads.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use nix::sys::memfd::{MFdFlags, memfd_create};

use super::helper::{HelperProcess, HelperThread, Placement};
use super::pipe::pipe;
use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::record::Estimate;
use crate::sys::clock::monotonic_nanos;
use crate::units::show_nanos;

param_rows! {
    /// Expected nanoseconds on one CPU.
    LINKS: WakeBy;
    "pipe" => Pipe, (600.0, 3000.0),
        "the scheduler, a wait queue, and registers saved and restored";
    "futex" => Futex, (500.0, 3000.0),
        "the scheduler, a hashed wait queue, and registers saved and restored";
}

pub(super) fn ask(source: &mut ParamSource, processes: bool) -> Option<Box<dyn KnownCell>> {
    let (by, place) = (source.row("by", LINKS)?, source.word("cpus", &Placement::ALL)?);
    Some(Box::new(Switch { by, place, processes }))
}

struct Switch {
    by: &'static ParamRow<WakeBy>,
    place: Placement,
    /// Between processes, not threads.
    processes: bool,
}

impl KnownCell for Switch {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        self.place.check(context)
    }

    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        let estimate = self.by.as_estimate()?;
        Some(match self.place {
            Placement::Same => estimate,
            Placement::Across => Estimate {
                high: 60_000.0,
                reason: "the same, and waking another CPU: up to 60 µs if it sleeps".into(),
                ..estimate
            },
        })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let link: Arc<dyn WakeLink> = match self.by.value {
            WakeBy::Pipe => Arc::new(Pipes::new()?),
            WakeBy::Futex => Arc::new(Futexes::new()?),
        };
        let there = Arc::clone(&link);
        let partner = if self.processes {
            let body = || {
                there.split();
                there.answer();
            };
            // SAFETY: the partner makes only system calls, on memory and descriptors from before
            // the fork.
            let partner = unsafe { HelperProcess::fork(self.place, context, body) }?;
            link.leave();
            Partner::Process(partner)
        } else {
            Partner::Thread(HelperThread::spawn(self.place, context, move || there.answer())?)
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
fn measure_calls(link: &dyn WakeLink) -> f64 {
    const CALLS: u64 = 400;
    let batch = || {
        let begin = monotonic_nanos();
        std::hint::black_box((0..CALLS).all(|_| link.call_unpaired()));
        (monotonic_nanos() - begin) as f64 / CALLS as f64
    };
    (0..5).map(|_| batch()).min_by(f64::total_cmp).unwrap_or(0.0)
}

struct Switches {
    link: Arc<dyn WakeLink>,
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

/// Message that asks the partner to end.
const END: u32 = u32::MAX;
const TURN: u32 = 1;

/// A link between two sides that take turns: one waits while the other runs.
trait WakeLink: Send + Sync {
    /// Wakes the partner and waits for its reply; returns false if it is gone, which only a pipe
    /// detects.
    fn ping(&self) -> bool;
    /// Replies until asked to end; called by the partner. Makes only system calls, as it may run
    /// after a fork.
    fn answer(&self);
    /// Asks the partner to end.
    fn end(&self);
    /// Makes the system calls of one switch without a partner, and therefore without switching.
    fn call_unpaired(&self) -> bool;
    /// Closes the ends of the other side; called in a partner that is a process.
    fn split(&self) {}
    /// Closes the partner's ends; called in the other side afterwards, so that it notices the
    /// partner's death.
    fn leave(&self) {}
}

/// One pipe per direction, each carrying one byte per turn, and one for
/// [`WakeLink::call_unpaired`].
struct Pipes {
    there: (OwnedFd, OwnedFd),
    back: (OwnedFd, OwnedFd),
    unpaired: (OwnedFd, OwnedFd),
}

impl Pipes {
    pub fn new() -> Result<Pipes, ProbeError> {
        Ok(Pipes { there: pipe()?, back: pipe()?, unpaired: pipe()? })
    }
}

/// Repeats `call` on EINTR; returns whether it moved one byte.
fn retry_interrupted(call: impl Fn() -> isize) -> bool {
    loop {
        match call() {
            1 => return true,
            // SAFETY: the pointer to this thread's errno is valid as long as the thread.
            -1 if unsafe { *libc::__errno_location() } == libc::EINTR => {}
            _ => return false,
        }
    }
}

fn write_byte(fd: RawFd, byte: u8) -> bool {
    // SAFETY: write(2) reads one byte from `byte`, which outlives the call.
    retry_interrupted(|| unsafe { libc::write(fd, (&raw const byte).cast(), 1) })
}

fn read_byte(fd: RawFd) -> Option<u8> {
    let mut byte = 0u8;
    let at = &raw mut byte;
    // SAFETY: read(2) writes at most one byte into `byte`, which outlives the call and is not
    // borrowed during it.
    retry_interrupted(|| unsafe { libc::read(fd, at.cast(), 1) }).then_some(byte)
}

impl WakeLink for Pipes {
    fn ping(&self) -> bool {
        write_byte(self.there.1.as_raw_fd(), 1) && read_byte(self.back.0.as_raw_fd()).is_some()
    }

    fn answer(&self) {
        while read_byte(self.there.0.as_raw_fd()) == Some(1)
            && write_byte(self.back.1.as_raw_fd(), 1)
        {}
    }

    fn end(&self) {
        write_byte(self.there.1.as_raw_fd(), 0);
    }

    fn call_unpaired(&self) -> bool {
        write_byte(self.unpaired.1.as_raw_fd(), 1)
            && read_byte(self.unpaired.0.as_raw_fd()).is_some()
    }

    fn split(&self) {
        // SAFETY: after the fork these descriptors belong only to this process, which ends without
        // using them.
        unsafe {
            libc::close(self.there.1.as_raw_fd());
            libc::close(self.back.0.as_raw_fd());
        }
    }

    fn leave(&self) {
        let Ok(nothing) = File::open("/dev/null") else { return };
        for end in [&self.there.0, &self.back.1] {
            // SAFETY: the descriptor numbers stay open and owned by this link, now referring to
            // /dev/null; on failure they are unchanged.
            unsafe { libc::dup3(nothing.as_raw_fd(), end.as_raw_fd(), libc::O_CLOEXEC) };
        }
    }
}

/// Futex words in memory shared between processes.
struct Futexes(MmapRaw);

impl Futexes {
    pub fn new() -> Result<Futexes, ProbeError> {
        // Anonymous memory would be copied on the first write after a fork.
        let file = memfd_create(c"iotui", MFdFlags::MFD_CLOEXEC)
            .map(File::from)
            .map_err(ProbeError::in_call("memfd_create"))?;
        file.set_len(4096).map_err(ProbeError::in_call("ftruncate"))?;
        Ok(Futexes(MmapOptions::new().map_raw(&file).map_err(ProbeError::in_call("mmap"))?))
    }

    /// Returns word 0, which wakes the partner, 1, which wakes the caller, or 2, on which nothing
    /// waits; each on its own cache line.
    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `at` is at most 2, so the word is within the page-sized mapping, which is
        // aligned, zeroed and lives as long as `self`.
        unsafe { &*self.0.as_mut_ptr().add(at * 128).cast::<AtomicU32>() }
    }
}

/// Calls futex(2), without FUTEX_PRIVATE because processes share the word.
fn futex(word: &AtomicU32, operation: libc::c_int, value: u32) {
    // SAFETY: `word` outlives the call, and the null timeout means none.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation,
            value,
            std::ptr::null::<libc::timespec>(),
            0,
            0,
        )
    };
}

fn wake(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Release);
    futex(word, libc::FUTEX_WAKE, 1);
}

/// Waits until `word` is set, consumes a turn, and returns the value.
fn wait(word: &AtomicU32) -> u32 {
    loop {
        let now = word.load(Ordering::Acquire);
        if now != 0 {
            word.store(if now == END { END } else { 0 }, Ordering::Relaxed);
            return now;
        }
        futex(word, libc::FUTEX_WAIT, 0);
    }
}

impl WakeLink for Futexes {
    fn ping(&self) -> bool {
        wake(self.word(0), TURN);
        wait(self.word(1)) == TURN
    }

    fn answer(&self) {
        while wait(self.word(0)) == TURN {
            wake(self.word(1), TURN);
        }
    }

    fn end(&self) {
        wake(self.word(0), END);
    }

    fn call_unpaired(&self) -> bool {
        wake(self.word(2), TURN);
        // The word is now nonzero, so the kernel returns immediately.
        futex(self.word(2), libc::FUTEX_WAIT, 0);
        wait(self.word(2)) == TURN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn killed_partner_is_gone() {
        let link = Pipes::new().unwrap();
        let body = || {
            link.split();
            link.answer();
        };
        // SAFETY: `answer` makes only system calls, on descriptors opened before the fork.
        let partner =
            unsafe { HelperProcess::fork(Placement::Same, &ProbeContext::default(), body) }
                .unwrap();
        link.leave();
        assert!(link.ping() && link.call_unpaired());
        drop(partner);
        assert!(!link.ping(), "nobody answers");
    }
}
