//! Calibrates a cell: the count grows from 1 until one trial takes the trial time; beyond the end
//! of the file, passes are repeated.
//!
//! The steps are not results; the last one has warmed the cell up.

use super::cells::{Amount, Cell};
use super::error::Failure;
use super::executor::Executor;
use super::trial::{Stage, fixed_count, run};
use crate::backend::meter::Timed;
use crate::peer::{self, Peer};
use crate::plan::{Cache, CpuCache, Job, Op, Sync, TrialTime};
use crate::sys::clock::monotonic_nanos;

/// The result of a calibration.
pub(super) struct Calibration {
    pub amount: Amount,
    /// The file ended before the trial time was reached.
    pub whole: bool,
}

/// Chooses the count, the passes and which operations are timed.
pub(super) fn calibrate(
    stage: &Stage,
    cell: &Cell,
    time: TrialTime,
) -> Result<Calibration, Failure> {
    let low = u64::try_from(time.low.as_nanos()).unwrap_or(u64::MAX);
    let high = u64::try_from(time.high.as_nanos()).unwrap_or(u64::MAX);
    if let Some(count) = fixed_count(&cell.job) {
        return warm_up(stage, cell, count, low);
    }
    if let Executor::Peer(peer) = cell.executor {
        return calibrate_peer(stage, cell, peer, low);
    }
    let single_pass = cell.fresh_each_pass || needs_single_pass(&cell.job);
    let bounds = Bounds { blocks: cell.job.blocks(), low, high, single_pass };
    let mut count = 1;
    let mut passes = 1;
    loop {
        let step = Amount { count, passes, parts: 1, timed: Timed::None, nanos: 0 };
        let begin = monotonic_nanos();
        let outcome = run(stage, cell, &step, &mut |_, _| {})?;
        let wall = monotonic_nanos() - begin;
        if outcome.trial.short {
            return Err(Failure::Stopped);
        }
        // `busy`, not the whole trial: many threads may take longer to start than one operation
        // takes.
        match bounds.next_step(count, passes, outcome.busy) {
            Step::Try { count: more, passes: again } => (count, passes) = (more, again),
            Step::Enough { count, passes, nanos, whole } => {
                let parts =
                    if bounds.single_pass && whole { part_count(nanos, wall, low) } else { 1 };
                let amount = Amount {
                    count,
                    passes,
                    parts,
                    timed: choose_timing(cell, outcome.per_op),
                    nanos: nanos.saturating_mul(parts),
                };
                return Ok(Calibration { amount, whole });
            }
        }
    }
}

/// The limits that a trial is fitted to.
struct Bounds {
    /// Operations of one pass over the file.
    blocks: u64,
    /// Minimum and maximum duration of a trial, nanoseconds.
    low: u64,
    high: u64,
    /// A second pass would measure something else.
    single_pass: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Try { count: u64, passes: u64 },
    Enough { count: u64, passes: u64, nanos: u64, whole: bool },
}

impl Bounds {
    /// Returns what follows a step that took `nanos`.
    fn next_step(&self, mut count: u64, passes: u64, mut nanos: u64) -> Step {
        let Bounds { blocks, low, high, single_pass } = *self;
        if nanos > high && low < high && count > 1 && passes == 1 {
            // Neighbouring powers of two may lie on both sides of a narrow range.
            let middle = low / 2 + high / 2;
            count = (u128::from(count) * u128::from(middle) / u128::from(nanos))
                .clamp(1, u128::from(count)) as u64;
            nanos = middle;
        }
        if count < blocks {
            return if nanos >= low {
                Step::Enough { count, passes, nanos, whole: false }
            } else {
                Step::Try { count: next_count(count, nanos, low).min(blocks), passes }
            };
        }
        let whole = passes > 1 || nanos < low;
        if whole && !single_pass && nanos < low / 8 && passes < MAX_PASSES {
            // Too short to extrapolate: the first pass is the slowest, and one interruption would
            // decide.
            return Step::Try { count, passes: next_count(passes, nanos, low).min(MAX_PASSES) };
        }
        let fitting = if whole && !single_pass { fill_with_passes(passes, nanos, low) } else { 1 };
        let takes = u128::from(nanos) * u128::from(fitting) / u128::from(passes);
        Step::Enough { count, passes: fitting, nanos: takes.try_into().unwrap_or(u64::MAX), whole }
    }
}

