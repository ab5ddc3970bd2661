//! Rows and tables as lines: labels dim, numbers bright, units dim.

use ratatui::text::{Line, Span};

use crate::report::host::{Align, HostItem, widths};
use crate::theme::{Look, Role};
use crate::view::pane;

/// Columns before a value.
const LABEL_COLUMNS: usize = 15;

const UNITS: &[&str] = &[
    "B", "KiB", "MiB", "GiB", "TiB", "PiB", "B/s", "KiB/s", "MiB/s", "GiB/s", "ns", "GHz", "%",
    "CPUs", "GT/s",
];

/// Returns a heading above rows.
pub fn heading(look: &Look, title: &str) -> Line<'static> {
    look.line(Role::Title, format!(" {title}"))
}

pub fn item_lines(look: &Look, items: &[HostItem], width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for item in items {
        match item {
            HostItem::Section(title) => {
                if !lines.is_empty() {
                    lines.push(Line::default());
                }
                lines.push(heading(look, title));
            }
            HostItem::Row { label, value } => push_row(look, label, value, width, &mut lines),
            HostItem::Table { align, rows } => push_table(look, align, rows, &mut lines),
        }
    }
    lines
}

fn push_row(look: &Look, label: &str, value: &str, width: usize, lines: &mut Vec<Line<'static>>) {
    let room = width.saturating_sub(LABEL_COLUMNS);
    // A path is cut at the front, so that the file name stays.
    let parts =
        if label == "path" { vec![pane::fit_front(value, room)] } else { pane::wrap(value, room) };
    for (at, part) in parts.into_iter().enumerate() {
        let label = if at == 0 { label } else { "" };
        let mut spans =
            vec![look.span(Role::Dim, format!(" {label:<pad$}", pad = LABEL_COLUMNS - 1))];
        spans.extend(figures(look, &part, Role::Text));
        lines.push(Line::from(spans));
    }
}

fn push_table(look: &Look, align: &[Align], rows: &[Vec<String>], lines: &mut Vec<Line<'static>>) {
    let widths = widths(rows);
    for (at, row) in rows.iter().enumerate() {
        let mut spans = vec![Span::raw(" ")];
        for ((cell, width), align) in row.iter().zip(&widths).zip(align) {
            let role = match align {
                _ if at == 0 => Role::Dim,
                Align::Right => Role::Number,
                Align::Left => Role::Text,
            };
            let pad = " ".repeat(width.saturating_sub(pane::width(cell)));
            let (before, after) =
                if *align == Align::Right { (pad.as_str(), "") } else { ("", pad.as_str()) };
            spans.push(Span::raw(before.to_string()));
            spans.extend(if at == 0 {
                vec![look.span(role, cell.clone())]
            } else {
                figures(look, cell, role)
            });
            spans.push(Span::raw(format!("{after}  ")));
        }
        lines.push(Line::from(spans));
    }
}

/// Returns a text with bright numbers and dim units.
pub fn figures(look: &Look, text: &str, rest: Role) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut after_number = false;
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end_matches([' ', ',', ';', ')']);
        let number = bare.trim_start_matches('<').starts_with(|c: char| c.is_ascii_digit());
        let role = if number {
            Role::Number
        } else if after_number && UNITS.contains(&bare) {
            Role::Dim
        } else {
            rest
        };
        after_number = number;
        spans.push(look.span(role, bare.to_string()));
        spans.push(look.span(rest, word[bare.len()..].to_string()));
    }
    spans
}
