//! Predicts, before the run, which cells the budget of a plan will probably not reach.

use std::time::Duration;

use super::LEVELS;
use super::schedule::order_of_round;
use super::sweep::{self, FIRST_ROUND, LATER_ROUND, MIN_TRIAL_TIME, PEER_START};
use crate::catalog::info;
use crate::plan::{Cache, CpuCache, Info, Job, Op, Plan, TrialTime};
use crate::units::{counted, show_rate, show_wait};

/// Assumed speed of memory, bytes per second.
const MEMORY_RATE: f64 = 3e9;
/// Assumed cost of an operation, nanoseconds.
const CALL_NANOS: f64 = 400.0;
/// Assumed cost of the cheapest system call, nanoseconds.
const CHEAPEST_CALL_NANOS: f64 = 100.0;

/// Steps of a calibration; each is prepared as a trial is.
const CALIBRATION_STEPS: f64 = 8.0;
/// Bytes read to warm a file that is already cached, and to evict the CPU caches with an L3 of 32
/// MiB.
const WARMING_BYTES: f64 = 64.0 * 1_048_576.0;
const EVICTING_BYTES: f64 = 128.0 * 1_048_576.0;
/// Rate of flushing the CPU caches, bytes per second: each line is flushed twice, 5 ns each.
const FLUSH_RATE: f64 = 64.0 / 10e-9;

/// How fast a disk is, as far as that is known before a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiskRate {
    pub bytes_per_second: f64,
    /// The number of saved runs that it is from; 0: it is assumed.
    pub runs: usize,
}

impl Default for DiskRate {
    /// Returns the speed of an ordinary disk. On a slower disk fewer cells are reported than will
    /// be missed.
    fn default() -> DiskRate {
        DiskRate { bytes_per_second: 300e6, runs: 0 }
    }
}

impl DiskRate {
    fn describe(self) -> String {
        match self.runs {
            0 => "300 MB/s (assumed)".into(),
            runs => format!(
                "{} (as in {} here)",
                show_rate(self.bytes_per_second),
                counted(runs, "saved run")
            ),
        }
    }
}

/// How fast the disk of a plan is in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DiskSpeed {
    pub read: DiskRate,
    pub write: DiskRate,
}

impl DiskSpeed {
    /// Describes what is assumed of the disk where a plan uses it: `assuming a disk speed of 300
    /// MB/s`, `if the disk reads 1.20 GiB/s (as in 3 saved runs here)`.
    fn describe(&self, plan: &Plan) -> String {
        let uses = |reads: bool| {
            plan.cells
                .iter()
                .any(|job| uses_disk(job) && (job.mix.is_some() || (job.op == Op::Write) != reads))
        };
        let used: Vec<(&str, DiskRate)> = [("reads", self.read), ("writes", self.write)]
            .into_iter()
            .filter(|(name, _)| uses(*name == "reads"))
            .collect();
        let each: Vec<String> =
            used.iter().map(|(name, rate)| format!("{name} {}", rate.describe())).collect();
        match used.iter().any(|(_, rate)| rate.runs > 0) {
            _ if used.is_empty() => String::new(),
            false => "assuming a disk speed of 300 MB/s".into(),
            true => format!("if the disk {}", each.join(" and ")),
        }
    }

    fn of(&self, job: &Job) -> f64 {
        let (read, write) = (self.read.bytes_per_second, self.write.bytes_per_second);
        match job.op {
            _ if job.mix.is_some() => read.min(write),
            Op::Write => write,
            _ => read,
        }
    }
}

/// Returns whether the operations of a job wait for the disk.
fn uses_disk(job: &Job) -> bool {
    job.op != Op::Seek && (job.cache == Cache::Cold || job.direct || job.op == Op::Write)
}

