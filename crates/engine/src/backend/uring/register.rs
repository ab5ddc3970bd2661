//! Registers the file and the memory of a lane with its ring, where the kernel allows.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::IoUring;
use libc::iovec;

use crate::backend::error::BackendError;
use crate::sys::buffer::Buffer;
use crate::units::show_bytes;

/// The memory of a lane.
pub(super) struct Memory<'a> {
    pub buffer: &'a Buffer,
    /// That of the reads of a mix.
    pub into: Option<&'a Buffer>,
    /// How many parts the buffer has of which a request uses one; 0 where it may cross them.
    pub slots: usize,
    /// Bytes of a part.
    pub stride: usize,
}

/// The memory that a ring has registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registered {
    Nothing,
    /// The buffer; and as a second one that of the reads of a mix.
    Whole,
    /// The part of each slot by itself, in their order. The kernel finds the pages of a read at the
    /// start of its buffer, without a search, and 1 GiB may be registered for each.
    Slots,
}

/// Registers the file; returns why the kernel refused it.
pub(super) fn register_file(ring: &IoUring, sqpoll: bool, file: &File) -> Result<(), Refusal> {
    match ring.submitter().register_files(&[file.as_raw_fd()]) {
        Ok(()) => Ok(()),
        // Before Linux 5.11 the polling thread accepts only registered files.
        Err(error) if sqpoll && !ring.params().is_feature_sqpoll_nonfixed() => {
            Err(Refusal::Final(BackendError::Ring {
                step: "registering the file, which +sqpoll needs before Linux 5.11",
                error,
            }))
        }
        Err(error) => Err(Refusal::Noted(format!("file: {error}"))),
    }
}

/// What the kernel's refusal means for the lane.
pub(super) enum Refusal {
    /// Plain operations are used, and the result says why.
    Noted(String),
    Final(BackendError),
}

/// Registers the memory, in the first way that the kernel allows; returns why it refused the first.
/// # Safety
/// The memory must live until nothing of the ring is in flight.
pub(super) unsafe fn register_memory(
    ring: &IoUring,
    memory: &Memory,
) -> Result<Registered, String> {
    let ways = [(Registered::Slots, memory.slots()), (Registered::Whole, memory.whole())];
    let mut refusal = None;
    for (registered, parts) in ways.into_iter().filter(|(_, parts)| !parts.is_empty()) {
        // SAFETY: the caller's promise.
        match unsafe { ring.submitter().register_buffers(&parts) } {
            Ok(()) => return Ok(registered),
            Err(error) => refusal = refusal.or_else(|| Some(describe(&parts, &error))),
        }
    }
    Err(refusal.unwrap_or_default())
}

impl Memory<'_> {
    fn whole(&self) -> Vec<iovec> {
        let whole =
            |buffer: &Buffer| iovec { iov_base: buffer.ptr().cast(), iov_len: buffer.len() };
        std::iter::once(self.buffer).chain(self.into).map(whole).collect()
    }

    /// Returns the part of each slot; none where there are too many.
    fn slots(&self) -> Vec<iovec> {
        let slots = if self.slots > MAX_BUFFERS { 0 } else { self.slots };
        let part = |slot| iovec {
            iov_base: self.buffer.address(slot * self.stride).cast(),
            iov_len: self.stride,
        };
        (0..slots).map(part).collect()
    }
}

/// Returns why these parts were refused.
fn describe(parts: &[iovec], error: &io::Error) -> String {
    match parts.iter().map(|part| part.iov_len).max() {
        Some(len) if len > MAX_REGISTERED => format!(
            "buffer: {} is more than the 1 GiB that can be registered; use a lower depth or \
             smaller blocks",
            show_bytes(len as u64)
        ),
        _ => format!("buffer: {error}; the locked-memory limit (ulimit -l) may be too low"),
    }
}

/// The kernel's limit for one registered buffer, bytes.
const MAX_REGISTERED: usize = 1 << 30;
/// The kernel's limit for the number of registered buffers.
const MAX_BUFFERS: usize = 1 << 14;
