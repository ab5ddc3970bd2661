//! The run of a plan, from the target to the last verdict.

mod open;
mod pick;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::calibrate::calibrate;
use super::cells::{Cell, latency};
use super::control::Cutter;
use super::error::{EngineError, Failure};
use super::progress::Pace;
use super::schedule::by_state;
use super::target::Bench;
use super::trial::{self, Stage};
use super::{Control, Sink, harness, levels, probing, programs};
use crate::backend::order::mix;
use crate::experiment::{FIRST_ROUND, SHORTEST};
use crate::plan::{Job, Plan, TrialTime};
use crate::record::{End, Event, Grounds, MachineEvidence, Phase};
use crate::sys::clock::monotonic_nanos;
use crate::sys::left;
use crate::units::{show_nanos, show_wait};

/// Runs `plan` and tells `sink` everything; returns when it is over, or a second after a stop that
/// a system call does not heed.
///
/// `machine` is asked once the target is there: it may take half a second to find out what this
/// machine can reach.
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
    control.watched.until(deadline);
    let mut end = End::Finished;
    if plan.probes.is_empty() || !plan.cells.is_empty() {
        end = jobs(plan, machine, control, &mut pace, sink)?;
    } else {
        control.watched.doing("the place for files was being looked at");
        // Where the probes of files look or make theirs; what cannot be looked at is the finding of
        // its probe.
        let target = Bench::probe(&plan.target)
            .map(|bench| bench.facts.evidence(0, None))
            .unwrap_or_default();
        let grounds = Arc::new(Grounds {
            target,
            programs: programs::of(plan, control),
            ..Grounds::default()
        });
        sink.event(Event::Plan { plan: Arc::clone(plan) });
        sink.event(Event::Grounds { grounds });
    }
    if !plan.probes.is_empty() && matches!(end, End::Finished | End::Goal) {
        end = probing::run(plan, control, pace.deadline(), sink);
    }
    left::tell().into_iter().for_each(|text| sink.event(Event::Note { text }));
    sink.event(Event::End { reason: end });
    Ok(end)
}

/// The jobs of the plan, on its target.
fn jobs(
    plan: &Arc<Plan>,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
    pace: &mut Pace,
    sink: &mut dyn Sink,
) -> Result<End, EngineError> {
    let watched = &control.watched;
    // Before the target is opened: what is open keeps its inode.
    watched.doing("the file's parts were being looked at");
    if levels::wanted(plan) {
        sink.event(Event::Progress(pace.at(Phase::Levels, None, 0)));
    }
    let levels = levels::of_file(plan, pace.deadline(), control);
    let Some(bench) = open::open(plan, pace, control, sink)? else { return Ok(End::Budget) };
    watched.doing("the file was being looked at");
    let span = plan.cells.iter().map(|c| c.span).max().unwrap_or(0);
    let mut target = bench.facts.evidence(span, bench.extents.as_ref());
    target.ours = plan.target.is_ours();
    target.device_counted = bench.device_counted;
    let harness_nanos = plan.cells.first().map_or(0.0, |job| harness::nanos(job, &bench.target));
    watched.doing("the machine was being measured");
    if plan.ceilings {
        sink.event(Event::Progress(pace.at(Phase::Machine, None, 0)));
    }
    let grounds = Arc::new(Grounds {
        target,
        machine: machine(),
        harness_nanos,
        programs: programs::of(plan, control),
    });
    sink.event(Event::Plan { plan: Arc::clone(plan) });
    sink.event(Event::Grounds { grounds: Arc::clone(&grounds) });
    if let Some(levels) = levels.or_else(|| levels::of_ours(plan, &bench, pace.deadline(), control))
    {
        sink.event(Event::Levels { levels });
    }
    let mut run = Run {
        plan,
        control,
        sink,
        bench,
        grounds,
        cells: Vec::new(),
        pace,
        origin: monotonic_nanos(),
        first_round: None,
        shortest: plan.trial_time.low,
    };
    run.make_cells();
    let end = run.all();
    run.tell_trial_time();
    run.tell_verdicts();
    Ok(end)
}

/// Why the rounds ended before all were done.
enum Halt {
    Stopped,
    Budget,
}

/// A cell after a step.
enum After {
    Done(Cell),
    /// A pause cut the step, and nothing of it is kept.
    Again(Cell),
}

/// What a cell goes through in a round.
type Step<'a> = fn(&mut Run<'a>, usize, Cell, u32) -> Result<After, Halt>;

struct Run<'a> {
    plan: &'a Arc<Plan>,
    control: &'a Control,
    sink: &'a mut dyn Sink,
    bench: Bench,
    grounds: Arc<Grounds>,
    cells: Vec<Option<Cell>>,
    pace: &'a mut Pace,
    origin: u64,
    /// The budget when calibration began, and the trial times that were granted since.
    first_round: Option<(Duration, Duration)>,
    shortest: Duration,
}

