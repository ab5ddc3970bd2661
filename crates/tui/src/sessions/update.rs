//! Keys and messages on Sessions.

use tui_input::Input;

use super::state::{Sessions, Sort, cells, cells_noun};
use crate::context::{Context, Request};
use crate::export::{Form, What};
use crate::keymap::{Action, key_of};
use crate::msg::{Effect, Msg, Query, Replayed};
use crate::popup::{Popup, Purpose, Then};
use crate::results::ask_for_rounds;
use crate::screen::Screen;
use crate::session::{self, NAME_LENGTH, State, check_name};
use crate::session_view::{self, MAX_COMPARED, Preview, refusal_of_reference};
use crate::text::time::to_minute;
use crate::units::counted;
use crate::view::list::{move_cursor, next_of};
use crate::view::pane::first_row;
use crate::view::{Part, Target};

pub fn act(sessions: &mut Sessions, ctx: &mut Context, action: Action) -> Vec<Effect> {
    match action {
        Action::Back => leave(sessions, ctx),
        Action::Filter => sessions.typing = true,
        Action::Enter if sessions.typing => sessions.typing = false,
        Action::Sort => {
            sessions.sort = next_of(Sort::ALL, sessions.sort, false);
            sessions.again();
        }
        Action::Compare => return compare(sessions, ctx),
        Action::Import => {
            let hint = "a path: a session, an export as jsonl, or the JSON of fio";
            ctx.popups.push(Popup::line("Import a session", hint, "", Purpose::Import));
        }
        Action::Left | Action::Right => {}
        _ if action.moves() => {
            let page = ctx.hits.drawn(Part::Sessions).page();
            sessions.cursor = move_cursor(sessions.cursor, sessions.lines(), action, page);
        }
        _ => return on_current(sessions, ctx, action),
    }
    ask(sessions, ctx)
}

/// Performs an action on the session under the cursor.
fn on_current(sessions: &mut Sessions, ctx: &mut Context, action: Action) -> Vec<Effect> {
    let Some(listed) = sessions.current() else {
        // Before the list is read, there is no heading either.
        if matches!(action, Action::Enter | Action::Mark) && sessions.cursor < sessions.lines() {
            sessions.fold();
        }
        return Vec::new();
    };
    let id = listed.id.clone();
    match action {
        Action::Enter => return vec![Effect::Ask(Query::Open(id))],
        Action::RunAgain | Action::Replay if listed.state == State::Reference => {
            ctx.note(refusal_of_reference(action).unwrap_or_default());
        }
        Action::RunAgain => return vec![Effect::Ask(Query::Again(id))],
        Action::Replay => ctx.request(Request::Replay(Replayed::Kept(id))),
        Action::Refine => refine(sessions, ctx),
        Action::Copy => return vec![Effect::Copy(format!("iotui sessions show {id}"))],
        Action::Mark => mark(sessions, ctx, id),
        Action::Export if listed.state == State::Unreadable => {
            ctx.note("this file is not a readable session: it cannot be exported");
        }
        Action::Export => {
            let file = session_view::unique_name(&listed.name, &listed.id);
            let form = Form::session(What::Kept(id), session_view::listed_name(listed), file);
            ctx.popups.push(Popup::Export(Box::new(form)));
        }
        Action::Rename if listed.state == State::Unreadable => {
            ctx.note("this file is not a readable session: it cannot be renamed");
        }
        Action::Rename | Action::Delete if listed.state == State::Reference => {
            ctx.note(format!("{id} is a reference: it is built in and never changes"));
        }
        Action::Rename => {
            let title = format!("New name for {}", session_view::listed_name(listed));
            let hint = format!("1 to {NAME_LENGTH} characters");
            ctx.popups.push(Popup::line(title, hint, listed.name.clone(), Purpose::Rename { id }));
        }
        Action::Delete => {
            let what = match listed.state {
                State::Unreadable => format!("{id}: unreadable file"),
                _ => format!(
                    "{}, {} UTC, {} {}. This cannot be undone.",
                    listed.target,
                    to_minute(&listed.created),
                    cells(listed),
                    cells_noun(listed)
                ),
            };
            ctx.popups.push(Popup::question(
                format!("Delete {}?", session_view::listed_name(listed)),
                what,
                Then::Do(Effect::Ask(Query::Delete(id))),
            ));
        }
        _ => {}
    }
    Vec::new()
}

