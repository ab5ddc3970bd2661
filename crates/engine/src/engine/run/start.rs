//! Starts a run, alone, continued, or on several ranks: opens or creates its targets and collects
//! the facts that its verdicts rest on.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::fitting::{Fitting, Reserve};
use super::precision::Precision;
use super::ratios::Ratios;
use super::span::{FillLimit, Span};
use super::variants::Variants;
use super::{Run, fresh, span, watch};
use crate::backend::access_pattern::Share;
use crate::backend::work::Published;
use crate::backend::{Target, Work, bare_loop, drive};
use crate::engine::error::EngineError;
use crate::engine::filling::{self, check_filling};
use crate::engine::progress::Pace;
use crate::engine::ranks::{Link, Ranks};
use crate::engine::target::OpenTarget;
use crate::engine::targets::Targets;
use crate::engine::{Control, Sink, levels, probing, target};
use crate::experiment::{RateSearch, Settling};
use crate::plan::{Job, Plan, TargetSpec};
use crate::record::{Earlier, End, Event, Grounds, LogSpace, MachineEvidence, Phase};
use crate::sys::clock::monotonic_nanos;
use crate::sys::scratch;
use crate::text::show_path;
use crate::units::show_bytes;
use crate::{host, peer};

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
    let ranks = Ranks::new(link, control)?;
    let plan = &Arc::new(ranks.adapt(plan));
    run_with(plan, &Earlier::default(), Some(&ranks), machine, control, sink)
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
    ranks: Option<&Ranks>,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<End, EngineError> {
    let begin = Instant::now();
    let deadline =
        begin.checked_add(plan.budget).unwrap_or(begin + Duration::from_secs(365 * 86_400));
    let cells = if earlier.only.is_some() { 1 } else { plan.cells.len() };
    let mut pace = Pace::new(begin, deadline, cells, earlier.rounds_left(plan));
    control.watchdog.until(deadline);
    let mut end = End::Finished;
    if plan.probes.is_empty() || !plan.cells.is_empty() {
        end = run_jobs(plan, (earlier, ranks), machine, control, &mut pace, sink)?;
    } else {
        control.watchdog.doing("the folder for files was being inspected");
        // The file or folder that the probes of files use. Where it cannot be opened, each probe
        // reports that itself.
        let target = OpenTarget::probe(&plan.target)
            .map(|open_target| host::target_evidence(&open_target.facts, 0, None))
            .unwrap_or_default();
        let grounds =
            Arc::new(Grounds { target, programs: versions(plan, control), ..Grounds::default() });
        sink.event(Event::Plan { plan: Arc::clone(plan) });
        sink.event(Event::Grounds { grounds });
    }
    if !plan.probes.is_empty() && matches!(end, End::Finished | End::Goal) {
        end = probing::run(plan, control, pace.deadline(), sink);
    }
    scratch::take_leftover_notes().into_iter().for_each(|text| sink.event(Event::Note { text }));
    let seconds = Some(earlier.add_seconds(begin.elapsed()));
    sink.event(Event::End { reason: end, seconds });
    Ok(end)
}

/// Runs the jobs of the plan on its target.
fn run_jobs(
    plan: &Arc<Plan>,
    (earlier, ranks): (&Earlier, Option<&Ranks>),
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
    let plan = &fit_filling(plan, ranks, sink)?;
    let targets = open_targets(plan, ranks, control, pace, sink);
    let Some(mut targets) = targets? else { return Ok(End::Budget) };
    watchdog.doing("the file was being inspected");
    let stop = || control.stopping() || pace.is_over();
    let Span { mut plan, reading } = span::choose(plan, &targets, &stop, sink);
    watchdog.doing("the machine was being measured");
    if plan.ceilings {
        sink.event(Event::Progress(pace.progress(Phase::Machine, None, 0)));
    }
    let unread = fresh::prepare(&mut plan, &mut targets, ranks.is_none(), &stop);
    let plan = &watch::prepare(plan, &targets, control, pace, sink);
    let grounds = Arc::new(find_grounds(plan, &targets, ranks, machine, control));
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
        ranks,
        fitting: Fitting::new(plan, earlier.rounds_left(plan), reading),
        precision: Precision::from_plan(plan),
        ratios: Ratios::new(plan),
        settling: Settling::new(plan),
        search: RateSearch::new(plan),
        open: open_cells(plan, earlier),
        reserve: Reserve::default(),
        log_space: LogSpace::default(),
        unread,
    };
    Ok(run.run_all())
}

