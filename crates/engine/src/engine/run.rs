//! Runs a plan, from opening the target to the last verdict.

mod earlier;
mod fitting;
mod fresh;
mod neighbours;
mod pick;
mod precision;
mod ratios;
mod running_log;
mod span;
mod start;
mod variants;
mod watch;

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use self::fitting::{Fitting, Reserve};
use self::fresh::Unread;
use self::precision::Precision;
use self::ratios::Ratios;
use self::running_log::RunningLog;
pub use self::start::{continue_run, run, run_together};
use self::variants::Variants;
pub use self::variants::{RESTORE_TIMEOUT, set_back};
use super::calibrate::{FirstTrial, calibrate, choose_timing, nanos_per_operation};
use super::cells::{Amount, Cell};
use super::control::{Cut, Cutter};
use super::error::Failure;
use super::paced::paced_amount;
use super::progress::Pace;
use super::ranks::Ranks;
use super::targets::Targets;
use super::trial::{self, RankRole, Together, TrialStage, overran};
use super::trial_parts::TrialOutcome;
use super::{Control, Sink};
use crate::experiment::{RateSearch, Settling, order_of_pairs, order_of_round};
use crate::host::cpu_quota;
use crate::plan::{Job, Plan, TrialTime, Variant};
use crate::record::{
    Earlier, End, Event, Grounds, Latency, LogSpace, Phase, Severity, Throttle, Warning, Watching,
};
use crate::stats::random::mix;

/// The result of a step.
enum StepResult {
    Done(Cell),
    /// A pause cut the step: it is discarded and repeated.
    Repeat(Cell),
}

/// One step of a cell in a round: calibration or a trial.
type Step<'a> = fn(&mut Run<'a>, usize, Cell, u32) -> Result<StepResult, End>;

struct Run<'a> {
    plan: &'a Arc<Plan>,
    control: &'a Control,
    sink: &'a mut dyn Sink,
    targets: Targets,
    variants: Variants,
    grounds: Arc<Grounds>,
    cells: Vec<Option<Cell>>,
    pace: &'a mut Pace,
    origin: u64,
    earlier: &'a Earlier,
    /// The ranks that measure together; `None` = this process alone.
    ranks: Option<&'a Ranks<'a>>,
    fitting: Fitting,
    /// The precision that ends the run; `None` if the number of trials is fixed.
    precision: Option<Precision>,
    ratios: Ratios,
    /// The questions of the answer, if the run ends when they are settled.
    settling: Option<Settling>,
    /// The search for the highest rate, if the run is one.
    search: Option<RateSearch>,
    /// Whether each cell can still change the answer, once that is known.
    open: Vec<bool>,
    reserve: Reserve,
    /// The space of latencies over time in the session.
    log_space: LogSpace,
    /// The unread blocks, if each block is read once.
    unread: Option<Unread>,
}

impl<'a> Run<'a> {
    fn make_cells(&mut self) {
        for (index, cell) in Cell::from_plan(self.plan).into_iter().enumerate() {
            let cell = cell
                .and_then(|cell| self.check(&cell).map(|()| cell))
                .map_err(|error| self.sink.event(Event::Failed { cell: index as u32, error }))
                .ok();
            self.cells.push(cell);
        }
        earlier::add_to(self.earlier, &mut self.cells, &mut self.log_space, self.sink);
    }

    /// Checks whether a cell can be measured: its target may have vanished since the plan was made.
    fn check(&self, cell: &Cell) -> Result<(), String> {
        match self.targets.error_of(&cell.job) {
            Some(error) => Err(error.into()),
            None => cell.executor.check(&self.targets.of(&cell.job).target, &cell.job),
        }
    }

    /// Runs all of the plan, and sends its notes and verdicts.
    fn run_all(&mut self) -> End {
        self.make_cells();
        let end = self.run_rounds().unwrap_or_else(|end| {
            self.read_limits_again();
            end
        });
        self.restore_variant();
        self.send_notes(end);
        self.send_verdicts(true);
        end
    }

