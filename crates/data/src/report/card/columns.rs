//! The largest figures of a card, and a bar for each backend.

use super::page::{CONTENT, MARGIN, Page, SMALL, TEXT, certainty_ink};
use crate::analysis::{Glance, GlanceColumn};
use crate::report::figure::COLORS;
use crate::report::picture::font::{cut, width};
use crate::report::picture::scene::Ink;
use crate::report::text::clean;
use crate::units::Rates;
use crate::units::column::{self, Unit};

const DIGITS: f64 = 46.0;
const ROW: f64 = 22.0;
/// Columns side by side, and rows of bars.
const MAX_COLUMNS: usize = 3;
const MAX_ROWS: usize = 12;
const GAP: f64 = 28.0;

pub fn draw(page: &mut Page, glance: &Glance, rates: Rates) {
    let names = glance.rows.iter().map(|row| width(&row.name, TEXT, false)).fold(0.0, f64::max);
    let names = (names.min(CONTENT / 4.0) + 18.0).max(90.0);
    let count = glance.columns.len().clamp(1, MAX_COLUMNS);
    let each = (CONTENT - names - GAP * (count as f64 - 1.0)) / count as f64;
    let top = page.y;
    for (at, column) in glance.columns.iter().take(count).enumerate() {
        let left = MARGIN + names + at as f64 * (each + GAP);
        draw_head(page, glance, column, column.unit(rates), (left, top, each));
    }
    page.y = top + 20.0 + DIGITS + 34.0;
    let shown = glance.rows.len().min(MAX_ROWS);
    for (row, own) in glance.rows.iter().enumerate().take(shown) {
        let name = cut(&clean(&own.name), TEXT, false, names - 14.0);
        page.text((MARGIN, page.y), &name, Ink::Text, TEXT);
        let ink = Ink::Color(COLORS[own.hue % COLORS.len()]);
        for (at, column) in glance.columns.iter().take(count).enumerate() {
            let left = MARGIN + names + at as f64 * (each + GAP);
            draw_bar(page, column, row, column.unit(rates), (left, each), ink);
        }
        page.y += ROW;
    }
    if glance.rows.len() > shown {
        let more = format!("and {} more", glance.rows.len() - shown);
        page.text((MARGIN, page.y), &more, Ink::Soft, SMALL);
        page.y += ROW;
    }
    draw_others(page, glance, count, rates);
    page.skip(2.0);
}

/// Draws the columns without room as text.
fn draw_others(page: &mut Page, glance: &Glance, count: usize, rates: Rates) {
    let others: Vec<String> = glance
        .columns
        .iter()
        .skip(count)
        .filter_map(|column| {
            let (bar, (factor, unit)) = (column.best_bar()?, column.unit(rates));
            let figure = column::figure(bar.figure.summary.median / factor);
            let interval = bar.figure.describe_certainty();
            Some(format!("{} {figure} {unit} {interval}", column.title()))
        })
        .collect();
    if !others.is_empty() {
        page.skip(4.0);
        page.paragraph(&format!("Also: {}", others.join(", ")), Ink::Soft, None);
    }
}

fn draw_head(
    page: &mut Page,
    glance: &Glance,
    column: &GlanceColumn,
    (factor, unit): Unit,
    (left, top, wide): (f64, f64, f64),
) {
    let Some(bar) = column.best_bar() else { return };
    page.text((left, top), &cut(&column.title(), TEXT, false, wide), Ink::Soft, TEXT);
    let number = column::figure(bar.figure.summary.median / factor);
    let base = top + 14.0 + DIGITS;
    let side = page.digits((left, base), &number, DIGITS, bar.figure.is_firm()) + 6.0;
    page.text((side, base - 18.0), unit, Ink::Text, TEXT + 2.0);
    let ink = certainty_ink(&bar.figure);
    page.text((side, base), &bar.figure.describe_certainty(), ink, TEXT);
    let caption = clean(&glance.caption(column));
    page.text((left, base + 20.0), &cut(&caption, SMALL, false, wide), Ink::Soft, SMALL);
}

fn draw_bar(
    page: &mut Page,
    column: &GlanceColumn,
    row: usize,
    (factor, _): Unit,
    (left, wide): (f64, f64),
    ink: Ink,
) {
    let figures = 52.0;
    let Some(bar) = column.bars.get(row).and_then(Option::as_ref) else {
        return page.text_end((left + figures - 8.0, page.y), "-", Ink::Soft, TEXT);
    };
    let (median, top) = (bar.figure.summary.median, column.highest());
    let text = column::figure(median / factor);
    page.text_end((left + figures - 8.0, page.y), &text, Ink::Text, TEXT);
    let share = if top > 0.0 { median / top } else { 0.0 };
    let room = (wide - figures - 54.0).max(20.0);
    page.bar((left + figures, page.y - 4.5), room, share, ink);
    let interval = bar.figure.describe_certainty();
    page.text((left + figures + room + 8.0, page.y), &interval, Ink::Soft, SMALL);
}
