//! The rows of the Workload pane: made from [`Settings::ALL`], so that a new setting has its row.

use std::sync::LazyLock;

use super::objection::{self, Given};
use crate::plan::{Plan, Setting, Settings, ValueKind};
use crate::units::short_time;

/// What is chosen most stands first; all others follow in the order of the help.
const FIRST: &[&str] = &[
    "op", "pattern", "cache", "threads", "depth", "direct", "xor", "trials", "budget", "size",
    "count", "sync",
];
/// These have a pane of their own, or a screen.
const ELSEWHERE: &[&str] = &["backend", "block-size", "probe", "set"];

/// Every row, in order.
pub static ROWS: LazyLock<Vec<&'static Setting>> = LazyLock::new(|| {
    let rank = |s: &&Setting| FIRST.iter().position(|name| *name == s.name).unwrap_or(FIRST.len());
    let mut rows: Vec<&Setting> =
        Settings::ALL.iter().filter(|s| !ELSEWHERE.contains(&s.name)).collect();
    rows.sort_by_key(rank);
    rows
});

/// Columns that the titles take, with the space around them.
pub static TITLE_COLUMNS: LazyLock<usize> =
    LazyLock::new(|| ROWS.iter().map(|row| row.title.len()).max().unwrap_or(0) + 2);

/// How a row is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// One of these texts.
    One(Vec<&'static str>),
    /// Some of these texts.
    Some(Vec<&'static str>),
    /// A number or text: steps, or typed.
    Text,
}

/// How the row of a setting is changed.
pub fn kind(setting: &Setting) -> Kind {
    match setting.kind {
        ValueKind::Switch => Kind::One(vec!["false", "true"]),
        ValueKind::OneOf(names) | ValueKind::OneOfOr(names, _) => Kind::One(names.to_vec()),
        ValueKind::SomeOf(names) => Kind::Some(names.to_vec()),
        ValueKind::Form(_) | ValueKind::Forms(_) => Kind::Text,
    }
}

/// What stands for a value on the screen.
pub fn shown(text: &str) -> &str {
    match text {
        "true" => "yes",
        "false" => "no",
        other => other,
    }
}

/// What a row shows where no value is given and the plan decides.
pub fn default(setting: &Setting, given: &Given, plan: Option<&Plan>) -> String {
    match setting.name {
        "trials" => "until precise".into(),
        "count" => "by trial time".into(),
        "size" if given.exists => "whole file".into(),
        "size" => given.size.map_or("512m".into(), crate::units::short_bytes),
        "budget" => short_time(Plan::BUDGET),
        "trial-time" => plan.map_or("300ms".into(), |plan| short_time(plan.trial_time.low)),
        _ => setting.default.into(),
    }
}

/// A piece of a row's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What a click or a key chooses.
    pub item: Option<&'static str>,
    pub text: String,
    pub on: bool,
    /// Why it cannot be chosen.
    pub why: Option<String>,
}

/// The value of a row in pieces; `room` decides whether all of several choices are seen.
pub fn parts(
    setting: &'static Setting,
    given: &Given,
    plan: Option<&Plan>,
    room: usize,
    check: [&str; 2],
) -> Vec<Part> {
    let text = given.settings.text(setting.name);
    let why = |item: &str| objection::value(setting.name, item, given);
    match kind(setting) {
        Kind::One(items) => {
            let now = text.unwrap_or_default();
            let one = |item: &'static str, around: bool| {
                let own = if around {
                    format!("‹{}›", shown(item))
                } else {
                    format!(" {} ", shown(item))
                };
                Part { item: Some(item), text: own, on: around, why: why(item) }
            };
            let all: Vec<Part> = items.iter().map(|item| one(item, *item == now)).collect();
            if !items.contains(&now.as_str()) {
                let own = if now.is_empty() { default(setting, given, plan) } else { now };
                return vec![Part {
                    item: None, text: format!("‹{own}›"), on: true, why: None
                }];
            }
            let fits = all.iter().map(|part| part.text.chars().count()).sum::<usize>() <= room;
            if fits { all } else { all.into_iter().filter(|part| part.on).collect() }
        }
        Kind::Some(items) => {
            let now: Vec<&str> =
                text.as_deref().map(|t| t.split(',').collect()).unwrap_or_default();
            let one = |item: &&'static str| {
                let on = now.contains(item);
                Part {
                    item: Some(item),
                    text: format!("{}{item} ", check[usize::from(!on)]),
                    on,
                    why: why(item),
                }
            };
            items.iter().map(one).collect()
        }
        Kind::Text => {
            let on = text.is_some();
            let own = text.unwrap_or_else(|| default(setting, given, plan));
            vec![Part {
                item: None,
                text: format!(" {own} "),
                on,
                why: objection::now(setting.name, given),
            }]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Kind {
        kind(Settings::ALL.iter().find(|s| s.name == name).unwrap())
    }

    #[test]
    fn a_row_is_changed_by_the_kind_of_its_setting() {
        assert_eq!(of("op"), Kind::One(vec!["read", "write", "seek"]));
        assert_eq!(of("pattern"), Kind::One(vec!["seq", "random", "reverse"]));
        assert_eq!(of("cache"), Kind::Some(vec!["cold", "warm", "asis"]));
        assert_eq!(of("direct"), Kind::One(vec!["false", "true"]));
        for name in ["threads", "depth", "size", "count", "trials", "budget", "trial-time", "seed"]
        {
            assert_eq!(of(name), Kind::Text, "{name}");
        }
    }

    #[test]
    fn every_setting_has_a_row_or_a_pane() {
        assert_eq!(ROWS.len() + ELSEWHERE.len(), Settings::ALL.len());
        assert!(FIRST.iter().zip(ROWS.iter()).all(|(name, row)| *name == row.name));
    }
}
