//! The state of Live: the run, its last picture, zoom and axis.

use std::sync::Arc;
use std::time::Duration;

use super::replay::Replay;
use super::run::{LiveRun, Suspension};
use super::run_view::{RunStep, RunView};
use super::strip::TrialWindow;
use crate::context::RunStatus;
use crate::plan::Plan;
use crate::session::Session;
use crate::session_view::SessionView;
use crate::theme::Look;
use crate::view::pane;
use crate::warning_groups::{self, WarningGroup};

#[derive(Debug, Default)]
pub struct Live {
    pub run: Option<LiveRun>,
    /// A kept session that is replayed; never during a run.
    pub replay: Option<Replay>,
    /// A picture of a run that continues.
    pub frozen: Option<RunView>,
    /// The last picture of the previous run.
    pub last_view: Option<RunView>,
    /// The id of the session of the last run; empty: it has no file.
    pub session_id: String,
    /// Why the run is not completely saved.
    pub unsaved: Option<String>,
    /// The trials that are shown.
    pub window: TrialWindow,
    /// The first warning that is shown.
    pub scroll: usize,
    /// Whether values have a logarithmic axis; `None`: what fits them.
    pub log: Option<bool>,
    /// The latencies over time are shown in place of the trials. A watch begins with them, as its
    /// rate is given.
    pub shows_heat: bool,
}

impl Live {
    /// Creates the state before the first run; `log`: whether values have a logarithmic axis.
    pub fn with_log_axis(log: Option<bool>) -> Live {
        Live { log, ..Live::default() }
    }

    /// Returns whether the values of the main chart have a logarithmic axis.
    pub fn is_log(&self) -> bool {
        let needs_log = |view: &RunView| view.needs_log(view.measure());
        self.log.unwrap_or_else(|| self.run_view().is_some_and(needs_log))
    }

    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// Returns the kinds of warnings so far of the run, or of the replay; `None` without either.
    pub fn warnings(&self) -> Option<Vec<WarningGroup>> {
        let verdicts = &self.shown_run()?.session.verdicts;
        let judged =
            || verdicts.iter().enumerate().filter_map(|(at, own)| Some((at, own.as_ref()?)));
        let cells = judged().map(|(at, verdict)| (at, verdict.warnings.as_slice()));
        Some(warning_groups::group(cells, judged().count(), false))
    }

    /// Returns the session of the run, or of the replay.
    pub fn session(&self) -> Option<&Session> {
        Some(&self.shown_run()?.session)
    }

    /// Returns the picture to draw.
    pub fn run_view(&self) -> Option<&RunView> {
        let shown = self.shown_run().map(|run| &run.view);
        self.frozen.as_ref().or(shown).or(self.last_view.as_ref())
    }

    /// Reads the latencies over time, if they are shown.
    pub fn read_heat(&mut self) {
        let run = self.run.as_mut().or(self.replay.as_mut().map(Replay::run_mut));
        if let Some(run) = run.filter(|_| self.shows_heat) {
            run.read_heat(false);
        }
    }

    /// Returns the run that is shown: in progress, or replayed.
    fn shown_run(&self) -> Option<&LiveRun> {
        self.run.as_ref().or(self.replay.as_ref().map(Replay::run))
    }

