//! When a run without a number of trials ends.

/// When a run without a number of trials ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// No trial can change the answer any more.
    Answer,
    /// Every interval has this half width, in hundredths of a percent.
    Within(u32),
    /// The one long trial of each cell has reached its steady state.
    Steady,
}

impl Until {
    /// A smaller difference changes no answer.
    pub const TOLERANCE: f64 = 0.1;

    /// Returns the half width of the intervals, as a share of the median.
    pub fn goal(self) -> Option<f64> {
        match self {
            Until::Answer | Until::Steady => None,
            Until::Within(hundredths) => Some(f64::from(hundredths) / 10_000.0),
        }
    }

    /// Returns the tolerance of the answer, as a share.
    pub fn tolerance(self) -> Option<f64> {
        (self == Until::Answer).then_some(Until::TOLERANCE)
    }
}
