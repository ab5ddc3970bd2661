//! `view`: draws the model, and changes nothing.

mod areas;
mod export;
pub mod findings;
pub mod footer;
pub mod header;
mod marks;
pub mod pane;
pub mod popup;
mod refine;
pub mod start;
pub mod window;
mod words;

pub use areas::{Areas, SMALLEST, areas};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};

use super::context::ViewContext;
use super::model::Model;
use super::screen::Screen;
use super::theme::{Glyphs, Role};
use super::{compare, host, lab, live, results, sessions, setup};
use crate::text::is_unsafe_char;

/// Draws everything.
pub fn draw(model: &Model, buf: &mut Buffer) {
    draw_all(model, buf);
    unsteered(buf);
    if model.look.glyphs == Glyphs::Ascii {
        plain(buf);
    }
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
    for cell in &mut buf.content {
        if !cell.symbol().is_ascii() {
            cell.set_symbol(match cell.symbol() {
                "…" => "~",
                "µ" => "u",
                "±" => "+",
                "×" => "x",
                "·" => "-",
                "\u{a0}" => " ",
                _ => "?",
            });
        }
    }
}

fn draw_all(model: &Model, buf: &mut Buffer) {
    let size = (buf.area.width, buf.area.height);
    if size.0 < SMALLEST.0 || size.1 < SMALLEST.1 {
        return too_small(model, size, buf);
    }
    let areas = areas(size);
    header::draw(model, areas.header, buf);
    let run = model.live.status(&model.look);
    let ctx = ViewContext {
        now: model.now,
        look: &model.look,
        run: run.as_ref(),
        is_covered: !model.popups.is_empty(),
    };
    match model.screen {
        Screen::Setup => setup::draw(&model.setup, &ctx, areas.body, buf),
        Screen::Live => live::draw(&model.live, &ctx, areas.body, buf),
        Screen::Results => results::draw(&model.results, &ctx, areas.body, buf),
        Screen::Sessions => sessions::draw(&model.sessions, &ctx, areas.body, buf),
        Screen::Lab => lab::draw(&model.lab, &ctx, areas.body, buf),
        Screen::Host => host::draw(&model.host, &ctx, areas.body, buf),
        Screen::Compare => compare::draw(&model.compare, &ctx, areas.body, buf),
    }
    for popup in &model.popups {
        popup::draw(model, popup, areas.body, buf);
    }
    toasts(model, areas.body, buf);
    footer::draw(model, areas.footer, buf);
}

/// Draws one line in the middle; the run continues.
fn too_small(model: &Model, (columns, rows): (u16, u16), buf: &mut Buffer) {
    let going = if model.running() { "; the run continues" } else { "" };
    let text = format!("{columns}x{rows}: iotui needs {}x{}{going}", SMALLEST.0, SMALLEST.1);
    let text = if text.len() > usize::from(columns) {
        format!("needs {}x{}", SMALLEST.0, SMALLEST.1)
    } else {
        text
    };
    let line = Rect::new(0, rows / 2, columns, rows.min(1));
    Line::styled(text, model.look.style(Role::Misleading))
        .centered()
        .render(line.intersection(buf.area), buf);
}

/// Draws messages at the lower right, over the screen, the newest at the bottom; a long one on a
/// few lines, as both its ends matter.
fn toasts(model: &Model, body: Rect, buf: &mut Buffer) {
    const MAX_PARTS: usize = 3;
    let room = usize::from(body.width.saturating_sub(6));
    let mut bottom = body.bottom();
    for toast in model.toasts.iter().rev() {
        let style = model.look.style(toast.role).add_modifier(ratatui::style::Modifier::REVERSED);
        let parts = if pane::width(&toast.text) <= room {
            vec![toast.text.clone()]
        } else {
            pane::wrap(&toast.text, room)
        };
        let parts: Vec<String> =
            parts.iter().take(MAX_PARTS).map(|part| pane::fit_front(part, room)).collect();
        let columns = parts.iter().map(|part| pane::width(part)).max().unwrap_or(0);
        for part in parts.iter().rev() {
            bottom = bottom.saturating_sub(1);
            let width = columns as u16 + 2;
            let area = Rect::new(body.right().saturating_sub(width + 1), bottom, width, 1)
                .intersection(body);
            Clear.render(area, buf);
            Line::styled(format!(" {part}{} ", " ".repeat(columns - pane::width(part))), style)
                .render(area, buf);
        }
    }
}
