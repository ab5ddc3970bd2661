//! The rows of the workload pane, built from [`Settings::ALL`] so that a new setting has a row.

use std::sync::LazyLock;

use super::objection::Constraints;
use super::state::Setup;
use crate::experiment::usual;
use crate::plan::{Info, Plan, Setting, Settings, ValueKind};
use crate::units::short_time;
use crate::view::pane;

/// The settings changed most often, which are always shown.
const COMMON: &[&str] = &["op", "pattern", "cache", "threads", "depth", "direct", "xor", "budget"];
/// The settings of writes.
pub const WRITES: [&str; 9] = [
    "sync",
    "sync-every",
    "mix",
    "writes",
    "file-per",
    "compressible",
    "dedupe",
    "precondition",
    "verify",
];
/// The others by group, in the order of the help; the last group has the rest.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Writes", &WRITES),
    ("Pace", &["rate", "arrival", "latency-target", "think"]),
    ("Load and time", &["watch", "stop-if", "neighbour", "neighbour-share"]),
    ("Measuring", &["trials", "until", "trial-time", "seed", "ceilings", "cold", "cpus", "fresh"]),
    ("Other", &[]),
];
/// Settings that have a pane of their own.
const WITH_PANE: [&str; 2] = ["backend", "block-size"];

/// Returns the settings that Setup has: without the ones for Lab and for several processes.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    let others = ["probe", "set", "ranks", "layout", "shift"];
    Settings::ALL.iter().filter(move |setting| !others.contains(&setting.name))
}

/// All rows in order.
pub static ROWS: LazyLock<Vec<&'static Setting>> = LazyLock::new(|| {
    let rank = |s: &&Setting| match COMMON.iter().position(|name| *name == s.name) {
        Some(at) => at,
        None => COMMON.len() + group_of(s.name),
    };
    let mut rows: Vec<&Setting> = settings().filter(|s| !WITH_PANE.contains(&s.name)).collect();
    rows.sort_by_key(rank);
    rows
});

/// Returns the index of the group of a setting that is not common.
fn group_of(name: &str) -> usize {
    let found = GROUPS.iter().position(|(_, names)| names.contains(&name));
    found.unwrap_or(GROUPS.len() - 1)
}

/// A line of the workload.
#[derive(Clone, Copy)]
pub enum WorkloadLine {
    Setting(&'static Setting),
    /// The heading of a group.
    Heading(&'static str),
}

/// A list whose rare rows are folded away, behind a last line that shows or hides them.
pub struct FoldList<T> {
    pub shown: Vec<T>,
    /// Number of rows that are not shown.
    pub hidden: usize,
}

impl<T: Copy> FoldList<T> {
    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.shown.len() + 1
    }

    /// Returns the row of a line; `None` for the last line.
    pub fn get(&self, line: usize) -> Option<T> {
        self.shown.get(line).copied()
    }
}

/// Columns of the titles, with the space around them.
pub static TITLE_COLUMNS: LazyLock<usize> =
    LazyLock::new(|| ROWS.iter().map(|row| row.title.len()).max().unwrap_or(0) + 2);

/// The way to change a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowKind {
    /// One of these texts.
    OneOf(Vec<&'static str>),
    /// Any of these texts.
    SomeOf(Vec<&'static str>),
    /// A number or text, changed in steps or typed.
    Text,
}

/// Returns the way to change the row of a setting.
pub fn kind(setting: &Setting) -> RowKind {
    match setting.kind {
        ValueKind::Switch => RowKind::OneOf(vec!["false", "true"]),
        ValueKind::OneOf(names) | ValueKind::OneOfOr(names, _) => RowKind::OneOf(names.to_vec()),
        ValueKind::SomeOf(names) => RowKind::SomeOf(names.to_vec()),
        ValueKind::Form(_) | ValueKind::Forms(_) | ValueKind::Lists(_) => RowKind::Text,
    }
}

/// Returns the text shown for a value.
pub fn display_value(text: &str) -> &str {
    match text {
        "true" => "yes",
        "false" => "no",
        other => other,
    }
}

/// Returns the text of a row that has no value, so that the plan decides.
pub fn default_text(setting: &Setting, constraints: &Constraints, plan: Option<&Plan>) -> String {
    match setting.name {
        "trials" if plan.is_some_and(|plan| plan.settles().is_some()) => "until settled".into(),
        "trials" if plan.is_some_and(|plan| plan.steady) => "until steady".into(),
        "trials" => "until precise".into(),
        "count" => "by trial time".into(),
        "size" if constraints.exists => "whole file".into(),
        "size" => constraints.size.map_or("512m".into(), crate::units::short_bytes),
        "budget" => short_time(plan.map_or(Plan::BUDGET, Plan::budget_unasked)),
        "trial-time" => plan.map_or("300ms".into(), |plan| short_time(plan.trial_time.low)),
        _ => setting.default.into(),
    }
}

/// A piece of a row's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPart {
    /// The item that a click or key chooses.
    pub item: Option<&'static str>,
    pub text: String,
    pub on: bool,
    /// Why it cannot be chosen.
    pub why: Option<String>,
}

/// Returns the value of a row in pieces: all items if they fit in `room` columns, else the chosen
/// one.
pub fn parts(
    setting: &'static Setting,
    constraints: &Constraints,
    plan: Option<&Plan>,
    room: usize,
    check: [&str; 2],
) -> Vec<RowPart> {
    let text = constraints.settings.text(setting.name);
    let why = |item: &str| constraints.object_to(setting.name, item);
    match kind(setting) {
        RowKind::OneOf(items) => one_of(setting, &items, constraints, plan, (room, check)),
        RowKind::SomeOf(items) => {
            let now: Vec<&str> =
                text.as_deref().map(|t| t.split(',').collect()).unwrap_or_default();
            let part = |item: &&'static str| {
                let on = now.contains(item);
                RowPart {
                    item: Some(item),
                    text: format!("{}{item} ", check[usize::from(!on)]),
                    on,
                    why: why(item),
                }
            };
            items.iter().map(part).collect()
        }
        RowKind::Text => {
            let on = text.is_some();
            let text = text.unwrap_or_else(|| default_text(setting, constraints, plan));
            vec![RowPart {
                item: None,
                text: format!(" {text} "),
                on,
                why: constraints.object_to_current(setting.name),
            }]
        }
    }
}

