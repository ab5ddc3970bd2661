//! Jobs for tests.

use super::{Cache, Choice, Job, Op};

/// Returns a plain job: one sequential pass of `read` at 4 KiB over 64 KiB.
pub fn job() -> Job {
    Job {
        span: 65536,
        cache: Cache::Warm,
        xor: true,
        ..Job::plain(Choice::plain("read"), Op::Read)
    }
}
