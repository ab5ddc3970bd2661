//! Which cells the budget of a plan will probably not reach: told before the run.

use std::time::Duration;

use super::schedule::by_state;
use super::way::info;
use crate::experiment::{FIRST_ROUND, LEVELS, PEER_START, SHORTEST};
use crate::plan::{Cache, CpuCache, Info, Job, Op, Plan};
use crate::units::show_wait;

/// What an ordinary disk and memory give, bytes per second: whoever has a faster disk is told too
/// little.
const DISK: f64 = 300e6;
const MEMORY: f64 = 3e9;
/// What an operation costs, nanoseconds.
const CALL: f64 = 400.0;
/// The cheapest system call, nanoseconds.
const CHEAPEST_CALL: f64 = 100.0;

/// Steps of a calibration: each is prepared as a trial is.
const STEPS: f64 = 8.0;
/// What is read to warm a file that is cached already, and to push out what the CPU caches hold,
/// with an L3 of 32 MiB: bytes.
const WARMED: f64 = 64.0 * 1_048_576.0;
const PUSHED: f64 = 128.0 * 1_048_576.0;
/// Each line of a cached file is flushed twice, 5 ns each: bytes per second.
const FLUSHING: f64 = 64.0 / 10e-9;

/// What of a plan its first round has no time for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    /// Indexes into the cells of the plan, in its order.
    pub cells: Vec<usize>,
    pub of: usize,
    /// A budget with room for all of them.
    pub needs: Duration,
    budget: Duration,
    /// Those that are named, with a count of their own.
    named: Vec<String>,
}

/// Cells that are named: more do not fit in a line.
const NAMED: usize = 3;

impl Missed {
    /// `the budget of 50 s probably reaches 9 of 14 cells at 300 MB/s from the disk; 5 would have
    /// no result (read 4 KiB cold, ...)`
    pub fn text(&self) -> String {
        let more = if self.cells.len() > self.named.len() { ", ..." } else { "" };
        format!(
            "the budget of {} probably reaches {} of {} cells at 300 MB/s from the disk; {} would have no result ({}{more}); \
             --budget {}s has room for all",
            show_wait(self.budget),
            self.of - self.cells.len(),
            self.of,
            self.cells.len(),
            self.named.join(", "),
            self.needs.as_secs() + 1
        )
    }
}

/// What the first round will not reach; `None`: all of it fits. What is fitted into the budget
/// while it runs always does.
pub fn missed(plan: &Plan) -> Option<Missed> {
    let cost = |job: &Job| seconds(job, plan);
    let before = if plan.experiment == LEVELS { plan.budget.as_secs_f64() / 8.0 } else { 0.0 };
    let budget = plan.budget.as_secs_f64();
    let all: f64 = plan.cells.iter().map(cost).sum();
    if plan.pick || before + all <= budget {
        return None;
    }
    let (mut spent, mut late, mut missed) = (before, Vec::new(), Vec::new());
    let states = by_state(&plan.cells, plan.seed, 1);
    for (after, state) in (0..states.len()).rev().zip(states) {
        // As the run shares it out: what is left when this state begins.
        let others = (budget - spent).max(0.0) / (after + 1) as f64 * after as f64;
        for index in state {
            match budget - spent < others {
                true => late.push(index),
                false => visit(index, &mut spent, cost(&plan.cells[index]), budget, &mut missed),
            }
        }
    }
    late.into_iter()
        .for_each(|index| visit(index, &mut spent, cost(&plan.cells[index]), budget, &mut missed));
    missed.sort_unstable();
    if missed.is_empty() {
        return None;
    }
    let named = missed.iter().take(NAMED).map(|index| named(&plan.cells[*index])).collect();
    let needs = Duration::from_secs_f64((before + all).min(366.0 * 86_400.0));
    Some(Missed { cells: missed, of: plan.cells.len(), needs, budget: plan.budget, named })
}

fn visit(index: usize, spent: &mut f64, cost: f64, budget: f64, missed: &mut Vec<usize>) {
    *spent += cost;
    if *spent > budget {
        missed.push(index);
    }
}

fn named(job: &Job) -> String {
    match job.count {
        None | Some(0) => job.label(),
        Some(count) => format!("{} x {count}", job.label()),
    }
}

