//! The state of Results: cursors, hidden curves, the open cell.

use std::collections::BTreeSet;

use tui_input::Input;

use super::data::{Data, TrialSeriesCache};
use super::sheet::Sheet;
use crate::analysis::{Board, HeatLog, is_refinable};
use crate::curves::{Curve, CurvePoint, Expected, Metric};
use crate::keymap::Action;
use crate::plan::Job;
use crate::session_view::SessionView;
use crate::text::unique;
use crate::units::Rates;
use crate::view::list::{move_cursor, next_of};
use crate::warning_groups::WarningGroup;
use crate::zoom::Zoom;

/// The state of the chart.
#[derive(Debug, Default)]
pub struct ChartState {
    /// The position on the axis, an index into [`Data::xs`].
    pub x: usize,
    /// The row of the legend: an index into [`Data::curves`], then into [`Data::expected`].
    pub series: usize,
    /// [`Curve::index`] of hidden curves.
    pub hidden_curves: BTreeSet<usize>,
    /// Names of hidden estimates.
    pub hidden_estimates: BTreeSet<String>,
    /// First and last visible position.
    pub zoom: Zoom,
    /// Metrics whose axis has the non-default scale.
    flipped_axes: Vec<Metric>,
    pub mean: bool,
}

/// The state of the table.
#[derive(Debug, Default)]
pub struct TableState {
    pub cursor: usize,
    /// Column, and whether from the largest down.
    pub sort: Option<(usize, bool)>,
    pub filter: Input,
    pub typing: bool,
    /// Rows in the order shown: results, then skipped cells.
    pub rows: Vec<usize>,
}

impl TableState {
    /// Filters and sorts; the cursor goes to `row`, or to place `other` if that is not shown.
    fn arrange(&mut self, sheet: &Sheet, row: Option<usize>, other: usize) {
        self.rows = sheet.rows(self.filter.value(), self.sort);
        let place = row.and_then(|row| self.rows.iter().position(|shown| *shown == row));
        self.cursor = place.unwrap_or(other).min(self.rows.len().saturating_sub(1));
    }
}

/// An opened cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCell {
    pub result: usize,
    pub scroll: usize,
    /// The cursor in the latencies over time, its column and row, if these cover the screen.
    pub heat: Option<(usize, usize)>,
}

/// The latencies of the opened cell over time, as they are decoded.
#[derive(Debug, Default)]
pub struct LatencyCache(Option<(usize, Option<HeatLog>)>);

impl LatencyCache {
    pub fn get(&self, result: usize) -> Option<&HeatLog> {
        self.0.as_ref().filter(|(own, _)| *own == result)?.1.as_ref()
    }
}

#[derive(Debug, Default)]
pub struct Results {
    /// The unit of throughput.
    pub unit: Rates,
    pub data: Option<Data>,
    /// Which kind of tab is shown.
    pub kind: TabKind,
    pub chart: ChartState,
    pub table: TableState,
    pub open: Option<OpenCell>,
    /// Row and column of the cursor in the table at a glance; `None` before it moved.
    pub board: Option<(usize, usize)>,
    pub trial_series: TrialSeriesCache,
    pub latencies: LatencyCache,
    /// The displayed session is the one being recorded.
    pub follows_run: bool,
    /// The data displayed before that run began, until its first result arrives.
    before: Option<Data>,
}

impl Results {
    /// Creates the state without a session; `flipped_axes`: metrics whose axis has the
    /// non-default scale.
    pub fn with_axes(flipped_axes: Vec<Metric>, unit: Rates) -> Results {
        Results {
            unit,
            chart: ChartState { flipped_axes, ..ChartState::default() },
            ..Results::default()
        }
    }

