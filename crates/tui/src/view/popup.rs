//! Draws what lies over a screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::help::Page;
use super::hits::Hits;
use super::windows::window;
use super::{export, palette, pane, start};
use crate::model::Model;
use crate::msg::HeldRun;
use crate::popup::Popup;
use crate::theme::{Look, Role};

pub fn draw(model: &Model, popup: &Popup, body: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let look = &model.look;
    match popup {
        Popup::Help { words, scroll, filter } => {
            Page { words: *words, row: *scroll, filter: filter.as_ref() }
                .draw(model, body, buf, hits);
        }
        Popup::Palette { input, cursor } => palette::draw(model, input, *cursor, body, buf, hits),
        Popup::Question { text, detail, .. } => {
            question(look, [text, detail, "y yes    n no"], body, buf)
        }
        Popup::HeldRun(HeldRun { why, .. }) => {
            let detail = "Both runs would disturb each other.";
            let keys = "r waits until it ends    R runs now    esc closes";
            question(look, [why, detail, keys], body, buf)
        }
        Popup::WaitingRun => {
            let why = model.held.as_ref().map_or("", |held| &held.why);
            let detail = "A run of yours waits and begins when that has ended.";
            question(look, [why, detail, "R runs it now    n gives it up    esc closes"], body, buf)
        }
        Popup::Line { title, hint, input, error, .. } => {
            let inner = pane::draw_window(look, title, pane::middle(body, 64, 5), buf);
            pane::field(
                look,
                input,
                true,
                Rect::new(inner.x + 1, inner.y, inner.width.saturating_sub(2), 1),
                buf,
            );
            let (text, role) =
                error.as_deref().map_or((hint.as_str(), Role::Dim), |why| (why, Role::Wrong));
            let columns = usize::from(inner.width.saturating_sub(2));
            pane::lines(pane::paragraph(look, role, " ", text, columns), 1, inner, buf);
        }
        Popup::Export(form) => export::draw(look, form, body, buf, hits),
        Popup::Start { cursor } => start::draw(model, *cursor, body, buf, hits),
        other => {
            if let Some(window) = window(model, other, body) {
                window.draw(look, buf, hits);
            }
        }
    }
}

fn question(look: &Look, [text, detail, keys]: [&str; 3], body: Rect, buf: &mut Buffer) {
    let lines = [(text, Role::Title), (detail, Role::Dim), ("", Role::Dim), (keys, Role::Key)];
    let columns = lines.iter().map(|(text, _)| pane::width(text) as u16).max().unwrap_or(0) + 4;
    let inner = pane::draw_window(look, "", pane::middle(body, columns.max(30), 6), buf);
    let fit = |text| pane::fit(text, usize::from(inner.width.saturating_sub(2)));
    let lines = lines.map(|(text, role)| look.line(role, format!(" {}", fit(text))));
    pane::lines(lines, 0, inner, buf);
}
