//! One panel: axes, a grid, and the curves on it.

use super::font::{self, width};
use super::scene::{Anchor, Dash, Ink, Scene, Stroke};
use crate::analysis::{EstimateLine, Metric};
use crate::report::figure::{
    COLORS, Figure, FigureOf, FigurePoint, LegendKey, LineStyle, NEUTRAL, Panel, PanelCurve,
    ValueScale, ValueSpan, heat,
};
use crate::units::column::figure as digits;
use crate::units::{Rates, show_nanos};

/// Space to the left of the first point and to the right of the last.
const PADDING: f64 = 14.0;

/// Shades of a map of latencies.
const SHADES: usize = 6;

/// A panel, on the scale of its figure or on another one.
#[derive(Clone, Copy)]
pub struct DrawnPanel<'a> {
    pub figure: &'a Figure,
    pub scale: &'a ValueScale,
    pub keys: &'a [LegendKey],
    pub panel: &'a Panel,
    /// Returns the title of a point.
    pub describe: &'a dyn Fn(&LegendKey, &FigurePoint) -> String,
}

pub struct PanelDrawing<'a> {
    pub drawn: DrawnPanel<'a>,
    /// The area of the curves.
    pub place: PanelPlace,
    /// Whether the labels of its vertical axis are written; if not, its neighbours have the same.
    pub up: bool,
}

/// Returns the dashes of a line; `None` for marks alone.
pub fn dash(line: LineStyle) -> Option<Dash> {
    match line {
        LineStyle::Solid => Some(Dash::Solid),
        LineStyle::Dashed => Some(Dash::Dashed),
        LineStyle::Dotted => Some(Dash::Dotted),
        LineStyle::Marks => None,
    }
}

