//! Calibrates a cell: the count grows from a few, or from what cells of other block sizes predict,
//! until one trial takes the trial time; beyond the end of the file, passes are repeated.
//!
//! A last step that did the work of a trial is the first trial. The others are not results.

use std::time::{Duration, Instant};

use super::cells::{Amount, Cell};
use super::error::Failure;
use super::executor::Executor;
use super::trial::{TrialStage, fixed_count, run, run_unobserved};
use super::trial_parts::TrialOutcome;
use crate::backend::meter::Timed;
use crate::peer::{self, Peer};
use crate::plan::{Cache, CpuCache, Job, Op, TrialTime};
use crate::record::{Sample, SampleParts, Visit};
use crate::sys::clock::monotonic_nanos;

/// The result of a calibration.
pub(super) struct Calibration {
    pub amount: Amount,
    /// The last step, where it is a trial of this amount.
    pub trial: Option<FirstTrial>,
    /// The first step.
    pub first: Option<Visit>,
}

impl Calibration {
    /// Returns the work of a trial that goes on for `time`, or until its only pass ends, timed as
    /// this one is.
    pub fn endless(self, job: &Job, time: Duration) -> Calibration {
        let amount = endless_amount(job, self.amount.timed, time);
        Calibration { amount, trial: None, first: self.first }
    }
}

/// Returns the work of a trial that goes on for `time`, or until its only pass ends.
pub(super) fn endless_amount(job: &Job, timed: Timed, time: Duration) -> Amount {
    /// More operations than any CPU does in a day.
    const ENOUGH: u64 = 1 << 47;
    let overwrites = job.op == Op::Write && !job.starts_fresh();
    let repeats = !needs_single_pass(job) || overwrites && job.cpu_cache != CpuCache::Flush;
    let passes = if repeats { ENOUGH / job.blocks().max(1) } else { 1 };
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Amount { timed, nanos, passes: passes.max(1), ..Amount::once(job.blocks()) }
}

/// A step of a calibration that is a trial, with its samples.
pub(super) struct FirstTrial {
    pub outcome: TrialOutcome,
    pub samples: Vec<(Sample, SampleParts)>,
}

/// Chooses the count, the passes and which operations are timed. `expected` is the time of one
/// operation that other cells suggest, nanoseconds.
pub(super) fn calibrate(
    stage: &TrialStage,
    cell: &Cell,
    time: TrialTime,
    expected: Option<f64>,
) -> Result<Calibration, Failure> {
    let low = u64::try_from(time.low.as_nanos()).unwrap_or(u64::MAX);
    let high = u64::try_from(time.high.as_nanos()).unwrap_or(u64::MAX);
    if let Some(count) = fixed_count(&cell.job) {
        return warm_up(stage, cell, count, low);
    }
    if let Executor::Peer(peer) = cell.executor {
        return calibrate_peer(stage, cell, peer, low);
    }
    let bounds = TrialBounds::new(cell, low, high);
    let threads = f64::from(cell.job.threads.max(1));
    let predicted = expected.and_then(|nanos| {
        let (count, passes) = bounds.first_step(nanos)?;
        Some(Amount { count, passes, timed: choose_timing(cell, nanos * threads), ..ONE })
    });
    // A first step that takes far longer than a trial ends early and is discarded.
    let mut limit = Some(Duration::from_nanos(low.saturating_mul(MAX_MISPREDICTION)));
    let mut step = predicted.unwrap_or_else(|| Amount::once(unpredicted_count(&cell.job)));
    let (mut observed, mut first) = (predicted.is_some(), None);
    loop {
        let (mut samples, begin) = (Vec::new(), monotonic_nanos());
        let limited = TrialStage { limit, ..*stage };
        let mut keep = |s: Sample, all: SampleParts| samples.push((s, all.lanes.into()));
        let run = if observed { run } else { run_unobserved };
        let outcome = run(&limited, cell, &step, &mut keep)?;
        let wall = monotonic_nanos() - begin;
        first = first.or(Some(visit(&outcome)));
        if outcome.trial.short {
            if limit.take().is_none() || (stage.cut)().is_some() {
                return keep_cut_step(stage, Amount { nanos: low, ..step }, outcome, samples);
            }
            (step, observed) = (Amount::once(bounds.group), false);
            continue;
        }
        limit = None;
        // `busy`, not the whole trial: many threads may take longer to start than one operation
        // takes.
        match bounds.next_step(step.count, step.passes, outcome.busy) {
            NextStep::Try { count, passes } => {
                let more = count as f64 * passes as f64 / (step.count as f64 * step.passes as f64);
                observed = bounds.may_be_trial(outcome.busy as f64 * more);
                let timed = choose_timing(cell, outcome.per_op);
                step = Amount { count, passes, timed, ..ONE };
            }
            NextStep::Enough { count, passes, nanos, whole } => {
                let parts =
                    if bounds.single_pass && whole { part_count(nanos, wall, low) } else { 1 };
                let nanos = nanos.saturating_mul(parts);
                let amount = Amount { count, passes, parts, timed: step.timed, nanos, whole };
                let last = FirstTrial { outcome, samples };
                return Ok(complete(stage, cell, (amount, step), last, first, observed));
            }
        }
    }
}

