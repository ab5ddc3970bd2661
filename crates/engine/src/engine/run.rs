//! Runs a plan, from opening the target to the last verdict.

mod open;
mod pick;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::calibrate::calibrate;
use super::cells::{Cell, summarize_latency};
use super::control::Cutter;
use super::error::{EngineError, Failure};
use super::progress::Pace;
use super::schedule::order_by_state;
use super::target::OpenTarget;
use super::trial::{self, Stage};
use super::{Control, Sink, harness, levels, probing, programs};
use crate::backend::access_pattern::mix;
use crate::experiment::{FIRST_ROUND, MIN_TRIAL_TIME};
use crate::plan::{Job, Plan, TrialTime};
use crate::record::{End, Event, Grounds, MachineEvidence, Phase};
use crate::sys::clock::monotonic_nanos;
use crate::sys::leftovers;
use crate::units::{show_nanos, show_wait};

/// Runs `plan` and sends every event to `sink`. Returns when the run is over, or a second after a
/// stop where a system call does not return.
///
/// `machine` is called once the target is open: measuring the machine may take half a second.
///
/// # Errors
/// The target cannot be opened or created.
pub fn run(
    plan: &Arc<Plan>,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<End, EngineError> {
    let begin = Instant::now();
    let deadline =
        begin.checked_add(plan.budget).unwrap_or(begin + Duration::from_secs(365 * 86_400));
    let mut pace = Pace::new(begin, deadline, plan.cells.len(), plan.trials);
    control.watchdog.until(deadline);
    let mut end = End::Finished;
    if plan.probes.is_empty() || !plan.cells.is_empty() {
        end = run_jobs(plan, machine, control, &mut pace, sink)?;
    } else {
        control.watchdog.doing("the folder for files was being inspected");
        // The file or folder that the probes of files use. Where it cannot be opened, each probe
        // reports that itself.
        let target = OpenTarget::probe(&plan.target)
            .map(|open_target| open_target.facts.evidence(0, None))
            .unwrap_or_default();
        let grounds = Arc::new(Grounds {
            target,
            programs: programs::versions(plan, control),
            ..Grounds::default()
        });
        sink.event(Event::Plan { plan: Arc::clone(plan) });
        sink.event(Event::Grounds { grounds });
    }
    if !plan.probes.is_empty() && matches!(end, End::Finished | End::Goal) {
        end = probing::run(plan, control, pace.deadline(), sink);
    }
    leftovers::take_notes().into_iter().for_each(|text| sink.event(Event::Note { text }));
    sink.event(Event::End { reason: end });
    Ok(end)
}

/// Runs the jobs of the plan on its target.
fn run_jobs(
    plan: &Arc<Plan>,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
    pace: &mut Pace,
    sink: &mut dyn Sink,
) -> Result<End, EngineError> {
    let watchdog = &control.watchdog;
    // Before the target is opened: an open file keeps its inode cached.
    watchdog.doing("the cache-drop levels were being measured");
    if levels::is_requested(plan) {
        sink.event(Event::Progress(pace.progress(Phase::Levels, None, 0)));
    }
    let levels = levels::measure_existing(plan, pace.deadline(), control);
    let Some(open_target) = open::open(plan, pace, control, sink)? else { return Ok(End::Budget) };
    watchdog.doing("the file was being inspected");
    let span = plan.cells.iter().map(|c| c.span).max().unwrap_or(0);
    let mut target = open_target.facts.evidence(span, open_target.extents.as_ref());
    target.ours = plan.target.is_ours();
    target.device_counted = open_target.device_counted;
    let harness_nanos =
        plan.cells.first().map_or(0.0, |job| harness::overhead_nanos(job, &open_target.target));
    watchdog.doing("the machine was being measured");
    if plan.ceilings {
        sink.event(Event::Progress(pace.progress(Phase::Machine, None, 0)));
    }
    let grounds = Arc::new(Grounds {
        target,
        machine: machine(),
        harness_nanos,
        programs: programs::versions(plan, control),
    });
    sink.event(Event::Plan { plan: Arc::clone(plan) });
    sink.event(Event::Grounds { grounds: Arc::clone(&grounds) });
    let levels =
        levels.or_else(|| levels::measure_own(plan, &open_target, pace.deadline(), control));
    if let Some(levels) = levels {
        sink.event(Event::Levels { levels });
    }
    let mut run = Run {
        plan,
        control,
        sink,
        open_target,
        grounds,
        cells: Vec::new(),
        pace,
        origin: monotonic_nanos(),
        first_round: None,
        shortest: plan.trial_time.low,
    };
    run.make_cells();
    let end = run.run_all();
    run.note_trial_time();
    run.send_verdicts();
    Ok(end)
}

/// Why the rounds ended before all were done.
enum Halt {
    Stopped,
    Budget,
}

/// What a step returns.
enum StepResult {
    Done(Cell),
    /// A pause cut the step: it is discarded and repeated.
    Repeat(Cell),
}

/// One step of a cell in a round: calibration or a trial.
type Step<'a> = fn(&mut Run<'a>, usize, Cell, u32) -> Result<StepResult, Halt>;

