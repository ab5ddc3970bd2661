//! What Setup knows: the choices, where the cursor is, and the plan that was made of the choices.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::browser::{Browser, Row};
use super::command_line::build_command;
use super::objection::Constraints;
use super::slider::{Band, End};
use crate::engine::{self, Proposed};
use crate::experiment::usual;
use crate::host::TargetFacts;
use crate::plan::{Info, Plan, Preset, Settings, TargetSpec};
use crate::record::Warning;
use crate::tui::msg::Effect;
use crate::tui::question::Question;
use crate::tui::remember::Remembered;
use crate::tui::theme::Look;
use crate::units::show_bytes;

/// The panes, in the order of Tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    Target,
    Backends,
    Workload,
    Blocks,
    Plan,
}

impl Pane {
    pub const ALL: &'static [Pane] =
        &[Pane::Target, Pane::Backends, Pane::Workload, Pane::Blocks, Pane::Plan];

    /// The pane so many further; they come round.
    pub fn cycle(self, by: usize) -> Pane {
        let at = Pane::ALL.iter().position(|pane| *pane == self).unwrap_or(0);
        Pane::ALL[(at + by) % Pane::ALL.len()]
    }
}

/// Questions for a plan under way at the same time; the last one always follows.
const MAX_PENDING: usize = 2;
/// A plan that takes longer is waited for visibly.
const LATE_AFTER: Duration = Duration::from_millis(250);

/// The plan of the choices, and the way to it.
#[derive(Debug, Default)]
pub struct Planning {
    /// Of the newest question.
    pub number: u64,
    answered: u64,
    pending: Vec<u64>,
    pub since: Duration,
    pub proposed: Option<Result<Box<Proposed>, String>>,
    pub findings: Option<Vec<Warning>>,
    /// What it is expected to give; empty where no fact tells.
    pub expected: String,
    pub unavailable: Vec<(&'static str, String)>,
    /// `r` was pressed before the plan was there.
    pub run_when_ready: bool,
}

impl Planning {
    /// The newest question has its answer.
    pub fn is_settled(&self) -> bool {
        self.answered == self.number && self.proposed.is_some()
    }

    /// The answer is late.
    pub fn is_late(&self, now: Duration) -> bool {
        !self.is_settled() && now.saturating_sub(self.since) >= LATE_AFTER
    }

    /// What was planned last; maybe of choices that have changed since.
    pub fn last_proposal(&self) -> Option<&Proposed> {
        self.proposed.as_ref()?.as_ref().ok().map(|proposed| &**proposed)
    }

    /// An answer came; whether it is that to the newest question.
    pub fn accept_answer(
        &mut self,
        number: u64,
        result: Result<Box<Proposed>, String>,
        findings: Vec<Warning>,
    ) -> bool {
        self.pending.retain(|sent| *sent != number);
        if number != self.number {
            return false;
        }
        if let Ok(proposed) = &result {
            self.unavailable.clone_from(&proposed.unavailable);
        }
        self.answered = number;
        self.proposed = Some(result);
        self.findings = Some(findings);
        true
    }
}

#[derive(Debug)]
pub struct Setup {
    pub file: Option<PathBuf>,
    pub dir: Option<PathBuf>,
    /// Only what the user said; the preset fills the gaps.
    pub settings: Settings,
    pub preset: Preset,
    pub focus: Pane,
    pub browser: Browser,
    /// Cursors: a backend, a row of what to do, a box of that row.
    pub backend: usize,
    pub row: usize,
    pub mark: usize,
    /// The end of the slider that moves.
    pub end: End,
    pub scroll: usize,
    pub planning: Planning,
    /// The target is known to be there.
    pub exists: bool,
    /// Something was changed that is not remembered yet.
    pub dirty: bool,
    pub log_y: bool,
    pub infos: Vec<&'static Info>,
}

impl Setup {
    pub fn new(
        file: Option<PathBuf>,
        dir: Option<PathBuf>,
        preset: Preset,
        settings: Settings,
    ) -> Setup {
        let focus = if file.is_some() { Pane::Plan } else { Pane::Target };
        Setup {
            file,
            dir,
            settings,
            preset,
            focus,
            browser: Browser::new(PathBuf::from("/")),
            backend: 0,
            row: 0,
            mark: 0,
            end: End::default(),
            scroll: 0,
            planning: Planning::default(),
            exists: false,
            dirty: false,
            log_y: false,
            infos: engine::infos(),
        }
    }

