//! The figures of jobs: the axis of their curves, the cells that share a figure, and the metrics of
//! a group.

use std::collections::{HashMap, HashSet};

use super::facets::{self, PanelSplit, index_or_insert};
use super::model::{
    Figure, FigureBar, FigureBars, FigureGroup, FigureOf, FigurePoint, LegendKey, LineStyle, Panel,
    PanelCurve, about, estimates, points, spans,
};
use super::scale::{Across, ValueScale, ValueSpan, is_drawable};
use crate::analysis;
use crate::analysis::{
    Axis, Bounds, CellNames, CellResult, EstimateLine, Metric, Sign, Signs, group_by_key,
};
use crate::plan::{Cache, Job};
use crate::record::Severity;
use crate::report::Look;
use crate::session::Session;
use crate::units::column::{TIME, Unit};
use crate::units::{show_count, ticks};

/// Estimates above the measured values by more than this would flatten them; a logarithmic scale
/// has more room.
const MAX_ESTIMATE_RATIO: f64 = 2.0;
const MAX_ESTIMATE_RATIO_LOG: f64 = 10.0;

/// Returns the groups of figures for the results that can be drawn.
pub fn groups(session: &Session, results: &[CellResult], look: &Look) -> Vec<FigureGroup> {
    let mut rest: Vec<usize> = (0..results.len())
        .filter(|of| results[*of].error.is_none() && results[*of].operations.is_some())
        .collect();
    let mut groups = Vec::new();
    while let Some((axis, own)) = longest_lines(results, &rest) {
        rest.retain(|of| !own.contains(of));
        groups.extend(group(session, results, axis, &own, look));
    }
    groups.extend(bars(results, &rest, look));
    groups
}

/// Returns the axis along which most of these cells can be joined to curves, and those cells;
/// `None` if no two can be joined.
fn longest_lines(results: &[CellResult], of: &[usize]) -> Option<(Axis, HashSet<usize>)> {
    let along = |axis: Axis| {
        let mut lines: HashMap<Job, Vec<(u64, usize)>> = HashMap::new();
        for of in of {
            let cell = &results[*of].cell;
            if let Some(at) = axis.place(cell) {
                lines.entry(without_position(axis, cell)).or_default().push((at, *of));
            }
        }
        lines.retain(|_, points| points.iter().any(|point| point.0 != points[0].0));
        let own: HashSet<usize> = lines.values().flatten().map(|(_, of)| *of).collect();
        let places = || lines.values().flatten().map(|(at, _)| (*at).max(1));
        let reach = places().max().unwrap_or(1) / places().min().unwrap_or(1);
        // By the number of steps: long curves show more than many curves.
        (own.len().saturating_sub(lines.len()), reach, own)
    };
    let mut best: Option<(usize, u64, Axis, HashSet<usize>)> = None;
    for axis in Axis::NUMBERS {
        let (steps, reach, own) = along(axis);
        if steps > 0 && best.as_ref().is_none_or(|known| (steps, reach) > (known.0, known.1)) {
            best = Some((steps, reach, axis, own));
        }
    }
    best.map(|(_, _, axis, own)| (axis, own))
}

/// Returns the job without its place on the axis. If the file is no longer than what is read of it,
/// its size is the same as the count.
fn without_position(axis: Axis, cell: &Job) -> Job {
    let mut job = axis.without(cell);
    if axis == Axis::Count
        && cell.count.is_some_and(|count| count.checked_mul(cell.block) == Some(cell.span))
    {
        job.span = 0;
    }
    job
}

/// The curves of a group before a metric is chosen.
struct GroupCurves {
    keys: Vec<LegendKey>,
    split: PanelSplit,
    /// For each curve, its cells in the order of the axis, and its key.
    cells: Vec<Vec<usize>>,
    key: Vec<usize>,
}

impl GroupCurves {
    fn new(results: &[CellResult], axis: Axis, own: &HashSet<usize>) -> GroupCurves {
        let own = (0..results.len()).filter(|of| own.contains(of));
        let curves = group_by_key(own, |of| without_position(axis, &results[*of].cell));
        let (jobs, mut cells): (Vec<Job>, Vec<Vec<usize>>) = curves.into_iter().unzip();
        cells
            .iter_mut()
            .for_each(|cells| cells.sort_by_key(|of| axis.value_of(&results[*of].cell)));
        let split = facets::split(&jobs);
        let names = CellNames::from_jobs(split.jobs.iter());
        // Panels share a legend: a series is the same in each.
        let signs = Signs::new(&split.jobs, axis);
        let (mut shown, mut keys) = (Vec::new(), Vec::new());
        let key = (0..jobs.len()).map(|at| {
            let job = &split.jobs[at];
            let name = names.series(job, axis, false);
            let own = index_or_insert(&mut shown, name.clone());
            if own == keys.len() {
                let line = if jobs[at].cache == Cache::Cold {
                    LineStyle::Dashed
                } else {
                    LineStyle::Solid
                };
                keys.push(LegendKey::of_sign(name, signs.of(job), line));
            }
            own
        });
        let key = key.collect();
        GroupCurves { keys, split, cells, key }
    }
}

