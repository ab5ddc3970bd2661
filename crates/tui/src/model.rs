//! The state of the full screen. [`super::update`] changes it, [`super::view`] draws it; neither
//! has side effects.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::compare::Compare;
use super::context::Context;
use super::curves::{self, Metric};
use super::host::HostScreen;
use super::lab::Lab;
use super::live::Live;
use super::msg::HeldRun;
use super::palette::{Goal, Sources};
use super::popup::Popup;
use super::read_out::Pointer;
use super::results::Results;
use super::screen::Screen;
use super::session_view::SessionView;
use super::sessions::Sessions;
use super::setup::Setup;
use super::start::sort_by_question;
use super::theme::{Look, Themes};
use super::toast::Toasts;
use super::view::Hits;
use super::warning_groups::WarningGroup;
use crate::plan::{Plan, Preset, Presets};
use crate::report::Spread;
use crate::session::Session;

/// A requested exit that waits for the run to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaving {
    pub code: u8,
    /// Time of the request; a run that hangs is abandoned shortly after one second.
    pub since: Duration,
}

/// The lines printed on the normal screen after the full screen is closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Farewell {
    pub lines: Vec<String>,
}

impl Farewell {
    /// Returns the lines broken between words, as reports are; paths stay whole.
    pub fn wrap(&self, columns: usize) -> Vec<String> {
        let parts = |line: &String| {
            // The columns of a line that fits stay aligned.
            let stays = line.starts_with(SAVED) || crate::text::width(line) <= columns;
            if stays { vec![line.clone()] } else { crate::text::wrap(line, columns) }
        };
        self.lines.iter().flat_map(parts).collect()
    }
}

const SAVED: &str = "saved   ";

/// The states of the screens.
#[derive(Debug)]
pub struct Screens<'a> {
    pub setup: &'a mut Setup,
    pub live: &'a mut Live,
    pub results: &'a mut Results,
    pub sessions: &'a mut Sessions,
    pub compare: &'a mut Compare,
    pub lab: &'a mut Lab,
    pub host: &'a mut HostScreen,
}

#[derive(Debug)]
pub struct Model {
    pub screen: Screen,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Time since the start; the shell updates it with every message.
    pub now: Duration,
    /// The time of day, and when it was that since the start. It is updated with what depends on
    /// it: `now` stands still while the machine is suspended.
    pub clock: Option<(SystemTime, Duration)>,
    pub look: Look,
    pub themes: Themes,
    pub pointer: Pointer,
    /// The layout of the last frame.
    pub hits: Hits,
    /// The last one is on top and receives the keys.
    pub popups: Vec<Popup>,
    /// A run that begins when another iotui has ended.
    pub held: Option<HeldRun>,
    /// When another iotui was looked for last.
    pub looked: Duration,
    pub toasts: Toasts,
    pub presets: Vec<Preset>,
    /// The last choices in the palette, the newest first.
    pub recent: Vec<Goal>,
    pub setup: Setup,
    pub live: Live,
    pub results: Results,
    pub sessions: Sessions,
    pub compare: Compare,
    pub lab: Lab,
    pub host: HostScreen,
    /// The number of the last export.
    pub exports: u64,
    pub leaving: Option<Leaving>,
    /// The end of a long run rings.
    pub rings: bool,
    /// Path and scoreboard of the last run, for the farewell.
    pub last_session: Option<(PathBuf, String)>,
}

impl Model {
    pub fn new(look: Look, mut presets: Vec<Preset>, setup: Setup) -> Model {
        sort_by_question(&mut presets);
        let mut turned = curves::flipped_metrics(&look);
        if look.scale == Spread::Auto && setup.log_y {
            turned.push(Metric::Throughput);
        }
        let lab = Lab::new(
            presets
                .iter()
                .find(|preset| preset.id == Presets::LAB)
                .unwrap_or(&setup.preset)
                .clone(),
        );
        Model {
            screen: Screen::Setup,
            size: (80, 24),
            now: Duration::ZERO,
            clock: None,
            look,
            themes: Themes::built_in().clone(),
            pointer: Pointer::default(),
            hits: Hits::default(),
            popups: Vec::new(),
            held: None,
            looked: Duration::ZERO,
            toasts: Toasts::default(),
            presets,
            recent: Vec::new(),
            setup,
            live: Live::with_log_axis(look.fixed_log()),
            results: Results::with_axes(turned, look.unit),
            sessions: Sessions::default(),
            compare: Compare { turned: curves::flipped_metrics(&look), ..Compare::default() },
            lab,
            host: HostScreen::default(),
            exports: 0,
            leaving: None,
            rings: true,
            last_session: None,
        }
    }

