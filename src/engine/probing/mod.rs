//! The probes of a plan: rounds of calibrated batches, every cell in each round, in a new order.

mod visit;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use visit::{Ask, Visit, visit};

use super::control::Cutter;
use super::error::Failure;
use super::place::local_dir;
use super::progress::Pace;
use super::schedule::shuffled;
use super::{Control, Sink};
use crate::plan::{Plan, ProbeCell, Remote, TargetSpec, sets_of};
use crate::probe::{self, Costs, Probe, ProbeContext};
use crate::record::{End, Event, Phase, ProbeFindings, ProbeTrial, Unit};
use crate::sys::scratch;
use crate::sys::usage::Usage;
use crate::units::show_count;

/// What the engine knows of a cell.
struct Cell {
    probe: &'static dyn Probe,
    cell: ProbeCell,
    unit: Unit,
    count: Option<u64>,
    taken: u32,
    findings: ProbeFindings,
    counted: Counted,
    out: bool,
}

/// What all batches of a cell used together.
#[derive(Default)]
struct Counted {
    operations: f64,
    usage: Usage,
    costs: Costs,
    cpu: Option<usize>,
}

struct Run<'a> {
    plan: &'a Plan,
    control: &'a Control,
    sink: &'a mut dyn Sink,
    site: ProbeContext,
    cells: Vec<Cell>,
    pace: Pace,
}

/// This machine, with the file or folder of `target`, and the other one where there is one; what is
/// compared with a file that was named lies on a disk of this machine.
pub(super) fn site(target: &TargetSpec, remote: Option<&Remote>) -> ProbeContext {
    let site = match target {
        TargetSpec::Scratch { dir, .. } => ProbeContext::collect(Some(dir.clone()), None),
        TargetSpec::File { path, .. } => ProbeContext::collect(local_dir(), Some(path.clone())),
        TargetSpec::New { .. } | TargetSpec::None => ProbeContext::collect(None, None),
    };
    site.with_remote(remote)
}

/// Runs all probes of `plan` until each has its batches, or until `deadline`.
pub(super) fn run(
    plan: &Arc<Plan>,
    control: &Control,
    deadline: Instant,
    sink: &mut dyn Sink,
) -> End {
    let rounds = plan.probe_rounds();
    let pace = Pace::new(Instant::now(), deadline, plan.probes.len(), Some(rounds));
    control.watched.doing("the probes were being made ready");
    let site = site(&plan.target, plan.remote.as_ref()).with_sets(Some(&sets_of(&plan.probes)));
    let mut run = Run { plan, control, sink, site, cells: Vec::new(), pace };
    run.make_cells();
    run.sweep();
    let end = run.rounds(rounds);
    run.tell_findings();
    end
}

