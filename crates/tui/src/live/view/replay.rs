//! The last row of Live during a replay: its name, speed and position.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::live::replay::Replay;
use crate::theme::{Look, Role};
use crate::units;
use crate::view::pane;

/// Columns of the bar below which the keys are left out.
const MIN_BAR_COLUMNS: u16 = 24;

/// Splits the area of Live: the panes, and the row of a replay.
pub fn split(area: Rect) -> (Rect, Rect) {
    let row = area.height.min(1);
    let panes = Rect { height: area.height - row, ..area };
    (panes, Rect { y: panes.bottom(), height: row, ..area })
}

struct Parts {
    left: Vec<Span<'static>>,
    right: Vec<Span<'static>>,
    bar: Rect,
}

fn parts(look: &Look, replay: &Replay, area: Rect) -> Parts {
    let (at, end) = replay.times();
    let badge = format!(" {} ", replay.describe());
    let left = vec![
        Span::raw(" "),
        Span::styled(badge, look.style(Role::Focus).add_modifier(Modifier::REVERSED)),
        Span::raw("  "),
        look.span(Role::Number, format!("{:>6}", show_time(at))),
        Span::raw(" "),
    ];
    let mut right = vec![Span::raw(" "), look.span(Role::Dim, show_time(end)), Span::raw(" ")];
    let keys = [
        Span::raw("  "),
        look.span(Role::Key, look.glyph("← →", "left right")),
        look.span(Role::Dim, " move  "),
        look.span(Role::Key, "esc"),
        look.span(Role::Dim, " leave "),
    ];
    let width = |spans: &[Span]| spans.iter().map(Span::width).sum::<usize>() as u16;
    let room = area.width.saturating_sub(width(&left) + width(&right));
    if room >= MIN_BAR_COLUMNS + width(&keys) {
        right.extend(keys);
    }
    let bar = Rect {
        x: area.x + width(&left).min(area.width),
        width: area.width.saturating_sub(width(&left) + width(&right)),
        ..area
    };
    Parts { left, right, bar }
}

/// Returns the part of the replay (0 to 1) at a position; `None` outside of its bar.
pub fn share_at(look: &Look, replay: &Replay, area: Rect, at: Position) -> Option<f64> {
    let bar = parts(look, replay, split(area).1).bar;
    let last = bar.width.saturating_sub(1).max(1);
    bar.contains(at).then(|| f64::from(at.x - bar.x) / f64::from(last))
}

pub fn draw(look: &Look, replay: &Replay, area: Rect, buf: &mut Buffer) {
    let Parts { left, right, bar } = parts(look, replay, area);
    let mut line = left;
    if bar.width >= 2 {
        let last = bar.width - 1;
        let at = (replay.share() * f64::from(last)).round().clamp(0.0, f64::from(last)) as usize;
        let (done, rest) = (look.glyph("━", "="), look.glyph("─", "-"));
        line.extend([
            look.span(Role::Focus, done.repeat(at)),
            look.span(Role::Number, look.glyph("●", "O")),
            look.span(Role::Border, rest.repeat(usize::from(last) - at)),
        ]);
    }
    line.extend(right);
    pane::line(Line::from(line), 0, area, buf);
}

/// Formats a time of the run with the decimals that a replay moves in.
fn show_time(time: Duration) -> String {
    if time < Duration::from_secs(60) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        units::show_wait(time)
    }
}
