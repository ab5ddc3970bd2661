//! A ring with one operation at a time, in the loop of the synchronous ways: there what a lane does
//! between two calls counts most, and the kernel has just emptied the caches that it would run
//! from.

use std::os::fd::AsRawFd;

use super::{BackendError, MOST_VAIN, UringLane, no_place, passes, refusing};
use crate::backend::drive::{self, Operation};
use crate::backend::work::{Request, Work};
use crate::sys::raw;

pub(super) struct OneByOne<'a, const FILL: bool> {
    lane: &'a mut UringLane,
    /// See [`UringLane::common`].
    common: bool,
    waits: u64,
    /// Why the ring itself could not go on.
    failed: Option<BackendError>,
}

impl<const FILL: bool> OneByOne<'_, FILL> {
    #[inline(always)]
    pub fn run(lane: &mut UringLane, work: &mut Work) -> Result<(), BackendError> {
        let (data, common) = (lane.buffer.at(0).cast_const(), lane.common());
        let mut one = OneByOne::<FILL> { lane, common, waits: 0, failed: None };
        let ended = drive::every(work, data, &mut one);
        work.flew(one.waits, one.waits);
        one.failed.map_or(ended, Err)
    }

    /// The operation fails, for it cannot even be made.
    #[cold]
    #[inline(never)]
    fn fail(&mut self, why: BackendError) -> isize {
        self.failed = Some(why);
        -(libc::EIO as isize)
    }
}

impl<const FILL: bool> Operation for &mut OneByOne<'_, FILL> {
    #[inline(always)]
    fn make(&mut self, request: Request) -> (isize, u32) {
        // SAFETY: the only handle on the queue while it lives.
        if !self.lane.push(&mut unsafe { self.lane.ring.submission_shared() }, request, self.common)
        {
            return (self.fail(no_place()), 0);
        }
        self.lane.flying = 1;
        let (ring, mut queued, mut calls) = (self.lane.ring.as_raw_fd(), 1, 0);
        loop {
            // SAFETY: the entry's buffer and file live until nothing is in flight (see the lane's
            // `drop`).
            let entered = unsafe { raw::uring_enter::<FILL>(ring, queued, 1) };
            // A call that is to submit more than there is does not wait.
            if entered > 0 {
                queued = 0;
            }
            calls += 1;
            self.waits += 1;
            if let Some(done) = self.lane.ring.completion().next() {
                self.lane.flying = 0;
                return (done.result() as isize, calls);
            }
            if entered < 0 && (!passes(entered) || calls > MOST_VAIN) {
                return (self.fail(refusing(entered)), calls);
            }
        }
    }
}
