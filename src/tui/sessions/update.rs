//! What keys and messages do on Sessions.

use ratatui::layout::{Position, Rect};
use tui_input::Input;

use super::list::{Sessions, cells};
use super::view;
use crate::session::{NAME_LENGTH, State, checked_name};
use crate::tui::compare::MOST;
use crate::tui::context::Request;
use crate::tui::export::{Form, What};
use crate::tui::keymap::{Action, key_of};
use crate::tui::model::Model;
use crate::tui::msg::{Effect, Msg};
use crate::tui::popup::{Popup, Purpose, Then};
use crate::tui::screen::Screen;
use crate::tui::session_name;
use crate::tui::shown::Preview;
use crate::tui::view as screen;
use crate::tui::{lab, update};

pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Back => leave(&mut model.sessions),
        Action::Filter => model.sessions.typing = true,
        Action::Enter if model.sessions.typing => model.sessions.typing = false,
        Action::Sort => {
            model.sessions.sort = model.sessions.sort.next();
            model.sessions.again();
        }
        Action::Compare => return compare(model),
        Action::Import => {
            let hint = "a session file (.jsonl), by its path";
            model.popups.push(Popup::line("Import a session", hint, "", Purpose::Import));
        }
        _ if !moved(model, action) => return on_current(model, action),
        _ => {}
    }
    ask(model)
}

/// Whether the action moves the cursor.
fn moved(model: &mut Model, action: Action) -> bool {
    let page = view::rows(screen::areas(model.size).body, &model.sessions).max(1);
    let sessions = &mut model.sessions;
    let last = sessions.matching().saturating_sub(1);
    let at = sessions.cursor;
    sessions.cursor = match action {
        Action::Up => at.saturating_sub(1),
        Action::Down => (at + 1).min(last),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => (at + page).min(last),
        Action::HalfUp => at.saturating_sub(page.div_ceil(2)),
        Action::HalfDown => (at + page.div_ceil(2)).min(last),
        Action::Top => 0,
        Action::Bottom => last,
        _ => return false,
    };
    true
}

/// What is done with the session under the cursor.
fn on_current(model: &mut Model, action: Action) -> Vec<Effect> {
    let Some(listed) = model.sessions.current() else { return Vec::new() };
    let id = listed.id.clone();
    match action {
        Action::Enter => return vec![Effect::Open(id)],
        Action::RunAgain => return vec![Effect::Again(id)],
        Action::Copy => return vec![Effect::Copy(format!("iotui sessions show {id}"))],
        Action::Mark => mark(model, id),
        Action::Export if listed.state == State::Unreadable => {
            model.toasts.note(
                model.now,
                "this file cannot be read as a session: there is nothing to export",
            );
        }
        Action::Export => {
            let form = Form::session(What::Kept(id), session_name::of_listed(listed));
            model.popups.push(Popup::Export(Box::new(form)));
        }
        Action::Rename if listed.state == State::Unreadable => {
            model
                .toasts
                .note(model.now, "this file cannot be read as a session: it has no name to change");
        }
        Action::Rename => {
            let title = format!("A new name for {}", session_name::of_listed(listed));
            let hint = format!("1 to {NAME_LENGTH} characters");
            model.popups.push(Popup::line(
                title,
                hint,
                listed.name.clone(),
                Purpose::Rename { id },
            ));
        }
        Action::Delete => {
            let what = match listed.state {
                State::Unreadable => format!("{id}: a file that cannot be read"),
                _ => format!(
                    "{}, {} UTC, {} cells. It cannot be brought back.",
                    listed.target,
                    session_name::format_time(&listed.created),
                    cells(listed)
                ),
            };
            model.popups.push(Popup::question(
                format!("Delete {}?", session_name::of_listed(listed)),
                what,
                Then::Do(Effect::Delete(id)),
            ));
        }
        _ => {}
    }
    Vec::new()
}

/// Marks a session to be compared, or takes its mark away.
pub fn mark(model: &mut Model, id: String) {
    let marks = &mut model.sessions.marks;
    match marks.iter().position(|own| *own == id) {
        Some(at) => drop(marks.remove(at)),
        None if marks.len() < MOST => marks.push(id),
        None => model
            .toasts
            .note(model.now, format!("{MOST} sessions are the most that can be compared")),
    }
}

