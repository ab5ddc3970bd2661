//! Results for tests of the answer.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::analysis::{CellResult, result};
use crate::plan::{Cache, Job, Op, Sync};
use crate::record::{CommitTimes, Durability, Latency, Reach, Source, Trial, Verdict};
use crate::session::testing::job;

pub const GIB: f64 = 1073741824.0;

/// Returns a result of `trials` trials around `gib` GiB/s, scattered on both sides by the share
/// `spread`; no two cells have a trial in the same round.
pub fn cell(job: Job, gib: f64, spread: f64, trials: u32) -> CellResult {
    let mut hash = DefaultHasher::new();
    job.hash(&mut hash);
    let first = hash.finish() as u32 / 2;
    let trials = (0..trials).map(|n| {
        let off = if trials < 2 { 0.0 } else { f64::from(n) / f64::from(trials - 1) * 2.0 - 1.0 };
        let bytes = (gib * GIB * (1.0 + spread * off)) as u64;
        Trial {
            round: first + n,
            bytes,
            ops: bytes / 4096,
            syscalls: 1.into(),
            nanos: 1_000_000_000,
            ..Trial::default()
        }
    });
    let device = if job.cache == Cache::Cold { 1.0 } else { 0.0 };
    let source = Source { device, page_cache: 1.0 - device, hole: 0.0, unknown: 0.0, below: 0.0 };
    let verdict = Verdict { source: Some(source), ..Verdict::default() };
    result(&job, trials.map(Into::into).collect(), Some(&verdict), None)
}

pub fn at(backend: &str, block: u64, cache: Cache, gib: f64) -> CellResult {
    cell(job(backend, block, cache), gib, 0.005, 7)
}

/// Returns a cell whose commits take this many microseconds, more or less.
pub fn committed(change: impl FnOnce(&mut Job), micros: u64, reach: Reach) -> CellResult {
    let mut job = Job {
        op: Op::Write,
        sync: Sync::Fdatasync,
        count: None,
        ..job("pread", 4096, Cache::AsIs)
    };
    change(&mut job);
    let trials = (0..5u64).map(|round| {
        let nanos = (micros * 1000 + round * 10) * 1000 / u64::from(job.threads);
        let ops = 1000 * u64::from(job.sync_every);
        let trial = Trial { ops, bytes: ops * 4096, nanos, ..Trial::default() };
        std::sync::Arc::new(trial)
    });
    let total = Latency {
        count: 5000,
        every: 1,
        p50: Some(micros as f64 * 1e3),
        p99: Some(micros as f64 * 2e3),
        ..Latency::default()
    };
    let verdict = Verdict {
        commits: Some(CommitTimes { total, write: None, sync: None }),
        durability: Some(Durability {
            reach,
            reason: "sda was flushed once".into(),
            flushes: Some(1.0),
            flush_nanos: None,
            amplification: None,
        }),
        ..Verdict::default()
    };
    result(&job, trials.collect(), Some(&verdict), None)
}

/// Lets the CPU work all the time.
pub fn busy(mut result: CellResult) -> CellResult {
    result.trials.iter_mut().for_each(|trial| {
        let trial = std::sync::Arc::make_mut(trial);
        trial.system_nanos = trial.nanos;
    });
    result
}