    /// Shows the results of a run so far; the cursors stay on their cells.
    pub fn grow(&mut self, view: SessionView) {
        let Some(old) = self.data.take_if(|_| self.follows_run) else {
            self.show(view);
            self.follows_run = true;
            return;
        };
        let mut data = Data::new(view, old.metric, self.unit);
        data.use_axis(old.places.axis);
        let moved = |result: usize| {
            let cell = &old.results().get(result)?.cell;
            data.results().iter().position(|new| new.cell == *cell)
        };
        let curve = |index: usize| {
            let before = old.curves.get(index)?;
            data.curves.iter().position(|new| new.sign == before.sign)
        };
        let (series, x) = (curve(self.chart.series), old.places.get(self.chart.x));
        let hidden = old.curves.iter().enumerate();
        let hidden = hidden.filter(|(_, curve)| self.chart.hidden_curves.contains(&curve.index));
        let hidden: BTreeSet<usize> =
            hidden.filter_map(|(at, _)| Some(data.curves.get(curve(at)?)?.index)).collect();
        self.chart.hidden_curves = hidden;
        self.open =
            self.open.and_then(|open| Some(OpenCell { result: moved(open.result)?, ..open }));
        let row = self.table.rows.get(self.table.cursor).and_then(|row| moved(*row));
        self.table.arrange(&data.sheet, row, self.table.cursor);
        self.forget_cell();
        self.data = Some(data);
        self.settle(series, x);
    }

    /// Forgets what was read of the opened cell.
    fn forget_cell(&mut self) {
        (self.trial_series, self.latencies) = Default::default();
    }

    /// Puts the cursor into the latencies over time of the opened cell.
    pub fn set_heat(&mut self, place: Option<(usize, usize)>) {
        if let Some(open) = &mut self.open {
            open.heat = place;
        }
    }

    /// Returns whether the opened cell has latencies over time that do not cover the screen.
    pub fn has_heat(&self) -> bool {
        let open = self.open.filter(|open| open.heat.is_none());
        open.is_some_and(|open| self.latencies.get(open.result).is_some())
    }

    /// Decodes the latencies of the opened cell, once.
    pub fn decode_latencies(&mut self) {
        let (Some(open), Some(data)) = (self.open, &self.data) else { return };
        if self.latencies.0.as_ref().is_none_or(|(result, _)| *result != open.result) {
            let cell = data.cell_of(open.result);
            let log =
                cell.and_then(|cell| HeatLog::of_cell(&data.view.session.logs_by_cell(), cell));
            let log = log.filter(|log| log.intervals() > 1);
            self.latencies.0 = Some((open.result, log));
        }
    }

    /// Puts the cursor on a curve and a place after the data changed; keeps the zoom if possible.
    fn settle(&mut self, series: Option<usize>, x: Option<f64>) {
        let Some(data) = &self.data else { return };
        self.chart.series = series.unwrap_or(0);
        self.chart.zoom = self.chart.zoom.filter(|(_, last)| *last < data.places.count());
        self.chart.x = self.chart.x.min(data.places.count().saturating_sub(1));
        if let Some(x) = x {
            self.set_x(x);
        }
    }

    /// Follows a run that begins and has no results yet.
    pub fn follow_run(&mut self) {
        self.follows_run = true;
        self.before = self.data.take().or_else(|| self.before.take());
        self.open = None;
        self.forget_cell();
    }

    /// Shows the previous data again after a run failed to begin.
    pub fn forget_run(&mut self) {
        if self.follows_run {
            (self.follows_run, self.data) = (false, self.before.take());
        }
    }

    /// Shows a session; metric, mean and the chosen tab stay.
    pub fn show(&mut self, view: SessionView) {
        self.follows_run = false;
        let before = self.data.take().or_else(|| self.before.take());
        let metric = before.map_or_else(Metric::default, |data| data.metric);
        let data = Data::new(view, metric, self.unit);
        let flipped_axes = std::mem::take(&mut self.chart.flipped_axes);
        self.chart = ChartState { flipped_axes, mean: self.chart.mean, ..ChartState::default() };
        self.table = TableState { rows: data.sheet.rows("", None), ..TableState::default() };
        self.open = None;
        self.forget_cell();
        self.board = None;
        self.data = Some(data);
        // The best point is the most interesting one.
        self.go_to_best();
    }

