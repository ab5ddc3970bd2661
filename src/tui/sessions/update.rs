//! Keys and messages on Sessions.

use ratatui::layout::{Position, Rect};
use tui_input::Input;

use super::layout;
use super::state::{Sessions, cells};
use crate::session::{NAME_LENGTH, State, check_name};
use crate::text::time::to_minute;
use crate::tui::context::{Context, Request};
use crate::tui::export::{Form, What};
use crate::tui::keymap::{Action, key_of};
use crate::tui::msg::{Effect, Msg};
use crate::tui::popup::{Popup, Purpose, Then};
use crate::tui::replayed::Replayed;
use crate::tui::results::ask_for_rounds;
use crate::tui::screen::Screen;
use crate::tui::session_name;
use crate::tui::session_view::{MAX_COMPARED, Preview};

pub fn act(sessions: &mut Sessions, ctx: &mut Context, action: Action) -> Vec<Effect> {
    match action {
        Action::Back => leave(sessions),
        Action::Filter => sessions.typing = true,
        Action::Enter if sessions.typing => sessions.typing = false,
        Action::Sort => {
            sessions.sort = sessions.sort.next();
            sessions.again();
        }
        Action::Compare => return compare(sessions, ctx),
        Action::Import => {
            let hint = "a session file (.jsonl), by its path";
            ctx.popups.push(Popup::line("Import a session", hint, "", Purpose::Import));
        }
        _ if !move_cursor(sessions, ctx, action) => return on_current(sessions, ctx, action),
        _ => {}
    }
    ask(sessions, ctx)
}

/// Moves the cursor; returns whether the action does that.
fn move_cursor(sessions: &mut Sessions, ctx: &Context, action: Action) -> bool {
    let page = layout::rows(ctx.body(), sessions).max(1);
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

/// Performs an action on the session under the cursor.
fn on_current(sessions: &mut Sessions, ctx: &mut Context, action: Action) -> Vec<Effect> {
    let Some(listed) = sessions.current() else { return Vec::new() };
    let id = listed.id.clone();
    match action {
        Action::Enter => return vec![Effect::Open(id)],
        Action::RunAgain => return vec![Effect::Again(id)],
        Action::Replay => ctx.request(Request::Replay(Replayed::Kept(id))),
        Action::Refine => refine(sessions, ctx),
        Action::Copy => return vec![Effect::Copy(format!("iotui sessions show {id}"))],
        Action::Mark => mark(sessions, ctx, id),
        Action::Export if listed.state == State::Unreadable => {
            ctx.note("this file is not a readable session: it cannot be exported");
        }
        Action::Export => {
            let form = Form::session(What::Kept(id), session_name::of_listed(listed));
            ctx.popups.push(Popup::Export(Box::new(form)));
        }
        Action::Rename if listed.state == State::Unreadable => {
            ctx.note("this file is not a readable session: it cannot be renamed");
        }
        Action::Rename => {
            let title = format!("New name for {}", session_name::of_listed(listed));
            let hint = format!("1 to {NAME_LENGTH} characters");
            ctx.popups.push(Popup::line(title, hint, listed.name.clone(), Purpose::Rename { id }));
        }
        Action::Delete => {
            let what = match listed.state {
                State::Unreadable => format!("{id}: unreadable file"),
                _ => format!(
                    "{}, {} UTC, {} cells. This cannot be undone.",
                    listed.target,
                    to_minute(&listed.created),
                    cells(listed)
                ),
            };
            ctx.popups.push(Popup::question(
                format!("Delete {}?", session_name::of_listed(listed)),
                what,
                Then::Do(Effect::Delete(id)),
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
        Some(Preview { id, result: Ok(view) }) if here == Some(id) => ask_for_rounds(view, ctx),
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
    ctx.note(match (sessions.mark_of(&id), sessions.marks.len()) {
        (None, _) => "unmarked".to_string(),
        (Some(_), 1) => format!("marked: mark another one, then {go} {compare} compares them"),
        (Some(_), count) => format!("{count} sessions are marked: {go} {compare} compares them"),
    });
}

/// Compares the marked sessions with the first of them; one mark and the cursor are enough.
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
    ctx.request(Request::Compare(ids));
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
        Msg::Imported { id, text } => {
            sessions.wanted = Some(id);
            ctx.succeed(text);
            return vec![Effect::Sessions];
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
    let quiet = ctx.is_running();
    let on_screen = ctx.screen == Screen::Sessions;
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

/// Handles the end of a run: lists the new session and loads previews again.
pub fn end_run(screen: Screen) -> Vec<Effect> {
    if screen == Screen::Sessions { vec![Effect::Sessions] } else { Vec::new() }
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

/// Handles Esc: clears the filter, else the marks.
fn leave(sessions: &mut Sessions) {
    if sessions.typing || !sessions.filter.value().is_empty() {
        sessions.typing = false;
        sessions.filter = Input::default();
        sessions.again();
    } else {
        sessions.marks.clear();
    }
}

/// Renames a session.
pub fn rename(id: &str, name: &str) -> Result<Vec<Effect>, String> {
    let name = check_name(name).map_err(|error| error.to_string())?;
    Ok(vec![Effect::Rename { id: id.into(), name }])
}

/// Imports a session from a file.
pub fn import(path: &str) -> Result<Vec<Effect>, String> {
    if path.is_empty() {
        Err("enter a file path".into())
    } else {
        Ok(vec![Effect::Import(path.into())])
    }
}

/// Handles a click: moves the cursor to a session, or opens the one under the cursor.
pub fn click(sessions: &mut Sessions, ctx: &mut Context, body: Rect, at: Position) -> Vec<Effect> {
    sessions.typing = false;
    let Some(row) = layout::row_at(sessions, body, at) else { return Vec::new() };
    if row == sessions.cursor {
        return on_current(sessions, ctx, Action::Enter);
    }
    sessions.cursor = row;
    ask(sessions, ctx)
}

/// Returns whether an action is available now.
pub fn is_offered(sessions: &Sessions, action: Action) -> bool {
    match action {
        Action::Compare => !sessions.marks.is_empty(),
        Action::Enter
        | Action::RunAgain
        | Action::Replay
        | Action::Refine
        | Action::Mark
        | Action::Rename
        | Action::Delete
        | Action::Copy
        | Action::Export => sessions.matching() > 0,
        Action::Filter | Action::Sort => sessions.count() > 0,
        _ => true,
    }
}
