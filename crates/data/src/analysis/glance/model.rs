//! Figures and sentences of a glance.

use crate::analysis::{CellResult, Expected, Holds};
use crate::record::Severity;
use crate::session::Session;
use crate::stats::Summary;
use crate::units::{self, Precision, column, join_range};

/// The trust that a statement allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    Good,
    /// More trials would make it certain.
    Unfinished,
    Misleading,
    Wrong,
}

/// A sentence with its grade; empty if there is nothing to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub grade: Grade,
    pub text: String,
}

impl Statement {
    /// Returns whether something is as expected.
    pub(super) fn of_expected(expected: &Expected) -> Statement {
        let grade = match expected.outcome {
            Holds::Pass => Grade::Good,
            Holds::CannotTell => Grade::Misleading,
            Holds::Fail => Grade::Wrong,
        };
        Statement { grade, text: format!("expected {}", expected.text()) }
    }
}

/// A median with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GlanceFigure {
    pub summary: Summary,
    /// Trials behind it.
    pub trials: usize,
    /// Reported by others: not measured by iotui.
    pub reported: bool,
    /// A warning says that it is wrong.
    pub wrong: bool,
    /// A warning says that it is easily misread.
    pub misleading: bool,
}

impl GlanceFigure {
    /// Returns the figure of a result by one of its summaries.
    pub fn of(session: &Session, result: &CellResult, summary: Summary) -> GlanceFigure {
        GlanceFigure {
            summary,
            trials: result.counted_trials().len(),
            reported: session.reference.is_some(),
            wrong: result.wrong().is_some(),
            misleading: result.shown_severity() == Some(Severity::Misleading),
        }
    }

    /// Returns the severity to mark it with.
    pub fn severity(&self) -> Option<Severity> {
        match (self.wrong, self.misleading) {
            (true, _) => Some(Severity::Wrong),
            (false, true) => Some(Severity::Misleading),
            (false, false) => None,
        }
    }

    /// Returns whether it has an interval.
    pub fn is_certain(&self) -> bool {
        self.summary.half_width().is_some()
    }

    /// Returns whether no more trials are needed, and it is not wrong.
    pub fn is_firm(&self) -> bool {
        !self.wrong && (self.reported || self.is_certain())
    }

    /// Returns the digits that its trials allow: two where they are too few for an interval.
    pub fn precision(&self) -> Precision {
        match self.summary.half_width() {
            None if !self.reported => Precision::Two,
            half_width => Precision::of(half_width),
        }
    }

    /// Returns whether it may stand in large digits.
    pub fn suits_large(&self) -> bool {
        Precision::suits_large(self.summary.half_width())
    }

    /// Returns the number in units of `factor`: `3.72`, `3.7`, `~3.7`.
    pub fn number(&self, factor: f64) -> String {
        self.precision().figure(self.summary.median / factor)
    }

    /// Returns half of the interval; of a figure too uncertain for large digits also its ends, in
    /// units of `factor`: `±24 %, 2.8 to 4.6`.
    pub fn describe_spread(&self, factor: f64) -> String {
        match self.suits_large() {
            true => self.describe_certainty(),
            false => format!("{}, {}", self.describe_certainty(), self.describe_range(factor)),
        }
    }

    /// Returns the interval in units of `factor`, `3.0 to 4.4`; empty without one.
    pub fn describe_range(&self, factor: f64) -> String {
        let end = |end: f64| Precision::Two.figure(end / factor);
        let ends = self.summary.low.zip(self.summary.high);
        ends.map_or(String::new(), |(low, high)| join_range(&end(low), &end(high)))
    }

    /// Returns half of the interval, `±4 %`; without one, the number of trials: `2 trials`.
    pub fn describe_interval(&self) -> String {
        match self.summary.half_width().map(|half| half * 100.0) {
            Some(percent) if percent < 0.95 => "±<1 %".into(),
            Some(percent) => format!("±{percent:.0} %"),
            None if self.reported => "reported".into(),
            None => units::show_trials(self.trials),
        }
    }

    /// Returns the interval, or that the figure is wrong.
    pub fn describe_certainty(&self) -> String {
        if self.wrong { "wrong".into() } else { self.describe_interval() }
    }
}

/// Returns the figures of a column in units of `factor`, with aligned decimal points.
pub fn align_figures<'a>(
    figures: impl Iterator<Item = Option<&'a GlanceFigure>>,
    factor: f64,
) -> Vec<String> {
    column::align_texts(figures.map(|figure| Some(figure?.number(factor))))
}
