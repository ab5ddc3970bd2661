//! The table: a row per cell, sorted by any column; only visible rows are drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use ratatui::widgets::Widget;

use super::{ResultsScene, frame};
use crate::report::{self, table::grid};
use crate::results::data::Data;
use crate::results::sheet::{Column, ColumnLook, GAP};
use crate::theme::{Look, Role};
use crate::units::counted;
use crate::view::list::List;
use crate::view::{Hits, Part, Target, findings, pane};
use crate::vocabulary::APPROXIMATE;

/// Rows above the list: titles and units.
const HEAD_ROWS: u16 = 2;

/// Returns the columns that fit.
pub fn visible_columns(data: &Data, body: Rect) -> Vec<usize> {
    data.sheet.fit(usize::from(body.width.saturating_sub(4)))
}

/// Returns the visible columns with their left edges.
fn column_places(data: &Data, body: Rect) -> Vec<(usize, u16)> {
    let mut at = pane::inside(body).x + 1;
    let place = |index: usize| {
        let left = at;
        at += (data.sheet.columns[index].width + GAP) as u16;
        (index, left)
    };
    visible_columns(data, body).into_iter().map(place).collect()
}

/// Divides the body into the rows and the side table below, if there is room for both.
fn split(data: &Data, body: Rect) -> (Rect, Rect) {
    let inner = pane::inside(body);
    let list = Rect::new(
        inner.x,
        inner.y + HEAD_ROWS.min(inner.height),
        inner.width,
        inner.height.saturating_sub(HEAD_ROWS),
    );
    let available = list.height.saturating_sub(MIN_ROWS);
    let wanted = side_table(data, usize::from(inner.width.saturating_sub(2)))
        .map_or(0, |(_, lines)| lines.len() as u16 + 1);
    let below = if wanted <= available { wanted } else { 0 };
    let above = Rect { height: list.height - below, ..list };
    (above, Rect { y: above.bottom(), height: below, ..list })
}

/// Minimum number of visible rows above the side table.
const MIN_ROWS: u16 = 5;

/// Returns the table below the rows: the cache-drop levels, or how to use the counts.
fn side_table(data: &Data, width: usize) -> Option<(&str, Vec<String>)> {
    let extra = data.extras.iter().find(|extra| matches!(extra.id, "levels" | "counts"))?;
    let lines = match extra.id {
        "counts" => pane::wrap(&extra.text, width),
        _ => grid::format_lines(
            &grid::fit(extra.columns.clone(), width),
            &[],
            &report::Look { width, ..report::Look::default() },
        ),
    };
    Some((extra.title, lines))
}

fn draw_extra(look: &Look, data: &Data, area: Rect, buf: &mut Buffer) {
    let Some((title, lines)) =
        side_table(data, usize::from(area.width.saturating_sub(2))).filter(|_| area.height > 1)
    else {
        return;
    };
    let head = Rect { height: 1, ..area };
    pane::divider(look, head, buf);
    pane::draw_text(look, title, Role::Title, head, 1, buf);
    for (row, text) in lines.into_iter().enumerate() {
        let role = if row < 2 && data.extras.iter().any(|extra| extra.id == "levels") {
            Role::Dim
        } else {
            Role::Text
        };
        let place =
            Rect::new(area.x + 1, area.y + 1, area.width.saturating_sub(2), area.height - 1);
        pane::line(look.line(role, text), row as u16, place, buf);
    }
}

pub fn draw(scene: ResultsScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let ResultsScene { look, results, data } = scene;
    let inner = frame::frame(scene, area, buf, hits);
    let (places, (list, under)) = (column_places(data, area), split(data, area));
    for (index, left) in &places {
        let column = &data.sheet.columns[*index];
        let sorted =
            results.table.sort.filter(|(column, _)| column == index).map(|(_, reversed)| reversed);
        draw_title(look, column, sorted, *left, inner, buf);
        let head = Rect::new(left - 1, inner.y, column.width as u16 + 2, HEAD_ROWS);
        hits.area(head.intersection(inner), Target::Title(*index));
    }
    let list = List::around(results.table.cursor, results.table.rows.len(), list);
    hits.list(Part::Table, list);
    for (at, place) in list.rows() {
        draw_row(look, data, &places, results.table.rows[at], place, buf);
        if at == results.table.cursor {
            frame::select(look, place, buf);
        }
    }
    pane::scrollbar(look, list.first, list.count, list.area, buf);
    if list.count == 0 {
        let text = if data.sheet.order.is_empty() {
            data.view.describe_nothing()
        } else {
            "no cell matches the filter".into()
        };
        let text = look.line(Role::Dim, pane::fit(&text, list.area.width.into()));
        pane::line(text.centered(), list.area.height / 2, list.area, buf);
    }
    draw_extra(look, data, under, buf);
    draw_counts(scene, area, buf);
}