/// Returns the next power of two to try. Skips steps that are sure to be too short, up to a quarter
/// of what the last step predicts: first operations are often the slowest and sometimes the
/// fastest, and each step is prepared as a trial is, which may take longer than the step.
fn next_count(count: u64, nanos: u64, low: u64) -> u64 {
    let double = count.saturating_mul(2).min(1 << 62);
    if nanos < MIN_TELLING_NANOS {
        // Up to 16 times as many stay below a quarter of the trial time, unless that is very short.
        let more = 1 << (low / 4 / MIN_TELLING_NANOS).clamp(2, 16).ilog2();
        return count.saturating_mul(more).min(1 << 62);
    }
    let quarter = (u128::from(count) * u128::from(low) / u128::from(nanos) / 4).min(1 << 62) as u64;
    double.max(if quarter.is_power_of_two() { quarter } else { quarter.next_power_of_two() / 2 })
}

/// A shorter step, in nanoseconds, does not predict how long a longer one takes: threads begin at
/// different times.
const MIN_TELLING_NANOS: u64 = 20_000;

/// Returns whether a second pass would measure something else: in a cold trial it would be warm, a
/// buffered write would overwrite what no device has seen, and an appended file is empty before
/// each pass.
fn needs_single_pass(job: &Job) -> bool {
    // Only the first pass finds the CPU caches flushed.
    let flushed = job.cpu_cache == CpuCache::Flush;
    flushed
        || job.appends()
        || !job.direct
            && (job.cache == Cache::Cold || (job.op == Op::Write && job.sync != Sync::Each))
}

/// Returns how many separately prepared passes fill the trial time, where one took `nanos`, and
/// `wall` with its preparation. Bounds the time that all preparations take.
fn part_count(nanos: u64, wall: u64, low: u64) -> u64 {
    let filled = low.div_ceil(nanos.max(1));
    let affordable = low.saturating_mul(MAX_PREPARATION_FACTOR) / wall.max(1);
    filled.min(affordable).clamp(1, MAX_PARTS)
}

/// A trial with all its preparations may take this many times the trial time.
const MAX_PREPARATION_FACTOR: u64 = 4;
/// Each part starts threads and reads counters, and a thousand of them show as much as a million.
const MAX_PARTS: u64 = 1000;

/// Returns the number of passes that fill the trial time, where `passes` took `nanos`.
fn fill_with_passes(passes: u64, nanos: u64, low: u64) -> u64 {
    (u128::from(passes) * u128::from(low)).div_ceil(nanos.max(1).into()).clamp(1, MAX_PASSES.into())
        as u64
}