/// Seconds that the first round gives to a cell.
fn seconds(job: &Job, plan: &Plan) -> f64 {
    // A fitted time shrinks during the run, as far as it can.
    let time = if plan.fitted { SHORTEST } else { plan.trial_time.low }.as_secs_f64();
    let rate =
        if job.cache == Cache::Cold || job.direct || job.op == Op::Write { DISK } else { MEMORY };
    let call = match info(&job.backend).map(|info| info.relative_cost) {
        Some(cost) if cost > Info::USUAL_COST => cost * CHEAPEST_CALL,
        _ => CALL,
    };
    let bytes = if job.op != Op::Seek { job.block as f64 / rate } else { 0.0 };
    let each = call / 1e9 + bytes;
    let start = if job.backend.peer { 2.0 * PEER_START.as_secs_f64() } else { 0.0 };
    start
        + match job.count {
            // Calibration and trial do one operation at least.
            None => (time * FIRST_ROUND).max(2.0 * each) + STEPS * preparing(job),
            Some(count) => {
                let count = if count == 0 { job.blocks() } else { count };
                let whole = count as f64 * each / f64::from(job.threads.max(1)).min(2.0);
                // The run that warms it up is cut at the trial time.
                whole + whole.min(time) + 2.0 * preparing(job)
            }
        }
}

/// Seconds in which the caches are brought into the state of a trial.
fn preparing(job: &Job) -> f64 {
    let (warm, span) = (job.cache == Cache::Warm, job.span as f64);
    let warming = if warm { span.min(WARMED) / MEMORY } else { 0.0 };
    let flushing = match job.cpu_cache {
        CpuCache::Keep => 0.0,
        CpuCache::Flush if warm && !job.direct => span / FLUSHING,
        CpuCache::Flush => PUSHED / MEMORY,
    };
    warming + flushing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::TargetSpec;

    fn plan(cells: Vec<Job>, budget: u64) -> Plan {
        Plan {
            cells,
            budget: Duration::from_secs(budget),
            ..Plan::plain("sweep", TargetSpec::None)
        }
    }

    #[test]
    fn whole_passes_that_do_not_fit_are_told_with_a_budget_that_has_room() {
        let pass = |at: u64| Job {
            block: 1 << at,
            span: 3 << 30,
            count: Some(0),
            cache: Cache::Cold,
            ..testing::job()
        };
        let raw: Vec<Job> = (16..24).map(pass).collect();
        // 3 GiB at 300 MB/s are 10.7 s, eight times.
        let told = missed(&plan(raw.clone(), 50)).unwrap();
        assert!((3..=5).contains(&told.cells.len()) && told.of == 8, "{told:?}");
        assert!(
            !told.cells.contains(&0) && !told.cells.contains(&7),
            "the ends come first: {told:?}"
        );
        assert!((80..100).contains(&told.needs.as_secs()), "{told:?}");
        let named = format!("{} would have no result (read 128 KiB cold, ", told.cells.len());
        assert!(
            told.text().contains(&named)
                && told.text().contains(&format!("--budget {}s", told.needs.as_secs() + 1)),
            "{}",
            told.text()
        );
        assert_eq!(missed(&plan(raw, told.needs.as_secs() + 1)), None);
    }

    #[test]
    fn cells_that_differ_in_their_count_are_named_with_it() {
        let job = |count: u64| Job {
            count: Some(count),
            span: 1 << 40,
            cache: Cache::Cold,
            ..testing::job()
        };
        let told = missed(&plan(vec![job(1 << 10), job(1 << 30)], 5)).unwrap();
        assert_eq!(told.cells, [1], "a small count is reached, and named is the other");
        assert!(told.text().contains("(read 4 KiB cold x 1073741824); "), "{}", told.text());
    }

    #[test]
    fn trials_of_a_time_that_was_asked_for_are_counted_and_fitted_ones_fit() {
        let cells: Vec<Job> = (0..28u64)
            .map(|at| Job { block: 1 << at, span: 1 << 28, count: None, ..testing::job() })
            .collect();
        let mut asked = plan(cells, 60);
        asked.trial_time = crate::plan::TrialTime::of(Duration::from_secs(5));
        let told = missed(&asked).unwrap();
        assert_eq!((told.cells.len(), told.needs.as_secs()), (25, 467));
        asked.fitted = true;
        assert_eq!(missed(&asked), None);
        // However short the trials get.
        asked.budget = Duration::from_millis(20);
        assert!(missed(&asked).unwrap().cells.len() > 14);
    }

    #[test]
    fn preparations_that_alone_take_longer_than_the_budget_are_told() {
        let job = |at: u64, cache| Job {
            block: 1 << at,
            span: 1 << 29,
            cache,
            cpu_cache: CpuCache::Flush,
            count: None,
            ..testing::job()
        };
        let cells = [Cache::Cold, Cache::Warm]
            .map(|cache| (0..28).map(move |at| job(at, cache)))
            .into_iter()
            .flatten()
            .collect();
        let mut fitted = plan(cells, 20);
        fitted.fitted = true;
        let told = missed(&fitted).unwrap();
        assert!((10..50).contains(&told.cells.len()), "{told:?}");
        // A cold file needs no reading; its caches are pushed out.
        assert!((20..60).contains(&told.needs.as_secs()), "{told:?}");
        fitted.budget = told.needs + Duration::from_secs(1);
        assert_eq!(missed(&fitted), None);
    }
}
