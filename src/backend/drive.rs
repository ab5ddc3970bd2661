//! The drive loop of every synchronous backend.

use super::work::{Request, Work};
use super::{BackendError, Lane};

/// One operation: the result, bytes or -errno, and the system calls it took.
///
/// It must inline: a call between the loop and `syscall` costs 140 ns (research: `sys::raw`). Of a
/// small closure that is so; where it is large, say `#[inline(always)]` of the method.
pub trait Operation {
    fn make(&mut self, request: Request) -> (isize, u32);
}

impl<F: FnMut(Request) -> (isize, u32)> Operation for F {
    #[inline(always)]
    fn make(&mut self, request: Request) -> (isize, u32) {
        self(request)
    }
}

/// Makes every operation by `op`; `calls` system calls each.
///
/// `data` is where the block will be, for the fold; null where the call leaves nothing in memory.
#[inline(always)]
pub fn each(
    work: &mut Work,
    data: *const u8,
    calls: u32,
    mut op: impl FnMut(Request) -> isize,
) -> Result<(), BackendError> {
    each_counted(work, data, |request| (op(request), calls))
}

/// As [`each`], where an operation itself tells how many system calls it took.
#[inline(always)]
pub fn each_counted(
    work: &mut Work,
    data: *const u8,
    op: impl FnMut(Request) -> (isize, u32),
) -> Result<(), BackendError> {
    every(work, data, op)
}

/// As [`each_counted`], where an operation is more than a small closure.
#[inline(always)]
pub fn every(work: &mut Work, data: *const u8, mut op: impl Operation) -> Result<(), BackendError> {
    loop {
        match work.whole(data, &mut op) {
            Some((mut result, mut calls)) => {
                while let Some(rest) = work.done(0, result, calls, data) {
                    (result, calls) = op.make(rest);
                }
            }
            None if work.again() => {}
            None => return work.finish(),
        }
    }
}

/// Runs a lane once; the only call through a pointer in a trial.
pub fn run(lane: &mut dyn Lane, work: &mut Work) -> Result<(), BackendError> {
    work.begin();
    lane.run(work)
}