/// Returns a step that the end of the budget cut, as a trial: if it ran for the trial time, it
/// shows a slow cell.
fn keep_cut_step(
    stage: &TrialStage,
    amount: Amount,
    outcome: TrialOutcome,
    samples: Vec<(Sample, SampleParts)>,
) -> Result<Calibration, Failure> {
    let over = stage.role.deadline.is_some_and(|deadline| Instant::now() >= deadline);
    if !over
        || stage.role.together.is_some()
        || outcome.trial.ops == 0
        || outcome.trial.nanos < amount.nanos
    {
        return Err(Failure::Stopped);
    }
    let first = Some(visit(&outcome));
    Ok(Calibration { amount, trial: Some(FirstTrial { outcome, samples }), first })
}

/// A step that is expected to take less than this share of the trial time is not the last one, so
/// it needs no evidence.
const MIN_TRIAL_SHARE: f64 = 0.5;

/// Returns the calibration by its last step, which is a trial if it did the work of one and was
/// `observed` as one; of several ranks, trials end by time.
fn complete(
    stage: &TrialStage,
    cell: &Cell,
    (amount, step): (Amount, Amount),
    last: FirstTrial,
    first: Option<Visit>,
    observed: bool,
) -> Calibration {
    let same = Amount { nanos: step.nanos, whole: step.whole, ..amount } == step;
    if same && step.timed != Timed::None && observed && stage.role.together.is_none() {
        return Calibration { amount, trial: Some(last), first };
    }
    let timed = choose_timing(cell, last.outcome.per_op);
    Calibration { amount: Amount { timed, ..amount }, trial: None, first }
}

/// Returns the work and time of a step.
fn visit(outcome: &TrialOutcome) -> Visit {
    Visit { bytes: outcome.trial.bytes, ops: outcome.trial.ops, nanos: outcome.busy }
}

/// The smallest step.
const ONE: Amount = Amount::once(1);

/// Returns the operations of a first step without a prediction: more than one of small blocks,
/// since the threads of a step take longer to start than a small block to read.
fn unpredicted_count(job: &Job) -> u64 {
    (FIRST_BYTES / job.block.max(1))
        .clamp(1, MAX_FIRST_COUNT)
        .min(job.blocks().max(1))
        .max(group_of(job))
}

/// Returns the fewest operations with one commit in each lane, at most one pass; 1 without commits.
pub(super) fn group_of(job: &Job) -> u64 {
    let group = u64::from(job.writes_per_commit()).saturating_mul(job.threads.into());
    if job.commits() { group.clamp(1, job.blocks().max(1)) } else { 1 }
}

/// 16 blocks of 4 KiB.
const FIRST_BYTES: u64 = 64 << 10;
const MAX_FIRST_COUNT: u64 = 16;
/// A first step is cut after this many times the trial time.
const MAX_MISPREDICTION: u64 = 4;

/// The limits that a trial is fitted to.
struct TrialBounds {
    /// Operations of one pass over the file.
    blocks: u64,
    /// Minimum and maximum duration of a trial, nanoseconds.
    low: u64,
    high: u64,
    /// A second pass would measure something else.
    single_pass: bool,
    /// Operations that each lane needs for one commit, over all lanes; else 1.
    group: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum NextStep {
    Try { count: u64, passes: u64 },
    Enough { count: u64, passes: u64, nanos: u64, whole: bool },
}

impl TrialBounds {
    fn new(cell: &Cell, low: u64, high: u64) -> TrialBounds {
        let single_pass = cell.fresh_each_pass || needs_single_pass(&cell.job);
        TrialBounds {
            blocks: cell.job.blocks(),
            low,
            high,
            single_pass,
            group: group_of(&cell.job),
        }
    }

    /// Returns whether a step that was expected to take `nanos` may be a trial, and so needs the
    /// evidence of one.
    fn may_be_trial(&self, nanos: f64) -> bool {
        nanos >= self.low as f64 * MIN_TRIAL_SHARE
    }

