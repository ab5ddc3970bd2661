//! The parts of the model that a screen may use with its own state; never the whole model.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ratatui::layout::{Position, Rect};

use super::keymap::Action;
use super::live::Counter;
use super::msg::{NewRun, Replayed};
use super::popup::Popup;
use super::screen::Screen;
use super::theme::Look;
use super::toast::Toasts;
use super::view::{Hits, areas};
use crate::plan::{Plan, Preset, ProbeCell, Settings};

/// The running run, as other screens see it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStatus {
    pub plan: Arc<Plan>,
    /// Index into the plan of the probe being measured.
    pub probe: Option<u32>,
    /// The request that holds it up: `pausing…`.
    pub request: Option<String>,
    /// Whether a pause was asked for or is in effect.
    pub is_paused: bool,
    /// How far it is.
    pub counter: Counter,
}

impl RunStatus {
    /// Returns whether the run measures probes, alone or with files.
    pub fn measures_probes(&self) -> bool {
        !self.plan.probes.is_empty()
    }

    /// Returns the probe cell being measured.
    pub fn probe_cell(&self) -> Option<&ProbeCell> {
        self.plan.probes.get(self.probe? as usize)
    }
}

/// The data that an update may read and change outside the state of its screen.
#[derive(Debug)]
pub struct Context<'a> {
    /// Since the start.
    pub now: Duration,
    /// The time of day, if it is known.
    pub time: Option<SystemTime>,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The visible screen, not always the one being updated.
    pub screen: Screen,
    pub look: &'a Look,
    pub presets: &'a [Preset],
    pub run: Option<RunStatus>,
    /// The layout of the last frame.
    pub hits: &'a Hits,
    pub toasts: &'a mut Toasts,
    pub popups: &'a mut Vec<Popup>,
    /// Performed once the update has returned.
    pub requests: Vec<Request>,
}

impl Context<'_> {
    /// Returns the area of the screen.
    pub fn body(&self) -> Rect {
        areas(self.size).body
    }

    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// Returns whether a run is measuring probes.
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
        self.toasts.fail(self.now, text);
    }

    pub fn request(&mut self, request: Request) {
        self.requests.push(request);
    }
}

/// The data that a view may read outside the state of its screen.
#[derive(Debug, Clone, Copy)]
pub struct ViewContext<'a> {
    /// Since the start.
    pub now: Duration,
    /// The time of day, if it is known.
    pub time: Option<SystemTime>,
    pub look: &'a Look,
    pub run: Option<&'a RunStatus>,
    /// A popup covers the screen and has the focus.
    pub is_covered: bool,
    /// The message in the last line, which a screen must not repeat.
    pub told: Option<&'a str>,
    /// Where the mouse is over the charts of the screen.
    pub pointer: Option<Position>,
}

impl ViewContext<'_> {
    /// Returns whether a run is measuring probes.
    pub fn measures_probes(&self) -> bool {
        self.run.is_some_and(RunStatus::measures_probes)
    }
}

/// A request to the rest of the program, performed by the update of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Go(Screen),
    /// Run a plan and show its progress, unless another run is in its way.
    Start(NewRun),
    /// Replay a session on Live.
    Replay(Replayed),
    /// Report that a run is in progress and no other can start.
    RefuseRun,
    /// Leave the replay: show the results of its session, or go back.
    EndReplay {
        shows_results: bool,
    },
    /// Pause the run, skip a cell, or stop the run.
    Steer(Action),
    /// Offer to add rounds to the session on Results.
    Refine,
    /// Toggle the comparison mark of a session.
    MarkSession {
        id: String,
        /// Only saved sessions can be compared.
        is_saved: bool,
    },
    /// Compare these sessions; the first is the baseline.
    Compare(Vec<String>),
    /// Remember whether throughput plots have a logarithmic axis.
    RememberLogAxis(bool),
    /// Find out which probes are available.
    InspectProbes,
    /// Plan the chosen probes, to run them.
    PlanProbes {
        number: u64,
        probes: Box<ProbeChoice>,
    },
    /// Copy the command line that measures the chosen probes.
    CopyProbes(Box<ProbeChoice>),
}

/// The probes selected on Lab, in the form the planner expects.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeChoice {
    pub preset: Preset,
    pub settings: Settings,
    /// Whether a file probe is selected; without one, a missing target must not fail the plan.
    pub needs_target: bool,
}