struct Run<'a> {
    plan: &'a Arc<Plan>,
    control: &'a Control,
    sink: &'a mut dyn Sink,
    open_target: OpenTarget,
    grounds: Arc<Grounds>,
    cells: Vec<Option<Cell>>,
    pace: &'a mut Pace,
    origin: u64,
    /// The remaining budget when calibration began, and the sum of the trial times granted since.
    first_round: Option<(Duration, Duration)>,
    shortest: Duration,
}

impl<'a> Run<'a> {
    fn make_cells(&mut self) {
        for (index, cell) in Cell::from_plan(self.plan).into_iter().enumerate() {
            let cell =
                cell.and_then(|c| c.executor.check(&self.open_target.target, &c.job).map(|()| c));
            let cell = cell
                .map_err(|error| self.sink.event(Event::Failed { cell: index as u32, error }))
                .ok();
            self.cells.push(cell);
        }
    }

    fn run_all(&mut self) -> End {
        match self.run_rounds() {
            Ok(end) => end,
            Err(Halt::Stopped) => End::Interrupted,
            Err(Halt::Budget) => End::Budget,
        }
    }

    /// Runs all rounds. In the first one a cell is calibrated just before its trial, so that a
    /// budget too short for all cells still has results for those it reached.
    fn run_rounds(&mut self) -> Result<End, Halt> {
        if self.plan.pick {
            self.pick()?;
        }
        for round in 1..=self.plan.most_rounds() {
            self.run_round(round)?;
            if self.cells.iter().flatten().all(|c| c.out) {
                return Ok(End::Finished);
            }
            self.send_verdicts();
            if self.plan.trials.is_none() && round >= Plan::ROUNDS && self.goal_reached() {
                return Ok(End::Goal);
            }
        }
        Ok(End::Finished)
    }

