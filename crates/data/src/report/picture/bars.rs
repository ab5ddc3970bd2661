//! Bars for the cells without a curve, each with its value at its end.

use super::font::{cut, width};
use super::panel::{SMALL, TEXT};
use super::scene::{Anchor, Ink, Scene, Stroke};
use crate::report::figure::{
    DIAMOND, FigureBar, FigureBars, FigurePoint, LegendKey, MarkFill, NEUTRAL, ROUND, SeriesMark,
};

const ROW_HEIGHT: f64 = 24.0;
const BAR_HEIGHT: f64 = 13.0;
/// Rows of one column; more rows take two columns.
const MAX_ROWS: usize = 30;

/// Draws the bars from `top` on; returns where they end.
pub fn draw(
    bars: &FigureBars,
    keys: &[LegendKey],
    scene: &mut Scene,
    (left, top, wide): (f64, f64, f64),
) -> f64 {
    let columns = if bars.rows.len() > MAX_ROWS { 2 } else { 1 };
    let each = bars.rows.len().div_ceil(columns);
    let gap = 48.0;
    let column = (wide - gap * (columns as f64 - 1.0)) / columns as f64;
    for (at, rows) in bars.rows.chunks(each.max(1)).enumerate() {
        BarColumn::new(bars, keys, (left + at as f64 * (column + gap), top, column))
            .draw(rows, scene);
    }
    top + 26.0 + each as f64 * ROW_HEIGHT + 8.0
}

/// A column of bars as placed on the page.
struct BarColumn<'a> {
    bars: &'a FigureBars,
    keys: &'a [LegendKey],
    top: f64,
    /// The width of the labels, and where they end.
    labels: f64,
    labels_end: f64,
    /// Where bars begin, and the width of the longest.
    from: f64,
    room: f64,
}

impl<'a> BarColumn<'a> {
    fn new(
        bars: &'a FigureBars,
        keys: &'a [LegendKey],
        (left, top, wide): (f64, f64, f64),
    ) -> BarColumn<'a> {
        fn widest(text: &mut dyn Iterator<Item = &String>) -> f64 {
            text.map(|text| width(text, TEXT, false)).fold(0.0, f64::max)
        }
        let labels = widest(&mut bars.rows.iter().map(|row| &row.label)).min(wide * 0.45);
        let values = widest(&mut bars.rows.iter().map(|row| &row.show));
        let (labels_end, room) = (left + labels, (wide - labels - values - 28.0).max(80.0));
        BarColumn { bars, keys, top, labels, labels_end, from: labels_end + 14.0, room }
    }

    fn draw(&self, rows: &[FigureBar], scene: &mut Scene) {
        self.draw_ticks(rows.len(), scene);
        for (at, row) in rows.iter().enumerate() {
            self.draw_row(row, self.top + 22.0 + (at as f64 + 0.5) * ROW_HEIGHT, scene);
        }
    }

    fn x(&self, value: f64) -> f64 {
        self.from + self.room * self.bars.scale.share(value)
    }

    /// Returns the bounds of the drawn expected range, which is always wide enough to see.
    fn expected_range(&self, row: &FigureBar) -> Option<(f64, f64)> {
        row.point.expected.map(|(low, high)| (self.x(low), self.x(high).max(self.x(low) + 2.0)))
    }

    /// Draws the lines of the scale, and their labels if there is room.
    fn draw_ticks(&self, rows: usize, scene: &mut Scene) {
        let bottom = self.top + 22.0 + rows as f64 * ROW_HEIGHT;
        let mut end = f64::NEG_INFINITY;
        for (value, label) in &self.bars.scale.ticks {
            let x = self.x(*value);
            scene.line(vec![(x, self.top + 18.0), (x, bottom)], Stroke::new(Ink::Grid, 1.0));
            let half = width(label, SMALL, false) / 2.0;
            if x - half > end + 8.0 {
                scene.anchored((x, self.top + 11.0), label, Ink::Soft, SMALL, Anchor::Middle);
                end = x + half;
            }
        }
    }

    /// Draws a bar with its label and its value around the height `middle`.
    fn draw_row(&self, row: &FigureBar, middle: f64, scene: &mut Scene) {
        let label = cut(&row.label, TEXT, false, self.labels);
        scene.anchored((self.labels_end, middle + 4.5), &label, Ink::Text, TEXT, Anchor::End);
        let to = self.x(row.point.span.1);
        if self.bars.scale.log {
            // A logarithmic axis has no 0 at which a bar could begin: its length would mean
            // nothing.
            scene.line(vec![(self.from, middle), (to, middle)], Stroke::new(Ink::Grid, 1.0));
        } else {
            let opacity = if row.point.wrong { 0.35 } else { 0.85 };
            let ink = Ink::Color(self.keys[row.key].color());
            scene.area(rectangle(self.from, to, middle, BAR_HEIGHT), ink, opacity);
        }
        let expected = self.expected_range(row);
        if let Some(ends) = expected {
            draw_expected(ends, middle, scene);
        }
        let (low, high) = (self.x(row.point.span.0), self.x(row.point.span.2));
        if high - low > 2.0 {
            let stroke = Stroke::new(Ink::Text, 1.5).opacity(0.7);
            scene.line(vec![(low, middle), (high, middle)], stroke);
        }
        self.draw_marks(row, middle, scene);
        // The expected range may extend beyond the value: the text is right of both.
        let reported = row.reported.iter().map(|(_, value)| self.x(*value));
        let beyond =
            reported.chain(expected.map(|(_, high)| high)).chain([high]).fold(to, f64::max);
        scene.text((beyond + ROUND + 6.0, middle + 4.5), &row.show, Ink::Text, SMALL);
    }

    /// Draws the value, and those reported by others.
    fn draw_marks(&self, row: &FigureBar, middle: f64, scene: &mut Scene) {
        let (key, FigurePoint { span, wrong, .. }) = (&self.keys[row.key], &row.point);
        let (at, ink) = ((self.x(span.1), middle), Ink::Color(key.color()));
        scene.mark(at, key.mark, ink, *wrong, format!("{}: {}", row.label, row.show));
        let diamond = SeriesMark { shape: DIAMOND, fill: MarkFill::Hollow };
        for (name, value) in &row.reported {
            let (at, says) = ((self.x(*value), middle), format!("{}, reported: {name}", row.label));
            scene.mark(at, diamond, Ink::Color(NEUTRAL), false, says);
        }
    }
}

fn draw_expected((low, high): (f64, f64), middle: f64, scene: &mut Scene) {
    scene.area(rectangle(low, high, middle, ROW_HEIGHT - 4.0), Ink::Color(NEUTRAL), 0.3);
    for end in [low, high] {
        let half = ROW_HEIGHT / 2.0 - 2.0;
        let ends = vec![(end, middle - half), (end, middle + half)];
        scene.line(ends, Stroke::new(Ink::Soft, 1.0));
    }
}

fn rectangle(left: f64, right: f64, middle: f64, thick: f64) -> Vec<(f64, f64)> {
    let (top, bottom) = (middle - thick / 2.0, middle + thick / 2.0);
    vec![(left, top), (right, top), (right, bottom), (left, bottom)]
}
