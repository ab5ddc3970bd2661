//! The displayed data of a session, built once: curves by metric, table columns, cell positions.

use std::path::{Path, PathBuf};

use super::sheet::Sheet;
use crate::analysis::{
    Axis, Bounds, CellNames, CellResult, Sign, Signs, brief_words, is_refinable, refinements,
};
use crate::curves::{Curve, Expected, Metric};
use crate::plot::Point;
use crate::record::{Latency, Sample, Severity, Warning};
use crate::refine::{describe_first_look, describe_refinement};
use crate::report::Look;
use crate::report::table::{Table, extras};
use crate::session::Samples;
use crate::session_view::SessionView;
use crate::stats::reduce;
use crate::units::Rates;
use crate::view::list::next_of;
use crate::warning_groups::WarningGroup;
use crate::zoom::Places;
use crate::{curves, warning_groups};

/// The points of a curve as drawn by the chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CurvePoints {
    pub medians: Vec<Point>,
    pub means: Vec<Point>,
    /// Points with a misleading value.
    pub misleading: Vec<Point>,
    /// Points with a wrong value.
    pub wrong: Vec<Point>,
}

/// Progress of a measurement that needs more trials, and what more trials would reach.
#[derive(Debug, Clone, PartialEq)]
pub struct Unfinished {
    pub share: f64,
    pub said: String,
    pub refinement: Option<String>,
}

impl Unfinished {
    fn of(view: &SessionView) -> Option<Unfinished> {
        let first_look = view.first_look?;
        let ways = refinements(&view.session, &view.results);
        Some(Unfinished {
            share: first_look.share,
            said: describe_first_look(&first_look),
            refinement: describe_refinement(&ways),
        })
    }
}

#[derive(Debug)]
pub struct Data {
    pub view: SessionView,
    pub unfinished: Option<Unfinished>,
    /// Where the points are along the x axis.
    pub places: Places,
    /// The available x axes, the most useful first.
    pub axes: Vec<Axis>,
    /// The XOR shared by all cells that computed one; `None` if they differ or are fewer than two.
    pub same_xor: Option<String>,
    /// Small tables that only some sessions have.
    pub extras: Vec<Table>,
    pub metric: Metric,
    pub curves: Vec<Curve>,
    /// Settings that all cells share, so that no curve is named after them.
    pub common: String,
    /// Estimates next to the curves: the last rows of the legend.
    pub expected: Vec<Expected>,
    /// The points of each curve.
    pub points: Vec<CurvePoints>,
    /// The warnings of all results by kind.
    pub warnings: Vec<WarningGroup>,
    /// Maximum number of legend rows with a value at one place, so that the layout stays when the
    /// cursor moves.
    pub most_listed: usize,
    pub sheet: Sheet,
    /// Colour and marker of each result.
    pub signs: Vec<Sign>,
    /// Index in the plan of each result's cell.
    cells: Vec<usize>,
    /// Named ceilings of memory and device over the throughput curves, if measured.
    pub ceilings: Vec<(String, f64)>,
}

impl Data {
    pub fn new(view: SessionView, metric: Metric, unit: Rates) -> Data {
        let axes = Axis::choices(view.results.iter().map(|result| &result.cell));
        let axis = axes.first().copied().unwrap_or(Axis::Block);
        let same_xor = same_xor(&view.results);
        let extras = extras(
            &view.session,
            &view.results.iter().collect::<Vec<_>>(),
            &Look { unit, ..Look::default() },
        );
        let sheet = Sheet::new(&view, unit);
        let cells = cell_indexes(&view);
        let warnings = warning_groups::group(
            cells.iter().copied().zip(view.results.iter().map(|result| &*result.warnings)),
            view.results.len(),
            is_refinable(&view.session),
        );
        let ceilings = Bounds::from_session(&view.session)
            .lines()
            .into_iter()
            .map(|(name, rate)| (name.to_string(), rate))
            .collect();
        let mut data = Data {
            unfinished: Unfinished::of(&view),
            view,
            places: Places { axis, xs: Vec::new() },
            axes,
            same_xor,
            extras,
            metric,
            curves: Vec::new(),
            expected: Vec::new(),
            common: String::new(),
            points: Vec::new(),
            warnings,
            most_listed: 0,
            sheet,
            signs: Vec::new(),
            cells,
            ceilings,
        };
        data.plot(metric.or_first(data.view.results.iter()));
        data
    }