    /// Puts both cursors on the best cell; returns its result.
    fn go_to_best(&mut self) -> Option<usize> {
        let data = self.data.as_ref()?;
        let best = data.view.answer.best.as_ref()?;
        let result = data.results().iter().position(|result| result.cell == best.cell)?;
        self.go_to(result);
        Some(result)
    }

    /// Returns the displayed tab; `None` without a session.
    pub fn tab(&self) -> Option<Tab> {
        let data = self.data.as_ref()?;
        Some(match self.kind {
            TabKind::Glance => Tab::Glance,
            TabKind::Chart => Tab::Plot(data.metric),
            TabKind::Table => Tab::Table,
        })
    }

    /// Shows a tab; the cursor stays on its cell.
    pub fn turn_to(&mut self, tab: Tab) {
        let under = self.under_cursor();
        self.table.typing = false;
        self.kind = tab.kind();
        if let Tab::Plot(metric) = tab {
            self.plot(metric);
        }
        if let Some(result) = under {
            self.go_to(result);
        }
    }

    /// Returns the displayed session.
    pub fn view(&self) -> Option<&SessionView> {
        self.data.as_ref().map(|data| &data.view)
    }

    /// Puts both cursors on a result.
    pub fn go_to(&mut self, result: usize) {
        let Some(data) = &self.data else { return };
        if let Some((series, x)) = data.locate(result) {
            self.chart.series = series;
            self.set_x(x);
        }
        if let Some(row) = self.table.rows.iter().position(|row| *row == result) {
            self.table.cursor = row;
        }
    }

    /// Puts the cursor of the chart on the position nearest to `x`.
    pub fn set_x(&mut self, x: f64) {
        let Some(data) = &self.data else { return };
        self.chart.x = data.places.nearest(x).unwrap_or(0);
        self.pan();
    }

    /// Moves the zoomed range so that the cursor is visible.
    pub fn pan(&mut self) {
        if let Some((first, last)) = self.chart.zoom {
            let span = last - first;
            let first = first.clamp(self.chart.x.saturating_sub(span), self.chart.x);
            self.chart.zoom = Some((first, first + span));
        }
    }

    /// Returns the kinds of warnings of the displayed session.
    pub fn warnings(&self) -> &[WarningGroup] {
        self.data.as_ref().map_or(&[], |data| &data.warnings)
    }

    /// Returns whether rounds can be added to the displayed session.
    pub fn can_refine(&self) -> bool {
        self.view().is_some_and(|view| is_refinable(&view.session))
    }

    /// Returns the x value under the cursor.
    pub fn x(&self) -> Option<f64> {
        self.data.as_ref()?.places.get(self.chart.x)
    }

    pub fn curve(&self) -> Option<&Curve> {
        self.data.as_ref()?.curves.get(self.chart.series)
    }

    /// Returns the visible rows of the legend: curves with a value at the cursor, hidden curves,
    /// and the selected curve.
    pub fn listed(&self) -> Vec<usize> {
        let Some(data) = &self.data else { return Vec::new() };
        let (rows, x) = (0..data.legend_rows(), self.x().unwrap_or(f64::NAN));
        let is_listed = |row: &usize| {
            let has_value = match data.curves.get(*row) {
                Some(curve) => self.is_hidden(curve) || curve.points.iter().any(|p| p.x == x),
                None => self.expected_at(*row).is_some_and(|line| {
                    self.chart.hidden_estimates.contains(&line.name)
                        || line.points.iter().any(|p| p.x == x)
                }),
            };
            has_value || *row == self.chart.series
        };
        if data.is_curve() { rows.filter(is_listed).collect() } else { rows.collect() }
    }

    pub fn is_hidden(&self, curve: &Curve) -> bool {
        self.chart.hidden_curves.contains(&curve.index)
    }

    /// Returns the estimate in a row of the legend.
    pub fn expected_at(&self, row: usize) -> Option<&Expected> {
        let data = self.data.as_ref()?;
        data.expected.get(row.checked_sub(data.curves.len())?)
    }

