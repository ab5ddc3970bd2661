//! The figures of jobs: the axis of their curves, the cells that share a figure, and what each
//! figure shows.

use std::collections::{HashMap, HashSet};

use super::facets::{self, Split, index_or_insert};
use super::model::{
    Bar, Bars, Curve, Figure, Group, Key, Line, Metric, Panel, Point, about, estimates, points,
    spans,
};
use super::scale::{Across, Scale, Span, is_drawable};
use crate::analysis;
use crate::analysis::{
    Axis, Bounds, CellResult, EstimateLine, Sign, Signs, SummaryOf, group_by_key,
};
use crate::plan::{Cache, Job};
use crate::record::Severity;
use crate::report::Look;
use crate::session::Session;
use crate::units::column::{PER_SECOND, TIME, Unit};
use crate::units::{show_count, ticks};

/// Estimates above the measured values by more than this would flatten them; a logarithmic scale
/// has more room.
const MAX_ESTIMATE_RATIO: f64 = 2.0;
const MAX_ESTIMATE_RATIO_LOG: f64 = 10.0;

/// Returns the groups of figures for the results that can be drawn.
pub fn groups(session: &Session, results: &[CellResult], look: &Look) -> Vec<Group> {
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

/// The known facts about the curves of a group before they are drawn.
struct Curves {
    keys: Vec<Key>,
    split: Split,
    /// For each curve, its cells in the order of the axis, and its key.
    cells: Vec<Vec<usize>>,
    key: Vec<usize>,
}

impl Curves {
    fn new(results: &[CellResult], axis: Axis, own: &HashSet<usize>) -> Curves {
        let own = (0..results.len()).filter(|of| own.contains(of));
        let curves = group_by_key(own, |of| without_position(axis, &results[*of].cell));
        let (jobs, mut cells): (Vec<Job>, Vec<Vec<usize>>) = curves.into_iter().unzip();
        cells
            .iter_mut()
            .for_each(|cells| cells.sort_by_key(|of| axis.value_of(&results[*of].cell)));
        let split = facets::split(&jobs);
        let names = facets::names(&split.jobs);
        // Panels share a legend: a series is the same in each.
        let signs = Signs::new(&split.jobs, axis);
        let (mut shown, mut keys) = (Vec::new(), Vec::new());
        let key = (0..jobs.len()).map(|at| {
            let own = index_or_insert(&mut shown, names[at].clone());
            if own == keys.len() {
                let line = if jobs[at].cache == Cache::Cold { Line::Dashed } else { Line::Solid };
                keys.push(Key::of_sign(names[at].clone(), signs.of(&split.jobs[at]), line));
            }
            own
        });
        let key = key.collect();
        Curves { keys, split, cells, key }
    }
}

/// One figure of a group, as requested.
struct FigureSpec<'a> {
    metric: Metric,
    title: &'static str,
    units: &'static [Unit],
    value: &'a dyn Fn(&CellResult) -> Option<Span>,
    again: bool,
}

/// Returns the commits per second of a cell.
fn commits(result: &CellResult) -> Option<Span> {
    let summary = result.commit_rate()?;
    Some(span(SummaryOf { summary, unit: "1/s" })).filter(is_drawable)
}

/// Returns the 99th percentile of a cell's commits.
fn tail(result: &CellResult) -> Option<Span> {
    let p99 = result.commits?.total.p99?;
    Some((p99, p99, p99)).filter(is_drawable)
}

