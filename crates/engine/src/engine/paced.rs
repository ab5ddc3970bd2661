//! The pace of a trial: its amount of work without a calibration, and its record.

use std::time::Duration;

use super::calibrate::{choose_timing, group_of, needs_single_pass};
use super::cells::{Amount, Cell};
use super::trial::fixed_count;
use super::workers::LaneResult;
use crate::backend::access_pattern::is_shared;
use crate::backend::pace::{LanePaced, PaceSpec, RateSpec};
use crate::plan::{Arrival, Job, PacedAmount};
use crate::record::Paced;
use crate::stats::Histogram;

/// Returns the amount of work under a rate, for trials that are to take `asked`; `None` without a
/// rate.
pub(super) fn paced_amount(cell: &Cell, asked: Duration) -> Option<Amount> {
    let job = &cell.job;
    let (rate, blocks) = (job.operations_per_second()?, job.blocks().max(1));
    let PacedAmount { operations, .. } = job.paced_amount(asked)?;
    let group = group_of(job);
    let wanted = fixed_count(job).unwrap_or(operations.div_ceil(group).saturating_mul(group));
    let single = cell.fresh_each_pass || needs_single_pass(job);
    let needed = needed_operations(job, wanted);
    let whole = wanted > blocks;
    let (mut count, mut passes, mut parts) = (needed.min(blocks), 1, 1);
    let mut operations = wanted;
    if job.count.is_some() {
        count = wanted;
    } else if single {
        operations = wanted.min(usable_blocks(job));
        parts = (wanted / operations).clamp(1, MAX_PARTS);
    } else if needed > blocks {
        // Each lane repeats its own blocks, of which some have one less.
        let lanes = lanes_with_work(job, blocks);
        let (own, each) = if is_shared(job) {
            (blocks, needed)
        } else {
            (blocks / lanes, needed.div_ceil(lanes))
        };
        passes = each.div_ceil(own.max(1));
    }
    let nanos = (operations as f64 / rate * 1e9).round() as u64;
    let nanos = nanos.max(1).saturating_mul(parts);
    let timed = choose_timing(cell, f64::INFINITY);
    Some(Amount { count, passes, parts, timed, nanos, whole })
}

/// Separately prepared passes of a trial: how long their preparations take is unknown.
const MAX_PARTS: u64 = 4;

/// Returns the pace of the trials of a job, or of each of their parts; `None` at full speed.
pub(super) fn pace_of(job: &Job, amount: &Amount, seed: u64) -> Option<PaceSpec> {
    let Some(per_second) = job.operations_per_second() else {
        return (job.think > 0).then_some(PaceSpec::Think(job.think));
    };
    let nanos = amount.nanos / amount.parts.max(1);
    let intended = (per_second * nanos as f64 / 1e9).round() as u64;
    let work = amount.count.saturating_mul(amount.passes);
    Some(PaceSpec::Rate(RateSpec {
        per_second,
        arrival: job.arrival,
        nanos,
        by_work: work < needed_operations(job, intended),
        seed,
    }))
}

/// Returns the number of lanes that have blocks, where a pass has `count` operations.
pub(super) fn lanes_with_work(job: &Job, count: u64) -> u64 {
    let threads = u64::from(job.threads.max(1));
    if is_shared(job) { threads } else { threads.min(count.max(1)) }
}

/// Returns the operations that lanes must have so that none runs out of them before the time is
/// over, where `intended` are, or are to be expected.
fn needed_operations(job: &Job, intended: u64) -> u64 {
    let lanes = lanes_with_work(job, intended);
    let spare = match job.arrival {
        Arrival::Steady => 0,
        // Six standard deviations of each lane.
        Arrival::Poisson => {
            let deviation = (intended as f64 / lanes as f64).sqrt();
            (6.0 * deviation).ceil() as u64 + 16
        }
    };
    let all = intended.saturating_add(spare.saturating_mul(lanes));
    all.saturating_add(if is_shared(job) { unclaimed(job, all) } else { 0 })
}

/// Returns the most operations that lanes may have claimed and not begun, of `all`.
fn unclaimed(job: &Job, all: u64) -> u64 {
    all / 15 + u64::from(job.threads.max(1))
}

/// Returns the operations of one pass that are certain to find a block when they are due.
fn usable_blocks(job: &Job) -> u64 {
    let blocks = job.blocks().max(1);
    if is_shared(job) { blocks.saturating_sub(unclaimed(job, blocks)).max(1) } else { blocks }
}

/// Returns the record of the pace, and the response times if there are any; `None` without a pace.
pub(super) fn merge_paced(lanes: &mut [LaneResult]) -> Option<(Paced, Option<Histogram>)> {
    let mut of_lanes = lanes.iter_mut().filter_map(|lane| lane.tally.paced.as_deref_mut());
    let first = of_lanes.next()?;
    let (mut response, mut wakes) = (first.response.take(), std::mem::take(&mut first.wakes));
    let mut all = record_of(first);
    for lane in of_lanes {
        all.join(&record_of(lane));
        wakes.merge(&lane.wakes);
        if let (Some(all), Some(more)) = (&mut response, &lane.response) {
            all.merge(more);
        }
    }
    let sum = |times: &Histogram| (times.mean() * times.count() as f64) as u64;
    all.response_nanos = response.as_ref().map_or(0, sum);
    (all.wake_p50, all.wake_p99) = (wakes.quantile(0.5), wakes.quantile(0.99));
    Some((all, response))
}

