//! The columns: large digits, and below them a bar for each backend.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::digits;
use crate::analysis::{Glance, GlanceBar, GlanceColumn};
use crate::keymap::{Action, key_of};
use crate::plot::{Bar, Bars};
use crate::record::Severity;
use crate::results::data::Data;
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::units::{self, column};
use crate::view::{findings, pane};
use crate::vocabulary::APPROXIMATE;

/// Columns of a column at least: digits, unit and interval.
const MIN_WIDTH: u16 = 24;
/// From this width on digits may be twice as large, and bars have their intervals.
const WIDE: u16 = 46;
const MAX_NAME: usize = 24;
/// Columns of a figure beside its bar.
const FIGURE: u16 = 5;
/// Columns of the marker before it, and of the word behind the bar.
const MARKER: u16 = 2;
const MARK: u16 = 4;
/// From this width on bars say of which cell they are.
const WIDE_FOR_SIZES: u16 = 52;
/// Columns of what they say: `256 KiB`; longer texts are left out.
const MAX_SIZE: usize = 8;
/// Rows above the bars beside the digits: title, caption, and a gap where there is room.
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
///
/// A chart below needs the room between bars.
pub fn heights(look: &Look, glance: &Glance, body: Rect, chart: bool) -> (u16, u16) {
    let rows = glance.rows.len().clamp(1, 1000) as u16;
    let (_, width, count) = places(glance, body.width);
    let also = u16::from(glance.columns.len() > count);
    let least = TITLE + digits::ROWS + CAPTION + rows.min(5);
    let large = if is_large(look, width, body.height) { 2 } else { 1 } * digits::ROWS;
    let spacious = if chart { 44 } else { 30 };
    let step = if body.height >= spacious && rows <= 6 { 2 } else { 1 };
    (least, TITLE + large + CAPTION + 2 + rows * step + also * 2)
}

fn is_large(look: &Look, width: u16, height: u16) -> bool {
    width >= WIDE && height >= 30 && !look.has_plain_bars()
}

/// How the area is used.
struct Layout {
    /// Size of the digits.
    scale: u16,
    gap: u16,
    /// Rows from one bar to the next.
    step: u16,
    /// Rows of the glance that are shown.
    rows: Vec<usize>,
    /// Rows that are not.
    more: usize,
    /// Below the bars: the columns without room.
    also: bool,
}

fn layout(look: &Look, glance: &Glance, width: u16, count: usize, area: Rect) -> Layout {
    let all = glance.rows.len().max(1) as u16;
    let rest = |digits: u16| area.height.saturating_sub(TITLE + CAPTION + digits);
    let also = glance.columns.len() > count && rest(digits::ROWS) > all;
    let need = |step: u16| all * step - (step - 1) + 1 + 2 * u16::from(also);
    let is_large = is_large(look, width, 30) && rest(2 * digits::ROWS) >= need(1);
    let scale = if is_large { 2 } else { 1 };
    let digits = scale * digits::ROWS;
    let step = if all > 1 && rest(digits) >= need(2) { 2 } else { 1 };
    let gap = u16::from(rest(digits) > all * step - (step - 1) + 2 * u16::from(also));
    let room = rest(digits).saturating_sub(gap + 2 * u16::from(also)).div_ceil(step);
    let hidden = all > room;
    let shown = if hidden { room.saturating_sub(1) } else { room };
    let rows = top_rows(glance, usize::from(shown));
    let more = glance.rows.len() - rows.len();
    Layout { scale, gap, step, more, rows, also }
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
    let layout = layout(look, glance, width, count, area);
    let digits = layout.scale * digits::ROWS;
    let first = area.y + TITLE + digits + CAPTION + layout.gap;
    let rows: Vec<(usize, u16)> = layout
        .rows
        .iter()
        .enumerate()
        .map(|(at, row)| (*row, first + at as u16 * layout.step))
        .collect();
    if glance.rows.len() > 1 || count > 1 {
        draw_names(look, data, &rows, Rect { width: names, ..area }, buf);
    }
    for (at, column) in glance.columns.iter().take(count).enumerate() {
        let left = area.x + names + at as u16 * width;
        let place = Rect { x: left, width: width.saturating_sub(2), ..area };
        draw_head(look, data, column, layout.scale, place, buf);
        draw_bars(look, data, column, &rows, place, buf);
    }
    let below = rows.last().map_or(first, |(_, y)| y + 1).saturating_sub(area.y);
    if layout.more > 0 {
        let key = key_of(Action::Table, Screen::Results);
        let text = format!("and {} more: {key} lists them", layout.more);
        pane::line(look.line(Role::Dim, text), below, area, buf);
    }
    if layout.also {
        let text = format!("also: {}", describe_others(look, data, count));
        let text = pane::fit(&text, usize::from(area.width));
        let row = below + 1 + u16::from(layout.more > 0);
        pane::line(look.line(Role::Dim, text), row, area, buf);
    }
}