/// Compares the marked sessions with the first of them; one mark and the cursor are enough.
fn compare(model: &mut Model) -> Vec<Effect> {
    let sessions = &model.sessions;
    let mut ids = sessions.marks.clone();
    if let ([only], Some(here)) = (ids.as_slice(), sessions.current())
        && *only != here.id
    {
        ids.push(here.id.clone());
    }
    if ids.len() < 2 {
        let key = key_of(Action::Mark, Screen::Sessions);
        model.toasts.note(
            model.now,
            format!("mark two sessions or more first: {key} marks the one under the cursor"),
        );
        return Vec::new();
    }
    update::perform(model, Request::Compare(ids))
}

pub fn told(model: &mut Model, msg: Msg) -> Vec<Effect> {
    if let Msg::Sessions(Ok(all)) = &msg {
        lab::listed(model, all);
    }
    let sessions = &mut model.sessions;
    match msg {
        Msg::Sessions(Ok(listed)) => {
            sessions.take(listed);
            sessions.read = Some(Ok(()));
            if let Some(id) = sessions.wanted.take() {
                sessions.go_to(&id);
            }
        }
        Msg::Sessions(Err(why)) => sessions.read = Some(Err(why)),
        Msg::Preview(preview) => loaded(sessions, preview),
        Msg::Imported { id, text } => {
            sessions.wanted = Some(id);
            model.toasts.good(model.now, text);
            return vec![Effect::Sessions];
        }
        _ => {}
    }
    ask(model)
}

/// A session was loaded: for the preview, or for nothing any more.
fn loaded(sessions: &mut Sessions, preview: Preview) {
    if sessions.asked.as_ref() == Some(&preview.id) {
        sessions.asked = None;
    }
    if sessions.current().is_some_and(|listed| listed.id == preview.id) {
        sessions.preview = Some(preview);
    }
}

/// Asks for the next session that has to be loaded. Only one at a time: a cursor that moves fast
/// leaves most out.
fn ask(model: &mut Model) -> Vec<Effect> {
    // Reading files beside a run would be measured with it.
    let quiet = model.running();
    let on_screen = model.screen == Screen::Sessions;
    let sessions = &mut model.sessions;
    if sessions.asked.is_some() || !on_screen {
        return Vec::new();
    }
    let known = sessions.preview.as_ref().map(|preview| preview.id.as_str());
    let wanted = sessions
        .current()
        .map(|listed| listed.id.as_str())
        .filter(|id| known != Some(id) && !quiet);
    sessions.asked = wanted.map(String::from);
    sessions.asked.clone().map(Effect::Preview).into_iter().collect()
}

/// A run is over: there is one session more, and previews can be loaded again.
pub fn run_over(model: &Model) -> Vec<Effect> {
    if model.screen == Screen::Sessions { vec![Effect::Sessions] } else { Vec::new() }
}

pub fn field(sessions: &mut Sessions) -> Option<&mut Input> {
    if sessions.typing { Some(&mut sessions.filter) } else { None }
}

pub fn typed(model: &mut Model) -> Vec<Effect> {
    model.sessions.again();
    ask(model)
}

/// Esc: out of the filter, which is emptied; else the marks are taken away.
fn leave(sessions: &mut Sessions) {
    if sessions.typing || !sessions.filter.value().is_empty() {
        sessions.typing = false;
        sessions.filter = Input::default();
        sessions.again();
    } else {
        sessions.marks.clear();
    }
}

/// A new name for a session.
pub fn rename(id: &str, name: &str) -> Result<Vec<Effect>, String> {
    let name = checked_name(name).map_err(|error| error.to_string())?;
    Ok(vec![Effect::Rename { id: id.into(), name }])
}

/// The file of a session that is to be taken in.
pub fn import(path: &str) -> Result<Vec<Effect>, String> {
    if path.is_empty() {
        Err("write the path of a file".into())
    } else {
        Ok(vec![Effect::Import(path.into())])
    }
}

/// A click puts the cursor on a session; on the one that has it, opens it.
pub fn clicked(model: &mut Model, area: Rect, at: Position) -> Vec<Effect> {
    model.sessions.typing = false;
    let Some(row) = view::row_at(model, area, at) else { return Vec::new() };
    if row == model.sessions.cursor {
        return on_current(model, Action::Enter);
    }
    model.sessions.cursor = row;
    ask(model)
}

/// Whether an action does something now.
pub fn offered(sessions: &Sessions, action: Action) -> bool {
    match action {
        Action::Compare => !sessions.marks.is_empty(),
        Action::Enter
        | Action::RunAgain
        | Action::Mark
        | Action::Rename
        | Action::Delete
        | Action::Copy
        | Action::Export => sessions.matching() > 0,
        Action::Filter | Action::Sort => sessions.count() > 0,
        _ => true,
    }
}
