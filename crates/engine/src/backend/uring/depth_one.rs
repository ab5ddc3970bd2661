//! A ring with one operation at a time, in the loop of the synchronous backends: there the work
//! between two calls matters most, and the kernel has just evicted it from the CPU caches.

use super::entries::Kind;
use super::{BackendError, MAX_EMPTY_WAITS, UringLane, is_transient, queue_full, ring_error};
use crate::backend::drive::{self, Operation};
use crate::backend::work::{Request, Work};

pub(super) struct DepthOneLane<'a, const FILL: bool> {
    lane: &'a mut UringLane,
    kind: Kind,
    waits: u64,
    /// The error of the ring itself.
    failed: Option<BackendError>,
}

impl<const FILL: bool> DepthOneLane<'_, FILL> {
    #[inline(always)]
    pub fn run(lane: &mut UringLane, work: &mut Work) -> Result<(), BackendError> {
        let (data, kind) = (lane.buffer.address(0).cast_const(), lane.kind());
        let mut depth_one = DepthOneLane::<FILL> { lane, kind, waits: 0, failed: None };
        let ended = drive::run_operations(work, data, &mut depth_one);
        work.record_in_flight(depth_one.waits, depth_one.waits);
        depth_one.failed.map_or(ended, Err)
    }

    /// Records why an operation cannot be submitted, and returns its result.
    #[cold]
    #[inline(never)]
    fn fail(&mut self, why: BackendError) -> isize {
        self.failed = Some(why);
        -(libc::EIO as isize)
    }
}

impl<const FILL: bool> Operation for &mut DepthOneLane<'_, FILL> {
    #[inline(always)]
    fn make(&mut self, request: Request) -> (isize, u32) {
        // SAFETY: this is the only handle on the queue while it lives.
        if !self.lane.push(&mut unsafe { self.lane.ring.submission_shared() }, request, self.kind) {
            return (self.fail(queue_full()), 0);
        }
        self.lane.in_flight = 1;
        let (mut queued, mut calls) = (1, 0);
        loop {
            // SAFETY: the entry's buffer and file live until nothing is in flight (see the lane's
            // `drop`).
            let entered = unsafe { self.lane.entrance.enter::<FILL>(queued, 1) };
            // A call that submits more than is queued does not wait.
            if entered > 0 {
                queued = 0;
            }
            calls += 1;
            self.waits += 1;
            if let Some(done) = self.lane.ring.completion().next() {
                self.lane.in_flight = 0;
                return (done.result() as isize, calls);
            }
            if entered < 0 && (!is_transient(entered) || calls > MAX_EMPTY_WAITS) {
                return (self.fail(ring_error(entered)), calls);
            }
        }
    }
}