/// One figure of a group, as requested.
struct FigureSpec<'a> {
    of: FigureOf,
    units: &'static [Unit],
    value: &'a dyn Fn(&CellResult) -> Option<ValueSpan>,
    again: bool,
}

/// Returns a metric of a cell as it is drawn.
fn span(metric: Metric, result: &CellResult) -> Option<ValueSpan> {
    let (value, low, high, _) = metric.value_of(result)?;
    let end = |end: f64| if end.is_nan() { value } else { end };
    Some((end(low), value, end(high))).filter(is_drawable)
}

/// Returns the operations per second of a cell that moves no bytes.
fn bare_operations(result: &CellResult) -> Option<ValueSpan> {
    if result.throughput.is_some() { None } else { span(Metric::Operations, result) }
}

/// Returns the 99th percentile of a cell's commits.
fn commit_tail(result: &CellResult) -> Option<ValueSpan> {
    let p99 = result.commits?.total.p99?;
    Some((p99, p99, p99)).filter(is_drawable)
}

fn group(
    session: &Session,
    results: &[CellResult],
    axis: Axis,
    own: &HashSet<usize>,
    look: &Look,
) -> Option<FigureGroup> {
    let curves = GroupCurves::new(results, axis, own);
    let counts = axis == Axis::Count;
    let throughput = |result: &CellResult| span(Metric::Throughput, result);
    let operations = |result: &CellResult| span(Metric::Operations, result);
    let latency = |result: &CellResult| span(Metric::Latency, result);
    let commits = |result: &CellResult| span(Metric::Commits, result);
    let spec = |metric: Metric, value, again| FigureSpec {
        of: FigureOf::Cells(metric),
        units: metric.units(look.unit),
        value,
        again,
    };
    let moves = own.iter().any(|of| throughput(&results[*of]).is_some());
    let bare = own.iter().any(|of| bare_operations(&results[*of]).is_some());
    let throughput = spec(Metric::Throughput, &throughput, counts);
    let all_operations = spec(Metric::Operations, &operations, moves && !counts);
    let bare_operations = spec(Metric::Operations, &bare_operations, false);
    let latency = spec(Metric::Latency, &latency, false);
    let commits = spec(Metric::Commits, &commits, false);
    let tail =
        FigureSpec { of: FigureOf::CommitTail, units: TIME, value: &commit_tail, again: false };
    // Calls that move no bytes have a separate figure and take no room from the others.
    let order = if counts {
        vec![&commits, &tail, &all_operations, &throughput, &latency]
    } else if moves && bare {
        vec![&commits, &tail, &throughput, &bare_operations, &all_operations, &latency]
    } else {
        vec![&commits, &tail, &throughput, &all_operations, &latency]
    };
    let bounds = Bounds::from_session(session);
    let figures: Vec<Figure> = order
        .into_iter()
        .filter_map(|spec| spec.build_figure(results, axis, &curves, &bounds, look))
        .collect();
    let title = figures.first()?.title.clone();
    let mut keys = curves.keys;
    for line in figures.iter().flat_map(|figure| estimates(&figure.panels)) {
        index_or_insert(&mut keys, LegendKey::of_estimate(line.name.clone()));
    }
    Some(FigureGroup { title, keys, figures, bars: None })
}

impl FigureSpec<'_> {
    fn build_figure(
        &self,
        results: &[CellResult],
        axis: Axis,
        curves: &GroupCurves,
        bounds: &Bounds,
        look: &Look,
    ) -> Option<Figure> {
        let (mut panels, cells) = self.make_panels(results, axis, curves);
        let mut scale = ValueScale::for_values(spans(&panels), look.scale, self.units)?;
        if self.of == FigureOf::Cells(Metric::Throughput) {
            let far = if scale.log { MAX_ESTIMATE_RATIO_LOG } else { MAX_ESTIMATE_RATIO };
            add_expected(&mut panels, &cells, axis, bounds, far);
            scale = ValueScale::for_values(spans(&panels), look.scale, self.units)?;
        }
        panels.retain(|panel| !panel.curves.is_empty());
        let places: Vec<f64> = points(&panels).map(|point| point.at).collect();
        let (title, about) = match self.of {
            FigureOf::Cells(Metric::Latency) => (Metric::Latency.title_by(axis), ""),
            FigureOf::Cells(metric) => (metric.title_by(axis), about(points(&panels))),
            _ => (
                format!("99th percentile of a commit by {}", axis.title()),
                "of the commits of all trials",
            ),
        };
        Some(Figure {
            of: self.of,
            title,
            about: about.into(),
            units: self.units,
            across: across(axis, &places),
            scale,
            means: axis == Axis::Count && self.of != FigureOf::Cells(Metric::Latency),
            again: self.again,
            panels,
        })
    }

    /// Returns the panels with their curves, and the cells of each.
    fn make_panels<'r>(
        &self,
        results: &'r [CellResult],
        axis: Axis,
        curves: &GroupCurves,
    ) -> (Vec<Panel>, Vec<Vec<&'r Job>>) {
        let empty = |title: &String| Panel { title: title.clone(), ..Panel::default() };
        let mut panels: Vec<Panel> = curves.split.titles.iter().map(empty).collect();
        let mut cells = vec![Vec::new(); panels.len()];
        for (at, own) in curves.cells.iter().enumerate() {
            let points = own.iter().filter_map(|of| {
                let result = &results[*of];
                let at = axis.value_of(&result.cell) as f64;
                point(result, *of, at, (self.value)(result))
            });
            let points: Vec<FigurePoint> = points.collect();
            if !points.is_empty() {
                let panel = curves.split.panel[at];
                panels[panel].curves.push(PanelCurve { key: curves.key[at], points });
                cells[panel].extend(own.iter().map(|of| &results[*of].cell));
            }
        }
        (panels, cells)
    }
}

