//! The curves of a picture: cells that differ in one axis only.

use std::collections::HashMap;

use super::super::table::axes;
use crate::plan::{Cache, Job};
use crate::record::Severity;
use crate::session::{Axis, CellResult};

/// Low, middle, high.
pub type Span = (f64, f64, f64);

pub struct Point {
    /// Which of the results it is.
    pub of: usize,
    pub at: f64,
    pub rate: Option<Span>,
    pub latency: Option<Span>,
    pub wrong: bool,
}

pub struct Curve {
    pub name: String,
    pub bytes: bool,
    pub points: Vec<Point>,
    pub color: &'static str,
    /// Cold curves are dashed, so that colour tells the way alone.
    pub dashed: bool,
}

/// Told from each other, and at least 3:1 from the light and the dark background.
pub const COLORS: [&str; 8] = ["#0b7fc4", "#d55e00", "#0a9270", "#c2569a", "#9a7400", "#7a6fe0", "#d0444f", "#5f7d8c"];

impl Curve {
    pub fn wrong(&self) -> bool {
        self.points.iter().any(|point| point.wrong)
    }

    pub fn stroke(&self) -> String {
        let dash = if self.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        format!("stroke=\"{}\" stroke-width=\"2\" fill=\"none\"{dash}", self.color)
    }
}

/// The axis, and the curves along it in the order of the plan.
pub fn curves(results: &[CellResult]) -> (Axis, Vec<Curve>) {
    let axis = Axis::best(results.iter().map(|result| &result.cell)).unwrap_or(Axis::Block);
    let bytes = results.iter().filter(|r| r.operations.is_some()).all(|r| r.throughput.is_some());
    let mut known: Vec<(Job, Curve)> = Vec::new();
    let mut ways: Vec<Job> = Vec::new();
    for (of, result) in results.iter().enumerate().filter(|(_, r)| r.error.is_none()) {
        let job = axis.without(&result.cell);
        let at = known.iter().position(|(other, _)| *other == job).unwrap_or_else(|| {
            let way = Job { cache: Cache::AsIs, ..job.clone() };
            let color = ways.iter().position(|other| *other == way).unwrap_or(ways.len());
            ways.extend((color == ways.len()).then_some(way));
            known.push((job.clone(), new(&job, axis, bytes, COLORS[color % COLORS.len()])));
            known.len() - 1
        });
        known[at].1.points.push(point(of, result, axis, bytes));
    }
    tell_apart(&mut known);
    let mut curves: Vec<Curve> = known.into_iter().map(|(_, curve)| curve).collect();
    curves.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.at.total_cmp(&b.at)));
    (axis, curves)
}

/// Curves whose label is the same get what their jobs differ in.
fn tell_apart(curves: &mut [(Job, Curve)]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    curves.iter().for_each(|(_, curve)| *seen.entry(curve.name.clone()).or_default() += 1);
    let twin = |curve: &Curve| seen.get(&curve.name).is_some_and(|count| *count > 1);
    let twins: Vec<Job> = curves.iter().filter(|(_, curve)| twin(curve)).map(|(job, _)| job.clone()).collect();
    let varying: Vec<&axes::Axis> = axes::AXES.iter().filter(|axis| axis.varies(twins.iter())).collect();
    for (job, curve) in curves.iter_mut().filter(|(_, curve)| twin(curve)) {
        let told = varying.iter().map(|axis| (axis.name, (axis.value)(job))).filter(|(_, value)| !curve.name.contains(value));
        let parts: Vec<String> = told.map(|(name, value)| format!(", {name} {value}")).collect();
        curve.name += &parts.concat();
    }
}

fn new(job: &Job, axis: Axis, bytes: bool, color: &'static str) -> Curve {
    let label = job.label();
    let name = match axis {
        // A label begins with backend and block; along the axis of blocks the latter is none.
        Axis::Block => label.replacen(" 1 B", "", 1),
        // Without its share of reads a mixed job looks like one that writes.
        Axis::Mix => label.replacen(" write", "", 1),
        _ => label,
    };
    Curve { name, bytes, points: Vec::new(), color, dashed: job.cache == Cache::Cold }
}

fn point(of: usize, result: &CellResult, axis: Axis, bytes: bool) -> Point {
    let rate = if bytes { result.throughput } else { result.operations }.map(|of| of.summary);
    let rate = rate.map(|s| (s.low.unwrap_or(s.median), s.median, s.high.unwrap_or(s.median)));
    let latency = result.latency.and_then(|l| l.p50.map(|p50| (p50, p50, l.p99.unwrap_or(p50))));
    let whole = |span: &Span| span.1 > 0.0 && [span.0, span.1, span.2].iter().all(|v| v.is_finite());
    let wrong = result.warnings.iter().any(|w| w.severity == Severity::Wrong);
    Point { of, at: axis.of(&result.cell) as f64, rate: rate.filter(whole), latency: latency.filter(whole), wrong }
}
