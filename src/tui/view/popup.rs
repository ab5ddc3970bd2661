//! Draws what lies over a screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use tui_input::Input;

use super::{export, marks, pane};
use crate::record::{Severity, Warning};
use crate::tui::keymap::{self, Binding};
use crate::tui::model::Model;
use crate::tui::popup::{Popup, found};
use crate::tui::theme::{Look, Role};

/// In the middle of the body, so large if there is room.
pub fn middle(body: Rect, columns: u16, rows: u16) -> Rect {
    let (columns, rows) = (columns.min(body.width.saturating_sub(2)), rows.min(body.height));
    Rect::new(body.x + (body.width - columns) / 2, body.y + (body.height - rows) / 2, columns, rows)
}

pub fn draw(model: &Model, popup: &Popup, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    match popup {
        Popup::Help { scroll, filter } => help(model, *scroll, filter.as_ref(), body, buf),
        Popup::Palette { input, cursor } => palette(model, input, *cursor, body, buf),
        Popup::Question { text, detail, .. } => {
            let lines = [
                (text.as_str(), Role::Title),
                (detail.as_str(), Role::Dim),
                ("", Role::Dim),
                ("y yes    n no", Role::Key),
            ];
            let columns =
                lines.iter().map(|(text, _)| pane::width(text) as u16).max().unwrap_or(0) + 4;
            let inner = opened(look, "", middle(body, columns.max(30), 6), buf);
            for (row, (text, role)) in lines.iter().enumerate() {
                let shown = pane::fit(text, usize::from(inner.width.saturating_sub(2)));
                pane::line(
                    Line::styled(format!(" {shown}"), look.style(*role)),
                    row as u16,
                    inner,
                    buf,
                );
            }
        }
        Popup::Line { title, hint, input, error, .. } => {
            let inner = opened(look, title, middle(body, 64, 5), buf);
            field(
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
        Popup::Marks { cursor } => marks::draw(model, *cursor, body, buf),
        Popup::Doctor { scroll } => doctor(model, *scroll, body, buf),
    }
}

/// An empty frame over the screen; what is inside.
pub fn opened(look: &Look, title: &str, area: Rect, buf: &mut Buffer) -> Rect {
    Clear.render(area, buf);
    pane::frame(look, title, "", true, area, buf)
}

/// A text field; the cursor is a reversed cell, and long text is shown around it.
pub fn field(look: &Look, input: &Input, focused: bool, area: Rect, buf: &mut Buffer) {
    let room = usize::from(area.width.max(1)) - 1;
    let skip = input.visual_scroll(room);
    let style = look.style(Role::Text).add_modifier(Modifier::UNDERLINED);
    let shown: String = input.value().chars().skip(skip).collect();
    Line::styled(
        format!("{:<width$}", pane::fit(&shown, room), width = usize::from(area.width)),
        style,
    )
    .render(area, buf);
    let at = input.visual_cursor().saturating_sub(skip).min(room) as u16;
    if focused && let Some(cell) = buf.cell_mut((area.x + at, area.y)) {
        cell.modifier |= Modifier::REVERSED;
    }
}

fn help(model: &Model, scroll: u16, filter: Option<&Input>, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let inner = opened(
        look,
        &format!("Help: {}", model.screen.title()),
        middle(body, 80, body.height),
        buf,
    );
    let wanted = filter.map(|f| f.value().to_lowercase()).unwrap_or_default();
    let matches = |b: &&Binding| {
        wanted.is_empty()
            || b.help.to_lowercase().contains(&wanted)
            || b.keys.iter().any(|k| *k == wanted)
    };
    let rows: Vec<&Binding> = keymap::listed(model.screen).filter(matches).collect();
    let mut list = inner;
    if let Some(input) = filter {
        pane::line(Line::styled(" /", look.style(Role::Key)), 0, inner, buf);
        field(
            look,
            input,
            true,
            Rect::new(inner.x + 3, inner.y, inner.width.saturating_sub(4), inner.height.min(1)),
            buf,
        );
        list = Rect::new(inner.x, inner.y + 1, inner.width, inner.height.saturating_sub(1));
    }
    let first = usize::from(scroll).min(rows.len().saturating_sub(usize::from(list.height)));
    for (row, binding) in rows.iter().skip(first).take(usize::from(list.height)).enumerate() {
        let parts = vec![
            Span::styled(format!(" {:<16}", binding.keys.join(" ")), look.style(Role::Key)),
            Span::styled(binding.help, look.style(Role::Text)),
        ];
        pane::line(Line::from(parts), row as u16, list, buf);
    }
    pane::scrollbar(look, first, rows.len(), list, buf);
}

fn palette(model: &Model, input: &Input, cursor: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let inner = opened(look, "What do you want to do?", middle(body, 70, 16), buf);
    field(
        look,
        input,
        true,
        Rect::new(inner.x + 1, inner.y, inner.width.saturating_sub(2), inner.height.min(1)),
        buf,
    );
    let list = Rect::new(inner.x, inner.y + 1, inner.width, inner.height.saturating_sub(1));
    let rows = found(input.value(), model.screen);
    let first = pane::first_row(cursor, rows.len(), usize::from(list.height));
    for (row, binding) in rows.iter().skip(first).take(usize::from(list.height)).enumerate() {
        let parts = vec![
            Span::styled(
                format!(" {:<10}", binding.keys.first().copied().unwrap_or("")),
                look.style(Role::Key),
            ),
            Span::styled(binding.help, look.style(Role::Text)),
        ];
        pane::line(Line::from(parts), row as u16, list, buf);
        if first + row == cursor {
            pane::select(look.style(Role::Selected), row as u16, list, buf);
        }
    }
    if rows.is_empty() {
        pane::line(Line::styled(" nothing is called that", look.style(Role::Dim)), 0, list, buf);
    }
    pane::scrollbar(look, first, rows.len(), list, buf);
}

fn presets(model: &Model, cursor: usize, body: Rect, buf: &mut Buffer) {
    let look = &model.look;
    let rows = model.presets.len();
    let doc = model.presets.get(cursor).map_or("", |preset| preset.doc.as_str());
    let inner = opened(look, "Presets", middle(body, 104, (rows as u16 + 16).max(10)), buf);
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
        let parts = vec![
            Span::styled(format!(" {:<20}", preset.id), look.style(Role::Number)),
            Span::styled(
                pane::fit(&preset.about, usize::from(list.width).saturating_sub(22)),
                look.style(Role::Dim),
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
    let findings = model.findings();
    let inner = opened(
        look,
        "Doctor: what would disturb a measurement",
        middle(body, 100, body.height),
        buf,
    );
    let lines = findings_lines(look, findings, usize::from(inner.width.saturating_sub(2)));
    let first = usize::from(scroll).min(lines.len().saturating_sub(usize::from(inner.height)));
    let count = lines.len();
    for (row, text) in lines.into_iter().skip(first).take(usize::from(inner.height)).enumerate() {
        pane::line(text, row as u16, inner, buf);
    }
    pane::scrollbar(look, first, count, inner, buf);
}

/// How far the popup on top scrolls on this screen.
pub fn furthest(model: &Model) -> u16 {
    let body = super::areas(model.size).body;
    let height = body.height.saturating_sub(2);
    let rows = match model.popups.last() {
        Some(Popup::Help { filter, .. }) => {
            keymap::listed(model.screen).count() + usize::from(filter.is_some())
        }
        Some(Popup::Doctor { .. }) => {
            let columns = usize::from(middle(body, 100, body.height).width.saturating_sub(4));
            findings_lines(&model.look, model.findings(), columns).len()
        }
        _ => 0,
    };
    u16::try_from(rows).unwrap_or(u16::MAX).saturating_sub(height)
}

/// The role of a severity, and its sign.
pub fn severity(look: &Look, severity: Severity) -> (Role, &'static str) {
    match severity {
        Severity::Note => (Role::Note, look.glyph("ℹ", "i")),
        Severity::Misleading => (Role::Misleading, look.glyph("▲", "!")),
        Severity::Wrong => (Role::Wrong, look.glyph("✖", "X")),
    }
}

/// Findings in words: what, why, what to do.
pub fn findings_lines(look: &Look, findings: &[Warning], columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if findings.is_empty() {
        lines.push(Line::styled(
            format!(" {} nothing stands in the way", look.glyph("✓", "*")),
            look.style(Role::Good),
        ));
    }
    for finding in findings {
        let (role, sign) = severity(look, finding.severity);
        for (row, part) in
            pane::wrap(&finding.message, columns.saturating_sub(3)).into_iter().enumerate()
        {
            let head = if row == 0 { format!(" {sign} ") } else { "   ".into() };
            lines.push(Line::from(vec![
                Span::styled(head, look.style(role)),
                Span::styled(part, look.style(Role::Text)),
            ]));
        }
        for (text, role) in [(&finding.evidence, Role::Dim), (&finding.remedy, Role::Key)] {
            if !text.is_empty() {
                let own = pane::wrap(text, columns.saturating_sub(3));
                lines.extend(
                    own.into_iter()
                        .map(|part| Line::styled(format!("   {part}"), look.style(role))),
                );
            }
        }
        lines.push(Line::default());
    }
    lines
}
