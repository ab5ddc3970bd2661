//! Keys of the form of an export, and what became of one.

use crossterm::event::KeyCode;

use crate::export::{Export, Focus, Outcome};
use crate::keymap::Action;
use crate::keys::{Key, edit};
use crate::model::Model;
use crate::msg::{Effect, Query};
use crate::popup::{Popup, Then};
use crate::text::show_path;

/// Handles a key in the form.
pub fn handle_key(model: &mut Model, key: Key, action: Option<Action>) -> Vec<Effect> {
    let (number, look) = (model.exports + 1, model.look.report());
    let Some(Popup::Export(form)) = model.popups.last_mut() else { return Vec::new() };
    let last = form.choices.len().saturating_sub(1);
    match (key.code, form.focus) {
        (KeyCode::Enter, _) if form.writing => {}
        (KeyCode::Enter, _) => {
            let export = form.ask(number, look);
            model.exports = number;
            return export
                .map(|export| Effect::Ask(Query::Export(Box::new(export))))
                .into_iter()
                .collect();
        }
        (KeyCode::Tab, _) => form.turn(key.shift),
        (KeyCode::Char(' '), Focus::Anonymous) => form.anonymous = !form.anonymous,
        (KeyCode::Up, Focus::Path | Focus::Anonymous) => form.turn(true),
        (KeyCode::Down, Focus::Path) => form.turn(false),
        (_, Focus::Path) => {
            edit(&mut form.path, key);
            form.error = None;
        }
        (_, Focus::Format) => match action {
            Some(Action::Up) => form.choose(form.cursor.saturating_sub(1)),
            Some(Action::Down) => form.choose(form.cursor + 1),
            Some(Action::Top) => form.choose(0),
            Some(Action::Bottom) => form.choose(last),
            _ => {}
        },
        _ => {}
    }
    Vec::new()
}

/// Reports what became of an export; its form is closed, asks, or shows why not.
pub fn finish(model: &mut Model, number: u64, outcome: Outcome) -> Vec<Effect> {
    let own = |popup: &Popup| matches!(popup, Popup::Export(form) if form.asked.as_ref().is_some_and(|asked| asked.number == number));
    let at = model.popups.iter().position(own);
    if let Some(Popup::Export(form)) = at.and_then(|at| model.popups.get_mut(at)) {
        form.writing = false;
    }
    match outcome {
        Outcome::Written(path) => {
            if let Some(at) = at {
                model.popups.remove(at);
            }
            model.toasts.good(model.now, format!("wrote {}", show_path(&path)));
        }
        Outcome::Failed(why) => {
            model.toasts.fail(model.now, format!("not written: {why}"));
            if let Some(Popup::Export(form)) = at.and_then(|at| model.popups.get_mut(at)) {
                form.error = Some(why);
            }
        }
        Outcome::Exists(over) => {
            let asked = match at.and_then(|at| model.popups.get(at)) {
                Some(Popup::Export(form)) => form.asked.clone(),
                _ => None,
            };
            match asked {
                Some(export) => {
                    let replace =
                        Effect::Ask(Query::Export(Box::new(Export { replace: true, ..export })));
                    let name = over
                        .path
                        .file_name()
                        .unwrap_or(over.path.as_os_str())
                        .to_string_lossy()
                        .into_owned();
                    model.popups.push(Popup::question(
                        format!("Overwrite {name}?"),
                        over.detail,
                        Then::Do(replace),
                    ));
                }
                // No one can answer a question.
                None => model.toasts.fail(
                    model.now,
                    format!("not written: {} already exists", show_path(&over.path)),
                ),
            }
        }
    }
    Vec::new()
}
