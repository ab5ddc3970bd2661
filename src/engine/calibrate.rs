//! Calibration: the count is doubled from 1 until one trial takes the trial time, and from the end
//! of the file on the passes over it.
//!
//! Its steps are not results; the last one has warmed the cell up.

use super::cells::{Amount, Cell};
use super::error::Failure;
use super::trial::{Stage, fixed_count, run};
use super::way::Way;
use crate::backend::meter::Timed;
use crate::peer::{self, Peer};
use crate::plan::{Cache, CpuCache, Job, Op, Sync, TrialTime};
use crate::sys::clock::monotonic_nanos;

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
    let bounds =
        Bounds { blocks: cell.job.blocks(), low, high, once: cell.anew || is_once(&cell.job) };
    let (mut count, mut passes) = (1, 1);
    loop {
        let step = Amount { count, passes, parts: 1, timed: Timed::None, nanos: 0 };
        let begin = monotonic_nanos();
        let took = run(stage, cell, &step, &mut |_, _| {})?;
        let wall = monotonic_nanos() - begin;
        if took.trial.short {
            return Err(Failure::Stopped);
        }
        // Not the whole trial: many threads may take longer to begin than one operation does.
        match bounds.after(count, passes, took.busy) {
            Next::Try { count: more, passes: again } => (count, passes) = (more, again),
            Next::Enough { count, passes, nanos, whole } => {
                let parts = if bounds.once && whole { parts(nanos, wall, low) } else { 1 };
                let amount = Amount {
                    count,
                    passes,
                    parts,
                    timed: timed(cell, took.per_op),
                    nanos: nanos.saturating_mul(parts),
                };
                return Ok(Found { amount, whole });
            }
        }
    }
}

/// What a trial is fitted between.
struct Bounds {
    /// Operations of one pass over the file.
    blocks: u64,
    /// Nanoseconds that a trial takes at least, and at most.
    low: u64,
    high: u64,
    /// A second pass would measure something else.
    once: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    Try { count: u64, passes: u64 },
    Enough { count: u64, passes: u64, nanos: u64, whole: bool },
}

impl Bounds {
    /// What follows a step that took so long.
    fn after(&self, mut count: u64, passes: u64, mut nanos: u64) -> Next {
        let Bounds { blocks, low, high, once } = *self;
        if nanos > high && low < high && count > 1 && passes == 1 {
            // Two powers of two may lie on both sides of a narrow range.
            let middle = low / 2 + high / 2;
            count = (u128::from(count) * u128::from(middle) / u128::from(nanos))
                .clamp(1, u128::from(count)) as u64;
            nanos = middle;
        }
        if count < blocks {
            return match nanos >= low {
                true => Next::Enough { count, passes, nanos, whole: false },
                false => Next::Try { count: next(count, nanos, low).min(blocks), passes },
            };
        }
        let whole = passes > 1 || nanos < low;
        if whole && !once && nanos < low / 8 && passes < MOST_PASSES {
            // Too short to be multiplied: the first pass is the slowest, and one interruption would
            // decide it.
            return Next::Try { count, passes: next(passes, nanos, low).min(MOST_PASSES) };
        }
        let fitting = if whole && !once { repeats(passes, nanos, low) } else { 1 };
        let takes = u128::from(nanos) * u128::from(fitting) / u128::from(passes);
        Next::Enough { count, passes: fitting, nanos: takes.try_into().unwrap_or(u64::MAX), whole }
    }
}

/// The next power of two to try. Steps that are sure to be too short are jumped over: to a quarter
/// of what the last step says would do, since first operations are often the slowest and sometimes
/// the fastest. Each step is prepared as a trial is, which may take longer than it does itself.
fn next(count: u64, nanos: u64, low: u64) -> u64 {
    let double = count.saturating_mul(2).min(1 << 62);
    if nanos < UNSURE {
        // Sixteen times as many take less than a quarter of the trial time, where that is no very
        // short one.
        let more = 1 << (low / 4 / UNSURE).clamp(2, 16).ilog2();
        return count.saturating_mul(more).min(1 << 62);
    }
    let quarter = (u128::from(count) * u128::from(low) / u128::from(nanos) / 4).min(1 << 62) as u64;
    double.max(if quarter.is_power_of_two() { quarter } else { quarter.next_power_of_two() / 2 })
}

