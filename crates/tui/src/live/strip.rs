//! The trials as bars side by side: as wide as all of them fit, and without room between where
//! nothing was measured.

use super::series::{Extremes, Measure, Slice, per_second};
use crate::units::ticks;
use crate::zoom::Zoom;

/// A bar: a trial, or several where there are more trials than columns.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialBar {
    /// The cell; `None`: several.
    pub cell: Option<u32>,
    /// Its first column, and the rate in each.
    pub start: u16,
    pub rates: Vec<f64>,
    /// The first and the last trial in it, counted from 1.
    pub first: u32,
    pub last: u32,
}

/// Columns of a trial of the usual length and of the gap behind it, the widest first.
const WIDTHS: [(usize, usize); 8] =
    [(16, 1), (12, 1), (8, 1), (6, 1), (4, 1), (3, 1), (2, 1), (1, 1)];
/// Columns of a trial that has one sample: its bar has no detail.
const PLAIN_COLUMNS: usize = 6;

impl TrialBar {
    /// Returns its mean rate.
    pub fn rate(&self) -> f64 {
        // Its columns are equally long.
        self.rates.iter().sum::<f64>() / self.rates.len().max(1) as f64
    }
}

/// Lays out the trials of `slices` from the first to the last that is shown in `width` columns.
pub fn lay_out(
    slices: &[Slice],
    (first, last): (u32, u32),
    measure: Measure,
    width: u16,
) -> Vec<TrialBar> {
    let start = slices.partition_point(|slice| slice.trial < first);
    let end = slices.partition_point(|slice| slice.trial <= last).max(start);
    let trials: Vec<&[Slice]> = slices[start..end].chunk_by(|a, b| a.trial == b.trial).collect();
    let room = usize::from(width);
    if trials.is_empty() || room == 0 {
        return Vec::new();
    }
    let usual = median_nanos(&trials);
    let columns = |trial: &[Slice], wide: usize| {
        // Trials of about one length have one width.
        let share = nanos(trial) as f64 / usual.max(1) as f64;
        let share = if share < 1.5 { 1.0 } else { share };
        let detail = (2 * trial.len()).max(PLAIN_COLUMNS);
        ((share * wide as f64).round() as usize).min(detail).clamp(1, room)
    };
    // A single long trial may take it all.
    let alone = (trials.len() == 1).then_some((room, 0));
    let fits = |(wide, gap): &(usize, usize)| {
        let bars: usize = trials.iter().map(|trial| columns(trial, *wide) + gap).sum();
        bars <= room + gap
    };
    let fit = alone.into_iter().chain(WIDTHS).find(fits);
    if fit.is_none() && trials.len() > room {
        return lay_out_groups(&trials, measure, room);
    }
    let mut start = 0;
    let place = |trial: &&[Slice]| {
        let (wide, gap) = fit.map_or((1, 0), |(wide, gap)| (columns(trial, wide), gap));
        let bar = new_bar(trial, start as u16, rates(trial, measure, wide));
        start += wide + gap;
        bar
    };
    trials.iter().map(place).collect()
}

fn new_bar(slices: &[Slice], start: u16, rates: Vec<f64>) -> TrialBar {
    let cell = slices.first().and_then(|first| first.cell);
    TrialBar {
        cell: cell.filter(|cell| slices.iter().all(|slice| slice.cell == Some(*cell))),
        start,
        rates,
        first: slices.first().map_or(0, |slice| slice.trial),
        last: slices.last().map_or(0, |slice| slice.trial),
    }
}

/// Lays out several trials per column. Which ones share a column depends on their number alone, so
/// that columns stay as they are while trials are added.
fn lay_out_groups(trials: &[&[Slice]], measure: Measure, room: usize) -> Vec<TrialBar> {
    let mut each = 2;
    let group = |trial: &&[Slice], each: u32| trial.last().map_or(0, |slice| slice.trial) / each;
    let count = |each: u32| trials.chunk_by(|a, b| group(a, each) == group(b, each)).count();
    while count(each) > room && each < 1 << 30 {
        each *= 2;
    }
    trials
        .chunk_by(|a, b| group(a, each) == group(b, each))
        .take(room)
        .enumerate()
        .map(|(at, some)| {
            let slices = some.concat();
            let rates = rates(&slices, measure, 1);
            new_bar(&slices, at as u16, rates)
        })
        .collect()
}

fn nanos(trial: &[Slice]) -> u64 {
    trial.iter().map(|slice| slice.nanos).fold(0, u64::saturating_add)
}

fn median_nanos(trials: &[&[Slice]]) -> u64 {
    let mut all: Vec<u64> = trials.iter().map(|trial| nanos(trial)).collect();
    let middle = all.len() / 2;
    *all.select_nth_unstable(middle).1
}

