//! Runs the probes of a plan: rounds of calibrated batches, every cell once per round, in a new
//! order each. Also lists what they can measure on this machine.
//!
//! Each visit to a cell has a separate thread, pinned to one CPU, which opens, calibrates and
//! measures it. The thread ends with the visit, which undoes the pinning and whatever else a probe
//! did to it. A thread that does not return from the kernel is abandoned.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::control::{Cut, Cutter};
use super::error::Failure;
use super::locate::{local_dir, scratch_dir};
use super::progress::Pace;
use super::{Control, Sink};
use crate::experiment::{Offer, shuffled_indexes};
use crate::plan::{Plan, ProbeCell, ProbeSet, Remote, TargetSpec, sets_of};
use crate::probe::{
    self, BatchTime, Gauge, Opened, Overhead, PROBES, Probe, ProbeContext, ProbeError,
};
use crate::record::{End, Event, Phase, ProbeFindings, ProbeTrial, Unit, Warning};
use crate::sys::scratch;
use crate::sys::threads::{Affinity, unshare_files};
use crate::sys::usage::Usage;
use crate::units::show_count;

/// The state of a cell during a run.
struct ProbeState {
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
    costs: Overhead,
    cpu: Option<usize>,
}

struct ProbeRun<'a> {
    plan: &'a Plan,
    control: &'a Control,
    sink: &'a mut dyn Sink,
    site: ProbeContext,
    cells: Vec<ProbeState>,
    pace: Pace,
}