impl Run<'_> {
    /// A probe of a plan made elsewhere may be unknown here, and what was to be had then may not be
    /// now.
    fn make_cells(&mut self) {
        for cell in &self.plan.probes {
            let known = probe::probe(&cell.probe);
            let refused = match known {
                Ok(probe) => probe.check(cell, &self.site).err(),
                Err(ref unknown) => Some(unknown.to_string()),
            };
            let probe = known.unwrap_or(probe::PROBES[0]);
            let estimate = if refused.is_none() { probe.estimate(cell, &self.site) } else { None };
            let (out, unit) = (refused.is_some(), probe.unit(cell));
            let far = if refused.is_none() { probe.remote_host(cell, &self.site) } else { None };
            let findings =
                ProbeFindings { estimate, far, error: refused, ..ProbeFindings::default() };
            let (count, taken, counted) = (None, 0, Counted::default());
            self.cells.push(Cell {
                probe,
                cell: cell.clone(),
                unit,
                count,
                taken,
                findings,
                counted,
                out,
            });
        }
        self.tell_findings();
    }

    /// What a killed run may have left where files need a name; no matter if it cannot be looked
    /// for.
    fn sweep(&self) {
        if let Some(dir) = self
            .site
            .dir
            .as_ref()
            .filter(|_| self.cells.iter().any(|cell| cell.probe.info().makes_files))
        {
            let _ = scratch::sweep(dir);
        }
    }

    fn rounds(&mut self, rounds: u32) -> End {
        for round in 1..=rounds {
            for index in shuffled(self.cells.len(), self.plan.seed, round) {
                if let Err(end) = self.step(index, rounds) {
                    return end;
                }
                self.pace.tried();
            }
            if self.cells.iter().all(|cell| cell.out || cell.taken >= rounds) {
                break;
            }
        }
        End::Finished
    }

    /// One visit, and again where a pause cut it.
    fn step(&mut self, index: usize, rounds: u32) -> Result<(), End> {
        loop {
            self.pause(index);
            if self.control.stopping() {
                return Err(End::Interrupted);
            }
            if self.pace.over() {
                return Err(End::Budget);
            }
            let cell = &self.cells[index];
            if cell.out || cell.taken >= rounds {
                return Ok(());
            }
            self.control.watched.doing("a probe was being measured");
            self.tell(if cell.count.is_some() { Phase::Trial } else { Phase::Calibrate }, index);
            let cut = Cutter::new(self.control, self.pace.deadline());
            let cell = &self.cells[index];
            let ask = Ask {
                probe: cell.probe,
                cell: cell.cell.clone(),
                count: cell.count,
                wanted: rounds - cell.taken,
                time: self.plan.trial_time.low,
            };
            let begin = Instant::now();
            let done = visit(&ask, &self.site, &|| cut.ask());
            if cut.paused() && !matches!(done, Err(Failure::Abandoned)) {
                self.pace.shift(begin.elapsed());
                self.control.watched.until(self.pace.deadline());
                continue;
            }
            return self.settle(index, done);
        }
    }

    /// Waits while the run is paused; a skip meanwhile takes this cell out.
    fn pause(&mut self, index: usize) {
        if self.cells[index].out || !self.control.pausing() {
            return;
        }
        let begin = Instant::now();
        self.tell(Phase::Pause, index);
        self.control.wait_out_pause(|| self.control.skip.load(Relaxed));
        self.cells[index].out = self.control.take_skip();
        self.pace.shift(begin.elapsed());
        self.control.watched.until(self.pace.deadline());
    }

    fn tell(&mut self, phase: Phase, index: usize) {
        let mut progress = self.pace.at(phase, None, self.cells[index].taken + 1);
        progress.probe = Some(index as u32);
        self.sink.event(Event::Progress(progress));
    }

    fn settle(&mut self, index: usize, done: Result<Visit, Failure>) -> Result<(), End> {
        let skipped = self.control.take_skip();
        self.cells[index].out |= skipped;
        match done {
            Ok(visit) => self.keep(index, &visit),
            Err(Failure::Cell(error)) => {
                self.cells[index].out = true;
                self.cells[index].findings.error = Some(error);
                self.tell_finding(index);
            }
            Err(Failure::Stopped) if skipped => {}
            Err(Failure::Stopped) => return Err(self.cut()),
            Err(Failure::Abandoned) => {
                let text = format!(
                    "{}: a system call did not return and was left behind",
                    self.cells[index].cell.label()
                );
                self.sink.event(Event::Note { text });
                return Err(self.cut());
            }
        }
        Ok(())
    }

    /// Only a user interrupts a run.
    fn cut(&self) -> End {
        if self.control.stopping() || !self.pace.over() { End::Interrupted } else { End::Budget }
    }

    fn keep(&mut self, index: usize, visit: &Visit) {
        let cycle = self.site.cycle();
        let cell = &mut self.cells[index];
        cell.count = Some(visit.count);
        let mut told = Vec::new();
        for batch in &visit.batches {
            let Some(value) = batch.value(cell.unit, &visit.costs) else { continue };
            cell.taken += 1;
            cell.counted.operations +=
                if cell.unit == Unit::Nanos { batch.amount } else { visit.count as f64 };
            let cycles = cycle.filter(|_| cell.unit == Unit::Nanos).map(|cycle| value / cycle);
            told.push(ProbeTrial {
                cell: index as u32,
                round: cell.taken,
                value,
                unit: cell.unit,
                cycles,
                short: false,
            });
        }
        cell.counted.add(visit);
        cell.findings.evidence = cell.counted.evidence(visit);
        cell.findings.warnings = visit.warnings.clone();
        if told.is_empty() {
            cell.out = true;
            cell.findings.error =
                Some("clock and loop took longer than what is measured: no value is left".into());
        }
        for trial in told {
            self.sink.event(Event::Probe { trial });
        }
        self.tell_finding(index);
    }

    fn tell_finding(&mut self, index: usize) {
        let findings = Arc::new(self.cells[index].findings.clone());
        self.sink.event(Event::Findings { cell: index as u32, findings });
    }

    fn tell_findings(&mut self) {
        (0..self.cells.len()).for_each(|index| self.tell_finding(index));
    }
}

impl Counted {
    fn add(&mut self, visit: &Visit) {
        let (all, more) = (&mut self.usage, &visit.usage);
        all.minor_faults += more.minor_faults;
        all.major_faults += more.major_faults;
        all.voluntary_switches += more.voluntary_switches;
        all.involuntary_switches += more.involuntary_switches;
        (self.costs, self.cpu) = (visit.costs, visit.cpu);
    }

    /// In words: where, how much at a time, what was taken out, what was counted.
    fn evidence(&self, visit: &Visit) -> Vec<String> {
        let place = self.cpu.map_or("on any CPU, not pinned".into(), |cpu| format!("on CPU {cpu}"));
        let batch = format!("{} in a batch", show_count(visit.count as f64));
        let taken = visit.batches.first().map(|batch| match (batch.readings, batch.loops) {
            (0, 0) => String::new(),
            (_, 0) => format!(
                ", taken out: a clock reading of {:.1} ns per batch",
                self.costs.clock_nanos
            ),
            _ => {
                format!(
                    ", taken out: a clock reading of {:.1} ns per batch, {:.2} ns of loop each",
                    self.costs.clock_nanos, self.costs.loop_nanos
                )
            }
        });
        let each = |count: u64| count as f64 / self.operations.max(1.0);
        let counters = [
            ("minor faults", self.usage.minor_faults),
            ("major faults", self.usage.major_faults),
            ("voluntary switches", self.usage.voluntary_switches),
            ("involuntary switches", self.usage.involuntary_switches),
        ];
        // Less than one in a thousand is the thread's own start.
        let counted = counters
            .iter()
            .filter(|(_, count)| each(*count) >= 0.001)
            .map(|(name, count)| format!("{:.3} {name} each", each(*count)));
        let first = format!("{place}, {batch}{}", taken.unwrap_or_default());
        std::iter::once(first).chain(counted).chain(visit.evidence.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests;
