//! The entries of the submission queue.
#![allow(unsafe_code)]

use std::os::fd::AsRawFd;

use io_uring::squeue::{Entry, SubmissionQueue};
use io_uring::{opcode, types};

use super::UringLane;
use crate::backend::work::Request;

/// The kind of all entries of a lane, where it is one that is built in place: chosen from nine
/// kinds, an entry would go through memory and stall twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A read of the registered file into the one registered buffer.
    ReadFixed,
    Nop,
    Any,
}

impl UringLane {
    /// Returns the address for the request's bytes, and how many to request.
    #[inline(always)]
    pub(super) fn buffer_part(&self, request: Request) -> (*mut u8, u32) {
        let place = request.slot as usize * self.stride + request.at as usize;
        let at = match &*self.into {
            Some(into) if !request.write => into.address(place),
            _ => self.buffer.address(place),
        };
        (at, if request.write { request.len } else { (request.len + self.mask) & !self.mask })
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
        // The second registered buffer is for the reads of a mix.
        let index = u16::from(self.into.is_some() && !write);
        let entry = match (write, self.fixed_buffer, self.fixed_file) {
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

    /// Returns the kind of all entries.
    #[inline(always)]
    pub(super) fn kind(&self) -> Kind {
        let is_plain = !self.write && self.into.is_none();
        match () {
            () if self.nop => Kind::Nop,
            () if self.fixed_buffer && self.fixed_file && is_plain => Kind::ReadFixed,
            () => Kind::Any,
        }
    }

    /// Pushes an entry; false when the queue is full, which is unreachable: it has an entry per
    /// slot.
    #[inline(always)]
    pub(super) fn push(&self, queue: &mut SubmissionQueue, request: Request, kind: Kind) -> bool {
        let (at, len) = self.buffer_part(request);
        // SAFETY: the entry's buffer and file live until nothing is in flight (see `drop`).
        let pushed = unsafe {
            match kind {
                Kind::ReadFixed => {
                    let entry = opcode::ReadFixed::new(types::Fixed(0), at, len, 0)
                        .offset(request.offset)
                        .build();
                    queue.push(&entry.user_data(request.slot.into()))
                }
                Kind::Nop => queue.push(&opcode::Nop::new().build().user_data(request.slot.into())),
                Kind::Any => queue.push(&self.entry(request, (at, len))),
            }
        };
        pushed.is_ok()
    }
}
