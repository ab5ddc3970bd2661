//! Runs the probes of a plan: rounds of calibrated batches, every cell once per round, in a new
//! order each.

mod visit;

use std::sync::Arc;
use std::time::Instant;

use visit::{Visit, VisitRequest, visit};

use super::control::Cutter;
use super::error::Failure;
use super::locate::local_dir;
use super::progress::Pace;
use super::{Control, Sink};
use crate::experiment::shuffled_indexes;
use crate::plan::{Plan, ProbeCell, Remote, TargetSpec, sets_of};
use crate::probe::{self, Costs, Probe, ProbeContext};
use crate::record::{End, Event, Phase, ProbeFindings, ProbeTrial, Unit};
use crate::sys::scratch;
use crate::sys::usage::Usage;
use crate::units::show_count;

/// The state of a cell during a run.
struct Cell {
    probe: &'static Probe,
    cell: ProbeCell,
    unit: Unit,
    count: Option<u64>,
    taken: u32,
    findings: ProbeFindings,
    totals: CellTotals,
    out: bool,
}

/// The totals of all batches of a cell.
#[derive(Default)]
struct CellTotals {
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

/// Returns the context of the probes: this machine, with the file or folder of `target`, and the
/// remote machine if there is one. A named file is compared with one on a local disk.
pub(super) fn site(target: &TargetSpec, remote: Option<&Remote>) -> ProbeContext {
    let site = match target {
        TargetSpec::Scratch { dir, .. } => ProbeContext::collect(Some(dir.clone()), None),
        TargetSpec::File { path, .. } => ProbeContext::collect(local_dir(), Some(path.clone())),
        TargetSpec::New { .. } | TargetSpec::None => ProbeContext::collect(None, None),
    };
    site.with_remote(remote)
}

/// Runs all probes of `plan` until each has its batches or `deadline` has passed.
pub(super) fn run(
    plan: &Arc<Plan>,
    control: &Control,
    deadline: Instant,
    sink: &mut dyn Sink,
) -> End {
    let rounds = plan.probe_rounds();
    let pace = Pace::new(Instant::now(), deadline, plan.probes.len(), Some(rounds));
    control.watchdog.doing("the probes were being prepared");
    let site = site(&plan.target, plan.remote.as_ref()).with_sets(Some(&sets_of(&plan.probes)));
    let mut run = Run { plan, control, sink, site, cells: Vec::new(), pace };
    run.make_cells();
    run.remove_leftovers();
    let end = run.run_rounds(rounds);
    run.send_all_findings();
    end
}

impl Run<'_> {
    /// Makes the cells. A probe of a plan made elsewhere may be unknown here, and one that was
    /// available then may not be now.
    fn make_cells(&mut self) {
        for cell in &self.plan.probes {
            let registered = probe::probe(&cell.probe);
            let refused = match registered {
                Ok(probe) => probe.check(cell, &self.site).err(),
                Err(ref unknown) => Some(unknown.to_string()),
            };
            let probe = registered.unwrap_or(&probe::PROBES[0]);
            let estimate = if refused.is_none() { probe.estimate(cell, &self.site) } else { None };
            let out = refused.is_some();
            let far = if refused.is_none() { probe.remote_host(cell, &self.site) } else { None };
            let findings =
                ProbeFindings { estimate, far, error: refused, ..ProbeFindings::default() };
            self.cells.push(Cell {
                probe,
                cell: cell.clone(),
                unit: probe.unit(cell),
                count: None,
                taken: 0,
                findings,
                totals: CellTotals::default(),
                out,
            });
        }
        self.send_all_findings();
    }

    /// Removes the named files that killed runs left behind. Errors are ignored: the run does not
    /// depend on it.
    fn remove_leftovers(&self) {
        let makes_files = self.cells.iter().any(|cell| cell.probe.info().makes_files);
        if let (Some(dir), true) = (&self.site.dir, makes_files) {
            let _ = scratch::sweep(dir);
        }
    }

    fn run_rounds(&mut self, rounds: u32) -> End {
        for round in 1..=rounds {
            for index in shuffled_indexes(self.cells.len(), self.plan.seed, round) {
                if let Err(end) = self.step(index, rounds) {
                    return end;
                }
                self.pace.count_trial();
            }
            if self.cells.iter().all(|cell| cell.out || cell.taken >= rounds) {
                break;
            }
        }
        End::Finished
    }

    /// Visits a cell, again where a pause cut the visit.
    fn step(&mut self, index: usize, rounds: u32) -> Result<(), End> {
        loop {
            self.pause(index);
            if self.control.stopping() {
                return Err(End::Interrupted);
            }
            if self.pace.is_over() {
                return Err(End::Budget);
            }
            let cell = &self.cells[index];
            if cell.out || cell.taken >= rounds {
                return Ok(());
            }
            self.control.watchdog.doing("a probe was being measured");
            self.send_progress(
                if cell.count.is_some() { Phase::Trial } else { Phase::Calibrate },
                index,
            );
            let cut = Cutter::new(self.control, index, self.pace.deadline());
            let cell = &self.cells[index];
            let request = VisitRequest {
                open: Arc::new({
                    let (probe, cell) = (cell.probe, cell.cell.clone());
                    move |context: &ProbeContext| probe.open(&cell, context)
                }),
                count: cell.count,
                remaining: rounds - cell.taken,
                time: self.plan.trial_time.low,
            };
            let begin = Instant::now();
            let done = visit(&request, &self.site, &|| cut.check());
            if cut.paused() && !matches!(done, Err(Failure::Abandoned)) {
                self.pace.shift(begin.elapsed());
                self.control.watchdog.until(self.pace.deadline());
                continue;
            }
            return self.settle(index, done);
        }
    }