/// Returns the context of the probes: this machine, with the file or folder of `target`, and the
/// remote machine if there is one. A named file is compared with one on a local disk.
pub(super) fn site(target: &TargetSpec, remote: Option<&Remote>) -> ProbeContext {
    let site = match target {
        TargetSpec::Scratch { dir, .. } => ProbeContext::collect(Some(dir.clone()), None),
        TargetSpec::File { path, .. } => ProbeContext::collect(local_dir(), Some(path.clone())),
        TargetSpec::Files { dir, files, .. } => {
            let first = files.first().map(|file| dir.join(&file.path));
            ProbeContext::collect(local_dir(), first)
        }
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
    let mut run = ProbeRun { plan, control, sink, site, cells: Vec::new(), pace };
    run.make_cells();
    run.remove_leftovers();
    let end = run.run_rounds(rounds);
    run.send_all_findings();
    end
}

impl ProbeRun<'_> {
    /// Makes the cells. A probe of a plan made elsewhere may be unknown here, and one that was
    /// available then may not be now.
    fn make_cells(&mut self) {
        for cell in &self.plan.probes {
            let registered = probe::probe(&cell.probe);
            let refused = match registered {
                Ok(probe) => probe.check(cell, &self.site).err(),
                Err(ref unknown) => Some(unknown.to_string()),
            };
            let probe = registered.unwrap_or(&PROBES[0]);
            let estimate = if refused.is_none() { probe.estimate(cell, &self.site) } else { None };
            let out = refused.is_some();
            let far = if refused.is_none() { probe.remote_host(cell, &self.site) } else { None };
            let findings =
                ProbeFindings { estimate, far, error: refused, ..ProbeFindings::default() };
            self.cells.push(ProbeState {
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
            self.control.check_end(&self.pace)?;
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
                self.control.forget_since(begin, &mut self.pace);
                continue;
            }
            return self.settle(index, done);
        }
    }

    /// Waits while the run is paused; a skip during the pause excludes this cell.
    fn pause(&mut self, index: usize) {
        if self.cells[index].out || self.take_skip(index) || !self.control.pausing() {
            return;
        }
        self.send_progress(Phase::Pause, index);
        let control = self.control;
        control.wait_out_pause(&mut self.pace, &|| control.is_skipped(index));
        self.take_skip(index);
    }

    /// Takes a cell out of the run if the user asked for that, and says so.
    fn take_skip(&mut self, index: usize) -> bool {
        let skipped = self.control.take_skip(index);
        if skipped {
            let cell = &mut self.cells[index];
            cell.out = true;
            cell.findings.skipped = true;
            self.send_findings(index);
        }
        skipped
    }

    fn send_progress(&mut self, phase: Phase, index: usize) {
        let mut progress = self.pace.progress(phase, None, self.cells[index].taken + 1);
        progress.probe = Some(index as u32);
        self.sink.event(Event::Progress(progress));
    }

    fn settle(&mut self, index: usize, done: Result<ProbeVisit, Failure>) -> Result<(), End> {
        let skipped = self.take_skip(index);
        match done {
            Ok(visit) => self.record_visit(index, &visit),
            Err(Failure::Cell(error)) => {
                self.cells[index].out = true;
                self.cells[index].findings.error = Some(error);
                self.send_findings(index);
            }
            Err(Failure::Stopped) if skipped => {}
            Err(Failure::Stopped) => return Err(self.control.end_reason(&self.pace)),
            Err(Failure::Abandoned) => {
                let text = format!(
                    "{}: did not finish in time and was abandoned",
                    self.cells[index].cell.label()
                );
                self.sink.event(Event::Note { text });
                return Err(self.control.end_reason(&self.pace));
            }
        }
        Ok(())
    }

    fn record_visit(&mut self, index: usize, visit: &ProbeVisit) {
        let cycle = self.site.cycle();
        let cell = &mut self.cells[index];
        cell.count = Some(visit.count);
        let mut trials = Vec::new();
        for batch in &visit.batches {
            let Some(value) = batch.value(cell.unit, &visit.costs) else { continue };
            cell.taken += 1;
            cell.totals.operations +=
                if cell.unit == Unit::Nanos { batch.amount } else { visit.count as f64 };
            let is_time = cell.unit == Unit::Nanos;
            let cycles = if is_time { cycle.map(|cycle| value / cycle) } else { None };
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
    fn add(&mut self, visit: &ProbeVisit) {
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
    fn evidence(&self, visit: &ProbeVisit) -> Vec<String> {
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

/// The input of a visit.
#[derive(Clone)]
struct VisitRequest {
    /// Prepares the cell, on the thread of the visit.
    pub open: Arc<dyn Fn(&ProbeContext) -> Opened + Send + Sync>,
    /// Operations per batch; `None` = to be calibrated.
    pub count: Option<u64>,
    /// Batches that are still to be measured.
    pub remaining: u32,
    /// How long a batch should take.
    pub time: Duration,
}

/// The result of a visit.
struct ProbeVisit {
    pub count: u64,
    pub batches: Vec<BatchTime>,
    pub costs: Overhead,
    /// The CPU that it was pinned to; `None` if the kernel refused or the probe uses all CPUs.
    pub cpu: Option<usize>,
    /// Usage of the thread, over all batches.
    pub usage: Usage,
    pub evidence: Vec<String>,
    pub warnings: Vec<Warning>,
}

/// How often the waiting thread checks its flags, and how long a gauge may take to end after a
/// stop.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// A batch of a calibration that took longer is not repeated.
const CONFIRM_LIMIT: Duration = Duration::from_millis(200);
/// Maximum operations per batch.
const MAX_COUNT: u64 = 1 << 40;

/// Visits the cell. `cut` returns when to end.
fn visit(
    request: &VisitRequest,
    site: &ProbeContext,
    cut: &dyn Fn() -> Option<Cut>,
) -> Result<ProbeVisit, Failure> {
    let site = Arc::new(site.with_own_stop());
    let (sender, receiver) = channel();
    let thread_request = request.clone();
    let thread_site = Arc::clone(&site);
    let body = move || {
        let done = catch_unwind(AssertUnwindSafe(|| measure(&thread_request, &thread_site)));
        // Ignore send errors: the waiting thread may have abandoned this one.
        let _ = sender.send(done.unwrap_or_else(|_| Err(panic_error())));
    };
    let thread = std::thread::Builder::new().name("probe".into()).spawn(body);
    let thread =
        thread.map_err(|error| Failure::Cell(format!("cannot start a thread: {error}")))?;
    let done = wait(&receiver, &site, cut)?;
    // It has sent its result and is about to end.
    let _ = thread.join();
    done.map_err(|error| match error {
        ProbeError::Stopped => Failure::Stopped,
        other => Failure::Cell(other.to_string()),
    })
}

fn panic_error() -> ProbeError {
    ProbeError::Missing(
        "the probe ended without a result: this is a bug in iotui, please report it".into(),
    )
}

type Done = Result<ProbeVisit, ProbeError>;

fn wait(
    receiver: &Receiver<Done>,
    site: &ProbeContext,
    cut: &dyn Fn() -> Option<Cut>,
) -> Result<Done, Failure> {
    let mut since: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Disconnected) => return Ok(Err(panic_error())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        match cut() {
            None => {}
            // However long it takes: the visit is repeated in full.
            Some(Cut::Pause) => site.request_stop(),
            Some(Cut::End) => {
                site.request_stop();
                if since.get_or_insert_with(Instant::now).elapsed() > STOP_TIMEOUT {
                    return Err(Failure::Abandoned);
                }
            }
        }
    }
}

fn measure(request: &VisitRequest, site: &ProbeContext) -> Done {
    let cpu = site.cpu().filter(|cpu| Affinity::only(*cpu).apply().is_ok());
    // Like a program with one thread: a shared table adds some 30 ns to each call. If refused, that
    // is part of the result.
    let _ = unshare_files();
    let costs = Overhead::measure();
    let begin = Instant::now();
    let mut gauge = (request.open)(site)?;
    let opened = begin.elapsed();
    // A probe may have changed the affinity.
    let cpu = cpu.filter(|cpu| Affinity::current().is_ok_and(|now| now.cpus() == [*cpu]));
    let count = match request.count {
        Some(count) => count,
        None => calibrate(&mut *gauge, site, request.time)?,
    };
    let several = batches_of_visit(request, opened);
    let before = Usage::thread().unwrap_or_default();
    let (begin, mut batches) = (Instant::now(), Vec::new());
    while batches.is_empty() || (batches.len() as u128) < several && begin.elapsed() < opened {
        site.check_stop()?;
        batches.push(gauge.run(count)?);
    }
    let usage = Usage::thread().unwrap_or_default() - before;
    site.check_stop()?;
    Ok(ProbeVisit {
        count,
        batches,
        costs,
        cpu,
        usage,
        evidence: gauge.evidence(),
        warnings: gauge.warnings(),
    })
}

/// Returns how many batches a visit has at most. A cell that takes long to open is measured several
/// times before it is closed, for as long as opening took, so that one with long batches leaves the
/// others their turn.
fn batches_of_visit(request: &VisitRequest, opened: Duration) -> u128 {
    let several = opened.as_nanos().div_ceil(request.time.as_nanos().max(1));
    several.clamp(1, request.remaining.into())
}

/// Finds the count of a batch by batches, which warm up, too.
fn calibrate(
    gauge: &mut dyn Gauge,
    site: &ProbeContext,
    time: Duration,
) -> Result<u64, ProbeError> {
    fit_count(gauge.max_batch(), time, &mut |count| {
        site.check_stop()?;
        let begin = Instant::now();
        gauge.run(count)?;
        Ok(begin.elapsed())
    })
}

/// Returns the number of operations that take about `time`, preparation within a batch included.
/// A batch that took long enough is repeated once: the thread may have lost its CPU in the first.
fn fit_count(
    max: u64,
    time: Duration,
    run: &mut dyn FnMut(u64) -> Result<Duration, ProbeError>,
) -> Result<u64, ProbeError> {
    let max = max.clamp(1, MAX_COUNT);
    let mut count = 1;
    loop {
        let mut took = run(count)?;
        if count < max && (time..CONFIRM_LIMIT).contains(&took) {
            took = took.min(run(count)?);
        }
        if count >= max || took >= time {
            return Ok(count);
        }
        let ratio = time.as_secs_f64() / took.max(Duration::from_nanos(1)).as_secs_f64();
        let factor = (ratio * 1.1).clamp(1.5, 64.0);
        count =
            ((count as f64 * factor).ceil() as u64).clamp(count + 1, max.max(count + 1)).min(max);
    }
}

/// Returns every cell of every probe as a run would find it: with the user's file if there is one,
/// else with a folder for temporary files, with this remote host and these parameter values.
pub fn list_offers(
    file: Option<&Path>,
    dir: Option<&Path>,
    remote: Option<&Remote>,
    sets: Option<&[ProbeSet]>,
) -> Vec<Offer> {
    let target = match file {
        Some(path) => TargetSpec::File { path: path.into(), size: 0 },
        None => scratch_dir(dir).map_or(TargetSpec::None, |dir| TargetSpec::Scratch {
            dir,
            size: 0,
            keep: false,
        }),
    };
    let site = site(&target, remote).with_sets(sets);
    let offer = |cell: ProbeCell, probe: &Probe| {
        let refused = probe.check(&cell, &site).err();
        let estimate = if refused.is_none() { probe.estimate(&cell, &site) } else { None };
        Offer { unit: probe.unit(&cell), estimate, refused, cell }
    };
    let offers = PROBES.iter().flat_map(|probe| {
        probe.cells(&site).into_iter().map(|cell| offer(cell, probe)).collect::<Vec<_>>()
    });
    offers.collect()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod visit_tests;
