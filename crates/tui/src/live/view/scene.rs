//! The input of the panes of Live.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::live::run::LiveRun;
use crate::live::run_view::RunView;
use crate::live::series::Measure;
use crate::live::strip::TrialWindow;
use crate::plan::Cache;
use crate::plot::Fill;
use crate::theme::{Look, Role};
use crate::view::pane;

/// The input of the panes.
#[derive(Clone, Copy)]
pub struct LiveScene<'a> {
    pub look: &'a Look,
    pub view: &'a RunView,
    /// The current run with its pending requests; `None` after its end.
    pub run: Option<&'a LiveRun>,
    pub frozen: bool,
    /// Why the run is not saved.
    pub unsaved: Option<&'a str>,
    /// The trials that are shown.
    pub window: TrialWindow,
    /// The first warning that is shown.
    pub scroll: usize,
    /// Whether values have a logarithmic axis; `None`: what fits them.
    pub log: Option<bool>,
}

impl LiveScene<'_> {
    /// Returns whether these rates have a logarithmic axis.
    pub fn is_log(&self, measure: Measure) -> bool {
        self.log.unwrap_or_else(|| self.view.needs_log(measure))
    }

    /// Returns in a word why the picture stands still, if it does.
    pub fn describe_stop(&self) -> Option<&'static str> {
        if self.frozen { Some("frozen") } else { self.view.describe_end_briefly() }
    }

    /// Returns the colour, fill and mark of the trials of a cell.
    pub fn sign(&self, cell: u32) -> (Style, Fill, char) {
        let look = self.look;
        let Some(sign) = self.view.sign(cell) else {
            return (look.style(Role::Text), Fill::Solid, ' ');
        };
        let fill = match sign.cache {
            Cache::Cold => Fill::Solid,
            Cache::Warm => Fill::Hatched,
            Cache::AsIs => Fill::Dotted,
        };
        (look.series(sign.hue()), fill, look.marker(sign))
    }
}

/// Formats a number with its unit, `2.71 GiB/s`: the number bright, or dim if it is not current.
pub fn figure(look: &Look, text: &str, bright: bool) -> Vec<Span<'static>> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let role = if bright { Role::Number } else { Role::Dim };
    let mut parts = vec![look.span(role, number.to_string())];
    if !unit.is_empty() {
        parts.push(look.span(Role::Dim, format!(" {unit}")));
    }
    parts
}

/// Draws a frame with a title and a text at the right; returns the area inside.
pub fn frame(
    look: &Look,
    title: &str,
    right: Vec<Span<'static>>,
    area: Rect,
    buf: &mut Buffer,
) -> Rect {
    let inner = pane::frame(look, title, "", false, area, buf);
    let line = Line::from(right);
    let room = usize::from(area.width).saturating_sub(pane::width(title) + 8);
    let width = line.width();
    if width > 0 && width <= room {
        let start = area.right() - 3 - width as u16;
        buf.set_string(start - 1, area.y, " ".repeat(width + 2), Style::new());
        line.render(Rect::new(start, area.y, width as u16, 1), buf);
    }
    inner
}

/// Builds a bar of shares end to end; with few colours or none each has its own symbol.
pub fn stacked_bar(look: &Look, shares: &[(f64, Role)], width: u16) -> Vec<Span<'static>> {
    let signs = match (look.has_plain_bars(), look.has_textures()) {
        (true, _) => ["#", "=", "-", "."],
        (false, true) => ["━", "╍", "┅", "·"],
        (false, false) => ["━"; 4],
    };
    let (mut sum, mut end) = (0.0, 0);
    let mut spans = Vec::new();
    for ((share, role), sign) in shares.iter().zip(signs) {
        sum += if share.is_finite() { share.max(0.0) } else { 0.0 };
        let next = (sum.min(1.0) * f64::from(width)).round() as usize;
        spans.push(look.span(*role, sign.repeat(next - end)));
        end = next;
    }
    spans.push(look.span(Role::Border, look.glyph("─", " ").repeat(usize::from(width) - end)));
    spans
}