/// Adds the expected lines, except those above `far` times the highest value.
fn add_expected(panels: &mut [Panel], cells: &[Vec<&Job>], axis: Axis, bounds: &Bounds, far: f64) {
    let far = far * points(panels).map(|point| point.span.1).fold(0.0, f64::max);
    for (panel, jobs) in panels.iter_mut().zip(cells) {
        panel.expected = analysis::estimate_lines(jobs.iter().copied(), axis, bounds);
        // Explicitly requested estimates are drawn however far away they are.
        panel.expected.iter_mut().for_each(|line| {
            line.points.retain(|(_, rate)| *rate <= far || Some(*rate) == bounds.rated)
        });
        panel.expected.retain(|line: &EstimateLine| !line.points.is_empty());
    }
}

/// Threads and depths that do not double, such as 1, 5, 10, 15, are evenly spaced.
fn across(axis: Axis, places: &[f64]) -> Across {
    fn power(at: &f64) -> bool {
        (*at as u64).is_power_of_two()
    }
    let even = matches!(axis, Axis::Threads | Axis::Depth) && !places.iter().all(power);
    // One system per axis: no 8 Mi next to 10,000,000.
    let binary = places.iter().filter(|at| **at >= MIN_PREFIXED).all(power);
    let show = move |at: f64| match axis {
        Axis::Count if binary => show_binary_count(at),
        Axis::Count => decimal(at),
        _ => axis.tick(at),
    };
    Across::new(axis.title().into(), axis.is_log() && !even, places.iter().copied(), show)
}

/// Smallest count that is written with a prefix.
const MIN_PREFIXED: f64 = 8192.0;

fn decimal(count: f64) -> String {
    if count < 100_000.0 { ticks::label(count) } else { show_count(count) }
}

/// Formats a count: with a binary prefix if it is a whole multiple, as counts of blocks are.
pub fn show_binary_count(count: f64) -> String {
    let whole = count as u64;
    match whole {
        _ if whole >= 1 << 20 && whole.is_multiple_of(1 << 20) => format!("{} Mi", whole >> 20),
        _ if whole >= 1 << 13 && whole.is_multiple_of(1 << 10) => format!("{} Ki", whole >> 10),
        _ => decimal(count),
    }
}

/// Returns the cells on no curve: one bar each, with bytes per second apart from operations per
/// second.
fn bars(results: &[CellResult], rest: &[usize], look: &Look) -> Vec<FigureGroup> {
    let names = CellNames::from_jobs(rest.iter().map(|of| &results[*of].cell));
    let mut groups = Vec::new();
    for metric in [Metric::Throughput, Metric::Operations] {
        let (mut keys, mut rows) = (Vec::new(), Vec::new());
        for of in rest {
            let result = &results[*of];
            if metric == Metric::Operations && result.throughput.is_some() {
                continue;
            }
            let Some(point) = point(result, *of, 0.0, span(metric, result)) else { continue };
            let job = &result.cell;
            let own = LegendKey::of_sign(job.backend.to_string(), Sign::of(job), LineStyle::Solid);
            let key = index_or_insert(&mut keys, own);
            let (label, show) = (names.full(job), metric.show(point.span.1, look.unit));
            rows.push(FigureBar { key, label, point, show, reported: Vec::new() });
        }
        let spans = rows.iter().map(|row| row.point.span);
        let Some(scale) = ValueScale::for_values(spans, look.scale, metric.units(look.unit)) else {
            continue;
        };
        let title = metric.title().to_string();
        let bars = Some(FigureBars { title: title.clone(), jobs: true, scale, rows });
        groups.push(FigureGroup { title, keys, figures: Vec::new(), bars });
    }
    groups
}

/// Returns a result as a point, if it has a value.
fn point(result: &CellResult, of: usize, at: f64, span: Option<ValueSpan>) -> Option<FigurePoint> {
    let wrong = result.warnings.iter().any(|warning| warning.severity == Severity::Wrong);
    Some(FigurePoint { at, span: span?, expected: None, wrong, of })
}