    /// Hides or shows the curve or estimate in a row of the legend.
    pub fn toggle(&mut self, row: usize) {
        let Some(data) = &self.data else { return };
        if let Some(curve) = data.curves.get(row) {
            let index = curve.index;
            if !self.chart.hidden_curves.remove(&index) {
                self.chart.hidden_curves.insert(index);
            }
        } else if let Some(name) = self.expected_at(row).map(|line| line.name.clone())
            && !self.chart.hidden_estimates.remove(&name)
        {
            self.chart.hidden_estimates.insert(name);
        }
    }

    /// Moves the cursor in the table at a glance to the next figure of a result.
    pub fn move_on_board(&mut self, action: Action) {
        let Some(table) = self.data.as_ref().and_then(|data| data.view.glance.table()) else {
            return;
        };
        let (rows, columns) = (table.rows.len(), table.columns.len());
        let is_result = |(row, column): &(usize, usize)| result_at(table, *row, *column).is_some();
        let at = self.board.unwrap_or((table.lead.unwrap_or(0), 0));
        let along: Vec<(usize, usize)> = match action {
            Action::Left | Action::Right => (0..columns).map(|column| (at.0, column)).collect(),
            _ if action.moves_rows() => (0..rows).map(|row| (row, at.1)).collect(),
            _ => return,
        };
        let along: Vec<(usize, usize)> = along.into_iter().filter(is_result).collect();
        let place = along.iter().position(|of| *of == at);
        // The first key shows where the cursor is.
        let next = match (self.board, place) {
            (Some(_), Some(place)) => move_cursor(place, along.len(), action, 5),
            (_, place) => place.unwrap_or(0),
        };
        self.board = along.get(next).copied().or(self.board);
    }

    /// Returns the result that Enter opens.
    pub fn under_cursor(&self) -> Option<usize> {
        let data = self.data.as_ref()?;
        let table = data.view.glance.table().filter(|_| self.kind == TabKind::Glance);
        if let (Some(table), Some((row, column))) = (table, self.board) {
            return result_at(table, row, column);
        }
        if self.kind == TabKind::Table {
            return self
                .table
                .rows
                .get(self.table.cursor)
                .copied()
                .filter(|row| *row < data.sheet.results);
        }
        let x = self.x()?;
        let distance = |point: &&CurvePoint| data.places.distance(point.x, x);
        self.curve()?
            .points
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .map(|point| point.result)
    }

    /// Returns whether the value axis is logarithmic; the axis of latencies is by default.
    pub fn is_log(&self, metric: Metric) -> bool {
        metric.usually_log() != self.chart.flipped_axes.contains(&metric)
    }

    pub fn flip_axis(&mut self) {
        let Some(metric) = self.data.as_ref().map(|data| data.metric) else { return };
        let before = self.chart.flipped_axes.len();
        self.chart.flipped_axes.retain(|flipped| *flipped != metric);
        if self.chart.flipped_axes.len() == before {
            self.chart.flipped_axes.push(metric);
        }
    }

    /// Plots another metric; the cursor stays where it is.
    pub fn plot(&mut self, metric: Metric) {
        let (x, curve) = (self.x(), self.curve().map(|curve| curve.index));
        let Some(data) = &mut self.data else { return };
        data.plot(metric);
        let same = data.curves.iter().position(|other| Some(other.index) == curve);
        self.settle(same, x);
    }

    /// Switches to the next x axis; the cursor stays on its cell.
    pub fn use_next_axis(&mut self) {
        let under = self.under_cursor();
        let Some(data) = self.data.as_mut().filter(|data| data.axes.len() > 1) else { return };
        data.use_next_axis();
        // The curves are new: hidden ones and the zoom do not apply.
        self.chart.hidden_curves.clear();
        (self.chart.zoom, self.chart.series, self.chart.x) = (None, 0, 0);
        if let Some(result) = under {
            self.go_to(result);
        }
    }