/// Returns the rate in each of `columns` equal parts of the time of these slices.
fn rates(slices: &[Slice], measure: Measure, columns: usize) -> Vec<f64> {
    let part = nanos(slices) as f64 / columns as f64;
    if columns <= 1 || part <= 0.0 {
        let amount = slices.iter().map(|slice| slice.amount(measure)).fold(0, u64::saturating_add);
        return vec![per_second(amount, nanos(slices)); columns];
    }
    let mut amounts = vec![0.0; columns];
    let mut from = 0.0;
    for slice in slices {
        let to = from + slice.nanos as f64;
        let (first, last) = ((from / part) as usize, ((to / part).ceil() as usize).min(columns));
        for (column, amount) in amounts.iter_mut().enumerate().take(last).skip(first) {
            let low = (column as f64 * part).max(from);
            let high = ((column + 1) as f64 * part).min(to);
            *amount += (high - low).max(0.0) * slice.rate(measure);
        }
        from = to;
    }
    amounts.into_iter().map(|amount| amount / part).collect()
}

/// Which trials are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrialWindow {
    /// The last ones, as many as fit with a column each.
    #[default]
    Fitting,
    /// The last ones, at most this many.
    Last(u32),
    /// From one to another, counted from 1; new trials do not move them.
    Between(u32, u32),
}

impl TrialWindow {
    /// All of the run, several in a column if need be.
    pub const WHOLE: TrialWindow = TrialWindow::Last(u32::MAX);

    /// Returns the window of a part of the axis of `all` trials: with the last, it follows the run.
    pub fn of(part: Zoom, all: u32) -> TrialWindow {
        let trial = |place: usize| u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
        match part.map(|(from, to)| (trial(from), trial(to))) {
            None => TrialWindow::WHOLE,
            Some((first, last)) if last >= all => TrialWindow::Last(last.saturating_sub(first) + 1),
            Some((first, last)) => TrialWindow::Between(first, last),
        }
    }

    /// Returns the first and the last trial that are shown, counted from 1, of `all` and in this
    /// many columns.
    pub fn trials(self, all: u32, columns: u16) -> (u32, u32) {
        let last = |count: u32| (all.saturating_sub(count).saturating_add(1), all);
        match self {
            TrialWindow::Fitting => last(columns.into()),
            TrialWindow::Last(count) => last(count),
            // A replay may go back behind them.
            TrialWindow::Between(first, _) if first > all => last(columns.into()),
            TrialWindow::Between(first, end) => (first, end.min(all)),
        }
    }

    /// Returns the shown trials as a part of the axis; `None` for the whole axis.
    pub fn part(self, all: u32, columns: u16) -> Zoom {
        let (first, last) = self.trials(all, columns);
        let place = |trial: u32| trial.saturating_sub(1) as usize;
        ((first, last) != (1, all)).then(|| (place(first), place(last)))
    }
}

/// Describes which of `all` trials are shown; empty if all are.
pub fn describe((first, last): (u32, u32), all: u32) -> String {
    match (first, last) {
        _ if first <= 1 && last >= all => String::new(),
        _ if last < all && first == last => format!("trial {first} of {all}"),
        _ if last < all => format!("trials {first} to {last} of {all}"),
        _ if first == last => format!("the last of {all} trials"),
        _ => format!("the last {} of {all} trials", last + 1 - first),
    }
}

