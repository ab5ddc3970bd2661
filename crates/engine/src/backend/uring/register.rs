//! Registers the memory of a lane with its ring, where the kernel allows.
#![allow(unsafe_code)]

use std::io;

use io_uring::IoUring;
use libc::iovec;

use crate::sys::buffer::Buffer;
use crate::units::show_bytes;

/// The memory of a lane.
pub(super) struct RingMemory<'a> {
    pub buffer: &'a Buffer,
    /// The buffer of the reads of a mix.
    pub into: Option<&'a Buffer>,
    /// Number of parts of the buffer, if each request uses one; 0 if a request may cross them.
    pub slots: usize,
    /// Bytes of a part.
    pub stride: usize,
}

/// The memory that a ring has registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registered {
    Nothing,
    /// The whole buffer, and the read buffer of a mix as a second one.
    Whole,
    /// The part of each slot by itself, in their order. The kernel finds the pages of a read at the
    /// start of its buffer, without a search, and 1 GiB may be registered for each.
    Slots,
}

impl Registered {
    /// Returns the number of the registered buffer into which a slot reads.
    #[inline(always)]
    pub fn index(self, slot: u32) -> u16 {
        if self == Registered::Slots { slot as u16 } else { 0 }
    }
}

/// Registers the memory, each slot by itself if the kernel allows; returns why it refused the first
/// way.
/// # Safety
/// The memory must live until nothing of the ring is in flight.
pub(super) unsafe fn register_memory(
    ring: &IoUring,
    memory: &RingMemory,
) -> Result<Registered, String> {
    let register = |parts: &[iovec]| {
        // SAFETY: the caller's promise.
        unsafe { ring.submitter().register_buffers(parts) }.map_err(|error| describe(parts, &error))
    };
    let refused = match memory.slots() {
        slots if slots.is_empty() => None,
        slots => match register(&slots) {
            Ok(()) => return Ok(Registered::Slots),
            Err(why) => Some(why),
        },
    };
    let whole = register(&memory.whole());
    whole.map(|()| Registered::Whole).map_err(|why| refused.unwrap_or(why))
}

impl RingMemory<'_> {
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
