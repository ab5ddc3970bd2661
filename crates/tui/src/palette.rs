//! The entries of the palette: actions of all screens, presets, backends, settings, sessions,
//! files.

use std::path::PathBuf;

use super::keymap::{self, Action, Binding, Place};
use super::screen::Screen;
use super::session_view;
use super::sessions::Sessions;
use super::setup::{self, Setup};
use super::spoken::speak;
use crate::plan::{Preset, Setting, Settings, ValueKind};
use crate::text::time::to_minute;
use crate::text::{clean_text, show_path};

/// Sessions and files that are searched: the newest, and the first of a folder.
const MAX_SEARCHED: usize = 500;
/// Chosen entries that are remembered.
pub const MAX_RECENT: usize = 9;

/// The data that the palette lists.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    pub screen: Screen,
    pub presets: &'a [Preset],
    pub setup: &'a Setup,
    pub sessions: &'a Sessions,
    /// The last choices, the newest first.
    pub recent: &'a [Goal],
}

/// The effect of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    Act(Action),
    /// An action of another screen.
    ActOn(Screen, Action),
    /// The preset of this id.
    Preset(String),
    /// Index into the backends of Setup.
    Backend(usize),
    /// Sets a setting to this text.
    Set(&'static str, String),
    /// Asks for the value of a setting.
    Ask(&'static str),
    /// Opens this session.
    Session(String),
    /// Makes this file the target.
    File(PathBuf),
}

/// A row of the palette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub title: String,
    /// More about it, dim.
    pub about: String,
    /// The key that does it on this screen; may be empty.
    pub key: &'static str,
    /// Where it applies, or what kind of thing it is.
    pub place: &'static str,
    pub goal: Goal,
}

/// Returns the entries that match all words of the text, the best first; without a text all, those
/// that were chosen last first.
pub fn find(sources: &Sources, text: &str) -> Vec<Entry> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found: Vec<(i32, Entry)> = Vec::new();
    for entry in all(sources) {
        let Some(rated) = rate(&entry, &words) else { continue };
        let recent = sources.recent.iter().position(|goal| *goal == entry.goal);
        let recent = match (recent, words.is_empty()) {
            (None, _) => 0,
            (Some(at), true) => 1000 - at as i32,
            (Some(at), false) => 30 - at as i32,
        };
        let here = i32::from(matches!(entry.goal, Goal::Act(_))) * 10;
        found.push((rated + recent + here, entry));
    }
    // A stable sort: equal entries stay in the order of the table.
    found.sort_by_key(|(rated, _)| -rated);
    valued(&words).into_iter().chain(found.into_iter().map(|(_, entry)| entry)).collect()
}

/// Rates an entry: the sum over the words; `None` where one is not found.
fn rate(entry: &Entry, words: &[&str]) -> Option<i32> {
    let (title, about) = (entry.title.to_lowercase(), entry.about.to_lowercase());
    let mut sum = 0;
    for word in words {
        let both = [rate_name(word, &title).map(|r| r * 2), rate_word(word, &about)];
        let place = rate_word(word, &entry.place.to_lowercase()).map(|r| r / 2);
        sum += both.into_iter().chain([place]).flatten().max()?;
    }
    // The shorter one of two titles with the word is meant.
    Some(sum - (title.len() as i32 / 8).min(10) * i32::from(!words.is_empty()))
}

/// Rates how well a word is found in a name: as in a text, else anywhere, else its letters in
/// order.
fn rate_name(word: &str, name: &str) -> Option<i32> {
    rate_word(word, name).or_else(|| {
        if name.contains(word) {
            Some(50)
        } else if word.len() > 2 && parts(name).any(|part| has_letters(word, part)) {
            Some(15)
        } else {
            None
        }
    })
}