    /// Runs all rounds. In the first one a cell is calibrated just before its trial, so that a
    /// budget too short for all cells still has results of the first ones.
    fn run_rounds(&mut self) -> Result<End, End> {
        if self.plan.pick {
            self.pick()?;
        }
        self.compare_clocks();
        self.choose_rates();
        for round in self.earlier.further_rounds(self.plan) {
            self.run_round(round)?;
            self.read_limits_again();
            if self.cells.iter().flatten().all(|c| c.out) {
                return Ok(End::Finished);
            }
            self.send_verdicts(false);
            if self.search.is_some() {
                if !self.choose_rates() {
                    return Ok(End::Goal);
                }
                continue;
            }
            self.ratios.update(&self.cells);
            let is_early = round < Plan::least_rounds(&self.plan.variants);
            if !is_early && self.is_settled() {
                return Ok(End::Goal);
            }
            let precision = self.precision.filter(|_| !is_early);
            if precision.is_some_and(|p| p.is_reached(self.ratios.measured(&self.cells))) {
                return Ok(End::Goal);
            }
        }
        Ok(End::Finished)
    }

    /// Chooses the rates that are tried next, if the run is a search; returns whether any is.
    fn choose_rates(&mut self) -> bool {
        let Some(search) = &self.search else { return false };
        let tried = |cell: &Option<Cell>| Some(cell.as_ref().filter(|cell| !cell.out)?.tried());
        let cells: Vec<_> = self.cells.iter().map(tried).collect();
        self.open = search.open(&cells);
        self.open.contains(&true)
    }

    /// Finds the cells that can still change the answer; returns whether none is left.
    fn is_settled(&mut self) -> bool {
        let Some(settling) = &self.settling else { return false };
        let with_latency = settling.needs_latencies();
        let measured = |cell: &Option<Cell>| cell.as_ref()?.measured(with_latency);
        let cells: Vec<_> = self.cells.iter().map(measured).collect();
        self.open = settling.open(&cells);
        !self.open.contains(&true)
    }

    /// Runs a trial of every cell. In the first round a cache state with others after it takes no
    /// more than its share of the budget, and the cells it did not reach follow at the end: a short
    /// budget leaves no state without a result.
    fn run_round(&mut self, round: u32) -> Result<(), End> {
        // Cells that are compared trial by trial take their turns together.
        if self.plan.variants.is_empty() && self.search.is_none() {
            self.reserve = Reserve::new(self.cells.iter().flatten(), self.plan.rounds());
        }
        let done = self.run_cells_of_round(round);
        self.compare_clocks();
        done
    }

    /// Compares the clocks of the ranks: before the first round and after each, so that every round
    /// is between two comparisons.
    fn compare_clocks(&self) {
        if let Some(ranks) = self.ranks {
            ranks.compare_clocks();
        }
    }

    fn run_cells_of_round(&mut self, round: u32) -> Result<(), End> {
        let in_pairs = round > 1 && self.variants.are_quick(self.plan.trial_time.low);
        let order = if in_pairs { order_of_pairs } else { order_of_round };
        let states = order(self.plan, round);
        let mut late = Vec::new();
        for (after, state) in (0..states.len() as u32).rev().zip(states) {
            // A share of the remaining time, which a pause does not shorten.
            let others =
                if round == 1 { self.pace.budget() / (after + 1) * after } else { Duration::ZERO };
            for index in state {
                if self.pace.budget() < others {
                    late.push(index);
                } else {
                    self.run_cell(index, round)?;
                }
            }
        }
        late.into_iter().try_for_each(|index| self.run_cell(index, round))
    }

    /// Runs a trial of a cell, after its calibration if it has none.
    fn run_cell(&mut self, index: usize, round: u32) -> Result<(), End> {
        if self.rests(index, round) {
            return Ok(());
        }
        for step in [Self::calibrate_cell, Self::run_trial] {
            self.step(index, round, step)?;
        }
        self.pace.count_trial();
        Ok(())
    }