    /// Runs a trial of every cell. In the first round a cache state with others after it takes no
    /// more than its share of the budget, and the cells it did not reach follow at the end: a short
    /// budget leaves no state without a result.
    fn run_round(&mut self, round: u32) -> Result<(), Halt> {
        let states = order_by_state(&self.plan.cells, self.plan.seed, round);
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

    /// Calibrates a cell where that has not been done, and runs a trial of it.
    fn run_cell(&mut self, index: usize, round: u32) -> Result<(), Halt> {
        for step in [Self::calibrate_cell, Self::run_trial] {
            self.step(index, round, step)?;
        }
        self.pace.count_trial();
        Ok(())
    }

    /// Runs a step of a cell, again where a pause cut it; the time of a cut step does not count.
    fn step(&mut self, index: usize, round: u32, step: Step<'a>) -> Result<(), Halt> {
        loop {
            self.pause(index, round);
            self.check_halt()?;
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
            self.pace.shift(begin.elapsed());
            self.control.watchdog.until(self.pace.deadline());
        }
    }

    /// Waits while the run is paused. A skip meanwhile excludes this cell, and the next one waits.
    fn pause(&mut self, index: usize, round: u32) {
        let Some(cell) = self.cells[index].as_mut() else { return };
        if cell.out || !self.control.pausing() {
            return;
        }
        let begin = Instant::now();
        self.sink.event(Event::Progress(self.pace.progress(
            Phase::Pause,
            Some(index as u32),
            round,
        )));
        self.control.wait_out_pause(|| self.control.skip.load(Relaxed));
        cell.out = self.control.take_skip();
        self.pace.shift(begin.elapsed());
        self.control.watchdog.until(self.pace.deadline());
    }

    /// Finds the cell's amount of work, where it is not known yet.
    fn calibrate_cell(&mut self, index: usize, cell: Cell, _: u32) -> Result<StepResult, Halt> {
        if cell.amount.is_some() {
            return Ok(StepResult::Done(cell));
        }
        self.sink.event(Event::Progress(self.pace.progress(
            Phase::Calibrate,
            Some(index as u32),
            1,
        )));
        let time = self.next_trial_time(&cell.job);
        let cut = self.cutter();
        let stage = Stage {
            open_target: &self.open_target,
            origin: self.origin,
            seed: mix(self.plan.seed),
            cut: &|| cut.check(),
            limit: None,
            part: None,
        };
        let calibration = calibrate(&stage, &cell, time);
        self.settle(index, cell, &cut, calibration, |run, cell, calibration| {
            cell.amount = Some(calibration.amount);
            let super::cells::Amount { count, passes, parts, nanos, .. } = calibration.amount;
            let passes = passes.saturating_mul(parts);
            run.sink.event(Event::Calibrated {
                cell: index as u32,
                count,
                passes,
                nanos,
                whole: calibration.whole,
            });
        })
    }

    /// Runs one trial of the cell.
    fn run_trial(&mut self, index: usize, mut cell: Cell, round: u32) -> Result<StepResult, Halt> {
        let Some(amount) = cell.amount else { return Ok(StepResult::Done(cell)) };
        self.sink.event(Event::Progress(self.pace.progress(
            Phase::Trial,
            Some(index as u32),
            round,
        )));
        let cut = self.cutter();
        let (open_target, sink) = (&self.open_target, &mut *self.sink);
        let seed = mix(self.plan.seed ^ mix(u64::from(round)));
        let stage = Stage {
            open_target,
            origin: self.origin,
            seed,
            cut: &|| cut.check(),
            limit: None,
            part: None,
        };
        let cell_index = index as u32;
        let outcome = trial::run(&stage, &cell, &amount, &mut |sample, lanes| {
            sink.event(Event::Sample { cell: cell_index, round, sample, lanes })
        });
        cell.every = amount.timed.every();
        self.settle(index, cell, &cut, outcome, |run, cell, mut outcome| {
            if outcome.trial.ops == 0 && outcome.trial.short {
                return;
            }
            outcome.trial.cell = cell_index;
            outcome.trial.round = round;
            cell.histogram.merge(&outcome.histogram);
            let trial = Arc::new(outcome.trial);
            cell.trials.push(Arc::clone(&trial));
            let latency = summarize_latency(&outcome.histogram, cell.every).map(Arc::new);
            run.sink.event(Event::Trial { trial, samples: outcome.samples, latency });
        })
    }

    /// Returns the trial time of the cell that is calibrated next. A requested time stays; one that
    /// was fitted to the budget becomes shorter where cells cost more than planned, so that the
    /// last ones have results too.
    fn next_trial_time(&mut self, job: &Job) -> TrialTime {
        let planned = self.plan.trial_time;
        let left =
            self.cells.iter().flatten().filter(|cell| !cell.out && cell.amount.is_none()).count()
                + 1;
        let budget = self.pace.budget();
        let (begun, granted) = *self.first_round.get_or_insert((budget, Duration::ZERO));
        if job.count.is_some() || !self.plan.fitted {
            return planned;
        }
        let spent = begun.saturating_sub(budget).as_secs_f64();
        let each = if granted.is_zero() {
            FIRST_ROUND
        } else {
            (spent / granted.as_secs_f64()).max(FIRST_ROUND)
        };
        let fits = Duration::from_secs_f64(budget.as_secs_f64() / (left as f64 * each));
        let low = fits.clamp(MIN_TRIAL_TIME.min(planned.low), planned.low);
        self.first_round = Some((begun, granted + low));
        self.shortest = self.shortest.min(low);
        TrialTime::of(low)
    }

    /// Notes shortened trial times, once all cells are calibrated.
    fn note_trial_time(&mut self) {
        // A slightly shorter trial is not worth a note.
        if self.shortest < self.plan.trial_time.low / 2 {
            let text = format!(
                "cells took longer than planned: some trials were shortened to {} instead of {} so \
                 that the budget of {} covers more cells; use a longer --budget for full-length \
                 trials",
                show_nanos(self.shortest.as_nanos() as f64),
                show_nanos(self.plan.trial_time.low.as_nanos() as f64),
                show_wait(self.plan.budget)
            );
            self.sink.event(Event::Note { text });
        }
        self.shortest = self.plan.trial_time.low;
    }

    /// Returns the stop condition of a step that begins now.
    fn cutter(&self) -> Cutter<'a> {
        Cutter::new(self.control, self.pace.deadline())
    }

