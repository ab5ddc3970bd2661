//! The state of Live: the run, its last picture, zoom and axis.

use std::sync::Arc;
use std::time::Duration;

use super::replay::Replay;
use super::run::{Run, Suspension};
use super::run_view::RunView;
use super::window::Zoom;
use crate::plan::Plan;
use crate::session::Session;
use crate::tui::context::RunStatus;
use crate::tui::theme::Look;
use crate::units;

/// A frozen picture of a run that continues.
#[derive(Debug)]
pub struct Frozen(pub RunView);

#[derive(Debug, Default)]
pub struct Live {
    pub run: Option<Run>,
    /// A kept session that is replayed; never during a run.
    pub replay: Option<Replay>,
    pub frozen: Option<Frozen>,
    /// The last picture of the previous run.
    pub last_view: Option<RunView>,
    /// The id of the session of the last run; empty: it has no file.
    pub session_id: String,
    /// Why the run is not completely saved.
    pub unsaved: Option<String>,
    pub zoom: Zoom,
    /// The curve has a logarithmic axis.
    pub log: bool,
}

impl Live {
    /// Creates the state before the first run; `log`: the curve has a logarithmic axis.
    pub fn with_log_axis(log: bool) -> Live {
        Live { log, ..Live::default() }
    }

    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// Returns the picture to draw.
    pub fn run_view(&self) -> Option<&RunView> {
        let frozen = self.frozen.as_ref().map(|frozen| &frozen.0);
        let run = self.run.as_ref().or(self.replay.as_ref().map(Replay::run));
        frozen.or(run.map(|run| &run.view)).or(self.last_view.as_ref())
    }

    /// Returns whether a replay goes on by itself.
    pub fn is_playing(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| !replay.is_paused)
    }

    /// Returns the status of the current run for other screens.
    pub fn status(&self, look: &Look) -> Option<RunStatus> {
        let run = self.run.as_ref()?;
        Some(RunStatus {
            plan: Arc::clone(&run.view.plan),
            probe: self.probe_index(),
            state: self.describe(look),
            progress: self.progress(),
        })
    }

    /// Describes the state for the header: `idle`, `running 17 of 54`.
    pub fn describe(&self, look: &Look) -> String {
        let more = look.glyph("…", "...");
        match &self.run {
            None => self.replay.as_ref().map_or_else(|| "idle".into(), Replay::describe),
            Some(run) if run.stopping => format!("stopping{more}"),
            Some(run) if run.pausing && run.is_paused() => "paused".into(),
            Some(run) if run.pausing && run.suspended == Suspension::No => format!("pausing{more}"),
            Some(run) if run.pausing => "paused".into(),
            // A count of probes would mean little to a person.
            Some(run) if run.view.cell().is_none() && self.probe_index().is_some() => {
                describe_percent(run)
            }
            Some(run) => format!("running {}", run.view.cell_progress),
        }
    }

    /// Describes the state in a narrow header: `running 12 %`.
    pub fn describe_briefly(&self, look: &Look) -> String {
        let state = self.describe(look);
        match &self.run {
            Some(run) if state.starts_with("running") => describe_percent(run),
            _ => state,
        }
    }

    /// Returns the plan of the current run.
    pub fn plan(&self) -> Option<&Plan> {
        self.run.as_ref().map(|run| &*run.view.plan)
    }

    /// Returns the index in the plan of the current probe.
    fn probe_index(&self) -> Option<u32> {
        self.run.as_ref()?.view.progress?.probe
    }

    /// Returns the completed percent and the remaining time as text.
    fn progress(&self) -> Option<(u32, String)> {
        let view = &self.run.as_ref()?.view;
        let (percent, (_, left)) = (view.percent()?, view.estimate_progress()?);
        Some((percent, format!("{} left", units::show_wait(Duration::from_secs_f64(left)))))
    }

    /// Returns the session so far if probes were measured since the last call.
    pub fn take_session_with_new_probes(&mut self) -> Option<&Session> {
        let run = self.run.as_mut()?;
        std::mem::take(&mut run.has_new_probes).then_some(&run.session)
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
        let run = self.run.as_ref().or(self.replay.as_ref().map(Replay::run));
        run.map(|run| run.view.target.clone()).unwrap_or_default()
    }
}

fn describe_percent(run: &Run) -> String {
    format!("running {} %", run.view.percent().unwrap_or(0))
}