fn record_of(lane: &LanePaced) -> Paced {
    Paced {
        intended: lane.started.saturating_add(lane.unstarted),
        unstarted: lane.unstarted,
        held: lane.held,
        held_nanos: lane.held_nanos,
        most_late: lane.most_late,
        start_lag: lane.start_lag,
        spin_nanos: lane.spin_nanos,
        waits: lane.waits,
        ..Paced::default()
    }
}

/// Returns whether the pace ended each lane that had work.
pub(super) fn is_complete(lanes: &[LaneResult]) -> bool {
    let complete = |lane: &LaneResult| lane.tally.paced.as_ref().is_some_and(|of| of.complete);
    lanes.iter().all(complete)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::backend::access_pattern::Share;
    use crate::backend::testing;
    use crate::engine::executor::Executor;
    use crate::plan::{Cache, Choice, Op, Rate, Sync};

    fn cell(job: Job) -> Cell {
        let executor = Executor::from_choice(&job.backend).unwrap();
        Cell::new(job, executor, false)
    }

    fn rated(per_second: u64, blocks: u64) -> Job {
        let rate = Some(Rate::Operations(per_second));
        Job {
            rate,
            span: blocks * 4096,
            block: 4096,
            count: None,
            cache: Cache::Warm,
            ..testing::job()
        }
    }

    #[test]
    fn rates_need_no_calibration() {
        let (asked, blocks) = (Duration::from_millis(300), 100_000);
        let amount = |change: fn(&mut Job)| {
            let mut job = rated(10_000, blocks);
            change(&mut job);
            let amount = paced_amount(&cell(job.clone()), asked).unwrap();
            let Some(PaceSpec::Rate(rate)) = pace_of(&job, &amount, 5) else { panic!("no rate") };
            assert!(amount.timed.every() == 1 && rate.seed == 5);
            assert_eq!(rate.nanos, amount.nanos / amount.parts);
            (amount.count, amount.passes, amount.parts, amount.nanos / 1_000_000, rate.by_work)
        };
        assert_eq!(amount(|_| {}), (3000, 1, 1, 300, false));
        // Ten operations at least.
        assert_eq!(amount(|job| job.rate = Some(Rate::Operations(10))), (10, 1, 1, 1000, false));
        assert_eq!(amount(|job| job.count = Some(500)), (500, 1, 1, 50, false));
        assert_eq!(amount(|job| job.count = Some(0)), (blocks, 1, 1, 10_000, false));
        // Random arrivals have some blocks to spare, but no more than were asked for.
        assert_eq!(amount(|job| job.arrival = Arrival::Poisson), (3345, 1, 1, 300, false));
        let counted = |job: &mut Job| (job.arrival, job.count) = (Arrival::Poisson, Some(500));
        assert_eq!(amount(counted), (500, 1, 1, 50, true));
        // A small file is read again, but not where that measures something else.
        assert_eq!(amount(|job| job.span = 700 * 4096), (700, 5, 1, 300, false));
        let cold = |job: &mut Job| (job.span, job.cache) = (700 * 4096, Cache::Cold);
        assert_eq!(amount(cold), (700, 1, 4, 280, false));
        // Whole groups of commits in each lane.
        let commits = |job: &mut Job| {
            (job.op, job.sync, job.sync_every, job.threads) = (Op::Write, Sync::Fdatasync, 7, 3);
        };
        assert_eq!(amount(commits).0, 3003);
        let job = Job { rate: None, ..rated(1, 10) };
        assert_eq!(paced_amount(&cell(job.clone()), asked), None);
        assert_eq!(pace_of(&job, &Amount::once(1), 0), None);
        assert_eq!(
            pace_of(&Job { think: 9, ..job }, &Amount::once(1), 0),
            Some(PaceSpec::Think(9))
        );
    }

    proptest! {
        #[test]
        fn lanes_have_enough_work(
            per_second in 1u64..2_000_000,
            millis in 1u64..3000,
            blocks in 1u64..5000,
            threads in 1u32..9,
            cold: bool,
            shared: bool,
            random: bool,
        ) {
            let job = Job {
                threads,
                backend: Choice::parse(if shared { "pread+shared" } else { "pread" }).unwrap(),
                cache: if cold { Cache::Cold } else { Cache::Warm },
                arrival: if random { Arrival::Poisson } else { Arrival::Steady },
                ..rated(per_second, blocks)
            };
            let amount = paced_amount(&cell(job.clone()), Duration::from_millis(millis)).unwrap();
            let Some(PaceSpec::Rate(rate)) = pace_of(&job, &amount, 0) else { panic!("no rate") };
            let count = amount.count.min(blocks);
            prop_assert!(count > 0 && amount.nanos > 0 && (!cold || amount.passes == 1));
            if rate.by_work {
                prop_assert!(random || shared);
                return Ok(());
            }
            let intended = (rate.per_second * rate.nanos as f64 / 1e9).round() as u64;
            let lanes = lanes_with_work(&job, count);
            if shared {
                prop_assert!(count * amount.passes >= intended + u64::from(threads));
                return Ok(());
            }
            for lane in 0..threads {
                let work = Share::for_lane(&job, lane, count, 0).quota * amount.passes;
                let k = u64::from(lane);
                let part = intended / lanes + u64::from(k < intended % lanes);
                let own = if k < lanes { part + 16 * u64::from(random) } else { 0 };
                prop_assert!(work >= own, "lane {lane} has {work}, not {own}");
            }
        }
    }
}
