//! What Live knows: the run, its last picture, and how it is seen.

use std::sync::Arc;
use std::time::Duration;

use super::run::{Run, Suspension};
use super::run_view::RunView;
use super::window::Zoom;
use crate::plan::Plan;
use crate::session::Session;
use crate::tui::context::RunStatus;
use crate::tui::theme::Look;
use crate::units;

/// A picture that holds still while the run goes on.
#[derive(Debug)]
pub struct Frozen(pub RunView);

#[derive(Debug, Default)]
pub struct Live {
    pub run: Option<Run>,
    pub frozen: Option<Frozen>,
    /// The last picture of the run before.
    pub last_view: Option<RunView>,
    /// The id of the session of the last run; empty: it has no file.
    pub session_id: String,
    /// Why not all of it is in its file.
    pub unsaved: Option<String>,
    pub zoom: Zoom,
    /// The curve has a logarithmic axis.
    pub log: bool,
}

impl Live {
    /// Before anything ran; `log`: the curve has a logarithmic axis.
    pub fn with_log_axis(log: bool) -> Live {
        Live { log, ..Live::default() }
    }

    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// What is to be drawn.
    pub fn run_view(&self) -> Option<&RunView> {
        let frozen = self.frozen.as_ref().map(|frozen| &frozen.0);
        frozen.or(self.run.as_ref().map(|run| &run.view)).or(self.last_view.as_ref())
    }

    /// What other screens may know of the run that goes on.
    pub fn status(&self, look: &Look) -> Option<RunStatus> {
        let run = self.run.as_ref()?;
        Some(RunStatus {
            plan: Arc::clone(&run.view.plan),
            probe: self.probe_index(),
            state: self.describe(look),
            progress: self.progress(),
        })
    }

    /// The state for the first line: `idle`, `running 17 of 54`.
    pub fn describe(&self, look: &Look) -> String {
        let more = look.glyph("…", "...");
        match &self.run {
            None => "idle".into(),
            Some(run) if run.stopping => format!("stopping{more}"),
            Some(run) if run.pausing && run.is_paused() => "paused".into(),
            Some(run) if run.pausing && run.suspended == Suspension::No => format!("pausing{more}"),
            Some(run) if run.pausing => "paused".into(),
            // Probes are counted_trials by nothing that a person would count.
            Some(run) if run.view.cell().is_none() && self.probe_index().is_some() => {
                describe_percent(run)
            }
            Some(run) => format!("running {}", run.view.cell_progress),
        }
    }

    /// The state where there is no room for it all: `running 12 %`.
    pub fn describe_briefly(&self, look: &Look) -> String {
        let state = self.describe(look);
        match &self.run {
            Some(run) if state.starts_with("running") => describe_percent(run),
            _ => state,
        }
    }

    /// The plan that runs.
    pub fn plan(&self) -> Option<&Plan> {
        self.run.as_ref().map(|run| &*run.view.plan)
    }

    /// The probe that is measured now, by its place in the plan.
    fn probe_index(&self) -> Option<u32> {
        self.run.as_ref()?.view.progress?.probe
    }

    /// The percent of the run that are done, and what is left of it in words.
    fn progress(&self) -> Option<(u32, String)> {
        let view = &self.run.as_ref()?.view;
        let (percent, (_, left)) = (view.percent()?, view.estimate_progress()?);
        Some((percent, format!("{} left", units::show_wait(Duration::from_secs_f64(left)))))
    }

    /// The session as far as it is, where probes were measured since this was asked the last time.
    pub fn take_session_with_new_probes(&mut self) -> Option<&Session> {
        let run = self.run.as_mut()?;
        std::mem::take(&mut run.has_new_probes).then_some(&run.session)
    }

    /// Why not all of the last run is in its file.
    pub fn unsaved(&self) -> Option<&str> {
        self.unsaved.as_deref()
    }

    /// The session of the last run.
    pub fn session_id(&self) -> Option<&str> {
        Some(self.session_id.as_str()).filter(|id| !id.is_empty())
    }

    /// The run was told to stop, and has not yet.
    pub fn is_stopping(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.stopping)
    }

    /// The target of the run.
    pub fn target(&self) -> String {
        self.run.as_ref().map(|run| run.view.target.clone()).unwrap_or_default()
    }
}

fn describe_percent(run: &Run) -> String {
    format!("running {} %", run.view.percent().unwrap_or(0))
}
