//! The meaning of the signs on the bars, in one line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::lab::state::Lab;
use crate::record::Unit;
use crate::theme::{Look, Role};
use crate::view::pane;

/// Draws the entries for signs that are visible, as many as fit; `bars`: where the bars are drawn.
pub fn draw(look: &Look, lab: &Lab, area: Rect, bars: Rect, buf: &mut Buffer) {
    let mut line: Vec<Span> = Vec::new();
    // Most intervals are too narrow for the scale.
    let shade = if look.has_plain_bars() { "=" } else { "▒" };
    let shows_interval =
        bars.intersection(buf.area).positions().any(|at| buf[at].symbol() == shade);
    for part in parts(look, lab, shows_interval.then_some(shade)) {
        let gap = if line.is_empty() { 0 } else { 2 };
        if total_width(&line) + gap + total_width(&part) > usize::from(area.width) {
            continue;
        }
        line.push(Span::raw(" ".repeat(gap)));
        line.extend(part);
    }
    pane::line(Line::from(line), 0, area, buf);
}

fn total_width(spans: &[Span]) -> usize {
    spans.iter().map(Span::width).sum()
}

fn parts(look: &Look, lab: &Lab, shade: Option<&'static str>) -> Vec<Vec<Span<'static>>> {
    let dim = |text: &str| look.span(Role::Dim, format!(" {text}"));
    let slots = || lab.sheet.slots.iter();
    let measured = |times: bool| {
        slots().any(|slot| slot.result.is_some() && (slot.unit == Unit::Nanos) == times)
    };
    let mut parts = Vec::new();
    if measured(true) {
        parts.push(vec![
            Span::styled(look.glyph("█", "#"), bar_style(look, Unit::Nanos, false)),
            dim("time"),
        ]);
    }
    if measured(false) {
        parts.push(vec![
            Span::styled(look.glyph("█", "#"), bar_style(look, Unit::Bytes, false)),
            dim("rate, size: own scale"),
        ]);
    }
    if let Some(shade) = shade {
        parts.push(vec![look.span(Role::Text, shade), dim("95 % interval")]);
    }
    if slots().any(|slot| lab.estimate(slot).is_some()) {
        parts.push(vec![look.span(Role::Text, look.glyph("├─┤", "[-]")), dim("estimate")]);
    }
    for (at, other) in lab
        .marked_sessions()
        .filter(|(_, other)| slots().any(|slot| other.value(&slot.cell, slot.unit).is_some()))
    {
        let (symbol, style) = sign(look, at);
        parts.push(vec![Span::styled(symbol.to_string(), style), dim(&pane::fit(&other.name, 24))]);
    }
    parts
}

/// Returns the sign and colour of a marked session by its index.
pub fn sign(look: &Look, at: usize) -> (char, Style) {
    // Starts with a diamond, which no bar has; the markers repeat after eight.
    const ORDER: [usize; 8] = [7, 1, 2, 0, 3, 5, 6, 4];
    (look.ordinal(ORDER[at % ORDER.len()]), look.series(at + 1))
}

/// Returns the style of a bar: times in the accent colour, other units in another, and the running
/// cell in the role of what is running.
pub fn bar_style(look: &Look, unit: Unit, runs: bool) -> Style {
    match (runs, unit) {
        (true, _) => look.style(Role::Good),
        (false, Unit::Nanos) => look.series(0),
        (false, _) => look.series(4),
    }
}
