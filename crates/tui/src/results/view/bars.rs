//! Bars where nothing varies along an axis: one per curve; below them the methods tried before one
//! was picked.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::ResultsScene;
use crate::analysis::{MethodRate, PickedMethod};
use crate::curves::{Curve, Metric};
use crate::plan::Cache;
use crate::plot::{Bar, Bars};
use crate::record::{describe_cache_state, describe_method};
use crate::results::data::Data;
use crate::results::state::Results;
use crate::theme::{Look, Role};
use crate::units::show_share;
use crate::view::pane;

/// A bar with its label and figure.
struct BarRow {
    label: String,
    value: f64,
    style: Style,
    figure: String,
}

pub fn draw(scene: ResultsScene, area: Rect, buf: &mut Buffer) {
    let ResultsScene { look, results, data } = scene;
    let (bounds, tried) = (bound_rows(look, data), tried_rows(look, data));
    let row_of = |curve: &Curve| curve_row(scene, curve);
    // A gap and a title precede the tried methods.
    let below = bounds.len() + tried.len() + if tried.is_empty() { 0 } else { 2 };
    let step = if usize::from(area.height) >= data.curves.len() * 2 + below { 2 } else { 1 };
    let shown = usize::from(area.height) / step;
    let first = pane::first_row(results.chart.series, data.curves.len(), shown);
    let (mut label_width, mut figure_width) = (0, 0);
    let mut widen = |row: &BarRow| {
        label_width = label_width.max(pane::width(&row.label));
        figure_width = figure_width.max(pane::width(&row.figure));
    };
    data.curves.iter().take(1000).for_each(|curve| widen(&row_of(curve)));
    bounds.iter().chain(&tried).for_each(&mut widen);
    let others = bounds.iter().chain(&tried).map(|row| row.value);
    let max =
        data.curves.iter().map(|curve| value(results, curve)).chain(others).fold(0.0, f64::max);
    let mut rows = area.rows();
    let mut put = |row: &BarRow, skipped: usize, selected: bool| {
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
        let text = tried_title(data);
        pane::line(look.line(Role::Dim, text), title as u16, area, buf);
    }
}

/// Returns the measured value; NaN if the curve is hidden.
fn value(results: &Results, curve: &Curve) -> f64 {
    curve.points.first().filter(|_| !results.is_hidden(curve)).map_or(f64::NAN, |point| point.y)
}

fn curve_row(scene: ResultsScene, curve: &Curve) -> BarRow {
    let ResultsScene { look, results, data } = scene;
    let (value, style) = (value(results, curve), look.series(curve.sign.hue()));
    BarRow {
        label: format!("{} {}", look.marker(curve.sign), curve.name),
        value,
        style: if curve.cache == Cache::Cold { style.add_modifier(Modifier::DIM) } else { style },
        figure: if value.is_nan() { "off".into() } else { data.metric.show(value, look.unit) },
    }
}

/// Returns the methods that were picked among several, for throughput only.
fn picks(data: &Data) -> impl Iterator<Item = &PickedMethod> {
    data.view.answer.picked.iter().filter(|_| data.metric == Metric::Throughput)
}

fn picked_row(look: &Look, data: &Data, label: &str, value: f64, style: Style) -> BarRow {
    BarRow { label: format!("  {label}"), value, style, figure: data.metric.show(value, look.unit) }
}

/// Returns the ceilings of the picked methods, with the share that each method reached.
fn bound_rows(look: &Look, data: &Data) -> Vec<BarRow> {
    let bounds = picks(data).filter_map(|picked| picked.ceiling.as_ref());
    bounds
        .map(|ceiling| {
            let (rate, style) = (ceiling.bytes_per_second, look.style(Role::Rule));
            let row = picked_row(look, data, &ceiling.name, rate, style);
            BarRow { figure: format!("{} of {}", show_share(ceiling.share), row.figure), ..row }
        })
        .collect()
}

/// Describes the rows of the tried methods: what the ranges and signs mean.
fn tried_title(data: &Data) -> String {
    let tried = || picks(data).flat_map(|picked| &picked.tried);
    let range = if has_intervals(data) { "95 % interval" } else { "slowest and fastest" };
    let tries = tried().map(|method| method.tries).max().unwrap_or(0);
    let equal =
        if tried().any(|method| method.no_difference) { ", = no difference from it" } else { "" };
    format!("briefly tried: at most {tries} times each, with {range}; * picked{equal}")
}

/// Returns whether every tried method has enough tries for an interval.
fn has_intervals(data: &Data) -> bool {
    picks(data).flat_map(|picked| &picked.tried).all(|method| method.low.is_some())
}

/// Returns the methods that were tried, the fastest first.
fn tried_rows(look: &Look, data: &Data) -> Vec<BarRow> {
    let intervals = has_intervals(data);
    let row = |picked: &PickedMethod, tried: &MethodRate| {
        let method = describe_method(&tried.cell) + &describe_cache_state(&tried.cell);
        let sign = match tried.no_difference {
            _ if tried.cell == picked.cell => '*',
            true => '=',
            false => ' ',
        };
        let row = picked_row(look, data, &method, tried.throughput, look.style(Role::Dim));
        let (low, high) = if intervals { tried.range() } else { (tried.min, tried.max) };
        let show = |rate| {
            let shown = data.metric.show(rate, look.unit);
            let own = row.figure.rsplit_once(' ').map_or("", |(_, unit)| unit);
            // The unit is not repeated.
            shown.strip_suffix(own).map_or(shown.clone(), |number| number.trim_end().into())
        };
        let figure = format!("{} [{}-{}]", row.figure, show(low), show(high));
        BarRow { label: format!("{sign} {method}"), figure, ..row }
    };
    picks(data)
        .flat_map(|picked| picked.tried.iter().map(move |tried| row(picked, tried)))
        .collect()
}
