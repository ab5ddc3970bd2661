//! The drive loop of the synchronous backends.

use super::work::Request;
use super::{BackendError, Lane, Work};

/// Makes one operation; returns the result, bytes or -errno, and its number of system calls.
///
/// It must be inlined: a call between the loop and `syscall` costs 140 ns (see `sys::raw`). Small
/// closures are; large methods need `#[inline(always)]`.
pub trait Operation {
    fn make(&mut self, request: Request) -> (isize, u32);
}

impl<F: FnMut(Request) -> (isize, u32)> Operation for F {
    #[inline(always)]
    fn make(&mut self, request: Request) -> (isize, u32) {
        self(request)
    }
}

/// Runs every operation by `op`, which makes `calls` system calls.
///
/// `data` is the address of the block, for the fold; null where the call leaves nothing in memory.
#[inline(always)]
pub fn run_each(
    work: &mut Work,
    data: *const u8,
    calls: u32,
    mut op: impl FnMut(Request) -> isize,
) -> Result<(), BackendError> {
    run_each_counted(work, data, |request| (op(request), calls))
}

/// Runs every operation as [`run_each`] does, where `op` also returns its number of system calls.
#[inline(always)]
pub fn run_each_counted(
    work: &mut Work,
    data: *const u8,
    op: impl FnMut(Request) -> (isize, u32),
) -> Result<(), BackendError> {
    run_operations(work, data, op)
}

/// Runs every operation as [`run_each_counted`] does, where it is more than a small closure.
#[inline(always)]
pub fn run_operations(
    work: &mut Work,
    data: *const u8,
    mut op: impl Operation,
) -> Result<(), BackendError> {
    if work.varies() || work.is_paced() {
        return run_varied(work, data, op);
    }
    loop {
        match work.run_full_blocks(data, &mut op) {
            Some((mut result, mut calls)) => {
                while let Some(rest) = work.done(0, result, calls, data) {
                    (result, calls) = op.make(rest);
                }
            }
            None if work.advance() => {}
            None => return work.finish(),
        }
    }
}

/// Runs every operation of a lane that writes blocks that differ, or keeps a pace.
#[inline(always)]
fn run_varied(
    work: &mut Work,
    data: *const u8,
    mut op: impl Operation,
) -> Result<(), BackendError> {
    while let Some(mut request) = work.next(0) {
        loop {
            let (result, calls) = op.make(request);
            match work.done(0, result, calls, data) {
                None => break,
                Some(rest) => request = rest,
            }
        }
    }
    work.finish()
}

/// Runs a lane once: the only dynamic call in a trial.
pub fn run(lane: &mut dyn Lane, work: &mut Work) -> Result<(), BackendError> {
    work.begin();
    lane.run(work)?;
    work.rest();
    Ok(())
}
