//! At a glance: the headline figures in large digits, bars below them, and why they can be
//! trusted.

mod below;
mod columns;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::{ResultsScene, answer, chart, frame};
use crate::results::data::Data;
use crate::theme::{Look, Role};
use crate::view::{Hits, board, pane};

/// Minimum width for the chart to the right of the figures; below them if narrower.
const MIN_BESIDE: u16 = 150;
const MIN_CHART_ROWS: u16 = 9;
/// Maximum width of the figures at the left of a chart.
const MAX_FIGURES: u16 = 104;

pub fn draw(scene: ResultsScene, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let ResultsScene { look, data, .. } = scene;
    let inner = frame::frame(scene, area, buf, hits);
    let beside = inner.width >= MIN_BESIDE && has_chart(data);
    let left = if beside { (inner.width * 11 / 20).min(MAX_FIGURES) } else { inner.width };
    let body = Rect::new(inner.x + 1, inner.y, left.saturating_sub(2), inner.height);
    let free = draw_figures(scene, body, buf);
    let chart = if beside {
        Rect::new(inner.x + left, inner.y, inner.width - left, inner.height)
    } else {
        free
    };
    if has_chart(data) && chart.height >= MIN_CHART_ROWS {
        draw_chart(scene, chart, buf);
    }
    frame::draw_footer(look, &footer(data), area, buf);
}

/// Returns whether the cells lie along an axis that is worth a chart here.
fn has_chart(data: &Data) -> bool {
    data.is_curve() && data.view.glance.table().is_none()
}

fn draw_chart(scene: ResultsScene, area: Rect, buf: &mut Buffer) {
    let ResultsScene { look, data, .. } = scene;
    let title = data.metric.title_by(data.places.axis);
    pane::line(look.line(Role::Dim, format!(" {title}")), 0, area, buf);
    let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
    chart::draw(scene, below, buf);
}

/// Returns preset and date, for the last line of the frame.
fn footer(data: &Data) -> String {
    let conditions = &data.view.glance.conditions;
    [conditions.preset.as_str(), conditions.date.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

/// The number of rows of each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rows {
    pub conditions: u16,
    pub figures: u16,
    pub facts: u16,
    pub statements: u16,
    /// An empty row after the conditions, the figures and the facts.
    pub gaps: [u16; 3],
}

/// Shares the rows among the parts: the figures need `least`, and use at most `most`; the facts
/// have `facts` lines and the statements `statements`.
pub(super) fn share(height: u16, least: u16, most: u16, facts: u16, statements: u16) -> Rows {
    let mut left = height;
    let mut take = |wanted: u16| {
        let taken = wanted.min(left);
        left -= taken;
        taken
    };
    let mut rows = Rows { figures: take(least), statements: take(statements), ..Rows::default() };
    rows.facts = take(facts.min(1));
    rows.conditions = take(1);
    rows.facts += take(facts.saturating_sub(1).min(2));
    rows.gaps[1] = take(1);
    rows.facts += take(facts.saturating_sub(3));
    rows.gaps[2] = take(u16::from(facts > 0));
    rows.gaps[0] = take(1);
    rows.figures += take(most.saturating_sub(least));
    rows
}

/// Draws everything but the chart; returns the free rows below.
fn draw_figures(scene: ResultsScene, body: Rect, buf: &mut Buffer) -> Rect {
    let ResultsScene { look, results, data } = scene;
    let glance = &data.view.glance;
    let facts = below::facts(look, glance, body.width);
    let progress = answer::progress_line(look, data, usize::from(body.width));
    let next = progress.is_none().then(|| below::next_step(look, data));
    let mut statements = below::statements(look, glance, progress, body.width);
    statements.extend(next);
    let (least, most) = if let Some(table) = glance.table() {
        board::heights(table)
    } else if !glance.columns.is_empty() {
        columns::heights(look, glance, body.width)
    } else {
        below::probe_heights(glance)
    };
    let head = glance.board.as_ref().filter(|_| glance.table().is_none());
    let above = if head.is_some() { board::HEAD + 1 } else { 0 };
    let (least, most) = (least + above, most + above);
    let wanted = facts.iter().map(Vec::len).sum::<usize>() as u16;
    let mut rows = share(body.height, least, most, wanted, statements.len() as u16);
    let facts = below::fit_whole(facts, rows.facts);
    rows.facts = facts.len() as u16;
    let mut y = body.y;
    let mut next = |height: u16| {
        let place = Rect::new(body.x, y, body.width, height).intersection(body);
        y += height;
        place
    };
    let place = next(rows.conditions);
    if rows.conditions > 0 {
        pane::line(conditions(look, data, body.width), 0, place, buf);
    }
    next(rows.gaps[0]);
    let mut place = next(rows.figures);
    if let Some(head) = head {
        board::draw_head(look, head, place, buf);
        place.y += above.min(place.height);
        place.height = place.height.saturating_sub(above);
    }
    if let Some(table) = glance.table() {
        board::draw(look, table, results.board, place, buf);
    } else if !glance.columns.is_empty() {
        columns::draw(look, data, place, buf);
    } else {
        below::draw_probes(look, data, place, buf);
    }
    next(rows.gaps[1]);
    below::draw(facts, next(rows.facts), buf);
    next(rows.gaps[2]);
    below::draw(statements, next(rows.statements), buf);
    next(1);
    Rect::new(body.x - 1, y, body.width + 2, body.bottom().saturating_sub(y))
}

/// Returns the target, and where it is.
fn conditions(look: &Look, data: &Data, width: u16) -> Line<'static> {
    let conditions = &data.view.glance.conditions;
    let dot = look.glyph(" · ", " - ");
    let rest = [conditions.place().get(1..).unwrap_or_default(), &conditions.machine()].concat();
    let target = match conditions.place().first() {
        Some(target) => (*target).to_string(),
        None => data.view.display_name().to_string(),
    };
    let target = pane::fit_front(&target, usize::from(width));
    let room = usize::from(width).saturating_sub(pane::width(&target) + pane::width(dot));
    let rest = pane::fit_parts(&rest.join(dot), dot, room);
    let mut spans = vec![look.span(Role::Title, target)];
    if !rest.is_empty() && room > 5 {
        spans.push(look.span(Role::Dim, format!("{dot}{rest}")));
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_rows_fit_the_height() {
        for height in 0..70 {
            for (least, most, facts, statements) in [(5, 30, 4, 2), (1, 1, 0, 0), (9, 9, 12, 3)] {
                let rows = share(height, least, most, facts, statements);
                let sum = rows.conditions + rows.figures + rows.facts + rows.statements;
                assert!(sum + rows.gaps.iter().sum::<u16>() <= height);
                assert!(rows.figures >= least.min(height), "figures come first");
            }
        }
        // 60 x 16, with three rows of bars.
        let rows = share(12, 7, 12, 3, 2);
        assert_eq!((rows.figures, rows.statements, rows.facts, rows.conditions), (7, 2, 2, 1));
    }
}
