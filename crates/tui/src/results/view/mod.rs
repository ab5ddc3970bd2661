//! Drawing: one frame; chart, legend and answer are divided by lines.

pub mod answer;
mod areas;
mod bars;
pub mod cell;
pub mod chart;
pub mod frame;
mod glance;
pub mod legend;
mod scene;
pub mod table;

use areas::{CurveAreas, MAX_ANSWER_COLUMNS, parts};
use frame::{draw_footer, frame};
pub use scene::ResultsScene;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::state::{Results, Tab};
use crate::context::ViewContext;
use crate::keymap::{Action, key_of};
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::view::Hits;
use crate::view::pane::{self, divider, draw_text};

pub fn draw(results: &Results, ctx: &ViewContext, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let look = ctx.look;
    let Some(data) = &results.data else {
        let text = match results.follows_run {
            true => "no results yet: they appear here after the first trial",
            false => "no results yet: start a run (1, r) or open a session (4)",
        };
        return draw_message(look, text, area, buf);
    };
    let scene = ResultsScene { look, results, data };
    match (results.open, results.tab()) {
        (Some(open), _) => cell::draw(scene, ctx, open, area, buf, hits),
        (None, Some(Tab::Glance)) => glance::draw(scene, area, buf, hits),
        (None, Some(Tab::Table)) => table::draw(scene, area, buf, hits),
        _ => draw_curves(scene, ctx, area, buf, hits),
    }
}

/// Draws a sentence in the middle of a frame.
fn draw_message(look: &Look, text: &str, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(look, "Results", "", true, area, buf);
    let lines = pane::wrap(text, usize::from(inner.width.saturating_sub(4)));
    let top = inner.height.saturating_sub(lines.len() as u16) / 2;
    let lines = lines.into_iter().map(|part| look.line(Role::Dim, part).centered());
    pane::lines(lines, top, inner, buf);
}

fn draw_curves(
    scene: ResultsScene,
    ctx: &ViewContext,
    area: Rect,
    buf: &mut Buffer,
    hits: &mut Hits,
) {
    let ResultsScene { look, data, .. } = scene;
    let text_width = usize::from(area.width.saturating_sub(4)).min(MAX_ANSWER_COLUMNS);
    let answer = answer::wrap_answer(look, data, text_width);
    let parts = parts(area, data.most_listed, answer.len());
    frame(scene, area, buf, hits);
    chart::draw(scene, parts.chart, buf);
    let plot = pane::narrow(parts.chart);
    if data.is_curve() {
        hits.chart(plot);
    }
    if parts.beside {
        draw_vertical_line(look, &parts, area, buf);
    } else {
        divider(look, parts.legend_title, buf);
    }
    legend::draw(scene, &parts, buf, hits);
    if parts.beside {
        legend::draw_point(scene, &parts, buf);
    }
    divider(look, parts.answer_title, buf);
    if parts.beside
        && let Some(cell) = buf.cell_mut((parts.legend.x - 1, parts.answer_title.y))
    {
        cell.set_symbol(look.glyph("┴", "+"));
    }
    draw_text(look, "Answer", Role::Title, parts.answer_title, 1, buf);
    answer::draw_warnings(look, data, parts.answer_title, buf);
    answer::draw(&answer, parts.answer, buf);
    draw_options(scene, area, buf);
    if data.is_curve() {
        chart::draw_read_out(scene, ctx, plot, buf);
    }
}

/// Draws the options that are on, in the last line of the frame.
fn draw_options(scene: ResultsScene, area: Rect, buf: &mut Buffer) {
    let ResultsScene { look, results, data } = scene;
    let mut on = Vec::new();
    if !data.common.is_empty() {
        on.push(format!("all {}", data.common));
    }
    if data.axes.len() > 1 {
        on.push(format!(
            "{} over {}",
            key_of(Action::Across, Screen::Results),
            data.places.axis.title()
        ));
    }
    on.extend(data.same_xor.as_ref().map(|xor| format!("XOR {xor} in all cells")));
    on.extend(
        data.extras
            .iter()
            .find(|extra| extra.id == "levels")
            .map(|_| format!("{} cache-drop levels", key_of(Action::Table, Screen::Results))),
    );
    if results.is_log(data.metric) {
        on.push("log".to_string());
    }
    if results.chart.mean {
        on.push("mean dotted".into());
    }
    if let Some((from, to)) = data.places.ends(results.chart.zoom) {
        let name = |x: f64| data.places.axis.show(x as u64);
        on.push(format!("{} to {}", name(from), name(to)));
    }
    draw_footer(look, &on.join(look.glyph(" · ", " - ")), area, buf);
}

/// Draws the line between chart and legend, and those above legend and point.
fn draw_vertical_line(look: &Look, parts: &CurveAreas, area: Rect, buf: &mut Buffer) {
    let (style, column) = (look.style(Role::Border), parts.legend.x - 1);
    for row in area.y..parts.answer_title.y {
        let symbol = if row == area.y { look.glyph("┬", "+") } else { look.glyph("│", "|") };
        if let Some(cell) = buf.cell_mut((column, row)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
    divider(look, parts.point_title, buf);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_keeps_half_of_the_screen() {
        for (width, height) in [(80, 22), (120, 38), (200, 58), (300, 100)] {
            for curves in [0, 1, 6, 40, 10_000] {
                for lines in [1, 3, 30] {
                    let body = Rect::new(0, 1, width, height);
                    let parts = parts(body, curves, lines);
                    let areas = [
                        parts.chart,
                        parts.legend_title,
                        parts.legend,
                        parts.point_title,
                        parts.point,
                        parts.answer_title,
                        parts.answer,
                    ];
                    for (at, area) in areas.iter().enumerate().filter(|(_, area)| !area.is_empty())
                    {
                        assert_eq!(
                            area.intersection(pane::inside(body)),
                            *area,
                            "{width}x{height} {curves} {lines} {at}"
                        );
                        assert!(
                            areas[at + 1..].iter().all(|other| !other.intersects(*area)),
                            "{width}x{height} {curves} {lines} {at}"
                        );
                    }
                    assert!(parts.legend.height > 0 && parts.answer.height > 0);
                    assert!(
                        usize::from(parts.chart.height) * 5 >= usize::from(height) * 2 - 10,
                        "{width}x{height}: {}",
                        parts.chart.height
                    );
                }
            }
        }
    }
}
