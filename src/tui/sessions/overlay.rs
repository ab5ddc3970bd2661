//! Several sessions over each other: their curves in one chart, those of one way side by side in the legend.

use super::super::curves::{self, Curve, Metric};
use super::super::shown::Shown;
use crate::session::Axis;

/// More are too many to be told apart.
pub const MOST: usize = 8;

/// One of the sessions.
#[derive(Debug)]
pub struct Laid {
    pub id: String,
    pub name: String,
    /// `None`: not loaded yet.
    pub got: Option<Result<Box<Shown>, String>>,
}

/// One curve of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Index into the sessions: its colour.
    pub session: usize,
    pub curve: Curve,
}

#[derive(Debug)]
pub struct Overlay {
    pub laid: Vec<Laid>,
    /// In the order of the legend: by curve, then by session.
    pub lines: Vec<Line>,
    pub axis: Axis,
    pub metric: Metric,
    /// The curve that stands out.
    pub cursor: usize,
    /// Where values are read out: index into [`Overlay::xs`]; `None`: the peaks.
    pub at: Option<usize>,
}

impl Overlay {
    pub fn of(sessions: impl Iterator<Item = (String, String)>) -> Overlay {
        let laid = sessions.take(MOST).map(|(id, name)| Laid { id, name, got: None }).collect();
        Overlay { laid, lines: Vec::new(), axis: Axis::Block, metric: Metric::Throughput, cursor: 0, at: None }
    }

    /// The next session to load.
    pub fn missing(&self) -> Option<&str> {
        self.laid.iter().find(|laid| laid.got.is_none()).map(|laid| laid.id.as_str())
    }

    /// Whether the answer belongs to it; then it is taken in.
    pub fn wants(&self, id: &str) -> bool {
        self.laid.iter().any(|laid| laid.id == id && laid.got.is_none())
    }

    pub fn take(&mut self, id: &str, got: Result<Box<Shown>, String>) {
        if let Some(laid) = self.laid.iter_mut().find(|laid| laid.id == id && laid.got.is_none()) {
            laid.got = Some(got);
            self.lay();
        }
    }

    /// The curves of all that is loaded, on the axis that varies in all of them together.
    fn lay(&mut self) {
        let loaded = || self.laid.iter().enumerate().filter_map(|(at, laid)| Some((at, &**laid.got.as_ref()?.as_ref().ok()?)));
        let jobs: Vec<_> = loaded().flat_map(|(_, shown)| shown.results.iter().map(|result| &result.cell)).collect();
        let axis = curves::axis(jobs.iter().copied());
        let of = |metric: Metric| -> Vec<Line> {
            let each = |(session, shown): (usize, &Shown)| {
                curves::whole_names(&shown.results, axis, metric).into_iter().map(move |curve| Line { session, curve }).collect::<Vec<_>>()
            };
            loaded().flat_map(each).collect()
        };
        // Calls that move no bytes are told by their number.
        let (mut lines, metric) = match of(Metric::Throughput) {
            none if none.is_empty() => (of(Metric::Operations), Metric::Operations),
            lines => (lines, Metric::Throughput),
        };
        let mut names: Vec<String> = Vec::new();
        for line in &lines {
            if !names.contains(&line.curve.name) {
                names.push(line.curve.name.clone());
            }
        }
        lines.sort_by_key(|line| (names.iter().position(|name| *name == line.curve.name), line.session));
        (self.lines, self.axis, self.metric) = (lines, axis, metric);
        self.cursor = self.cursor.min(self.lines.len().saturating_sub(1));
        self.at = self.at.filter(|at| *at < self.xs().len());
    }

    /// Every value of the axis at which something was measured, ascending.
    pub fn xs(&self) -> Vec<f64> {
        let mut xs: Vec<f64> = self.lines.iter().flat_map(|line| line.curve.points.iter().map(|point| point.x)).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        xs
    }

    pub fn up_down(&mut self, down: bool) {
        let last = self.lines.len().saturating_sub(1);
        self.cursor = if down { (self.cursor + 1).min(last) } else { self.cursor.saturating_sub(1) };
    }

    /// Left of the first value the peaks are shown again.
    pub fn left_right(&mut self, right: bool) {
        let count = self.xs().len();
        self.at = match (self.at, right) {
            (None, true) if count > 0 => Some(0),
            (Some(at), true) => Some((at + 1).min(count.saturating_sub(1))),
            (Some(at), false) => at.checked_sub(1),
            (None, _) => None,
        };
    }

    /// What a curve says where values are read out; at its peak where nothing is chosen.
    pub fn value(&self, line: &Line, x: Option<f64>) -> Option<f64> {
        let points = line.curve.points.iter();
        match x {
            Some(x) => points.into_iter().find(|point| point.x == x).map(|point| point.y),
            None => points.map(|point| point.y).max_by(f64::total_cmp),
        }
    }
}
