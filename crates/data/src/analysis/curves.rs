//! Results as curves, for the screens and for every report: one per backend, cache state and
//! whatever else differs, over the axis that varies.

use std::collections::{HashMap, HashSet};

use super::{CellNames, CellResult, Sign, Signs};
use crate::plan::{Axis, Cache, Job, Skipped};
use crate::record::Severity;
use crate::stats::Summary;
use crate::units::column::Unit;
use crate::units::{self, Rates};

/// The measured quantity that a curve shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metric {
    /// Bytes per second.
    #[default]
    Throughput,
    /// Operations per second.
    Operations,
    /// Commits per second.
    Commits,
    /// System calls per second.
    SystemCalls,
    /// Median latency of an operation, nanoseconds.
    Latency,
    /// CPU time per byte, nanoseconds.
    Cpu,
}

/// A cell's place on a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Index into the results.
    pub result: usize,
    pub x: f64,
    pub y: f64,
    /// The 95 % interval of the median; for latencies p50 to p99; NaN if unknown.
    pub low: f64,
    pub high: f64,
    /// The arithmetic mean over the trials; NaN if unknown.
    pub mean: f64,
    pub worst: Option<Severity>,
}

impl CurvePoint {
    /// Returns the larger half of its interval in percent of its value; `None` without an
    /// interval.
    pub fn half_percent(&self) -> Option<f64> {
        let half = (self.high - self.y).max(self.y - self.low);
        (!self.high.is_nan() && self.y > 0.0).then(|| 100.0 * half / self.y)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub name: String,
    /// Its colour and marker.
    pub sign: Sign,
    /// Its place among the curves.
    pub index: usize,
    pub cache: Cache,
    /// Ascending in x.
    pub points: Vec<CurvePoint>,
    /// Where a cell of the curve failed or was skipped, so that no line leads over it; ascending.
    pub gaps: Vec<f64>,
}

impl Metric {
    pub const ALL: &'static [Metric] = &[
        Metric::Throughput,
        Metric::Operations,
        Metric::Commits,
        Metric::SystemCalls,
        Metric::Latency,
        Metric::Cpu,
    ];

    /// Returns its id on a page: `throughput`.
    pub fn id(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Operations => "operations",
            Metric::Commits => "commits",
            Metric::SystemCalls => "system-calls",
            Metric::Latency => "latency",
            Metric::Cpu => "cpu",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Metric::Throughput => "Throughput",
            Metric::Operations => "Operations per second",
            Metric::Commits => "Commits per second",
            Metric::SystemCalls => "System calls per second",
            Metric::Latency => "Latency",
            Metric::Cpu => "CPU time per byte",
        }
    }

    /// Returns the title of its figure: `Throughput by block size`.
    pub fn title_by(self, axis: Axis) -> String {
        let spread = if self == Metric::Latency { ", median to 99th percentile" } else { "" };
        format!("{} by {}{spread}", self.title(), axis.title())
    }

    /// Returns a value with its unit: `2.71 GiB/s`.
    pub fn show(self, value: f64, rates: Rates) -> String {
        match self {
            Metric::Throughput => rates.show(value),
            Metric::Operations | Metric::Commits | Metric::SystemCalls => {
                format!("{}/s", units::show_count(value))
            }
            Metric::Latency => units::show_nanos(value),
            Metric::Cpu => format!("{} ns/B", units::column::figure(value)),
        }
    }

    /// Returns the units of a column of values.
    pub fn units(self, rates: Rates) -> &'static [Unit] {
        match self {
            Metric::Throughput => rates.units(),
            Metric::Operations | Metric::Commits | Metric::SystemCalls => units::column::PER_SECOND,
            Metric::Latency => units::column::TIME,
            Metric::Cpu => &[(1.0, "ns/B")],
        }
    }

    /// Returns whether its axis is logarithmic by default.
    pub fn usually_log(self) -> bool {
        self == Metric::Latency
    }

    /// Returns whether more is better.
    pub fn more_is_better(self) -> bool {
        !matches!(self, Metric::Latency | Metric::Cpu)
    }

    /// Returns whether any of these results has it.
    pub fn has_value<'a>(self, mut results: impl Iterator<Item = &'a CellResult>) -> bool {
        results.any(|result| self.value_of(result).is_some())
    }

    /// Returns this metric, or the first that has a value if this one has none: calls that move no
    /// bytes have no throughput.
    pub fn or_first<'a>(self, results: impl Iterator<Item = &'a CellResult> + Clone) -> Metric {
        let mut all = [self].into_iter().chain(Metric::ALL.iter().copied());
        all.find(|metric| metric.has_value(results.clone())).unwrap_or(self)
    }

    /// Returns value, low, high and mean of a result; `None` where it has none.
    pub fn value_of(self, result: &CellResult) -> Option<(f64, f64, f64, f64)> {
        match self {
            Metric::Throughput => result.throughput.map(|of| spread(&of.summary)),
            Metric::Operations => result.operations.map(|of| spread(&of.summary)),
            Metric::Commits => result.commit_rate().map(|summary| spread(&summary)),
            Metric::SystemCalls => result.syscalls.map(|of| spread(&of.summary)),
            Metric::Latency => {
                let latency = result.latency.as_ref()?;
                let middle = latency.p50.unwrap_or(latency.mean);
                let high = latency.p99.unwrap_or(f64::NAN);
                Some((middle, if high.is_nan() { high } else { middle }, high, latency.mean))
            }
            Metric::Cpu => result.cpu_per_byte().map(|summary| spread(&summary)),
        }
    }
}

