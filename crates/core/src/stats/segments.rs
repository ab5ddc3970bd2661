//! The levels of a series over time, found in its coarse groups and placed in its fine values.

use super::course::{Stretch, misfit};
use super::median;

/// Groups that levels are searched in: means over as long a time depend little on each other.
const GROUPS: usize = 60;
/// Groups of a level, at least: a stray group is not a level.
const MIN_GROUPS: usize = 2;
/// A level differs from the one before by at least this ratio: less is the noise of a machine that
/// others use too.
const MIN_RATIO: f64 = 1.25;
/// Two levels differ by at least as many of their standard errors: two parts, and a burst, of which
/// there are more to choose from. In simulations with noise of 15 and 30 % that lasts for five
/// values, fewer than 1 in 100 series without a change have one.
const MIN_ERRORS: [f64; 2] = [7.0, 11.0];

/// Returns the levels of these values, which are above 0 or equal to it, at equal distances in
/// time: one if the level never changes by more than chance and by a quarter.
///
/// The series is split in two where two levels fit best, then each part again; the search is in up
/// to 60 groups of values, and each change is then placed where the values themselves fit best.
pub fn segments(values: &[f64]) -> Vec<Stretch> {
    let whole = |first, last| Stretch::new(values, first, last);
    let size = values.len().div_ceil(GROUPS).max(1);
    let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len().max(1) as f64;
    // A share of the mean in place of 0, so that a stop has a logarithm.
    let least = mean(values) * 1e-3;
    if !(least > 0.0 && least.is_finite()) {
        return values.len().checked_sub(1).map(|last| whole(0, last)).into_iter().collect();
    }
    let groups: Vec<f64> = values.chunks(size).map(|group| mean(group).max(least).ln()).collect();
    let mut changes = Vec::new();
    split(&groups, 0, &mut changes);
    let mut bounds = vec![0];
    for (at, levels) in changes {
        let at = at * size;
        let from = at.saturating_sub(size).max(bounds[bounds.len() - 1] + 1);
        let to = (at + size).min(values.len() - 1);
        bounds.push(place(values, from, to, levels.map(f64::exp)).unwrap_or(at));
    }
    bounds.push(values.len());
    let mut found: Vec<Stretch> = Vec::new();
    for pair in bounds.windows(2) {
        let next = whole(pair[0], pair[1] - 1);
        match found.last_mut() {
            // Between two levels lies a group that has parts of both.
            Some(last) if ratio(last.median, next.median) < MIN_RATIO => {
                *last = whole(last.first, next.last);
            }
            _ => found.push(next),
        }
    }
    join_transitions(values, size, &mut found);
    found
}

/// Makes one change of two that have less than a level between them, as groups of `size` values
/// around a change have parts of both: too few groups, or one more with a mean between the levels
/// before and after.
fn join_transitions(values: &[f64], size: usize, found: &mut Vec<Stretch>) {
    let mut at = 1;
    while let Some([before, own, after]) = found.get(at - 1..at + 2) {
        let is_between = (own.median - before.median) * (after.median - own.median) > 0.0;
        let is_change = ratio(before.median, after.median) >= MIN_RATIO;
        let length = own.last + 1 - own.first;
        let is_short = is_change && length < MIN_GROUPS * size;
        let is_mixed = is_between && length <= (MIN_GROUPS + 1) * size;
        if !(is_short || is_mixed) {
            at += 1;
            continue;
        }
        let levels = [before.median, after.median];
        let change = place(values, own.first, own.last + 1, levels).unwrap_or(own.first);
        let joined = [(before.first, change - 1), (change, after.last)];
        let joined = joined.map(|(first, last)| Stretch::new(values, first, last));
        found.splice(at - 1..at + 2, joined);
    }
}

/// Adds the changes within these logarithms, the first of which has the index `from`, in order:
/// where, and the levels before and after.
fn split(logs: &[f64], from: usize, changes: &mut Vec<(usize, [f64; 2])>) {
    let Some(Split { at, until, levels: [own, other] }) = find_split(logs) else { return };
    split(&logs[..at], from, changes);
    changes.push((from + at, [own, other]));
    split(&logs[at..until], from + at, changes);
    if until < logs.len() {
        changes.push((from + until, [other, own]));
        split(&logs[until..], from + until, changes);
    }
}

/// Values from `at` on, up to `until`, have another level than those before and after them.
struct Split {
    at: usize,
    until: usize,
    levels: [f64; 2],
}

/// Returns the split where two levels fit best: in two parts, else of a burst between two parts of
/// one level; `None` if the levels do not differ by enough.
fn find_split(logs: &[f64]) -> Option<Split> {
    let last = logs.len().checked_sub(MIN_GROUPS)?;
    let in_two = (MIN_GROUPS..=last).map(|at| (at, logs.len()));
    let ends = |at: usize| (at + MIN_GROUPS..=last).map(move |until| (at, until));
    let [of_two, of_burst] = MIN_ERRORS;
    best_of(logs, in_two, of_two)
        .or_else(|| best_of(logs, (MIN_GROUPS..=last).flat_map(ends), of_burst))
}

