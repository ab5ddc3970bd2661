//! Bars where nothing varies along an axis: one per curve, each of one point; below them the ways
//! that were tried to pick one.

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
    let (bounds, tried) = (bounds(look, data), tried(look, data));
    let own = |curve: &Curve| own(look, results, data, curve);
    // A gap and a title stand above what was tried.
    let below = bounds.len() + tried.len() + if tried.is_empty() { 0 } else { 2 };
    let step = if usize::from(area.height) >= data.curves.len() * 2 + below { 2 } else { 1 };
    let shown = usize::from(area.height) / step;
    let first = pane::first_row(results.chart.series, data.curves.len(), shown);
    let (mut label_width, mut figure_width) = (0, 0);
    let mut widen = |row: &Row| {
        label_width = label_width.max(pane::width(&row.label));
        figure_width = figure_width.max(pane::width(&row.figure));
    };
    data.curves.iter().take(1000).for_each(|curve| widen(&own(curve)));
    bounds.iter().chain(&tried).for_each(&mut widen);
    let others = bounds.iter().chain(&tried).map(|row| row.value);
    let most =
        data.curves.iter().map(|curve| value(results, curve)).chain(others).fold(0.0, f64::max);
    let mut rows = area.rows();
    let mut put = |row: &Row, skipped: usize, selected: bool| {
        let Some(place) = rows.nth(skipped) else { return };
        let (label, figure) =
            (format!("{:<label_width$}", row.label), format!("{:>figure_width$}", row.figure));
        let bars = [Bar::new(&label, row.value, row.style, &figure)];
        let bars = Bars::new(look, &bars).max(most);
        bars.render(place, buf);
        if selected {
            let width = bars.label_width(place.width).min(pane::width(&row.label) as u16);
            pane::select(look.style(Role::Focus), 0, Rect { width, ..place }, buf);
        }
    };
    for (at, curve) in data.curves.iter().enumerate().skip(first).take(shown) {
        put(&own(curve), step - 1, at == results.chart.series);
    }
    bounds.iter().for_each(|row| put(row, 0, false));
    for (at, row) in tried.iter().enumerate() {
        put(row, if at == 0 { 2 } else { 0 }, false);
    }
    let title = (data.curves.len() - first) * step + bounds.len() + 1;
    if !tried.is_empty() && title < usize::from(area.height) {
        pane::line(
            Line::styled("tried for a moment:", look.style(Role::Dim)),
            title as u16,
            area,
            buf,
        );
    }
}

/// What was measured; not a number where it is switched off.
fn value(results: &Results, curve: &Curve) -> f64 {
    curve.points.first().filter(|_| !results.is_off(curve)).map_or(f64::NAN, |point| point.y)
}

fn own(look: &Look, results: &Results, data: &Data, curve: &Curve) -> Row {
    let (value, style) = (value(results, curve), look.series(curve.hue));
    Row {
        label: format!("{} {}", look.marker(curve.index), curve.name),
        value,
        style: if curve.cache == Cache::Cold { style.add_modifier(Modifier::DIM) } else { style },
        figure: if value.is_nan() { "off".into() } else { data.metric.show(value, look.unit) },
    }
}

/// Where one of several ways was picked, of its throughput.
fn picked(data: &Data) -> impl Iterator<Item = &PickedMethod> {
    data.shown.answer.picked.iter().filter(|_| data.metric == Metric::Throughput)
}

fn row(look: &Look, data: &Data, label: &str, value: f64, style: Style) -> Row {
    Row { label: format!("  {label}"), value, style, figure: data.metric.show(value, look.unit) }
}

/// What the way that was picked is held against.
fn bounds(look: &Look, data: &Data) -> Vec<Row> {
    let bounds = picked(data).filter_map(|picked| picked.ceiling.as_ref());
    bounds
        .map(|ceiling| {
            row(look, data, &ceiling.name, ceiling.bytes_per_second, look.style(Role::Rule))
        })
        .collect()
}

/// The ways that were tried and not picked, the fastest first.
fn tried(look: &Look, data: &Data) -> Vec<Row> {
    let others = picked(data)
        .flat_map(|picked| picked.tried.iter().filter(|tried| tried.cell != picked.cell));
    others
        .map(|tried| {
            row(
                look,
                data,
                &(describe_method(&tried.cell) + &describe_cache_state(&tried.cell)),
                tried.throughput,
                look.style(Role::Dim),
            )
        })
        .collect()
}