impl PanelDrawing<'_> {
    fn y(&self, value: f64) -> f64 {
        self.place.top + self.place.height * (1.0 - self.drawn.scale.share(value))
    }

    fn x(&self, at: f64) -> f64 {
        self.place.left
            + PADDING
            + self.drawn.figure.across.share(at) * (self.place.width - 2.0 * PADDING)
    }

    /// Returns the ends of a line as wide as the panel.
    fn across(&self, y: f64) -> Vec<(f64, f64)> {
        vec![(self.place.left, y), (self.place.left + self.place.width, y)]
    }

    pub fn draw(&self, scene: &mut Scene) {
        self.draw_grid(scene);
        for curve in &self.drawn.panel.curves {
            scene.series(curve.key, |scene| self.draw_band(scene, curve));
        }
        self.draw_heat(scene);
        self.draw_expected(scene);
        for curve in &self.drawn.panel.curves {
            scene.series(curve.key, |scene| self.draw_curve(scene, curve));
        }
    }

    fn draw_grid(&self, scene: &mut Scene) {
        let PanelPlace { left, top, width: wide, height } = self.place;
        let scale = self.drawn.scale;
        for value in &scale.minor {
            scene.line(self.across(self.y(*value)), Stroke::new(Ink::Grid, 1.0).opacity(0.5));
        }
        for (value, label) in &scale.ticks {
            let y = self.y(*value);
            scene.line(self.across(y), Stroke::new(Ink::Grid, 1.0));
            if self.up {
                scene.anchored((left - 10.0, y + 4.5), label, Ink::Soft, SMALL, Anchor::End);
            }
        }
        scene.line(self.across(top + height), Stroke::new(Ink::Soft, 1.0));
        let room = wide - 2.0 * PADDING;
        for (at, label) in
            self.drawn.figure.across.labels(|text| (width(text, SMALL, false) + 20.0) / room)
        {
            let x = self.x(at);
            let ends = vec![(x, top + height), (x, top + height + 5.0)];
            scene.line(ends, Stroke::new(Ink::Soft, 1.0));
            // The first and the last label must stay within the panel.
            let half = (width(&label, SMALL, false) / 2.0).min(wide / 2.0);
            let middle = x.clamp(left + half, left + wide - half);
            let foot = (middle, top + height + 20.0);
            scene.anchored(foot, &label, Ink::Soft, SMALL, Anchor::Middle);
        }
    }

    /// Draws the expected values.
    fn draw_band(&self, scene: &mut Scene, curve: &PanelCurve) {
        let haze = self.drawn.panel.haze();
        let known: Vec<(f64, f64, f64)> = curve
            .points
            .iter()
            .filter_map(|p| p.expected.map(|(low, high)| (self.x(p.at), self.y(low), self.y(high))))
            .collect();
        let ink = Ink::Color(self.drawn.keys[curve.key].color());
        match known.as_slice() {
            [] => {}
            [(x, low, high)] => {
                scene.line(vec![(*x, *low), (*x, *high)], Stroke::new(ink, 8.0).opacity(haze))
            }
            known => {
                // An estimate with a single value is a line.
                let thin = |(x, low, high): &(f64, f64, f64)| {
                    if low - high < 1.5 { (*x, low + 0.75, low - 0.75) } else { (*x, *low, *high) }
                };
                let known: Vec<(f64, f64, f64)> = known.iter().map(thin).collect();
                let low = known.iter().map(|(x, low, _)| (*x, *low));
                let high = known.iter().rev().map(|(x, _, high)| (*x, *high));
                scene.area(low.chain(high).collect(), ink, haze);
            }
        }
    }

    /// Draws the curve dotted, with its name at its end.
    fn draw_expected(&self, scene: &mut Scene) {
        let mut taken: Vec<f64> = Vec::new();
        for line in &self.drawn.panel.expected {
            let key = self.drawn.keys.iter().position(|key| key.name == line.name).unwrap_or(0);
            scene.series(key, |scene| self.draw_estimate(scene, line, &mut taken));
        }
    }

    /// Draws a map of latencies over time; all places of a shade are one shape.
    fn draw_heat(&self, scene: &mut Scene) {
        let Some((log, hue)) = &self.drawn.panel.heat else { return };
        let map = log.map(heat::SIZE.0, heat::SIZE.1);
        let (shade, mut shades) = (map.heat(), vec![Vec::new(); SHADES]);
        for column in &map.columns {
            let [left, right] = [column.start, column.end].map(|at| self.x(at as f64 / 1e9));
            for (row, count) in column.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let [low, high] = [row, row + 1].map(|row| self.y(map.bounds[row].max(1) as f64));
                let corners = [(left, low), (right, low), (right, high), (left, high), (left, low)];
                let shade = (shade(*count) * SHADES as f64).ceil() as usize;
                let own: &mut Vec<_> = &mut shades[shade.clamp(1, SHADES) - 1];
                // Each begins and ends at one point, so that the ways between them have no area.
                own.extend(corners);
                own.push((self.place.left, self.place.top));
            }
        }
        for (shade, points) in (1..).zip(shades).filter(|(_, points)| !points.is_empty()) {
            let opacity = (100.0 * f64::from(shade + 1) / (SHADES + 1) as f64).round() / 100.0;
            scene.area(points, Ink::Color(COLORS[hue % COLORS.len()]), opacity);
        }
    }

    fn draw_estimate(&self, scene: &mut Scene, line: &EstimateLine, taken: &mut Vec<f64>) {
        let near: Vec<(f64, f64)> = line
            .points
            .iter()
            .filter(|(_, rate)| self.drawn.scale.contains(*rate))
            .map(|(at, rate)| (self.x(*at), self.y(*rate)))
            .collect();
        let Some((x, y)) = near.last().copied() else { return };
        let stroke = Stroke::new(Ink::Color(NEUTRAL), 2.0).dash(Dash::Dotted);
        // It is the same for every block size: as wide as the panel.
        let level = near.iter().all(|point| (point.1 - y).abs() < 0.01);
        scene.line(if level { self.across(y) } else { near }, stroke);
        let mut below = y - 7.0;
        while taken.iter().any(|other| (other - below).abs() < NOTE + 1.0) {
            below += NOTE + 1.0;
        }
        taken.push(below);
        let end = if level { self.place.left + self.place.width - 4.0 } else { x };
        scene.anchored((end, below), &line.name, Ink::Soft, NOTE, Anchor::End);
    }

    fn draw_curve(&self, scene: &mut Scene, curve: &PanelCurve) {
        let key = &self.drawn.keys[curve.key];
        let ink = Ink::Color(key.color());
        let places: Vec<(f64, f64)> =
            curve.points.iter().map(|point| (self.x(point.at), self.y(point.span.1))).collect();
        if self.drawn.figure.means && curve.points.len() > 1 {
            let sum: f64 = curve.points.iter().map(|point| point.span.1).sum();
            let y = self.y(sum / curve.points.len() as f64);
            scene.line(self.across(y), Stroke::new(ink, 1.0).dash(Dash::Fine).opacity(0.8));
        }
        let joined = places.len() > 1 && self.drawn.figure.of != FigureOf::Trials;
        if let Some(dash) = dash(key.line).filter(|_| joined) {
            scene.line(places.clone(), Stroke::new(ink, 2.25).dash(dash));
        }
        for (point, (x, y)) in curve.points.iter().zip(&places) {
            let (low, _, high) = point.span;
            let (low, high) = (self.y(low), self.y(high));
            if low - high > 2.0 {
                scene.line(vec![(*x, low), (*x, high)], Stroke::new(ink, 1.5).opacity(0.55));
            }
            let says = (self.drawn.describe)(key, point);
            scene.mark((*x, *y), key.mark, ink, point.wrong, says);
        }
    }
}

/// Describes a point: `read cold, 4 KiB: 2.71 GiB/s`.
pub fn describe_point(figure: &Figure, name: &str, point: &FigurePoint) -> String {
    let place = (figure.across.show)(point.at);
    let name = if name.is_empty() { place } else { format!("{name}, {place}") };
    format!("{name}: {}", show_span(figure, point.span))
}

/// Returns a value in the unit of its figure.
fn show_span(figure: &Figure, (low, middle, high): ValueSpan) -> String {
    let show = |value: f64| match figure.of {
        FigureOf::CommitTail => show_nanos(value),
        FigureOf::Cells(metric) if metric != Metric::Throughput => {
            metric.show(value, Rates::default())
        }
        _ => {
            let (factor, unit) = crate::units::column::unit([value], figure.units);
            format!("{} {unit}", digits(value / factor))
        }
    };
    if low < middle || middle < high {
        format!("{} ({} to {})", show(middle), show(low), show(high))
    } else {
        show(middle)
    }
}

/// Returns the width of the labels on the vertical axis.
pub fn label_width(scale: &ValueScale) -> f64 {
    scale.ticks.iter().map(|(_, label)| font::width(label, SMALL, false)).fold(0.0, f64::max)
}

/// Font sizes.
pub const TITLE_HEIGHT: f64 = 24.0;

pub const HEADER_HEIGHT: f64 = 16.0;

pub const TEXT: f64 = 13.5;

pub const SMALL: f64 = 12.5;

pub const NOTE: f64 = 12.0;

/// The area of a panel's curves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PanelPlace {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}