    /// Returns whether the cell skips its turn in favor of others. Cells that are compared trial by
    /// trial skip the same rounds.
    fn rests(&self, index: usize, round: u32) -> bool {
        let cost = self.cells[index].as_ref().map_or(Duration::ZERO, |cell| cell.cost);
        if self.reserve.is_needed(cost, self.pace.budget()) {
            return true;
        }
        if let Some(is_open) = self.open.get(index) {
            return !is_open;
        }
        let precision = self.precision.filter(|_| round > Plan::least_rounds(&self.plan.variants));
        precision
            .is_some_and(|precision| self.ratios.let_rest(precision, &self.cells, index, round))
    }

    /// Runs a step of a cell, again where a pause cut it; the time of a cut step does not count.
    fn step(&mut self, index: usize, round: u32, step: Step<'a>) -> Result<(), End> {
        loop {
            self.pause(index, round);
            self.control.check_end(self.pace)?;
            self.switch_variant(index, round)?;
            self.control.watchdog.doing("the file was being prepared or measured");
            let Some(cell) = self.take(index) else { return Ok(()) };
            let begin = Instant::now();
            match step(self, index, cell, round)? {
                StepResult::Repeat(cell) => self.cells[index] = Some(cell),
                StepResult::Done(cell) => {
                    self.cells[index] = Some(cell);
                    return Ok(());
                }
            }
            self.control.forget_since(begin, self.pace);
        }
    }

    /// Finds the cell's amount of work, if it is unknown.
    fn calibrate_cell(
        &mut self,
        index: usize,
        mut cell: Cell,
        round: u32,
    ) -> Result<StepResult, End> {
        if cell.amount.is_some() {
            return Ok(StepResult::Done(cell));
        }
        self.send_progress(Phase::Calibrate, index, round);
        if let Some(amount) = self.amount_of_twin(index) {
            self.set_amount(index, &mut cell, amount);
            return Ok(StepResult::Done(cell));
        }
        let is_open = |cell: &&Cell| !cell.out && cell.amount.is_none();
        let uncalibrated = self.cells.iter().flatten().filter(is_open).count();
        let time = match self.plan.steady {
            // Only what it times is kept.
            true => TrialTime::default(),
            false => self.fitting.next(&cell.job, self.pace.budget(), uncalibrated + 1),
        };
        if self.unread.is_some() {
            // Its trials end by time: a calibration would read blocks.
            let nanos = u64::try_from(time.low.as_nanos()).unwrap_or(u64::MAX);
            let timed = choose_timing(&cell, f64::INFINITY);
            cell.amount = Some(Amount { timed, nanos, ..Amount::once(cell.job.blocks()) });
            return Ok(StepResult::Done(cell));
        }
        if let Some(amount) = paced_amount(&cell, time.low) {
            self.set_amount(index, &mut cell, amount);
            return Ok(StepResult::Done(cell));
        }
        let expected = nanos_per_operation(&cell.job, self.cells.iter().flatten());
        let cut = self.cutter(index);
        let (open_target, seed) = (self.targets.of(&cell.job), self.trial_seed(round));
        let cut_here = || cut.check();
        let (role, neighbour) = (self.role(), || self.variants.count_neighbour());
        let stage = TrialStage {
            role,
            neighbour: &neighbour,
            ..TrialStage::new(open_target, self.origin, seed, &cut_here)
        };
        let calibration = calibrate(&stage, &cell, time, expected);
        let calibration = match self.plan.steady {
            true => calibration.map(|found| found.endless(&cell.job, self.plan.trial_time.low)),
            false => calibration,
        };
        self.settle(index, cell, &cut, calibration, |run, cell, calibration| {
            run.set_amount(index, cell, calibration.amount);
            cell.first = calibration.first;
            if let Some(FirstTrial { outcome, samples }) = calibration.trial {
                for (sample, parts) in samples {
                    run.sink.event(Event::Sample { cell: index as u32, round, sample, parts });
                }
                cell.every = calibration.amount.timed.every();
                cell.cost = Duration::from_nanos(calibration.amount.nanos);
                run.keep_trial(index, cell, round, outcome);
            }
        })
    }

