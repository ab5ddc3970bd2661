//! The picture: one calm frame; chart, legend and answer are divided by lines.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::data::Data;
use super::state::Results;
use super::{answer, cell, chart, layout, legend, table};
use crate::record::Severity;
use crate::tui::curves::Metric;
use crate::tui::keymap::{Action, key_of};
use crate::tui::model::Model;
use crate::tui::screen::Screen;
use crate::tui::theme::{Colours, Glyphs, Look, Role};
pub use crate::tui::view::pane::{divider, words};
use crate::tui::view::{findings, pane};

pub fn draw(model: &Model, area: Rect, buf: &mut Buffer) {
    let results = &model.results;
    match (&results.data, results.open) {
        (None, _) => nothing(
            &model.look,
            "nothing was measured yet: run something (1, r), or open a session (4)",
            area,
            buf,
        ),
        (Some(data), Some(open)) => cell::draw(&model.look, results, data, open, area, buf),
        (Some(data), None) if results.table.on => {
            table::draw(&model.look, results, data, area, buf)
        }
        (Some(data), None) => curves(&model.look, results, data, area, buf),
    }
    if model.look.glyphs == Glyphs::Ascii {
        plain(area, buf);
    }
}

/// Twins of what no ASCII terminal shows: units, and the sign of a text that was cut.
fn plain(area: Rect, buf: &mut Buffer) {
    for position in area.intersection(buf.area).positions() {
        let Some(cell) = buf.cell_mut(position).filter(|cell| !cell.symbol().is_ascii()) else {
            continue;
        };
        cell.set_symbol(match cell.symbol() {
            "µ" => "u",
            "±" => "~",
            "×" => "x",
            "·" | "–" | "—" => "-",
            "…" => ".",
            _ => "?",
        });
    }
}

/// One sentence in the middle of a frame.
fn nothing(look: &Look, text: &str, area: Rect, buf: &mut Buffer) {
    let inner = pane::frame(look, "Results", "", true, area, buf);
    let lines = pane::wrap(text, usize::from(inner.width.saturating_sub(4)));
    let top = inner.height.saturating_sub(lines.len() as u16) / 2;
    for (row, part) in lines.into_iter().enumerate() {
        pane::line(
            Line::styled(part, look.style(Role::Dim)).centered(),
            top + row as u16,
            inner,
            buf,
        );
    }
}

fn curves(look: &Look, results: &Results, data: &Data, area: Rect, buf: &mut Buffer) {
    let answer = answer::lines(look, data, layout::text_width(area));
    let parts = layout::parts(area, data.rows(), answer.len());
    frame(look, data, area, buf);
    chart::draw(look, results, data, parts.chart, buf);
    if parts.beside {
        upright(look, &parts, area, buf);
    } else {
        divider(look, parts.legend_title, buf);
    }
    legend::draw(look, results, data, &parts, buf);
    if parts.beside {
        legend::point(look, results, data, &parts, buf);
    }
    divider(look, parts.answer_title, buf);
    if parts.beside
        && let Some(cell) = buf.cell_mut((parts.legend.x - 1, parts.answer_title.y))
    {
        cell.set_symbol(look.glyph("┴", "+"));
    }
    words(look, "Answer", Role::Title, parts.answer_title, 1, buf);
    everywhere(look, data, parts.answer_title, buf);
    answer::draw(&answer, parts.answer, buf);
    states(look, results, data, area, buf);
}

/// What every point is warned of stands once in a line, not over each of them.
fn everywhere(look: &Look, data: &Data, row: Rect, buf: &mut Buffer) {
    let groups: Vec<String> = data.shared.iter().map(|group| group.join(" or ")).collect();
    if groups.is_empty() || !data.is_curve() {
        return;
    }
    let (role, sign) = findings::severity(look, Severity::Misleading);
    let text = pane::fit(
        &format!("{sign} every point: {}", groups.join(", ")),
        usize::from(row.width.saturating_sub(16)),
    );
    let at = row.width.saturating_sub(pane::width(&text) as u16 + 3);
    words(look, &text, role, row, at, buf);
}

/// The metrics as they stand in the frame's first line: each with its place.
pub fn tabs(area: Rect) -> Vec<(Metric, Rect, &'static str, &'static str)> {
    const NAMES: &[(Metric, Action, &str, &str)] = &[
        (Metric::Throughput, Action::Throughput, "Throughput", "bytes/s"),
        (Metric::Operations, Action::Operations, "Operations", "ops/s"),
        (Metric::SystemCalls, Action::SystemCalls, "System calls", "calls/s"),
        (Metric::Latency, Action::Latency, "Latency", "latency"),
        (Metric::Cpu, Action::Cpu, "CPU per byte", "CPU"),
    ];
    let wide = area.width >= 100;
    let mut at = area.x + 2;
    let each = NAMES.iter().map(|(metric, action, long, short)| {
        let (key, name) = (key_of(*action, Screen::Results), if wide { long } else { short });
        let width = (key.len() + 1 + name.len()) as u16;
        let place = Rect::new(at, area.y, width, 1).intersection(area);
        at += width + 2;
        (*metric, place, key, *name)
    });
    each.collect()
}

