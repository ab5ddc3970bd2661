//! Draws Sessions: the list, left of or above the preview.

mod columns;
mod preview;

use columns::{Columns, Shown};

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::state::Sessions;
use crate::context::ViewContext;
use crate::keymap::{Action, key_of};
use crate::screen::Screen;
use crate::session::{Listed, State};
use crate::theme::{Look, Role};
use crate::units::counted;
use crate::view::list::List;
use crate::view::{Hits, Part, Target, pane};

pub fn draw(sessions: &Sessions, ctx: &ViewContext, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    hits.area(body, Target::Pane(Part::Sessions));
    if sessions.count() == 0 {
        return draw_empty(sessions, ctx.look, body, buf);
    }
    let [list, preview] = areas(body);
    draw_list(ctx, sessions, list, buf, hits);
    preview::draw(sessions, ctx, preview, buf);
}

/// Returns the numbers of shown, of all, and of marked sessions.
fn title(sessions: &Sessions) -> String {
    let marked = match sessions.marks.len() {
        0 => String::new(),
        marks => format!("{marks} marked, "),
    };
    let all = sessions.count() - sessions.references();
    let is_own = |listed: &&Listed| listed.state != State::Reference;
    match sessions.listed().filter(is_own).count() {
        shown if shown < all => format!("{marked}{shown} of {all}"),
        _ => format!("{marked}{all}"),
    }
}

fn draw_list(
    ctx: &ViewContext,
    sessions: &Sessions,
    area: Rect,
    buf: &mut Buffer,
    hits: &mut Hits,
) {
    let look = ctx.look;
    let inner = pane::frame(look, "Sessions", &title(sessions), true, area, buf);
    let has_filter = sessions.typing || !sessions.filter.value().is_empty();
    let above = Constraint::Length(1 + u16::from(has_filter));
    let [head, rows] = Layout::vertical([above, Constraint::Min(0)]).areas(inner);
    if has_filter {
        pane::filter(look, &sessions.filter, sessions.typing, head, buf);
    }
    let columns = Columns::fit(usize::from(inner.width));
    pane::line(columns.head(look, sessions.sort), u16::from(has_filter), head, buf);
    let list = List::around(sessions.cursor, sessions.lines(), rows);
    hits.list(Part::Sessions, list);
    let shown = Shown { look, marked: sessions.marked(), now: ctx.time };
    let line = |at: usize| {
        let line = match sessions.line(at) {
            Some(session) => columns.row(&shown, session),
            None => heading(sessions, look),
        };
        if at == sessions.cursor { pane::lit(look, line) } else { line }
    };
    list.draw(look, Some(sessions.cursor), line, buf);
    // Bars that are reversed are gaps.
    if let Some((_, place)) = list.rows().find(|(at, _)| *at == sessions.cursor)
        && sessions.current().is_some()
    {
        let (x, width) = columns.curve_place();
        let curve = Rect { x: place.x + x, width, ..place }.intersection(place);
        buf.set_style(curve, Style::new().remove_modifier(Modifier::REVERSED));
    }
    if sessions.lines() == 0 {
        let text = "   no session matches; esc shows all";
        pane::line(look.line(Role::Dim, text), 0, list.area, buf);
    }
}

/// Returns the line above the published machines.
fn heading(sessions: &Sessions, look: &Look) -> Line<'static> {
    let sign =
        if sessions.shows_references() { look.glyph("▼", "v") } else { look.glyph("►", ">") };
    let count = counted(sessions.references(), "published machine");
    look.line(Role::Dim, format!(" {sign} {count}"))
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

/// Returns the areas of list and preview: side by side on a wide screen, else one above the other.
fn areas(body: Rect) -> [Rect; 2] {
    if body.width >= 116 {
        let list = (body.width * 5 / 8).clamp(74, 120);
        Layout::horizontal([Constraint::Length(list), Constraint::Min(0)]).areas(body)
    } else {
        Layout::vertical([Constraint::Percentage(44), Constraint::Min(0)]).areas(body)
    }
}
