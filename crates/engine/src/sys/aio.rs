//! Linux native asynchronous I/O (linux/aio_abi.h), by its raw system calls.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::raw::call6;
use super::text;

/// One operation in the kernel's layout (`struct iocb`, 64 bytes).
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct AioOperation {
    data: u64,
    /// Reserved by the kernel, and flags; their order depends on the byte order.
    key_and_flags: [u32; 2],
    code: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    len: u64,
    offset: i64,
    reserved: u64,
    more_flags: u32,
    event_fd: u32,
}

/// The completion of an operation (`struct io_event`).
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct AioEvent {
    /// The `data` of [`AioOperation::new`].
    pub data: u64,
    operation: u64,
    /// Bytes, or -errno.
    pub result: i64,
    more: i64,
}

impl AioOperation {
    /// Creates an fsync if `whole`, else an fdatasync (Linux 4.18).
    pub fn sync(data: u64, whole: bool, fd: RawFd) -> AioOperation {
        let code = if whole { 2 } else { 3 };
        AioOperation { data, code, fd: fd as u32, ..AioOperation::default() }
    }

    /// Sets the RWF_* flags of a read or write.
    pub fn with_flags(self, flags: u32) -> AioOperation {
        // `aio_rw_flags` shares the place of `aio_reserved1` and follows the key.
        let mut key_and_flags = self.key_and_flags;
        key_and_flags[usize::from(cfg!(target_endian = "little"))] = flags;
        AioOperation { key_and_flags, ..self }
    }

    /// Creates a read into `buffer`, or a write from it.
    pub fn new(
        data: u64,
        write: bool,
        fd: RawFd,
        buffer: *mut u8,
        len: usize,
        offset: u64,
    ) -> AioOperation {
        let (code, fd) = (if write { 1 } else { 0 }, fd as u32);
        AioOperation {
            data,
            code,
            fd,
            buffer: buffer as u64,
            len: len as u64,
            offset: offset as i64,
            ..AioOperation::default()
        }
    }
}

/// A context: operations in flight, and completion events not yet collected. Destroying it waits
/// for the operations in flight.
#[derive(Debug)]
pub struct AioContext {
    /// 0: ended.
    id: usize,
    depth: u32,
}

/// Contexts with nothing in flight, for the next lane of the same depth: to destroy one waits tens
/// of milliseconds for an RCU grace period, in each trial and each step of a calibration.
static KEPT: Mutex<Vec<AioContext>> = Mutex::new(Vec::new());
/// Operations of all kept contexts at most: fs.aio-max-nr is 65536 for all processes.
const MAX_KEPT: u32 = 4096;

