//! The entries of the submission queue.
#![allow(unsafe_code)]

use std::os::fd::AsRawFd;

use io_uring::squeue::{Entry, SubmissionQueue};
use io_uring::{opcode, types};

use super::UringLane;
use super::register::Registered;
use crate::backend::work::Request;

/// Builds the entries of a lane. The kind is chosen once, before the loop: chosen for each entry,
/// from nine kinds, an entry would go through memory and stall twice.
pub(super) trait EntryKind {
    /// Whether an entry may write.
    const WRITES: bool;

    fn build(lane: &UringLane, request: Request) -> Entry;
}

/// A read of the registered file into registered memory.
pub(super) struct ReadFixed;

pub(super) struct Nop;

pub(super) struct Any;

impl EntryKind for ReadFixed {
    const WRITES: bool = false;

    #[inline(always)]
    fn build(lane: &UringLane, request: Request) -> Entry {
        let at = lane.buffer.address(lane.place(request));
        let len = lane.round_up(request.len);
        let index = lane.registered.index(request.slot);
        let entry = opcode::ReadFixed::new(types::Fixed(0), at, len, index);
        entry.offset(request.offset).build().user_data(request.slot.into())
    }
}

impl EntryKind for Nop {
    const WRITES: bool = false;

    #[inline(always)]
    fn build(_: &UringLane, request: Request) -> Entry {
        opcode::Nop::new().build().user_data(request.slot.into())
    }
}

impl EntryKind for Any {
    const WRITES: bool = true;

    #[inline(always)]
    fn build(lane: &UringLane, request: Request) -> Entry {
        lane.entry(request, lane.buffer_part(request))
    }
}

impl UringLane {
    /// Returns the address for the request's bytes, and how many to request.
    #[inline(always)]
    pub(super) fn buffer_part(&self, request: Request) -> (*mut u8, u32) {
        let place = self.place(request);
        let at = match &*self.into {
            Some(into) if !request.write => into.address(place),
            _ => self.buffer.address(place),
        };
        (at, if request.write { request.len } else { self.round_up(request.len) })
    }

    /// Returns the offset in a buffer of all slots.
    #[inline(always)]
    fn place(&self, request: Request) -> usize {
        request.slot as usize * self.stride + request.at as usize
    }

    /// Rounds the length of a read up to what the lane requests.
    #[inline(always)]
    fn round_up(&self, len: u32) -> u32 {
        (len + self.mask) & !self.mask
    }

    /// Builds the entry of any request.
    #[inline(never)]
    pub(super) fn entry(
        &self,
        Request { offset, slot, write, .. }: Request,
        (at, len): (*mut u8, u32),
    ) -> Entry {
        let (fd, fixed) = (types::Fd(self.file.as_raw_fd()), types::Fixed(0));
        let flags = self.write_flags;
        // The second one is for the reads of a mix.
        let index = if self.into.is_some() && !write { 1 } else { self.registered.index(slot) };
        let entry = match (write, self.registered != Registered::Nothing, self.fixed_file) {
            (false, true, true) => {
                opcode::ReadFixed::new(fixed, at, len, index).offset(offset).build()
            }
            (false, true, false) => {
                opcode::ReadFixed::new(fd, at, len, index).offset(offset).build()
            }
            (false, false, true) => opcode::Read::new(fixed, at, len).offset(offset).build(),
            (false, false, false) => opcode::Read::new(fd, at, len).offset(offset).build(),
            (true, true, true) => {
                opcode::WriteFixed::new(fixed, at, len, 0).offset(offset).rw_flags(flags).build()
            }
            (true, true, false) => {
                opcode::WriteFixed::new(fd, at, len, 0).offset(offset).rw_flags(flags).build()
            }
            (true, false, true) => {
                opcode::Write::new(fixed, at, len).offset(offset).rw_flags(flags).build()
            }
            (true, false, false) => {
                opcode::Write::new(fd, at, len).offset(offset).rw_flags(flags).build()
            }
        };
        entry.user_data(slot.into())
    }

    /// Pushes an entry; false when the queue is full, which is unreachable: it has an entry per
    /// slot.
    #[inline(always)]
    pub(super) fn push<K: EntryKind>(&self, queue: &mut SubmissionQueue, request: Request) -> bool {
        // SAFETY: the entry's buffer and file live until nothing is in flight (see `drop`).
        unsafe { queue.push(&K::build(self, request)) }.is_ok()
    }
}
