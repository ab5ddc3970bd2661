//! Results for tests of the answer.

use crate::analysis::{CellResult, result};
use crate::plan::{Cache, Job};
use crate::record::{Source, Trial, Verdict};
use crate::session::testing::job;

pub const GIB: f64 = 1073741824.0;

/// Returns a result of `trials` trials around `gib` GiB/s, scattered on both sides by the share
/// `spread`.
pub fn cell(job: Job, gib: f64, spread: f64, trials: u32) -> CellResult {
    let trials = (0..trials).map(|n| {
        let off = if trials < 2 { 0.0 } else { f64::from(n) / f64::from(trials - 1) * 2.0 - 1.0 };
        let bytes = (gib * GIB * (1.0 + spread * off)) as u64;
        Trial {
            round: n + 1,
            bytes,
            ops: bytes / 4096,
            syscalls: 1.into(),
            nanos: 1_000_000_000,
            ..Trial::default()
        }
    });
    let device = if job.cache == Cache::Cold { 1.0 } else { 0.0 };
    let source = Source { device, page_cache: 1.0 - device, hole: 0.0, unknown: 0.0 };
    let verdict = Verdict { source: Some(source), ..Verdict::default() };
    result(&job, trials.map(Into::into).collect(), Some(&verdict), None)
}

pub fn at(backend: &str, block: u64, cache: Cache, gib: f64) -> CellResult {
    cell(job(backend, block, cache), gib, 0.005, 7)
}
