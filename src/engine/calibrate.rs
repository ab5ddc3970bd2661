//! Calibration: the count is doubled from 1 until one trial takes the trial time, never past the end of the file.
//!
//! Its steps are not results; the last one has warmed the cell up.

use super::cells::{Amount, Cell};
use super::error::Failure;
use super::trial::{Stage, fixed_count, run};
use super::way::Way;
use crate::backend::meter::Timed;
use crate::peer::{self, Peer};
use crate::plan::{Cache, CpuCache, Op, Sync, TrialTime};

/// What calibration found.
pub(super) struct Found {
    pub amount: Amount,
    /// The file ended before the trial time was reached.
    pub whole: bool,
}

/// Chooses count, passes and which operations are timed.
pub(super) fn calibrate(stage: &Stage, cell: &Cell, time: TrialTime) -> Result<Found, Failure> {
    let low = u64::try_from(time.low.as_nanos()).unwrap_or(u64::MAX);
    let high = u64::try_from(time.high.as_nanos()).unwrap_or(u64::MAX);
    if let Some(count) = fixed_count(&cell.job) {
        return warm_up(stage, cell, count, low);
    }
    if let Way::Peer(peer) = cell.way {
        return one_run(stage, cell, peer, low);
    }
    let blocks = cell.job.blocks();
    let mut count = 1u64;
    loop {
        let step = Amount { count, passes: 1, timed: Timed::None, nanos: 0 };
        let took = run(stage, cell, &step, &mut |_, _| {})?;
        if took.trial.short {
            return Err(Failure::Stopped);
        }
        // Not the whole trial: many threads may take longer to begin than one operation does.
        let mut nanos = took.busy;
        if nanos > high && time.low < time.high && count > 1 {
            // Two powers of two may lie on both sides of a narrow range.
            let middle = low / 2 + high / 2;
            count = (u128::from(count) * u128::from(middle) / u128::from(nanos)).clamp(1, u128::from(count)) as u64;
            nanos = middle;
        }
        if nanos >= low || count >= blocks {
            let whole = count >= blocks && nanos < low;
            let passes = if whole { repeats(cell, nanos, low) } else { 1 };
            let amount = Amount { count, passes, timed: timed(cell, took.per_op), nanos: nanos * passes };
            return Ok(Found { amount, whole });
        }
        count = next(count, nanos, low).min(blocks);
    }
}

/// The next power of two to try. Steps that are sure to be too short are jumped over: to a quarter of what the last
/// step says would do, since first operations are often the slowest and sometimes the fastest.
fn next(count: u64, nanos: u64, low: u64) -> u64 {
    let double = count.saturating_mul(2).min(1 << 62);
    if nanos < 20_000 {
        return double;
    }
    let quarter = (u128::from(count) * u128::from(low) / u128::from(nanos) / 4).min(1 << 62) as u64;
    double.max(if quarter.is_power_of_two() { quarter } else { quarter.next_power_of_two() / 2 })
}

/// Whole passes that fill the trial time. A cold trial never wraps around: its second pass would be warm; nor does a
/// buffered write: its second pass would overwrite what no device has seen.
fn repeats(cell: &Cell, nanos: u64, low: u64) -> u64 {
    let job = &cell.job;
    // Only the first pass finds the CPU caches empty.
    let flushed = job.cpu_cache == CpuCache::Flush;
    let once = flushed || !job.direct && (job.cache == Cache::Cold || (job.op == Op::Write && job.sync != Sync::Each));
    if once { 1 } else { low.div_ceil(nanos.max(1)).clamp(1, MOST_PASSES) }
}

/// A peer takes a while to start: one run that ends at the trial time, or with the file, tells its rate.
fn one_run(stage: &Stage, cell: &Cell, peer: &dyn Peer, low: u64) -> Result<Found, Failure> {
    let blocks = peer::whole_blocks(&cell.job).blocks();
    let stage = Stage { limit: Some(std::time::Duration::from_nanos(low)), part: None, ..*stage };
    let trial = run(&stage, cell, &Amount { count: blocks, passes: 1, timed: Timed::None, nanos: 0 }, &mut |_, _| {})?.trial;
    // Below the step of its clock.
    let nanos = trial.nanos.max(1000);
    let whole = trial.ops >= blocks && nanos < low;
    let passes = if whole && peer.repeats() { repeats(cell, nanos, low) } else { 1 };
    let fits = (u128::from(trial.ops) * u128::from(low) / u128::from(nanos)).clamp(1, blocks.max(1).into()) as u64;
    let count = if whole { blocks } else { fits };
    let takes = (u128::from(nanos) * u128::from(count) / u128::from(trial.ops.max(1))) as u64;
    Ok(Found { amount: Amount { count, passes, timed: Timed::None, nanos: takes.saturating_mul(passes) }, whole })
}

/// A fixed count is not calibrated: one run, cut after the trial time, warms it up and tells what an operation costs.
fn warm_up(stage: &Stage, cell: &Cell, count: u64, low: u64) -> Result<Found, Failure> {
    let stage = Stage { limit: Some(std::time::Duration::from_nanos(low)), part: None, ..*stage };
    let took = run(&stage, cell, &Amount { count, passes: 1, timed: Timed::None, nanos: 0 }, &mut |_, _| {})?;
    let nanos = (took.per_op * count as f64 / f64::from(cell.job.threads.max(1))) as u64;
    Ok(Found { amount: Amount { count, passes: 1, timed: timed(cell, took.per_op), nanos }, whole: false })
}

/// A clock reading costs 10 to 20 ns: every operation is timed where that is below 1 %, else one in 64.
pub(super) fn timed(cell: &Cell, per_op: f64) -> Timed {
    if per_op < 1500.0 {
        Timed::OneIn(64)
    } else if cell.job.xor && cell.job.op != Op::Seek {
        Timed::Precise
    } else {
        Timed::Chained
    }
}

/// A file of one byte is not read a hundred million times in one trial: each pass starts in a cold function.
const MOST_PASSES: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stay_powers_of_two_and_always_grow() {
        for nanos in [0, 1, 19_999, 20_000, 1_000_000, 299_999_999] {
            let mut count = 1;
            while count < 1 << 60 {
                let more = next(count, nanos, 300_000_000);
                assert!(more.is_power_of_two() && more >= 2 * count, "{count} -> {more} at {nanos}");
                count = more;
            }
        }
    }

    #[test]
    fn a_jump_stays_below_half_of_what_is_needed() {
        // 1024 operations took 1 ms; 300 ms need 307200: a quarter is 76800, the power of two below it 65536.
        assert_eq!(next(1024, 1_000_000, 300_000_000), 65_536);
        assert_eq!(next(1024, 200_000_000, 300_000_000), 2048);
    }
}