    /// Returns the count and passes that take little more than the trial time, where an operation
    /// takes `nanos`; `None` if that is not a number of operations.
    fn first_step(&self, nanos: f64) -> Option<(u64, u64)> {
        let count = (self.target_nanos() as f64 / nanos).ceil();
        if !count.is_finite() || count < 1.0 {
            return None;
        }
        let count = self.whole_groups(count as u64);
        // Most of the file: the rest would be too short for a separate trial.
        if count < self.blocks / 4 * 3 {
            return Some((count, 1));
        }
        if self.single_pass {
            return Some((self.blocks, 1));
        }
        // Whole passes: one more takes long enough, so a margin is needed only for their scatter.
        let passes = (self.low as f64 * 1.03 / (nanos * self.blocks as f64)).ceil() as u64;
        Some((self.blocks, passes.clamp(1, MAX_PASSES)))
    }

    /// Returns the time that a step aims at: an eighth more than the trial time, as the rate of a
    /// longer step scatters.
    fn target_nanos(&self) -> u64 {
        self.low.saturating_add(self.low / 8).min(self.low / 2 + self.most() / 2)
    }

    /// Returns the longest time of a trial: the end of a range, or twice the trial time.
    fn most(&self) -> u64 {
        if self.low < self.high { self.high } else { self.low.saturating_mul(2) }
    }

    /// Returns at least `count` operations after which no lane has writes without their commit.
    fn whole_groups(&self, count: u64) -> u64 {
        count.max(1).div_ceil(self.group).saturating_mul(self.group)
    }

    /// Returns the step after one that took `nanos`.
    fn next_step(&self, mut count: u64, passes: u64, mut nanos: u64) -> NextStep {
        let TrialBounds { blocks, low, single_pass, group, .. } = *self;
        let most = self.most();
        if nanos > most && count > 1 && passes == 1 {
            // Neighbouring powers of two may lie on both sides of a narrow range, and a disk may be
            // faster for the first steps than for a trial.
            let middle = low / 2 + most / 2;
            count = (u128::from(count) * u128::from(middle) / u128::from(nanos))
                .clamp(u128::from(group.min(count)), u128::from(count)) as u64;
            count -= if count > group { count % group } else { 0 };
            nanos = middle;
        }
        if count < blocks {
            return if nanos >= low {
                NextStep::Enough { count, passes, nanos, whole: false }
            } else {
                let next = self.whole_groups(self.next_count(count, nanos)).min(blocks);
                NextStep::Try { count: next, passes }
            };
        }
        let whole = passes > 1 || nanos < low;
        if whole && !single_pass && nanos < low / 8 && passes < MAX_PASSES {
            // Too short to extrapolate: the first pass is the slowest, and one interruption would
            // decide.
            return NextStep::Try { count, passes: self.next_count(passes, nanos).min(MAX_PASSES) };
        }
        if passes > 1 && (low..low.saturating_add(low / 2)).contains(&nanos) {
            return NextStep::Enough { count, passes, nanos, whole };
        }
        let fitting = if whole && !single_pass { fill_with_passes(passes, nanos, low) } else { 1 };
        let takes = u128::from(nanos) * u128::from(fitting) / u128::from(passes);
        NextStep::Enough {
            count,
            passes: fitting,
            nanos: takes.try_into().unwrap_or(u64::MAX),
            whole,
        }
    }

