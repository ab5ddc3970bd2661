//! State of Setup: the choices, the cursors, and the plan made from the choices.

use std::path::PathBuf;
use std::time::Duration;

use super::browser::{Browser, BrowserRow};
use super::command_line::build_command;
use super::objection::Constraints;
use super::planning::Planning;
use super::slider::{Band, BandEnd};
use crate::catalog;
use crate::experiment::usual;
use crate::facts::TargetFacts;
use crate::keymap::{Action, key_of};
use crate::msg::{Effect, Query, Question};
use crate::plan::{Info, Plan, Preset, Presets, Range, Settings, TargetSpec};
use crate::record::Warning;
use crate::screen::Screen;
use crate::spoken::describe_settings;
use crate::text::{show_path, unique};
use crate::theme::Look;
use crate::units::{counted, show_bytes};

/// The panes, in Tab order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SetupPane {
    #[default]
    Target,
    Backends,
    Workload,
    Blocks,
    Plan,
}

impl SetupPane {
    pub const ALL: &'static [SetupPane] = &[
        SetupPane::Target,
        SetupPane::Backends,
        SetupPane::Workload,
        SetupPane::Blocks,
        SetupPane::Plan,
    ];
}

/// The choices at the start, and the remembered ones. Choices of the command line apply to this
/// start only.
#[derive(Debug)]
pub struct Given {
    pub preset: Preset,
    pub settings: Settings,
    pub remembered_preset: Option<String>,
    pub remembered: Settings,
}

