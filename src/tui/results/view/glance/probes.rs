//! Probes at a glance: their figures as a list.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::analysis::Glance;
use crate::tui::results::data::Data;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

/// Returns the rows that are needed, and that are used at most.
pub fn heights(glance: &Glance) -> (u16, u16) {
    let rows = glance.probes.len().min(1000) as u16;
    (rows.min(3), rows)
}

pub fn draw(look: &Look, data: &Data, area: Rect, buf: &mut Buffer) {
    let probes = &data.view.glance.probes;
    let widest = |text: fn(&(String, String, String)) -> &String| {
        probes.iter().map(|probe| pane::width(text(probe))).max().unwrap_or(0)
    };
    let figures = widest(|(_, figure, _)| figure);
    let labels = widest(|(label, ..)| label).min(usize::from(area.width) * 2 / 3);
    let height = usize::from(area.height);
    // A single row has a probe; with more rows the last one counts what is left out.
    let shown = if probes.len() > height { height.saturating_sub(1).max(1) } else { height };
    for (row, (label, figure, interval)) in probes.iter().take(shown).enumerate() {
        let label = pane::fit(label, labels);
        let indent = labels.saturating_sub(pane::width(&label)) + 2;
        let figure = format!("{}{figure:>figures$}", " ".repeat(indent));
        let line = Line::from(vec![
            look.span(Role::Text, label),
            look.span(Role::Number, figure),
            look.span(Role::Dim, format!("  {interval}")),
        ]);
        pane::line(line, row as u16, area, buf);
    }
    let more = probes.len().saturating_sub(shown);
    if more > 0 {
        let text = format!("and {more} more: the Lab shows them");
        pane::line(look.line(Role::Dim, text), shown as u16, area, buf);
    }
}