    /// Returns the next count after `count` operations took `nanos`: all that fit, after a step of
    /// at least a sixteenth of the trial time; else a power of two up to a quarter of the predicted
    /// count, as first operations are often the slowest and sometimes the fastest, and each step is
    /// prepared as a trial is, which may take longer than the step.
    fn next_count(&self, count: u64, nanos: u64) -> u64 {
        let low = self.low;
        if nanos >= MIN_TELLING_NANOS && nanos >= low / 16 {
            let fits = u128::from(count) * u128::from(self.target_nanos()) / u128::from(nanos);
            return (fits.min(1 << 62) as u64).max(count.saturating_add(count.div_ceil(8)));
        }
        let double = count.saturating_mul(2).min(1 << 62);
        if nanos < MIN_TELLING_NANOS {
            // Up to 16 times as many stay below a quarter of the trial time, unless that is very
            // short.
            let more = 1 << (low / 4 / MIN_TELLING_NANOS).clamp(2, 16).ilog2();
            return count.saturating_mul(more).min(1 << 62);
        }
        let quarter =
            (u128::from(count) * u128::from(low) / u128::from(nanos) / 4).min(1 << 62) as u64;
        double.max(if quarter.is_power_of_two() {
            quarter
        } else {
            quarter.next_power_of_two() / 2
        })
    }
}

/// A shorter step, in nanoseconds, does not predict how long a longer one takes: threads begin at
/// different times.
const MIN_TELLING_NANOS: u64 = 20_000;

/// Returns whether a second pass would measure something else: in a cold trial it would be warm, a
/// buffered write would overwrite what no device has seen, and some files are created again before
/// each pass.
pub(super) fn needs_single_pass(job: &Job) -> bool {
    // Only the first pass finds the CPU caches flushed.
    let flushed = job.cpu_cache == CpuCache::Flush;
    flushed
        || job.starts_fresh()
        || !job.direct && (job.cache == Cache::Cold || (job.op == Op::Write && !job.commits()))
}

/// Returns how many separately prepared passes fill the trial time, where one took `nanos`, and
/// `wall` with its preparation. Bounds the time that all preparations take.
fn part_count(nanos: u64, wall: u64, low: u64) -> u64 {
    // The nearest number: a pass that is a little too short is a trial by itself.
    let filled = low.saturating_add(nanos / 2) / nanos.max(1);
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
    stage: &TrialStage,
    cell: &Cell,
    peer: &dyn Peer,
    low: u64,
) -> Result<Calibration, Failure> {
    let blocks = peer::round_to_blocks(&cell.job).blocks();
    let stage = TrialStage { limit: Some(Duration::from_nanos(low)), ..*stage };
    let outcome = run(&stage, cell, &Amount::once(blocks), &mut |_, _| {})?;
    let (first, trial) = (Some(visit(&outcome)), outcome.trial);
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
    let nanos = takes.saturating_mul(passes);
    let amount = Amount { passes, nanos, whole, ..Amount::once(count) };
    Ok(Calibration { amount, trial: None, first })
}

/// Warms up a cell with a fixed count by one run, cut at the trial time, and finds the time per
/// operation.
fn warm_up(stage: &TrialStage, cell: &Cell, count: u64, low: u64) -> Result<Calibration, Failure> {
    let stage = TrialStage { limit: Some(Duration::from_nanos(low)), ..*stage };
    let outcome = run_unobserved(&stage, cell, &Amount::once(count), &mut |_, _| {})?;
    let nanos = (outcome.per_op * count as f64 / f64::from(cell.job.threads.max(1))) as u64;
    let timed = choose_timing(cell, outcome.per_op);
    let amount = Amount { timed, nanos, ..Amount::once(count) };
    Ok(Calibration { amount, trial: None, first: Some(visit(&outcome)) })
}

/// Chooses which operations are timed. A clock reading costs 10 to 20 ns: all of them where that is
/// about 1 % of an operation or less, else one in 64.
pub(super) fn choose_timing(cell: &Cell, per_op: f64) -> Timed {
    // Each commit is kept, however fast, and so is each operation of a pace.
    if per_op < 1500.0 && !cell.job.commits() && !cell.job.is_paced() {
        Timed::OneIn(64)
    } else if cell.job.xor && cell.job.op != Op::Seek
        || cell.job.pattern.is_drawn() && !cell.job.commits()
    {
        // No latency has what happens between two operations: the XOR, or the draw of a block.
        Timed::Precise
    } else {
        Timed::Chained
    }
}

/// Limits the passes over a tiny file: each pass starts in a cold function.
const MAX_PASSES: u64 = 10_000_000;

/// Returns the expected time per operation of `job`, nanoseconds: between two calibrated block
/// sizes by a power law, outside of them the longest time they allow. A smaller block takes no
/// longer than a larger one, and a larger one no longer than as many smaller ones as it holds.
/// `None` without such a cell.
pub(super) fn nanos_per_operation<'a>(
    job: &Job,
    cells: impl Iterator<Item = &'a Cell>,
) -> Option<f64> {
    let (mut below, mut above) = (None::<(u64, f64)>, None::<(u64, f64)>);
    let mut other = job.clone();
    for cell in cells {
        let Some(nanos) = measured_nanos(cell) else { continue };
        let block = cell.job.block;
        other.block = block;
        if other != cell.job {
            continue;
        }
        if block < job.block && below.is_none_or(|(known, _)| known < block) {
            below = Some((block, nanos));
        } else if block > job.block && above.is_none_or(|(known, _)| known > block) {
            above = Some((block, nanos));
        }
    }
    let block = job.block as f64;
    match (below, above) {
        (Some((low, at_low)), Some((high, at_high))) => {
            let part = (block / low as f64).ln() / (high as f64 / low as f64).ln();
            Some(at_low * (at_high / at_low).powf(part))
        }
        (Some((low, nanos)), None) => Some(nanos * block / low as f64),
        (None, Some((_, nanos))) => Some(nanos),
        (None, None) => None,
    }
}

/// Returns the time per operation of all lanes together, by the calibration.
fn measured_nanos(cell: &Cell) -> Option<f64> {
    let amount = cell.amount?;
    let operations = amount.count as f64 * amount.passes as f64 * amount.parts as f64;
    Some(amount.nanos as f64 / operations).filter(|nanos| nanos.is_finite() && *nanos > 0.0)
}

#[cfg(test)]
mod tests;