/// Returns the figures of the columns without room.
fn describe_others(look: &Look, data: &Data, count: usize) -> String {
    let glance = &data.view.glance;
    let describe = |column: &GlanceColumn| {
        let bar = column.best_bar()?;
        let (factor, unit) = column.unit(look.unit);
        let figure = column::figure(bar.figure.summary.median / factor);
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

/// Draws title, digits with unit and interval, and what they are of.
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
    let number = column::figure(bar.figure.summary.median / factor);
    let state = Some(column.state()).filter(|_| pane::width(&column.title()) <= area.width.into());
    let title = Line::from(vec![
        look.span(Role::Dim, format!("{} ", column.access.name())),
        look.span(Role::Title, column.place.clone()),
        look.span(Role::Dim, state.unwrap_or_default()),
    ]);
    pane::line(title, 0, area, buf);
    let certain = bar.figure.is_certain() || bar.figure.reported;
    let style = match (bar.figure.wrong, certain) {
        (true, _) => look.style(Role::Wrong),
        (false, true) => look.style(Role::Number),
        (false, false) => look.style(Role::Text),
    };
    let interval = bar.figure.describe_certainty();
    let place = Rect { y: area.y + TITLE, height: area.height - TITLE.min(area.height), ..area };
    let rows = scale * digits::ROWS;
    let top = Rect { height: rows.min(place.height), ..place };
    digits::draw(look, &number, scale, style, top, buf);
    let digits = digits::width(look, &number, scale);
    // A narrow column gives up a part of the gaps on both sides.
    let beside = pane::width(unit).max(pane::width(&interval)) as u16;
    let gap = if digits + 2 + beside <= place.width { 2 } else { 1 };
    let side = Rect {
        x: place.x + digits + gap,
        width: (place.width + 2 - gap).saturating_sub(digits + gap),
        ..place
    };
    if !certain {
        pane::line(look.line(Role::Dim, "about"), rows - 3, side, buf);
    }
    pane::line(look.line(Role::Text, unit), rows - 2, side, buf);
    pane::line(look.line(Role::Dim, interval), rows - 1, side, buf);
    let caption = caption(data, column, usize::from(area.width));
    pane::line(look.line(Role::Text, caption), TITLE + rows, area, buf);
}

/// Returns which cell the large digits are of, and how many do not differ from it, shorter where
/// the column is narrow.
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
    let texts = column::align(&values, factor);
    // One width for all columns, so that their bars have one length.
    let figures = FIGURE.max(texts.iter().map(|text| pane::width(text)).max().unwrap_or(0) as u16);
    let max = values.iter().flatten().copied().fold(0.0, f64::max);
    let marks = rows.iter().map(|(row, _)| mark(look, column, *row)).collect::<Vec<_>>();
    let wide = area.width + 2 >= WIDE;
    let widest = marks.iter().map(|(text, _)| pane::width(text) as u16).max().unwrap_or(0);
    let mark_width = if rows.len() > 1 { widest.max(MARK) } else { widest };
    let intervals = column.bars.iter().flatten().map(|bar| bar.figure.describe_interval());
    let interval_width = intervals.map(|text| pane::width(&text) as u16).max().unwrap_or(0);
    let side = if wide { interval_width + 1 + mark_width } else { mark_width };
    let sizes = sizes_width(column, area.width);
    for (((row, y), text), (mark, style)) in rows.iter().zip(&texts).zip(marks) {
        let place = Rect { y: *y, height: 1, ..area }.intersection(area);
        let Some(bar) = bar_of(*row) else {
            let text = format!("  {text}");
            pane::line(look.line(Role::Dim, text), 0, place, buf);
            continue;
        };
        let best = *row == column.best && count_tied(column) < 2;
        let role = if best { Role::Number } else { Role::Text };
        let colour = hue(look, data, *row);
        let marker = data.signs.get(bar.result).map_or(' ', |sign| look.marker(*sign));
        let line = Line::from(vec![
            Span::styled(format!("{marker} "), colour),
            look.span(role, text.clone()),
            look.span(Role::Dim, at(bar, sizes)),
        ]);
        pane::line(line, 0, place, buf);
        let left = place.x + MARKER + figures + 1 + sizes;
        let room = place.right().saturating_sub(left + side + 1);
        let value = bar.figure.summary.median;
        let bars = [Bar::new("", value, colour, "")];
        Bars::new(look, &bars).max(max).render(Rect { x: left, width: room, ..place }, buf);
        let beside = Rect { x: left + room + 1, width: side, ..place }.intersection(place);
        let interval =
            format!("{:<1$} ", bar.figure.describe_interval(), usize::from(interval_width));
        let interval = wide.then(|| look.span(Role::Dim, interval));
        let spans: Vec<Span> = interval.into_iter().chain([Span::styled(mark, style)]).collect();
        Line::from(spans).render(beside, buf);
    }
}

/// Returns the columns for what each bar is of, with a gap; 0 where there is no room for it.
fn sizes_width(column: &GlanceColumn, width: u16) -> u16 {
    let widest = column.bars.iter().flatten().map(|bar| pane::width(&bar.at)).max().unwrap_or(0);
    let fits = width + 2 >= WIDE_FOR_SIZES && (1..=MAX_SIZE).contains(&widest);
    if fits { widest as u16 + 1 } else { 0 }
}

/// Returns what a bar is of, in so many columns behind its figure.
fn at(bar: &GlanceBar, columns: u16) -> String {
    if columns == 0 { String::new() } else { format!(" {:>1$}", bar.at, usize::from(columns) - 1) }
}

/// Returns how many bars do not differ from the best, which is one of them; 0 as long as a bar has
/// no interval.
fn count_tied(column: &GlanceColumn) -> usize {
    let bars = || column.bars.iter().flatten();
    if bars().all(|bar| bar.figure.is_certain()) {
        bars().filter(|bar| bar.no_difference).count()
    } else {
        0
    }
}

/// Returns `tied with 2 others` and `tied with 2` where the best is not alone.
fn describe_tied(column: &GlanceColumn) -> [String; 2] {
    match count_tied(column) {
        0 | 1 => Default::default(),
        count => {
            let others = count - 1;
            [units::counted(others, "other"), others.to_string()].map(|n| format!("tied with {n}"))
        }
    }
}

/// Returns what is to be said of a row: the best, one that does not differ from it, or one of too
/// few trials beside others of enough.
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