/// Offers the ways to add rounds to the session under the cursor, by what its preview shows.
fn refine(sessions: &Sessions, ctx: &mut Context) {
    let here = sessions.current().map(|listed| listed.id.as_str());
    match &sessions.preview {
        Some(Preview { id, result: Ok(view) }) if here == Some(id) => {
            ask_for_rounds(view, None, ctx)
        }
        _ => ctx.note("the session is still being loaded"),
    }
}

/// Toggles the comparison mark of a session.
fn mark(sessions: &mut Sessions, ctx: &mut Context, id: String) {
    let marks = &mut sessions.marks;
    match marks.iter().position(|own| *own == id) {
        Some(at) => drop(marks.remove(at)),
        None if marks.len() < MAX_COMPARED => marks.push(id),
        None => ctx.note(format!("cannot compare more than {MAX_COMPARED} sessions")),
    }
}

/// Toggles the mark of the session that another screen shows, and reports the marks.
pub fn mark_shown(sessions: &mut Sessions, ctx: &mut Context, id: String, is_saved: bool) {
    if !is_saved {
        return ctx.fail("this session is not saved: it cannot be compared");
    }
    mark(sessions, ctx, id.clone());
    let go = key_of(Action::Go(Screen::Sessions), ctx.screen);
    let compare = key_of(Action::Compare, Screen::Sessions);
    ctx.note(match (sessions.marks.contains(&id), sessions.marks.len()) {
        (false, _) => "unmarked".to_string(),
        (true, 1) => format!("marked: mark another one, then {go} {compare} compares them"),
        (true, count) => format!("{count} sessions are marked: {go} {compare} compares them"),
    });
}

/// Compares the marked sessions with the oldest of them; one mark and the cursor are enough.
fn compare(sessions: &Sessions, ctx: &mut Context) -> Vec<Effect> {
    let mut ids = sessions.marks.clone();
    if let ([only], Some(here)) = (ids.as_slice(), sessions.current())
        && *only != here.id
    {
        ids.push(here.id.clone());
    }
    if ids.len() < 2 {
        let key = key_of(Action::Mark, Screen::Sessions);
        ctx.note(format!("mark two sessions or more first: {key} marks the one under the cursor"));
        return Vec::new();
    }
    ctx.request(Request::Compare(sessions.oldest_first(ids)));
    Vec::new()
}

pub fn handle_message(sessions: &mut Sessions, ctx: &mut Context, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Sessions(Ok(listed)) => {
            sessions.take(listed);
            sessions.read = Some(Ok(()));
            if let Some(id) = sessions.wanted.take() {
                sessions.go_to(&id);
            }
        }
        Msg::Sessions(Err(why)) => sessions.read = Some(Err(why)),
        Msg::Preview(preview) => take_preview(sessions, preview),
        Msg::Changed { id, before, ratio } => sessions.changes.take(id, before, ratio),
        Msg::Deleted(id) => {
            let name = sessions.get(&id).map_or(id.as_str(), session_view::listed_name);
            ctx.succeed(format!("deleted {name}"));
            return vec![Effect::Ask(Query::Sessions)];
        }
        Msg::Imported { id, text } => {
            sessions.wanted = Some(id);
            ctx.succeed(text);
            return vec![Effect::Ask(Query::Sessions)];
        }
        _ => {}
    }
    ask(sessions, ctx)
}

/// Takes a loaded session for the preview, if it is still needed.
fn take_preview(sessions: &mut Sessions, preview: Preview) {
    if sessions.asked.as_ref() == Some(&preview.id) {
        sessions.asked = None;
    }
    if sessions.current().is_some_and(|listed| listed.id == preview.id) {
        sessions.preview = Some(preview);
    }
}