/// A step shorter than this says nothing of how long a longer one takes, nanoseconds: threads begin
/// at different times.
const UNSURE: u64 = 20_000;

/// A cold trial never wraps around: its second pass would be warm; nor does a buffered write: its
/// second pass would overwrite what no device has seen, and a file that grows is empty before each.
fn is_once(job: &Job) -> bool {
    // Only the first pass finds the CPU caches empty.
    let flushed = job.cpu_cache == CpuCache::Flush;
    flushed
        || job.appends()
        || !job.direct
            && (job.cache == Cache::Cold || (job.op == Op::Write && job.sync != Sync::Each))
}

/// How many passes that each begin anew fill the trial time, where one took so long, and so long
/// with its preparation. The preparations of a trial may take a few times as long as its work.
fn parts(nanos: u64, wall: u64, low: u64) -> u64 {
    let filled = low.div_ceil(nanos.max(1));
    let affordable = low.saturating_mul(PREPARING) / wall.max(1);
    filled.min(affordable).clamp(1, MOST_PARTS)
}

/// How many times the trial time a trial may take with all its preparations.
const PREPARING: u64 = 4;
/// A part starts threads and reads counters: a thousand of them show as much as a million.
const MOST_PARTS: u64 = 1000;

/// Whole passes that fill the trial time, where so many took so long.
fn repeats(passes: u64, nanos: u64, low: u64) -> u64 {
    (u128::from(passes) * u128::from(low))
        .div_ceil(nanos.max(1).into())
        .clamp(1, MOST_PASSES.into()) as u64
}

/// A peer takes a while to start: one run that ends at the trial time, or with the file, tells its
/// rate.
fn one_run(stage: &Stage, cell: &Cell, peer: &dyn Peer, low: u64) -> Result<Found, Failure> {
    let blocks = peer::round_to_blocks(&cell.job).blocks();
    let stage = Stage { limit: Some(std::time::Duration::from_nanos(low)), part: None, ..*stage };
    let trial = run(
        &stage,
        cell,
        &Amount { count: blocks, passes: 1, parts: 1, timed: Timed::None, nanos: 0 },
        &mut |_, _| {},
    )?
    .trial;
    // Below the step of its clock.
    let nanos = trial.nanos.max(1000);
    let whole = trial.ops >= blocks && nanos < low;
    let passes =
        if whole && peer.can_repeat() && !is_once(&cell.job) { repeats(1, nanos, low) } else { 1 };
    let fits = (u128::from(trial.ops) * u128::from(low) / u128::from(nanos))
        .clamp(1, blocks.max(1).into()) as u64;
    let count = if whole { blocks } else { fits };
    let takes = (u128::from(nanos) * u128::from(count) / u128::from(trial.ops.max(1))) as u64;
    Ok(Found {
        amount: Amount {
            count,
            passes,
            parts: 1,
            timed: Timed::None,
            nanos: takes.saturating_mul(passes),
        },
        whole,
    })
}

/// A fixed count is not calibrated: one run, cut after the trial time, warms it up and tells what
/// an operation costs.
fn warm_up(stage: &Stage, cell: &Cell, count: u64, low: u64) -> Result<Found, Failure> {
    let stage = Stage { limit: Some(std::time::Duration::from_nanos(low)), part: None, ..*stage };
    let took = run(
        &stage,
        cell,
        &Amount { count, passes: 1, parts: 1, timed: Timed::None, nanos: 0 },
        &mut |_, _| {},
    )?;
    let nanos = (took.per_op * count as f64 / f64::from(cell.job.threads.max(1))) as u64;
    Ok(Found {
        amount: Amount { count, passes: 1, parts: 1, timed: timed(cell, took.per_op), nanos },
        whole: false,
    })
}

