//! A session at a glance as text, to be pasted where letters have one width.

use crate::analysis::{Board, Glance, align_figures};
use crate::record::Severity;
use crate::report::Look;
use crate::report::text::{clean, pad_right, show_with, width, wrap};
use crate::units::Rates;

/// Columns of the longest bar, and of the shortest that is worth drawing.
const BAR: usize = 20;
const MIN_BAR: usize = 8;

/// Returns the glance of a session in lines of the look's width.
pub fn glance_text(glance: &Glance, look: &Look) -> String {
    let mut lines = Vec::new();
    let head = [glance.conditions.place().join(", "), glance.conditions.machine().join(", ")];
    lines.extend(
        head.iter().filter(|line| !line.is_empty()).flat_map(|line| wrap(line, look.width)),
    );
    lines.push(String::new());
    if let Some(table) = glance.table() {
        lines.extend(board_lines(table, look));
    } else if !glance.columns.is_empty() {
        lines.extend(column_lines(glance, look.unit));
    } else {
        lines.extend(probe_lines(&glance.probes));
    }
    lines.push(String::new());
    let headline = glance.headline.iter().filter(|_| glance.table().is_some_and(|of| !of.large));
    let below = headline.chain(&glance.facts).chain([&glance.origin.text, &glance.trust.text]);
    for said in below.filter(|text| !text.is_empty()) {
        let parts = wrap(said, look.width.saturating_sub(2));
        lines.extend(parts.iter().enumerate().map(|(at, part)| match at {
            0 => format!("- {part}"),
            _ => format!("  {part}"),
        }));
    }
    let text: String = lines.iter().map(|line| clean(line.trim_end()) + "\n").collect();
    show_with(&text, look)
}

fn bar(value: f64, max: f64, length: usize) -> String {
    let share = if max > 0.0 { (value / max).clamp(0.0, 1.0) } else { 0.0 };
    "█".repeat(((share * length as f64).round() as usize).max(1))
}

/// Returns a line for each column, then the bars of each.
fn column_lines(glance: &Glance, rates: Rates) -> Vec<String> {
    let titles = glance.columns.iter().map(|column| width(&column.title())).max().unwrap_or(0);
    let mut lines = Vec::new();
    for column in &glance.columns {
        let (Some(best), (factor, unit)) = (column.best_bar(), column.unit(rates)) else {
            continue;
        };
        let figure = format!("{} {unit}", best.figure.number(factor));
        let at = glance.caption(column);
        let interval = best.figure.describe_certainty();
        lines.push(format!(
            "{}  {figure:>11} {interval:<8}  {at}",
            pad_right(&column.title(), titles)
        ));
    }
    let names = glance.rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
    for column in glance.columns.iter().filter(|_| glance.rows.len() > 1) {
        let (factor, unit) = column.unit(rates);
        lines.push(String::new());
        lines.push(format!("{}, {unit}", column.title()));
        let figures = column.bars.iter().map(|bar| Some(&bar.as_ref()?.figure));
        let texts = align_figures(figures, factor);
        let rows = glance.rows.iter().zip(texts).zip(&column.bars);
        lines.extend(rows.filter_map(|((row, text), own)| {
            let figure = own.as_ref()?.figure;
            let bar = pad_right(&bar(figure.summary.median, column.highest(), BAR), BAR);
            let (name, interval) = (pad_right(&row.name, names), figure.describe_certainty());
            Some(format!("{name}  {text}  {bar}  {interval}"))
        }));
    }
    lines
}

/// Returns the rows of a board, each column with its unit; a single rate has bars at the end.
pub fn board_lines(board: &Board, look: &Look) -> Vec<String> {
    let names: Vec<String> = [board.axis]
        .into_iter()
        .chain(board.rows.iter().map(String::as_str))
        .map(Into::into)
        .collect();
    let columns = (0..board.columns.len()).map(|column| column_texts(board, column, look.unit));
    let mut lines = vec![String::new(); names.len()];
    for texts in std::iter::once(names).chain(columns) {
        let wide = texts.iter().map(|text| width(text)).max().unwrap_or(0) + 3;
        for (line, text) in lines.iter_mut().zip(texts) {
            line.push_str(&pad_right(&text, wide));
        }
    }
    for (row, line) in lines.iter_mut().skip(1).enumerate() {
        let is_lead = board.lead == Some(row);
        *line = format!("{} {}", if is_lead { ">" } else { " " }, line.trim_end());
    }
    if let Some(head) = lines.first_mut() {
        *head = format!("  {}", head.trim_end());
    }
    let longest = lines.iter().map(|line| width(line)).max().unwrap_or(0) + 2;
    let room = look.width.saturating_sub(longest).min(BAR);
    let mut rates = board.columns.iter().filter(|column| column.is_rate());
    if let (Some(column), None, MIN_BAR..) = (rates.next(), rates.next(), room) {
        for (line, cell) in lines.iter_mut().skip(1).zip(&column.cells) {
            let Some(cell) = cell else { continue };
            let bar = bar(cell.figure.summary.median, column.highest(), room);
            *line = pad_right(line, longest) + &bar;
        }
    }
    lines
}

/// Returns title with unit, then each figure with its interval; `!` marks one that is easily
/// misread.
fn column_texts(board: &Board, at: usize, rates: Rates) -> Vec<String> {
    let column = &board.columns[at];
    let (title, texts) = column.texts(rates);
    let cell = |(row, text): (usize, String)| {
        let cell = column.cells.get(row).and_then(Option::as_ref);
        let mark = if board.mark(row, at) == Some(Severity::Misleading) { "!" } else { "" };
        // The last detail is the backend.
        let more = cell.and_then(|cell| cell.details.split_last()?.1.first());
        let certainty = column.describe_certainty(row);
        let parts = [text.as_str(), &certainty, mark, more.map_or("", String::as_str)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let cells = texts.into_iter().enumerate().map(cell);
    std::iter::once(title).chain(cells).collect()
}

fn probe_lines(probes: &[(String, String, String)]) -> Vec<String> {
    let labels = probes.iter().map(|(label, ..)| width(label)).max().unwrap_or(0);
    let figures = probes.iter().map(|(_, figure, _)| width(figure)).max().unwrap_or(0);
    let line = |(label, figure, interval): &(String, String, String)| {
        let indent = " ".repeat(figures.saturating_sub(width(figure)));
        format!("{}  {indent}{figure}  {interval}", pad_right(label, labels))
    };
    probes.iter().map(line).collect()
}
