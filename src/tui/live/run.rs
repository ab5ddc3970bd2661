//! The run that goes on: its session as it grows, its clock, and what was asked of the engine.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::run_view::RunView;
use super::step::Step;
use crate::analysis;
use crate::analysis::{Bounds, CellResult};
use crate::host::Host;
use crate::plan::Plan;
use crate::record::{Event, Latency, Phase, Progress, Severity, Trial};
use crate::session::Session;
use crate::tui::curves;

/// Time as the run counts it: a pause is no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Clock {
    ran: Duration,
    /// Since when it goes; `None`: it stands.
    since: Option<Duration>,
}

impl Clock {
    pub fn go(&mut self, now: Duration) {
        self.since.get_or_insert(now);
    }

    pub fn stand(&mut self, now: Duration) {
        self.ran += self.since.take().map_or(Duration::ZERO, |since| now.saturating_sub(since));
    }

    pub fn seconds(&self, now: Duration) -> f64 {
        let going = self.since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        (self.ran + going).as_secs_f64()
    }
}

/// A suspension of the program, which pauses a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Suspended {
    #[default]
    No,
    /// Paused for it, not by the person.
    Held,
    /// Back: the run goes on once the engine has taken the pause, else a trial would span the
    /// suspension.
    Resume,
}

#[derive(Debug)]
pub struct Run {
    /// As it grows.
    pub session: Session,
    pub path: Option<PathBuf>,
    pub view: RunView,
    pub clock: Clock,
    pub stopping: bool,
    /// A pause was asked for; it holds once its phase is told.
    pub pausing: bool,
    pub suspended: Suspended,
    /// What is to be left out, until something else runs.
    pub skipping: Option<Step>,
    /// A probe was measured since that was asked.
    pub probed: bool,
    /// One per cell of the plan, so that colours and markers stay as they are.
    results: Vec<CellResult>,
    /// Per cell, how many trials its result was made from.
    counted: Vec<usize>,
    /// Cells with trials that their result has not seen.
    stale: BTreeSet<u32>,
    /// The last trial, where the picture does not show it yet.
    unseen: Option<(Arc<Trial>, Option<Arc<Latency>>)>,
    /// When the picture was brought up to date.
    refreshed: Option<Duration>,
    /// What the title of the window says: percent and cell.
    pub titled: Option<(u32, Option<Step>)>,
}

impl Run {
    pub fn new(host: Host, plan: &Arc<Plan>, now: Duration) -> Run {
        let mut clock = Clock::default();
        clock.go(now);
        Run {
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
            suspended: Suspended::No,
            skipping: None,
            probed: false,
            results: results(plan),
            counted: vec![0; plan.cells.len()],
            stale: BTreeSet::new(),
            unseen: None,
            refreshed: None,
            view: RunView::new(Arc::clone(plan)),
            titled: None,
        }
    }

    /// Nothing is measured: the engine has taken the pause.
    pub fn paused(&self) -> bool {
        self.view.phase() == Some(Phase::Pause)
    }

    /// Takes in what the engine told at `now`.
    pub fn told(&mut self, now: Duration, event: Event) {
        self.session.apply(&event);
        self.view.now = self.clock.seconds(now);
        match event {
            Event::Plan { plan } => self.started(plan),
            Event::Grounds { .. } => self.view.bounded(&Bounds::of(&self.session)),
            Event::Progress(progress) => self.progressed(now, progress),
            // What a suspension cut is no measurement.
            Event::Sample { cell, sample, lanes, .. } if self.suspended == Suspended::No => {
                self.view.sampled(cell, &sample, lanes)
            }
            Event::Trial { trial, latency, .. } => self.tried(&trial, latency),
            Event::Verdict { cell, verdict } => self.view.judged(cell, &verdict),
            Event::Failed { cell, error } => {
                self.view.failed(cell, &error);
                if let Some(result) = self.results.get_mut(cell as usize) {
                    result.error = Some(error);
                    self.stale.insert(cell);
                }
            }
            Event::Picked { pick } => self.view.warnings.said(Severity::Note, pick.why.clone()),
            Event::Probe { .. } | Event::Findings { .. } => self.probed = true,
            Event::Note { text } => self.view.warnings.said(Severity::Note, text),
            _ => {}
        }
    }

    /// Takes the plan as it is run, which the target may have changed.
    fn started(&mut self, plan: Arc<Plan>) {
        if *plan != *self.view.plan {
            self.results = results(&plan);
            self.counted = vec![0; plan.cells.len()];
            self.stale.clear();
            self.unseen = None;
            let now = self.view.now;
            self.view = RunView::new(plan);
            self.view.now = now;
        }
    }

    fn progressed(&mut self, now: Duration, progress: Progress) {
        if progress.phase == Phase::Pause {
            self.clock.stand(now);
        } else if self.suspended == Suspended::No {
            self.clock.go(now);
        }
        if Step::of(&progress) != self.skipping {
            self.skipping = None;
        }
        self.view.now = self.clock.seconds(now);
        self.view.progressed(progress);
    }

    /// Takes a trial in: what takes long waits for the next picture, for there may be a thousand
    /// trials in a second.
    fn tried(&mut self, trial: &Arc<Trial>, latency: Option<Arc<Latency>>) {
        let Some(result) = self.results.get_mut(trial.cell as usize) else { return };
        let first = result.trials.is_empty();
        result.trials.push(Arc::clone(trial));
        self.stale.insert(trial.cell);
        self.view.tried(trial);
        self.unseen = Some((Arc::clone(trial), latency));
        if first {
            self.view.measured += 1;
            self.show_last(true);
        }
    }

    fn show_last(&mut self, first: bool) {
        if let Some((trial, latency)) = self.unseen.take() {
            self.view.show_last(&trial, latency, self.session.grounds.as_ref(), first);
        }
    }

    /// Brings the picture up to date, unless that was done a moment ago.
    pub fn refresh(&mut self, now: Duration) {
        if self.refreshed.is_none_or(|at| now.saturating_sub(at) >= FRAME) {
            self.refreshed = Some(now);
            self.show_last(false);
            self.draw_curves(false);
        }
    }

    /// The results of the cells that have more trials, and the curves. A cell of many trials waits
    /// until they are some per cent more, unless this is the `last` time.
    pub fn draw_curves(&mut self, last: bool) {
        let ripe = |cell: u32| {
            let (known, counted) =
                (self.results[cell as usize].trials.len(), self.counted[cell as usize]);
            last || known >= counted + 1 + counted / 50
        };
        let ripe: Vec<u32> = self.stale.iter().copied().filter(|cell| ripe(*cell)).collect();
        for cell in &ripe {
            let result = &mut self.results[*cell as usize];
            self.counted[*cell as usize] = result.trials.len();
            let error = result.error.take();
            *result = analysis::result(
                &result.cell,
                std::mem::take(&mut result.trials),
                None,
                error.as_deref(),
            );
            self.stale.remove(cell);
        }
        if !ripe.is_empty() {
            self.view.curves = curves::curves(&self.results, self.view.axis, self.view.metric());
        }
    }
}

/// The picture is not brought up to date more often than it is drawn.
const FRAME: Duration = Duration::from_millis(90);

fn results(plan: &Plan) -> Vec<CellResult> {
    plan.cells.iter().map(|cell| analysis::result(cell, Vec::new(), None, None)).collect()
}
