//! The drive loop of every synchronous backend.

use super::work::{Request, Work};
use super::{BackendError, Lane};

/// Pulls requests and makes one call for each; `calls` system calls per operation.
///
/// `data` is where the block will be, for the fold; null where the call leaves nothing in memory. The closure must
/// inline: a call between here and `syscall` costs 140 ns (research: `sys::raw`).
#[inline(always)]
pub fn each(work: &mut Work, data: *const u8, calls: u32, mut op: impl FnMut(Request) -> isize) -> Result<(), BackendError> {
    while let Some(mut request) = work.next(0) {
        loop {
            let result = op(request);
            match work.done(0, result, calls, data) {
                None => break,
                Some(rest) => request = rest,
            }
        }
    }
    work.finish()
}

/// Runs a lane once; the only call through a pointer in a trial.
pub fn run(lane: &mut dyn Lane, work: &mut Work) -> Result<(), BackendError> {
    work.begin();
    lane.run(work)
}
