//! What has no curve: a bar for each, its value at its end.

use super::font::width;
use super::scene::{Anchor, Ink, Scene, Shape, Stroke};
use super::{SMALL, TEXT};
use crate::report::figure::{Bars, COLORS, NEUTRAL, ROUND};

const ROW: f64 = 24.0;
const THICK: f64 = 13.0;
/// Rows of one column; of more there are two.
const TALL: usize = 30;

/// Draws them from `top` on; returns where they end.
pub fn draw(bars: &Bars, scene: &mut Scene, left: f64, top: f64, wide: f64) -> f64 {
    let columns = if bars.rows.len() > TALL { 2 } else { 1 };
    let each = bars.rows.len().div_ceil(columns);
    let gap = 48.0;
    let column = (wide - gap * (columns as f64 - 1.0)) / columns as f64;
    for (at, rows) in bars.rows.chunks(each.max(1)).enumerate() {
        one(bars, rows, scene, (left + at as f64 * (column + gap), top, column));
    }
    top + 26.0 + each as f64 * ROW + 8.0
}

fn one(bars: &Bars, rows: &[crate::report::figure::Bar], scene: &mut Scene, (left, top, wide): (f64, f64, f64)) {
    let widest = |text: &mut dyn Iterator<Item = &String>| text.map(|text| width(text, TEXT, false)).fold(0.0, f64::max);
    let labels = widest(&mut bars.rows.iter().map(|row| &row.label)).min(wide * 0.45);
    let values = widest(&mut bars.rows.iter().map(|row| &row.show));
    let (from, room) = (left + labels + 14.0, (wide - labels - values - 28.0).max(80.0));
    let x = |value: f64| from + room * bars.scale.share(value);
    let bottom = top + 22.0 + rows.len() as f64 * ROW;
    let mut end = f64::NEG_INFINITY;
    for (value, label) in &bars.scale.ticks {
        scene.line(vec![(x(*value), top + 18.0), (x(*value), bottom)], Stroke::new(Ink::Grid, 1.0));
        let half = width(label, SMALL, false) / 2.0;
        if x(*value) - half > end + 8.0 {
            scene.text((x(*value), top + 11.0), label, Ink::Soft, SMALL, Anchor::Middle);
            end = x(*value) + half;
        }
    }
    let ink = Ink::Color(COLORS[0]);
    for (at, row) in rows.iter().enumerate() {
        let middle = top + 22.0 + (at as f64 + 0.5) * ROW;
        let box_of = |a: f64, b: f64, thick: f64| {
            vec![(a, middle - thick / 2.0), (b, middle - thick / 2.0), (b, middle + thick / 2.0), (a, middle + thick / 2.0)]
        };
        scene.text((left + labels, middle + 4.5), &fitted(&row.label, labels), Ink::Text, TEXT, Anchor::End);
        let to = x(row.point.span.1);
        // A logarithmic axis has no 0 for a bar to begin at: its length would say nothing.
        match bars.scale.log {
            true => scene.line(vec![(from, middle), (to, middle)], Stroke::new(Ink::Grid, 1.0)),
            false => scene.area(box_of(from, to, THICK), ink, if row.point.wrong { 0.35 } else { 0.85 }),
        }
        if let Some((low, high)) = row.point.expected {
            let (low, high) = (x(low), x(high).max(x(low) + 2.0));
            scene.area(box_of(low, high, ROW - 4.0), Ink::Color(NEUTRAL), 0.3);
            for end in [low, high] {
                scene.line(vec![(end, middle - ROW / 2.0 + 2.0), (end, middle + ROW / 2.0 - 2.0)], Stroke::new(Ink::Soft, 1.0));
            }
        }
        let (low, high) = (x(row.point.span.0), x(row.point.span.2));
        if high - low > 2.0 {
            scene.line(vec![(low, middle), (high, middle)], Stroke::new(Ink::Text, 1.5).opacity(0.7));
        }
        let says = format!("{}: {}", row.label, row.show);
        let mark = |at: f64, ink: Ink, mark: usize, hollow: bool, says: String| Shape::Mark { at: (at, middle), mark, ink, hollow, says };
        scene.shapes.push(mark(to, ink, 0, row.point.wrong, says));
        for (name, value) in &row.reported {
            scene.shapes.push(mark(x(*value), Ink::Color(NEUTRAL), 2, true, format!("{}, reported: {name}", row.label)));
        }
        // What was expected may reach further than the value: the text stands right of both.
        let expected = row.point.expected.map(|(low, high)| x(high).max(x(low) + 2.0));
        let beyond = row.reported.iter().map(|(_, value)| x(*value)).chain(expected).chain([high]).fold(to, f64::max);
        scene.text((beyond + ROUND + 6.0, middle + 4.5), &row.show, Ink::Text, SMALL, Anchor::Start);
    }
}

/// A text that is too long loses its end.
fn fitted(text: &str, most: f64) -> String {
    let mut text = text.to_string();
    if width(&text, TEXT, false) <= most + 0.5 {
        return text;
    }
    while width(&text, TEXT, false) + width("…", TEXT, false) > most && text.pop().is_some() {}
    format!("{}…", text.trim_end())
}
