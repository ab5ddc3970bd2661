//! The fast paths of lanes, while every operation returns a full block: synchronous lanes, and
//! lanes that submit and collect several operations at once.
//!
//! Their state is in registers, while [`Work::next`] and [`Work::done`] load and store it each
//! time.

use std::sync::atomic::Ordering::Relaxed;

use super::{Request, RequestSlot, Work};
use crate::backend::drive::Operation;
use crate::backend::fold::at_offset;

impl Work<'_> {
    /// Runs operations by `op`, which returns the result and its number of system calls, to the end
    /// of the pass or until the stop flag is set. `Some`: a result that is not a full block; its
    /// operation is in slot 0, for `done`.
    #[inline(always)]
    pub(in crate::backend) fn run_full_blocks(
        &mut self,
        data: *const u8,
        op: &mut impl Operation,
    ) -> Option<(isize, u32)> {
        let (order, share, moves, stop, published) = (
            self.order,
            self.assignment.share,
            self.assignment.moves,
            self.assignment.stop,
            self.assignment.published,
        );
        let fold = if data.is_null() { None } else { self.assignment.fold };
        let (mut bytes, mut ops, mut syscalls) = (self.bytes, self.ops, self.syscalls);
        let mut odd = None;
        let (mut index, limit) = (self.index, self.limit);
        while index < limit && !stop.load(Relaxed) {
            let offset = order.offset(index);
            let len = if moves { share.len_at(offset) as u32 } else { 0 };
            let start = self.meter.start(index);
            // Dead code unless the lane reads `write`; the slow path recomputes it.
            let write = share.writes(self.pass, index);
            index += 1;
            let (result, calls) = op.make(Request { offset, len, slot: 0, at: 0, write });
            if result != len as isize {
                let write = share.writes(self.pass, index - 1);
                self.slots[0] = RequestSlot {
                    offset,
                    start,
                    len,
                    later_pass: self.pass > 0,
                    write,
                    ..RequestSlot::default()
                };
                odd = Some((result, calls));
                break;
            }
            self.meter.end(start);
            if let Some(form) = fold {
                // SAFETY: `data` is readable for `len` bytes: the operation just filled them.
                self.folds[usize::from(self.pass > 0)] ^=
                    at_offset(unsafe { form(data, len as usize) }, offset);
            }
            bytes += u64::from(len);
            ops += 1;
            syscalls += u64::from(calls);
            published.bytes.store(bytes, Relaxed);
            published.ops.store(ops, Relaxed);
            published.syscalls.store(syscalls, Relaxed);
        }
        (self.index, self.bytes, self.ops, self.syscalls) = (index, bytes, ops, syscalls);
        odd
    }

    /// Hands out up to `most` requests of whole blocks to `push`, for the last of these free slots:
    /// fewer where the pass ends or no slot is free, and none where the stop flag is set. Returns
    /// their number, or `None` where `push` refused one. `writes` is false where none may write.
    #[inline(always)]
    pub(in crate::backend) fn hand_out(
        &mut self,
        free: &mut Vec<u32>,
        most: u32,
        writes: bool,
        mut push: impl FnMut(Request) -> bool,
    ) -> Option<u32> {
        if self.assignment.stop.load(Relaxed) {
            return Some(0);
        }
        let (order, share, moves) = (self.order, self.assignment.share, self.assignment.moves);
        let (first, pass, mut index) = (self.index, self.pass, self.index);
        let end = self.limit.min(index.saturating_add(most.into()));
        let slots = &mut self.slots[..];
        let mut refused = false;
        while index < end
            && let Some(slot) = free.pop()
        {
            let offset = order.offset(index);
            let len = if moves { share.len_at(offset) as u32 } else { 0 };
            let start = self.meter.start(index);
            let write = writes && share.writes(pass, index);
            slots[slot as usize] = RequestSlot {
                offset,
                start,
                len,
                later_pass: pass > 0,
                write,
                ..RequestSlot::default()
            };
            index += 1;
            if !push(Request { offset, len, slot, at: 0, write }) {
                refused = true;
                break;
            }
        }
        self.index = index;
        (!refused).then_some((index - first) as u32)
    }

    /// Takes slots and their results, and publishes them together; stops at one that is not a whole
    /// block, or at each if the lane keeps a pace, and returns it, for `done`. `data` returns the
    /// address of a slot's block, for the fold.
    #[inline(always)]
    pub(in crate::backend) fn take_full_blocks(
        &mut self,
        results: &mut impl Iterator<Item = (u32, isize)>,
        free: &mut Vec<u32>,
        data: impl Fn(u32) -> *const u8,
    ) -> Option<(u32, isize)> {
        if self.is_paced() {
            return results.next();
        }
        let fold = self.assignment.fold;
        let (mut bytes, mut ops) = (self.bytes, self.ops);
        let mut odd = None;
        for (slot, result) in results {
            let RequestSlot { start, len, at, .. } = self.slots[slot as usize];
            if result != (len - at) as isize {
                odd = Some((slot, result));
                break;
            }
            self.meter.end(start);
            if let Some(form) = fold {
                self.fold(slot, data(slot), form);
            }
            bytes += u64::from(len);
            ops += 1;
            free.push(slot);
        }
        (self.bytes, self.ops) = (bytes, ops);
        self.publish();
        odd
    }

    /// Advances to the next pass or claim; false after the last, or if the lane is stopped.
    pub(in crate::backend) fn advance(&mut self) -> bool {
        self.index >= self.limit && !self.assignment.stop.load(Relaxed) && self.next_range()
    }
}