    /// Returns the work of a cell that is compared with this one: start-up weighs more in a smaller
    /// trial. Next to a neighbour the same work may take many times as long.
    fn amount_of_twin(&self, index: usize) -> Option<Amount> {
        let is_alike = self.plan.variants.iter().all(|variant| variant.neighbour.is_none());
        self.ratios.amount_of_twin(&self.cells, index).filter(|_| is_alike)
    }

    /// Sets the work of a cell's trials and reports it.
    fn set_amount(&mut self, index: usize, cell: &mut Cell, amount: Amount) {
        cell.amount = Some(amount);
        let Amount { count, passes, parts, nanos, whole, .. } = amount;
        let passes = passes.saturating_mul(parts);
        self.sink.event(Event::Calibrated { cell: index as u32, count, passes, nanos, whole });
    }

    /// Runs one trial of the cell.
    fn run_trial(&mut self, index: usize, mut cell: Cell, round: u32) -> Result<StepResult, End> {
        let Some(amount) = cell.amount else { return Ok(StepResult::Done(cell)) };
        if cell.trials.last().is_some_and(|trial| trial.round == round) {
            // Its calibration ended with it.
            return Ok(StepResult::Done(cell));
        }
        let part = self.unread.as_mut().map(|unread| unread.take(&cell.job));
        if part == Some(None) {
            self.end_cell(index, &mut cell);
            return Ok(StepResult::Done(cell));
        }
        let part = part.flatten();
        self.send_progress(Phase::Trial, index, round);
        // The events that a watch has seen do not come again.
        let cut = self.cutter(index).with_pauses(!self.plan.watch);
        let (seed, begin) = (self.trial_seed(round), Instant::now());
        let (clock, role) = (self.plan.watch.then(watch::Clocks::now), self.role());
        let limit = Duration::from_nanos(amount.nanos).min(self.longest_trial(&cell));
        let (open_target, sink) = (self.targets.of(&cell.job), &mut *self.sink);
        let (space, variants) = (&mut self.log_space, &self.variants);
        let stopped = OnceCell::new();
        let cut_here = || cut.check().or(stopped.get().map(|_| Cut::End));
        let ends_by_time = part.is_some() || self.plan.steady;
        let (trial, origin) = ((index as u32, round), self.origin);
        let running = RunningLog::new(trial, limit, &cell.job, (origin, clock));
        let mut running = running.filter(|_| role.together.is_none() && amount.parts <= 1);
        let stage = TrialStage {
            role,
            limit: ends_by_time.then_some(limit),
            ends_by_time,
            steady: self.plan.steady.then(|| Plan::steady_round(limit)),
            watched: self.plan.watch,
            piece: running.as_ref().map(RunningLog::piece),
            part: part.map(|blocks| (blocks.start, blocks.end)),
            neighbour: &|| variants.count_neighbour(),
            ..TrialStage::new(open_target, self.origin, seed, &cut_here)
        };
        let mut watching = watching(self.plan, &cell.job);
        let outcome = trial::run(&stage, &cell, &amount, &mut |sample, mut parts| {
            if let Some((piece, running)) = parts.finished.take().zip(running.as_mut()) {
                running.report(*piece, sample.at, space, sink);
            }
            if let Some(found) = watching.add(sample.at, parts.log.as_ref()) {
                // The first one stays.
                let _ = stopped.set(Box::new(found));
            }
            sink.event(Event::Sample { cell: trial.0, round, sample, parts })
        });
        let stopped = stopped.into_inner();
        let mut outcome = outcome.map(|outcome| watch::add_ends(outcome, origin, clock, stopped));
        if let (Ok(outcome), Some(running)) = (&mut outcome, &mut running) {
            running.report_rest(&mut outcome.log, outcome.trial.nanos, space, sink);
        }
        cell.every = amount.timed.every();
        cell.cost = begin.elapsed();
        self.settle(index, cell, &cut, outcome, |run, cell, outcome| {
            run.keep_trial(index, cell, round, outcome)
        })
    }

