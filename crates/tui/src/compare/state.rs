//! The compared sessions, how they are shown, and the curves of all of them in one chart.

use super::data::LoadedComparison;
use crate::analysis::Axis;
use crate::curves::{self, Curve, Metric};
use crate::session_view::SessionView;
use crate::text::unique;
use crate::zoom::{self, Places, Zoom};

/// The visible part of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// The cells, below the first differences in settings and environment.
    #[default]
    Cells,
    /// The full explanation as text.
    Words,
    /// The curves of all sessions in one chart.
    Chart,
}

#[derive(Debug, Default)]
pub struct Compare {
    /// Ids, the baseline first.
    pub requested: Vec<String>,
    /// The last comparison that finished; it stays while another is being computed.
    pub got: Option<LoadedComparison>,
    pub view: View,
    /// Index of the session that is compared with the baseline.
    pub other: usize,
    pub scroll: usize,
    pub overlay: Overlay,
    /// Metrics whose axis is switched from its default scale.
    pub turned: Vec<Metric>,
}

impl Compare {
    /// Returns whether sessions are being loaded or compared.
    pub fn is_waiting(&self) -> bool {
        self.got.as_ref().is_none_or(|got| got.requested != self.requested)
    }

    /// Returns whether the value axis is logarithmic, as it is for latencies by default.
    pub fn log(&self) -> bool {
        self.overlay.metric.usually_log() != self.turned.contains(&self.overlay.metric)
    }
}

/// One curve of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionCurve {
    /// Index into the sessions: how its line is drawn.
    pub session: usize,
    pub curve: Curve,
}

#[derive(Debug)]
pub struct Overlay {
    /// In the order of the legend: by curve, then by session.
    pub lines: Vec<SessionCurve>,
    /// Number of figures that are not on a curve.
    pub singles: usize,
    /// Where there are measurements along the axis.
    pub places: Places,
    pub metric: Metric,
    /// The highlighted curve.
    pub cursor: usize,
    /// Index into [`Overlay::places`] of the values in the legend; `None`: the peaks.
    pub at: Option<usize>,
    /// First and last visible place.
    pub zoom: Zoom,
}

impl Default for Overlay {
    fn default() -> Overlay {
        Overlay {
            lines: Vec::new(),
            singles: 0,
            places: Places { axis: Axis::Block, xs: Vec::new() },
            metric: Metric::default(),
            cursor: 0,
            at: None,
            zoom: None,
        }
    }
}

impl Overlay {
    /// Builds the curves of `sessions` over the axis that varies, of `metric` or the first that has
    /// a value. Curves of one figure are left out if others have more.
    pub fn show_sessions(&mut self, sessions: &[SessionView], metric: Metric) {
        let axis = curves::axis_of_curves(
            sessions.iter().flat_map(|shown| shown.results.iter().map(|result| &result.cell)),
        );
        let metric = metric.or_first(sessions.iter().flat_map(|shown| &shown.results));
        let each = |(session, shown): (usize, &SessionView)| {
            let cells = &shown.session.plan.cells;
            curves::curves(cells, &shown.results, &shown.skipped, axis, metric, true)
                .into_iter()
                .map(move |curve| SessionCurve { session, curve })
                .collect::<Vec<_>>()
        };
        let mut lines: Vec<SessionCurve> = sessions.iter().enumerate().flat_map(each).collect();
        self.singles = curves::leave_out_singles(&mut lines, |line| &line.curve);
        let names = unique(lines.iter().map(|line| line.curve.name.clone()));
        lines.sort_by_cached_key(|line| {
            (names.iter().position(|name| *name == line.curve.name), line.session)
        });
        self.places = Places::new(axis, lines.iter().map(|line| &line.curve));
        self.lines = lines;
        self.metric = metric;
        self.cursor = self.cursor.min(self.lines.len().saturating_sub(1));
        let places = self.places.count();
        self.at = self.at.filter(|at| *at < places);
        self.zoom = self.zoom.filter(|(_, last)| *last < places);
    }

    /// Moves the read-out along the axis; left of the first value it shows the peaks.
    pub fn left_right(&mut self, right: bool) {
        let count = self.places.count();
        self.at = match (self.at, right) {
            (None, true) if count > 0 => Some(0),
            (Some(at), true) => Some((at + 1).min(count.saturating_sub(1))),
            (Some(at), false) => at.checked_sub(1),
            (None, _) => None,
        };
        if let (Some(at), Some((first, last))) = (self.at, self.zoom)
            && !(first..=last).contains(&at)
        {
            let by = at as isize - if at < first { first } else { last } as isize;
            self.zoom = zoom::pan(self.zoom, count, by);
        }
    }

    /// Shows this part of the axis; the read-out stays inside.
    pub fn show_part(&mut self, zoom: Zoom) {
        self.zoom = zoom;
        if let (Some(at), Some((first, last))) = (&mut self.at, zoom) {
            *at = (*at).clamp(first, last.max(first));
        }
    }

    /// Returns the x value of the read-out.
    pub fn x(&self) -> Option<f64> {
        self.places.get(self.at?)
    }

    /// Returns the value of a curve at `x`, or its peak if `None`.
    pub fn value(&self, line: &SessionCurve, x: Option<f64>) -> Option<f64> {
        let mut points = line.curve.points.iter();
        match x {
            Some(x) => points.find(|point| point.x == x).map(|point| point.y),
            None => points
                .map(|point| point.y)
                .reduce(|a, b| if (a > b) == self.metric.more_is_better() { a } else { b }),
        }
    }
}
