//! One panel: axes, a grid, and the curves on it.

use std::io::{self, Write};

use super::curves::{Curve, Point, Span};
use super::scale::Scale;
use super::{LEFT, PLOT, words};
use crate::session::{Axis, Estimated};
use crate::units::column::{self, Unit};

/// How an estimate is drawn.
pub const EXPECTED: &str = "stroke=\"#808890\" stroke-width=\"2\" stroke-linecap=\"round\" stroke-dasharray=\"0 5\" fill=\"none\"";

pub struct Place {
    pub top: f64,
    pub height: f64,
}

pub struct Panel<'a> {
    pub curves: &'a [Curve],
    /// Dotted, where they lie near the curves.
    pub expected: &'a [Estimated],
    pub axis: Axis,
    pub unit: &'static [Unit],
    pub value: fn(&Point) -> Option<Span>,
    pub place: Place,
}

impl Panel<'_> {
    fn scale(&self) -> Option<Scale> {
        let points = self.curves.iter().flat_map(|curve| &curve.points);
        Scale::with(self.axis, &points.map(|point| (point.at, (self.value)(point))).collect::<Vec<_>>(), self.expected)
    }

    fn y(&self, scale: &Scale, value: f64) -> f64 {
        self.place.top + self.place.height * (1.0 - scale.up(value))
    }

    fn x(scale: &Scale, at: f64) -> f64 {
        LEFT + 12.0 + scale.across(at) * (PLOT - 24.0)
    }

    pub fn draw(&self, out: &mut dyn Write, title: &str) -> io::Result<()> {
        let top = self.place.top;
        let Some(scale) = self.scale() else {
            return words(out, "s", LEFT, top + 20.0, &format!("{title}: not measured"));
        };
        self.grid(out, &scale, title)?;
        for line in self.expected {
            let near = line.points.iter().filter(|(_, rate)| scale.holds(*rate));
            let places: Vec<String> = near.map(|(at, rate)| format!("{:.1},{:.1}", Self::x(&scale, *at), self.y(&scale, *rate))).collect();
            writeln!(out, "<polyline points=\"{}\" {EXPECTED}/>", places.join(" "))?;
        }
        for curve in self.curves {
            self.curve(out, &scale, curve)?;
        }
        Ok(())
    }

    fn grid(&self, out: &mut dyn Write, scale: &Scale, title: &str) -> io::Result<()> {
        let Place { top, height } = self.place;
        let (factor, unit) = column::unit([scale.high], self.unit);
        words(out, "s", LEFT, top - 6.0, &if scale.log { format!("{title}, logarithmic") } else { format!("{unit}: {title}") })?;
        let lines = if height > 150.0 { 5 } else { 3 };
        for step in 0..=lines {
            let share = f64::from(step) / f64::from(lines);
            let value = if scale.log { scale.low * (scale.high / scale.low).powf(share) } else { scale.high * share };
            let y = top + height * (1.0 - share);
            writeln!(out, "<line class=\"g\" stroke=\"#d0d7de\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>", LEFT + PLOT)?;
            // Over many powers of ten every value has its own unit.
            let (factor, own) = if scale.log { column::unit([value], self.unit) } else { (factor, "") };
            words(out, "s", 4.0, y + 4.0, format!("{} {own}", column::figure(value / factor)).trim())?;
        }
        let mut ticks: Vec<f64> = self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.at).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let every = ticks.len().div_ceil(9).max(1);
        for at in ticks.iter().step_by(every) {
            words(out, "s", Self::x(scale, *at) - 18.0, top + height + 16.0, &self.axis.tick(*at))?;
        }
        Ok(())
    }

    fn curve(&self, out: &mut dyn Write, scale: &Scale, curve: &Curve) -> io::Result<()> {
        let points: Vec<(f64, Span, bool)> =
            curve.points.iter().filter_map(|point| Some((Self::x(scale, point.at), (self.value)(point)?, point.wrong))).collect();
        let place = |(x, span, _): &(f64, Span, bool)| format!("{x:.1},{:.1}", self.y(scale, span.1));
        if points.len() > 1 {
            let all: Vec<String> = points.iter().map(place).collect();
            writeln!(out, "<polyline points=\"{}\" {}/>", all.join(" "), curve.stroke())?;
        }
        let color = curve.color;
        for (x, span, wrong) in &points {
            let (low, y, high) = (self.y(scale, span.0), self.y(scale, span.1), self.y(scale, span.2));
            writeln!(out, "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\" stroke=\"{color}\"/>")?;
            let fill = if *wrong { "class=\"bg\" fill=\"#ffffff\"".into() } else { format!("fill=\"{color}\"") };
            writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" {fill} stroke=\"{color}\"/>")?;
        }
        Ok(())
    }
}
