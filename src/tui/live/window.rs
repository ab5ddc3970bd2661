//! The visible time window, and vertical axes that do not jump.

use super::series::{Measure, Series};
use crate::tui::plot::round_end;
use crate::units::Rates;
use crate::units::column::{self, Unit};

/// How much of the run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zoom(usize);

/// Seconds; infinite: all.
const WINDOWS: [f64; 5] = [10.0, 30.0, 60.0, 300.0, f64::INFINITY];

impl Default for Zoom {
    fn default() -> Zoom {
        Zoom(1)
    }
}

impl Zoom {
    pub const ALL: Zoom = Zoom(WINDOWS.len() - 1);

    pub fn closer(self) -> Zoom {
        Zoom(self.0.saturating_sub(1))
    }

    pub fn wider(self) -> Zoom {
        Zoom((self.0 + 1).min(WINDOWS.len() - 1))
    }

    /// Returns the seconds of the window; `None` for all.
    pub fn seconds(self) -> Option<f64> {
        Some(WINDOWS[self.0]).filter(|seconds| seconds.is_finite())
    }

    /// Returns the visible range at `now`, in seconds of the run: from its start until the window
    /// is full.
    pub fn ends(self, now: f64) -> (f64, f64) {
        match self.seconds() {
            Some(window) if self.is_sliding(now) => (now - window, now),
            Some(window) => (0.0, round_time(now).min(window)),
            None => (0.0, round_time(now)),
        }
    }

    /// Returns whether the window is full and moves with `now`.
    pub fn is_sliding(self, now: f64) -> bool {
        self.seconds().is_some_and(|window| now > window)
    }
}

/// Returns the next round time: an axis that grows in steps.
fn round_time(seconds: f64) -> f64 {
    const ROUND: [f64; 9] = [5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0, 90.0, 120.0];
    let mut scale = 1.0;
    while ROUND[8] * scale < seconds {
        scale *= if scale < 30.0 { 30.0 } else { 2.0 };
    }
    ROUND.iter().map(|round| round * scale).find(|round| *round >= seconds).unwrap_or(seconds)
}

/// The upper end of an axis: goes up at once, and down only after a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StickyAxis {
    pub top: f64,
    /// The unit in which the end is round.
    pub unit: Unit,
    /// Since when a much lower end would do, seconds of the run.
    roomy_since: Option<f64>,
}

/// Seconds for which a lower end must suffice before the axis shrinks.
const SHRINK_DELAY: f64 = 3.0;

impl Default for StickyAxis {
    fn default() -> StickyAxis {
        StickyAxis { top: 0.0, unit: (1.0, ""), roomy_since: None }
    }
}

impl StickyAxis {
    /// Fits the end to the largest visible value, round in one of `units`.
    pub fn settle(&mut self, peak: f64, now: f64, units: &[Unit]) {
        // Below 1.5 of a unit two digits are too coarse.
        let unit = column::unit_for(peak * 1.04 / 1.5, units);
        let wanted =
            if peak.is_finite() && peak > 0.0 { round_end(peak * 1.04, unit.0) } else { 0.0 };
        let roomy = wanted < self.top * 0.65;
        let waited = roomy && now - *self.roomy_since.get_or_insert(now) >= SHRINK_DELAY;
        if peak > self.top || waited {
            (self.top, self.unit) = (wanted, unit);
        }
        if waited || !roomy {
            self.roomy_since = None;
        }
    }
}

/// The axes of the two charts over time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Axes {
    pub above: StickyAxis,
    pub below: StickyAxis,
}

impl Axes {
    /// Fits them to what the window shows.
    pub fn settle(&mut self, series: &Series, above: Measure, zoom: Zoom, now: f64, rates: Rates) {
        let from = zoom.ends(now).0;
        self.above.settle(series.peak(from, above), now, above.metric().units(rates));
        self.below.settle(
            series.peak(from, Measure::SystemCalls),
            now,
            Measure::SystemCalls.metric().units(rates),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;
    use crate::units::column::{PER_SECOND, RATE};

    #[test]
    fn windows_go_from_ten_seconds_to_all() {
        let mut zoom = Zoom::default();
        assert_eq!(zoom.seconds(), Some(30.0));
        for wanted in [Some(10.0), Some(10.0)] {
            zoom = zoom.closer();
            assert_eq!(zoom.seconds(), wanted);
        }
        assert_eq!(zoom.ends(100.0), (90.0, 100.0));
        // It begins at the start of the run, and grows until it is full.
        let ends = [2.0, 7.0, 12.0, 29.0, 30.0, 31.0].map(|now| Zoom::default().ends(now));
        assert_eq!(
            ends,
            [(0.0, 5.0), (0.0, 10.0), (0.0, 15.0), (0.0, 30.0), (0.0, 30.0), (1.0, 31.0)]
        );
        for _ in 0..9 {
            zoom = zoom.wider();
        }
        assert_eq!((zoom, zoom.ends(61.0)), (Zoom::ALL, (0.0, 90.0)));
        for seconds in [0.0, 9.0, 121.0, 4000.0, 1e6] {
            let end = round_time(seconds);
            assert!(end >= seconds && end <= (seconds * 2.6).max(10.0), "{seconds} {end}");
        }
    }

    #[test]
    fn an_axis_grows_at_once_and_shrinks_after_a_while() {
        let mut axis = StickyAxis::default();
        axis.settle(90.0, 0.0, PER_SECOND);
        assert_eq!(axis.top, 100.0);
        axis.settle(99.0, 0.1, PER_SECOND);
        assert_eq!(axis.top, 100.0);
        axis.settle(130.0, 0.2, PER_SECOND);
        assert_eq!(axis.top, 150.0);
        for now in [1.0, 2.0, 3.9] {
            axis.settle(20.0, now, PER_SECOND);
            assert_eq!(axis.top, 150.0);
        }
        axis.settle(20.0, 4.1, PER_SECOND);
        assert_eq!(axis.top, 25.0);
        // Nothing in sight: it stays for a while, then it is empty.
        axis.settle(0.0, 5.0, PER_SECOND);
        assert_eq!(axis.top, 25.0);
        axis.settle(f64::NAN, 9.0, PER_SECOND);
        assert_eq!(axis.top, 0.0);
    }

    #[test]
    fn an_axis_is_round_in_the_unit_it_is_written_in() {
        fn settled(peak: f64, units: &[Unit]) -> (f64, &str) {
            let mut axis = StickyAxis::default();
            axis.settle(peak, 0.0, units);
            (axis.top / axis.unit.0, axis.unit.1)
        }
        assert_eq!(settled(2.6e9, RATE), (3.0, "GiB/s"));
        assert_eq!(settled(1.4 * 1_073_741_824.0, RATE), (1500.0, "MiB/s"));
        assert_eq!(settled(2.6e9, Rates::from_str("MB/s").unwrap().units()), (3000.0, "MB/s"));
    }
}