fn group(
    session: &Session,
    results: &[CellResult],
    axis: Axis,
    own: &HashSet<usize>,
    look: &Look,
) -> Option<Group> {
    let curves = Curves::new(results, axis, own);
    let counts = axis == Axis::Count;
    let some = |value: &dyn Fn(&CellResult) -> Option<Span>| {
        own.iter().any(|of| value(&results[*of]).is_some())
    };
    fn rate(result: &CellResult) -> Option<(f64, f64, f64)> {
        result.throughput.map(span).filter(is_drawable)
    }
    fn calls(result: &CellResult) -> Option<(f64, f64, f64)> {
        result.operations.map(span).filter(is_drawable)
    }
    let bare = |result: &CellResult| calls(result).filter(|_| result.throughput.is_none());
    fn latency(result: &CellResult) -> Option<(f64, f64, f64)> {
        let latency = result.latency?;
        latency.p50.map(|p50| (p50, p50, latency.p99.unwrap_or(p50))).filter(is_drawable)
    }
    let spec =
        |metric, title, units, value, again| FigureSpec { metric, title, units, value, again };
    let (bytes, moves) = (look.unit.units(), some(&rate));
    let throughput = spec(Metric::Throughput, "Throughput", bytes, &rate, counts);
    let all_calls =
        spec(Metric::Operations, "Calls per second", PER_SECOND, &calls, moves && !counts);
    let bare_calls = spec(Metric::Operations, "Calls per second", PER_SECOND, &bare, false);
    let times = spec(Metric::Latency, "Latency of one operation", TIME, &latency, false);
    let commits = spec(Metric::Commits, "Commits per second", PER_SECOND, &commits, false);
    let tail = spec(Metric::CommitTail, "99th percentile of a commit", TIME, &tail, false);
    // Calls that move no bytes have a separate figure and take no room from the others.
    let order: Vec<&FigureSpec> = match (counts, moves && some(&bare)) {
        (true, _) => vec![&all_calls, &throughput, &times],
        (_, true) => vec![&throughput, &bare_calls, &all_calls, &times],
        _ => vec![&throughput, &all_calls, &times],
    };
    let bounds = Bounds::from_session(session);
    let figures: Vec<Figure> = [&commits, &tail]
        .into_iter()
        .chain(order)
        .filter_map(|spec| spec.build_figure(results, axis, &curves, &bounds, look))
        .collect();
    let title = figures.first()?.title.clone();
    let mut keys = curves.keys;
    for line in figures.iter().flat_map(|figure| estimates(&figure.panels)) {
        index_or_insert(&mut keys, Key::of_estimate(line.name.clone()));
    }
    Some(Group { title, keys, figures, bars: None })
}

