//! The current run: its growing session, its clock, and requests to the engine.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::rows::Picture;
use super::run_view::{RunStep, RunView};
use crate::analysis::{self, Bounds, CellResult};
use crate::curves;
use crate::facts::Host;
use crate::plan::Plan;
use crate::record::{Event, Latency, Phase, Progress, Severity, Trial};
use crate::session::Session;
use crate::session_view::SessionView;

/// The run time, without pauses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunClock {
    ran: Duration,
    /// When it was started; `None` while stopped.
    since: Option<Duration>,
}

impl RunClock {
    pub fn start(&mut self, now: Duration) {
        self.since.get_or_insert(now);
    }

    pub fn stop(&mut self, now: Duration) {
        self.ran += self.since.take().map_or(Duration::ZERO, |since| now.saturating_sub(since));
    }

    pub fn seconds(&self, now: Duration) -> f64 {
        let going = self.since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        (self.ran + going).as_secs_f64()
    }
}

/// A suspension of the program, which pauses a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Suspension {
    #[default]
    No,
    /// Paused for it, not by the user.
    Held,
    /// Back: the run resumes once the engine has paused, else a trial would span the suspension.
    Resume,
}

#[derive(Debug, Clone)]
pub struct LiveRun {
    /// As it grows.
    pub session: Session,
    pub path: Option<PathBuf>,
    pub view: RunView,
    pub clock: RunClock,
    pub stopping: bool,
    /// A pause was requested; it is in effect once its phase is reported.
    pub pausing: bool,
    pub suspended: Suspension,
    /// The step being skipped, until another one runs.
    pub skipping: Option<RunStep>,
    /// A probe was measured since the last query.
    pub has_new_probes: bool,
    /// When Results last took the session, and how many trials it had.
    taken: Option<(Duration, usize)>,
    /// Cells of probes that have a figure.
    known_probes: BTreeSet<u32>,
    /// One per cell of the plan, so that colours and markers never change.
    results: Vec<CellResult>,
    /// Per cell, the number of trials in its result.
    counted_trials: Vec<usize>,
    /// Cells with trials that are not in their result yet.
    stale: BTreeSet<u32>,
    /// The last trial, if it is not drawn yet.
    pending: Option<(Arc<Trial>, Option<Arc<Latency>>)>,
    /// When the picture was last updated.
    refreshed_at: Option<Duration>,
    /// The percentage in the title of the terminal.
    pub shown_percent: Option<u32>,
}

impl LiveRun {
    pub fn new(host: Host, plan: &Arc<Plan>, now: Duration) -> LiveRun {
        let mut clock = RunClock::default();
        clock.start(now);
        let mut run = LiveRun {
            session: Session::new(
                String::new(),
                String::new(),
                String::new(),
                host,
                Plan::clone(plan),
            ),
            path: None,
            clock,
            stopping: false,
            pausing: false,
            suspended: Suspension::No,
            skipping: None,
            has_new_probes: false,
            taken: None,
            known_probes: BTreeSet::new(),
            results: empty_results(plan),
            counted_trials: vec![0; plan.cells.len()],
            stale: BTreeSet::new(),
            pending: None,
            refreshed_at: None,
            view: RunView::new(Arc::clone(plan)),
            shown_percent: None,
        };
        run.update_picture();
        run
    }

    fn update_picture(&mut self) {
        self.view.picture = Picture::new(&self.session, &self.results, self.view.axis);
    }

    /// Returns whether the engine has paused.
    pub fn is_paused(&self) -> bool {
        self.view.phase() == Some(Phase::Pause)
    }

    /// Applies an event of the engine at `now`.
    pub fn handle_event(&mut self, now: Duration, event: Event) {
        self.session.apply(&event);
        self.view.now = self.clock.seconds(now);
        match event {
            Event::Plan { plan } => self.apply_plan(plan),
            Event::Grounds { .. } => self.view.set_bounds(&Bounds::from_session(&self.session)),
            Event::Progress(progress) => self.apply_progress(now, progress),
            // A sample across a suspension is not a measurement.
            Event::Sample { cell, round, sample, parts } if self.suspended == Suspension::No => {
                self.view.push_sample((cell, round), &sample, parts)
            }
            Event::Trial { trial, latency, .. } => self.apply_trial(&trial, latency),
            Event::Verdict { cell, verdict } => self.view.apply_verdict(cell, &verdict),
            Event::Failed { cell, error } => {
                self.view.add_failure(cell, &error);
                if let Some(result) = self.results.get_mut(cell as usize) {
                    result.error = Some(error);
                    self.stale.insert(cell);
                }
            }
            Event::Skipped { cell } => self.view.add_skip(cell),
            Event::Picked { pick } => self.view.warnings.add_note(Severity::Note, &pick.why),
            Event::Probe { trial } => {
                self.has_new_probes = true;
                if self.known_probes.insert(trial.cell) {
                    self.view.known += 1;
                }
            }
            Event::Findings { .. } => self.has_new_probes = true,
            Event::Note { text } => self.view.warnings.add_note(Severity::Note, &text),
            _ => {}
        }
    }