fn kept() -> MutexGuard<'static, Vec<AioContext>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AioContext {
    /// Returns a kept context for `depth` operations, or a new one.
    ///
    /// # Errors
    /// EAGAIN above fs.aio-max-nr, ENOSYS if the kernel has no aio, EPERM in a sandbox.
    pub fn new(depth: u32) -> io::Result<AioContext> {
        let mut all = kept();
        if let Some(at) = all.iter().position(|context| context.depth == depth) {
            return Ok(all.swap_remove(at));
        }
        match AioContext::create(depth) {
            // The kept contexts may be the ones that reach the limit.
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) && !all.is_empty() => {
                all.clear();
                AioContext::create(depth)
            }
            created => created,
        }
    }

    /// Keeps the context for the next lane. Nothing may be in flight.
    pub fn keep(&mut self) {
        let mut all = kept();
        let used: u32 = all.iter().map(|context| context.depth).sum();
        if self.id != 0 && used.saturating_add(self.depth) <= MAX_KEPT {
            all.push(AioContext { id: std::mem::take(&mut self.id), depth: self.depth });
        }
    }

    fn create(depth: u32) -> io::Result<AioContext> {
        let mut context = 0usize;
        // SAFETY: the kernel writes the context's id into `context`, which outlives the call.
        match unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) } {
            0 => Ok(AioContext { id: context, depth }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Checks whether this process may create a context, without creating one: to destroy it
    /// would wait tens of milliseconds for an RCU grace period.
    ///
    /// # Errors
    /// As [`AioContext::new`].
    pub fn check() -> io::Result<()> {
        let mut context = 0usize;
        // SAFETY: no context has room for 0 operations, so the call fails and writes nothing;
        // `context` outlives it.
        unsafe { libc::syscall(libc::SYS_io_setup, 0, &raw mut context) };
        match io::Error::last_os_error() {
            error if error.raw_os_error() != Some(libc::EINVAL) => Err(error),
            _ if is_limit_reached() => Err(io::Error::from_raw_os_error(libc::EAGAIN)),
            _ => Ok(()),
        }
    }

    /// Submits the list; returns how many operations were accepted, from the front, or the -errno
    /// of the first.
    ///
    /// # Safety
    /// Operations and their buffers must stay alive and untouched until their events are collected
    /// or the context is destroyed.
    #[inline(always)]
    pub unsafe fn submit<const FILL: bool>(&self, list: &[*mut AioOperation]) -> isize {
        // SAFETY: the list is a slice, read during the call; the caller guarantees that the
        // operations and their buffers live until they have completed.
        unsafe {
            call6::<FILL>(
                libc::SYS_io_submit,
                [self.id, list.len(), list.as_ptr() as usize, 0, 0, 0],
            )
        }
    }

    /// Waits for at least one event; returns how many were written to `events`, or -errno.
    #[inline(always)]
    pub fn wait<const FILL: bool>(&self, events: &mut [AioEvent]) -> isize {
        // SAFETY: the kernel writes at most `events.len()` events; a null timeout is allowed.
        unsafe {
            call6::<FILL>(
                libc::SYS_io_getevents,
                [self.id, 1, events.len(), events.as_mut_ptr() as usize, 0, 0],
            )
        }
    }

    /// Waits as [`AioContext::wait`] does, for `nanos` at most: 0 takes only what is there.
    #[inline(always)]
    pub fn wait_until<const FILL: bool>(&self, events: &mut [AioEvent], nanos: u64) -> isize {
        let least = usize::from(nanos > 0);
        let time = libc::timespec {
            tv_sec: (nanos / 1_000_000_000) as libc::time_t,
            tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
        };
        let events_at = events.as_mut_ptr() as usize;
        // SAFETY: the kernel writes at most `events.len()` events; the time outlives the call.
        unsafe {
            call6::<FILL>(
                libc::SYS_io_getevents,
                [self.id, least, events.len(), events_at, (&raw const time) as usize, 0],
            )
        }
    }

    /// Destroys the context when nothing is in flight; returns false if the kernel does not confirm
    /// it.
    pub fn end(&mut self) -> bool {
        // SAFETY: the id is that of our context; the kernel refuses it from then on.
        let ended = unsafe { libc::syscall(libc::SYS_io_destroy, self.id) } == 0;
        self.id = 0;
        ended
    }
}

/// Returns whether the contexts of all processes use up fs.aio-max-nr.
fn is_limit_reached() -> bool {
    let used: Option<u64> = text::number("/proc/sys/fs/aio-nr");
    used.zip(text::number("/proc/sys/fs/aio-max-nr")).is_some_and(|(used, max)| used >= max)
}

impl Drop for AioContext {
    fn drop(&mut self) {
        if self.id != 0 {
            self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::clock::monotonic_nanos;

    #[test]
    fn structs_have_the_sizes_of_kernels() {
        assert_eq!((size_of::<AioOperation>(), size_of::<AioEvent>()), (64, 32));
    }

    #[test]
    fn a_kept_context_is_reused() {
        // No other test has a context of these depths.
        let Ok(mut context) = AioContext::new(77) else { return };
        let id = context.id;
        context.keep();
        assert_eq!(context.id, 0);
        let other = AioContext::new(78).unwrap();
        assert_ne!(other.id, id);
        assert_eq!(AioContext::new(77).unwrap().id, id);
        // A context that has ended is not kept.
        AioContext { id: 0, depth: 79 }.keep();
        assert!(kept().iter().all(|context| context.id != 0 && context.depth != 79));
    }

    #[test]
    fn a_limited_wait_ends() {
        let Ok(context) = AioContext::new(76) else { return };
        for nanos in [0, 1_000_000] {
            let began = monotonic_nanos();
            assert_eq!(context.wait_until::<false>(&mut [AioEvent::default()], nanos), 0);
            assert!(monotonic_nanos() - began >= nanos);
        }
    }

    #[test]
    fn a_check_agrees_with_a_context() {
        let errno = |error: io::Error| error.raw_os_error();
        let created = AioContext::new(1).map(drop).map_err(errno);
        assert_eq!(AioContext::check().map_err(errno), created);
    }
}