    /// Returns the longest trial of a cell that is left of the budget, of which each cell that
    /// looks for a steady state has an equal share; all that follows what was already done.
    fn longest_trial(&self, cell: &Cell) -> Duration {
        if !self.plan.steady {
            return Duration::MAX;
        }
        // This one is not among the cells now.
        let is_open = |cell: &&Cell| !cell.out && cell.trials.is_empty();
        let open = self.cells.iter().flatten().filter(is_open).count();
        let cells = open + usize::from(cell.trials.is_empty());
        Plan::steady_time(self.pace.budget(), cells)
    }

    /// Ends a cell that has nothing left to read.
    fn end_cell(&mut self, index: usize, cell: &mut Cell) {
        cell.out = true;
        if cell.trials.is_empty() {
            let error = "no blocks are left that nothing has read since this machine started";
            self.sink.event(Event::Failed { cell: index as u32, error: error.into() });
        }
    }

    /// Adds a trial to its cell and reports it.
    fn keep_trial(&mut self, index: usize, cell: &mut Cell, round: u32, outcome: TrialOutcome) {
        let TrialOutcome { mut trial, histogram, service, commits, samples, log, .. } = outcome;
        // Cut short, or no rank had a CPU: not a rate of 0.
        if trial.ops == 0 {
            return;
        }
        trial.cell = index as u32;
        trial.round = round;
        trial.evidence.first = cell.first.take().map(Box::new);
        if let Some(amount) = cell.amount.filter(|of| trial.short && overran(trial.nanos, of)) {
            trial.evidence.overran = amount.nanos;
        }
        cell.histogram.merge(&histogram);
        let unstarted = trial.evidence.paced.as_ref().map_or(0, |paced| paced.unstarted);
        let latency = match (&commits, &service) {
            (Some(commits), None) => Latency::from_histogram(&commits.total, 1),
            _ => Latency::with_unstarted(&histogram, cell.every, unstarted),
        };
        let latency = latency.map(Arc::new);
        if let Some(service) = &service {
            cell.service.get_or_insert_default().merge(service);
        }
        if let Some(commits) = &commits {
            cell.commits.get_or_insert_default().merge(commits);
        }
        let trial = Arc::new(trial);
        cell.keep(&trial);
        let nanos = trial.nanos;
        self.sink.event(Event::Trial { trial, samples, latency });
        let log = log.map(|log| self.log_space.keep(log, (index as u32, round), nanos));
        for log in log.into_iter().flatten() {
            self.sink.event(Event::of_log(&Arc::new(log)));
        }
    }

    /// Reads the limits of control groups again, since anyone may change them during a run.
    /// Verdicts rest on the new ones, and a note reports the change.
    fn read_limits_again(&mut self) {
        let machines = self.ranks.map_or(1, Ranks::kernels);
        let now = self.targets.throttles().into_iter();
        let now: Vec<Option<Throttle>> =
            now.map(|limits| limits.map(|limits| limits.of_machines(machines))).collect();
        let known = self.grounds.targets().map(|target| &target.throttle);
        let of_disk = known.zip(&now).find(|(before, after)| before != after).map(describe_disk);
        let (quota, known) = (cpu_quota(), self.grounds.machine.cpu_quota);
        // With several ranks, the quota of the first one.
        let of_cpu = (quota != known).then(|| [known, quota].map(describe_cpu));
        let Some([before, after]) = of_disk.or(of_cpu) else { return };
        let text = format!(
            "the limits of the control group changed during the run: before {before}, then {after}"
        );
        let mut grounds = Grounds::clone(&self.grounds);
        grounds.targets_mut().zip(now).for_each(|(target, limits)| target.throttle = limits);
        grounds.machine.cpu_quota = quota;
        self.grounds = Arc::new(grounds);
        self.sink.event(Event::Grounds { grounds: Arc::clone(&self.grounds) });
        self.sink.event(Event::Note { text });
    }