/// Rates how well a word is found in a text: a whole word, or the start of one. Within a word it is
/// something else: `uring` in `measuring`.
fn rate_word(word: &str, text: &str) -> Option<i32> {
    if parts(text).any(|part| part == word) {
        Some(100)
    } else if parts(text).any(|part| part.starts_with(word)) || has_path(word, text) {
        Some(80)
    } else {
        None
    }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty())
}

/// Returns whether the text has a word of several parts: a name of a file, a date.
fn has_path(word: &str, text: &str) -> bool {
    word.contains(|c: char| !c.is_alphanumeric()) && text.contains(word)
}

/// Returns whether the word begins with the first letter of `part` and has its letters in order.
fn has_letters(word: &str, part: &str) -> bool {
    let mut letters = part.chars();
    word.chars().next() == part.chars().next() && word.chars().all(|c| letters.any(|own| own == c))
}

fn all<'a>(sources: &'a Sources<'a>) -> impl Iterator<Item = Entry> + 'a {
    actions(sources)
        .chain(presets(sources))
        .chain(backends(sources))
        .chain(settings())
        .chain(sessions(sources))
        .chain(files(sources))
}

fn actions<'a>(sources: &'a Sources<'a>) -> impl Iterator<Item = Entry> + 'a {
    let here = sources.screen;
    let own = keymap::on(here).filter(|b| !is_hidden(b.action)).map(|binding| Entry {
        key: binding.keys.first().copied().unwrap_or(""),
        place: "",
        ..entry_of(binding, Goal::Act(binding.action))
    });
    let elsewhere = keymap::KEYMAP
        .iter()
        .filter(move |binding| !binding.is_on(here) && !is_hidden(binding.action))
        .filter(|binding| !is_local(binding.action))
        .filter_map(|binding| {
            // The first of its screens is the one it is for.
            let Place::On([screen, ..]) = binding.place else { return None };
            let goal = Goal::ActOn(*screen, binding.action);
            Some(Entry { key: "", place: screen.title(), ..entry_of(binding, goal) })
        });
    own.chain(elsewhere)
}

fn entry_of(binding: &Binding, goal: Goal) -> Entry {
    let (title, about) = match binding.short {
        "" => (binding.help, ""),
        short => (short, binding.help),
    };
    Entry { title: title.into(), about: about.into(), key: "", place: "", goal }
}

/// Returns whether an action is left out: `stop` and `quit` say what an interrupt does now.
fn is_hidden(action: Action) -> bool {
    action.moves() || matches!(action, Action::Palette | Action::Back | Action::Interrupt)
}

/// Returns whether an action depends on a cursor that another screen does not show.
fn is_local(action: Action) -> bool {
    use Action::{Edit, Enter, Filter, NextPane, PanLeft, PanRight, PreviousPane, Toggle};
    matches!(action, Toggle | Enter | NextPane | PreviousPane | Filter | Edit | PanLeft | PanRight)
}

fn presets<'a>(sources: &'a Sources<'a>) -> impl Iterator<Item = Entry> + 'a {
    sources.presets.iter().map(|preset| Entry {
        title: clean_text(&preset.id),
        about: clean_text(&preset.about),
        key: "",
        place: "preset",
        goal: Goal::Preset(preset.id.clone()),
    })
}

fn backends<'a>(sources: &'a Sources<'a>) -> impl Iterator<Item = Entry> + 'a {
    sources.setup.infos.iter().enumerate().map(|(at, info)| Entry {
        title: info.id.into(),
        about: format!("select or deselect {}: {}", info.title, info.about),
        key: "",
        place: "backend",
        goal: Goal::Backend(at),
    })
}

fn settings() -> impl Iterator<Item = Entry> {
    setup::settings().map(|setting| Entry {
        title: setting.name.into(),
        about: setting.about.into(),
        key: "",
        place: "setting",
        goal: Goal::Ask(setting.name),
    })
}