/// Returns the items of a row of which one is chosen.
fn one_of(
    setting: &'static Setting,
    items: &[&'static str],
    constraints: &Constraints,
    plan: Option<&Plan>,
    (room, check): (usize, [&str; 2]),
) -> Vec<RowPart> {
    let text = constraints.settings.text(setting.name);
    let why = |item: &str| constraints.object_to(setting.name, item);
    let is_switch = setting.kind == ValueKind::Switch;
    let now = text.unwrap_or_else(|| if is_switch { "false" } else { "" }.into());
    let part = |item: &'static str, is_current: bool| {
        let mark = check[usize::from(!is_current)];
        let text = format!("{mark}{} ", display_value(item));
        RowPart { item: Some(item), text, on: is_current, why: why(item) }
    };
    let all: Vec<RowPart> = items.iter().map(|item| part(item, *item == now)).collect();
    if !items.contains(&now.as_str()) {
        let text = if now.is_empty() { default_text(setting, constraints, plan) } else { now };
        return vec![RowPart {
            item: None,
            text: format!("{}{text} ", check[0]),
            on: true,
            why: None,
        }];
    }
    if is_switch && now == "false" && all.iter().any(|part| part.why.is_some()) {
        return vec![refused_switch(all, check[1], room)];
    }
    // The space behind the last one need not fit.
    let width = all.iter().map(|part| part.text.chars().count()).sum::<usize>();
    if width <= room + 1 {
        return all;
    }
    let more = format!("+{} ", all.len() - 1);
    let current = all.into_iter().filter(|part| part.on);
    current.chain([RowPart { item: None, text: more, on: false, why: None }]).collect()
}

/// Returns a switch that is off and cannot be on, with the reason where there is room.
fn refused_switch(all: Vec<RowPart>, off: &str, room: usize) -> RowPart {
    let why = all.into_iter().find_map(|part| part.why).unwrap_or_default();
    let no = format!("{off}no ");
    let left = room.saturating_sub(no.len() + 1);
    let said = if left < 20 { String::new() } else { pane::fit_words(&why, left) };
    RowPart { item: Some("true"), text: no + &said, on: false, why: Some(why) }
}

impl Setup {
    /// Returns the common settings and the settings that are set; or all, by group.
    pub fn workload_rows(&self) -> FoldList<WorkloadLine> {
        let parts = self.preset.parts();
        let is_set = |name: &str| {
            // Most presets end alike.
            let of_preset = || parts.iter().any(|part| part.text(name).is_some());
            self.settings.text(name).is_some() || name != "until" && of_preset()
        };
        let mut shown = Vec::new();
        let (mut count, mut group) = (0, None);
        for (at, row) in ROWS.iter().enumerate() {
            let own = (at >= COMMON.len()).then(|| group_of(row.name));
            if !self.all_settings && own.is_some() && !is_set(row.name) {
                continue;
            }
            if self.all_settings && own != group {
                shown.extend(own.map(|at| WorkloadLine::Heading(GROUPS[at].0)));
                group = own;
            }
            shown.push(WorkloadLine::Setting(row));
            count += 1;
        }
        FoldList { hidden: ROWS.len() - count, shown }
    }

