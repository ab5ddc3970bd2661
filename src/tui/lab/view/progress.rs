//! The progress of the run, above the bars.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::plan::ProbeCell;
use crate::tui::context::RunStatus;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

/// Draws the current cell, a bar, the percentage and the time left.
pub fn draw(look: &Look, run: &RunStatus, area: Rect, buf: &mut Buffer) {
    let (counter, request) = (&run.counter, run.request.clone());
    let (percent, left) = (counter.percent(), counter.describe_left().unwrap_or_default());
    let role = if request.is_some() { Role::Misleading } else { Role::Good };
    let what = request
        .unwrap_or_else(|| run.probe_cell().map_or_else(|| "starting".into(), ProbeCell::label));
    let right = format!(" {percent:>3} %  {left}");
    let room = usize::from(area.width).saturating_sub(pane::width(&right));
    let name = pane::fit(&what, room / 2);
    let bar = room.saturating_sub(pane::width(&name) + 3);
    let mut parts = vec![
        look.span(role, format!("{} ", look.glyph("►", ">"))),
        look.span(Role::Text, name),
        Span::raw(" "),
    ];
    parts.extend(pane::progress_bar(look, counter.share, bar as u16, look.style(role)));
    parts.push(look.span(Role::Number, format!(" {percent:>3}")));
    parts.push(look.span(Role::Dim, format!(" %  {left}")));
    pane::line(Line::from(parts), 0, area, buf);
}