    /// Applies the plan as run, which the target may have changed.
    fn apply_plan(&mut self, plan: Arc<Plan>) {
        if *plan != *self.view.plan {
            self.results = empty_results(&plan);
            self.counted_trials = vec![0; plan.cells.len()];
            self.stale.clear();
            self.pending = None;
            let now = self.view.now;
            self.view = RunView::new(plan);
            self.view.now = now;
            self.update_picture();
        }
    }

    fn apply_progress(&mut self, now: Duration, progress: Progress) {
        if progress.phase == Phase::Pause {
            self.clock.stop(now);
        } else if self.suspended == Suspension::No {
            self.clock.start(now);
        }
        if RunStep::from_progress(&progress) != self.skipping {
            self.skipping = None;
        }
        self.view.now = self.clock.seconds(now);
        self.view.apply_progress(progress);
    }

    /// Applies a trial. Expensive work waits for the next picture: there may be a thousand trials
    /// in a second.
    fn apply_trial(&mut self, trial: &Arc<Trial>, latency: Option<Arc<Latency>>) {
        let Some(result) = self.results.get_mut(trial.cell as usize) else { return };
        let first = result.trials.is_empty();
        result.trials.push(Arc::clone(trial));
        self.stale.insert(trial.cell);
        self.view.finish_trial(trial);
        self.pending = Some((Arc::clone(trial), latency));
        if first {
            self.view.known += 1;
            self.show_last(true);
        }
    }

    /// Returns the session so far if it has grown by a twentieth since the last call; at most once
    /// a second.
    pub fn take_growth(&mut self, now: Duration) -> Option<SessionView> {
        let trials = self.session.trials.len();
        if let Some((at, known)) = self.taken
            && (now.saturating_sub(at) < GROWTH_INTERVAL || trials < known + 1 + known / 20)
        {
            return None;
        }
        if trials == 0 {
            return None;
        }
        self.taken = Some((now, trials));
        Some(SessionView::so_far(self.session.clone()))
    }

    fn show_last(&mut self, first: bool) {
        if let Some((trial, latency)) = self.pending.take() {
            self.view.show_last(&trial, latency, self.session.grounds.as_ref(), first);
        }
    }

    /// Updates the picture, at most once per [`REFRESH_INTERVAL`].
    pub fn refresh(&mut self, now: Duration) {
        if self.refreshed_at.is_none_or(|at| now.saturating_sub(at) >= REFRESH_INTERVAL) {
            self.refreshed_at = Some(now);
            self.show_last(false);
            self.update_curves(false);
        }
    }

    /// Reads the latencies over time of the cell that runs; all of them the `last` time.
    pub fn read_heat(&mut self, last: bool) {
        let cell = self.view.progress.and_then(|progress| progress.cell);
        self.view.heat.read(&self.session, cell, last);
    }

    /// Shows the run as it is at `now`.
    pub fn show_at(&mut self, now: Duration) {
        self.view.now = self.clock.seconds(now);
        self.refreshed_at = None;
        self.refresh(now);
    }

    /// Updates the results of cells with new trials, and the curves. A cell of many trials waits
    /// for 2 % more, unless this is the `last` time.
    pub fn update_curves(&mut self, last: bool) {
        let is_due = |cell: u32| {
            let (trials, counted_trials) =
                (self.results[cell as usize].trials.len(), self.counted_trials[cell as usize]);
            last || trials >= counted_trials + 1 + counted_trials / 50
        };
        let due: Vec<u32> = self.stale.iter().copied().filter(|cell| is_due(*cell)).collect();
        for cell in &due {
            let result = &mut self.results[*cell as usize];
            self.counted_trials[*cell as usize] = result.trials.len();
            let error = result.error.take();
            *result = analysis::result(
                &result.cell,
                std::mem::take(&mut result.trials),
                None,
                error.as_deref(),
            );
            self.stale.remove(cell);
        }
        if self.view.has_goal() && !due.is_empty() {
            let is_narrow = |result: &&CellResult| {
                let rate = result.throughput.or(result.operations);
                rate.and_then(|of| of.summary.half_width())
                    .is_some_and(|width| width <= self.view.plan.goal)
            };
            self.view.narrow = self.results.iter().filter(is_narrow).count();
        }
        if last || !due.is_empty() {
            self.update_picture();
            // A cell that is not measured yet makes no gap: a curve grows between its points.
            let skipped = if last { analysis::list_skipped(&self.session) } else { Vec::new() };
            self.view.curves = curves::curves(
                &self.view.plan.cells,
                &self.results,
                &skipped,
                self.view.axis,
                self.view.metric(),
                false,
            );
        }
    }
}

/// The least time between two pictures of the results so far.
const GROWTH_INTERVAL: Duration = Duration::from_secs(1);

/// The picture is not updated more often than it is drawn.
const REFRESH_INTERVAL: Duration = Duration::from_millis(90);

fn empty_results(plan: &Plan) -> Vec<CellResult> {
    plan.cells.iter().map(|cell| analysis::result(cell, Vec::new(), None, None)).collect()
}