/// Requests the next session to load. Only one at a time: a fast cursor skips most.
fn ask(sessions: &mut Sessions, ctx: &Context) -> Vec<Effect> {
    // Reading files would disturb a run.
    if sessions.asked.is_some() || ctx.is_running() || ctx.screen != Screen::Sessions {
        return Vec::new();
    }
    let known = sessions.preview.as_ref().map(|preview| preview.id.as_str());
    let wanted = sessions.current().map(|listed| listed.id.as_str()).filter(|id| known != Some(id));
    sessions.asked = wanted.map(String::from);
    if let Some(id) = sessions.asked.clone() {
        return vec![Effect::Ask(Query::Preview(id))];
    }
    // The preview is of more interest than what the list adds to it.
    let page = ctx.hits.drawn(Part::Sessions).page();
    let first = first_row(sessions.cursor, sessions.lines(), page);
    let pair = sessions.ask_change(first, page);
    pair.map(|(id, before)| Effect::Ask(Query::Change { id, before })).into_iter().collect()
}

/// Handles the end of a run: lists the new session and loads previews again.
pub fn end_run(screen: Screen) -> Vec<Effect> {
    if screen == Screen::Sessions { vec![Effect::Ask(Query::Sessions)] } else { Vec::new() }
}

/// Returns the filter, while it is typed.
pub fn field(sessions: &mut Sessions) -> Option<&mut Input> {
    if sessions.typing { Some(&mut sessions.filter) } else { None }
}

/// Follows a change of the filter.
pub fn field_changed(sessions: &mut Sessions, ctx: &mut Context) -> Vec<Effect> {
    sessions.again();
    ask(sessions, ctx)
}

/// Handles Esc: clears the filter, else the marks, which is reported.
fn leave(sessions: &mut Sessions, ctx: &mut Context) {
    if sessions.typing || !sessions.filter.value().is_empty() {
        sessions.typing = false;
        sessions.filter = Input::default();
        sessions.again();
    } else {
        match std::mem::take(&mut sessions.marks).len() {
            0 => {}
            count => ctx.note(format!("{} unmarked", counted(count, "session"))),
        }
    }
}

/// Renames a session.
pub fn rename(id: &str, name: &str) -> Result<Vec<Effect>, String> {
    let name = check_name(name).map_err(|error| error.to_string())?;
    Ok(vec![Effect::Ask(Query::Rename { id: id.into(), name })])
}

/// Asks before a session gets the name of a reference, which would hide it.
pub fn ask_before_hiding(popups: &mut Vec<Popup>, effects: Vec<Effect>) -> Vec<Effect> {
    let [Effect::Ask(Query::Rename { name, .. })] = effects.as_slice() else { return effects };
    if session::reference(name).is_none() {
        return effects;
    }
    popups.push(Popup::question(
        format!("Name it {name}?"),
        "A reference has this name: it is hidden while one of your sessions has it.",
        Then::Do(effects[0].clone()),
    ));
    Vec::new()
}

/// Imports a session from a file.
pub fn import(path: &str) -> Result<Vec<Effect>, String> {
    if path.is_empty() {
        Err("enter a file path".into())
    } else {
        Ok(vec![Effect::Ask(Query::Import(path.into()))])
    }
}

/// Handles a click: moves the cursor to a session, or opens the one under the cursor.
pub fn click(sessions: &mut Sessions, ctx: &mut Context, target: Target) -> Vec<Effect> {
    sessions.typing = false;
    let Target::Row(Part::Sessions, row) = target else { return Vec::new() };
    if row == sessions.cursor {
        return on_current(sessions, ctx, Action::Enter);
    }
    sessions.cursor = row;
    ask(sessions, ctx)
}

/// Returns whether an action is available now.
pub fn is_offered(sessions: &Sessions, action: Action) -> bool {
    let state = sessions.current().map(|listed| listed.state);
    match action {
        Action::Compare => !sessions.marks.is_empty(),
        Action::RunAgain | Action::Replay | Action::Refine | Action::Rename => {
            state.is_some_and(|state| !matches!(state, State::Reference | State::Unreadable))
        }
        Action::Delete => state.is_some_and(|state| state != State::Reference),
        Action::Export => state.is_some_and(|state| state != State::Unreadable),
        Action::Enter => sessions.lines() > 0,
        Action::Mark | Action::Copy => state.is_some(),
        Action::Filter | Action::Sort => sessions.count() > 0,
        _ => true,
    }
}