    /// Takes the cell while it runs; `None` where it is excluded.
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
    ) -> Result<StepResult, Halt> {
        if cut.paused() && !matches!(outcome, Err(Failure::Abandoned)) {
            return Ok(StepResult::Repeat(cell));
        }
        let skipped = self.control.take_skip();
        match outcome {
            Ok(value) => on_success(self, &mut cell, value),
            Err(Failure::Cell(error)) => {
                cell.out = true;
                self.sink.event(Event::Failed { cell: index as u32, error });
            }
            Err(Failure::Stopped) if skipped => {}
            Err(Failure::Stopped) => {
                self.cells[index] = Some(cell);
                return Err(self.halt_reason());
            }
            Err(Failure::Abandoned) => {
                self.sink.event(Event::Note {
                    text: format!(
                        "{}: a system call did not return and was abandoned",
                        cell.job.label()
                    ),
                });
                self.cells[index] = Some(cell);
                return Err(self.halt_reason());
            }
        }
        cell.out |= skipped;
        Ok(StepResult::Done(cell))
    }

    /// Returns why a step was ended before it was complete: only a user interrupts a run.
    fn halt_reason(&self) -> Halt {
        let over = Instant::now() >= self.pace.deadline();
        if self.control.stopping() || !over { Halt::Stopped } else { Halt::Budget }
    }

    fn check_halt(&self) -> Result<(), Halt> {
        if self.control.stopping() {
            Err(Halt::Stopped)
        } else if Instant::now() >= self.pace.deadline() {
            Err(Halt::Budget)
        } else {
            Ok(())
        }
    }

    fn goal_reached(&self) -> bool {
        let mut cells = self.cells.iter().flatten().filter(|c| !c.out);
        cells.all(|cell| cell.half_width().is_some_and(|width| width <= self.plan.goal))
    }

    fn send_verdicts(&mut self) {
        for (index, cell) in self.cells.iter().enumerate() {
            if let Some(cell) = cell.as_ref().filter(|c| !c.trials.is_empty()) {
                self.sink.event(Event::Verdict {
                    cell: index as u32,
                    verdict: Arc::new(cell.verdict(&self.grounds)),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests;