/// Calibrates a peer, which takes a while to start, by one run that ends at the trial time or with
/// the file.
fn calibrate_peer(
    stage: &Stage,
    cell: &Cell,
    peer: &dyn Peer,
    low: u64,
) -> Result<Calibration, Failure> {
    let blocks = peer::round_to_blocks(&cell.job).blocks();
    let stage = Stage { limit: Some(std::time::Duration::from_nanos(low)), part: None, ..*stage };
    let trial = run(
        &stage,
        cell,
        &Amount { count: blocks, passes: 1, parts: 1, timed: Timed::None, nanos: 0 },
        &mut |_, _| {},
    )?
    .trial;
    // At least the resolution of its clock.
    let nanos = trial.nanos.max(1000);
    let whole = trial.ops >= blocks && nanos < low;
    let passes = if whole && peer.can_repeat() && !needs_single_pass(&cell.job) {
        fill_with_passes(1, nanos, low)
    } else {
        1
    };
    let fits = (u128::from(trial.ops) * u128::from(low) / u128::from(nanos))
        .clamp(1, blocks.max(1).into()) as u64;
    let count = if whole { blocks } else { fits };
    let takes = (u128::from(nanos) * u128::from(count) / u128::from(trial.ops.max(1))) as u64;
    Ok(Calibration {
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

/// Warms up a cell with a fixed count by one run, cut at the trial time, and finds the time per
/// operation.
fn warm_up(stage: &Stage, cell: &Cell, count: u64, low: u64) -> Result<Calibration, Failure> {
    let stage = Stage { limit: Some(std::time::Duration::from_nanos(low)), part: None, ..*stage };
    let outcome = run(
        &stage,
        cell,
        &Amount { count, passes: 1, parts: 1, timed: Timed::None, nanos: 0 },
        &mut |_, _| {},
    )?;
    let nanos = (outcome.per_op * count as f64 / f64::from(cell.job.threads.max(1))) as u64;
    Ok(Calibration {
        amount: Amount {
            count,
            passes: 1,
            parts: 1,
            timed: choose_timing(cell, outcome.per_op),
            nanos,
        },
        whole: false,
    })
}

/// Chooses which operations are timed. A clock reading costs 10 to 20 ns: all of them where that is
/// about 1 % of an operation or less, else one in 64.
pub(super) fn choose_timing(cell: &Cell, per_op: f64) -> Timed {
    if per_op < 1500.0 {
        Timed::OneIn(64)
    } else if cell.job.xor && cell.job.op != Op::Seek {
        Timed::Precise
    } else {
        Timed::Chained
    }
}

/// Limits the passes over a tiny file: each pass starts in a cold function.
const MAX_PASSES: u64 = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stay_powers_of_two_and_always_grow() {
        for nanos in [0, 1, 19_999, 20_000, 1_000_000, 299_999_999] {
            let mut count = 1;
            while count < 1 << 60 {
                let more = next_count(count, nanos, 300_000_000);
                assert!(
                    more.is_power_of_two() && more >= 2 * count,
                    "{count} -> {more} at {nanos}"
                );
                count = more;
            }
        }
    }

    const FILE: Bounds =
        Bounds { blocks: 16, low: 300_000_000, high: 600_000_000, single_pass: false };

    /// Returns the last step of a calibration and the number of steps, where a step of `count`
    /// operations and `passes` takes `nanos`.
    fn run_steps(bounds: &Bounds, nanos: impl Fn(u64, u64) -> u64) -> (Step, u32) {
        let (mut count, mut passes, mut tries) = (1, 1, 0);
        loop {
            tries += 1;
            match bounds.next_step(count, passes, nanos(count, passes)) {
                Step::Try { count: more, passes: again } => (count, passes) = (more, again),
                enough @ Step::Enough { .. } => return (enough, tries),
            }
        }
    }

    #[test]
    fn a_small_file_is_repeated_for_the_trial_time_though_its_first_pass_is_slow() {
        // 600 ns a pass, and 20 us for what every step does first; then 5 ms, an interruption of
        // the first whole pass.
        for slow in [0, 20_000, 5_000_000] {
            let (Step::Enough { count: 16, passes, nanos, whole: true }, tries) =
                run_steps(&FILE, |count, passes| {
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
    fn a_long_pass_is_extrapolated_at_once_and_a_single_pass_is_never_repeated() {
        let slow = |count: u64, passes: u64| count * passes * 5_000_000;
        assert_eq!(
            run_steps(&FILE, slow).0,
            Step::Enough { count: 16, passes: 4, nanos: 320_000_000, whole: true }
        );
        let once = Bounds { single_pass: true, ..FILE };
        assert_eq!(
            run_steps(&once, |_, _| 600).0,
            Step::Enough { count: 16, passes: 1, nanos: 600, whole: true }
        );
        let large = Bounds { blocks: 1 << 40, ..FILE };
        assert_eq!(
            run_steps(&large, |count, _| count * 300).0,
            Step::Enough { count: 1 << 20, passes: 1, nanos: 314_572_800, whole: false }
        );
    }

    #[test]
    fn parts_fill_the_trial_time_and_their_preparation_is_bounded() {
        assert_eq!(part_count(1_000_000, 1_500_000, 100_000_000), 100);
        assert_eq!(part_count(1_000_000, 40_000_000, 100_000_000), 10);
        assert_eq!(part_count(1_000_000, 4_000_000_000, 100_000_000), 1);
        assert_eq!(part_count(0, 0, 300_000_000), MAX_PARTS);
        assert_eq!(part_count(200_000_000, 210_000_000, 100_000_000), 1);
    }

    #[test]
    fn calibration_ends_even_if_the_clock_stands_still() {
        let (Step::Enough { passes, .. }, _) = run_steps(&FILE, |_, _| 0) else { panic!("no end") };
        assert_eq!(passes, MAX_PASSES);
    }

    #[test]
    fn a_jump_stays_below_half_of_what_is_needed() {
        // 1024 operations took 1 ms; 300 ms need 307200: a quarter is 76800, the power of two below
        // it 65536.
        assert_eq!(next_count(1024, 1_000_000, 300_000_000), 65_536);
        assert_eq!(next_count(1024, 200_000_000, 300_000_000), 2048);
    }
}
