//! The largest figures of a card with a bar for each backend, or the rows that storage benchmarks
//! print.

use super::page::{CONTENT, CardPage, MARGIN, SMALL, TEXT, certainty_ink, figure_ink};
use crate::analysis::{Board, BoardCell, Glance, GlanceColumn};
use crate::report::figure::COLORS;
use crate::report::picture::font::{cut, width};
use crate::report::picture::scene::Ink;
use crate::report::text::clean;
use crate::units::Rates;
use crate::units::column::Unit;

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
            let figure = bar.figure.number(factor);
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
    let number = bar.figure.number(factor);
    let base = top + 14.0 + DIGITS;
    let side = page.digits((left, base), &number, DIGITS, Some(&bar.figure)) + 6.0;
    page.text((side, base - 18.0), unit, Ink::Text, TEXT + 2.0);
    let ink = certainty_ink(&bar.figure);
    page.text((side, base), &bar.figure.describe_spread(factor), ink, TEXT);
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
    let (text, own) = (bar.figure.number(factor), figure_ink(&bar.figure));
    page.text_end((left + figures - 8.0, page.y), &text, own, TEXT);
    let share = if top > 0.0 { median / top } else { 0.0 };
    let room = (wide - figures - 54.0).max(20.0);
    page.bar((left + figures, page.y - 4.5), room, share, ink);
    let interval = bar.figure.describe_certainty();
    page.text((left + figures + room + 8.0, page.y), &interval, Ink::Soft, SMALL);
}

/// Draws the large figure with the sentences next to it, and the table below.
pub fn draw_board(page: &mut CardPage, board: &Board, rates: Rates) {
    if !board.number.is_empty() {
        draw_head_of_board(page, board);
    }
    match board.large {
        true => draw_large(page, board, rates),
        false if !board.rows.is_empty() => draw_table(page, board, rates),
        false => {}
    }
}

fn draw_head_of_board(page: &mut CardPage, board: &Board) {
    page.text((MARGIN, page.y), &clean(&board.title), Ink::Soft, TEXT);
    let base = page.y + 14.0 + DIGITS;
    let side = page.digits((MARGIN, base), &board.number, DIGITS, board.figure.as_ref()) + 6.0;
    page.text((side, base - 18.0), &board.unit, Ink::Text, TEXT + 2.0);
    if let Some(figure) = &board.figure {
        page.text((side, base), &board.describe_spread(), certainty_ink(figure), TEXT);
    }
    let beside = side + if board.suits_large() { 90.0 } else { 150.0 };
    for (row, said) in board.beside.iter().take(3).enumerate() {
        let said = cut(&clean(said), TEXT, false, MARGIN + CONTENT - beside);
        page.text((beside, base - 36.0 + 18.0 * row as f64), &said, Ink::Text, TEXT);
    }
    page.y = base + 34.0;
}

