//! The run that goes on: its session as it grows, its clock, and what was asked of the engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::picture::Picture;
use crate::host::Host;
use crate::plan::Plan;
use crate::record::{Event, Phase, Progress, Severity};
use crate::session::{self, CellResult, Session};
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
    /// Back: the run goes on once the engine has taken the pause, else a trial would span the suspension.
    Resume,
}

#[derive(Debug)]
pub struct Run {
    /// As it grows.
    pub session: Session,
    pub path: Option<PathBuf>,
    pub picture: Picture,
    pub clock: Clock,
    pub stopping: bool,
    /// A pause was asked for; it holds once its phase is told.
    pub pausing: bool,
    pub suspended: Suspended,
    /// The cell that is to be left out, until another one runs.
    pub skipping: Option<u32>,
    /// One per cell of the plan, so that colours and markers stay as they are.
    results: Vec<CellResult>,
    /// Results changed since the curves were made.
    stale: bool,
    /// What the title of the window says: percent and cell.
    pub titled: Option<(u32, Option<u32>)>,
}

impl Run {
    pub fn new(host: Host, plan: &Arc<Plan>, now: Duration) -> Run {
        let mut clock = Clock::default();
        clock.go(now);
        Run {
            session: Session::new(String::new(), String::new(), String::new(), host, Plan::clone(plan)),
            path: None,
            clock,
            stopping: false,
            pausing: false,
            suspended: Suspended::No,
            skipping: None,
            results: results(plan),
            picture: Picture::new(Arc::clone(plan)),
            stale: false,
            titled: None,
        }
    }

    /// Nothing is measured: the engine has taken the pause.
    pub fn paused(&self) -> bool {
        self.picture.phase() == Some(Phase::Pause)
    }

    /// Takes in what the engine told at `now`.
    pub fn told(&mut self, now: Duration, event: Event) {
        self.session.apply(&event);
        self.picture.now = self.clock.seconds(now);
        match event {
            Event::Started { plan, .. } if *plan != *self.picture.plan => {
                self.results = results(&plan);
                let now = self.picture.now;
                self.picture = Picture::new(plan);
                self.picture.now = now;
            }
            Event::Progress(progress) => self.progressed(now, progress),
            // What a suspension cut is no measurement.
            Event::Sample { cell, sample, lanes, .. } if self.suspended == Suspended::No => self.picture.sampled(cell, &sample, lanes),
            Event::Trial { trial, latency, .. } => {
                let Some(result) = self.results.get_mut(trial.cell as usize) else { return };
                let first = result.trials.is_empty();
                self.picture.measured += usize::from(first);
                self.picture.tried(&trial, latency, self.session.grounds.as_ref(), first);
                let trials = std::mem::take(&mut result.trials).into_iter().chain([Arc::clone(&trial)]).collect();
                self.renew(trial.cell, trials);
            }
            Event::Verdict { cell, verdict } => self.picture.judged(cell, &verdict),
            Event::Failed { cell, error } => self.picture.failed(cell, &error),
            Event::Note { text } => self.picture.found.said(Severity::Note, text),
            _ => {}
        }
    }

    fn progressed(&mut self, now: Duration, progress: Progress) {
        if progress.phase == Phase::Pause {
            self.clock.stand(now);
        } else if self.suspended == Suspended::No {
            self.clock.go(now);
        }
        if progress.cell != self.skipping {
            self.skipping = None;
        }
        self.picture.now = self.clock.seconds(now);
        self.picture.progressed(progress);
    }

    /// The result of one cell, made anew from its trials.
    fn renew(&mut self, cell: u32, trials: Vec<Arc<crate::record::Trial>>) {
        let Some(result) = self.results.get_mut(cell as usize) else { return };
        *result = session::result(&result.cell, trials, None, None);
        self.stale = true;
    }

    /// Makes the curves anew if they need it: at most as often as time is told, not with every trial.
    pub fn draw_curves(&mut self) {
        if std::mem::take(&mut self.stale) {
            self.picture.curves = curves::curves(&self.results, self.picture.axis, self.picture.metric());
        }
    }
}

fn results(plan: &Plan) -> Vec<CellResult> {
    plan.cells.iter().map(|cell| session::result(cell, Vec::new(), None, None)).collect()
}
