//! Bars where nothing varies along an axis: one per curve, each of one point; below them the ways that were tried to pick one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::super::curves::{Curve, Metric};
use super::super::plot::{Bar, Bars};
use super::super::theme::{Look, Role};
use super::super::view::pane;
use super::data::Data;
use super::state::Results;
use crate::plan::{Cache, Job};
use crate::record::way_of;
use crate::session::Picked;

/// One row.
struct Row {
    label: String,
    value: f64,
    style: Style,
    figure: String,
}

pub fn draw(look: &Look, results: &Results, data: &Data, area: Rect, buf: &mut Buffer) {
    let (own, tried) = (own(look, results, data), tried(look, data));
    let all = || own.iter().chain(&tried);
    let step = if usize::from(area.height) > own.len() * 2 + tried.len() { 2 } else { 1 };
    let first = pane::first_row(results.chart.series, own.len(), usize::from(area.height) / step);
    let widest = |of: fn(&Row) -> &String| all().take(1000).map(|row| pane::width(of(row))).max().unwrap_or(0);
    let (label_width, figure_width) = (widest(|row| &row.label), widest(|row| &row.figure));
    let most = all().map(|row| row.value).fold(0.0, f64::max);
    let mut place = Rect { height: 1, ..area };
    let mut put = |row: &Row, down: usize, selected: bool| {
        place.y += down as u16;
        if place.y >= area.bottom() {
            return;
        }
        let (label, figure) = (format!("{:<label_width$}", row.label), format!("{:>figure_width$}", row.figure));
        Bars::new(look, &[Bar::new(&label, row.value, row.style, &figure)]).max(most).render(place, buf);
        if selected {
            pane::select(look.style(Role::Focus), 0, Rect { width: pane::width(&label) as u16, ..place }, buf);
        }
    };
    for (at, row) in own.iter().enumerate().skip(first) {
        put(row, if at == first { step - 1 } else { step }, at == results.chart.series);
    }
    for (at, row) in tried.iter().enumerate() {
        put(row, if at == 0 { step + 1 } else { 1 }, false);
    }
    let under = ((own.len() - first) * step + step - 1) as u16;
    if !tried.is_empty() {
        pane::line(Line::styled("tried for a moment:", look.style(Role::Dim)), under, area, buf);
    }
}

/// What was measured.
fn own(look: &Look, results: &Results, data: &Data) -> Vec<Row> {
    let row = |curve: &Curve| {
        let value = curve.points.first().filter(|_| !results.is_off(curve)).map_or(f64::NAN, |point| point.y);
        let style = look.series(curve.hue);
        Row {
            label: format!("{} {}", look.marker(curve.index), curve.name),
            value,
            style: if curve.cache == Cache::Cold { style.add_modifier(Modifier::DIM) } else { style },
            figure: if value.is_nan() { "off".into() } else { data.metric.show(value) },
        }
    };
    data.curves.iter().map(row).collect()
}

/// The ways that were tried and not picked, the fastest first, and the bound of the one that was.
fn tried(look: &Look, data: &Data) -> Vec<Row> {
    let picked = data.shown.answer.picked.iter().filter(|_| data.metric == Metric::Throughput);
    let row = |label: String, value: f64, role| Row {
        label: format!("  {label}"),
        value,
        style: look.style(role),
        figure: data.metric.show(value),
    };
    let of = |picked: &Picked| {
        let others = picked.tried.iter().filter(|tried| tried.cell != picked.cell);
        let state = |job: &Job| if job.cache == Cache::AsIs { String::new() } else { format!(", {}", job.cache) };
        let name = |job: &Job| way_of(job) + &state(job);
        let mut rows: Vec<Row> = others.map(|tried| row(name(&tried.cell), tried.throughput, Role::Dim)).collect();
        rows.extend(picked.ceiling.iter().map(|ceiling| row(ceiling.name.clone(), ceiling.bytes_per_second, Role::Rule)));
        rows
    };
    picked.flat_map(of).collect()
}