    /// Builds the curves of a metric over the current axis.
    pub fn plot(&mut self, metric: Metric) {
        self.metric = metric;
        let view = &self.view;
        let (cells, axis) = (&view.session.plan.cells, self.places.axis);
        self.curves = curves::curves(cells, &view.results, &view.skipped, axis, metric, false);
        let results = &self.view.results;
        let signs = Signs::new(cells, axis);
        self.signs = results.iter().map(|result| signs.of(&result.cell)).collect();
        let jobs = results.iter().map(|result| &result.cell);
        let names = CellNames::from_jobs(jobs.clone());
        self.common = jobs.clone().next().map_or_else(String::new, |job| names.shared(job, axis));
        self.expected =
            curves::expected_line(jobs, axis, metric, &Bounds::from_session(&self.view.session));
        self.points =
            self.curves.iter().map(|curve| curve_points(curve, results, &self.warnings)).collect();
        self.places = Places::new(self.places.axis, self.curves.iter());
        self.most_listed = self.count_most_listed();
    }

    /// Switches to an x axis, if it is one of [`Data::axes`].
    pub fn use_axis(&mut self, axis: Axis) {
        if axis != self.places.axis && self.axes.contains(&axis) {
            self.places.axis = axis;
            self.plot(self.metric);
        }
    }

    /// Switches to the next x axis.
    pub fn use_next_axis(&mut self) {
        self.use_axis(next_of(&self.axes, self.places.axis, false));
    }

    pub fn results(&self) -> &[CellResult] {
        &self.view.results
    }

    /// Returns the number of legend rows: the curves, then along an axis the estimates.
    pub fn legend_rows(&self) -> usize {
        self.curves.len() + if self.is_curve() { self.expected.len() } else { 0 }
    }

    fn count_most_listed(&self) -> usize {
        if !self.is_curve() {
            return self.legend_rows();
        }
        let at = |x: &f64| {
            let curves = self.curves.iter().filter(|curve| curve.points.iter().any(|p| p.x == *x));
            let expected = self.expected.iter().filter(|of| of.points.iter().any(|p| p.x == *x));
            curves.count() + expected.count()
        };
        let most = self.places.xs.iter().map(at).max().unwrap_or(0);
        // One more row counts the curves without a point, or has the selected curve.
        most + usize::from(most < self.legend_rows())
    }

    /// Returns whether the cells lie along an axis; otherwise they are bars.
    pub fn is_curve(&self) -> bool {
        self.places.count() > 1
    }

    /// Returns the curve index and x value of a result.
    pub fn locate(&self, result: usize) -> Option<(usize, f64)> {
        self.curves.iter().enumerate().find_map(|(at, curve)| {
            let point = curve.points.iter().find(|point| point.result == result)?;
            Some((at, point.x))
        })
    }

    /// Returns the index in the plan of a result's cell.
    pub fn cell_of(&self, result: usize) -> Option<u32> {
        self.cells.get(result)?.to_owned().try_into().ok()
    }

    /// Returns the warnings of a result in a few words, except warnings of all results; notes only
    /// if there is nothing worse.
    pub fn own_warnings(&self, result: &CellResult) -> Vec<String> {
        let own = |warning: &&Warning| !is_shared(&self.warnings, &warning.id);
        let faults: Vec<String> = result.faults().filter(own).map(brief_words).collect();
        if !faults.is_empty() {
            return faults;
        }
        let notes = result.warnings.iter().filter(|w| w.severity == Severity::Note);
        notes.filter(own).map(brief_words).collect()
    }

    /// Returns the latencies of a result.
    pub fn latency(&self, result: usize) -> Option<&Latency> {
        let verdict = self.view.session.verdicts.get(*self.cells.get(result)?)?.as_ref()?;
        verdict.latency.as_ref().filter(|latency| latency.count > 0)
    }
}

