//! The part of an axis that is shown: zooming around a place, panning, and the bar that says which
//! part it is.

mod chart;

pub use chart::{ZoomChart, drag as drag_chart, is_over, is_selecting, press, release, wheel};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::keymap::Action;
use super::theme::{Look, Role};
use super::view::pane;

/// First and last place that is shown; `None`: all.
pub type Zoom = Option<(usize, usize)>;

/// Halves or doubles the shown part; `place` stays where it is on the screen, and `least` places
/// beside it are always shown.
pub fn zoom_at(zoom: Zoom, places: usize, place: usize, least: usize, closer: bool) -> Zoom {
    let last = places.saturating_sub(1);
    let (from, to) = zoom.unwrap_or((0, last));
    let span = to.saturating_sub(from).max(1);
    let wanted = if closer { (span / 2).max(least) } else { span * 2 };
    if wanted >= last {
        return None;
    }
    let inside = place.clamp(from, from + span) - from;
    let before = (inside * wanted + span / 2) / span;
    // Of few places, one between the ends would be moved to an end.
    let is_between = 0 < inside && inside < span && wanted > 1;
    let before = if is_between { before.clamp(1, wanted - 1) } else { before };
    let first = place.saturating_sub(before).min(last - wanted);
    Some((first, first + wanted))
}

/// Moves the shown part.
pub fn pan(zoom: Zoom, places: usize, by: isize) -> Zoom {
    let (from, to) = zoom?;
    let (last, span) = (places.saturating_sub(1), to.saturating_sub(from));
    let first = from.saturating_add_signed(by).min(last.saturating_sub(span));
    Some((first, first + span))
}

/// Returns the part that an action shows, `place` being zoomed at; `None`: it does something else.
pub fn act(zoom: Zoom, places: usize, place: usize, least: usize, action: Action) -> Option<Zoom> {
    let half = zoom.map_or(0, |(from, to)| (to.saturating_sub(from) / 2).max(1) as isize);
    match action {
        Action::ZoomIn | Action::ZoomOut => {
            Some(zoom_at(zoom, places, place, least, action == Action::ZoomIn))
        }
        Action::ZoomReset => Some(None),
        Action::PanLeft => Some(pan(zoom, places, -half)),
        Action::PanRight => Some(pan(zoom, places, half)),
        _ => None,
    }
}

/// Returns the part moved so that `place` is its middle.
pub fn centre(zoom: Zoom, places: usize, place: usize) -> Zoom {
    let (from, to) = zoom?;
    pan(zoom, places, place as isize - from.midpoint(to) as isize)
}

/// Returns the part moved against a drag over this many of the chart's columns, and by how much of
/// a place more it is moved: of few places each is a large part of the chart.
pub fn drag(zoom: Zoom, places: usize, columns: i32, width: u16) -> (Zoom, f64) {
    let Some((from, to)) = zoom else { return (None, 0.0) };
    let (last, span) = (places.saturating_sub(1), to.saturating_sub(from));
    let moved = f64::from(columns) / f64::from(width.max(1)) * span as f64;
    let wanted = (from as f64 - moved).clamp(0.0, last.saturating_sub(span) as f64);
    let first = wanted.round() as usize;
    (Some((first, first + span)), wanted - first as f64)
}

/// Where on the bar each place is, as a share of the axis.
pub type Share<'a> = &'a dyn Fn(usize) -> f64;

/// Columns of a name at an end of the bar.
const NAME: u16 = 9;

/// Divides an area into that of the chart and the row of the bar, which only a zoomed chart has.
pub fn split(zoom: Zoom, area: Rect) -> (Rect, Rect) {
    let bar = u16::from(zoom.is_some() && area.height >= 9);
    let chart = Rect { height: area.height - bar, ..area };
    (chart, Rect::new(area.x, chart.bottom(), area.width, bar))
}

/// Returns the columns of the bar itself.
pub fn bar_area(row: Rect) -> Rect {
    let names = if row.width >= 40 { NAME + 1 } else { 1 };
    Rect::new(row.x + names, row.y, row.width.saturating_sub(2 * names), row.height.min(1))
}

/// Draws the whole axis as a thin line between the names of its ends, the shown part thick.
pub fn draw_bar(
    look: &Look,
    (from, to): (f64, f64),
    (first, last): (&str, &str),
    row: Rect,
    buf: &mut Buffer,
) {
    let bar = bar_area(row);
    if bar.is_empty() {
        return;
    }
    let wide = f64::from(bar.width - 1);
    let column = |share: f64| (share.clamp(0.0, 1.0) * wide).round() as usize;
    let (from, to) = (column(from), column(to).max(column(from)));
    let rest = usize::from(bar.width).saturating_sub(to + 1);
    let (thin, thick) = (look.glyph("─", "-"), look.glyph("━", "="));
    let (border, part) = (look.style(Role::Border), look.style(Role::Key));
    Line::from(vec![
        Span::styled(thin.repeat(from), border),
        Span::styled(thick.repeat(to + 1 - from), part),
        Span::styled(thin.repeat(rest), border),
    ])
    .render(bar, buf);
    let most = usize::from(bar.x - row.x).saturating_sub(1);
    if most > 1 {
        let dim = look.style(Role::Dim);
        let before = Rect::new(row.x, row.y, bar.x - row.x - 1, 1);
        Line::styled(pane::fit(first, most), dim).right_aligned().render(before, buf);
        let after = Rect::new(bar.right() + 1, row.y, bar.x - row.x - 1, 1).intersection(row);
        Line::styled(pane::fit(last, most), dim).render(after, buf);
    }
}

