//! What a screen is given beside its own state: never the model.

use std::sync::Arc;
use std::time::Duration;

use ratatui::layout::Rect;

use super::keymap::Action;
use super::popup::Popup;
use super::screen::Screen;
use super::theme::Look;
use super::toast::Toasts;
use super::view::areas;
use crate::plan::{Plan, Preset, ProbeCell, Settings};

/// The run that goes on, as other screens know it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStatus {
    pub plan: Arc<Plan>,
    /// The probe that is measured now, by its place in the plan.
    pub probe: Option<u32>,
    /// As the first line says it: `running 17 of 54`, `pausing…`.
    pub state: String,
    /// The percent of the run that are done, and what is left of it in words.
    pub progress: Option<(u32, String)>,
}

impl RunStatus {
    /// The run measures probes, alone or beside files.
    pub fn measures_probes(&self) -> bool {
        !self.plan.probes.is_empty()
    }

    /// The probe cell that is measured now.
    pub fn probe_cell(&self) -> Option<&ProbeCell> {
        self.plan.probes.get(self.probe? as usize)
    }
}

/// What an update of a screen may read and change beside the screen's state.
#[derive(Debug)]
pub struct Context<'a> {
    /// Since the start.
    pub now: Duration,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The screen that is shown: not always the one that is updated.
    pub screen: Screen,
    pub look: &'a Look,
    pub presets: &'a [Preset],
    pub run: Option<RunStatus>,
    pub toasts: &'a mut Toasts,
    pub popups: &'a mut Vec<Popup>,
    /// Performed once the update has returned.
    pub requests: Vec<Request>,
}

impl Context<'_> {
    /// Where the screen is drawn.
    pub fn body(&self) -> Rect {
        areas(self.size).body
    }

    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// A run goes on that measures probes.
    pub fn measures_probes(&self) -> bool {
        self.run.as_ref().is_some_and(RunStatus::measures_probes)
    }

    pub fn succeed(&mut self, text: impl Into<String>) {
        self.toasts.good(self.now, text);
    }

    pub fn note(&mut self, text: impl Into<String>) {
        self.toasts.note(self.now, text);
    }

    pub fn fail(&mut self, text: impl Into<String>) {
        self.toasts.failed(self.now, text);
    }

    pub fn request(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// What a view of the screen is given.
    pub fn view(&self) -> ViewContext<'_> {
        ViewContext {
            now: self.now,
            look: self.look,
            run: self.run.as_ref(),
            is_covered: !self.popups.is_empty(),
        }
    }
}

/// What a view may read beside the screen's state.
#[derive(Debug, Clone, Copy)]
pub struct ViewContext<'a> {
    /// Since the start.
    pub now: Duration,
    pub look: &'a Look,
    pub run: Option<&'a RunStatus>,
    /// A popup lies over the screen, and has the focus.
    pub is_covered: bool,
}

impl ViewContext<'_> {
    /// A run goes on that measures probes.
    pub fn measures_probes(&self) -> bool {
        self.run.is_some_and(RunStatus::measures_probes)
    }
}

/// What a screen wants done that is not its own: the update of the model does it.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Go(Screen),
    /// Run a plan, and show it.
    Start(Arc<Plan>),
    /// Say that a run goes on: no other can start.
    RefuseRun,
    /// Pause, skip or stop what runs.
    Steer(Action),
    /// Mark a session to be compared, or take its mark away.
    MarkSession {
        id: String,
        /// It is saved: only such sessions can be compared.
        is_saved: bool,
    },
    /// Compare these sessions with the first of them.
    Compare(Vec<String>),
    /// Remember whether plots of throughput have a logarithmic axis.
    RememberLogAxis(bool),
    /// Find out what probes can be measured here.
    InspectProbes,
    /// Plan the chosen probes, to run them.
    PlanProbes {
        number: u64,
        probes: Box<ProbeChoice>,
    },
    /// Copy the command line that measures the chosen probes.
    CopyProbes(Box<ProbeChoice>),
}

/// The probes that are chosen on Lab, as the planner takes them.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeChoice {
    pub preset: Preset,
    pub settings: Settings,
    /// A probe of files is among them: the others would fail with a target that is gone.
    pub needs_target: bool,
}