#[derive(Debug, Default)]
pub struct Setup {
    pub file: Option<PathBuf>,
    /// Further files, or without a file further folders, measured in the same rounds.
    pub others: Vec<PathBuf>,
    /// The files, and all files of folders among them, are read as one.
    pub as_one: bool,
    pub dir: Option<PathBuf>,
    /// Only what the user chose; the preset fills the gaps.
    pub settings: Settings,
    pub preset: Preset,
    pub focus: SetupPane,
    pub browser: Browser,
    /// Sweeps of the preset that the user took out, and the row of the table under the cursor.
    pub rows_out: Vec<usize>,
    pub sweep: usize,
    /// Cursors: a line of the backends and of the workload, an item of that line.
    pub backend: usize,
    pub row: usize,
    pub mark: usize,
    /// The end of the slider that the keys move.
    pub end: BandEnd,
    /// The band that the slider was moved to, with its factor: a short list does not tell it.
    pub moved: Option<Band>,
    pub scroll: usize,
    /// Whether the backends and settings that are rarely needed are shown.
    pub all_backends: bool,
    pub all_settings: bool,
    pub planning: Planning,
    /// Whether the target is known to exist.
    pub exists: bool,
    /// The first choices of the screen; `None` once a preset has replaced them.
    pub given: Option<Given>,
    /// A question is answered by picking a file, which is measured at once.
    pub picks: bool,
    /// The choices before that question, which leaving it takes back.
    pub before_pick: Option<Box<(Preset, Settings)>>,
    /// Whether changes have not been remembered yet.
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
        let focus = if file.is_some() { SetupPane::Plan } else { SetupPane::Target };
        Setup {
            file,
            dir,
            settings,
            preset,
            focus,
            browser: Browser::new(PathBuf::from("/")),
            infos: catalog::infos(),
            ..Setup::default()
        }
    }

    /// Opens the list of files at a folder.
    pub fn with_folder(mut self, folder: PathBuf) -> Setup {
        self.browser.dir = folder;
        self.browser.build_rows();
        self
    }

    /// Adds files that are measured in the same rounds.
    pub fn with_others(mut self, others: Vec<PathBuf>) -> Setup {
        self.others = others;
        self
    }

    /// Reads the files, and all files of folders among them, as one.
    pub fn reading_as_one(mut self, as_one: bool) -> Setup {
        self.as_one = as_one && self.file.is_some();
        self
    }

    /// Returns the effects that fill the screen before the first key.
    pub fn start(&mut self) -> Vec<Effect> {
        self.browser.loading = Some(self.browser.dir.clone());
        let mut effects = vec![Effect::Ask(Query::List(self.browser.dir.clone()))];
        effects.extend(self.request_plan());
        if !self.browser.recent.is_empty() {
            effects.push(Effect::Ask(Query::FindGone(self.browser.recent.clone())));
        }
        effects
    }

    /// Requests a new plan after a change.
    pub fn replan(&mut self, now: Duration) -> Vec<Effect> {
        if self.planning.is_settled() {
            self.planning.since = now;
        }
        self.scroll = 0;
        self.dirty = true;
        self.request_plan().into_iter().collect()
    }

    /// Moves the focus to a pane.
    pub fn focus_on(&mut self, pane: SetupPane) {
        self.focus = pane;
        self.browser.typing = false;
        self.picks &= pane == SetupPane::Target;
    }

    /// Returns the command line for the current choices.
    pub fn command(&self) -> String {
        let (files, folders) = (self.files(), self.folders());
        build_command(&files, self.as_one, &folders, &self.preset, &self.settings)
    }

    /// Returns the chosen files; none is a scratch file.
    pub fn files(&self) -> Vec<PathBuf> {
        let others = self.others.iter().filter(|_| self.file.is_some());
        self.file.iter().chain(others).cloned().collect()
    }

    /// Returns the chosen folders of scratch files.
    pub fn folders(&self) -> Vec<PathBuf> {
        let all = self.dir.iter().chain(&self.others);
        all.filter(|_| self.file.is_none()).cloned().collect()
    }

    /// Describes the target for the header. The name comes last, as text that does not fit is cut
    /// from the front.
    pub fn describe_target(&self, look: &Look) -> String {
        let settled = self.planning.is_settled();
        let facts = if settled { self.facts() } else { None };
        let plan = if settled { self.plan() } else { None };
        let least = plan.and_then(|plan| plan.targets().map(TargetSpec::size).min());
        let size = least.map(|size| match self.others.is_empty() || self.as_one {
            true => show_bytes(size),
            false => format!("{} of each", show_bytes(size)),
        });
        let listed = plan.map_or(0, |plan| plan.target.listed().len());
        let name = match &self.file {
            _ if listed > 0 => counted(listed, "file"),
            Some(_) if !self.others.is_empty() => format!("{} files", 1 + self.others.len()),
            Some(path) => path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .replace(crate::text::is_unsafe_char, "?"),
            None if !self.others.is_empty() => format!("{} folders", 1 + self.others.len()),
            None => "scratch file".into(),
        };
        let dot = look.glyph(" · ", " - ");
        let on = facts.map(|facts| facts.fs.clone()).filter(|fs| !fs.is_empty());
        on.into_iter().chain(size).chain([name]).collect::<Vec<_>>().join(dot)
    }

    /// Returns whether a setting differs from the preset's.
    pub fn is_changed(&self) -> bool {
        self.settings != Settings::default() || !self.rows_out.is_empty()
    }

    /// Returns whether the default preset is chosen without changes.
    pub fn is_default(&self) -> bool {
        !self.is_changed() && self.preset.id == Presets::DEFAULT
    }

    /// Returns the folder of the scratch file, if the plan has one.
    pub fn scratch_folder(&self) -> Option<PathBuf> {
        match &self.plan()?.target {
            TargetSpec::Scratch { dir, .. } => {
                Some(self.browser.start.join(dir).components().collect())
            }
            _ => None,
        }
    }

    /// Returns why the scratch file is not in the folder that the user is in, if so.
    pub fn scratch_elsewhere(&self) -> Option<String> {
        let (start, path) = (&self.browser.start, self.scratch_folder()?);
        let moved = self.file.is_none() && self.dir.is_none() && path != *start;
        moved.then(|| {
            format!(
                "{} is in memory, read-only or takes no file, so the scratch file goes to {}, maybe \
                 on another disk",
                show_path(start),
                show_path(&path)
            )
        })
    }

    /// Returns the facts about the chosen target.
    pub fn facts(&self) -> Option<&TargetFacts> {
        self.planning.last_proposal().map(|proposed| &proposed.facts)
    }

    pub fn findings(&self) -> Option<&[Warning]> {
        self.planning.findings.as_deref()
    }

    /// Returns whether the newest plan request is unanswered.
    pub fn is_waiting(&self) -> bool {
        self.planning.number > 0 && !self.planning.is_settled()
    }

    /// Requests a plan of the current choices, now or when an earlier request has been answered.
    pub fn request_plan(&mut self) -> Option<Effect> {
        self.planning.number += 1;
        self.planning.answered = 0;
        self.send_pending()
    }

    /// Sends the newest request, unless it was sent or too many are in flight.
    pub fn send_pending(&mut self) -> Option<Effect> {
        let planning = &mut self.planning;
        if planning.is_settled()
            || planning.pending.contains(&planning.number)
            || planning.pending.len() >= Planning::MAX_PENDING
        {
            return None;
        }
        planning.pending.push(planning.number);
        Some(Effect::Ask(Query::Propose(Box::new(self.question()))))
    }

    pub fn question(&self) -> Question {
        Question {
            number: self.planning.number,
            file: self.file.clone(),
            others: self.others.clone(),
            as_one: self.as_one,
            dir: if self.file.is_none() { self.dir.clone() } else { None },
            preset: self.chosen_preset(),
            settings: self.settings.clone(),
        }
    }

    /// Returns the preset without the sweeps that were taken out.
    fn chosen_preset(&self) -> Preset {
        let mut preset = self.preset.clone();
        let mut at = 0..;
        preset.sweeps.retain(|_| at.next().is_some_and(|at| !self.rows_out.contains(&at)));
        preset
    }

    /// Returns whether the sweeps are rows of a table, each with block sizes of its own.
    pub fn has_table(&self) -> bool {
        self.sweep_values("block-size").is_some()
    }

    /// Takes a row of the table out, or puts it back; one row stays.
    pub fn toggle_sweep(&mut self, at: usize) -> bool {
        match self.rows_out.iter().position(|out| *out == at) {
            Some(out) => drop(self.rows_out.remove(out)),
            None if self.rows_out.len() + 1 < self.preset.sweeps.len() => self.rows_out.push(at),
            None => return false,
        }
        true
    }

    /// Returns why no command line does the same, if so.
    pub fn lacks_command(&self) -> Option<String> {
        let key = key_of(Action::SaveAs, Screen::Setup);
        (!self.rows_out.is_empty())
            .then(|| format!("{key} saves these rows as a preset, for the command line"))
    }

    /// Returns the settings that apply, with all gaps filled.
    pub fn effective_settings(&self) -> Settings {
        usual(&self.settings.clone().or(&self.preset.settings), &self.infos)
    }

    /// Returns the distinct values of a setting in the preset's sweeps, `-` where one leaves it
    /// open; `None` if the user overrides it or no sweep sets it.
    pub fn sweep_values(&self, name: &str) -> Option<String> {
        let sweeps = &self.preset.sweeps;
        if self.settings.text(name).is_some()
            || sweeps.iter().all(|sweep| sweep.text(name).is_none())
        {
            return None;
        }
        let parts = self.preset.parts().into_iter();
        let values = unique(parts.map(|part| part.text(name).unwrap_or_else(|| "-".into())));
        Some(values.join(" / "))
    }

    /// Describes the sweeps of the preset, `3 sweeps: --op read ...`; empty for a single one.
    pub fn describe_sweeps(&self) -> String {
        let sweeps = self.preset.over(&self.settings).sweeps;
        fn describe(sweep: &Settings) -> String {
            let text = describe_settings(sweep);
            if text.is_empty() { "the settings above".into() } else { text }
        }
        let distinct = unique(sweeps.iter().map(describe));
        if distinct.len() < 2 || self.has_table() {
            String::new()
        } else {
            format!("{} sweeps: {}", distinct.len(), distinct.join("; "))
        }
    }

    /// Returns why a value of a setting conflicts with the other choices.
    pub fn object_to(&self, name: &str, text: &str) -> Option<String> {
        self.constraints().object_to(name, text)
    }

    /// Returns the choices and facts that a choice is checked against.
    pub fn constraints(&self) -> Constraints<'_> {
        let proposed = if self.is_planned_target() { self.planning.last_proposal() } else { None };
        let planned_size = proposed.map(|proposed| proposed.plan.target.size());
        Constraints {
            settings: self.effective_settings(),
            explicit_backends: self.settings.backend.is_some()
                || self.preset.settings.backend.is_some(),
            infos: &self.infos,
            unavailable: &self.planning.unavailable,
            exists: self.exists && self.file.is_some(),
            as_one: self.as_one,
            size: planned_size.or_else(|| self.browsed_size()),
            direct: proposed.and_then(|proposed| proposed.facts.direct),
        }
    }

    pub fn plan(&self) -> Option<&Plan> {
        self.planning.last_proposal().map(|proposed| &proposed.plan)
    }

    /// Returns whether the last plan is for the current target.
    fn is_planned_target(&self) -> bool {
        match (self.plan().map(|plan| &plan.target), &self.file) {
            (Some(TargetSpec::Scratch { .. }), None) => true,
            (Some(TargetSpec::Files { .. }), Some(_)) => self.as_one,
            (Some(TargetSpec::File { path, .. } | TargetSpec::New { path, .. }), Some(file)) => {
                path == file
            }
            _ => false,
        }
    }

    fn browsed_size(&self) -> Option<u64> {
        self.browser.facts.get(&self.absolute_path()?)?.as_ref().ok().map(|facts| facts.size)
    }

    /// Returns the absolute path of the target.
    pub fn absolute_path(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|file| self.browser.start.join(file))
    }

    /// Returns which of the targets a row of the browser is.
    pub fn target_index(&self, row: BrowserRow) -> Option<u8> {
        match row {
            BrowserRow::Scratch => (self.file.is_none() && self.others.is_empty()).then_some(0),
            BrowserRow::Recent(_) | BrowserRow::Entry(_) => {
                let path = self.browser.path(row)?;
                let start = &self.browser.start;
                // A single folder is not marked: its scratch file is.
                let first =
                    self.file.as_ref().or(self.dir.as_ref().filter(|_| !self.others.is_empty()));
                let mut marked = (0..).zip(first.into_iter().chain(&self.others));
                marked.find(|(_, own)| start.join(own) == path).map(|(index, _)| index)
            }
            _ => None,
        }
    }

    /// Returns the block sizes as a band.
    pub fn band(&self, effective: &Settings) -> Option<Band> {
        let range = self.shown_blocks(effective)?;
        let moved = self.moved.filter(|band| band.to_text() == range.text);
        Some(moved.unwrap_or_else(|| Band::from_range(&range)))
    }

    /// Returns the measured block sizes: of all sweeps if the preset has sweeps.
    pub fn shown_blocks(&self, effective: &Settings) -> Option<Range> {
        if self.sweep_values("block-size").is_none() {
            return effective.block_size.clone();
        }
        let mut values: Vec<u64> = Vec::new();
        for part in self.preset.parts() {
            values.extend(part.block_size.iter().flat_map(|range| range.values.clone()));
        }
        values.sort_unstable();
        values.dedup();
        (!values.is_empty()).then(|| Range::list(&values))
    }
}
