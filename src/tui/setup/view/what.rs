//! The pane of what to do: a row per setting.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Hit, Shown};
use crate::plan::Setting;
use crate::tui::setup::rows::{self, Kind, Part, ROWS, TITLE_COLUMNS};
use crate::tui::setup::state::Pane;
use crate::tui::theme::Role;
use crate::tui::view::pane;

fn first(shown: &Shown, height: u16) -> usize {
    pane::first_row(shown.setup.row, ROWS.len(), usize::from(height))
}

fn parts(shown: &Shown, row: &'static Setting, width: usize) -> Vec<Part> {
    if let Some(values) = shown.setup.by_sweep(row.name) {
        return vec![Part {
            item: None,
            text: format!(" by sweep: {values} "),
            on: true,
            why: None,
        }];
    }
    rows::parts(
        row,
        &shown.given,
        shown.setup.plan(),
        width.saturating_sub(*TITLE_COLUMNS),
        shown.checks(),
    )
}

pub fn hit(shown: &Shown, inner: Rect, row: usize, column: usize) -> Option<Hit> {
    let at = first(shown, inner.height) + row;
    let setting = ROWS.get(at)?;
    let mut left = *TITLE_COLUMNS;
    for part in parts(shown, setting, usize::from(inner.width)) {
        let end = left + pane::width(&part.text);
        if (left..end).contains(&column) {
            return Some(Hit::Setting(at, part.item));
        }
        left = end;
    }
    Some(Hit::Setting(at, None))
}

pub fn draw(shown: &Shown, area: Rect, buf: &mut Buffer) {
    let setup = shown.setup;
    let changed = if setup.settings == crate::plan::Settings::default() { "" } else { ", changed" };
    let inner =
        shown.frame(Pane::What, "What to do", &format!("{}{changed}", setup.preset.id), area, buf);
    let first = first(shown, inner.height);
    for (line, (at, row)) in
        ROWS.iter().enumerate().skip(first).take(usize::from(inner.height)).enumerate()
    {
        let here = at == setup.row && shown.focused(Pane::What);
        pane::line(one(shown, row, here, usize::from(inner.width)), line as u16, inner, buf);
    }
    pane::scrollbar(shown.look, first, ROWS.len(), inner, buf);
    let below = ROWS.len() as u16 + 1;
    if inner.height > below + 2 {
        about(shown, Rect { y: inner.y + below, height: inner.height - below, ..inner }, buf);
    }
}

/// What the preset is for.
fn about(shown: &Shown, area: Rect, buf: &mut Buffer) {
    let rule = shown.look.glyph("╌", "-").repeat(usize::from(area.width));
    pane::line(Line::styled(rule, shown.style(Role::Border)), 0, area, buf);
    let preset = &shown.setup.preset;
    let columns = usize::from(area.width.saturating_sub(3));
    let mut lines: Vec<(String, Role)> =
        pane::wrap(&format!("preset {}: {}", preset.id, preset.about), columns)
            .into_iter()
            .map(|part| (part, Role::Text))
            .collect();
    lines.extend(pane::paragraphs(&preset.doc, columns).into_iter().map(|part| (part, Role::Dim)));
    for (row, (text, role)) in lines.into_iter().enumerate() {
        pane::line(Line::styled(format!("  {text}"), shown.style(role)), row as u16 + 1, area, buf);
    }
}

fn one(shown: &Shown, row: &'static Setting, here: bool, width: usize) -> Line<'static> {
    let label = format!(" {} ", row.title);
    let gap = " ".repeat((*TITLE_COLUMNS).saturating_sub(pane::width(&label)));
    let mut spans = vec![
        Span::styled(label, shown.style(if here { Role::Selected } else { Role::Dim })),
        Span::raw(gap),
    ];
    let said = row.text(&shown.setup.settings).is_some();
    let boxes = matches!(rows::kind(row), Kind::Some(_));
    for (at, part) in parts(shown, row, width).into_iter().enumerate() {
        let marked = here && boxes && at == shown.setup.mark;
        spans.extend(piece(shown, &part, said, marked, here && part.item.is_none()));
    }
    Line::from(spans)
}

fn piece(shown: &Shown, part: &Part, said: bool, marked: bool, arrows: bool) -> Vec<Span<'static>> {
    let role = match (&part.why, part.on) {
        (Some(_), true) => Role::Misleading,
        (Some(_), false) => Role::Off,
        (None, true) if said => Role::Number,
        (None, true) => Role::Text,
        (None, false) => Role::Dim,
    };
    let text = match shown.look.glyph("‹", "<") {
        "<" => part.text.replace('‹', "<").replace('›', ">"),
        _ => part.text.clone(),
    };
    let style = if marked { shown.style(Role::Selected) } else { shown.style(role) };
    if arrows && text.starts_with(' ') {
        let key = shown.style(Role::Focus);
        let (left, right) = (shown.look.glyph("‹", "<"), shown.look.glyph("›", ">"));
        return vec![
            Span::styled(left, key),
            Span::styled(text.trim().to_string(), style),
            Span::styled(right, key),
        ];
    }
    match part.on && text.len() > 2 && part.item.is_some() && !marked {
        true => framed(shown, &text, style),
        false => vec![Span::styled(text, style)],
    }
}

/// The chosen item with its marks in the accent.
fn framed(shown: &Shown, text: &str, style: Style) -> Vec<Span<'static>> {
    let mut letters = text.chars();
    let (first, last) = (letters.next().unwrap_or(' '), letters.next_back().unwrap_or(' '));
    let key = shown.style(Role::Focus);
    vec![
        Span::styled(first.to_string(), key),
        Span::styled(letters.collect::<String>(), style),
        Span::styled(last.to_string(), key),
    ]
}