/// Returns whether each cell gets further trials, if only one does.
fn open_cells(plan: &Plan, earlier: &Earlier) -> Vec<bool> {
    let is_open = |only: u32| (0..plan.cells.len()).map(move |cell| cell == only as usize);
    earlier.only.into_iter().flat_map(is_open).collect()
}

/// Opens the targets of a plan on all ranks; `None` if the budget ends before.
fn open_targets(
    plan: &Plan,
    ranks: Option<&Ranks>,
    control: &Control,
    pace: &mut Pace,
    sink: &mut dyn Sink,
) -> Result<Option<Targets>, EngineError> {
    // Before any rank creates a file: if a file system knows no locks across machines, the file of
    // another rank would look like a leftover.
    plan.targets().for_each(target::remove_leftovers);
    let (left, deadline) = (pace.budget(), pace.deadline());
    let over = || control.stopping() || Instant::now() > deadline;
    let mut own = || open_own(plan, pace, control, sink);
    match ranks {
        Some(ranks) => ranks.open(plan, (left, &over), &mut own),
        None => own(),
    }
}

/// Returns the plan, with smaller files if its own cannot be filled in time and no size was
/// requested. Ranks fill a file together.
fn fit_filling(
    plan: &Arc<Plan>,
    ranks: Option<&Ranks>,
    sink: &mut dyn Sink,
) -> Result<Arc<Plan>, EngineError> {
    let Err(slow) = check_filling(plan) else { return Ok(Arc::clone(plan)) };
    if ranks.is_some() {
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

/// Collects the facts that the verdicts of a plan rest on.
fn find_grounds(
    plan: &Arc<Plan>,
    targets: &Targets,
    ranks: Option<&Ranks>,
    machine: impl FnOnce() -> MachineEvidence,
    control: &Control,
) -> Grounds {
    let mut evidence = targets.evidence(plan);
    // First: it waits for threads that read the kernel's files.
    let machine = MachineEvidence { rank_cpus: ranks.and_then(Ranks::bound), ..machine() };
    let programs = versions(plan, control).into_iter();
    let overhead = |job| overhead_nanos(job, &targets.main().target);
    let mut grounds = Grounds {
        target: evidence.remove(0),
        others: evidence,
        machine,
        harness_nanos: plan.cells.first().map_or(0.0, overhead),
        programs: programs.chain(ranks.and_then(Ranks::library)).collect(),
        ranks: ranks.map(Ranks::names).unwrap_or_default(),
    };
    grounds.extend_to_machines(ranks.map_or(1, Ranks::kernels));
    grounds
}

/// A disk takes some 10 ms to write one piece of a new file; slower ones are noted.
const SLOW_PIECE: Duration = Duration::from_secs(1);

/// Opens or creates the targets of a plan in this process; `None` if the budget ends while one is
/// being filled.
fn open_own(
    plan: &Plan,
    pace: &mut Pace,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<Option<Targets>, EngineError> {
    control.watchdog.doing(if plan.targets().any(TargetSpec::is_ours) {
        "the file was being filled"
    } else {
        "the file was being opened and inspected"
    });
    sink.event(Event::Progress(pace.progress(Phase::Fill, None, 0)));
    let (mut last_event, mut last_piece) = (Instant::now(), Instant::now());
    let (mut filled, mut slowest) = (0, Duration::ZERO);
    let budget = pace.budget();
    let pace = RefCell::new(pace);
    let stop = || control.stopping() || pace.borrow().is_over();
    let limit = FillLimit::new(plan);
    let targets = Targets::open(plan, &stop, &mut |filling| {
        filled = filling.all;
        slowest = slowest.max(last_piece.elapsed());
        control.watchdog.mark_alive();
        if control.pausing() {
            let mut pace = pace.borrow_mut();
            sink.event(Event::Progress(pace.progress(Phase::Pause, None, 0)));
            control.wait_out_pause(&mut pace, &|| false);
            sink.event(Event::Progress(pace.progress(Phase::Fill, None, 0)));
        }
        if last_event.elapsed() > Duration::from_millis(100) {
            last_event = Instant::now();
            sink.event(Event::Progress(pace.borrow().progress(Phase::Fill, None, 0)));
        }
        last_piece = Instant::now();
        // A pause does not use up the budget.
        limit.check(budget.saturating_sub(pace.borrow().budget()), filling)
    });
    let mut targets = match targets {
        Err(EngineError::Stopped) if !control.stopping() => {
            let size: u64 = plan.targets().map(TargetSpec::size).sum();
            let size = size.saturating_mul(plan.fillings());
            let text = describe_unfilled(filled, size, slowest.max(last_piece.elapsed()));
            sink.event(Event::Note { text });
            return Ok(None);
        }
        Err(EngineError::Stopped) => {
            // A stop is not a failure, whatever it stops.
            sink.event(Event::End { reason: End::Interrupted, seconds: None });
            return Err(EngineError::Stopped);
        }
        opened => opened?,
    };
    describe_kept(&targets, plan, sink);
    targets.inspect(plan);
    Ok(Some(targets))
}

/// Notes where the scratch files are kept.
fn describe_kept(targets: &Targets, plan: &Plan, sink: &mut dyn Sink) {
    if matches!(plan.target, TargetSpec::Scratch { keep: true, .. }) {
        for open_target in targets.iter() {
            let path = show_path(&open_target.target.path);
            sink.event(Event::Note { text: format!("the scratch file is kept: {path}") });
        }
    }
}

fn describe_unfilled(filled: u64, size: u64, slowest: Duration) -> String {
    let (filled, size) = (show_bytes(filled), show_bytes(size));
    let slow = if slowest > SLOW_PIECE {
        format!("; the file system took {:.1} s to write one piece", slowest.as_secs_f64())
    } else {
        String::new()
    };
    format!(
        "the budget ended after {filled} of {size} were written to the file; use a longer --budget \
         or a smaller --size{slow}"
    )
}

/// Returns the overhead of iotui's loop, nanoseconds per operation: the minimum of several short
/// runs of the null backend.
fn overhead_nanos(job: &Job, target: &Target) -> f64 {
    // The loop takes a few nanoseconds an operation: 30 microseconds each, which one reading of the
    // clock does not change by a percent.
    const OPS: u64 = 5_000;
    let (stop, published) = (AtomicBool::new(false), Published::default());
    let job = Job {
        block: 1,
        span: OPS,
        threads: 1,
        depth: 1,
        count: Some(0),
        xor: false,
        ..job.clone()
    };
    let once = || {
        let null = bare_loop();
        let mut lane = null.open(target, &job, 0).ok()?;
        let mut work =
            Work::new(null.assignment(&job, Share::for_lane(&job, 0, OPS, 0), &stop, &published));
        let start = monotonic_nanos();
        drive::run(lane.as_mut(), &mut work).ok()?;
        Some((monotonic_nanos() - start) as f64 / OPS as f64)
    };
    (0..8).filter_map(|_| once()).fold(f64::INFINITY, f64::min).min(1e6)
}

/// Returns the version of iotui, then the version that each installed peer of the plan prints.
fn versions(plan: &Plan, control: &Control) -> Vec<String> {
    let mut ids: Vec<&str> = plan.cells.iter().map(|job| job.backend.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let peers = ids.into_iter().filter_map(|id| version(id, control));
    [concat!("iotui ", env!("CARGO_PKG_VERSION")).to_string()].into_iter().chain(peers).collect()
}

/// Returns the version that an installed peer prints.
fn version(id: &str, control: &Control) -> Option<String> {
    let program =
        peer::find_program(peer::peer(id).ok()?, std::env::var_os("PATH").as_deref()).ok()?;
    peer::version(&program, &|| control.stopping())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Choice, Op};

    #[test]
    fn iotui_is_first_among_versions() {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let job = |id: &str| Job::plain(Choice::plain(id), Op::Read);
        let plan = Plan {
            cells: ["dd", "pread", "dd"].map(job).into(),
            ..Plan::plain("sweep", TargetSpec::None)
        };
        let programs = versions(&plan, &Control::new(&NEVER));
        assert!(programs[0].starts_with("iotui ") && programs[0].len() > 8, "{programs:?}");
        let here =
            peer::find_program(peer::peer("dd").unwrap(), std::env::var_os("PATH").as_deref())
                .is_ok();
        // A dd that is not from GNU may have no --version.
        assert!(programs.len() <= if here { 2 } else { 1 }, "{programs:?}");
        assert!(programs[1..].iter().all(|program| program.contains("dd")), "{programs:?}");
    }
}
