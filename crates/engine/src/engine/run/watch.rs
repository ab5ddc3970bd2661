//! The rate of a watch: a small share of what its job does at full speed.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::engine::cells::Cell;
use crate::engine::control::Cutter;
use crate::engine::full_speed::full_speed;
use crate::engine::progress::Pace;
use crate::engine::targets::Targets;
use crate::engine::trial_parts::TrialOutcome;
use crate::engine::{Control, Sink};
use crate::plan::{Plan, Rate};
use crate::record::{Event, Stopped};
use crate::sys::clock::monotonic_nanos;
use crate::units::{show_count, show_share};

/// How long the job runs at full speed.
const FULL_SPEED: Duration = Duration::from_millis(500);

/// The time of a run after its trial.
const TRIAL_MARGIN: Duration = Duration::from_secs(10);

/// The time of day, and CLOCK_MONOTONIC at the same time.
#[derive(Clone, Copy)]
pub(super) struct Clocks {
    seconds: u64,
    monotonic: u64,
}

impl Clocks {
    pub fn now() -> Clocks {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Clocks { seconds: now.map_or(0, |since| since.as_secs()), monotonic: monotonic_nanos() }
    }

    /// Returns the seconds since 1970 at a later time of CLOCK_MONOTONIC.
    pub fn seconds_at(&self, monotonic: u64) -> u64 {
        let since = monotonic.saturating_sub(self.monotonic) / 1_000_000_000;
        self.seconds.saturating_add(since)
    }
}

/// Adds when a watch began, and what ended it before its time.
pub(super) fn add_ends(
    mut outcome: TrialOutcome,
    origin: u64,
    clock: Option<Clocks>,
    stopped: Option<Box<Stopped>>,
) -> TrialOutcome {
    let evidence = &mut outcome.trial.evidence;
    let started = evidence.started.saturating_add(origin);
    evidence.clock = clock.map(|clock| clock.seconds_at(started));
    evidence.stopped = stopped;
    outcome
}

/// Returns the plan of a watch with its rate, and makes the run end soon after its trial; other
/// plans stay as they are.
pub(super) fn prepare(
    mut plan: Arc<Plan>,
    targets: &Targets,
    control: &Control,
    pace: &mut Pace,
    sink: &mut dyn Sink,
) -> Arc<Plan> {
    if plan.watch {
        choose_rate(&mut plan, targets, control, pace, sink);
        pace.end_within(plan.trial_time.low.saturating_add(TRIAL_MARGIN));
        control.watchdog.until(pace.deadline());
    }
    plan
}

/// Sets the rate of a watch that has none, and reports it. A job that fails here fails again in its
/// trial, which says why.
fn choose_rate(
    plan: &mut Arc<Plan>,
    targets: &Targets,
    control: &Control,
    pace: &Pace,
    sink: &mut dyn Sink,
) {
    if plan.cells.iter().all(|job| job.rate.is_some()) {
        return;
    }
    let speed = operations_at_full_speed(plan, targets, control, pace);
    let rate = Plan::watch_rate(speed.unwrap_or(0.0));
    for job in &mut Arc::make_mut(plan).cells {
        job.rate.get_or_insert(rate);
    }
    let (Some(speed), Rate::Operations(chosen)) = (speed, rate) else { return };
    let share = show_share(chosen as f64 / speed.max(chosen as f64));
    let full = show_count(speed);
    let text = format!("watched at {chosen}/s: {share} of {full}/s, its rate at full speed");
    sink.event(Event::Note { text });
}

/// Returns the operations per second at full speed; `None` where that cannot be measured.
fn operations_at_full_speed(
    plan: &Plan,
    targets: &Targets,
    control: &Control,
    pace: &Pace,
) -> Option<f64> {
    let cell = Cell::from_plan(plan).pop()?.ok()?;
    if targets.error_of(&cell.job).is_some() {
        return None;
    }
    let cutter = Cutter::new(control, 0, pace.deadline());
    let work = full_speed(targets.of(&cell.job), &cell, FULL_SPEED, &|| cutter.check())?;
    Some(work.ops as f64 * 1e9 / work.nanos as f64)
}
