//! Draws Sessions: the list, beside or above the preview.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};

use super::columns::Columns;
use super::list::Sessions;
use super::preview;
use crate::tui::keymap::{Action, key_of};
use crate::tui::model::Model;
use crate::tui::screen::Screen;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

/// Where list and preview are; no preview where there is no room.
fn areas(body: Rect) -> (Rect, Option<Rect>) {
    if body.width >= 116 {
        let list = (body.width * 5 / 8).clamp(74, 120);
        let [list, preview] =
            Layout::horizontal([Constraint::Length(list), Constraint::Min(0)]).areas(body);
        return (list, Some(preview));
    }
    if body.height >= 20 {
        let [list, preview] =
            Layout::vertical([Constraint::Percentage(44), Constraint::Min(0)]).areas(body);
        return (list, Some(preview));
    }
    (body, None)
}

/// The rows of the list below its titles, and below the filter where there is one.
fn rows_area(inner: Rect, sessions: &Sessions) -> Rect {
    let above = 1 + u16::from(filters(sessions));
    Rect::new(
        inner.x,
        inner.y + above.min(inner.height),
        inner.width,
        inner.height.saturating_sub(above),
    )
}

fn filters(sessions: &Sessions) -> bool {
    sessions.typing || !sessions.filter.value().is_empty()
}

fn inside(frame: Rect) -> Rect {
    Rect::new(
        frame.x + 1,
        frame.y + 1,
        frame.width.saturating_sub(2),
        frame.height.saturating_sub(2),
    )
}

/// How many sessions are seen at once.
pub fn rows(body: Rect, sessions: &Sessions) -> usize {
    usize::from(rows_area(inside(areas(body).0), sessions).height)
}

/// The row of the list that is under a place on the screen.
pub fn row_at(model: &Model, body: Rect, at: Position) -> Option<usize> {
    let sessions = &model.sessions;
    let list = rows_area(inside(areas(body).0), sessions);
    if !list.contains(at) {
        return None;
    }
    let first = pane::first_row(sessions.cursor, sessions.matching(), usize::from(list.height));
    Some(first + usize::from(at.y - list.y)).filter(|row| *row < sessions.matching())
}

pub fn draw(model: &Model, body: Rect, buf: &mut Buffer) {
    if model.sessions.count() == 0 {
        return none(model, body, buf);
    }
    let (list, shown) = areas(body);
    self::list(&model.look, &model.sessions, list, buf);
    if let Some(area) = shown {
        preview::draw(model, area, buf);
    }
}

/// How many, of how many, how many of them marked.
fn title(sessions: &Sessions) -> String {
    let marked = match sessions.marks.len() {
        0 => String::new(),
        marks => format!("{marks} marked, "),
    };
    match (sessions.matching(), sessions.count()) {
        (shown, all) if shown < all => format!("{marked}{shown} of {all}"),
        (_, all) => format!("{marked}{all}"),
    }
}

fn list(look: &Look, sessions: &Sessions, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(look, "Sessions", &title(sessions), true, area, buf);
    let mut row = 0;
    if filters(sessions) {
        pane::line(Line::styled(" /", look.style(Role::Key)), 0, inner, buf);
        let field =
            Rect::new(inner.x + 3, inner.y, inner.width.saturating_sub(4), inner.height.min(1));
        pane::field(look, &sessions.filter, sessions.typing, field, buf);
        row = 1;
    }
    let columns = Columns::of(usize::from(inner.width), sessions.longest());
    pane::line(columns.head(look, sessions.sort), row, inner, buf);
    let rows = rows_area(inner, sessions);
    let first = pane::first_row(sessions.cursor, sessions.matching(), usize::from(rows.height));
    for (row, listed) in sessions.from(first).take(usize::from(rows.height)).enumerate() {
        let line = columns.row(look, listed, sessions);
        if first + row == sessions.cursor {
            pane::line(pane::lit(look, line), row as u16, rows, buf);
            pane::select(look.style(Role::Selected), row as u16, rows, buf);
        } else {
            pane::line(line, row as u16, rows, buf);
        }
    }
    if sessions.matching() == 0 {
        pane::line(
            Line::styled("   no session is like that; esc shows all", look.style(Role::Dim)),
            0,
            rows,
            buf,
        );
    }
    pane::scrollbar(look, first, sessions.matching(), rows, buf);
}

/// What is said where there is nothing to list.
fn none(model: &Model, area: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let inner = pane::frame(look, "Sessions", "", true, area, buf);
    let say = |text: &str, role: Role| {
        Line::from(Span::styled(text.to_string(), look.style(role))).centered()
    };
    let run = key_of(Action::Run, Screen::Setup);
    let lines = match &model.sessions.read {
        None => vec![say("looking ...", Role::Dim)],
        Some(Err(why)) => {
            let room = usize::from(inner.width.saturating_sub(4));
            pane::wrap(why, room).iter().map(|part| say(part, Role::Wrong)).collect()
        }
        Some(Ok(())) => vec![
            say("No sessions yet", Role::Title),
            Line::default(),
            say(
                "Every run is kept here: to look at again, to run again, to compare with others.",
                Role::Text,
            ),
            say(&format!("The first one is two keys away: 1 for Setup, {run} to run."), Role::Dim),
        ],
    };
    let above = inner.height.saturating_sub(lines.len() as u16) / 3;
    for (row, text) in lines.into_iter().enumerate() {
        pane::line(text, above + row as u16, inner, buf);
    }
}