    /// With what was kept of the last time; `here` is the folder that is shown.
    pub fn with_remembered(mut self, remembered: &Remembered, here: &Path, fresh: bool) -> Setup {
        let own = self
            .file
            .as_deref()
            .and_then(Path::parent)
            .map(|parent| here.join(parent).components().collect());
        self.browser = Browser::new(own.unwrap_or_else(|| here.into()));
        self.browser.start = here.into();
        self.browser.recent.clone_from(&remembered.recent);
        self.browser.last_folder.clone_from(&remembered.folder);
        self.browser.build_rows();
        self.log_y = remembered.log_y;
        if fresh {
            self.settings = remembered.settings.clone();
            if self.file.is_some() {
                // A named file is there to be read.
                self.settings.unset("op");
                self.settings.unset("sync");
                self.settings.unset("mix");
            }
        }
        self
    }

    /// What is asked for before the first key.
    pub fn start(&mut self) -> Vec<Effect> {
        self.browser.loading = Some(self.browser.dir.clone());
        let mut effects = vec![Effect::List(self.browser.dir.clone())];
        effects.extend(self.request_plan());
        effects
    }

    /// After a change: asks for the plan anew.
    pub fn replan(&mut self, now: Duration) -> Vec<Effect> {
        if self.planning.is_settled() {
            self.planning.since = now;
        }
        self.scroll = 0;
        self.dirty = true;
        self.request_plan().into_iter().collect()
    }

    /// Gives a pane the focus.
    pub fn focus_on(&mut self, pane: Pane) {
        self.focus = pane;
        self.browser.typing = false;
    }

    /// What is chosen as a command line.
    pub fn command(&self) -> String {
        build_command(self.file.as_deref(), self.dir.as_deref(), &self.preset, &self.settings)
    }

    /// The target for the first line: what has no room loses its front, so the name stands last.
    pub fn describe_target(&self, look: &Look) -> String {
        let settled = self.planning.is_settled();
        let facts = self.facts().filter(|_| settled);
        let size = self.plan().filter(|_| settled).map(|plan| show_bytes(plan.target.size()));
        let name = match &self.file {
            Some(path) => path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .replace(crate::text::is_unsafe_char, "?"),
            None => "scratch file".into(),
        };
        let dot = look.glyph(" · ", " - ");
        let on = facts.map(|facts| facts.fs.clone()).filter(|fs| !fs.is_empty());
        on.into_iter().chain(size).chain([name]).collect::<Vec<_>>().join(dot)
    }

    /// Keeps what is chosen for the next time.
    pub fn remember(&self, presets: &[Preset], look: &Look) -> Effect {
        // A preset that no list has cannot be found again: then what it says is kept.
        let listed = presets.contains(&self.preset);
        let mut settings = if listed {
            self.settings.clone()
        } else {
            self.settings.clone().or(&self.preset.settings)
        };
        if settings.text("backend").is_some_and(|text| text.is_empty()) {
            settings.unset("backend");
        }
        Effect::Remember(Box::new(Remembered {
            preset: listed.then(|| self.preset.id.clone()),
            settings,
            recent: self.browser.recent.clone(),
            theme: Some(look.theme.id.into()),
            folder: Some(self.browser.dir.clone()),
            log_y: self.log_y,
        }))
    }

    /// What is known about the chosen target.
    pub fn facts(&self) -> Option<&TargetFacts> {
        self.planning.last_proposal().map(|proposed| &proposed.facts)
    }

    pub fn findings(&self) -> Option<&[Warning]> {
        self.planning.findings.as_deref()
    }

    /// The answer to the newest question is not there yet.
    pub fn is_waiting(&self) -> bool {
        self.planning.number > 0 && !self.planning.is_settled()
    }

    /// Asks for the plan of what is chosen now; later where enough is asked already.
    pub fn request_plan(&mut self) -> Option<Effect> {
        self.planning.number += 1;
        self.planning.answered = 0;
        self.send_pending()
    }