    /// Returns the line of a setting, if it is shown.
    pub fn find_line(&self, name: &str) -> Option<usize> {
        let is_here =
            |line: &WorkloadLine| matches!(line, WorkloadLine::Setting(row) if row.name == name);
        self.workload_rows().shown.iter().position(is_here)
    }

    /// Returns the line of the workload with the cursor: the last one if there are fewer now.
    pub fn workload_cursor(&self) -> usize {
        self.row.min(self.workload_rows().len() - 1)
    }

    /// Returns the setting under the cursor; `None` on a heading and the line that folds.
    pub fn current_setting(&self) -> Option<&'static Setting> {
        match self.workload_rows().get(self.workload_cursor())? {
            WorkloadLine::Setting(setting) => Some(setting),
            WorkloadLine::Heading(_) => None,
        }
    }

    /// Returns the selected and the preset's backends, or all with the common ones first.
    pub fn backend_rows(&self) -> FoldList<&'static Info> {
        let selected = self.selected_ids();
        let is_shown = |info: &&Info| self.all_backends || selected.iter().any(|id| id == info.id);
        let mut shown: Vec<_> = self.infos.iter().copied().filter(is_shown).collect();
        shown.sort_by_key(|info| !info.common);
        FoldList { hidden: self.infos.len() - shown.len(), shown }
    }

    /// Returns the line of the backends with the cursor: the last one if there are fewer now.
    pub fn backend_cursor(&self) -> usize {
        self.backend.min(self.backend_rows().len() - 1)
    }

    /// Returns the backend under the cursor; `None` on the line that folds.
    pub fn current_backend(&self) -> Option<&'static Info> {
        self.backend_rows().get(self.backend_cursor())
    }

    /// Returns the ids of the backends of the plan and of the preset, in any sweep.
    fn selected_ids(&self) -> Vec<String> {
        let [effective, preset] =
            [self.effective_settings(), usual(&self.preset.settings, &self.infos)];
        let sweeps = self.preset.sweeps.iter().filter_map(|sweep| sweep.backend.as_ref());
        let backends = effective.backend.iter().chain(&preset.backend).chain(sweeps);
        backends.flat_map(|list| list.choices(&self.infos)).map(|choice| choice.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(name: &str) -> RowKind {
        kind(Settings::ALL.iter().find(|s| s.name == name).unwrap())
    }

    #[test]
    fn rows_change_as_their_setting_does() {
        assert_eq!(kind_of("op"), RowKind::OneOf(vec!["read", "write", "seek"]));
        let patterns = vec!["seq", "random", "reverse", "zipf:0.99", "hot:20/80"];
        assert_eq!(kind_of("pattern"), RowKind::OneOf(patterns));
        assert_eq!(kind_of("cache"), RowKind::SomeOf(vec!["cold", "warm", "asis"]));
        assert_eq!(kind_of("direct"), RowKind::OneOf(vec!["false", "true"]));
        for name in ["threads", "depth", "size", "count", "trials", "budget", "trial-time", "seed"]
        {
            assert_eq!(kind_of(name), RowKind::Text, "{name}");
        }
    }

    #[test]
    fn every_setting_has_a_place() {
        assert_eq!(ROWS.len() + WITH_PANE.len(), settings().count());
        assert!(COMMON.iter().zip(ROWS.iter()).all(|(name, row)| *name == row.name));
    }

    #[test]
    fn rare_settings_are_folded_unless_set() {
        let quick = crate::plan::preset("quick").unwrap();
        let mut setup = Setup::new(None, None, quick, Settings::default());
        assert_eq!(setup.workload_rows().shown.len(), COMMON.len());
        assert_eq!(setup.workload_rows().hidden, ROWS.len() - COMMON.len());
        setup.settings.set("seed", "1").unwrap();
        assert_eq!(setup.find_line("seed"), Some(COMMON.len()));
        setup.all_settings = true;
        assert_eq!(setup.workload_rows().len(), ROWS.len() + GROUPS.len() + 1);
        assert!(setup.find_line("verify") < setup.find_line("seed"));
        assert!(setup.find_line("seed") < setup.find_line("size"));
    }
}
