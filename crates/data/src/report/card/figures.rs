//! The largest figures of a card with a bar for each backend, or the rows that storage benchmarks
//! print.

use super::page::{CONTENT, CardPage, MARGIN, SMALL, TEXT, certainty_ink};
use crate::analysis::{Board, Glance, GlanceColumn, Workload, WorkloadFigure};
use crate::plan::Op;
use crate::report::figure::COLORS;
use crate::report::picture::font::{cut, width};
use crate::report::picture::scene::Ink;
use crate::report::text::clean;
use crate::units::column::{self, Unit};
use crate::units::{Rates, show_count, show_nanos};

const DIGITS: f64 = 46.0;
const ROW: f64 = 22.0;
/// Columns side by side, and rows of bars.
const MAX_COLUMNS: usize = 3;
const MAX_ROWS: usize = 12;
const GAP: f64 = 28.0;

pub fn draw_columns(page: &mut CardPage, glance: &Glance, rates: Rates) {
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
fn draw_others(page: &mut CardPage, glance: &Glance, count: usize, rates: Rates) {
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
    page: &mut CardPage,
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
    page: &mut CardPage,
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

/// Draws the large figure with the sentences next to it, and the table below.
pub fn draw_board(page: &mut CardPage, board: &Board) {
    page.text((MARGIN, page.y), &clean(&board.title), Ink::Soft, TEXT);
    let base = page.y + 14.0 + DIGITS;
    let firm = board.figure.is_none_or(|figure| figure.is_firm());
    let side = page.digits((MARGIN, base), &board.number, DIGITS, firm) + 6.0;
    page.text((side, base - 18.0), &board.unit, Ink::Text, TEXT + 2.0);
    if let Some(figure) = &board.figure {
        page.text((side, base), &figure.describe_certainty(), certainty_ink(figure), TEXT);
    }
    let beside = side + 90.0;
    for (row, said) in board.beside.iter().take(3).enumerate() {
        let said = cut(&clean(said), TEXT, false, MARGIN + CONTENT - beside);
        page.text((beside, base - 36.0 + 18.0 * row as f64), &said, Ink::Text, TEXT);
    }
    page.y = base + 34.0;
    if board.rows.is_empty() {
        return;
    }
    let each = (CONTENT - NAMES) / board.columns.len().max(1) as f64;
    page.text((MARGIN, page.y), board.axis, Ink::Soft, SMALL);
    for (at, column) in board.columns.iter().enumerate() {
        let left = MARGIN + NAMES + at as f64 * each;
        let (title, texts) = column.texts();
        page.text_end((left + FIGURE, page.y), &title, Ink::Soft, SMALL);
        for (row, text) in texts.iter().enumerate().take(MAX_ROWS) {
            let y = page.y + ROW * (row + 1) as f64;
            page.text_end((left + FIGURE, y), text.trim(), Ink::Text, TEXT);
            page.text((left + FIGURE + 8.0, y), &column.describe_certainty(row), Ink::Soft, SMALL);
        }
    }
    for (row, name) in board.rows.iter().enumerate().take(MAX_ROWS) {
        let y = page.y + ROW * (row + 1) as f64;
        let name = cut(&clean(name), TEXT, board.lead == Some(row), NAMES - 8.0);
        match board.lead == Some(row) {
            true => page.scene.bold((MARGIN, y), &name, Ink::Text, TEXT),
            false => page.text((MARGIN, y), &name, Ink::Text, TEXT),
        }
    }
    page.y += ROW * (board.rows.len().min(MAX_ROWS) + 1) as f64;
    if let Some(more) = board.rows.len().checked_sub(MAX_ROWS).filter(|more| *more > 0) {
        page.text((MARGIN, page.y), &format!("and {more} more"), Ink::Soft, SMALL);
        page.y += ROW;
    }
}

/// Where the figures of a column of a board end, from its left edge.
const FIGURE: f64 = 96.0;
const NAMES: f64 = 116.0;
const WORKLOAD_DIGITS: f64 = 30.0;
const WORKLOAD_ROW: f64 = 66.0;
const WORKLOAD_GAP: f64 = 30.0;

pub fn draw_workloads(page: &mut CardPage, workloads: &[Workload], rates: Rates) {
    let (factor, unit) = Workload::unit(rates);
    let each = (CONTENT - NAMES - WORKLOAD_GAP) / 2.0;
    let top = page.y;
    // One scale, so that reads and writes can be compared.
    let max = Workload::max(workloads);
    for (at, title) in [Op::Read.name(), Op::Write.name()].into_iter().enumerate() {
        let left = MARGIN + NAMES + at as f64 * (each + WORKLOAD_GAP);
        page.scene.bold((left, top), title, Ink::Text, TEXT);
        let beside = left + width(title, TEXT, true) + 5.0;
        page.text((beside, top), unit, Ink::Soft, TEXT);
        let of = |row: &Workload| if at == 0 { row.read.clone() } else { row.write.clone() };
        let all: Vec<Option<WorkloadFigure>> = workloads.iter().map(of).collect();
        for (row, (workload, figure)) in workloads.iter().zip(&all).enumerate() {
            let y = top + 38.0 + row as f64 * WORKLOAD_ROW;
            match figure {
                Some(figure) => {
                    let number = column::figure(figure.figure.summary.median / factor);
                    let firm = figure.figure.is_firm();
                    let side = page.digits((left, y), &number, WORKLOAD_DIGITS, firm) + 8.0;
                    let (first, second) = details(workload, figure);
                    page.text((side, y - 14.0), &first, Ink::Text, SMALL);
                    page.text((side, y), &second, certainty_ink(&figure.figure), SMALL);
                    let share = if max > 0.0 { figure.figure.summary.median / max } else { 0.0 };
                    let ink = Ink::Color(COLORS[figure.hue % COLORS.len()]);
                    page.bar((left, y + 13.0), each, share, ink);
                }
                None => page.text((left, y), "not measured", Ink::Soft, TEXT),
            }
        }
    }
    for (row, workload) in workloads.iter().enumerate() {
        let y = top + 38.0 + row as f64 * WORKLOAD_ROW;
        page.scene.bold((MARGIN, y - 6.0), &workload.name, Ink::Text, TEXT + 2.0);
        page.text((MARGIN, y + 12.0), &workload.load, Ink::Soft, TEXT);
    }
    page.y = top + 38.0 + workloads.len() as f64 * WORKLOAD_ROW - 22.0;
}

/// Returns two lines next to a figure: operations and latency; interval and backend.
pub fn details(workload: &Workload, figure: &WorkloadFigure) -> (String, String) {
    let operations = figure.operations.map(|rate| format!("{} IOPS", show_count(rate)));
    let p50 = figure.p50.map(|nanos| format!("p50 {}", show_nanos(nanos)));
    let first = [operations, p50].into_iter().flatten().filter(|_| workload.random);
    let second = format!("{} {}", figure.figure.describe_certainty(), figure.backend);
    (first.collect::<Vec<_>>().join(", "), second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::GlanceFigure;
    use crate::report::card::page::WRONG;
    use crate::report::picture::scene::Shape;
    use crate::stats::Summary;

    #[test]
    fn a_wrong_figure_is_faint() {
        for wrong in [false, true] {
            let summary = Summary::from_values(&[1e6; 7]).unwrap();
            let figure =
                GlanceFigure { summary, trials: 7, reported: false, wrong, misleading: false };
            let backend = "uring".to_string();
            let (result, hue, operations, p50, leads) = (0, 3, None, None, None);
            let read = WorkloadFigure { result, backend, hue, figure, operations, p50, leads };
            let (name, load) = ("SEQ1M".to_string(), "Q1T1".to_string());
            let row = Workload { name, load, random: false, read: Some(read), write: None };
            let mut page = CardPage::new(&Default::default());
            draw_workloads(&mut page, &[row], Rates::default());
            let shapes = page.finish().shapes;
            let ink_of = |start: &str| {
                shapes.iter().find_map(|shape| match shape {
                    Shape::Text { text, ink, .. } if text.starts_with(start) => Some(*ink),
                    _ => None,
                })
            };
            let (number, certainty) =
                if wrong { (Ink::Soft, ("wrong", WRONG)) } else { (Ink::Text, ("±", Ink::Soft)) };
            let bar = shapes.iter().any(
                |shape| matches!(shape, Shape::Area { ink, .. } if *ink == Ink::Color(COLORS[3])),
            );
            assert!(bar, "the hue of its backend");
            assert_eq!(ink_of("1.00"), Some(number));
            assert_eq!(ink_of(certainty.0), Some(certainty.1));
        }
    }
}