    /// Sets the variant that a cell is measured in; if that fails, the cell fails.
    fn switch_variant(&mut self, index: usize, round: u32) -> Result<(), End> {
        let cell = self.cells[index].as_ref().filter(|cell| !cell.out);
        let Some(variant) = cell.and_then(|cell| self.variants.needed(self.plan, &cell.job)) else {
            return Ok(());
        };
        self.control.check_end(self.pace)?;
        let commands = self.plan.variants.iter().any(Variant::is_set_by_command);
        self.control.watchdog.doing(match commands {
            true => "a command of --between was running",
            false => "a neighbour was being started or ended",
        });
        self.send_progress(Phase::Switch, index, round);
        let (control, deadline) = (self.control, self.pace.deadline());
        let kill = || control.stopping() || Instant::now() >= deadline;
        self.control.changed.store(commands, Relaxed);
        match self.variants.switch(variant, &kill) {
            Ok(()) => {
                self.control.changed.store(commands && variant != 0, Relaxed);
                Ok(())
            }
            Err(Failure::Cell(error)) => {
                self.fail_cell(index, error);
                Ok(())
            }
            Err(Failure::Stopped | Failure::Abandoned) => {
                let end = self.control.end_reason(self.pace);
                let cell = self.cells[index].as_ref().filter(|cell| cell.trials.is_empty());
                if let Some(name) = cell.and_then(|cell| cell.job.variant.clone())
                    && end == End::Budget
                {
                    let what = if commands { "the command of" } else { "starting" };
                    let error = format!("{what} {name} did not end within the budget");
                    self.fail_cell(index, error);
                }
                Err(end)
            }
        }
    }

    fn fail_cell(&mut self, index: usize, error: String) {
        self.cells[index].iter_mut().for_each(|cell| cell.out = true);
        self.sink.event(Event::Failed { cell: index as u32, error });
    }

    /// Sets the machine back to the first variant, even after a stop.
    fn restore_variant(&mut self) {
        if let Some(text) = set_back(self.plan, self.control) {
            self.sink.event(Event::Note { text });
            self.sink.event(Event::Unrestored);
        }
    }

    /// Returns the seed of random offsets in a round: the same for all cells, so that they visit
    /// the same blocks.
    fn trial_seed(&self, round: u32) -> u64 {
        mix(self.plan.seed ^ mix(u64::from(round)))
    }

    /// Waits while the run is paused. A skip during the pause excludes this cell, and the next one
    /// waits.
    fn pause(&mut self, index: usize, round: u32) {
        self.exclude_skipped(index);
        let is_out = self.cells[index].as_ref().is_none_or(|cell| cell.out);
        if is_out || !self.control.pausing() {
            return;
        }
        self.send_progress(Phase::Pause, index, round);
        let control = self.control;
        self.variants.rest(&|| control.stopping());
        control.wait_out_pause(self.pace, &|| control.is_skipped(index));
        self.exclude_skipped(index);
    }

    /// Excludes a cell that the user skips, and reports it.
    fn exclude_skipped(&mut self, index: usize) {
        let Some(cell) = self.cells[index].as_mut().filter(|cell| !cell.out) else { return };
        if self.control.take_skip(index) {
            cell.out = true;
            self.sink.event(Event::Skipped { cell: index as u32 });
        }
    }

    fn send_progress(&mut self, phase: Phase, index: usize, round: u32) {
        let progress = self.pace.progress(phase, Some(index as u32), round);
        self.sink.event(Event::Progress(progress));
    }