/// Draws the table with small figures; long names have a line of their own above a narrow table.
fn draw_table(page: &mut CardPage, board: &Board, rates: Rates) {
    let longest = board.rows.iter().map(|name| width(&clean(name), TEXT, true)).fold(0.0, f64::max);
    let names = (longest + 16.0).clamp(NAMES, CONTENT / 2.0);
    let each = (CONTENT - names) / board.columns.len().max(1) as f64;
    let figure = FIGURE.min(each * 0.6);
    page.text((MARGIN, page.y), board.axis, Ink::Soft, SMALL);
    for (at, column) in board.columns.iter().enumerate() {
        let left = MARGIN + names + at as f64 * each;
        let (title, texts) = column.texts(rates);
        page.text_end((left + figure, page.y), &title, Ink::Soft, SMALL);
        for (row, text) in texts.iter().enumerate().take(MAX_ROWS) {
            let y = page.y + ROW * (row + 1) as f64;
            let ink = column.cells.get(row).and_then(Option::as_ref);
            let ink = ink.map_or(Ink::Soft, |cell| figure_ink(&cell.figure));
            page.text_end((left + figure, y), text.trim(), ink, TEXT);
            page.text((left + figure + 8.0, y), &column.describe_certainty(row), Ink::Soft, SMALL);
        }
    }
    for (row, name) in board.rows.iter().enumerate().take(MAX_ROWS) {
        let y = page.y + ROW * (row + 1) as f64;
        let name = cut(&clean(name), TEXT, board.lead == Some(row), names - 8.0);
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
const LARGE_DIGITS: f64 = 30.0;
const LARGE_ROW: f64 = 66.0;
const LARGE_GAP: f64 = 30.0;

/// Draws each figure large, with its details and a bar.
fn draw_large(page: &mut CardPage, board: &Board, rates: Rates) {
    let count = board.columns.len().max(1) as f64;
    let each = (CONTENT - NAMES - LARGE_GAP * (count - 1.0)) / count;
    let top = page.y;
    let y_of = |row: usize| top + 38.0 + row as f64 * LARGE_ROW;
    for (at, column) in board.columns.iter().enumerate() {
        let left = MARGIN + NAMES + at as f64 * (each + LARGE_GAP);
        let (title, texts) = column.texts(rates);
        let (title, unit) = title.split_once(", ").unwrap_or((&title, ""));
        page.scene.bold((left, top), title, Ink::Text, TEXT);
        page.text((left + width(title, TEXT, true) + 5.0, top), unit, Ink::Soft, TEXT);
        // One scale, so that columns can be compared.
        let max = board.highest(column.units);
        for (row, (cell, text)) in column.cells.iter().zip(&texts).enumerate() {
            let y = y_of(row);
            let Some(cell) = cell else {
                page.text((left, y), "not measured", Ink::Soft, TEXT);
                continue;
            };
            let own = Some(&cell.figure);
            let side = page.digits((left, y), text.trim(), LARGE_DIGITS, own) + 8.0;
            let (first, second) = details(cell, column.factor(rates));
            page.text((side, y - 14.0), &first, Ink::Text, SMALL);
            page.text((side, y), &second, certainty_ink(&cell.figure), SMALL);
            let share = if max > 0.0 { cell.figure.summary.median / max } else { 0.0 };
            let ink = Ink::Color(COLORS[cell.hue.unwrap_or(0) % COLORS.len()]);
            page.bar((left, y + 13.0), each, share, ink);
        }
    }
    for (row, name) in board.rows.iter().enumerate() {
        let (name, rest) = name.split_once(' ').unwrap_or((name, ""));
        page.scene.bold((MARGIN, y_of(row) - 6.0), name, Ink::Text, TEXT + 2.0);
        page.text((MARGIN, y_of(row) + 12.0), rest.trim(), Ink::Soft, TEXT);
    }
    page.y = y_of(board.rows.len()) - 22.0;
}

/// Returns two lines next to a figure in units of `factor`: its details; its interval with the last
/// of them, the backend.
pub fn details(cell: &BoardCell, factor: f64) -> (String, String) {
    let (backend, first) = cell.details.split_last().map_or(("", &[][..]), |(a, b)| (a, b));
    let spread = cell.figure.describe_spread(factor);
    (first.join(", "), format!("{spread} {backend}").trim_end().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{BoardColumn, GlanceFigure};
    use crate::report::card::page::WRONG;
    use crate::report::picture::scene::Shape;
    use crate::stats::Summary;

    #[test]
    fn a_wrong_figure_is_faint() {
        for wrong in [false, true] {
            let summary = Summary::from_values(&[1e6; 7]).unwrap();
            let figure =
                GlanceFigure { summary, trials: 7, reported: false, wrong, misleading: false };
            let cell = BoardCell {
                result: Some(0),
                figure,
                details: vec!["uring".into()],
                hue: Some(3),
                caveat: String::new(),
            };
            let columns = vec![BoardColumn {
                title: "read".into(),
                units: &[(1e6, "MB/s")],
                intervals: true,
                cells: vec![Some(cell)],
            }];
            let rows = vec!["SEQ1M   Q1T1".to_string()];
            let board = Board { rows, columns, large: true, ..Board::default() };
            let mut page = CardPage::new(&Default::default());
            draw_board(&mut page, &board, Rates::default());
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