/// Draws the columns below a chart over which the button is held, thick as the shown part is on the
/// bar.
pub fn draw_selection(look: &Look, plot: Rect, (from, to): (u16, u16), buf: &mut Buffer) {
    let ends = |column: u16| column.clamp(plot.x, plot.right().saturating_sub(1).max(plot.x));
    let (first, last) = (ends(from.min(to)), ends(from.max(to)));
    for column in first..=last {
        if let Some(cell) = buf.cell_mut((column, plot.bottom())).filter(|_| !plot.is_empty()) {
            cell.set_symbol(look.glyph("━", "=")).set_style(look.style(Role::Key));
        }
    }
}

/// Returns the place of which a column of the bar is nearest.
pub fn place_on_bar(share: Share, places: usize, row: Rect, column: u16) -> usize {
    let bar = bar_area(row);
    let wide = f64::from(bar.width.saturating_sub(1).max(1));
    let wanted = f64::from(column.saturating_sub(bar.x)) / wide;
    let away = |place: &usize| (share(*place) - wanted).abs();
    (0..places).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_keeps_the_place_under_the_pointer() {
        assert_eq!(zoom_at(None, 17, 0, 2, true), Some((0, 8)));
        assert_eq!(zoom_at(None, 17, 16, 2, true), Some((8, 16)));
        assert_eq!(zoom_at(None, 17, 8, 2, true), Some((4, 12)));
        assert_eq!(zoom_at(Some((4, 12)), 17, 12, 2, true), Some((8, 12)));
        assert_eq!(zoom_at(Some((8, 10)), 17, 9, 2, true), Some((8, 10)), "three places at least");
        assert_eq!(zoom_at(Some((8, 12)), 17, 12, 2, false), Some((4, 12)));
        assert_eq!(zoom_at(Some((4, 12)), 17, 12, 2, false), None);
        assert_eq!(zoom_at(Some((3, 8)), 17, 5, 2, true), Some((4, 6)), "of few places");
        assert_eq!(zoom_at(None, 6, 1, 2, true), Some((0, 2)), "of few places");
        assert_eq!(zoom_at(None, 6, 4, 2, true), Some((3, 5)), "of few places");
        assert_eq!(zoom_at(None, 3, 1, 2, true), None, "nothing to zoom");
        assert_eq!(zoom_at(None, 2, 1, 0, true), Some((1, 1)), "one place alone");
        assert_eq!(zoom_at(Some((1, 1)), 9, 1, 0, false), Some((1, 3)));
    }

    #[test]
    fn the_part_stays_inside_however_it_is_moved() {
        for places in 0..20 {
            for place in 0..25 {
                for zoom in [None, Some((0, 3)), Some((2, 9))] {
                    let all = [
                        zoom_at(zoom, places, place, 2, true),
                        zoom_at(zoom, places, place, 2, false),
                        pan(zoom, places, -3),
                        pan(zoom, places, isize::MAX),
                        centre(zoom, places, place),
                        drag(zoom, places, -500, 7).0,
                        drag(zoom, places, 500, 0).0,
                    ];
                    for (from, to) in all.into_iter().flatten() {
                        assert!(from <= to, "{places} {place} {zoom:?}");
                        assert!(to < places.max(10), "{places} {place} {zoom:?} {from} {to}");
                    }
                }
            }
        }
        assert_eq!(pan(Some((2, 6)), 20, 3), Some((5, 9)));
        assert_eq!(drag(Some((2, 6)), 20, -25, 50), (Some((4, 8)), 0.0));
        // A tenth of the chart is a fifth of a place where it shows three.
        for (columns, first, by) in [(-5, 2, 0.2), (5, 2, -0.2), (-25, 3, 0.0), (-20, 3, -0.2)] {
            let (part, rest) = drag(Some((2, 4)), 20, columns, 50);
            assert_eq!(part, Some((first, first + 2)), "{columns}");
            assert!((rest - by).abs() < 1e-9, "{columns} {rest}");
        }
        assert_eq!(drag(Some((2, 4)), 20, 500, 50), (Some((0, 2)), 0.0), "not beyond the end");
        assert_eq!(drag(None, 20, 5, 50), (None, 0.0));
        assert_eq!(centre(Some((2, 6)), 20, 10), Some((8, 12)));
    }

    #[test]
    fn the_bar_shows_the_part() {
        let row = Rect::new(0, 0, 60, 1);
        let mut buf = Buffer::empty(row);
        draw_bar(&Look::default(), (0.5, 1.0), ("4 KiB", "8 MiB"), row, &mut buf);
        let text: String = (0..60).map(|x| buf[(x, 0)].symbol()).collect();
        assert_eq!(text, format!("    4 KiB {}{} 8 MiB    ", "─".repeat(20), "━".repeat(20)));
        let share = |place: usize| place as f64 / 4.0;
        assert_eq!([0, 10, 30, 49, 200].map(|x| place_on_bar(&share, 5, row, x)), [0, 0, 2, 4, 4]);
        for width in 0..60 {
            let row = Rect::new(0, 0, width, 1);
            draw_bar(&Look::default(), (0.9, 0.1), ("a", "b"), row, &mut Buffer::empty(row));
            place_on_bar(&share, 0, row, 3);
        }
    }
}
