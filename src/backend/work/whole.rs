//! The loop of a synchronous lane while every operation is whole.
//!
//! What it needs is in registers, where [`Work::next`] and [`Work::done`] go through a slot in
//! memory each time.

use std::sync::atomic::Ordering::Relaxed;

use super::{Request, Slot, Work};
use crate::backend::drive::Operation;
use crate::backend::fold::at_offset;

impl Work<'_> {
    /// Makes operations by `op`, which gives the result and the system calls it took, to the end of
    /// the pass or until the stop flag is up. `Some`: a result that is not the whole block; its
    /// operation is in slot 0, for `done`.
    #[inline(always)]
    pub(in crate::backend) fn whole(
        &mut self,
        data: *const u8,
        op: &mut impl Operation,
    ) -> Option<(isize, u32)> {
        let (order, share, moves, stop, published) =
            (self.order, self.given.share, self.given.moves, self.given.stop, self.given.published);
        let fold = if data.is_null() { None } else { self.given.fold };
        let (mut bytes, mut ops, mut syscalls) = (self.bytes, self.ops, self.syscalls);
        let mut odd = None;
        let (mut index, limit) = (self.index, self.limit);
        while index < limit && !stop.load(Relaxed) {
            let offset = order.block(index) * share.block;
            let len = if moves { share.len_at(offset) as u32 } else { 0 };
            let start = self.meter.start(index);
            // Costs nothing where the lane does not ask: what is odd finds it out once more.
            let write = share.writes(self.pass, index);
            index += 1;
            let (result, calls) = op.make(Request { offset, len, slot: 0, at: 0, write });
            if result != len as isize {
                let write = share.writes(self.pass, index - 1);
                self.slots[0] = Slot {
                    offset,
                    start,
                    len,
                    later_pass: self.pass > 0,
                    write,
                    ..Slot::default()
                };
                odd = Some((result, calls));
                break;
            }
            self.meter.end(start);
            if let Some(form) = fold {
                // SAFETY: the operation has just filled `len` bytes there.
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

    /// Whether there is another pass to make, or more to claim.
    pub(in crate::backend) fn again(&mut self) -> bool {
        self.index >= self.limit && !self.given.stop.load(Relaxed) && self.more()
    }
}