/// A clock reading costs 10 to 20 ns: every operation is timed where that is below 1 %, else one in
/// 64.
pub(super) fn timed(cell: &Cell, per_op: f64) -> Timed {
    if per_op < 1500.0 {
        Timed::OneIn(64)
    } else if cell.job.xor && cell.job.op != Op::Seek {
        Timed::Precise
    } else {
        Timed::Chained
    }
}

/// A file of one byte is not read a hundred million times in one trial: each pass starts in a cold
/// function.
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
                assert!(
                    more.is_power_of_two() && more >= 2 * count,
                    "{count} -> {more} at {nanos}"
                );
                count = more;
            }
        }
    }

    const FILE: Bounds = Bounds { blocks: 16, low: 300_000_000, high: 600_000_000, once: false };

    /// What calibration ends with, and how often it tried, where a step of `count` operations and
    /// `passes` takes `nanos`.
    fn ends(bounds: &Bounds, nanos: impl Fn(u64, u64) -> u64) -> (Next, u32) {
        let (mut count, mut passes, mut tries) = (1, 1, 0);
        loop {
            tries += 1;
            match bounds.after(count, passes, nanos(count, passes)) {
                Next::Try { count: more, passes: again } => (count, passes) = (more, again),
                enough @ Next::Enough { .. } => return (enough, tries),
            }
        }
    }

    #[test]
    fn a_small_file_is_repeated_for_the_trial_time_though_its_first_pass_is_slow() {
        // 600 ns a pass, and 20 us for what every step does first; then 5 ms, an interruption of
        // the first whole pass.
        for slow in [0, 20_000, 5_000_000] {
            let (Next::Enough { count: 16, passes, nanos, whole: true }, tries) =
                ends(&FILE, |count, passes| {
                    if (count, passes) == (16, 1) {
                        slow + 600
                    } else {
                        20_000 + count * 600 / 16 * passes
                    }
                })
            else {
                panic!("not whole")
            };
            assert!(
                passes * 600 >= FILE.low * 99 / 100 && nanos.abs_diff(FILE.low) < FILE.low / 50,
                "{slow}: {passes} passes, {nanos} ns"
            );
            assert!(tries < 30, "{tries}");
        }
    }

    #[test]
    fn a_pass_that_is_long_enough_is_multiplied_at_once_and_one_that_must_not_come_again_is_not() {
        let slow = |count: u64, passes: u64| count * passes * 5_000_000;
        assert_eq!(
            ends(&FILE, slow).0,
            Next::Enough { count: 16, passes: 4, nanos: 320_000_000, whole: true }
        );
        let once = Bounds { once: true, ..FILE };
        assert_eq!(
            ends(&once, |_, _| 600).0,
            Next::Enough { count: 16, passes: 1, nanos: 600, whole: true }
        );
        let large = Bounds { blocks: 1 << 40, ..FILE };
        assert_eq!(
            ends(&large, |count, _| count * 300).0,
            Next::Enough { count: 1 << 20, passes: 1, nanos: 314_572_800, whole: false }
        );
    }

    #[test]
    fn parts_fill_the_trial_time_and_their_preparation_is_bounded() {
        assert_eq!(parts(1_000_000, 1_500_000, 100_000_000), 100);
        assert_eq!(parts(1_000_000, 40_000_000, 100_000_000), 10);
        assert_eq!(parts(1_000_000, 4_000_000_000, 100_000_000), 1);
        assert_eq!(parts(0, 0, 300_000_000), MOST_PARTS);
        assert_eq!(parts(200_000_000, 210_000_000, 100_000_000), 1);
    }

    #[test]
    fn a_clock_that_stands_still_ends_too() {
        let (Next::Enough { passes, .. }, _) = ends(&FILE, |_, _| 0) else { panic!("no end") };
        assert_eq!(passes, MOST_PASSES);
    }

    #[test]
    fn a_jump_stays_below_half_of_what_is_needed() {
        // 1024 operations took 1 ms; 300 ms need 307200: a quarter is 76800, the power of two below
        // it 65536.
        assert_eq!(next(1024, 1_000_000, 300_000_000), 65_536);
        assert_eq!(next(1024, 200_000_000, 300_000_000), 2048);
    }
}