    /// Shows the theme of this name.
    pub fn use_theme(&mut self, id: &str) {
        self.look.theme = self.themes.theme(id, self.look.colours);
    }

    /// Returns the time of day, if it is known.
    pub fn time(&self) -> Option<SystemTime> {
        let (time, at) = self.clock?;
        time.checked_add(self.now.saturating_sub(at))
    }

    /// Borrows the screens and the context of their updates separately.
    pub fn split(&mut self) -> (Screens<'_>, Context<'_>) {
        let context = Context {
            now: self.now,
            time: self.time(),
            size: self.size,
            screen: self.screen,
            look: &self.look,
            presets: &self.presets,
            run: self.live.status(&self.look),
            hits: &self.hits,
            toasts: &mut self.toasts,
            popups: &mut self.popups,
            requests: Vec::new(),
        };
        let screens = Screens {
            setup: &mut self.setup,
            live: &mut self.live,
            results: &mut self.results,
            sessions: &mut self.sessions,
            compare: &mut self.compare,
            lab: &mut self.lab,
            host: &mut self.host,
        };
        (screens, context)
    }

    /// Returns the data that the palette lists.
    pub fn palette_sources(&self) -> Sources<'_> {
        Sources {
            screen: self.screen,
            presets: &self.presets,
            setup: &self.setup,
            sessions: &self.sessions,
            recent: &self.recent,
        }
    }

    /// Returns whether a run is in progress or about to start.
    pub fn running(&self) -> bool {
        self.live.is_running()
    }

    /// Returns whether Live shows the last run and rounds can be added to it.
    pub fn can_refine_last_run(&self) -> bool {
        let is_last = |view: &SessionView| view.session.id == self.live.session_id;
        self.live.replay.is_none()
            && self.results.can_refine()
            && self.results.view().is_some_and(is_last)
    }

    /// Returns the kinds of warnings of the run on Live, else of the session on Results.
    pub fn warnings(&self) -> Vec<WarningGroup> {
        match (self.screen, self.live.warnings()) {
            (Screen::Live, Some(warnings)) => warnings,
            _ => self.results.warnings().to_vec(),
        }
    }

    /// Returns the session that [`Model::warnings`] are about.
    pub fn warned_session(&self) -> Option<&Session> {
        match (self.screen, self.live.session()) {
            (Screen::Live, Some(session)) => Some(session),
            _ => self.results.view().map(|view| &view.session),
        }
    }

    /// Returns the plan of that session if Setup can show it: one of this machine, with a file.
    pub fn warned_plan(&self) -> Option<&Plan> {
        let session = self.warned_session().filter(|session| session.reference.is_none())?;
        Some(&session.plan).filter(|plan| !plan.cells.is_empty())
    }

    /// Returns the plan on whose disk another iotui measures, as long as that matters.
    pub fn disturbed_plan(&self) -> Option<Arc<Plan>> {
        let is_on_setup = self.screen == Screen::Setup && !self.running();
        let shown = || self.setup.planning.other_run().and(self.setup.plan()).cloned();
        let held = self.held.as_ref().map(|held| Arc::clone(&held.run.plan));
        held.or_else(|| shown().filter(|_| is_on_setup).map(Arc::new))
    }

    /// Returns whether the picture changes without input: a clock is visible, or a message expires.
    pub fn ticks(&self) -> bool {
        self.running()
            || (self.live.is_playing() && self.screen == Screen::Live)
            || !self.toasts.is_empty()
            || self.leaving.is_some()
            || self.disturbed_plan().is_some()
            || (self.screen == Screen::Setup && self.setup.is_waiting())
    }

    /// Returns what to print on the normal screen at the end.
    pub fn farewell(&self) -> Farewell {
        let lines = self.last_session.iter().flat_map(|(path, answer)| {
            let saved = match self.live.unsaved() {
                None => format!("{SAVED}{}", crate::text::show_path(path)),
                Some(why) => format!("this run is saved only in part: {why}"),
            };
            answer.lines().map(String::from).chain([saved])
        });
        Farewell { lines: lines.collect() }
    }
}