    /// Filters and sorts the table; the cursor stays on its row.
    pub fn arrange(&mut self) {
        let Some(data) = &self.data else { return };
        let row = self.table.rows.get(self.table.cursor).copied();
        self.table.arrange(&data.sheet, row, 0);
    }

    /// Opens the cell under the cursor, or the best cell from At a glance if no cursor is there.
    pub fn open(&mut self) {
        let has_cursor = self.kind != TabKind::Glance || self.board.is_some();
        let best = if has_cursor { None } else { self.go_to_best() };
        let result = best.or_else(|| self.under_cursor());
        self.open = result.map(|result| OpenCell { result, scroll: 0, heat: None });
    }

    /// Opens the cell of a job of a session; false if another session is displayed.
    pub fn open_job(&mut self, id: &str, job: &Job) -> bool {
        let Some(data) = self.data.as_ref().filter(|data| data.view.session.id == id) else {
            return false;
        };
        if let Some(result) = data.results().iter().position(|result| result.cell == *job) {
            self.go_to(result);
            self.open = Some(OpenCell { result, scroll: 0, heat: None });
        }
        true
    }

    pub fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.go_to(open.result);
        }
    }

    /// Returns the cells that Left and Right go to: the opened cell's curve, or the table's rows.
    pub fn neighbours(&self) -> Vec<usize> {
        let Some(data) = &self.data else { return Vec::new() };
        if self.kind == TabKind::Table {
            return self
                .table
                .rows
                .iter()
                .copied()
                .filter(|row| *row < data.sheet.results)
                .collect();
        }
        if let (TabKind::Glance, Some(_), Some(table)) =
            (self.kind, self.board, data.view.glance.table())
        {
            return unique(table.cells().filter_map(|cell| cell.result));
        }
        self.curve()
            .map(|curve| curve.points.iter().map(|point| point.result).collect())
            .unwrap_or_default()
    }
}

/// Returns the result of a figure in a table.
fn result_at(table: &Board, row: usize, column: usize) -> Option<usize> {
    table.columns.get(column)?.cells.get(row)?.as_ref()?.result
}

/// The kinds of tabs; several tabs are charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TabKind {
    #[default]
    Glance,
    Chart,
    Table,
}

/// A tab of Results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Glance,
    Plot(Metric),
    Table,
}

impl Tab {
    /// Every tab in its order, with its action, and its name on a wide and on a narrow screen.
    pub const ALL: [(Tab, Action, [&'static str; 2]); 8] = [
        (Tab::Glance, Action::Glance, ["At a glance", "at a glance"]),
        (Tab::Plot(Metric::Throughput), Action::Throughput, ["Throughput", "bytes"]),
        (Tab::Plot(Metric::Operations), Action::Operations, ["Operations", "ops"]),
        (Tab::Plot(Metric::Commits), Action::Commits, ["Commits", "commits"]),
        (Tab::Plot(Metric::SystemCalls), Action::SystemCalls, ["System calls", "calls"]),
        (Tab::Plot(Metric::Latency), Action::Latency, ["Latency", "latency"]),
        (Tab::Plot(Metric::Cpu), Action::Cpu, ["CPU per byte", "CPU"]),
        (Tab::Table, Action::Table, ["Table", "table"]),
    ];

    pub fn kind(self) -> TabKind {
        match self {
            Tab::Glance => TabKind::Glance,
            Tab::Plot(_) => TabKind::Chart,
            Tab::Table => TabKind::Table,
        }
    }

    /// Returns whether the tab has anything to show.
    pub fn has_value(self, data: &Data) -> bool {
        match self {
            Tab::Plot(metric) => metric.has_value(data.results().iter()),
            Tab::Glance | Tab::Table => true,
        }
    }

    /// Returns the next or previous tab; skips metrics without a value.
    pub fn next(self, data: &Data, back: bool) -> Tab {
        let tabs: Vec<Tab> = Tab::ALL
            .into_iter()
            .map(|(tab, ..)| tab)
            .filter(|tab| *tab == self || tab.has_value(data))
            .collect();
        next_of(&tabs, self, back)
    }
}
