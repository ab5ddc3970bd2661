//! What two partners wake each other by: two pipes, or two futexes.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::probe::ProbeError;

/// The partner is to end.
const END: u32 = u32::MAX;
const TURN: u32 = 1;

/// One side of a conversation in which one waits while the other runs.
pub(super) trait Link: Send + Sync {
    /// Wakes the partner and waits until it answers; false: it is gone, which a pipe shows and a
    /// futex does not.
    fn ping(&self) -> bool;
    /// The partner: answers until it is told to end. System calls only: it may run after a fork.
    fn answer(&self);
    /// Tells the partner to end.
    fn end(&self);
    /// What waking and waiting cost where nobody waits: the calls of one switch, without the
    /// switch.
    fn alone(&self) -> bool;
    /// Called by the partner where it is a process: what only the other side may hold is closed.
    fn split(&self) {}
    /// Called by the other side then: what only the partner may hold is given up, so that its end
    /// is seen.
    fn leave(&self) {}
}

/// A byte there and a byte back.
pub(super) struct Pipes {
    there: (OwnedFd, OwnedFd),
    back: (OwnedFd, OwnedFd),
    own: (OwnedFd, OwnedFd),
}

impl Pipes {
    pub fn new() -> Result<Pipes, ProbeError> {
        let pipe =
            || nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(ProbeError::of("pipe"));
        Ok(Pipes { there: pipe()?, back: pipe()?, own: pipe()? })
    }
}

/// One byte moved; EINTR is tried again.
fn moved(call: impl Fn() -> isize) -> bool {
    loop {
        match call() {
            1 => return true,
            // SAFETY: the pointer to errno is this thread's and valid as long as the thread.
            -1 if unsafe { *libc::__errno_location() } == libc::EINTR => {}
            _ => return false,
        }
    }
}

fn put(fd: RawFd, byte: u8) -> bool {
    // SAFETY: write(2) reads one byte, from a variable that outlives the call.
    moved(|| unsafe { libc::write(fd, (&raw const byte).cast(), 1) })
}

fn get(fd: RawFd) -> Option<u8> {
    let mut byte = 0u8;
    let at = &raw mut byte;
    // SAFETY: read(2) writes at most one byte, into a variable that outlives the call and that
    // nothing refers to meanwhile.
    moved(|| unsafe { libc::read(fd, at.cast(), 1) }).then_some(byte)
}

impl Link for Pipes {
    fn ping(&self) -> bool {
        put(self.there.1.as_raw_fd(), 1) && get(self.back.0.as_raw_fd()).is_some()
    }

    fn answer(&self) {
        while get(self.there.0.as_raw_fd()) == Some(1) && put(self.back.1.as_raw_fd(), 1) {}
    }

    fn end(&self) {
        put(self.there.1.as_raw_fd(), 0);
    }

    fn alone(&self) -> bool {
        put(self.own.1.as_raw_fd(), 1) && get(self.own.0.as_raw_fd()).is_some()
    }

    fn split(&self) {
        // SAFETY: these descriptors are of this process alone after the fork, and it ends without
        // using them.
        unsafe {
            libc::close(self.there.1.as_raw_fd());
            libc::close(self.back.0.as_raw_fd());
        }
    }

    fn leave(&self) {
        let Ok(nothing) = File::open("/dev/null") else { return };
        for end in [&self.there.0, &self.back.1] {
            // SAFETY: the numbers stay open and this link's own, with nothing behind them; refused,
            // both ends are held as before.
            unsafe { libc::dup3(nothing.as_raw_fd(), end.as_raw_fd(), libc::O_CLOEXEC) };
        }
    }
}

/// Two words in memory that processes share.
pub(super) struct Futexes(MmapRaw);

impl Futexes {
    pub fn new() -> Result<Futexes, ProbeError> {
        // Anonymous memory would be copied on the first write after a fork.
        let file = memfd_create(c"iotui", MFdFlags::MFD_CLOEXEC)
            .map(File::from)
            .map_err(ProbeError::of("memfd_create"))?;
        file.set_len(4096).map_err(ProbeError::of("ftruncate"))?;
        Ok(Futexes(MmapOptions::new().map_raw(&file).map_err(ProbeError::of("mmap"))?))
    }

    /// The word that wakes the partner, that which wakes the caller, and one that nobody waits for;
    /// each on a line of its own.
    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: the mapping is a page long, aligned, zeroed, and lives as long as this.
        unsafe { &*self.0.as_mut_ptr().add(at * 128).cast::<AtomicU32>() }
    }
}

/// Shared between processes, so not FUTEX_PRIVATE.
fn futex(word: &AtomicU32, operation: libc::c_int, value: u32) {
    // SAFETY: the word is alive; no timeout is given.
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

/// Waits for a turn and takes it; what else it was told instead.
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

    fn alone(&self) -> bool {
        wake(self.word(2), TURN);
        // It is not 0 now, so the kernel looks and returns.
        futex(self.word(2), libc::FUTEX_WAIT, 0);
        wait(self.word(2)) == TURN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Site;
    use crate::probe::partner::{Place, Process};

    #[test]
    fn a_partner_that_was_killed_is_gone() {
        let link = Pipes::new().unwrap();
        let body = || {
            link.split();
            link.answer();
        };
        // SAFETY: it answers by system calls on descriptors that are there already.
        let partner = unsafe { Process::fork(Place::Same, &Site::default(), body) }.unwrap();
        link.leave();
        assert!(link.ping() && link.alone());
        drop(partner);
        assert!(!link.ping(), "nobody answers");
    }
}