    /// Waits while the run is paused; a skip meanwhile excludes this cell.
    fn pause(&mut self, index: usize) {
        if self.cells[index].out || self.take_skip(index) || !self.control.pausing() {
            return;
        }
        let begin = Instant::now();
        self.send_progress(Phase::Pause, index);
        self.control.wait_out_pause(|| self.control.is_skipped(index));
        self.take_skip(index);
        self.pace.shift(begin.elapsed());
        self.control.watchdog.until(self.pace.deadline());
    }

    /// Takes a cell out of the run if the user asked for that, and says so.
    fn take_skip(&mut self, index: usize) -> bool {
        let skipped = self.control.take_skip(index);
        if skipped {
            let cell = &mut self.cells[index];
            (cell.out, cell.findings.skipped) = (true, true);
            self.send_findings(index);
        }
        skipped
    }

    fn send_progress(&mut self, phase: Phase, index: usize) {
        let mut progress = self.pace.progress(phase, None, self.cells[index].taken + 1);
        progress.probe = Some(index as u32);
        self.sink.event(Event::Progress(progress));
    }

    fn settle(&mut self, index: usize, done: Result<Visit, Failure>) -> Result<(), End> {
        let skipped = self.take_skip(index);
        match done {
            Ok(visit) => self.record_visit(index, &visit),
            Err(Failure::Cell(error)) => {
                self.cells[index].out = true;
                self.cells[index].findings.error = Some(error);
                self.send_findings(index);
            }
            Err(Failure::Stopped) if skipped => {}
            Err(Failure::Stopped) => return Err(self.end_reason()),
            Err(Failure::Abandoned) => {
                let text = format!(
                    "{}: did not finish in time and was abandoned",
                    self.cells[index].cell.label()
                );
                self.sink.event(Event::Note { text });
                return Err(self.end_reason());
            }
        }
        Ok(())
    }

    /// Returns why a visit was ended: only a user interrupts a run.
    fn end_reason(&self) -> End {
        if self.control.stopping() || !self.pace.is_over() { End::Interrupted } else { End::Budget }
    }

    fn record_visit(&mut self, index: usize, visit: &Visit) {
        let cycle = self.site.cycle();
        let cell = &mut self.cells[index];
        cell.count = Some(visit.count);
        let mut trials = Vec::new();
        for batch in &visit.batches {
            let Some(value) = batch.value(cell.unit, &visit.costs) else { continue };
            cell.taken += 1;
            cell.totals.operations +=
                if cell.unit == Unit::Nanos { batch.amount } else { visit.count as f64 };
            let cycles = cycle.filter(|_| cell.unit == Unit::Nanos).map(|cycle| value / cycle);
            trials.push(ProbeTrial {
                cell: index as u32,
                round: cell.taken,
                value,
                unit: cell.unit,
                cycles,
                short: false,
            });
        }
        cell.totals.add(visit);
        cell.findings.evidence = cell.totals.evidence(visit);
        cell.findings.warnings = visit.warnings.clone();
        if trials.is_empty() {
            cell.out = true;
            cell.findings.error = Some(
                "the clock and loop overhead exceeds the measured time: no value is left".into(),
            );
        }
        for trial in trials {
            self.sink.event(Event::Probe { trial });
        }
        self.send_findings(index);
    }

    fn send_findings(&mut self, index: usize) {
        let findings = Arc::new(self.cells[index].findings.clone());
        self.sink.event(Event::Findings { cell: index as u32, findings });
    }

    fn send_all_findings(&mut self) {
        (0..self.cells.len()).for_each(|index| self.send_findings(index));
    }
}

impl CellTotals {
    fn add(&mut self, visit: &Visit) {
        let (all, more) = (&mut self.usage, &visit.usage);
        all.minor_faults += more.minor_faults;
        all.major_faults += more.major_faults;
        all.voluntary_switches += more.voluntary_switches;
        all.involuntary_switches += more.involuntary_switches;
        self.costs = visit.costs;
        self.cpu = visit.cpu;
    }

    /// Describes where the cell ran, its batch size, the overhead that was subtracted, and the
    /// counters.
    fn evidence(&self, visit: &Visit) -> Vec<String> {
        let place = self.cpu.map_or("on any CPU, not pinned".into(), |cpu| format!("on CPU {cpu}"));
        let batch = format!("batches of {}", show_count(visit.count as f64));
        let overhead = visit.batches.first().map(|batch| match (batch.readings, batch.loops) {
            (0, 0) => String::new(),
            (_, 0) => format!(
                ", subtracted: a clock reading of {:.1} ns per batch",
                self.costs.clock_nanos
            ),
            _ => {
                format!(
                    ", subtracted: a clock reading of {:.1} ns per batch, {:.2} ns of loop \
                     overhead per operation",
                    self.costs.clock_nanos, self.costs.loop_nanos
                )
            }
        });
        let per_op = |count: u64| count as f64 / self.operations.max(1.0);
        let counters = [
            ("minor faults", self.usage.minor_faults),
            ("major faults", self.usage.major_faults),
            ("voluntary switches", self.usage.voluntary_switches),
            ("involuntary switches", self.usage.involuntary_switches),
        ];
        // Fewer than one in a thousand operations: the thread's start makes them.
        let counter_texts = counters
            .iter()
            .filter(|(_, count)| per_op(*count) >= 0.001)
            .map(|(name, count)| format!("{:.3} {name} per operation", per_op(*count)));
        let first = format!("{place}, {batch}{}", overhead.unwrap_or_default());
        std::iter::once(first).chain(counter_texts).chain(visit.evidence.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests;
