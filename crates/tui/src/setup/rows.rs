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
/// How many of them are always shown.
const COMMON: usize = 10;
/// Settings that have a pane of their own.
const WITH_PANE: [&str; 2] = ["backend", "block-size"];

/// Returns the settings that Setup has: not those of Lab, nor of several processes.
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

/// A line of the pane.
#[derive(Clone, Copy)]
pub enum Line {
    Setting(&'static Setting),
    /// Shows or hides the settings that are rarely changed; the number that is hidden.
    Fold(usize),
}

/// Returns the lines of the pane: the common settings, those that are `set`, and if `open` all.
pub fn lines(open: bool, set: impl Fn(&str) -> bool) -> Vec<Line> {
    let is_shown = |at: usize, row: &Setting| open || at < COMMON || set(row.name);
    let rows = ROWS.iter().enumerate();
    let shown = rows.filter(|(at, row)| is_shown(*at, row)).map(|(_, row)| Line::Setting(row));
    let mut lines: Vec<Line> = shown.collect();
    lines.push(Line::Fold(ROWS.len() - lines.len()));
    lines
}

/// Columns of the titles, with the space around them.
pub static TITLE_COLUMNS: LazyLock<usize> =
    LazyLock::new(|| ROWS.iter().map(|row| row.title.len()).max().unwrap_or(0) + 2);

/// How a row is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// One of these texts.
    OneOf(Vec<&'static str>),
    /// Any of these texts.
    SomeOf(Vec<&'static str>),
    /// A number or text, changed in steps or typed.
    Text,
}

/// Returns how the row of a setting is changed.
pub fn kind(setting: &Setting) -> Kind {
    match setting.kind {
        ValueKind::Switch => Kind::OneOf(vec!["false", "true"]),
        ValueKind::OneOf(names) | ValueKind::OneOfOr(names, _) => Kind::OneOf(names.to_vec()),
        ValueKind::SomeOf(names) => Kind::SomeOf(names.to_vec()),
        ValueKind::Form(_) | ValueKind::Forms(_) => Kind::Text,
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
        Kind::OneOf(items) => {
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
        Kind::SomeOf(items) => {
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
        Kind::Text => {
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

/// A line of the backends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendLine {
    /// The index of a backend.
    Backend(usize),
    /// Shows or hides those that are rarely needed; the number that is hidden.
    Fold(usize),
}

impl Setup {
    /// Returns the lines of the workload.
    pub fn workload_lines(&self) -> Vec<Line> {
        let parts = self.preset.parts();
        lines(self.all_settings, |name| {
            self.settings.text(name).is_some() || parts.iter().any(|part| part.text(name).is_some())
        })
    }

    /// Returns the line of a setting, if it is shown.
    pub fn find_line(&self, name: &str) -> Option<usize> {
        let is_it = |line: &Line| matches!(line, Line::Setting(row) if row.name == name);
        self.workload_lines().iter().position(is_it)
    }

    /// Returns the line of the workload with the cursor: the last one if there are fewer now.
    pub fn workload_cursor(&self) -> usize {
        self.row.min(self.workload_lines().len() - 1)
    }

    /// Returns the setting under the cursor; `None` on the line that folds.
    pub fn current_setting(&self) -> Option<&'static Setting> {
        match self.workload_lines().get(self.workload_cursor()) {
            Some(Line::Setting(row)) => Some(row),
            _ => None,
        }
    }

    /// Returns the lines of the backends: the common ones, those that are `selected`, and if they
    /// are unfolded all; the last line folds.
    pub fn backend_lines(&self) -> Vec<BackendLine> {
        let selected = self.selected_ids();
        let is_shown = |info: &Info| {
            self.all_backends || info.common || selected.iter().any(|id| id == info.id)
        };
        let rows = self.infos.iter().enumerate().filter(|(_, info)| is_shown(info));
        // The common ones come first.
        let mut lines: Vec<BackendLine> = rows.map(|(at, _)| BackendLine::Backend(at)).collect();
        lines.sort_by_key(|line| match line {
            BackendLine::Backend(at) => !self.infos[*at].common,
            BackendLine::Fold(_) => true,
        });
        lines.push(BackendLine::Fold(self.infos.len() - lines.len()));
        lines
    }

    /// Returns the line of the backends with the cursor: the last one if there are fewer now.
    pub fn backend_cursor(&self) -> usize {
        self.backend.min(self.backend_lines().len() - 1)
    }

    /// Returns the backend under the cursor; `None` on the line that folds.
    pub fn current_backend(&self) -> Option<&'static Info> {
        match self.backend_lines().get(self.backend_cursor()) {
            Some(BackendLine::Backend(at)) => self.infos.get(*at).copied(),
            _ => None,
        }
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

    fn kind_of(name: &str) -> Kind {
        kind(Settings::ALL.iter().find(|s| s.name == name).unwrap())
    }

    #[test]
    fn a_row_is_changed_by_the_kind_of_its_setting() {
        assert_eq!(kind_of("op"), Kind::OneOf(vec!["read", "write", "seek"]));
        assert_eq!(kind_of("pattern"), Kind::OneOf(vec!["seq", "random", "reverse"]));
        assert_eq!(kind_of("cache"), Kind::SomeOf(vec!["cold", "warm", "asis"]));
        assert_eq!(kind_of("direct"), Kind::OneOf(vec!["false", "true"]));
        for name in ["threads", "depth", "size", "count", "trials", "budget", "trial-time", "seed"]
        {
            assert_eq!(kind_of(name), Kind::Text, "{name}");
        }
    }

    #[test]
    fn every_setting_has_a_row_or_a_pane() {
        assert_eq!(ROWS.len() + WITH_PANE.len(), settings().count());
        assert!(FIRST.iter().zip(ROWS.iter()).all(|(name, row)| *name == row.name));
    }

    #[test]
    fn rare_settings_are_folded_away_unless_they_are_set() {
        let names = |open, set: &str| -> Vec<&'static str> {
            let name = |line: &Line| match line {
                Line::Setting(row) => row.name,
                Line::Fold(_) => "fold",
            };
            lines(open, |name| name == set).iter().map(name).collect()
        };
        assert_eq!(names(false, "").len(), COMMON + 1);
        assert_eq!(names(false, "seed")[COMMON..], ["seed", "fold"]);
        assert_eq!(names(true, "").len(), ROWS.len() + 1);
        let hidden = ROWS.len() - COMMON;
        assert!(matches!(lines(false, |_| false).last(), Some(Line::Fold(n)) if *n == hidden));
    }
}