/// Returns whether a logarithmic axis fits the rates better.
pub fn needs_log(extremes: Extremes) -> bool {
    extremes.low.is_some_and(|low| ticks::is_logarithmic(low, extremes.high))
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

    /// A sample of 100 ms.
    fn slice(trial: u32, bytes: u64) -> Slice {
        let cell = Some(trial % 3);
        Slice { nanos: 100_000_000, bytes, ops: 1, syscalls: 1, trial, cell }
    }

    fn trials(count: u32, samples: usize) -> Vec<Slice> {
        (1..=count).flat_map(|trial| vec![slice(trial, 10); samples]).collect()
    }

    fn places(slices: &[Slice], width: u16) -> Vec<(u16, usize)> {
        lay_out(slices, (1, u32::MAX), Measure::Bytes, width)
            .iter()
            .map(|bar| (bar.start, bar.rates.len()))
            .collect()
    }

    #[test]
    fn bars_are_as_wide_as_fits() {
        assert_eq!(places(&trials(1, 3), 60), [(0, 6)]);
        assert_eq!(places(&trials(2, 3), 60), [(0, 6), (7, 6)]);
        let widths = |count, width| places(&trials(count, 3), width)[0].1;
        assert_eq!([8, 9, 12, 15, 20, 30].map(|count| widths(count, 60)), [6, 4, 4, 3, 2, 1]);
        let last = |count| *places(&trials(count, 3), 60).last().unwrap();
        // Without room, bars have no gaps.
        assert_eq!([30, 60].map(last), [(58, 1), (59, 1)]);
        // A long trial shows its samples.
        assert_eq!(places(&trials(1, 600), 60), [(0, 60)]);
        assert_eq!(places(&[], 60), []);
        assert_eq!(places(&trials(3, 1), 0), []);
    }

    #[test]
    fn only_trials_in_view_are_drawn() {
        let of = |window| lay_out(&trials(100, 1), window, Measure::Bytes, 60);
        let last: Vec<u32> = of((41, 100)).iter().map(|bar| bar.last).collect();
        assert_eq!((last.len(), last[0], last[59]), (60, 41, 100));
        let few: Vec<u32> = of((7, 10)).iter().map(|bar| bar.first).collect();
        assert_eq!(few, [7, 8, 9, 10]);
        assert_eq!([of((0, 0)), of((101, 200)), of((9, 3))], [vec![], vec![], vec![]]);
    }

    #[test]
    fn many_trials_share_columns() {
        let of = |count| lay_out(&trials(count, 1), (1, u32::MAX), Measure::Bytes, 60);
        let bars = of(100);
        assert_eq!(bars.len(), 51);
        let fourth = &bars[3];
        assert_eq!((fourth.first, fourth.last, fourth.cell, fourth.start), (6, 7, None, 3));
        assert!(bars.iter().all(|bar| (bar.rate() - 100.0).abs() < 1e-9));
        assert_eq!(of(101)[..50], bars[..50]);
        assert_eq!(of(2000).len(), 32);
        assert_eq!(of(60).len(), 60);
    }

    #[test]
    fn similar_trials_are_equally_wide() {
        let mut slices = trials(4, 3);
        slices.remove(0);
        slices.extend(vec![slice(5, 10); 6]);
        assert_eq!(places(&slices, 60), [(0, 6), (7, 6), (14, 6), (21, 6), (28, 12)]);
    }

    #[test]
    fn bar_columns_are_samples() {
        let samples = [slice(1, 10), slice(1, 20), slice(1, 40)];
        let rates = |columns| super::rates(&samples, Measure::Bytes, columns);
        let round = |rates: Vec<f64>| rates.iter().map(|rate| rate.round()).collect::<Vec<_>>();
        assert_eq!(round(rates(3)), [100.0, 200.0, 400.0]);
        assert_eq!(round(rates(6)), [100.0, 100.0, 200.0, 200.0, 400.0, 400.0]);
        assert_eq!(round(rates(1)), [233.0]);
        assert_eq!(round(rates(2)), [133.0, 333.0]);
        let none = [Slice { nanos: 0, ..slice(1, 5) }];
        assert_eq!(super::rates(&none, Measure::Bytes, 2), [0.0, 0.0]);
    }

    #[test]
    fn windows_follow_the_run() {
        // 40 trials, 20 columns.
        let part = |window: TrialWindow| window.part(40, 20);
        assert_eq!(part(TrialWindow::Fitting), Some((20, 39)));
        assert_eq!(part(TrialWindow::WHOLE), None);
        assert_eq!(part(TrialWindow::Between(3, 9)), Some((2, 8)));
        for zoom in [Some((20, 39)), Some((39, 39)), Some((2, 8)), None] {
            assert_eq!(part(TrialWindow::of(zoom, 40)), zoom);
        }
        assert_eq!(TrialWindow::of(Some((38, 39)), 40).trials(50, 20), (49, 50));
        assert_eq!(TrialWindow::of(Some((2, 8)), 40).trials(50, 20), (3, 9));
        assert_eq!(TrialWindow::of(None, 40).trials(50, 20), (1, 50));
        assert_eq!(
            [TrialWindow::Fitting, TrialWindow::WHOLE].map(|window| window.part(0, 20)),
            [None, None]
        );
        // A replay that went back behind it: the last ones, until it is there again.
        let behind = TrialWindow::Between(50, 60);
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
    fn log_axes_end_at_powers() {
        let of = |low, high| Extremes { low: Some(low), high };
        assert_eq!(log_ends(of(300.0, 9000.0), 2.0, 1.0), (128.0, 16384.0));
        let (bottom, top) = log_ends(of(128.0, 16384.0), 2.0, 1.0);
        assert!((bottom - 64.0).abs() < 1e-6 && (top - 16384.0).abs() < 1e-6, "{bottom} {top}");
        let (bottom, top) = log_ends(of(200.0, 90_000.0), 10.0, 1.0);
        assert!((bottom - 100.0).abs() < 1e-6 && (top - 100_000.0).abs() < 1e-3);
        let (bottom, top) = log_ends(Extremes::default(), 2.0, 1.0);
        assert!(bottom < top);
        assert!(needs_log(of(1.0, 21.0)) && !needs_log(of(1.0, 20.0)));
        assert!(!needs_log(Extremes::default()));
    }
}
