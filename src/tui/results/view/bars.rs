//! Bars where nothing varies along an axis: one per curve; below them the methods tried before one
//! was picked.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use crate::analysis::PickedMethod;
use crate::plan::Cache;
use crate::record::{describe_cache_state, describe_method};
use crate::tui::curves::{Curve, Metric};
use crate::tui::plot::{Bar, Bars};
use crate::tui::results::data::Data;
use crate::tui::results::state::Results;
use crate::tui::theme::{Look, Role};
use crate::tui::view::pane;

/// One row.
struct Row {
    label: String,
    value: f64,
    style: Style,
    figure: String,
}

pub fn draw(look: &Look, results: &Results, data: &Data, area: Rect, buf: &mut Buffer) {
    let (bounds, tried) = (bound_rows(look, data), tried_rows(look, data));
    let row_of = |curve: &Curve| curve_row(look, results, data, curve);
    // The tried methods have a gap and a title above.
    let below = bounds.len() + tried.len() + if tried.is_empty() { 0 } else { 2 };
    let step = if usize::from(area.height) >= data.curves.len() * 2 + below { 2 } else { 1 };
    let shown = usize::from(area.height) / step;
    let first = pane::first_row(results.chart.series, data.curves.len(), shown);
    let (mut label_width, mut figure_width) = (0, 0);
    let mut widen = |row: &Row| {
        label_width = label_width.max(pane::width(&row.label));
        figure_width = figure_width.max(pane::width(&row.figure));
    };
    data.curves.iter().take(1000).for_each(|curve| widen(&row_of(curve)));
    bounds.iter().chain(&tried).for_each(&mut widen);
    let others = bounds.iter().chain(&tried).map(|row| row.value);
    let max =
        data.curves.iter().map(|curve| value(results, curve)).chain(others).fold(0.0, f64::max);
    let mut rows = area.rows();
    let mut put = |row: &Row, skipped: usize, selected: bool| {
        let Some(place) = rows.nth(skipped) else { return };
        let (label, figure) =
            (format!("{:<label_width$}", row.label), format!("{:>figure_width$}", row.figure));
        let bars = [Bar::new(&label, row.value, row.style, &figure)];
        let bars = Bars::new(look, &bars).max(max);
        bars.render(place, buf);
        if selected {
            let width = bars.label_width(place.width).min(pane::width(&row.label) as u16);
            pane::select(look.style(Role::Focus), 0, Rect { width, ..place }, buf);
        }
    };
    for (at, curve) in data.curves.iter().enumerate().skip(first).take(shown) {
        put(&row_of(curve), step - 1, at == results.chart.series);
    }
    bounds.iter().for_each(|row| put(row, 0, false));
    for (at, row) in tried.iter().enumerate() {
        put(row, if at == 0 { 2 } else { 0 }, false);
    }
    let title = (data.curves.len() - first) * step + bounds.len() + 1;
    if !tried.is_empty() && title < usize::from(area.height) {
        pane::line(Line::styled("briefly tried:", look.style(Role::Dim)), title as u16, area, buf);
    }
}

/// Returns the measured value; NaN if the curve is hidden.
fn value(results: &Results, curve: &Curve) -> f64 {
    curve.points.first().filter(|_| !results.is_hidden(curve)).map_or(f64::NAN, |point| point.y)
}

fn curve_row(look: &Look, results: &Results, data: &Data, curve: &Curve) -> Row {
    let (value, style) = (value(results, curve), look.series(curve.hue));
    Row {
        label: format!("{} {}", look.marker(curve.index), curve.name),
        value,
        style: if curve.cache == Cache::Cold { style.add_modifier(Modifier::DIM) } else { style },
        figure: if value.is_nan() { "off".into() } else { data.metric.show(value, look.unit) },
    }
}

/// Returns the picks among several methods; only for throughput.
fn picks(data: &Data) -> impl Iterator<Item = &PickedMethod> {
    data.view.answer.picked.iter().filter(|_| data.metric == Metric::Throughput)
}

fn picked_row(look: &Look, data: &Data, label: &str, value: f64, style: Style) -> Row {
    Row { label: format!("  {label}"), value, style, figure: data.metric.show(value, look.unit) }
}

/// Returns the ceilings that the picked method is compared with.
fn bound_rows(look: &Look, data: &Data) -> Vec<Row> {
    let bounds = picks(data).filter_map(|picked| picked.ceiling.as_ref());
    bounds
        .map(|ceiling| {
            picked_row(look, data, &ceiling.name, ceiling.bytes_per_second, look.style(Role::Rule))
        })
        .collect()
}

/// Returns the methods that were tried and not picked, the fastest first.
fn tried_rows(look: &Look, data: &Data) -> Vec<Row> {
    let others = picks(data)
        .flat_map(|picked| picked.tried.iter().filter(|tried| tried.cell != picked.cell));
    others
        .map(|tried| {
            picked_row(
                look,
                data,
                &(describe_method(&tried.cell) + &describe_cache_state(&tried.cell)),
                tried.throughput,
                look.style(Role::Dim),
            )
        })
        .collect()
}
