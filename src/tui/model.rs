//! All that the full screen knows. [`super::update`] changes it, [`super::view`] draws it; neither
//! touches anything else.

use std::path::PathBuf;
use std::time::Duration;

use super::compare::Compare;
use super::curves::Metric;
use super::host::HostScreen;
use super::lab::Lab;
use super::live::Live;
use super::popup::Popup;
use super::results::Results;
use super::sessions::Sessions;
use super::setup::Setup;
use super::theme::Look;
use super::toast::Toasts;
use crate::plan::{Preset, Presets};
use crate::record::Warning;
use crate::report::Spread;

/// The screens, in the order of their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Screen {
    Setup,
    Live,
    Results,
    Sessions,
    Lab,
    Host,
    /// Opened from Sessions: it has no key of its own.
    Compare,
}

impl Screen {
    /// Those with a key.
    pub const ALL: &'static [Screen] = &[
        Screen::Setup,
        Screen::Live,
        Screen::Results,
        Screen::Sessions,
        Screen::Lab,
        Screen::Host,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Screen::Setup => "Setup",
            Screen::Live => "Live",
            Screen::Results => "Results",
            Screen::Sessions => "Sessions",
            Screen::Lab => "Lab",
            Screen::Host => "Host",
            Screen::Compare => "Compare",
        }
    }
}

/// The way out: asked for, waiting for the run to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaving {
    pub code: u8,
    /// When it was asked for; a run that hangs is waited for a little more than a second.
    pub since: Duration,
}

/// What is said on the normal screen after the full screen is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Farewell {
    pub lines: Vec<String>,
}

#[derive(Debug)]
pub struct Model {
    pub screen: Screen,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Since the start; the shell tells it with every message.
    pub now: Duration,
    pub look: Look,
    /// The last one is on top and gets the keys.
    pub popups: Vec<Popup>,
    pub toasts: Toasts,
    pub presets: Vec<Preset>,
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
    /// The session that was measured last, for the farewell.
    pub last_session: Option<(PathBuf, String)>,
}

impl Model {
    pub fn new(look: Look, presets: Vec<Preset>, setup: Setup) -> Model {
        let mut turned = Metric::turned(&look);
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
            look,
            popups: Vec::new(),
            toasts: Toasts::default(),
            presets,
            setup,
            live: Live::begun(look.begins_log(false)),
            results: Results::begun(turned, look.unit),
            sessions: Sessions::default(),
            compare: Compare::begun(Metric::turned(&look)),
            lab,
            host: HostScreen::default(),
            exports: 0,
            leaving: None,
            last_session: None,
        }
    }

    /// What the doctor says: with the plan of Setup where there is one.
    pub fn findings(&self) -> &[Warning] {
        self.setup.findings().unwrap_or(&self.host.findings)
    }

    /// A run goes on, or is about to.
    pub fn running(&self) -> bool {
        self.live.running()
    }

    /// The picture changes without a key: time is shown, or a message goes away by itself.
    pub fn ticks(&self) -> bool {
        self.running() || !self.toasts.is_empty() || self.leaving.is_some() || self.setup.waits()
    }

    /// What the normal screen says at the end.
    pub fn farewell(&self) -> Farewell {
        let lines = self.last_session.iter().flat_map(|(path, answer)| {
            let answer = (!answer.is_empty()).then(|| answer.clone());
            let saved = match super::live::unsaved(self) {
                None => format!("saved   {}", crate::text::shown(path)),
                Some(why) => format!("this run is saved only in part: {why}"),
            };
            answer.into_iter().chain([saved])
        });
        Farewell { lines: lines.collect() }
    }
}