    /// Sends the newest question, unless it was sent or too many are under way.
    pub fn send_pending(&mut self) -> Option<Effect> {
        let planning = &mut self.planning;
        if planning.is_settled()
            || planning.pending.contains(&planning.number)
            || planning.pending.len() >= MAX_PENDING
        {
            return None;
        }
        planning.pending.push(planning.number);
        Some(Effect::Propose(Box::new(self.question())))
    }

    /// Another target: what still waits for the old one is waited for no more.
    pub fn forget_pending(&mut self) {
        self.planning.pending.clear();
    }

    pub fn question(&self) -> Question {
        Question {
            number: self.planning.number,
            file: self.file.clone(),
            dir: self.dir.clone().filter(|_| self.file.is_none()),
            preset: self.preset.clone(),
            settings: self.settings.clone(),
        }
    }

    /// What counts, with all gaps filled.
    pub fn effective_settings(&self) -> Settings {
        usual(&self.settings.clone().or(&self.preset.settings), &self.infos)
    }

    /// What the sweeps of the preset say of a setting that was not said over them: each value once,
    /// `-` where one leaves it open.
    pub fn sweep_values(&self, name: &str) -> Option<String> {
        let sweeps = &self.preset.sweeps;
        if self.settings.text(name).is_some()
            || sweeps.iter().all(|sweep| sweep.text(name).is_none())
        {
            return None;
        }
        let mut values: Vec<String> = Vec::new();
        for part in self.preset.parts() {
            let value = part.text(name).unwrap_or_else(|| "-".into());
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Some(values.join(" / "))
    }

    /// `3 sweeps: --op read -s 1m; ...`; empty where the preset is one.
    pub fn describe_sweeps(&self) -> String {
        let sweeps = self.preset.over(&self.settings).sweeps;
        let own = |sweep: &Settings| {
            if sweep.argv().is_empty() {
                "the settings above".into()
            } else {
                sweep.argv().join(" ")
            }
        };
        let mut told: Vec<String> = Vec::new();
        for text in sweeps.iter().map(own) {
            if !told.contains(&text) {
                told.push(text);
            }
        }
        if told.len() < 2 {
            String::new()
        } else {
            format!("{} sweeps: {}", told.len(), told.join("; "))
        }
    }

    /// What choices are judged against; `effective` from [`Setup::effective_settings`].
    pub fn constraints<'a>(&'a self, effective: &'a Settings) -> Constraints<'a> {
        let facts = self
            .planning
            .last_proposal()
            .map(|proposed| &proposed.facts)
            .filter(|_| self.is_planned_target());
        let spec = self.plan().map(|plan| plan.target.size()).filter(|_| self.is_planned_target());
        Constraints {
            settings: effective,
            explicit_backends: self.settings.backend.is_some()
                || self.preset.settings.backend.is_some(),
            infos: &self.infos,
            unavailable: &self.planning.unavailable,
            exists: self.exists && self.file.is_some(),
            size: spec.or_else(|| self.browsed_size()),
            direct: facts.and_then(|facts| facts.direct),
        }
    }

    pub fn plan(&self) -> Option<&Plan> {
        self.planning.last_proposal().map(|proposed| &proposed.plan)
    }

    /// The last plan is for the target that is chosen now.
    fn is_planned_target(&self) -> bool {
        match (self.plan().map(|plan| &plan.target), &self.file) {
            (Some(TargetSpec::Scratch { .. }), None) => true,
            (Some(TargetSpec::File { path, .. } | TargetSpec::New { path, .. }), Some(file)) => {
                path == file
            }
            _ => false,
        }
    }

    fn browsed_size(&self) -> Option<u64> {
        self.browser.facts.get(&self.absolute_path()?)?.as_ref().ok().map(|facts| facts.size)
    }

    /// The path of the target from the root on.
    pub fn absolute_path(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|file| self.browser.start.join(file))
    }

    /// Whether a row of the browser is the chosen target.
    pub fn is_target(&self, row: Row) -> bool {
        match (self.absolute_path(), row) {
            (None, Row::Scratch) => true,
            (Some(file), Row::Recent(_) | Row::Entry(_)) => self.browser.path(row) == Some(&file),
            _ => false,
        }
    }

    /// The block sizes as a band.
    pub fn band(&self, effective: &Settings) -> Option<Band> {
        effective.block_size.as_ref().map(Band::from_range)
    }
}
