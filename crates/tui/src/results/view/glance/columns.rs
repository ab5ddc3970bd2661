//! The columns: large digits, and below them a bar for each backend.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::analysis::{Glance, GlanceColumn, GlanceFigure, align_figures};
use crate::keymap::{Action, key_of};
use crate::plot::{Bar, Bars};
use crate::record::Severity;
use crate::results::data::Data;
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::units::{self, Precision};
use crate::view::digits::{self, LargeFigure};
use crate::view::{findings, pane};
use crate::vocabulary::APPROXIMATE;

/// Minimum width of a column: digits, unit and interval.
const MIN_WIDTH: u16 = 24;
/// Minimum width for digits of double size, and for bars with their interval and cell.
const WIDE: u16 = 46;
const MAX_NAME: usize = 24;
/// Minimum width of the figure before a bar.
const FIGURE: u16 = 5;
/// Columns of the marker before a figure, and of the word behind a bar.
const MARKER: u16 = 2;
const MARK: u16 = 4;
/// Maximum width of the name of a bar's cell, `256 KiB`; longer names are left out.
const MAX_SIZE: usize = 8;
/// Rows above the bars, in addition to the digits.
const TITLE: u16 = 1;
const CAPTION: u16 = 1;

/// Returns how many columns fit, their left edge behind the names, and their width.
fn places(glance: &Glance, width: u16) -> (u16, u16, usize) {
    let names = glance.rows.iter().map(|row| pane::width(&row.name)).max().unwrap_or(0);
    let names = (names.min(MAX_NAME) as u16 + 2).min(width / 3);
    let fit = ((width - names) / MIN_WIDTH).clamp(1, 4);
    let count = glance.columns.len().clamp(1, usize::from(fit));
    (names, (width - names) / count as u16, count)
}

/// Returns the rows that are needed, and that are used at most.
pub fn heights(look: &Look, glance: &Glance, width: u16) -> (u16, u16) {
    let rows = glance.rows.len().clamp(1, 1000) as u16;
    let (_, width, count) = places(glance, width);
    let least = TITLE + digits::ROWS + CAPTION + rows.min(5);
    let others = u16::from(glance.columns.len() > count);
    (least, TITLE + digit_scale(look, glance, width) * digits::ROWS + CAPTION + 1 + rows + others)
}

fn digit_scale(look: &Look, glance: &Glance, width: u16) -> u16 {
    let mut bars = glance.columns.iter().filter_map(GlanceColumn::best_bar);
    let has_digits = bars.any(|bar| bar.figure.suits_large());
    if has_digits && width >= WIDE && !look.has_plain_bars() { 2 } else { 1 }
}

/// The use of the rows of an area.
struct RowPlan {
    digit_scale: u16,
    /// Empty rows above the bars.
    gap: u16,
    /// Rows of the glance that are shown.
    rows: Vec<usize>,
    /// Number of rows that are not shown.
    more: usize,
    /// Whether the last row names the columns without room.
    has_others: bool,
}

fn plan_rows(look: &Look, glance: &Glance, width: u16, count: usize, height: u16) -> RowPlan {
    let all = glance.rows.len().max(1) as u16;
    let has_others = glance.columns.len() > count;
    let rest = |scale: u16| {
        height.saturating_sub(TITLE + scale * digits::ROWS + CAPTION + u16::from(has_others))
    };
    let largest = digit_scale(look, glance, width);
    let digit_scale = if rest(largest) > all { largest } else { 1 };
    let gap = u16::from(rest(digit_scale) > all);
    let room = rest(digit_scale) - gap;
    let shown = if all > room { room.saturating_sub(1) } else { all };
    let rows = top_rows(glance, usize::from(shown));
    let more = glance.rows.len() - rows.len();
    RowPlan { digit_scale, gap, rows, more, has_others }
}