fn draw_title(
    look: &Look,
    column: &Column,
    sorted: Option<bool>,
    left: u16,
    inner: Rect,
    buf: &mut Buffer,
) {
    let arrow = match sorted {
        // Without the space, the letter would look like part of the title.
        Some(true) => look.glyph("↓", " v"),
        Some(false) => look.glyph("↑", " ^"),
        None => "",
    };
    let style = look.style(if sorted.is_some() { Role::Focus } else { Role::Text });
    let text = format!("{}{arrow}", column.title);
    for (row, text, style) in
        [(0, text.as_str(), style), (1, column.unit.as_str(), look.style(Role::Dim))]
    {
        // The arrow goes into the gap if the title fills its column.
        let width = pane::width(text) as u16;
        let wide = column.width as u16;
        let start = if column.right {
            (left + wide + u16::from(row == 0 && !arrow.is_empty())).saturating_sub(width)
        } else {
            left
        };
        let place = Rect::new(start, inner.y + row, width, u16::from(inner.height > row))
            .intersection(inner);
        Span::styled(text, style).render(place, buf);
    }
}

/// Returns why a row has no figures.
fn outcome(data: &Data, row: usize) -> Option<(String, Role)> {
    if let Some(result) = data.results().get(row) {
        return result.error.as_ref().map(|error| (format!("failed: {error}"), Role::Wrong));
    }
    let skipped = data.sheet.skipped.get(row - data.sheet.results)?;
    let count = match skipped.cells {
        1 => String::new(),
        cells => format!("{cells} cells "),
    };
    Some((format!("{count}skipped: {}", skipped.reason), Role::Dim))
}

fn draw_row(
    look: &Look,
    data: &Data,
    places: &[(usize, u16)],
    row: usize,
    area: Rect,
    buf: &mut Buffer,
) {
    let sheet = &data.sheet;
    let result = data.results().get(row);
    let outcome = outcome(data, row);
    let unnamed = sheet.cells(row) > 1;
    let put = |text: &str, style: Style, left: u16, buf: &mut Buffer| {
        let place =
            Rect::new(left, area.y, area.right().saturating_sub(left), 1).intersection(area);
        Span::styled(text, style).render(place, buf);
    };
    for (index, left) in places {
        let is_outcome = unnamed || *index >= sheet.name_columns;
        if let (true, Some((text, role))) = (is_outcome, &outcome) {
            let room = usize::from(area.right().saturating_sub(left + 1));
            put(&pane::fit(text, room), look.style(*role), *left, buf);
            return;
        }
        let column = &sheet.columns[*index];
        let Some(text) = column.texts.get(row) else { continue };
        let indent =
            if column.right { column.width.saturating_sub(pane::width(text)) as u16 } else { 0 };
        let (text, style) = match (column.look, result) {
            (ColumnLook::Backend, Some(_)) => (
                text.as_str(),
                data.signs.get(row).map_or(Style::new(), |sign| look.series(sign.hue())),
            ),
            (_, None) => (text.as_str(), look.style(Role::Dim)),
            (ColumnLook::Main, _) => (text.as_str(), look.style(Role::Number)),
            (ColumnLook::Badge, Some(result)) => match result.shown_severity() {
                None if result.is_unfinished() => (APPROXIMATE.on(look), look.style(Role::Dim)),
                None => ("ok", look.style(Role::Good)),
                Some(worst) => {
                    let (role, sign) = findings::severity(look, worst);
                    (sign, look.style(role))
                }
            },
            (ColumnLook::Word | ColumnLook::Number, _) => (text.as_str(), look.style(Role::Text)),
        };
        put(text, style, left + indent, buf);
    }
}

/// Draws the number of rows, and the filter.
fn draw_counts(scene: ResultsScene, area: Rect, buf: &mut Buffer) {
    let ResultsScene { look, results, data } = scene;
    let count = |rows: &[usize]| rows.iter().map(|row| data.sheet.cells(*row)).sum::<usize>();
    let (all, shown) = (count(&data.sheet.order), count(&results.table.rows));
    let failed = data.results().iter().filter(|result| result.error.is_some()).count();
    let skipped = data.view.skipped.len();
    let mut parts = vec![if shown == all {
        counted(all, "cell")
    } else {
        format!("{shown} of {}", counted(all, "cell"))
    }];
    parts.extend((failed > 0).then(|| format!("{failed} failed")));
    parts.extend((skipped > 0).then(|| format!("{skipped} skipped")));
    parts.extend(data.same_xor.as_ref().map(|xor| format!("XOR {xor} in all cells")));
    frame::draw_footer(look, &parts.join(", "), area, buf);
    let filter = &results.table.filter;
    if results.table.typing || !filter.value().is_empty() {
        let width = (area.width / 2).min(40);
        let row =
            Rect::new(area.x + 2, area.bottom().saturating_sub(1), width, 1).intersection(area);
        look.line(Role::Key, " / ").render(row, buf);
        let field = Rect::new(row.x + 3, row.y, row.width.saturating_sub(3), 1);
        pane::field(look, filter, results.table.typing, field, buf);
    }
}
