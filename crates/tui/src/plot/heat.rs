//! A heat map: latencies over time, each place as dense as operations ended there.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::axis::{Axis, Scale};
use super::canvas::put;
use super::chart::Chart;
use crate::analysis::{HeatLog, HeatMap};
use crate::theme::{Look, Role};
use crate::units::{show_count, show_nanos};

const SHADES: &[char] = &['░', '▒', '▓', '█'];
const ASCII_SHADES: &[char] = &['.', ':', '-', '=', '+', '*', '#', '%', '@'];
/// A line at each trial needs this many columns.
const MIN_TRIAL_COLUMNS: usize = 6;

/// Latencies over time with their axes and a legend above.
#[derive(Clone, Copy)]
pub struct HeatPlot<'a> {
    pub look: &'a Look,
    pub log: &'a HeatLog,
    /// Of the series that has the operations.
    pub hue: usize,
    /// Written above.
    pub title: &'a str,
    /// The column and row of the map that is marked.
    pub cursor: Option<(usize, usize)>,
}

impl HeatPlot<'_> {
    /// Returns the area of the map, and the map.
    pub fn lay_out(&self, area: Rect) -> (Rect, HeatMap) {
        let plot = self.with_chart(|chart| chart.plot_area(below_title(area)));
        (plot, self.log.map(plot.width.into(), plot.height.into()))
    }

    /// Returns the column and the row of the map at a place of the screen.
    pub fn place_at(&self, area: Rect, at: Position) -> Option<(usize, usize)> {
        let (plot, map) = self.lay_out(area);
        plot.contains(at).then(|| place(plot, &map, at))
    }

    pub fn render(&self, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        self.with_chart(|chart| chart.render(below_title(area), buf));
        let (plot, map) = self.lay_out(area);
        self.draw_title(&map, area, buf);
        let (heat, shades) = (map.heat(), self.shades());
        let begins = self.columns_that_begin(&map);
        for at in plot.positions() {
            let (column, row) = place(plot, &map, at);
            let count = map.columns.get(column).map_or(0, |own| own.counts[row]);
            let Some(cell) = buf.cell_mut(at) else { continue };
            if count > 0 {
                let (heat, last) = (heat(count), shades.len() - 1);
                let shade = ((heat * shades.len() as f64).ceil() as usize).clamp(1, last + 1) - 1;
                put(cell, shades[shade], self.look.heat(self.hue, heat));
            } else if begins.contains(&column)
                && place(plot, &map, Position::new(at.x.saturating_sub(1), at.y)).0 < column
            {
                put(cell, self.glyph('┊', '\''), self.look.style(Role::Border));
            }
            if self.cursor == Some((column, row)) {
                if count == 0 {
                    put(cell, ' ', self.look.style(Role::Cursor));
                }
                cell.set_style(Style::new().add_modifier(Modifier::REVERSED));
            }
        }
    }

    /// Returns the columns in which trials begin, but for the first; none where these are many.
    fn columns_that_begin(&self, map: &HeatMap) -> Vec<usize> {
        let most = map.columns.len() / MIN_TRIAL_COLUMNS;
        let column = |border: u64| map.columns.partition_point(|own| own.end <= border);
        let all: Vec<usize> = self.log.borders().take(most + 1).map(column).collect();
        if all.len() > most { Vec::new() } else { all }
    }

    /// Draws the title, and how many operations the palest and the densest places have.
    fn draw_title(&self, map: &HeatMap, area: Rect, buf: &mut Buffer) {
        let most = map.columns.iter().flat_map(|column| &column.counts).max().copied();
        let mut parts = vec![self.look.span(Role::Title, self.title)];
        let gap = if self.title.is_empty() { "" } else { "   " };
        parts.push(Span::raw(gap));
        let least = match self.log.every() {
            1 => "1 ".to_string(),
            every => format!("about {every} "),
        };
        parts.push(self.look.span(Role::Dim, least));
        let shades = self.shades();
        parts.extend(shades.iter().enumerate().map(|(at, shade)| {
            let heat = (at + 1) as f64 / shades.len() as f64;
            Span::styled(shade.to_string(), self.look.heat(self.hue, heat))
        }));
        let most = show_count(most.unwrap_or(0) as f64);
        parts.push(self.look.span(Role::Dim, format!(" {most} operations")));
        Line::from(parts).render(Rect { height: area.height.min(1), ..area }, buf);
    }

    fn shades(&self) -> &'static [char] {
        if self.look.has_plain_bars() { ASCII_SHADES } else { SHADES }
    }

    fn glyph(&self, unicode: char, ascii: char) -> char {
        if self.look.has_plain_bars() { ascii } else { unicode }
    }

    /// Builds the axes.
    fn with_chart<R>(&self, then: impl FnOnce(&Chart) -> R) -> R {
        fn brief(nanos: f64) -> String {
            if nanos == 0.0 {
                "0".into()
            } else {
                show_nanos(nanos).replace(".00", "").replace(".0 ", " ")
            }
        }
        let time = |seconds: f64| brief(seconds * 1e9);
        let (low, high) = self.log.range();
        let seconds = (self.log.nanos() as f64 / 1e9).max(1e-6);
        let x = Axis::new(Scale::Linear, &time).between(0.0, seconds).time();
        let y = Axis::new(Scale::Log10, &brief).between(low.max(1) as f64, high as f64);
        then(&Chart::new(self.look, x, y, &[]))
    }
}

