//! Which trials are shown, and the axis of their values.

use super::series::Extremes;
use crate::tui::zoom::Zoom;

/// Which trials are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Window {
    /// The last ones, as many as fit with a column each.
    #[default]
    Fitting,
    /// The last ones, at most so many.
    Last(u32),
    /// From one to another, counted from 1: what is measured meanwhile does not move them.
    Between(u32, u32),
}

impl Window {
    /// All of the run, several in a column if need be.
    pub const WHOLE: Window = Window::Last(u32::MAX);

    /// Returns the window of a part of the axis of `all` trials: with the last, it follows the run.
    pub fn of(part: Zoom, all: u32) -> Window {
        let trial = |place: usize| u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
        match part.map(|(from, to)| (trial(from), trial(to))) {
            None => Window::WHOLE,
            Some((first, last)) if last >= all => Window::Last(last.saturating_sub(first) + 1),
            Some((first, last)) => Window::Between(first, last),
        }
    }

    /// Returns the first and the last trial that are shown, counted from 1, of `all` and in this
    /// many columns.
    pub fn trials(self, all: u32, columns: u16) -> (u32, u32) {
        let last = |count: u32| (all.saturating_sub(count).saturating_add(1), all);
        match self {
            Window::Fitting => last(columns.into()),
            Window::Last(count) => last(count),
            // A replay may go back behind them.
            Window::Between(first, _) if first > all => last(columns.into()),
            Window::Between(first, end) => (first, end.min(all)),
        }
    }

    /// Returns the same as a part of the axis; `None` for all of it.
    pub fn part(self, all: u32, columns: u16) -> Zoom {
        let (first, last) = self.trials(all, columns);
        let place = |trial: u32| trial.saturating_sub(1) as usize;
        ((first, last) != (1, all)).then(|| (place(first), place(last)))
    }
}

/// Describes which of `all` trials are shown; empty for all of them.
pub fn describe((first, last): (u32, u32), all: u32) -> String {
    match (first, last) {
        _ if first <= 1 && last >= all => String::new(),
        _ if last < all && first == last => format!("trial {first} of {all}"),
        _ if last < all => format!("trials {first} to {last} of {all}"),
        _ if first == last => format!("the last of {all} trials"),
        _ => format!("the last {} of {all} trials", last + 1 - first),
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
    fn a_window_is_a_part_and_follows_the_run_at_its_end() {
        // 40 trials, 20 columns.
        let part = |window: Window| window.part(40, 20);
        assert_eq!(part(Window::Fitting), Some((20, 39)));
        assert_eq!(part(Window::WHOLE), None);
        assert_eq!(part(Window::Between(3, 9)), Some((2, 8)));
        for zoom in [Some((20, 39)), Some((39, 39)), Some((2, 8)), None] {
            assert_eq!(part(Window::of(zoom, 40)), zoom);
        }
        assert_eq!(Window::of(Some((38, 39)), 40).trials(50, 20), (49, 50));
        assert_eq!(Window::of(Some((2, 8)), 40).trials(50, 20), (3, 9));
        assert_eq!(Window::of(None, 40).trials(50, 20), (1, 50));
        assert_eq!([Window::Fitting, Window::WHOLE].map(|window| window.part(0, 20)), [None, None]);
        // A replay that went back behind it: the last ones, until it is there again.
        let behind = Window::Between(50, 60);
        let shown = [100, 55, 50, 49, 10, 0].map(|all| behind.trials(all, 20));
        assert_eq!(shown, [(50, 60), (50, 55), (50, 50), (30, 49), (1, 10), (1, 0)]);
        for all in 0..70 {
            describe(behind.trials(all, 20), all);
        }
        for (shown, text) in [
            ((1, 9), ""),
            ((2, 9), "the last 8 of 9 trials"),
            ((9, 9), "the last of 9 trials"),
            ((2, 8), "trials 2 to 8 of 9"),
            ((4, 4), "trial 4 of 9"),
        ] {
            assert_eq!(describe(shown, 9), text);
        }
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
