//! Draws what lies over a screen, and says where its lists are.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::help::Page;
use super::list::List;
use super::{
    areas, export, findings, marks, messages, palette, pane, presets, refine, start, themes,
    warnings, window,
};
use crate::tui::model::Model;
use crate::tui::new_run::HeldRun;
use crate::tui::popup::Popup;
use crate::tui::theme::{Look, Role};

pub fn draw(model: &Model, popup: &Popup, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    match popup {
        Popup::Help { words, scroll, filter } => {
            Page { words: *words, row: *scroll, filter: filter.as_ref() }.draw(model, body, buf);
        }
        Popup::Palette { input, cursor } => palette::draw(model, input, *cursor, body, buf),
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
            let inner = window::draw_window(look, title, window::middle(body, 64, 5), buf);
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
        Popup::Export(form) => export::draw(look, form, body, buf),
        Popup::Presets { cursor } => presets::draw(model, *cursor, body, buf),
        Popup::Refine(form) => refine::draw(model, form, body, buf),
        Popup::Warnings { cursor } => warnings::draw(model, *cursor, body, buf),
        Popup::Start { cursor } => start::draw(model, *cursor, body, buf),
        Popup::Marks { cursor } => marks::draw(model, *cursor, body, buf),
        Popup::Doctor { scroll } => doctor(model, *scroll, body, buf),
        Popup::Themes { cursor, .. } => themes::draw(model, *cursor, body, buf),
        Popup::Messages { scroll } => messages::draw(model, *scroll, body, buf),
    }
}

/// Returns the list or text of the popup on top, if it has one.
pub fn list(model: &Model) -> Option<List> {
    let body = areas(model.size).body;
    Some(match model.popups.last()? {
        Popup::Help { words, scroll, filter } => {
            Page { words: *words, row: *scroll, filter: filter.as_ref() }.list(model, body)
        }
        Popup::Palette { input, cursor } => palette::list(model, input, *cursor, body),
        Popup::Question { .. } | Popup::HeldRun(_) | Popup::WaitingRun | Popup::Line { .. } => {
            return None;
        }
        Popup::Export(form) => export::list(form, body),
        Popup::Presets { cursor } => presets::list(model, *cursor, body),
        Popup::Refine(form) => refine::list(form, body),
        Popup::Warnings { cursor } => warnings::list(model, *cursor, body),
        Popup::Start { cursor } => start::list(model, *cursor, body),
        Popup::Marks { cursor } => marks::list(model, *cursor, body),
        Popup::Doctor { scroll } => doctor_lines(model, *scroll, pane::inside(doctor_area(body))).1,
        Popup::Themes { cursor, .. } => themes::list(model, *cursor, body),
        Popup::Messages { scroll } => messages::list(model, *scroll, body),
    })
}

fn question(look: &Look, [text, detail, keys]: [&str; 3], body: Rect, buf: &mut Buffer) {
    let lines = [(text, Role::Title), (detail, Role::Dim), ("", Role::Dim), (keys, Role::Key)];
    let columns = lines.iter().map(|(text, _)| pane::width(text) as u16).max().unwrap_or(0) + 4;
    let inner = window::draw_window(look, "", window::middle(body, columns.max(30), 6), buf);
    let fit = |text| pane::fit(text, usize::from(inner.width.saturating_sub(2)));
    let lines = lines.map(|(text, role)| look.line(role, format!(" {}", fit(text))));
    pane::lines(lines, 0, inner, buf);
}

fn doctor_area(body: Rect) -> Rect {
    window::middle(body, 100, body.height)
}

fn doctor_lines(model: &Model, scroll: usize, inner: Rect) -> (Vec<Line<'static>>, List) {
    let columns = usize::from(inner.width.saturating_sub(2));
    let lines = findings::describe(&model.look, model.host.findings(), columns);
    let list = List::scrolled(scroll, lines.len(), inner);
    (lines, list)
}

fn doctor(model: &Model, scroll: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let title = "Doctor: what would disturb a measurement";
    let inner = window::draw_window(look, title, doctor_area(body), buf);
    let (lines, list) = doctor_lines(model, scroll, inner);
    list.draw_lines(look, lines, buf);
}