/// The cells that the first round has no time for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedCells {
    /// Indexes into the cells of the plan, in its order.
    pub cells: Vec<usize>,
    /// Number of cells in the plan.
    pub total: usize,
    /// A budget that covers all cells.
    pub needs: Duration,
    /// The assumed speed of the disk; empty where no disk is used.
    pub basis: String,
    budget: Duration,
    /// Labels of the first few.
    examples: Vec<String>,
}

/// Cells that are named: more would not fit on a line.
const MAX_NAMED: usize = 3;

impl MissedCells {
    /// Returns the warning: `a budget of 50 s probably covers only 9 of 14 cells, assuming a disk
    /// speed of 300 MB/s; 5 would have no result (read 4 KiB cold, ...); --budget 81s covers all`.
    pub fn text(&self) -> String {
        let more = if self.cells.len() > self.examples.len() { ", ..." } else { "" };
        let basis = if self.basis.is_empty() { String::new() } else { format!(", {}", self.basis) };
        format!(
            "a budget of {} probably covers only {} of {} cells{basis}; {} would have no result \
             ({}{more}); --budget {}s covers all",
            show_wait(self.budget),
            self.total - self.cells.len(),
            self.total,
            self.cells.len(),
            self.examples.join(", "),
            self.needs.as_secs() + 1
        )
    }
}

/// Returns the cells that the first round will not reach on a disk of this speed; `None` where it
/// reaches all. Trial times that are fitted to the budget during the run always fit.
pub fn predict_missed(plan: &Plan, disk: &DiskSpeed) -> Option<MissedCells> {
    let cost = |job: &Job| seconds(job, plan, disk);
    let before = if plan.experiment == LEVELS { plan.budget.as_secs_f64() / 8.0 } else { 0.0 };
    let budget = plan.budget.as_secs_f64();
    let all: f64 = plan.cells.iter().map(cost).sum();
    // A watch lasts as long as it was asked to.
    let is_free = plan.pick || plan.watch || plan.latency_target.is_some();
    if is_free || before + all <= budget {
        return None;
    }
    let mut spent = before;
    let mut late = Vec::new();
    let mut missed = Vec::new();
    let states = order_of_round(plan, 1);
    for (after, state) in (0..states.len()).rev().zip(states) {
        // As the run does: this state leaves the later ones their equal shares of the remaining
        // budget.
        let others = (budget - spent).max(0.0) / (after + 1) as f64 * after as f64;
        for index in state {
            if budget - spent < others {
                late.push(index);
            } else {
                visit(index, &mut spent, cost(&plan.cells[index]), budget, &mut missed);
            }
        }
    }
    for index in late {
        visit(index, &mut spent, cost(&plan.cells[index]), budget, &mut missed);
    }
    missed.sort_unstable();
    if missed.is_empty() {
        return None;
    }
    let examples =
        missed.iter().take(MAX_NAMED).map(|index| describe_job(&plan.cells[*index])).collect();
    let needs = Duration::from_secs_f64((before + all).min(366.0 * 86_400.0));
    Some(MissedCells {
        cells: missed,
        total: plan.cells.len(),
        needs,
        basis: disk.describe(plan),
        budget: plan.budget,
        examples,
    })
}

fn visit(index: usize, spent: &mut f64, cost: f64, budget: f64, missed: &mut Vec<usize>) {
    *spent += cost;
    if *spent > budget {
        missed.push(index);
    }
}

fn describe_job(job: &Job) -> String {
    match job.count {
        None | Some(0) => job.label(),
        Some(count) => format!("{} x {count}", job.label()),
    }
}

/// Returns how many trials of each cell fit into the budget, if the plan fixes no number; the run
/// ends earlier where intervals are narrow. Fixed counts of operations take as long as they are
/// assumed to.
pub fn expected_trials(plan: &Plan) -> u32 {
    if !has_counts(plan) {
        return sweep::expected_trials(plan);
    }
    let all = |cost: fn(&Job, &Plan, &DiskSpeed) -> f64| -> f64 {
        plan.cells.iter().map(|job| cost(job, plan, &DiskSpeed::default())).sum()
    };
    let later = plan.budget.as_secs_f64() - all(seconds);
    let rounds = 1.0 + (later / all(later_seconds).max(1e-9)).floor().max(0.0);
    (rounds as u32).min(plan.most_rounds())
}