/// Returns the settings that the words name with a value they can have: `budget 2m`, `block size
/// 4k,64k`.
fn valued(words: &[&str]) -> Vec<Entry> {
    let found = said(words).into_iter();
    let fit = found.filter(|(setting, value)| refusal(setting, value).is_none());
    let entry = |(setting, value): (&Setting, String)| Entry {
        title: format!("{} {value}", setting.name),
        about: setting.about.into(),
        key: "",
        place: "set",
        goal: Goal::Set(setting.name, value),
    };
    fit.map(entry).collect()
}

/// Returns why a setting that the text names cannot have the value behind it.
pub fn explain(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut said = said(&words).into_iter();
    said.find_map(|(setting, value)| {
        refusal(setting, &value).map(|why| format!("{}: {}", setting.title, speak(&why)))
    })
}

fn refusal(setting: &Setting, value: &str) -> Option<String> {
    Settings::default().set(setting.name, value).err().map(|error| error.to_string())
}

/// Returns the settings that the words name, with the value behind their names.
fn said(words: &[&str]) -> Vec<(&'static Setting, String)> {
    let mut found = Vec::new();
    for setting in setup::settings() {
        let name: Vec<&str> = setting.name.split('-').collect();
        let (said, value) = match words.first() {
            // `block-size 4k` as well as `block size 4k`.
            Some(first) if *first == setting.name => (1, &words[1..]),
            _ if words.len() > name.len() => (name.len(), &words[name.len()..]),
            _ => continue,
        };
        let is_named = said == 1 && words[0] == setting.name
            || name.iter().zip(words).all(|(own, word)| own == word || is_start(word, own));
        if !is_named || value.is_empty() {
            continue;
        }
        let value = match (setting.kind, value.join(" ").as_str()) {
            (ValueKind::Switch, "yes" | "on") => "true".into(),
            (ValueKind::Switch, "no" | "off") => "false".into(),
            (_, value) => value.to_string(),
        };
        found.push((setting, value));
    }
    found
}

fn is_start(word: &str, name: &str) -> bool {
    word.len() >= 3 && name.starts_with(word)
}

fn sessions<'a>(sources: &'a Sources<'a>) -> impl Iterator<Item = Entry> + 'a {
    sources.sessions.listed().take(MAX_SEARCHED).map(|listed| Entry {
        title: clean_text(session_view::listed_name(listed)),
        about: match listed.created.as_str() {
            // A reference.
            "" => format!("open {}", clean_text(&listed.target)),
            created => format!("open {}, {}", to_minute(created), clean_text(&listed.target)),
        },
        key: "",
        place: "session",
        goal: Goal::Session(listed.id.clone()),
    })
}