    /// Returns the role of this process, which alone or as rank 0 runs the trials.
    fn role(&self) -> RankRole<'a> {
        RankRole {
            together: self.ranks.map(|ranks| ranks as &dyn Together),
            deadline: Some(self.pace.deadline()),
            ..RankRole::default()
        }
    }

    /// Returns the stop condition of a step of this cell that begins now.
    fn cutter(&self, index: usize) -> Cutter<'a> {
        Cutter::new(self.control, index, self.pace.deadline())
    }

    /// Takes the cell while it runs; `None` if it is excluded.
    fn take(&mut self, index: usize) -> Option<Cell> {
        match &self.cells[index] {
            Some(cell) if !cell.out => self.cells[index].take(),
            _ => None,
        }
    }

    /// Handles the outcome of a step: a failure excludes only this cell.
    fn settle<T>(
        &mut self,
        index: usize,
        mut cell: Cell,
        cut: &Cutter,
        outcome: Result<T, Failure>,
        on_success: impl FnOnce(&mut Self, &mut Cell, T),
    ) -> Result<StepResult, End> {
        if cut.paused() && !matches!(outcome, Err(Failure::Abandoned)) {
            return Ok(StepResult::Repeat(cell));
        }
        let skipped = self.control.take_skip(index);
        match outcome {
            Ok(value) => on_success(self, &mut cell, value),
            Err(Failure::Cell(error)) => {
                cell.out = true;
                self.sink.event(Event::Failed { cell: index as u32, error });
            }
            Err(Failure::Stopped) if skipped => {}
            Err(Failure::Stopped) => {
                self.cells[index] = Some(cell);
                return Err(self.control.end_reason(self.pace));
            }
            Err(Failure::Abandoned) => {
                self.sink.event(Event::Note {
                    text: format!("{}: did not finish in time and was abandoned", cell.job.label()),
                });
                self.cells[index] = Some(cell);
                return Err(self.control.end_reason(self.pace));
            }
        }
        if skipped && !cell.out {
            cell.out = true;
            self.sink.event(Event::Skipped { cell: index as u32 });
        }
        Ok(StepResult::Done(cell))
    }

    /// Sends notes on shortened trials, missed goals and the like.
    fn send_notes(&mut self, end: End) {
        let mut notes: Vec<String> = self.fitting.note(self.plan).into_iter().collect();
        notes.extend(self.ranks.and_then(Ranks::stopped).cloned());
        if let Some(precision) = self.precision {
            notes.extend(precision.describe_missed(self.ratios.measured(&self.cells), end));
        }
        notes.extend(self.unread.as_ref().map(Unread::describe));
        notes.extend(earlier::describe_drift(self.earlier, self.cells.iter().flatten()));
        notes.into_iter().for_each(|text| self.sink.event(Event::Note { text }));
    }

    fn send_verdicts(&mut self, at_end: bool) {
        for (index, cell) in self.cells.iter_mut().enumerate() {
            let Some(cell) = cell else { continue };
            if cell.needs_verdict(at_end) {
                let verdict = Arc::new(cell.verdict(&self.grounds));
                let is_wrong = |warning: &Warning| warning.severity == Severity::Wrong;
                cell.wrong = verdict.warnings.iter().any(is_wrong);
                self.sink.event(Event::Verdict { cell: index as u32, verdict });
            }
        }
    }
}

/// Returns the judge of the conditions that end a trial of a job.
fn watching(plan: &Plan, job: &Job) -> Watching {
    let rate = job.operations_per_second().unwrap_or(0.0);
    Watching::new(plan.stop_if.iter().cloned(), rate, job.threads)
}

fn describe_disk((before, after): (&Option<Throttle>, &Option<Throttle>)) -> [String; 2] {
    [before, after]
        .map(|limits| limits.as_ref().map_or_else(|| "no limit".into(), Throttle::describe))
}

fn describe_cpu(quota: Option<f64>) -> String {
    quota.map_or_else(|| "no CPU quota".into(), |cpus| format!("a quota of {cpus:.2} CPUs"))
}

#[cfg(test)]
mod tests;