/// Returns the plan index of each result: results are in plan order, without cells not reached.
fn cell_indexes(view: &SessionView) -> Vec<usize> {
    let mut plan = view.session.plan.cells.iter().enumerate();
    let place =
        |result: &CellResult| plan.find(|(_, job)| **job == result.cell).map(|(index, _)| index);
    view.results.iter().map_while(place).collect()
}

/// Returns the XOR that all of at least two cells share.
fn same_xor(results: &[CellResult]) -> Option<String> {
    let mut found = results.iter().filter_map(CellResult::xor);
    let (first, mut rest) = (found.next()?, found.peekable());
    rest.peek()?;
    rest.all(|other| other == first).then_some(first)
}

/// Returns whether this kind of warning devalues every result: one line above the answer shows it.
fn is_shared(groups: &[WarningGroup], id: &str) -> bool {
    groups.iter().any(|group| group.example.id == id && group.is_fault_everywhere())
}

fn curve_points(curve: &Curve, results: &[CellResult], groups: &[WarningGroup]) -> CurvePoints {
    let mut points = CurvePoints::default();
    // No terminal is wider. The axis is logarithmic.
    let means: Vec<(f64, f64)> =
        curve.points.iter().map(|point| (point.x.log2(), point.mean)).collect();
    points.means = reduce(&means, 300).into_iter().map(|(x, y)| Point::new(x.exp2(), y)).collect();
    points.medians = curves::chart_points(curve);
    for point in &curve.points {
        // A line above the answer shows what all cells share, and the chart shows wide intervals.
        let is_own = |result: &CellResult| {
            result.faults().any(|w| !w.needs_trials() && !is_shared(groups, &w.id))
        };
        match point.worst {
            Some(Severity::Misleading) if !results.get(point.result).is_some_and(is_own) => {}
            Some(Severity::Misleading) => points.misleading.push(Point::new(point.x, point.y)),
            Some(Severity::Wrong) => points.wrong.push(Point::new(point.x, point.y)),
            _ => {}
        }
    }
    points
}

/// Maximum number of drawn intervals; neighbours are merged beyond it.
const MAX_INTERVALS: usize = 2000;

/// The samples of a result, trial by trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialSeries {
    pub result: usize,
    /// Samples of each trial that has any.
    pub trials: Vec<Vec<Sample>>,
}

impl TrialSeries {
    fn from_samples(result: usize, samples: Vec<Samples>) -> TrialSeries {
        let trials: Vec<Vec<Sample>> = samples
            .into_iter()
            .map(|(.., samples)| samples)
            .filter(|samples| !samples.is_empty())
            .collect();
        let each = (MAX_INTERVALS / trials.len().max(1)).max(1);
        let merge = |samples: Vec<Sample>| {
            let together = samples.len().div_ceil(each).max(1);
            samples
                .chunks(together)
                .filter_map(|some| some.iter().copied().reduce(|a, b| a.merge(&b)))
                .collect()
        };
        TrialSeries { result, trials: trials.into_iter().map(merge).collect() }
    }
}

/// A requested cell of a session file with the index of its result.
#[derive(Debug)]
struct PendingRequest {
    path: PathBuf,
    cell: u32,
    result: usize,
}

/// The last series read, and the pending request.
#[derive(Debug, Default)]
pub struct TrialSeriesCache {
    last: Option<TrialSeries>,
    /// The request without a reply yet.
    pending: Option<PendingRequest>,
}

impl TrialSeriesCache {
    pub fn get(&self, result: usize) -> Option<&TrialSeries> {
        self.last.as_ref().filter(|series| series.result == result)
    }

    /// Returns whether a request is pending.
    pub fn is_waiting(&self) -> bool {
        self.pending.is_some()
    }

    /// Notes that the cell of a session file was requested for a result.
    pub fn expect(&mut self, path: PathBuf, cell: u32, result: usize) {
        self.pending = Some(PendingRequest { path, cell, result });
    }

    /// Takes the reply to the pending request. The cell is shown without samples that cannot be
    /// read.
    pub fn take(&mut self, path: &Path, cell: u32, samples: Vec<Samples>) {
        // Another session may be shown by now.
        if let Some(pending) =
            self.pending.take_if(|pending| pending.path == path && pending.cell == cell)
        {
            self.last = Some(TrialSeries::from_samples(pending.result, samples));
        }
    }
}
