//! The rows of the workload pane, built from [`Settings::ALL`] so that a new setting has a row.

use std::sync::LazyLock;

use super::objection::{self, Constraints};
use crate::plan::{Plan, Setting, Settings, ValueKind};
use crate::units::short_time;

/// The settings changed most often; all others follow in the order of the help.
const FIRST: &[&str] = &[
    "op", "pattern", "cache", "threads", "depth", "direct", "xor", "trials", "budget", "size",
    "count", "sync",
];
/// How many of them are always shown.
const COMMON: usize = 10;
/// Settings that have a pane or screen of their own,
/// or are not for one process.
const ELSEWHERE: &[&str] = &["backend", "block-size", "probe", "set", "ranks", "layout", "shift"];

/// All rows in order.
pub static ROWS: LazyLock<Vec<&'static Setting>> = LazyLock::new(|| {
    let rank = |s: &&Setting| FIRST.iter().position(|name| *name == s.name).unwrap_or(FIRST.len());
    let mut rows: Vec<&Setting> =
        Settings::ALL.iter().filter(|s| !ELSEWHERE.contains(&s.name)).collect();
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
pub struct Part {
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
) -> Vec<Part> {
    let text = constraints.settings.text(setting.name);
    let why = |item: &str| objection::check_value(setting.name, item, constraints);
    match kind(setting) {
        Kind::OneOf(items) => {
            let now = text.unwrap_or_default();
            let part = |item: &'static str, is_current: bool| {
                let mark = check[usize::from(!is_current)];
                let text = format!("{mark}{} ", display_value(item));
                Part { item: Some(item), text, on: is_current, why: why(item) }
            };
            let all: Vec<Part> = items.iter().map(|item| part(item, *item == now)).collect();
            if !items.contains(&now.as_str()) {
                let text =
                    if now.is_empty() { default_text(setting, constraints, plan) } else { now };
                return vec![Part {
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
                Part {
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
            vec![Part {
                item: None,
                text: format!(" {text} "),
                on,
                why: objection::check_current(setting.name, constraints),
            }]
        }
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
        assert_eq!(ROWS.len() + ELSEWHERE.len(), Settings::ALL.len());
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
