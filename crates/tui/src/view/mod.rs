//! `view`: draws the model, and changes nothing.

mod areas;
pub mod board;
pub mod digits;
pub mod findings;
pub mod footer;
pub mod header;
pub mod hits;
pub mod list;
pub mod pane;

pub use areas::{SMALLEST, areas};
pub use hits::{Hits, Part, Target};

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use super::context::ViewContext;
use super::model::Model;
use super::popup::Popup;
use super::screen::Screen;
use super::theme::{Glyphs, Role};
use super::{compare, host, lab, live, popups, results, sessions, setup};
use crate::text::is_unsafe_char;

/// Draws everything, and returns what the next key or click finds there.
pub fn draw(model: &Model, buf: &mut Buffer) -> Hits {
    let mut hits = Hits::default();
    draw_all(model, buf, &mut hits);
    model.look.paint(buf);
    unsteered(buf);
    if model.look.glyphs == Glyphs::Ascii {
        plain(buf);
    }
    hits
}

/// Removes what reorders a line, whichever name brought it: it takes no column, so no later frame
/// would overwrite it.
fn unsteered(buf: &mut Buffer) {
    for cell in &mut buf.content {
        if !cell.symbol().is_ascii() && cell.symbol().contains(is_unsafe_char) {
            let symbol: String = cell.symbol().chars().filter(|c| !is_unsafe_char(*c)).collect();
            cell.set_symbol(if symbol.is_empty() { " " } else { &symbol });
        }
    }
}

/// Names of files and units may hold what such a terminal cannot show.
fn plain(buf: &mut Buffer) {
    for row in buf.content.chunks_mut(usize::from(buf.area.width.max(1))) {
        for at in 0..row.len() {
            match row[at].symbol() {
                "±" => split_sign(row, at),
                "…" if at > 0 && row[at - 1].symbol() != " " => {
                    row[at - 1].set_symbol(".");
                    row[at].set_symbol(".");
                }
                _ => {}
            }
        }
    }
    for cell in &mut buf.content {
        if !cell.symbol().is_ascii() {
            cell.set_symbol(match cell.symbol() {
                "…" => ".",
                "µ" => "u",
                "≈" => "~",
                "×" => "x",
                "·" | "–" | "—" => "-",
                "\u{a0}" => " ",
                _ => "?",
            });
        }
    }
}

/// Writes the sign at this place in two characters: with a blank before it, else with the one
/// behind its number, `+-4%`.
fn split_sign(row: &mut [Cell], at: usize) {
    let is = |place: Option<usize>, symbol: &str| {
        place.and_then(|place| row.get(place)).is_some_and(|cell| cell.symbol() == symbol)
    };
    let digits = row[at + 1..].iter().take_while(|cell| {
        let symbol = cell.symbol();
        symbol == "." || symbol.bytes().all(|byte| byte.is_ascii_digit())
    });
    let end = at + 1 + digits.count();
    let (before, behind) = (is(at.checked_sub(1), " "), is(Some(end), " "));
    let wide = before && is(at.checked_sub(2), " ");
    let style = row[at].style();
    let first = match (wide || !behind, before) {
        (true, true) => at - 1,
        (false, _) => {
            row[at + 1..=end].rotate_right(1);
            at
        }
        (true, false) => {
            row[at].set_symbol("~");
            return;
        }
    };
    row[first].set_symbol("+").set_style(style);
    row[first + 1].set_symbol("-").set_style(style);
}

fn draw_all(model: &Model, buf: &mut Buffer, hits: &mut Hits) {
    let size = (buf.area.width, buf.area.height);
    if size.0 < SMALLEST.0 || size.1 < SMALLEST.1 {
        return too_small(model, size, buf);
    }
    let areas = areas(size);
    let run = model.live.status(&model.look);
    let ctx = ViewContext {
        now: model.now,
        time: model.time(),
        look: &model.look,
        run: run.as_ref(),
        is_covered: !model.popups.is_empty(),
        told: model.toasts.current().map(|toast| toast.text.as_str()),
        pointer: model.pointer.over.filter(|_| model.popups.is_empty()),
    };
    match model.screen {
        Screen::Setup => setup::draw(&model.setup, &ctx, areas.body, buf, hits),
        Screen::Live => live::draw(&model.live, &ctx, areas.body, buf, hits),
        Screen::Results => results::draw(&model.results, &ctx, areas.body, buf, hits),
        Screen::Sessions => sessions::draw(&model.sessions, &ctx, areas.body, buf, hits),
        Screen::Lab => lab::draw(&model.lab, &ctx, areas.body, buf, hits),
        Screen::Host => host::draw(&model.host, &ctx, areas.body, buf, hits),
        Screen::Compare => compare::draw(&model.compare, &ctx, areas.body, buf, hits),
    }
    for popup in &model.popups {
        // A theme is judged by the screen below.
        if !matches!(popup, Popup::Themes(_)) {
            pane::dim(&model.look, areas.body, buf);
        }
        hits.cover();
        popups::draw(model, popup, areas.body, buf, hits);
    }
    header::draw(model, areas.header, buf, hits);
    footer::draw(model, areas.footer, buf, hits);
}

/// Draws one line: the size that is needed, and how a run in progress is going.
fn too_small(model: &Model, (columns, rows): (u16, u16), buf: &mut Buffer) {
    let look = &model.look;
    let mut text = format!("needs {}x{}", SMALLEST.0, SMALLEST.1);
    let dot = look.glyph(" · ", " - ");
    let room = usize::from(columns).saturating_sub(text.len() + pane::width(dot));
    if let Some(run) = model.live.describe_run(look, room) {
        text += dot;
        text += &run;
    }
    let line = Rect::new(0, rows / 2, columns, rows.min(1));
    look.line(Role::Misleading, pane::fit(&text, columns.into()))
        .centered()
        .render(line.intersection(buf.area), buf);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_terminal_has_the_help_signs() {
        let mut buf = Buffer::with_lines(["a±2 % ≈3 µs 1–2 x×y · cut…"]);
        plain(&mut buf);
        assert_eq!(buf, Buffer::with_lines(["a+-2% ~3 us 1-2 xxy - cu.."]));
        // The text behind the number keeps its place.
        let mut buf = Buffer::with_lines(["1.73  ±22|end", "a ±65%|end x", "a±65%|end x "]);
        plain(&mut buf);
        let kept = Buffer::with_lines(["1.73 +-22|end", "a+-65%|end x", "a~65%|end x "]);
        assert_eq!(buf, kept);
    }
}