/// Returns the expected duration of a plan, for `--dry-run`.
pub fn estimate(plan: &Plan) -> Duration {
    if plan.watch {
        return plan.trial_time.low;
    }
    let trials = if has_counts(plan) && !plan.pick {
        let disk = DiskSpeed::default();
        let first: f64 = plan.cells.iter().map(|job| seconds(job, plan, &disk)).sum();
        let later = f64::from(plan.rounds().saturating_sub(1));
        first + later * round_time(plan).as_secs_f64()
    } else {
        sweep::trial_seconds(plan)
    };
    Duration::from_secs_f64((trials + sweep::probe_seconds(plan)).min(plan.budget.as_secs_f64()))
}

/// Returns the expected duration of a round after the first.
pub fn round_time(plan: &Plan) -> Duration {
    if !has_counts(plan) {
        return sweep::round_time(plan);
    }
    let later = plan.cells.iter().map(|job| later_seconds(job, plan, &DiskSpeed::default()));
    Duration::from_secs_f64(later.sum::<f64>().min(1e9))
}

fn has_counts(plan: &Plan) -> bool {
    plan.cells.iter().any(|job| job.count.is_some())
}

/// Returns the seconds that a cell takes in a round after the first.
fn later_seconds(job: &Job, plan: &Plan, disk: &DiskSpeed) -> f64 {
    let verified = verified(job, plan);
    let start = if job.backend.peer { PEER_START.as_secs_f64() } else { 0.0 };
    let trial = match counted_seconds(job, disk) {
        Some(trial) => trial * (1.0 + verified),
        None => job.trial_time(plan.trial_time.low).as_secs_f64() * (LATER_ROUND + verified),
    };
    start + trial + preparation_seconds(job)
}

/// Returns the seconds of one trial of a fixed count, with that time for each operation.
fn counted_seconds(job: &Job, disk: &DiskSpeed) -> Option<f64> {
    let count = job.count.map(|count| if count == 0 { job.blocks() } else { count })?;
    if let Some(amount) = job.paced_amount(Duration::ZERO) {
        return Some(amount.time.as_secs_f64());
    }
    let lanes = f64::from(job.threads.max(1)).min(2.0);
    Some(count as f64 * operation_seconds(job, disk) / lanes)
}

/// Returns the share of a trial that reading back adds: it runs at about the same speed.
fn verified(job: &Job, plan: &Plan) -> f64 {
    if plan.verify && job.op == Op::Write { 1.0 } else { 0.0 }
}

fn operation_seconds(job: &Job, disk: &DiskSpeed) -> f64 {
    let rate = if uses_disk(job) { disk.of(job) } else { MEMORY_RATE };
    let call = match info(&job.backend).map(|info| info.relative_cost) {
        Some(cost) if cost != Info::USUAL_COST => cost * CHEAPEST_CALL_NANOS,
        _ => CALL_NANOS,
    };
    let bytes = if job.op != Op::Seek { job.block as f64 / rate } else { 0.0 };
    call / 1e9 + bytes
}

/// Returns the seconds that a cell takes in the first round.
fn seconds(job: &Job, plan: &Plan, disk: &DiskSpeed) -> f64 {
    // A fitted time may shrink to its minimum during the run.
    let time = if plan.fitted { MIN_TRIAL_TIME } else { plan.trial_time.low };
    let time = job.trial_time(time).as_secs_f64();
    let verified = verified(job, plan);
    let start = if job.backend.peer { 2.0 * PEER_START.as_secs_f64() } else { 0.0 };
    // A rate says how much a trial does, and a trial that ends once it is steady only needs to know
    // what to time.
    let calibrating = if job.rate.is_some() {
        0.0
    } else if plan.steady {
        time.min(TrialTime::default().low.as_secs_f64())
    } else {
        time
    };
    start
        + match counted_seconds(job, disk) {
            // Calibration and the trial do at least one operation each.
            None => {
                let all = calibrating * (FIRST_ROUND - 1.0) + time * (1.0 + verified);
                all.max(2.0 * operation_seconds(job, disk))
                    + CALIBRATION_STEPS * preparation_seconds(job)
            }
            // The warm-up run is cut at the trial time.
            Some(trial) => {
                trial * (1.0 + verified) + trial.min(time) + 2.0 * preparation_seconds(job)
            }
        }
}

