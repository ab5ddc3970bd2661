//! Draws Sessions: the list, beside or above the preview.

mod columns;
mod preview;
mod spark;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use columns::{Columns, Shown};

use super::layout::{self, areas, filters};
use super::state::Sessions;
use crate::tui::context::ViewContext;
use crate::tui::keymap::{Action, key_of};
use crate::tui::screen::Screen;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

pub fn draw(sessions: &Sessions, ctx: &ViewContext, body: Rect, buf: &mut Buffer) {
    if sessions.count() == 0 {
        return draw_empty(sessions, ctx.look, body, buf);
    }
    let [list, preview] = areas(body);
    self::list(ctx, sessions, list, buf);
    preview::draw(sessions, ctx, preview, buf);
}

/// Returns how many sessions are shown, of how many, and how many are marked.
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

fn list(ctx: &ViewContext, sessions: &Sessions, area: Rect, buf: &mut Buffer) {
    let look = ctx.look;
    let inner = pane::frame(look, "Sessions", &title(sessions), true, area, buf);
    let mut row = 0;
    if filters(sessions) {
        pane::line(look.line(Role::Key, " /"), 0, inner, buf);
        let field =
            Rect::new(inner.x + 3, inner.y, inner.width.saturating_sub(4), inner.height.min(1));
        pane::field(look, &sessions.filter, sessions.typing, field, buf);
        row = 1;
    }
    let columns = Columns::fit(usize::from(inner.width));
    pane::line(columns.head(look, sessions.sort), row, inner, buf);
    let list = layout::list(sessions, inner);
    let shown = Shown { look, marked: sessions.marked(), now: ctx.time };
    let mut visible = sessions.from_with_change(list.first);
    let line = |at: usize| {
        let line = visible.next().map(|session| columns.row(&shown, session)).unwrap_or_default();
        if at == sessions.cursor { pane::lit(look, line) } else { line }
    };
    list.draw(look, Some(sessions.cursor), line, buf);
    if sessions.matching() == 0 {
        let text = "   no session matches; esc shows all";
        pane::line(look.line(Role::Dim, text), 0, list.area, buf);
    }
}

/// Draws a text where there is nothing to list.
fn draw_empty(sessions: &Sessions, look: &Look, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(look, "Sessions", "", true, area, buf);
    let say = |text: &str, role: Role| Line::from(look.span(role, text.to_string())).centered();
    let run = key_of(Action::Run, Screen::Setup);
    let lines = match &sessions.read {
        None => vec![say("looking ...", Role::Dim)],
        Some(Err(why)) => {
            let room = usize::from(inner.width.saturating_sub(4));
            pane::wrap(why, room).iter().map(|part| say(part, Role::Wrong)).collect()
        }
        Some(Ok(())) => vec![
            say("No sessions yet", Role::Title),
            Line::default(),
            say(
                "Every run is saved here, to view again, run again, or compare with others.",
                Role::Text,
            ),
            say(&format!("Two keys start the first one: 1 for Setup, {run} to run."), Role::Dim),
        ],
    };
    let above = inner.height.saturating_sub(lines.len() as u16) / 3;
    pane::lines(lines, above, inner, buf);
}