/// The frame with the metrics at the left and the session at the right.
pub fn frame(look: &Look, data: &Data, area: Rect, buf: &mut Buffer) -> Rect {
    let inner = pane::frame(look, "", "", false, area, buf);
    let mut end = area.x;
    for (metric, place, key, name) in tabs(area) {
        let on = metric == data.metric;
        let style = if on {
            look.style(Role::Focus).add_modifier(Modifier::UNDERLINED)
        } else {
            look.style(Role::Dim)
        };
        let key_style = if on { look.style(Role::Focus) } else { look.style(Role::Key) };
        let padded = Rect::new(place.x - 1, place.y, place.width + 2, 1).intersection(area);
        let parts = [
            Span::raw(" "),
            Span::styled(key, key_style),
            Span::raw(" "),
            Span::styled(name, style),
            Span::raw(" "),
        ];
        Line::from(parts.to_vec()).render(padded, buf);
        end = padded.right();
    }
    let room = usize::from(area.right().saturating_sub(end + 3));
    let (name, target) = (data.shown.name(), data.shown.target());
    let both = format!("{name}{}{target}", look.glyph(" · ", " - "));
    let text =
        if pane::width(&both) + 2 <= room { both } else { pane::fit(name, room.saturating_sub(2)) };
    if room >= 8 {
        let width = pane::width(&text) as u16 + 2;
        let place = Rect::new(area.right() - 1 - width, area.y, width, 1);
        Line::from(vec![
            Span::raw(" "),
            Span::styled(text, look.style(Role::Text)),
            Span::raw(" "),
        ])
        .render(place, buf);
    }
    inner
}

/// What is switched on, in the frame's last line.
fn states(look: &Look, results: &Results, data: &Data, area: Rect, buf: &mut Buffer) {
    let mut on = Vec::new();
    if !data.common.is_empty() {
        on.push(format!("all {}", data.common));
    }
    if data.axes.len() > 1 {
        on.push(format!("{} over {}", key_of(Action::Across, Screen::Results), data.axis.title()));
    }
    on.extend(data.same_xor.as_ref().map(|xor| format!("every XOR {xor}")));
    on.extend(
        data.extras
            .iter()
            .find(|extra| extra.id == "levels")
            .map(|_| format!("{} levels of cold", key_of(Action::Table, Screen::Results))),
    );
    if results.log(data.metric) {
        on.push("log".to_string());
    }
    if results.chart.mean {
        on.push("mean dotted".into());
    }
    if let Some((from, to)) =
        results.chart.zoom.and_then(|(from, to)| Some((data.xs.get(from)?, data.xs.get(to)?)))
    {
        on.push(format!("{} to {}", data.axis.show(*from as u64), data.axis.show(*to as u64)));
    }
    below(look, &on.join(look.glyph(" · ", " - ")), area, buf);
}

/// The row under the cursor, in one colour.
pub fn select(look: &Look, row: Rect, buf: &mut Buffer) {
    let style = look.style(Role::Selected);
    // Reversed hues would be a patchwork.
    let plain = if style.fg.is_none() && look.colours != Colours::None {
        style.fg(Color::Reset)
    } else {
        style
    };
    pane::select(plain, 0, row, buf);
}

/// A short text at the right of the frame's last line.
pub fn below(look: &Look, text: &str, area: Rect, buf: &mut Buffer) {
    let text = pane::fit(text, usize::from(area.width.saturating_sub(6)));
    let width = pane::width(&text) as u16 + 2;
    if width > 2 && area.height > 0 {
        let place = Rect::new(area.right().saturating_sub(1 + width), area.bottom() - 1, width, 1)
            .intersection(area);
        // The border of an opened cell is bold.
        let style = look.style(Role::Dim).remove_modifier(Modifier::BOLD);
        Line::from(vec![Span::raw(" "), Span::styled(text, style), Span::raw(" ")])
            .render(place, buf);
    }
}

/// The line between the chart and the legend beside it, and those above legend and point.
fn upright(look: &Look, parts: &layout::Parts, area: Rect, buf: &mut Buffer) {
    let (style, column) = (look.style(Role::Border), parts.legend.x - 1);
    for row in area.y..parts.answer_title.y {
        let symbol = if row == area.y { look.glyph("┬", "+") } else { look.glyph("│", "|") };
        if let Some(cell) = buf.cell_mut((column, row)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
    divider(look, parts.point_title, buf);
}
