//! The curves of one probe over the parameter that varies.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::bars::sign;
use crate::lab::curve::ParamCurves;
use crate::lab::data::MarkedSession;
use crate::lab::state::{Lab, LabPane};
use crate::plot::{Axis, Chart, Draw, Point, Rule, Scale, Series};
use crate::record::Unit;
use crate::theme::{Look, Role};
use crate::units;
use crate::view::{Hits, Part, Target, pane};

pub fn draw(lab: &Lab, look: &Look, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let Some(curves) = lab.curves() else { return };
    let title = lab
        .info(&curves.probe)
        .map_or(curves.probe.clone(), |info| format!("{}: {}", curves.probe, info.title));
    let by =
        if curves.axis == "bytes" { "by size".to_string() } else { format!("by {}", curves.axis) };
    let inner = pane::narrow(pane::frame(look, &title, &by, lab.pane != LabPane::About, area, buf));
    let below = (curves.curves.len() as u16 + 1).min(inner.height / 3);
    let [plot, below] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(below)]).areas(inner);
    draw_plot(lab, look, &curves, plot, buf, hits);
    draw_values(lab, look, &curves, below, buf);
}

fn show_place(axis: &str, x: f64) -> String {
    if axis == "bytes" { units::show_bytes(x.round() as u64) } else { format!("{x:.0}") }
}

/// Returns the values of marked sessions at the points of the curves.
fn marked_points(lab: &Lab, curves: &ParamCurves) -> Vec<(usize, Vec<Point>)> {
    let points_of = |other: &MarkedSession| -> Vec<Point> {
        let each = curves.curves.iter().flat_map(|curve| curve.cells.iter().zip(&curve.points));
        each.filter_map(|(cell, point)| Some(Point::new(point.x, other.value(cell, curves.unit)?)))
            .collect()
    };
    lab.marked_sessions()
        .map(|(at, other)| (at, points_of(other)))
        .filter(|(_, points)| !points.is_empty())
        .collect()
}

fn draw_plot(
    lab: &Lab,
    look: &Look,
    curves: &ParamCurves,
    area: Rect,
    buf: &mut Buffer,
    hits: &mut Hits,
) {
    let others = marked_points(lab, curves);
    let mut series = Vec::new();
    for (at, curve) in curves.curves.iter().enumerate() {
        // Estimates of every curve would be a thicket.
        let is_current = lab.current_slot().is_some_and(|slot| curve.cells.contains(&slot.cell));
        let estimates = if is_current { vec![&curve.low, &curve.high] } else { Vec::new() };
        for estimate in estimates {
            if estimate.iter().any(|point| point.y.is_finite()) {
                let style = look.style(Role::Dim);
                let faint = Series { style, ..Series::new(look, at, "", estimate) };
                series.push(faint.draw(Draw::Dashed));
            }
        }
        series.push(Series::new(look, at, &curve.name, &curve.points).draw(Draw::LineAndMarkers));
    }
    for (at, points) in &others {
        let (marker, style) = sign(look, *at);
        series.push(Series {
            marker,
            style,
            ..Series::new(look, 0, "", points).draw(Draw::Points)
        });
    }
    let steps = curves.steps(&lab.data.steps);
    let rules: Vec<Rule> = steps
        .iter()
        .map(|step| Rule { at: step.nanos, label: &step.name, style: look.style(Role::Rule) })
        .collect();
    let show_x = |x: f64| show_place(&curves.axis, x);
    let show_y = |y: f64| curves.unit.show(y);
    let positive = curves.xs().first().is_some_and(|x| *x > 0.0);
    let x = Axis::new(if positive { Scale::Log2 } else { Scale::Linear }, &show_x);
    let y = Axis::new(if curves.unit == Unit::Nanos { Scale::Log10 } else { Scale::Log2 }, &show_y);
    let chart =
        Chart::new(look, x, y, &series).rules(&rules).bands(true).names(curves.curves.len() > 1);
    let Some(current) = lab.current_slot() else { return };
    let chart = chart.cursor(curves.x(&current.cell));
    chart.render(area, buf);
    for column in area.columns() {
        let x = chart.x_at(area, column.x);
        let cell = x.and_then(|x| curves.cell_at(&current.cell, x));
        if let Some(slot) = cell.and_then(|cell| lab.sheet.slot_of(cell)) {
            hits.area(column, Target::Row(Part::Lab(LabPane::Bars), slot));
        }
    }
}

/// Draws the values at the cursor, one line per curve.
fn draw_values(lab: &Lab, look: &Look, curves: &ParamCurves, area: Rect, buf: &mut Buffer) {
    let Some(slot) = lab.current_slot() else { return };
    let Some(x) = curves.x(&slot.cell) else { return };
    let at = if curves.axis == "bytes" {
        show_place("bytes", x)
    } else {
        format!("{} {}", curves.axis, show_place("", x))
    };
    pane::line(look.line(Role::Title, format!("at {at}")), 0, area, buf);
    for (row, (index, curve)) in curves.curves.iter().enumerate().enumerate() {
        let value = curve
            .points
            .iter()
            .find(|point| point.x == x)
            .map_or("-".into(), |point| curves.unit.show(point.y));
        let (number, unit) = value.split_once(' ').unwrap_or((&value, ""));
        let parts = vec![
            Span::styled(format!("{} ", look.ordinal(index)), look.series(index)),
            look.span(Role::Number, format!("{number:>6}")),
            look.span(Role::Dim, format!(" {unit:<6}")),
            look.span(
                if curve.cells.contains(&slot.cell) { Role::Focus } else { Role::Text },
                curve.name.clone(),
            ),
        ];
        pane::line(Line::from(parts), row as u16 + 1, area, buf);
    }
}
