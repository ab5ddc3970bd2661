//! Results as curves: one per backend, cache state and whatever else differs, over the axis that
//! varies.

use std::collections::{HashMap, HashSet};

use super::keymap::Action;
use super::plot::{Draw, Point, Series};
use super::theme::{Look, Role};
use crate::analysis::{Axis, Bounds, CellResult, Sign, Signs};
use crate::plan::{Cache, Job, Skipped};
use crate::record::Severity;
use crate::stats::Summary;
use crate::units::Rates;
use crate::units::column::Unit;
use crate::{analysis, units};

/// What a curve shows of its cells.
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
    /// The 95 % interval of the median; for latencies p50 to p99; NaN where there is none.
    pub low: f64,
    pub high: f64,
    /// The arithmetic mean over the trials; NaN where there is none.
    pub mean: f64,
    pub worst: Option<Severity>,
}

impl CurvePoint {
    /// Returns the larger half of its interval in percent of its value; `None` if it has none.
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

impl Curve {
    /// Returns how its line is drawn where lines tell the cache state: what is cold is dashed.
    pub fn line(&self) -> Draw {
        if self.cache == Cache::Cold { Draw::Dashed } else { Draw::LineAndMarkers }
    }

    /// Returns its points for a chart, with their intervals and with its gaps.
    pub fn chart_points(&self) -> Vec<Point> {
        let points = self
            .points
            .iter()
            .map(|point| Point::new(point.x, point.y).within(point.low, point.high));
        let mut drawn: Vec<Point> =
            points.chain(self.gaps.iter().map(|x| Point::gap(*x))).collect();
        drawn.sort_by(|a, b| a.x.total_cmp(&b.x));
        drawn
    }
}

/// What jobs are expected to reach, drawn dotted beside what they do.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// `estimate: call and copy`.
    pub name: String,
    /// What it was made from.
    pub reason: String,
    pub points: Vec<Point>,
}

impl Expected {
    pub fn series<'a>(&'a self, look: &Look) -> Series<'a> {
        let style = look.style(Role::Rule);
        Series { style, ..Series::new(look, 0, &self.name, &self.points).draw(Draw::Dotted) }
    }
}

/// Returns the estimates of these jobs, where bytes per second are shown.
pub fn expected_line<'a>(
    jobs: impl Iterator<Item = &'a Job>,
    axis: Axis,
    metric: Metric,
    bounds: &Bounds,
) -> Vec<Expected> {
    if metric != Metric::Throughput {
        return Vec::new();
    }
    let line = |line: analysis::EstimateLine| {
        let points = line.points.into_iter().map(|(x, y)| Point::new(x, y)).collect();
        Expected { name: line.name, reason: line.reason, points }
    };
    analysis::estimate_lines(jobs, axis, bounds).into_iter().map(line).collect()
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

    /// Returns the metric that an action plots.
    pub fn from_action(action: Action) -> Option<Metric> {
        match action {
            Action::Throughput => Some(Metric::Throughput),
            Action::Operations => Some(Metric::Operations),
            Action::Commits => Some(Metric::Commits),
            Action::SystemCalls => Some(Metric::SystemCalls),
            Action::Latency => Some(Metric::Latency),
            Action::Cpu => Some(Metric::Cpu),
            _ => None,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Metric::Throughput => "Throughput",
            Metric::Operations => "Operations per second",
            Metric::Commits => "Commits per second",
            Metric::SystemCalls => "System calls per second",
            Metric::Latency => "Latency, median to 99th percentile",
            Metric::Cpu => "CPU time per byte",
        }
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

    /// Returns those whose axis of values begins as the other one than usual: latencies are usually
    /// spread logarithmically.
    pub fn turned(look: &Look) -> Vec<Metric> {
        Metric::ALL
            .iter()
            .copied()
            .filter(|metric| look.begins_log(metric.usually_log()) != metric.usually_log())
            .collect()
    }

    /// Returns whether its axis is logarithmic by default.
    pub fn usually_log(self) -> bool {
        self == Metric::Latency
    }

    /// Returns whether more is better.
    pub fn more_is_better(self) -> bool {
        !matches!(self, Metric::Latency | Metric::Cpu)
    }

    /// Returns whether any of these results has a value of it.
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

/// Returns the axis along which cells form curves; that of blocks where nothing varies.
pub fn axis<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Axis {
    Axis::best(jobs).unwrap_or(Axis::Block)
}

/// Returns the curves of these results of a plan's `cells`, in the order of the plan, interrupted
/// where a cell was skipped; what all share is not in their names.
pub fn curves(
    cells: &[Job],
    results: &[CellResult],
    skipped: &[Skipped],
    axis: Axis,
    metric: Metric,
) -> Vec<Curve> {
    let mut names = Names::new(results, axis);
    names.axes.retain(|(_, differ)| *differ);
    build_curves(&names, &Signs::new(cells, axis), results, skipped, metric)
}

/// Returns the same with whole names, for curves of several runs beside each other.
pub fn whole_names(
    cells: &[Job],
    results: &[CellResult],
    skipped: &[Skipped],
    axis: Axis,
    metric: Metric,
) -> Vec<Curve> {
    build_curves(&Names::new(results, axis), &Signs::new(cells, axis), results, skipped, metric)
}

/// Removes the curves of one point if others have more: a chart shows how a value changes. Curves
/// of one name, those of several sessions, stay together. Returns how many it removed.
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

/// Returns what the names of the curves leave out: `warm random`.
pub fn common(results: &[CellResult], axis: Axis) -> String {
    let Some(first) = results.first() else { return String::new() };
    let names = Names::new(results, axis);
    let shared = names.axes.iter().filter(|(_, differ)| !differ);
    let phrases = shared.filter_map(|(axis, _)| axis.phrase_among(&first.cell, false));
    phrases.collect::<Vec<_>>().join(" ")
}

fn build_curves(
    names: &Names,
    signs: &Signs,
    results: &[CellResult],
    skipped: &[Skipped],
    metric: Metric,
) -> Vec<Curve> {
    let axis = names.axis;
    let mut curves: Vec<Curve> = Vec::new();
    let mut known: HashMap<Job, usize> = HashMap::new();
    for (index, result) in results.iter().enumerate() {
        let at = *known.entry(axis.without(&result.cell)).or_insert(curves.len());
        if at == curves.len() {
            curves.push(Curve {
                name: names.name(&result.cell),
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
    // Their places stay as they are while results come in.
    curves.retain(|curve| !curve.points.is_empty());
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        curve.gaps.sort_by(f64::total_cmp);
    }
    curves
}

/// Returns what distinguishes the curves of these results.
struct Names {
    axis: Axis,
    /// The axes of a name behind the backend, and whether the results differ on them.
    axes: Vec<(Axis, bool)>,
}

impl Names {
    fn new(results: &[CellResult], axis: Axis) -> Names {
        let cells = || results.iter().map(|result| &result.cell);
        let others = Axis::ALL.into_iter().filter(|other| ![Axis::Backend, axis].contains(other));
        let axes = others.map(|other| (other, other.differs(cells()))).collect();
        Names { axis, axes }
    }

    /// Returns `read warm`, with what else is not the default.
    fn name(&self, job: &Job) -> String {
        let phrases = self.axes.iter().filter_map(|(axis, differ)| axis.phrase_among(job, *differ));
        std::iter::once(job.backend.to_string()).chain(phrases).collect::<Vec<_>>().join(" ")
    }
}