fn files<'a>(sources: &'a Sources<'a>) -> impl Iterator<Item = Entry> + 'a {
    let browser = &sources.setup.browser;
    let rows = browser.rows.iter().take(MAX_SEARCHED);
    rows.filter(|row| browser.folder(**row).is_none()).filter_map(|row| {
        let path = browser.path(*row)?;
        Some(Entry {
            title: clean_text(&path.file_name()?.to_string_lossy()),
            about: format!("measure {}", show_path(path)),
            key: "",
            place: "file",
            goal: Goal::File(path.to_path_buf()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stage;

    fn found(stage: &Stage, text: &str) -> Vec<Goal> {
        find(&stage.model.palette_sources(), text).into_iter().map(|entry| entry.goal).collect()
    }

    #[test]
    fn palette_finds_everything_best_first() {
        let mut stage = Stage::new();
        stage.tell(crate::msg::Msg::Sessions(Ok(crate::sessions::tests::four())));
        let uring = stage.model.setup.infos.iter().position(|info| info.id == "uring").unwrap();
        for (text, wanted) in [
            ("export", Goal::ActOn(Screen::Results, Action::Export)),
            ("compare", Goal::ActOn(Screen::Sessions, Action::Compare)),
            ("rename", Goal::ActOn(Screen::Sessions, Action::Rename)),
            ("refine", Goal::ActOn(Screen::Results, Action::Refine)),
            ("warnings by kind", Goal::ActOn(Screen::Results, Action::Warnings)),
            ("run", Goal::Act(Action::Run)),
            ("help", Goal::Act(Action::Help)),
            ("preset peak", Goal::Preset("peak".into())),
            ("uring", Goal::Backend(uring)),
            ("budget", Goal::Act(Action::Budget)),
            ("budget 2m", Goal::Set("budget", "2m".into())),
            ("bud 2m", Goal::Set("budget", "2m".into())),
            ("threads 4", Goal::Set("threads", "4".into())),
            ("block size 4k,64k", Goal::Set("block-size", "4k,64k".into())),
            ("block-size 4k", Goal::Set("block-size", "4k".into())),
            ("direct on", Goal::Set("direct", "true".into())),
            ("delta", Goal::Session("20261121-093003-data".into())),
            ("delta session", Goal::Session("20261121-093003-data".into())),
        ] {
            assert_eq!(found(&stage, text).first(), Some(&wanted), "{text}");
        }
        assert!(found(&stage, "budget soon").is_empty());
        let why = explain("budget 2x").unwrap();
        assert!(why.starts_with("Budget: ") && why.contains("2x"), "{why}");
        assert!(explain("budget 2m").is_none() && explain("zzz 2x").is_none());
        // `measuring` is no `uring`, and `stop` does not quit where nothing runs.
        let replays = |goal: &Goal| {
            matches!(goal, Goal::Act(Action::Replay) | Goal::ActOn(_, Action::Replay))
        };
        assert!(!found(&stage, "uring").iter().any(replays));
        assert_eq!(found(&stage, "stop").first(), Some(&Goal::ActOn(Screen::Live, Action::Stop)));
        assert!(!found(&stage, "").contains(&Goal::Act(Action::Interrupt)));
        assert!(found(&stage, "zzz").is_empty());
        // Letters in order find a word too, after what has the word itself.
        assert!(found(&stage, "exprt").contains(&Goal::ActOn(Screen::Results, Action::Export)));
    }

    #[test]
    fn sessions_are_distinguished_by_age() {
        let mut stage = Stage::new();
        let mut all = crate::sessions::tests::four();
        (all[0].created, all[0].target) = (String::new(), "Ryzen 7".into());
        all[1].created = "2026-11-21T09:30:11Z".into();
        stage.tell(crate::msg::Msg::Sessions(Ok(all)));
        let all = find(&stage.model.palette_sources(), "");
        let sessions: Vec<_> = all.iter().filter(|entry| entry.place == "session").collect();
        assert_eq!(sessions[0].about, "open Ryzen 7");
        assert_eq!(sessions[1].about, "open 2026-11-21 09:30, /b/one.iso");
    }

    #[test]
    fn what_was_chosen_last_comes_first() {
        let mut stage = Stage::new();
        let second = find(&stage.model.palette_sources(), "").swap_remove(1);
        stage.model.recent.insert(0, second.goal.clone());
        assert_eq!(find(&stage.model.palette_sources(), "")[0], second);
        // A preset that is saved later changes their order.
        let mut stage = Stage::new();
        stage.keys(":preset peak<enter>");
        let first = crate::plan::Preset { id: "a".into(), ..stage.model.presets[0].clone() };
        stage.model.presets.insert(0, first);
        assert_eq!(found(&stage, "")[0], Goal::Preset("peak".into()));
    }

    #[test]
    fn entries_are_unique_and_described() {
        for screen in Screen::ALL {
            let mut stage = Stage::new();
            stage.model.screen = *screen;
            let all = find(&stage.model.palette_sources(), "");
            assert!(all.iter().all(|entry| !entry.title.is_empty()));
            assert!(all.iter().all(|entry| !entry.key.is_empty() || !entry.place.is_empty()));
        }
    }
}