/// Returns the rows with the highest figures of any column, in the order of the plan.
fn top_rows(glance: &Glance, most: usize) -> Vec<usize> {
    let median = |column: &GlanceColumn, row: usize| {
        column.bars.get(row).and_then(Option::as_ref).map_or(0.0, |bar| bar.figure.summary.median)
    };
    let share = |row: usize| {
        let of = |column: &GlanceColumn| {
            let best = column.best_bar().map_or(0.0, |bar| bar.figure.summary.median);
            if best > 0.0 { median(column, row) / best } else { 0.0 }
        };
        glance.columns.iter().map(of).fold(0.0, f64::max)
    };
    let mut rows: Vec<usize> = (0..glance.rows.len()).collect();
    rows.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
    rows.truncate(most);
    rows.sort_unstable();
    rows
}

pub fn draw(look: &Look, data: &Data, area: Rect, buf: &mut Buffer) {
    let glance = &data.view.glance;
    if area.is_empty() {
        return;
    }
    let (names, width, count) = places(glance, area.width);
    let plan = plan_rows(look, glance, width, count, area.height);
    let first = area.y + TITLE + plan.digit_scale * digits::ROWS + CAPTION + plan.gap;
    let rows: Vec<(usize, u16)> = plan.rows.iter().copied().zip(first..).collect();
    if glance.rows.len() > 1 || count > 1 {
        draw_names(look, data, &rows, Rect { width: names, ..area }, buf);
    }
    for (at, column) in glance.columns.iter().take(count).enumerate() {
        let left = area.x + names + at as u16 * width;
        let place = Rect { x: left, width: width.saturating_sub(2), ..area };
        draw_head(look, data, column, plan.digit_scale, place, buf);
        draw_bars(look, data, column, &rows, place, buf);
    }
    let mut below = first - area.y + rows.len() as u16;
    if plan.more > 0 {
        let key = key_of(Action::Table, Screen::Results);
        let text = format!("and {} more: {key} lists them", plan.more);
        pane::line(look.line(Role::Dim, text), below, area, buf);
        below += 1;
    }
    if plan.has_others {
        let text = format!("also: {}", describe_others(look, data, count));
        let text = pane::fit(&text, usize::from(area.width));
        pane::line(look.line(Role::Dim, text), below, area, buf);
    }
}

/// Describes the columns without room.
fn describe_others(look: &Look, data: &Data, count: usize) -> String {
    let glance = &data.view.glance;
    let describe = |column: &GlanceColumn| {
        let bar = column.best_bar()?;
        let (factor, unit) = column.unit(look.unit);
        let figure = bar.figure.number(factor);
        Some(format!("{} {figure} {unit} {}", column.title(), bar.figure.describe_certainty()))
    };
    glance.columns.iter().skip(count).filter_map(describe).collect::<Vec<_>>().join(", ")
}

/// Draws the names of the rows with their markers.
fn draw_names(look: &Look, data: &Data, rows: &[(usize, u16)], area: Rect, buf: &mut Buffer) {
    let glance = &data.view.glance;
    for (row, y) in rows {
        let Some(name) = glance.rows.get(*row).map(|row| &row.name) else { continue };
        let place = Rect { y: *y, height: 1, ..area }.intersection(area);
        let text = pane::fit(name, usize::from(area.width.saturating_sub(2)));
        let style = hue(look, data, *row);
        Line::styled(text, style).render(place, buf);
    }
}

/// Returns the hue of the backend of a row.
fn hue(look: &Look, data: &Data, row: usize) -> Style {
    let bars = data.view.glance.columns.iter().filter_map(|column| column.bars.get(row)?.as_ref());
    let sign = bars.map(|bar| bar.result).next().and_then(|result| data.signs.get(result));
    sign.map_or(look.style(Role::Text), |sign| look.series(sign.hue()))
}

