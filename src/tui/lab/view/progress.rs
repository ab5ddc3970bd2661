//! The progress of the run, above the bars.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::tui::context::RunStatus;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

/// Draws the current cell, a bar, the percentage and the time left.
pub fn draw(look: &Look, run: &RunStatus, area: Rect, buf: &mut Buffer) {
    let (percent, left) = run.progress.clone().unwrap_or_default();
    let state = run.state.clone();
    let steady = state.starts_with("running");
    let what = match (steady, run.probe_cell()) {
        (true, Some(cell)) => cell.label(),
        (true, None) => "starting".into(),
        (false, _) => state,
    };
    let right = format!(" {percent:>3} %  {left}");
    let room = usize::from(area.width).saturating_sub(pane::width(&right));
    let name = pane::fit(&what, room / 2);
    let bar = room.saturating_sub(pane::width(&name) + 3);
    let role = if steady { Role::Good } else { Role::Misleading };
    let mut parts = vec![
        Span::styled(format!("{} ", look.glyph("▸", ">")), look.style(role)),
        Span::styled(name, look.style(Role::Text)),
        Span::raw(" "),
    ];
    parts.extend(pane::progress_bar(
        look,
        f64::from(percent) / 100.0,
        bar as u16,
        look.style(role),
    ));
    parts.push(Span::styled(format!(" {percent:>3}"), look.style(Role::Number)));
    parts.push(Span::styled(format!(" %  {left}"), look.style(Role::Dim)));
    pane::line(Line::from(parts), 0, area, buf);
}
