//! The amount of work of a trial under a rate, without a calibration.

use std::time::Duration;

use super::calibrate::{choose_timing, group_of, needs_single_pass};
use super::cells::{Amount, Cell};
use super::pace_of_lanes::{lanes_with_work, needed_operations, unclaimed};
use super::trial::fixed_count;
use crate::backend::access_pattern::is_shared;
use crate::plan::{Job, PacedAmount};

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

/// Returns the operations of one pass that are certain to find a block when they are due.
fn usable_blocks(job: &Job) -> u64 {
    let blocks = job.blocks().max(1);
    if is_shared(job) { blocks.saturating_sub(unclaimed(job, blocks)).max(1) } else { blocks }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::backend::access_pattern::Share;
    use crate::backend::pace::PaceSpec;
    use crate::backend::testing;
    use crate::engine::executor::Executor;
    use crate::engine::pace_of_lanes::pace_of;
    use crate::plan::{Arrival, Cache, Choice, Op, Rate, Sync};

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
        // As many arrive at random.
        assert_eq!(amount(|job| job.arrival = Arrival::Poisson), (3000, 1, 1, 300, false));
        let counted = |job: &mut Job| (job.arrival, job.count) = (Arrival::Poisson, Some(500));
        assert_eq!(amount(counted), (500, 1, 1, 50, false));
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
                prop_assert!(shared);
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
                let own = if k < lanes { part } else { 0 };
                prop_assert!(work >= own, "lane {lane} has {work}, not {own}");
            }
        }
    }
}