/// Draws title, digits with unit and interval, and a caption.
fn draw_head(
    look: &Look,
    data: &Data,
    column: &GlanceColumn,
    scale: u16,
    area: Rect,
    buf: &mut Buffer,
) {
    let Some(bar) = column.best_bar() else { return };
    let (factor, unit) = column.unit(look.unit);
    let number = bar.figure.number(factor);
    let state = Some(column.state()).filter(|_| pane::width(&column.title()) <= area.width.into());
    let title = Line::from(vec![
        look.span(Role::Dim, format!("{} ", column.access.name())),
        look.span(Role::Title, column.place.clone()),
        look.span(Role::Dim, state.unwrap_or_default()),
    ]);
    pane::line(title, 0, area, buf);
    let place = Rect { y: area.y + TITLE, height: area.height - TITLE.min(area.height), ..area };
    let rows = scale * digits::ROWS;
    let top = Rect { height: rows.min(place.height), ..place };
    let (range, figure) = (bar.figure.describe_range(factor), Some(&bar.figure));
    let head = LargeFigure { number: &number, unit, figure, range: &range, role: Role::Number };
    head.draw(look, scale, top, buf);
    let caption = caption(data, column, usize::from(area.width));
    pane::line(look.line(Role::Text, caption), TITLE + rows, area, buf);
}