/// Returns median, low, high and mean.
fn spread(of: &Summary) -> (f64, f64, f64, f64) {
    (of.median, of.low.unwrap_or(f64::NAN), of.high.unwrap_or(f64::NAN), of.mean)
}

/// Returns the axis along which cells form curves: the block size if nothing varies.
pub fn axis_of_curves<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Axis {
    Axis::best(jobs).unwrap_or(Axis::Block)
}

/// Returns the curves of these results of a plan's `cells`, in the order of the plan, interrupted
/// where a cell failed or was skipped. With `whole` names, which contain what all curves share,
/// they can be drawn next to curves of other sessions.
pub fn curves(
    cells: &[Job],
    results: &[CellResult],
    skipped: &[Skipped],
    axis: Axis,
    metric: Metric,
    whole: bool,
) -> Vec<Curve> {
    let names = CellNames::from_jobs(results.iter().map(|result| &result.cell));
    let signs = Signs::new(cells, axis);
    let mut curves: Vec<Curve> = Vec::new();
    let mut known: HashMap<Job, usize> = HashMap::new();
    for (index, result) in results.iter().enumerate() {
        let at = *known.entry(axis.without(&result.cell)).or_insert(curves.len());
        if at == curves.len() {
            curves.push(Curve {
                name: names.series(&result.cell, axis, whole),
                sign: signs.of(&result.cell),
                index: at,
                cache: result.cell.cache,
                points: Vec::new(),
                gaps: Vec::new(),
            });
        }
        let x = axis.value_of(&result.cell) as f64;
        let Some((y, low, high, mean)) = metric.value_of(result) else {
            curves[at].gaps.extend(result.error.is_some().then_some(x));
            continue;
        };
        let worst = result.warnings.iter().map(|w| w.severity).max();
        curves[at].points.push(CurvePoint { result: index, x, y, low, high, mean, worst });
    }
    for job in skipped.iter().map(|skipped| &skipped.cell) {
        if let Some(curve) = known.get(&axis.without(job)) {
            curves[*curve].gaps.extend(axis.place(job).map(|x| x as f64));
        }
    }
    // Indexes must not change while results come in.
    curves.retain(|curve| !curve.points.is_empty());
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        curve.gaps.sort_by(f64::total_cmp);
    }
    curves
}

/// Removes the curves of one point if others have more: a chart shows how a value changes. Curves
/// of several sessions with one name stay together. Returns the number of removed curves.
pub fn leave_out_singles<T>(all: &mut Vec<T>, curve_of: impl Fn(&T) -> &Curve) -> usize {
    let (count, mut long) = (all.len(), HashSet::new());
    for curve in all.iter().map(&curve_of).filter(|curve| curve.points.len() > 1) {
        long.insert(curve.name.clone());
    }
    if !long.is_empty() {
        all.retain(|one| long.contains(&curve_of(one).name));
    }
    count - all.len()
}
