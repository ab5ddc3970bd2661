//! Opens what a run needs, and starts it: alone, continued, or on several ranks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::fitting::Fitting;
use super::precision::Precision;
use super::ratios::Ratios;
use super::reserve::Reserve;
use super::span::Span;
use super::{Run, first_visit, open, span};
use crate::engine::error::EngineError;
use crate::engine::filling::{self, check_filling};
use crate::engine::fleet::{Crew, Link};
use crate::engine::progress::Pace;
use crate::engine::target::OpenTarget;
use crate::engine::targets::Targets;
use crate::engine::variants::Variants;
use crate::engine::{Control, Sink, harness, levels, probing, programs};
use crate::host;
use crate::plan::Plan;
use crate::record::{Earlier, End, Event, Grounds, MachineEvidence, Phase};
use crate::sys::clock::monotonic_nanos;
use crate::sys::leftovers;
use crate::units::show_bytes;

/// Runs `plan` and sends every event to `sink`. Returns when the run is over, or a second after a
/// stop where a system call does not return.
///
/// `machine` is called once the target is open, before the first trial: it may take half a second.
///
/// # Errors
/// The target cannot be opened or created.
pub fn run(
    plan: &Arc<Plan>,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<End, EngineError> {
    continue_run(plan, &Earlier::default(), machine, control, sink)
}

/// Runs `plan` like [`run`] on all ranks of `link`, of which this one is the first; the others
/// [`follow`](crate::engine::follow), until they are [dismissed](crate::engine::dismiss).
///
/// # Errors
/// As [`run`], on any rank.
pub fn run_together(
    plan: &Arc<Plan>,
    link: &dyn Link,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<End, EngineError> {
    control.watchdog.watch_ranks(link.roll());
    let crew = Crew::new(link, control)?;
    let plan = &Arc::new(crew.adapt(plan));
    run_with(plan, &Earlier::default(), Some(&crew), machine, control, sink)
}

/// Runs `plan` like [`run`], as further rounds of an earlier run of it; `plan.trials` counts those
/// of both.
///
/// # Errors
/// As [`run`].
pub fn continue_run(
    plan: &Arc<Plan>,
    earlier: &Earlier,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<End, EngineError> {
    run_with(plan, earlier, None, machine, control, sink)
}

fn run_with(
    plan: &Arc<Plan>,
    earlier: &Earlier,
    crew: Option<&Crew>,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<End, EngineError> {
    let begin = Instant::now();
    let deadline =
        begin.checked_add(plan.budget).unwrap_or(begin + Duration::from_secs(365 * 86_400));
    let mut pace = Pace::new(begin, deadline, plan.cells.len(), earlier.rounds_left(plan));
    control.watchdog.until(deadline);
    let mut end = End::Finished;
    if plan.probes.is_empty() || !plan.cells.is_empty() {
        end = run_jobs(plan, (earlier, crew), machine, control, &mut pace, sink)?;
    } else {
        control.watchdog.doing("the folder for files was being inspected");
        // The file or folder that the probes of files use. Where it cannot be opened, each probe
        // reports that itself.
        let target = OpenTarget::probe(&plan.target)
            .map(|open_target| host::target_evidence(&open_target.facts, 0, None))
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
    let seconds = Some(earlier.add_seconds(begin.elapsed()));
    sink.event(Event::End { reason: end, seconds });
    Ok(end)
}

/// Runs the jobs of the plan on its target.
fn run_jobs(
    plan: &Arc<Plan>,
    (earlier, crew): (&Earlier, Option<&Crew>),
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
    pace: &mut Pace,
    sink: &mut dyn Sink,
) -> Result<End, EngineError> {
    let watchdog = &control.watchdog;
    if levels::is_requested(plan) {
        watchdog.doing("the cache-drop levels were being measured");
        sink.event(Event::Progress(pace.progress(Phase::Levels, None, 0)));
    }
    // Before the target is opened: an open file keeps its inode cached.
    let levels = levels::measure_existing(plan, pace.deadline(), control);
    watchdog.doing("the target was being looked at");
    let plan = &fit_filling(plan, crew, sink)?;
    let targets = open_targets(plan, crew, control, pace, sink);
    let Some(mut targets) = targets? else { return Ok(End::Budget) };
    watchdog.doing("the file was being inspected");
    let stop = || control.stopping() || pace.is_over();
    let Span { mut plan, reading } = span::choose(plan, &targets, &stop, sink);
    watchdog.doing("the machine was being measured");
    if plan.ceilings {
        sink.event(Event::Progress(pace.progress(Phase::Machine, None, 0)));
    }
    let unread = first_visit::prepare(&mut plan, &mut targets, crew.is_none(), &stop);
    let plan = &plan;
    let grounds = Arc::new(find_grounds(plan, &targets, crew, machine, control));
    sink.event(Event::Plan { plan: Arc::clone(plan) });
    sink.event(Event::Grounds { grounds: Arc::clone(&grounds) });
    let own = || levels::measure_own(plan, targets.main(), pace.deadline(), control);
    if let Some(levels) = levels.or_else(own) {
        sink.event(Event::Levels { levels });
    }
    let mut run = Run {
        plan,
        control,
        sink,
        targets,
        variants: Variants::new(plan),
        grounds,
        cells: Vec::new(),
        pace,
        // The trials come after the earlier ones in time, too.
        origin: monotonic_nanos().saturating_sub(earlier.end()),
        earlier,
        crew,
        fitting: Fitting::new(plan, earlier.rounds_left(plan), reading),
        precision: Precision::from_plan(plan),
        ratios: Ratios::new(plan),
        reserve: Reserve::default(),
        unread,
    };
    Ok(run.run_all())
}

/// Opens the targets of a plan on all ranks; `None` where the budget ended meanwhile.
fn open_targets(
    plan: &Plan,
    crew: Option<&Crew>,
    control: &Control,
    pace: &mut Pace,
    sink: &mut dyn Sink,
) -> Result<Option<Targets>, EngineError> {
    open::remove_leftovers(plan);
    let (left, deadline) = (pace.budget(), pace.deadline());
    let over = || control.stopping() || Instant::now() > deadline;
    let mut own = || open::open(plan, pace, control, sink);
    match crew {
        Some(crew) => crew.open(plan, (left, &over), own),
        None => own(),
    }
}

/// Returns the plan, with smaller files where these cannot be filled in time and no size was
/// requested. Ranks fill a file together.
fn fit_filling(
    plan: &Arc<Plan>,
    crew: Option<&Crew>,
    sink: &mut dyn Sink,
) -> Result<Arc<Plan>, EngineError> {
    let Err(slow) = check_filling(plan) else { return Ok(Arc::clone(plan)) };
    if crew.is_some() {
        return Ok(Arc::clone(plan));
    }
    match slow.fits.filter(|_| plan.span_may_shrink) {
        None => Err(EngineError::Unfillable(slow.text())),
        Some(fits) => {
            let text = format!("{}: cells use {}", slow.why, show_bytes(fits));
            sink.event(Event::Note { text });
            Ok(Arc::new(filling::shrink(plan, fits)))
        }
    }
}

/// Finds out what the verdicts of a plan rest on.
fn find_grounds(
    plan: &Arc<Plan>,
    targets: &Targets,
    crew: Option<&Crew>,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
) -> Grounds {
    let mut evidence = targets.evidence(plan);
    // First: it waits for threads that read the kernel's files.
    let machine = MachineEvidence { rank_cpus: crew.and_then(Crew::bound), ..machine() };
    let programs = programs::versions(plan, control).into_iter();
    let overhead = |job| harness::overhead_nanos(job, &targets.main().target);
    let mut grounds = Grounds {
        target: evidence.remove(0),
        others: evidence,
        machine,
        harness_nanos: plan.cells.first().map_or(0.0, overhead),
        programs: programs.chain(crew.and_then(Crew::library)).collect(),
        ranks: crew.map(Crew::names).unwrap_or_default(),
    };
    grounds.extend_to_machines(crew.map_or(1, Crew::kernels));
    grounds
}