/// Returns the split of these in which two levels fit best, if they differ by enough.
fn best_of(
    logs: &[f64],
    splits: impl Iterator<Item = (usize, usize)>,
    least: f64,
) -> Option<Split> {
    let parts = |(at, until): (usize, usize)| {
        [[&logs[..at], &logs[until..]].concat(), logs[at..until].to_vec()]
    };
    let of = |split| parts(split).iter().map(|part| misfit(part)).sum::<f64>();
    let fits = splits.map(|split| (split, of(split)));
    let ((at, until), misfit) = fits.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let parts = parts((at, until));
    let levels = parts.each_ref().map(|part| median(part).unwrap_or(0.0));
    // Of normal noise, the mean distance from the median is 0.8 standard deviations.
    let deviation = misfit / logs.len() as f64 / 0.8;
    let errors = parts.iter().map(|part| 1.0 / part.len() as f64).sum::<f64>().sqrt() * deviation;
    let change = (levels[0] - levels[1]).abs();
    let differs = change >= MIN_RATIO.ln() && change > least * errors;
    differs.then_some(Split { at, until, levels })
}

fn ratio(one: f64, other: f64) -> f64 {
    if one.min(other) > 0.0 { one.max(other) / one.min(other) } else { f64::INFINITY }
}

/// Returns the index between two where the values change from one level to another.
fn place(values: &[f64], from: usize, to: usize, levels: [f64; 2]) -> Option<usize> {
    let misfit = |range: &[f64], level: f64| range.iter().map(|v| (v - level).abs()).sum::<f64>();
    let of = |at: usize| misfit(&values[from..at], levels[0]) + misfit(&values[at..to], levels[1]);
    (from..=to).min_by(|a, b| of(*a).total_cmp(&of(*b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::Rng;

    /// Returns values at these levels, each for a number of values, with noise that lasts.
    fn series(levels: &[(usize, f64)], noise: f64, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        let mut drift = 0.0;
        let mut values = Vec::new();
        for (count, level) in levels {
            for _ in 0..*count {
                drift = 0.8 * drift + 0.6 * rng.normal();
                values.push((level * (1.0 + noise * drift)).max(0.0));
            }
        }
        values
    }

    #[test]
    fn a_drop_is_placed_exactly() {
        for (seed, at) in (0..50).zip([37, 120, 300, 451, 555].into_iter().cycle()) {
            let values = series(&[(at, 3000.0), (600 - at, 310.0)], 0.05, seed);
            let found = segments(&values);
            assert_eq!(found.len(), 2, "{at}: {found:?}");
            assert!(found[1].first.abs_diff(at) <= 1, "{at}: {found:?}");
            for (segment, level) in found.iter().zip([3000.0, 310.0]) {
                assert!((segment.median / level - 1.0).abs() < 0.1, "{found:?}");
            }
        }
    }

    /// Returns the whole operations per interval of two rates, the second from `change` on.
    fn operations(count: usize, change: f64, rates: [f64; 2]) -> Vec<f64> {
        let (mut values, mut time) = (vec![0.0; count], 0.0);
        while let Some(value) = values.get_mut(time as usize) {
            *value += 1.0;
            time += 1.0 / rates[usize::from(time >= change)];
        }
        values
    }

    #[test]
    fn few_operations_have_two_levels() {
        let mut rng = Rng::new(3);
        let mut draw = |low: f64, high: f64| low + (high - low) * rng.uniform();
        for _ in 0..1000 {
            let fast = draw(10.0, 30.0);
            let rates = [fast, fast * draw(0.15, 0.7)];
            let change = draw(20.0, 60.0);
            let found = segments(&operations(110, change, rates));
            let context = format!("{rates:?} from {change}: {found:?}");
            assert_eq!(found.len(), 2, "{context}");
            assert!((found[1].first as f64 - change).abs() <= 1.0, "{context}");
        }
    }

    #[test]
    fn noise_alone_has_one_level() {
        for noise in [0.15, 0.3] {
            let has_several =
                |seed: &u64| segments(&series(&[(600, 100.0)], noise, *seed)).len() > 1;
            let several = (0..100).filter(has_several).count();
            assert!(several <= 1, "{several} of 100 series without a change have one");
        }
    }

    #[test]
    fn bursts_have_their_own_levels() {
        let values = series(&[(200, 100.0), (200, 30.0), (200, 100.0)], 0.05, 7);
        let found = segments(&values);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[1].first.abs_diff(200) <= 1 && found[2].first.abs_diff(400) <= 1);
    }

    #[test]
    fn short_series_have_one_level() {
        assert_eq!(segments(&[]), []);
        assert_eq!(segments(&[0.0]).len(), 1);
        assert_eq!(segments(&[5.0, 1.0, 5.0]).len(), 1);
    }
}