/// Returns the seconds that preparing the caches for a trial takes.
fn preparation_seconds(job: &Job) -> f64 {
    let (warm, span) = (job.cache == Cache::Warm, job.span as f64);
    let warming = if warm { span.min(WARMING_BYTES) / MEMORY_RATE } else { 0.0 };
    let flushing = match job.cpu_cache {
        CpuCache::Keep => 0.0,
        CpuCache::Flush if warm && !job.direct => span / FLUSH_RATE,
        CpuCache::Flush => EVICTING_BYTES / MEMORY_RATE,
    };
    warming + flushing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing;
    use crate::plan::{Rate, TargetSpec};

    fn predicted(plan: &Plan) -> Option<MissedCells> {
        predict_missed(plan, &DiskSpeed::default())
    }

    fn plan(cells: Vec<Job>, budget: u64) -> Plan {
        Plan {
            cells,
            budget: Duration::from_secs(budget),
            ..Plan::plain("sweep", TargetSpec::None)
        }
    }

    #[test]
    fn longer_passes_take_longer() {
        let seconds = |span: u64| {
            let pass = Job { block: 1 << 20, span, count: Some(0), ..testing::job() };
            estimate(&plan(vec![pass], 86_400)).as_secs_f64()
        };
        let (one, two) = (seconds(64 << 30), seconds(128 << 30));
        assert!(one > 60.0 && (1.8..2.2).contains(&(two / one)), "{one} {two}");
    }

    #[test]
    fn missed_passes_suggest_a_budget() {
        let pass = |at: u64| Job {
            block: 1 << at,
            span: 3 << 30,
            count: Some(0),
            cache: Cache::Cold,
            ..testing::job()
        };
        let raw: Vec<Job> = (16..24).map(pass).collect();
        // 3 GiB at 300 MB/s are 10.7 s, eight times.
        let missed = predicted(&plan(raw.clone(), 50)).unwrap();
        assert!((3..=5).contains(&missed.cells.len()) && missed.total == 8, "{missed:?}");
        assert!(
            !missed.cells.contains(&0) && !missed.cells.contains(&7),
            "the ends come first: {missed:?}"
        );
        assert!((80..100).contains(&missed.needs.as_secs()), "{missed:?}");
        let named = format!("{} would have no result (read 128 KiB cold, ", missed.cells.len());
        assert!(
            missed.text().contains(&named)
                && missed.text().contains(&format!("--budget {}s", missed.needs.as_secs() + 1)),
            "{}",
            missed.text()
        );
        assert_eq!(predicted(&plan(raw, missed.needs.as_secs() + 1)), None);
    }

    #[test]
    fn missed_cells_name_their_count() {
        let job = |count: u64| Job {
            count: Some(count),
            span: 1 << 40,
            cache: Cache::Cold,
            ..testing::job()
        };
        let missed = predicted(&plan(vec![job(1 << 10), job(1 << 30)], 5)).unwrap();
        assert_eq!(missed.cells, [1], "a small count is reached, and named is the other");
        assert!(missed.text().contains("(read 4 KiB cold x 1073741824); "), "{}", missed.text());
    }

    #[test]
    fn only_fitted_trial_times_always_fit() {
        let cells: Vec<Job> = (0..28u64)
            .map(|at| Job { block: 1 << at, span: 1 << 28, count: None, ..testing::job() })
            .collect();
        let mut asked = plan(cells, 60);
        asked.trial_time = crate::plan::TrialTime::from_duration(Duration::from_secs(5));
        let missed = predicted(&asked).unwrap();
        assert_eq!((missed.cells.len(), missed.needs.as_secs()), (23, 285));
        asked.fitted = true;
        assert_eq!(predicted(&asked), None);
        // However short the trials get.
        asked.budget = Duration::from_millis(20);
        assert!(predicted(&asked).unwrap().cells.len() > 14);
    }

    #[test]
    fn known_work_is_not_calibrated() {
        let job = Job { count: None, span: 1 << 28, ..testing::job() };
        let trial_time = TrialTime::from_duration(Duration::from_secs(600));
        let long = |job: Job| Plan { trial_time, ..plan(vec![job], 720) };
        assert!(predicted(&long(job.clone())).is_some());
        let paced = Job { rate: Some(Rate::Operations(100)), ..job.clone() };
        assert_eq!(predicted(&long(paced)), None);
        assert_eq!(predicted(&Plan { steady: true, ..long(job) }), None);
    }

    #[test]
    fn verifying_doubles_the_time() {
        let write = Job { op: Op::Write, count: Some(0), span: 3 << 30, ..testing::job() };
        let mut plan = plan(vec![write], 15);
        assert_eq!(predicted(&plan), None);
        plan.verify = true;
        // 3 GiB at 300 MB/s are 10.7 s.
        let missed = predicted(&plan).unwrap();
        assert!((20..24).contains(&missed.needs.as_secs()), "{missed:?}");
        plan.cells[0].op = Op::Read;
        plan.cells[0].cache = Cache::Cold;
        assert_eq!(predicted(&plan), None);
    }

    #[test]
    fn preparation_alone_may_exceed_the_budget() {
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
        let missed = predicted(&fitted).unwrap();
        assert!((10..50).contains(&missed.cells.len()), "{missed:?}");
        // A cold file needs no reading; its caches are pushed out.
        assert!((20..60).contains(&missed.needs.as_secs()), "{missed:?}");
        fitted.budget = missed.needs + Duration::from_secs(1);
        assert_eq!(predicted(&fitted), None);
    }

    #[test]
    fn saved_runs_set_the_disk_speed() {
        let pass = |op| Job {
            op,
            span: 3 << 30,
            count: Some(0),
            cache: if op == Op::Write { Cache::AsIs } else { Cache::Cold },
            block: 1 << 20,
            ..testing::job()
        };
        let rate = |bytes_per_second, runs| DiskRate { bytes_per_second, runs };
        // Two passes of a gigabyte and a half a second.
        let fast = DiskSpeed { read: rate(f64::from(3u32 << 29), 3), ..DiskSpeed::default() };
        let reads = plan(vec![pass(Op::Read); 2], 10);
        assert_eq!(predict_missed(&reads, &fast), None);
        assert!(
            predicted(&reads).unwrap().text().contains("cells, assuming a disk speed of 300 MB/s;")
        );
        let slow = DiskSpeed { read: rate(f64::from(150 << 20), 1), ..DiskSpeed::default() };
        let prediction = predict_missed(&reads, &slow).unwrap();
        assert_eq!(prediction.basis, "if the disk reads 150 MiB/s (as in 1 saved run here)");
        assert_eq!(prediction.needs.as_secs(), 41);
        // Where one direction is known.
        let both = plan(vec![pass(Op::Read), pass(Op::Write)], 5);
        let prediction = predict_missed(&both, &slow).unwrap();
        let basis =
            "if the disk reads 150 MiB/s (as in 1 saved run here) and writes 300 MB/s (assumed)";
        assert_eq!(prediction.basis, basis);
        // Where no disk is used.
        let warm = Job { cache: Cache::Warm, ..pass(Op::Read) };
        let prediction = predict_missed(&plan(vec![warm; 9], 5), &slow).unwrap();
        assert!(prediction.text().contains("cells; "), "{}", prediction.text());
    }
}
