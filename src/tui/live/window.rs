//! How many trials are shown, and the axis of their values.

use super::series::Extremes;

/// Which trials are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zoom {
    /// The last ones, as many as fit with a column each.
    #[default]
    Fitting,
    /// The last ones, at most so many.
    Last(u32),
    /// All of the run, several in a column if need be.
    Whole,
}

impl Zoom {
    /// Shows half as many trials as the `shown` ones.
    pub fn closer(self, shown: u32, all: u32) -> Zoom {
        match self {
            Zoom::Whole if shown < all => Zoom::Fitting,
            _ if shown > 1 => Zoom::Last(shown / 2),
            _ => self,
        }
    }

    /// Shows twice as many trials as the `shown` ones, of `all`.
    pub fn wider(self, shown: u32, all: u32) -> Zoom {
        match self {
            Zoom::Last(last) if last.saturating_mul(2) < all => Zoom::Last(last.saturating_mul(2)),
            Zoom::Last(_) => Zoom::Fitting,
            Zoom::Fitting if shown < all => Zoom::Whole,
            _ => self,
        }
    }

    /// Returns the most trials to show.
    pub fn most(self) -> u32 {
        match self {
            Zoom::Last(last) => last,
            _ => u32::MAX,
        }
    }
}

/// Describes which of `all` trials are shown; empty for all of them.
pub fn describe(shown: u32, all: u32) -> String {
    match shown {
        _ if shown >= all => String::new(),
        1 => format!("the last of {all} trials"),
        _ => format!("the last {shown} of {all} trials"),
    }
}

/// From this ratio of the highest to the lowest rate on, the lowest would hug a linear axis.
const LOG_RATIO: f64 = 8.0;

/// Returns whether a logarithmic axis fits the rates better.
pub fn needs_log(extremes: Extremes) -> bool {
    extremes.ratio() >= LOG_RATIO
}

/// Returns the ends of a logarithmic axis: powers of `base` times `unit`, so that the lowest bar
/// has a height too.
pub fn log_ends(extremes: Extremes, base: f64, unit: f64) -> (f64, f64) {
    let low = extremes.low.unwrap_or(unit);
    let power = |value: f64| (value / unit).ln() / base.ln();
    let bottom = (power(low / 1.25) + 1e-9).floor();
    let top = (power(extremes.high.max(low)) - 1e-9).ceil().max(bottom + 1.0);
    (base.powf(bottom) * unit, base.powf(top) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zoom_halves_and_doubles_the_number_of_trials() {
        // Of 40 trials 20 fit.
        let shown = |zoom: Zoom| match zoom {
            Zoom::Fitting => 20,
            Zoom::Last(last) => last.min(20),
            Zoom::Whole => 40,
        };
        let mut zoom = Zoom::default();
        let mut steps = Vec::new();
        for _ in 0..5 {
            zoom = zoom.closer(shown(zoom), 40);
            steps.push(zoom);
        }
        assert_eq!(steps, [10, 5, 2, 1, 1].map(Zoom::Last));
        for _ in 0..7 {
            zoom = zoom.wider(shown(zoom), 40);
            steps.push(zoom);
        }
        assert_eq!(steps[5..9], [2, 4, 8, 16].map(Zoom::Last));
        assert_eq!(steps[9..], [Zoom::Last(32), Zoom::Fitting, Zoom::Whole]);
        assert_eq!(Zoom::Fitting.closer(0, 0), Zoom::Fitting);
        assert_eq!(Zoom::Fitting.wider(4, 4), Zoom::Fitting);
        assert_eq!(describe(9, 40), "the last 9 of 40 trials");
        assert_eq!(describe(1, 40), "the last of 40 trials");
        assert_eq!(describe(9, 9), "");
    }

    #[test]
    fn a_logarithmic_axis_ends_at_powers_and_leaves_the_lowest_a_height() {
        let of = |low, high| Extremes { low: Some(low), high };
        assert_eq!(log_ends(of(300.0, 9000.0), 2.0, 1.0), (128.0, 16384.0));
        let (bottom, top) = log_ends(of(128.0, 16384.0), 2.0, 1.0);
        assert!((bottom - 64.0).abs() < 1e-6 && (top - 16384.0).abs() < 1e-6, "{bottom} {top}");
        let (bottom, top) = log_ends(of(200.0, 90_000.0), 10.0, 1.0);
        assert!((bottom - 100.0).abs() < 1e-6 && (top - 100_000.0).abs() < 1e-3);
        let (bottom, top) = log_ends(Extremes::default(), 2.0, 1.0);
        assert!(bottom < top);
        assert!(needs_log(of(1.0, 8.0)) && !needs_log(of(1.0, 7.0)));
        assert!(!needs_log(Extremes::default()));
    }
}
