//! The target pane's keys: go through folders, pick a file, or the scratch file.

use std::path::{Path, PathBuf};

use super::browser::Row;
use super::change::changed;
use crate::tui::keymap::Action;
use crate::tui::model::Model;
use crate::tui::msg::Effect;

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    let page = usize::from(model.size.1 / 2).max(1);
    let browser = &mut model.setup.browser;
    let last = browser.rows.len().saturating_sub(1);
    let cursor = browser.cursor;
    match action {
        Action::Up => browser.cursor = cursor.saturating_sub(1),
        Action::Down => browser.cursor = (cursor + 1).min(last),
        Action::Top => browser.cursor = 0,
        Action::Bottom => browser.cursor = last,
        Action::PageUp => browser.cursor = cursor.saturating_sub(page),
        Action::PageDown => browser.cursor = (cursor + page).min(last),
        Action::HalfUp => browser.cursor = cursor.saturating_sub(page / 2),
        Action::HalfDown => browser.cursor = (cursor + page / 2).min(last),
        Action::Left => return up(model),
        Action::Right => return open(model, false),
        Action::Enter => return open(model, true),
        Action::Toggle => return choose(model),
        _ => return Vec::new(),
    }
    look(model)
}

/// Asks for facts about the file under the cursor.
pub fn look(model: &mut Model) -> Vec<Effect> {
    model.setup.browser.look().map(Effect::Look).into_iter().collect()
}

/// Reads a folder.
pub fn go(model: &mut Model, dir: PathBuf) -> Vec<Effect> {
    let browser = &mut model.setup.browser;
    browser.filter = None;
    browser.typing = false;
    browser.error = None;
    browser.going = Some(dir.clone());
    browser.sort();
    vec![Effect::List(dir)]
}

fn up(model: &mut Model) -> Vec<Effect> {
    match model.setup.browser.dir.parent().map(Path::to_path_buf) {
        Some(parent) => go(model, parent),
        None => Vec::new(),
    }
}

/// Into the folder under the cursor; a file is picked where that is asked for.
fn open(model: &mut Model, pick: bool) -> Vec<Effect> {
    let browser = &model.setup.browser;
    let folder = browser.row().and_then(|row| browser.folder(row)).map(Path::to_path_buf);
    match folder {
        Some(dir) => go(model, dir),
        None if pick => choose(model),
        None => Vec::new(),
    }
}

/// Takes what is under the cursor as the target; a folder takes the scratch file.
fn choose(model: &mut Model) -> Vec<Effect> {
    let browser = &model.setup.browser;
    let Some(row) = browser.row() else { return Vec::new() };
    if let Some(why) = browser.objection() {
        model.toasts.failed(model.now, why);
        return Vec::new();
    }
    let (path, folder) = (browser.path(row).map(Path::to_path_buf), browser.folder(row).is_some());
    match path {
        Some(dir) if folder => {
            model
                .toasts
                .note(model.now, format!("the scratch file goes to {}", crate::text::shown(&dir)));
            target(model, None, Some(dir))
        }
        None => {
            let dir = model.setup.dir.clone();
            target(model, None, dir)
        }
        file => target(model, file, None),
    }
}

/// A target that is there, or the scratch file.
pub fn target(model: &mut Model, file: Option<PathBuf>, dir: Option<PathBuf>) -> Vec<Effect> {
    let setup = &mut model.setup;
    setup.exists = file.is_some();
    setup.file = file;
    setup.dir = dir;
    setup.forget_sent();
    let mut effects = changed(model);
    effects.extend(look(model));
    effects
}

/// Puts the cursor on the target, where the list has it.
pub fn find(setup: &mut super::Setup) {
    let at = setup
        .browser
        .rows
        .iter()
        .position(|row| matches!(row, Row::Entry(_)) && chosen(setup, *row));
    setup.browser.cursor = at.unwrap_or(setup.browser.cursor);
}

/// Whether a row is the chosen target.
pub fn chosen(setup: &super::Setup, row: Row) -> bool {
    match (setup.whole_path(), row) {
        (None, Row::Scratch) => true,
        (Some(file), Row::Recent(_) | Row::Entry(_)) => setup.browser.path(row) == Some(&file),
        _ => false,
    }
}