/// Returns the cell of the large digits and the number of ties, shorter in a narrow column.
fn caption(data: &Data, column: &GlanceColumn, width: usize) -> String {
    let join = |tied: String| {
        let parts = [data.view.glance.caption(column), tied];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let [long, short] = describe_tied(column).map(join);
    let caption = if pane::width(&long) > width { short } else { long };
    pane::fit_words(&caption, width)
}

/// Draws figure, bar and mark of each row.
fn draw_bars(
    look: &Look,
    data: &Data,
    column: &GlanceColumn,
    rows: &[(usize, u16)],
    area: Rect,
    buf: &mut Buffer,
) {
    let bar_of = |row: usize| column.bars.get(row).and_then(Option::as_ref);
    let values: Vec<Option<f64>> =
        rows.iter().map(|(row, _)| Some(bar_of(*row)?.figure.summary.median)).collect();
    let (factor, _) = column.unit(look.unit);
    let figures = rows.iter().map(|(row, _)| Some(&bar_of(*row)?.figure));
    let texts = align_figures(figures, factor);
    let max = values.iter().flatten().copied().fold(0.0, f64::max);
    let marks: Vec<(String, Style)> =
        rows.iter().map(|(row, _)| mark(look, column, *row)).collect();
    let widths = BarWidths::new(column, &texts, &marks, area.width);
    for (((row, y), text), (mark, style)) in rows.iter().zip(&texts).zip(marks) {
        let place = Rect { y: *y, height: 1, ..area }.intersection(area);
        let Some(bar) = bar_of(*row) else {
            pane::line(look.line(Role::Dim, format!("  {text}")), 0, place, buf);
            continue;
        };
        let best = *row == column.best && count_tied(column) < 2;
        let rough = bar.figure.precision() == Precision::Rough;
        let role = if best { Role::Number } else { Role::Text };
        let role = if rough { Role::Dim } else { role };
        let colour = hue(look, data, *row);
        let marker = data.signs.get(bar.result).map_or(' ', |sign| look.marker(*sign));
        let [left, middle, right] = widths.split(place);
        let mut line = Line::from(vec![
            Span::styled(format!("{marker} "), colour),
            look.span(role, text.clone()),
        ]);
        if widths.size > 0 {
            line.push_span(look.span(Role::Dim, pane::pad_front(&bar.at, widths.size)));
        }
        pane::line(line, 0, left, buf);
        let bars = [Bar::new("", bar.figure.summary.median, colour, "")];
        Bars::new(look, &bars).max(max).render(middle, buf);
        let mut line = Line::default();
        if widths.interval > 0 {
            let interval = pane::pad(&bar.figure.describe_interval(), widths.interval);
            line.push_span(look.span(Role::Dim, interval));
        }
        if widths.sign > 0 {
            let (role, sign) = match is_misread(&bar.figure) {
                true => findings::severity(look, Severity::Misleading),
                false => (Role::Dim, " "),
            };
            line.push_span(look.span(role, pane::pad(sign, widths.sign)));
        }
        line.push_span(Span::styled(mark, style));
        line.render(right, buf);
    }
}

/// The widths of the texts around the bars of a column, each with its gap; 0 without room.
struct BarWidths {
    /// Marker, figure and cell.
    left: u16,
    size: usize,
    interval: usize,
    /// The sign of a figure that is easily misread.
    sign: usize,
    /// Interval, sign and mark.
    right: u16,
}

impl BarWidths {
    fn new(
        column: &GlanceColumn,
        texts: &[String],
        marks: &[(String, Style)],
        width: u16,
    ) -> BarWidths {
        let bars = || column.bars.iter().flatten();
        let figure = texts.iter().map(|text| pane::width(text)).max().unwrap_or(0) as u16;
        let mark = marks.iter().map(|(text, _)| pane::width(text)).max().unwrap_or(0) as u16;
        let (mut size, mut interval) = (0, 0);
        if width + 2 >= WIDE {
            size = bars().map(|bar| pane::width(&bar.at)).max().unwrap_or(0);
            size = if (1..=MAX_SIZE).contains(&size) { size + 1 } else { 0 };
            interval =
                bars().map(|bar| pane::width(&bar.figure.describe_interval())).max().unwrap_or(0);
            interval += 1;
        }
        // The same minimum for all columns, so that their bars are equally long.
        let left = MARKER + figure.max(FIGURE) + size as u16;
        let sign = if bars().any(|bar| is_misread(&bar.figure)) { 2 } else { 0 };
        let right = (interval + sign) as u16 + mark.max(MARK);
        BarWidths { left, size, interval, sign, right }
    }

    fn split(&self, row: Rect) -> [Rect; 3] {
        let widths =
            [Constraint::Length(self.left), Constraint::Min(0), Constraint::Length(self.right)];
        Layout::horizontal(widths).spacing(1).areas(row)
    }
}

/// Returns whether a figure has a sign; a wrong one has a word behind it.
fn is_misread(figure: &GlanceFigure) -> bool {
    figure.severity() == Some(Severity::Misleading)
}

/// Returns the number of bars that do not differ from the best, including it; 0 while a bar has no
/// interval.
fn count_tied(column: &GlanceColumn) -> usize {
    let bars = || column.bars.iter().flatten();
    if bars().all(|bar| bar.figure.is_certain()) {
        bars().filter(|bar| bar.no_difference).count()
    } else {
        0
    }
}

/// Returns `tied with 2 others` and `tied with 2` if other bars do not differ from the best.
fn describe_tied(column: &GlanceColumn) -> [String; 2] {
    match count_tied(column) {
        0 | 1 => Default::default(),
        count => {
            let others = count - 1;
            [units::counted(others, "other"), others.to_string()].map(|n| format!("tied with {n}"))
        }
    }
}

/// Returns the mark of a row: best, no different from the best, or with too few trials while other
/// rows have enough.
fn mark(look: &Look, column: &GlanceColumn, row: usize) -> (String, Style) {
    let Some(bar) = column.bars.get(row).and_then(Option::as_ref) else {
        return (String::new(), Style::new());
    };
    if bar.figure.wrong {
        let (role, sign) = findings::severity(look, Severity::Wrong);
        return (format!("{sign} wrong"), look.style(role));
    }
    if !bar.figure.is_firm() && column.bars.iter().flatten().any(|bar| bar.figure.is_firm()) {
        return (APPROXIMATE.on(look).into(), look.style(Role::Dim));
    }
    match (row == column.best, count_tied(column)) {
        (true, 1) if column.bars.iter().flatten().count() > 1 => {
            ("best".into(), look.style(Role::Good))
        }
        (_, 2..) if bar.no_difference => ("tied".into(), look.style(Role::Text)),
        _ => (String::new(), Style::new()),
    }
}