    /// Returns whether a replay is playing.
    pub fn is_playing(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| !replay.is_paused)
    }

    /// Returns the status of the current run for other screens.
    pub fn status(&self, look: &Look) -> Option<RunStatus> {
        let run = self.run.as_ref()?;
        Some(RunStatus {
            plan: Arc::clone(&run.view.plan),
            probe: self.probe_index(),
            request: self.describe_request(look),
            is_paused: run.pausing && !run.stopping,
            counter: run.view.counter(),
        })
    }

    /// Describes the state for the header in at most `room` columns: `idle`, `paused`, or how far
    /// the run is.
    pub fn describe(&self, look: &Look, room: usize) -> String {
        let Some(run) = &self.run else {
            return self.replay.as_ref().map_or_else(|| "idle".into(), Replay::describe);
        };
        self.describe_request(look)
            .unwrap_or_else(|| run.view.counter().describe(look.glyph(" · ", " - "), room))
    }

    /// Describes the state, cell and rate of a run in progress in at most `room` columns, for a
    /// terminal that is too small for panes.
    pub fn describe_run(&self, look: &Look, room: usize) -> Option<String> {
        let view = &self.run.as_ref()?.view;
        let step = view.progress.as_ref().and_then(RunStep::from_progress);
        let rate = view.recent.rate(view.measure().lane_value());
        let rate = rate.or(view.last.as_ref().map(|last| last.rate));
        let parts: Vec<String> = step
            .and_then(|step| view.label(step))
            .into_iter()
            .chain(rate.map(|rate| view.metric().show(rate, look.unit)))
            .collect();
        let dot = look.glyph(" · ", " - ");
        let rest: usize = parts.iter().map(|part| pane::width(part) + pane::width(dot)).sum();
        let state = self.describe(look, room.saturating_sub(rest));
        let parts = std::iter::once(state).chain(parts).collect::<Vec<_>>();
        Some(pane::fit_parts(&parts.join(dot), dot, room))
    }

    /// Describes the request that interrupts the run, as a pause; `None` while it continues.
    fn describe_request(&self, look: &Look) -> Option<String> {
        let run = self.run.as_ref()?;
        let more = look.glyph("…", "...");
        if run.stopping {
            Some(format!("stopping{more}"))
        } else if run.pausing && !run.is_paused() && run.suspended == Suspension::No {
            Some(format!("pausing{more}"))
        } else {
            run.pausing.then(|| "paused".into())
        }
    }

    /// Returns whether other trials are shown than by default.
    pub fn is_zoomed(&self) -> bool {
        self.window != TrialWindow::default()
    }

    /// Shows what is shown by default.
    pub fn reset_view(&mut self) {
        (self.window, self.scroll) = (TrialWindow::default(), 0);
        self.frozen = None;
    }

    /// Returns the plan of the current run.
    pub fn plan(&self) -> Option<&Plan> {
        self.run.as_ref().map(|run| &*run.view.plan)
    }

    /// Returns the index in the plan of the current probe.
    fn probe_index(&self) -> Option<u32> {
        self.run.as_ref()?.view.progress?.probe
    }

    /// Returns the session so far if probes were measured since the last call.
    pub fn take_session_with_new_probes(&mut self) -> Option<&Session> {
        let run = self.run.as_mut()?;
        std::mem::take(&mut run.has_new_probes).then_some(&run.session)
    }

    /// Returns the session so far if it has grown since the last call.
    pub fn take_growth(&mut self, now: Duration) -> Option<SessionView> {
        self.run.as_mut()?.take_growth(now)
    }

    /// Returns the seconds that the run has taken so far, without pauses.
    pub fn run_seconds(&self) -> f64 {
        self.run.as_ref().map_or(0.0, |run| run.view.now)
    }

    /// Returns why the run that is shown is not completely saved; a replay is of a kept one.
    pub fn shown_unsaved(&self) -> Option<&str> {
        if self.replay.is_some() { None } else { self.unsaved() }
    }

    /// Returns why the last run is not completely saved.
    pub fn unsaved(&self) -> Option<&str> {
        self.unsaved.as_deref()
    }

    /// Returns the session id of the last run.
    pub fn session_id(&self) -> Option<&str> {
        Some(self.session_id.as_str()).filter(|id| !id.is_empty())
    }

    /// Returns whether a stop was requested and is pending.
    pub fn is_stopping(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.stopping)
    }

    /// Returns the target of the run.
    pub fn target(&self) -> String {
        self.shown_run().map(|run| run.view.target.clone()).unwrap_or_default()
    }
}
