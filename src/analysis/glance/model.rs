//! Figures and sentences of a glance.

use crate::stats::Summary;
use crate::units;

/// How far something can be trusted.
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

/// A median with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GlanceFigure {
    pub summary: Summary,
    /// Trials behind it.
    pub trials: usize,
    /// Reported by others: not measured by iotui.
    pub reported: bool,
}

impl GlanceFigure {
    /// Returns whether it has an interval.
    pub fn is_certain(&self) -> bool {
        self.summary.half_width().is_some()
    }

    /// Returns half of the interval, `±4 %`, or what there is instead of one: `2 trials`.
    pub fn describe_interval(&self) -> String {
        match self.summary.half_width().map(|half| half * 100.0) {
            Some(percent) if percent < 0.95 => "±<1 %".into(),
            Some(percent) => format!("±{percent:.0} %"),
            None if self.reported => "reported".into(),
            None => units::show_trials(self.trials),
        }
    }
}