impl<'a> Run<'a> {
    fn make_cells(&mut self) {
        for (index, cell) in Cell::all(self.plan).into_iter().enumerate() {
            let cell = cell.and_then(|c| c.way.check(&self.bench.target, &c.job).map(|()| c));
            let cell = cell
                .map_err(|error| self.sink.event(Event::Failed { cell: index as u32, error }))
                .ok();
            self.cells.push(cell);
        }
    }

    fn all(&mut self) -> End {
        match self.rounds() {
            Ok(end) => end,
            Err(Halt::Stopped) => End::Interrupted,
            Err(Halt::Budget) => End::Budget,
        }
    }

    /// In the first round a cell is calibrated just before its trial, so that a budget too short
    /// for all still gives results for the cells that were reached.
    fn rounds(&mut self) -> Result<End, Halt> {
        if self.plan.pick {
            self.pick()?;
        }
        for round in 1..=self.plan.most_rounds() {
            self.round(round)?;
            if self.cells.iter().flatten().all(|c| c.out) {
                return Ok(End::Finished);
            }
            self.tell_verdicts();
            if self.plan.trials.is_none() && round >= Plan::ROUNDS && self.goal_reached() {
                return Ok(End::Goal);
            }
        }
        Ok(End::Finished)
    }

    /// A trial of every cell. In the first round a cache state that has others after it takes no
    /// more than its share of the budget: what it did not reach follows at the end, so that a short
    /// budget leaves no state without a result.
    fn round(&mut self, round: u32) -> Result<(), Halt> {
        let states = by_state(&self.plan.cells, self.plan.seed, round);
        let mut late = Vec::new();
        for (after, state) in (0..states.len() as u32).rev().zip(states) {
            // Of the time that is left, which a pause does not shorten.
            let others =
                if round == 1 { self.pace.budget() / (after + 1) * after } else { Duration::ZERO };
            for index in state {
                match self.pace.budget() < others {
                    true => late.push(index),
                    false => self.turn(index, round)?,
                }
            }
        }
        late.into_iter().try_for_each(|index| self.turn(index, round))
    }

    fn turn(&mut self, index: usize, round: u32) -> Result<(), Halt> {
        for step in [Self::calibrated, Self::tried] {
            self.step(index, round, step)?;
        }
        self.pace.tried();
        Ok(())
    }

    /// Takes a cell through a step, and again where a pause cut it: the time of that does not
    /// count.
    fn step(&mut self, index: usize, round: u32, step: Step<'a>) -> Result<(), Halt> {
        loop {
            self.pause(index, round);
            self.halted()?;
            self.control.watched.doing("the file was being made ready for a trial or measured");
            let Some(cell) = self.take(index) else { return Ok(()) };
            let begin = Instant::now();
            match step(self, index, cell, round)? {
                After::Again(cell) => self.cells[index] = Some(cell),
                After::Done(cell) => {
                    self.cells[index] = Some(cell);
                    return Ok(());
                }
            }
            self.pace.shift(begin.elapsed());
            self.control.watched.until(self.pace.deadline());
        }
    }

    /// Waits while the run is paused. A skip meanwhile takes this cell out, and the next one waits.
    fn pause(&mut self, index: usize, round: u32) {
        let Some(cell) = self.cells[index].as_mut().filter(|c| !c.out && self.control.pausing())
        else {
            return;
        };
        let begin = Instant::now();
        self.sink.event(Event::Progress(self.pace.at(Phase::Pause, Some(index as u32), round)));
        self.control.wait_out_pause(|| self.control.skip.load(Relaxed));
        cell.out = self.control.take_skip();
        self.pace.shift(begin.elapsed());
        self.control.watched.until(self.pace.deadline());
    }

    /// The cell with its amount of work, found now where it is not known.
    fn calibrated(&mut self, index: usize, cell: Cell, _: u32) -> Result<After, Halt> {
        if cell.amount.is_some() {
            return Ok(After::Done(cell));
        }
        self.sink.event(Event::Progress(self.pace.at(Phase::Calibrate, Some(index as u32), 1)));
        let (time, cut) = (self.trial_time(&cell.job), self.cutter());
        let stage = Stage {
            bench: &self.bench,
            origin: self.origin,
            seed: mix(self.plan.seed),
            cut: &|| cut.ask(),
            limit: None,
            part: None,
        };
        let found = calibrate(&stage, &cell, time);
        self.settle(index, cell, &cut, found, |run, cell, found| {
            cell.amount = Some(found.amount);
            let super::cells::Amount { count, passes, parts, nanos, .. } = found.amount;
            let passes = passes.saturating_mul(parts);
            run.sink.event(Event::Calibrated {
                cell: index as u32,
                count,
                passes,
                nanos,
                whole: found.whole,
            });
        })
    }

