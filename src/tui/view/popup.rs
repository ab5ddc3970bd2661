//! Draws what lies over a screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use tui_input::Input;

use super::{
    areas, export, findings, marks, messages, palette, pane, refine, start, themes, warnings,
    window, words,
};
use crate::tui::keymap::{self, Binding};
use crate::tui::model::Model;
use crate::tui::popup::{HeldRun, Popup};
use crate::tui::theme::{Look, Role};

pub fn draw(model: &Model, popup: &Popup, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    match popup {
        Popup::Help { words, scroll, filter } => {
            help(model, *words, *scroll, filter.as_ref(), body, buf)
        }
        Popup::Palette { input, cursor } => palette::draw(model, input, *cursor, body, buf),
        Popup::Question { text, detail, .. } => {
            question(look, [text, detail, "y yes    n no"], body, buf)
        }
        Popup::HeldRun(HeldRun { why, waits: None, .. }) => {
            let detail = "Both runs would disturb each other.";
            let keys = "r waits until it ends    R runs now    esc closes";
            question(look, [why, detail, keys], body, buf)
        }
        Popup::HeldRun(HeldRun { why, .. }) => {
            let detail = "Your run begins when it has ended.";
            question(look, [why, detail, "R runs now    esc closes"], body, buf)
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
            for (row, part) in
                pane::wrap(text, usize::from(inner.width.saturating_sub(2))).into_iter().enumerate()
            {
                pane::line(
                    Line::styled(format!(" {part}"), look.style(role)),
                    row as u16 + 1,
                    inner,
                    buf,
                );
            }
        }
        Popup::Export(form) => export::draw(look, form, body, buf),
        Popup::Presets { cursor } => presets(model, *cursor, body, buf),
        Popup::Refine(form) => refine::draw(model, form, body, buf),
        Popup::Warnings { cursor } => warnings::draw(look, &model.warnings(), *cursor, body, buf),
        Popup::Start { cursor } => start::draw(model, *cursor, body, buf),
        Popup::Marks { cursor } => marks::draw(model, *cursor, body, buf),
        Popup::Doctor { scroll } => doctor(model, *scroll, body, buf),
        Popup::Themes { cursor, .. } => themes::draw(model, *cursor, body, buf),
        Popup::Messages { scroll } => messages::draw(model, *scroll, body, buf),
    }
}

fn question(look: &Look, [text, detail, keys]: [&str; 3], body: Rect, buf: &mut Buffer) {
    let lines = [(text, Role::Title), (detail, Role::Dim), ("", Role::Dim), (keys, Role::Key)];
    let columns = lines.iter().map(|(text, _)| pane::width(text) as u16).max().unwrap_or(0) + 4;
    let inner = window::draw_window(look, "", window::middle(body, columns.max(30), 6), buf);
    for (row, (text, role)) in lines.iter().enumerate() {
        let shown = pane::fit(text, usize::from(inner.width.saturating_sub(2)));
        pane::line(Line::styled(format!(" {shown}"), look.style(*role)), row as u16, inner, buf);
    }
}

fn help(
    model: &Model,
    words: bool,
    scroll: u16,
    filter: Option<&Input>,
    body: Rect,
    buf: &mut Buffer,
) {
    let look = &model.look;
    let keys = format!("Help: {}", model.screen.title());
    let inner = window::draw_window(
        look,
        if words { "Help: signs and words" } else { &keys },
        window::middle(body, 80, body.height),
        buf,
    );
    let wanted = filter.map_or("", Input::value);
    let mut list = inner;
    if let Some(input) = filter {
        pane::line(Line::styled(" /", look.style(Role::Key)), 0, inner, buf);
        pane::field(
            look,
            input,
            true,
            Rect::new(inner.x + 3, inner.y, inner.width.saturating_sub(4), inner.height.min(1)),
            buf,
        );
        list = Rect::new(inner.x, inner.y + 1, inner.width, inner.height.saturating_sub(1));
    }
    let rows = if words {
        words::lines(look, wanted, usize::from(list.width))
    } else {
        key_lines(model, wanted)
    };
    let height = usize::from(list.height);
    // Words scroll; keys have a cursor, and Enter does what is under it.
    let cursor = (!words).then(|| usize::from(scroll).min(rows.len().saturating_sub(1)));
    let first = match cursor {
        Some(cursor) => pane::first_row(cursor, rows.len(), height),
        None => usize::from(scroll).min(rows.len().saturating_sub(height)),
    };
    pane::scrollbar(look, first, rows.len(), list, buf);
    for (row, line) in rows.into_iter().skip(first).take(height).enumerate() {
        pane::line(line, row as u16, list, buf);
        if cursor == Some(first + row) {
            pane::select(look.style(Role::Selected), row as u16, list, buf);
        }
    }
}

