//! How the two sides of a switch wake each other: by two pipes or by two futexes.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::probe::error::ProbeError;
use crate::probe::pipe::pipe;

/// Message that asks the partner to end.
const END: u32 = u32::MAX;
const TURN: u32 = 1;

/// A link between two sides that take turns: one waits while the other runs.
pub(super) trait Link: Send + Sync {
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

/// One pipe per direction, each carrying one byte per turn, and one for [`Link::call_unpaired`].
pub(super) struct Pipes {
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
    // borrowed meanwhile.
    retry_interrupted(|| unsafe { libc::read(fd, at.cast(), 1) }).then_some(byte)
}

impl Link for Pipes {
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
pub(super) struct Futexes(MmapRaw);

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

impl Link for Futexes {
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
    use crate::probe::context::ProbeContext;
    use crate::probe::helper::{HelperProcess, Placement};

    #[test]
    fn a_partner_that_was_killed_is_gone() {
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
