//! The rows of the workload pane, built from [`Settings::ALL`] so that a new setting has a row.

use std::sync::LazyLock;

use super::objection::Constraints;
use super::state::Setup;
use crate::plan::{Info, Plan, Setting, Settings, ValueKind};
use crate::units::short_time;

/// The settings changed most often; all others follow in the order of the help.
const FIRST: &[&str] = &[
    "op", "pattern", "cache", "threads", "depth", "direct", "xor", "trials", "budget", "size",
    "count", "sync",
];
/// Number of these that are always shown.
const COMMON: usize = 10;
/// Settings that have a pane of their own.
const WITH_PANE: [&str; 2] = ["backend", "block-size"];

/// Returns the settings that Setup has: without the ones for Lab and for several processes.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    let others = ["probe", "set", "ranks", "layout", "shift"];
    Settings::ALL.iter().filter(move |setting| !others.contains(&setting.name))
}

/// All rows in order.
pub static ROWS: LazyLock<Vec<&'static Setting>> = LazyLock::new(|| {
    let rank = |s: &&Setting| FIRST.iter().position(|name| *name == s.name).unwrap_or(FIRST.len());
    let mut rows: Vec<&Setting> = settings().filter(|s| !WITH_PANE.contains(&s.name)).collect();
    rows.sort_by_key(rank);
    rows
});

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
        ValueKind::Form(_) | ValueKind::Forms(_) => RowKind::Text,
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
        "trials" => "until precise".into(),
        "count" => "by trial time".into(),
        "size" if constraints.exists => "whole file".into(),
        "size" => constraints.size.map_or("512m".into(), crate::units::short_bytes),
        "budget" => short_time(Plan::BUDGET),
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
        RowKind::OneOf(items) => {
            let now = text.unwrap_or_default();
            let part = |item: &'static str, is_current: bool| {
                let mark = check[usize::from(!is_current)];
                let text = format!("{mark}{} ", display_value(item));
                RowPart { item: Some(item), text, on: is_current, why: why(item) }
            };
            let all: Vec<RowPart> = items.iter().map(|item| part(item, *item == now)).collect();
            if !items.contains(&now.as_str()) {
                let text =
                    if now.is_empty() { default_text(setting, constraints, plan) } else { now };
                return vec![RowPart {
                    item: None,
                    text: format!("{}{text} ", check[0]),
                    on: true,
                    why: None,
                }];
            }
            let fits = all.iter().map(|part| part.text.chars().count()).sum::<usize>() <= room;
            if fits { all } else { all.into_iter().filter(|part| part.on).collect() }
        }
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

impl Setup {
    /// Returns the common settings and the settings that are set, or all.
    pub fn workload_rows(&self) -> FoldList<&'static Setting> {
        let parts = self.preset.parts();
        let is_set = |name: &str| {
            self.settings.text(name).is_some() || parts.iter().any(|part| part.text(name).is_some())
        };
        let is_shown = |at: usize, name: &str| self.all_settings || at < COMMON || is_set(name);
        let rows = ROWS.iter().copied().enumerate();
        let shown: Vec<_> =
            rows.filter(|(at, row)| is_shown(*at, row.name)).map(|(_, row)| row).collect();
        FoldList { hidden: ROWS.len() - shown.len(), shown }
    }

    /// Returns the line of a setting, if it is shown.
    pub fn find_line(&self, name: &str) -> Option<usize> {
        self.workload_rows().shown.iter().position(|row| row.name == name)
    }

    /// Returns the line of the workload with the cursor: the last one if there are fewer now.
    pub fn workload_cursor(&self) -> usize {
        self.row.min(self.workload_rows().len() - 1)
    }

    /// Returns the setting under the cursor; `None` on the line that folds.
    pub fn current_setting(&self) -> Option<&'static Setting> {
        self.workload_rows().get(self.workload_cursor())
    }

    /// Returns the common and the selected backends, or all; the common ones first.
    pub fn backend_rows(&self) -> FoldList<&'static Info> {
        let selected = self.selected_ids();
        let is_shown = |info: &&Info| {
            self.all_backends || info.common || selected.iter().any(|id| id == info.id)
        };
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

    /// Returns the ids of the backends of the plan, in any sweep.
    fn selected_ids(&self) -> Vec<String> {
        let effective = self.effective_settings();
        let sweeps = self.preset.sweeps.iter().filter_map(|sweep| sweep.backend.as_ref());
        let backends = effective.backend.iter().chain(sweeps);
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
        assert_eq!(kind_of("pattern"), RowKind::OneOf(vec!["seq", "random", "reverse"]));
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
        assert!(FIRST.iter().zip(ROWS.iter()).all(|(name, row)| *name == row.name));
    }

    #[test]
    fn rare_settings_are_folded_unless_set() {
        let quick = crate::plan::preset("quick").unwrap();
        let mut setup = Setup::new(None, None, quick, Settings::default());
        assert_eq!(setup.workload_rows().shown.len(), COMMON);
        assert_eq!(setup.workload_rows().hidden, ROWS.len() - COMMON);
        setup.settings.set("seed", "1").unwrap();
        assert_eq!(setup.workload_rows().shown[COMMON].name, "seed");
        setup.all_settings = true;
        assert_eq!(setup.workload_rows().len(), ROWS.len() + 1);
    }
}