fn below_title(area: Rect) -> Rect {
    let title = area.height.min(1);
    Rect { y: area.y + title, height: area.height - title, ..area }
}

/// Returns the column and row of a map that is stretched over a plot.
fn place(plot: Rect, map: &HeatMap, at: Position) -> (usize, usize) {
    let part =
        |from: u16, of: u16, count: usize| usize::from(from) * count / usize::from(of.max(1));
    let up = (plot.bottom() - 1).saturating_sub(at.y);
    (
        part(at.x.saturating_sub(plot.x), plot.width, map.columns.len()),
        part(up, plot.height, map.rows()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::pictures_tests::{ascii, show};
    use crate::record::{LatencyLog, LogBuckets, LogEntry};

    /// Returns two trials of 1 s: of 1, 2, 3 .. operations at 100 µs in each 100 ms, and one of
    /// 10 ms at their ends.
    fn log() -> HeatLog {
        let trial = |round| {
            let mut log = LatencyLog::new(1);
            for index in 0..10 {
                let slow = (LogBuckets::of(10_000_000) as u16, u32::from(index == 9));
                let latency = vec![(LogBuckets::of(100_000) as u16, 4u32.pow(index)), slow];
                log.add(LogEntry { index, ops: 1, latency, ..LogEntry::default() });
            }
            (round, 1_000_000_000, log)
        };
        HeatLog::new([trial(1), trial(2)]).unwrap()
    }

    fn plot<'a>(look: &'a Look, log: &'a HeatLog) -> HeatPlot<'a> {
        HeatPlot { look, log, hue: 0, title: "Latency", cursor: None }
    }

    #[test]
    fn shades_follow_counts() {
        let (look, log) = (ascii(), log());
        let plot = plot(&look, &log);
        let picture = show(48, 9, |area, buf| plot.render(area, buf));
        let wanted = [
            "Latency   1 .:-=+*#%@ 262 k operations",
            " 10 ms+                   ..'                 ..",
            "      |                     '",
            "      |                     '",
            "  1 ms+                     '",
            "      |                     '",
            "100 µs+...::--==++**##%%@@@@..::--==++**##%%@@@@",
            "      ++---------+---------+---------+---------+",
            "       0      500 ms      1 s     1.50 s     2 s",
        ];
        assert_eq!(picture.lines().collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn sampled_counts_are_estimates() {
        let mut own = LatencyLog::new(64);
        own.add(LogEntry { latency: vec![(500, 3)], ..LogEntry::default() });
        let (look, log) = (ascii(), HeatLog::new([(1, 1_000_000_000, own)]).unwrap());
        let picture = show(60, 9, |area, buf| plot(&look, &log).render(area, buf));
        assert!(picture.contains("about 64 .:-=+*#%@ 192 operations"), "{picture}");
    }

    #[test]
    fn places_of_the_screen_are_found() {
        let (look, log) = (Look::default(), log());
        let plot = plot(&look, &log);
        let area = Rect::new(3, 2, 60, 12);
        let (inner, map) = plot.lay_out(area);
        assert_eq!(map.columns.len(), 20);
        let at = |x, y| plot.place_at(area, Position::new(x, y));
        assert_eq!(at(inner.x, inner.bottom() - 1), Some((0, 0)));
        assert_eq!(at(inner.right() - 1, inner.y), Some((19, map.rows() - 1)));
        assert_eq!((at(inner.x - 1, inner.y), at(inner.x, inner.bottom())), (None, None));
        let marked = HeatPlot { cursor: Some((7, 3)), ..plot };
        let mut buf = Buffer::empty(area);
        marked.render(area, &mut buf);
        let is_marked = |at: &Position| buf[*at].modifier.contains(Modifier::REVERSED);
        let found: Vec<Position> = inner.positions().filter(is_marked).collect();
        assert!(!found.is_empty());
        assert!(found.iter().all(|at| plot.place_at(area, *at) == Some((7, 3))));
    }

    #[test]
    fn any_area_holds_a_map() {
        let log = log();
        for look in [Look::default(), ascii()] {
            for (columns, rows) in [(0, 0), (1, 1), (2, 1), (3, 3), (12, 4), (13, 60), (300, 2)] {
                for cursor in [None, Some((0, 0)), Some((usize::MAX, usize::MAX))] {
                    let plot = HeatPlot { cursor, ..plot(&look, &log) };
                    show(columns, rows, |area, buf| plot.render(area, buf));
                }
            }
        }
    }
}