impl FigureSpec<'_> {
    fn build_figure(
        &self,
        results: &[CellResult],
        axis: Axis,
        curves: &Curves,
        bounds: &Bounds,
        look: &Look,
    ) -> Option<Figure> {
        let (mut panels, cells) = self.make_panels(results, axis, curves);
        let mut scale = Scale::for_values(spans(&panels), look.scale, self.units)?;
        if self.metric == Metric::Throughput {
            let far = if scale.log { MAX_ESTIMATE_RATIO_LOG } else { MAX_ESTIMATE_RATIO };
            add_expected(&mut panels, &cells, axis, bounds, far);
            scale = Scale::for_values(spans(&panels), look.scale, self.units)?;
        }
        panels.retain(|panel| !panel.curves.is_empty());
        let places: Vec<f64> = points(&panels).map(|point| point.at).collect();
        Some(Figure {
            metric: self.metric,
            title: format!("{} by {}", self.title, axis.title()),
            about: match self.metric {
                Metric::Latency => "p50, with a line up to p99",
                Metric::CommitTail => "of the commits of all trials",
                _ => about(points(&panels)),
            }
            .into(),
            units: self.units,
            across: across(axis, &places),
            scale,
            means: axis == Axis::Count && self.metric != Metric::Latency,
            again: self.again,
            panels,
        })
    }

    /// Returns the panels with their curves, and the cells of each.
    fn make_panels<'r>(
        &self,
        results: &'r [CellResult],
        axis: Axis,
        curves: &Curves,
    ) -> (Vec<Panel>, Vec<Vec<&'r Job>>) {
        let empty = |title: &String| Panel {
            title: title.clone(),
            curves: Vec::new(),
            expected: Vec::new(),
        };
        let mut panels: Vec<Panel> = curves.split.titles.iter().map(empty).collect();
        let mut cells = vec![Vec::new(); panels.len()];
        for (at, own) in curves.cells.iter().enumerate() {
            let points: Vec<Point> =
                own.iter().filter_map(|of| self.point(&results[*of], *of, axis)).collect();
            if !points.is_empty() {
                let panel = curves.split.panel[at];
                panels[panel].curves.push(Curve { key: curves.key[at], points });
                cells[panel].extend(own.iter().map(|of| &results[*of].cell));
            }
        }
        (panels, cells)
    }

    fn point(&self, result: &CellResult, of: usize, axis: Axis) -> Option<Point> {
        let span = (self.value)(result)?;
        let wrong = result.warnings.iter().any(|warning| warning.severity == Severity::Wrong);
        Some(Point { at: axis.value_of(&result.cell) as f64, span, expected: None, wrong, of })
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

fn span(of: SummaryOf) -> Span {
    let summary = of.summary;
    (summary.low.unwrap_or(summary.median), summary.median, summary.high.unwrap_or(summary.median))
}

/// Threads and depths that do not double, such as 1, 5, 10, 15, are evenly spaced.
fn across(axis: Axis, places: &[f64]) -> Across {
    fn power(at: &f64) -> bool {
        (*at as u64).is_power_of_two()
    }
    let even = matches!(axis, Axis::Threads | Axis::Depth) && !places.iter().all(power);
    // One system per axis: no 8 Mi beside 10,000,000.
    let binary = places.iter().filter(|at| **at >= MIN_PREFIXED).all(power);
    let show = move |at: f64| match axis {
        Axis::Count if binary => show_binary_count(at),
        Axis::Count => decimal(at),
        _ => axis.tick(at),
    };
    Across::new(axis.title().into(), axis.is_log() && !even, places.iter().copied(), show)
}

/// From this value on, counts have prefixes.
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

/// Returns the cells on no curve: one bar each, with bytes per second apart from calls per second.
fn bars(results: &[CellResult], rest: &[usize], look: &Look) -> Vec<Group> {
    let names = {
        let jobs: Vec<Job> = rest.iter().map(|of| results[*of].cell.clone()).collect();
        facets::full_names(&jobs)
    };
    let of = |title: &str,
              units: &'static [Unit],
              value: &dyn Fn(&CellResult) -> Option<SummaryOf>,
              show: &dyn Fn(f64) -> String| {
        let mut keys: Vec<Key> = Vec::new();
        let bar = |(of, name): (&usize, &String)| {
            let result = &results[*of];
            let span = value(result).map(span).filter(is_drawable)?;
            let wrong = result.warnings.iter().any(|warning| warning.severity == Severity::Wrong);
            let point = Point { at: 0.0, span, expected: None, wrong, of: *of };
            let job = &result.cell;
            let own = Key::of_sign(job.backend.to_string(), Sign::of(job), Line::Solid);
            let key = index_or_insert(&mut keys, own);
            let (show, reported) = (show(span.1), Vec::new());
            Some(Bar { key, label: name.clone(), point, show, reported })
        };
        let rows: Vec<Bar> = rest.iter().zip(&names).filter_map(bar).collect();
        let scale = Scale::for_values(rows.iter().map(|row| row.point.span), look.scale, units)?;
        let bars = Some(Bars { title: title.into(), jobs: true, scale, rows });
        Some(Group { title: title.into(), keys, figures: Vec::new(), bars })
    };
    let rates = of("Throughput", look.unit.units(), &|result| result.throughput, &|rate| {
        look.unit.show(rate)
    });
    fn bare(result: &CellResult) -> Option<SummaryOf> {
        result.operations.filter(|_| result.throughput.is_none())
    }
    let calls =
        of("Calls per second", PER_SECOND, &bare, &|calls| format!("{}/s", show_count(calls)));
    [rates, calls].into_iter().flatten().collect()
}
