//! The last row of Live during a replay: its name, speed and position.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::live::replay::Replay;
use crate::theme::{Look, Role};
use crate::units;
use crate::view::{Hits, Target, pane};

/// Columns of the bar below which the keys are left out.
const MIN_BAR_COLUMNS: u16 = 24;

/// Splits the area of Live: the panes, and the row of a replay.
pub fn split(area: Rect) -> (Rect, Rect) {
    let row = area.height.min(1);
    let panes = Rect { height: area.height - row, ..area };
    (panes, Rect { y: panes.bottom(), height: row, ..area })
}

pub fn draw(look: &Look, replay: &Replay, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let (at, end) = replay.times();
    let badge = format!(" {} ", replay.describe());
    let mut line = Line::from(vec![
        Span::raw(" "),
        Span::styled(badge, look.style(Role::Focus).add_modifier(Modifier::REVERSED)),
        Span::raw("  "),
        look.span(Role::Number, format!("{:>6}", show_time(at))),
        Span::raw(" "),
    ]);
    let mut right = Line::from(look.span(Role::Dim, format!(" {} ", show_time(end))));
    let keys = Line::from(vec![
        Span::raw("  "),
        look.span(Role::Key, look.glyph("← →", "left right")),
        look.span(Role::Dim, " move  "),
        look.span(Role::Key, "esc"),
        look.span(Role::Dim, " leave "),
    ]);
    let left = line.width() as u16;
    let room = area.width.saturating_sub(left + right.width() as u16);
    if room >= MIN_BAR_COLUMNS + keys.width() as u16 {
        right.extend(keys);
    }
    let width = area.width.saturating_sub(left + right.width() as u16);
    if let Some(last) = width.checked_sub(1).filter(|last| *last > 0) {
        for column in 0..=last {
            let place = Rect::new(area.x + left + column, area.y, 1, area.height);
            hits.area(place, Target::Replay(column, last));
        }
        let at = (replay.share() * f64::from(last)).round().clamp(0.0, f64::from(last)) as usize;
        let (done, rest) = (look.glyph("━", "="), look.glyph("─", "-"));
        line.extend([
            look.span(Role::Focus, done.repeat(at)),
            look.span(Role::Number, look.glyph("●", "O")),
            look.span(Role::Border, rest.repeat(usize::from(last) - at)),
        ]);
    }
    line.extend(right);
    pane::line(line, 0, area, buf);
}

/// Formats a time of the run with the decimals that a replay moves in.
fn show_time(time: Duration) -> String {
    if time < Duration::from_secs(60) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        units::show_wait(time)
    }
}
