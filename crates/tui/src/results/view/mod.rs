//! Drawing: one frame; chart, legend and answer are divided by lines.

pub mod answer;
mod bars;
pub mod cell;
pub mod chart;
pub mod frame;
mod glance;
pub mod legend;
pub mod table;

use frame::{draw_footer, frame};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::data::Data;
use super::layout::{Parts, parts, text_width};
use super::state::{Results, Tab};
use crate::context::ViewContext;
use crate::keymap::{Action, key_of};
use crate::screen::Screen;
use crate::theme::{Look, Role};
use crate::view::pane::{self, divider, draw_text};

pub fn draw(results: &Results, ctx: &ViewContext, area: Rect, buf: &mut Buffer) {
    let look = ctx.look;
    match (&results.data, results.open) {
        (None, _) => {
            let text = match results.follows_run {
                true => "no results yet: they appear here after the first trial",
                false => "no results yet: start a run (1, r) or open a session (4)",
            };
            draw_message(look, text, area, buf);
        }
        (Some(data), Some(open)) => cell::draw(look, results, data, open, area, buf),
        (Some(data), None) => match results.tab() {
            Some(Tab::Glance) => glance::draw(look, results, data, area, buf),
            Some(Tab::Table) => table::draw(look, results, data, area, buf),
            _ => {
                draw_curves(look, results, data, area, buf);
                chart::draw_read_out(results, ctx, area, buf);
            }
        },
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

fn draw_curves(look: &Look, results: &Results, data: &Data, area: Rect, buf: &mut Buffer) {
    let answer = answer::wrap_answer(look, data, text_width(area));
    let parts = parts(area, data.most_listed, answer.len());
    frame(look, results, data, area, buf);
    chart::draw(look, results, data, parts.chart, buf);
    if parts.beside {
        draw_vertical_line(look, &parts, area, buf);
    } else {
        divider(look, parts.legend_title, buf);
    }
    legend::draw(look, results, data, &parts, buf);
    if parts.beside {
        legend::draw_point(look, results, data, &parts, buf);
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
    draw_options(look, results, data, area, buf);
}

/// Draws the options that are on, in the last line of the frame.
fn draw_options(look: &Look, results: &Results, data: &Data, area: Rect, buf: &mut Buffer) {
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
fn draw_vertical_line(look: &Look, parts: &Parts, area: Rect, buf: &mut Buffer) {
    let (style, column) = (look.style(Role::Border), parts.legend.x - 1);
    for row in area.y..parts.answer_title.y {
        let symbol = if row == area.y { look.glyph("┬", "+") } else { look.glyph("│", "|") };
        if let Some(cell) = buf.cell_mut((column, row)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
    divider(look, parts.point_title, buf);
}