/// Returns the keys of the screen that are or do what contains `wanted`.
fn key_lines(model: &Model, wanted: &str) -> Vec<Line<'static>> {
    let line = |binding: &Binding| {
        Line::from(vec![
            Span::styled(format!(" {:<16}", binding.keys.join(" ")), model.look.style(Role::Key)),
            Span::styled(binding.help, model.look.style(Role::Text)),
        ])
    };
    keymap::find_listed(model.screen, wanted).into_iter().map(line).collect()
}

fn presets(model: &Model, cursor: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let rows = model.presets.len();
    let doc = model.presets.get(cursor).map_or("", |preset| preset.doc.as_str());
    let inner = window::draw_window(
        look,
        "Presets",
        window::middle(body, 104, (rows as u16 + 16).max(10)),
        buf,
    );
    let mut doc = pane::paragraphs(doc, usize::from(inner.width.saturating_sub(2)));
    // A long paragraph leaves some of the list, and says where it was cut.
    let most = usize::from(inner.height.saturating_sub(6)).max(4);
    if doc.len() > most {
        doc.truncate(most);
        if let Some(last) = doc.last_mut() {
            *last = pane::fit(&format!("{last} ..."), usize::from(inner.width.saturating_sub(2)));
        }
    }
    let text = ratatui::layout::Constraint::Length(doc.len() as u16 + 1);
    let [list, text] =
        ratatui::layout::Layout::vertical([ratatui::layout::Constraint::Min(3), text]).areas(inner);
    let first = pane::first_row(cursor, rows, usize::from(list.height));
    for (row, preset) in model.presets.iter().skip(first).take(usize::from(list.height)).enumerate()
    {
        let (about, role) = match preset.question.as_str() {
            "" => (preset.about.as_str(), Role::Dim),
            question => (question, Role::Text),
        };
        let parts = vec![
            Span::styled(format!(" {:<20}", preset.id), look.style(Role::Number)),
            Span::styled(
                pane::fit(about, usize::from(list.width).saturating_sub(22)),
                look.style(role),
            ),
        ];
        pane::line(Line::from(parts), row as u16, list, buf);
        if first + row == cursor {
            pane::select(look.style(Role::Selected), row as u16, list, buf);
        }
    }
    pane::scrollbar(look, first, rows, list, buf);
    for (row, part) in doc.into_iter().enumerate() {
        pane::line(
            Line::styled(format!(" {part}"), look.style(Role::Text)),
            row as u16 + 1,
            text,
            buf,
        );
    }
}

fn doctor(model: &Model, scroll: u16, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let findings = model.host.findings();
    let inner = window::draw_window(
        look,
        "Doctor: what would disturb a measurement",
        window::middle(body, 100, body.height),
        buf,
    );
    let lines = findings::describe(look, findings, usize::from(inner.width.saturating_sub(2)));
    let first = usize::from(scroll).min(lines.len().saturating_sub(usize::from(inner.height)));
    let count = lines.len();
    for (row, text) in lines.into_iter().skip(first).take(usize::from(inner.height)).enumerate() {
        pane::line(text, row as u16, inner, buf);
    }
    pane::scrollbar(look, first, count, inner, buf);
}

/// Returns how far the popup on top scrolls on this screen.
pub fn furthest(model: &Model) -> u16 {
    let body = areas(model.size).body;
    let height = body.height.saturating_sub(2);
    let rows = match model.popups.last() {
        Some(Popup::Help { words: true, filter, .. }) => {
            let width = window::middle(body, 80, body.height).width.saturating_sub(2);
            let wanted = filter.as_ref().map_or("", Input::value);
            let lines = words::lines(&model.look, wanted, usize::from(width));
            lines.len() + usize::from(filter.is_some())
        }
        // Its cursor goes to the last row.
        Some(Popup::Help { filter, .. }) => {
            let text = filter.as_ref().map_or("", Input::value);
            let rows = keymap::find_listed(model.screen, text).len();
            return u16::try_from(rows).unwrap_or(u16::MAX).saturating_sub(1);
        }
        Some(Popup::Messages { .. }) => messages::count_lines(model, body),
        Some(Popup::Doctor { .. }) => {
            let columns =
                usize::from(window::middle(body, 100, body.height).width.saturating_sub(4));
            findings::describe(&model.look, model.host.findings(), columns).len()
        }
        _ => 0,
    };
    u16::try_from(rows).unwrap_or(u16::MAX).saturating_sub(height)
}