    /// The cell with one trial more.
    fn tried(&mut self, index: usize, mut cell: Cell, round: u32) -> Result<After, Halt> {
        let Some(amount) = cell.amount else { return Ok(After::Done(cell)) };
        self.sink.event(Event::Progress(self.pace.at(Phase::Trial, Some(index as u32), round)));
        let cut = self.cutter();
        let (bench, sink) = (&self.bench, &mut *self.sink);
        let seed = mix(self.plan.seed ^ mix(u64::from(round)));
        let stage =
            Stage { bench, origin: self.origin, seed, cut: &|| cut.ask(), limit: None, part: None };
        let cell_index = index as u32;
        let took = trial::run(&stage, &cell, &amount, &mut |sample, lanes| {
            sink.event(Event::Sample { cell: cell_index, round, sample, lanes })
        });
        cell.every = amount.timed.every();
        self.settle(index, cell, &cut, took, |run, cell, mut took| {
            if took.trial.ops == 0 && took.trial.short {
                return;
            }
            took.trial.cell = cell_index;
            took.trial.round = round;
            cell.histogram.merge(&took.histogram);
            let trial = Arc::new(took.trial);
            cell.trials.push(Arc::clone(&trial));
            let latency = latency(&took.histogram, cell.every).map(Arc::new);
            run.sink.event(Event::Trial { trial, samples: took.samples, latency });
        })
    }

    /// The trial time of the cell that is calibrated next. One that was asked for stays; one that
    /// was chosen so that a round fits into the budget gets shorter where cells turn out to cost
    /// more, so that the last of them have a result too.
    fn trial_time(&mut self, job: &Job) -> TrialTime {
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
        let low = fits.clamp(SHORTEST.min(planned.low), planned.low);
        self.first_round = Some((begun, granted + low));
        self.shortest = self.shortest.min(low);
        TrialTime::of(low)
    }

    /// What became of the trial time, once all cells are calibrated.
    fn tell_trial_time(&mut self) {
        // A little less is no other measurement.
        if self.shortest < self.plan.trial_time.low / 2 {
            let (times, budget) =
                ((self.shortest, self.plan.trial_time.low), show_wait(self.plan.budget));
            let text = format!(
                "cells took longer than planned: some have trials of {} instead of {}, so that the budget of {budget} reaches more of them; \
                 a longer --budget gives all of them the whole time",
                show_nanos(times.0.as_nanos() as f64),
                show_nanos(times.1.as_nanos() as f64)
            );
            self.sink.event(Event::Note { text });
        }
        self.shortest = self.plan.trial_time.low;
    }

    /// Whether a step that begins now must end.
    fn cutter(&self) -> Cutter<'a> {
        Cutter::new(self.control, self.pace.deadline())
    }

    /// Takes the cell out of its place while it runs; `None` where it is out of the run.
    fn take(&mut self, index: usize) -> Option<Cell> {
        match &self.cells[index] {
            Some(cell) if !cell.out => self.cells[index].take(),
            _ => None,
        }
    }

    /// Puts the outcome of a step into its cell: a failure takes only the cell out of the run.
    fn settle<T>(
        &mut self,
        index: usize,
        mut cell: Cell,
        cut: &Cutter,
        outcome: Result<T, Failure>,
        good: impl FnOnce(&mut Self, &mut Cell, T),
    ) -> Result<After, Halt> {
        if cut.paused() && !matches!(outcome, Err(Failure::Abandoned)) {
            return Ok(After::Again(cell));
        }
        let skipped = self.control.take_skip();
        match outcome {
            Ok(value) => good(self, &mut cell, value),
            Err(Failure::Cell(error)) => {
                cell.out = true;
                self.sink.event(Event::Failed { cell: index as u32, error });
            }
            Err(Failure::Stopped) if skipped => {}
            Err(Failure::Stopped) => {
                self.cells[index] = Some(cell);
                return Err(self.halt());
            }
            Err(Failure::Abandoned) => {
                self.sink.event(Event::Note {
                    text: format!(
                        "{}: a system call did not return and was left behind",
                        cell.job.label()
                    ),
                });
                self.cells[index] = Some(cell);
                return Err(self.halt());
            }
        }
        cell.out |= skipped;
        Ok(After::Done(cell))
    }

    /// Why a step under way was ended: only a user interrupts a run.
    fn halt(&self) -> Halt {
        let over = Instant::now() >= self.pace.deadline();
        if self.control.stopping() || !over { Halt::Stopped } else { Halt::Budget }
    }

    fn halted(&self) -> Result<(), Halt> {
        match () {
            () if self.control.stopping() => Err(Halt::Stopped),
            () if Instant::now() >= self.pace.deadline() => Err(Halt::Budget),
            () => Ok(()),
        }
    }

    fn goal_reached(&self) -> bool {
        let within = |cell: &Cell| cell.half_width().is_some_and(|width| width <= self.plan.goal);
        self.cells.iter().flatten().filter(|c| !c.out).all(within)
    }

    fn tell_verdicts(&mut self) {
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
