//! Detection of single outliers, and of two modes. Values are flagged, never deleted.

use super::{finite_sorted, median, middle};

/// A deviation up to this share of the median is jitter, whatever the spread.
const JITTER: f64 = 0.02;

/// A spread up to this share of the median counts as none: the values are equal except for
/// rounding.
const TIE_SHARE: f64 = 1e-4;

/// Two modes must be further apart than this share of the median to be worth reporting.
const WORTH_NOTING: f64 = 0.15;

/// Returns the indexes, ascending, of the values that do not belong to the rest; empty for fewer
/// than 5 finite values.
///
/// A value is flagged if its distance from the median exceeds a multiple of the MAD (the median of
/// the absolute deviations: Iglewicz and Hoaglin 1993) *and* 2 % of the median. From 8 values on
/// the multiple is 14.826, which is 10 standard deviations of normal data. Smaller sets estimate
/// the MAD too poorly for that and use 16 (6 and 7 values) or 28 (5 values), so that normal data
/// raise a false alarm in about 1 % of sets. If more than half of the values are equal, the MAD is
/// 0 and the mean absolute deviation is used instead (multiple 4.39). Values that are not finite
/// are neither used nor flagged.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let sorted = finite_sorted(values);
    let Some(limit) = limit(&sorted) else {
        return Vec::new();
    };
    let far = |value: f64| value.is_finite() && (value - limit.centre).abs() > limit.distance;
    (0..values.len()).filter(|&index| far(values[index])).collect()
}

/// The centre of the values, and the distance from it that still counts as normal.
struct Limit {
    centre: f64,
    distance: f64,
}

/// Computes the limit for ascending values; `None` for fewer than 5.
fn limit(sorted: &[f64]) -> Option<Limit> {
    let multiple = match sorted.len() {
        0..5 => return None,
        5 => 28.0,
        6 | 7 => 16.0,
        _ => 14.826,
    };
    let centre = middle(sorted)?;
    let deviations: Vec<f64> = sorted.iter().map(|value| (value - centre).abs()).collect();
    let mad = median(&deviations)?;
    let spread = if mad > TIE_SHARE * centre.abs() {
        multiple * mad
    } else {
        // 3.5 x 1.2533: a single stray among ties always exceeds it, two opposite ones among five
        // do not.
        4.39 * deviations.iter().sum::<f64>() / deviations.len() as f64
    };
    Some(Limit { centre, distance: spread.max(JITTER * centre.abs()) })
}

/// Returns the medians of the lower and the upper group if the values form two groups rather than
/// one.
///
/// The sorted values are split at the largest ratio of the gap to the standard deviation within the
/// two groups (pooled, n - 2 degrees of freedom), with at least 2 values in each. They are two
/// modes if that ratio exceeds 5.5 + 40 / (n - 2)^2 and the gap is more than 15 % of the median.
/// The limit was found by simulation: on normal, uniform, exponential, log-normal and heavy-tailed
/// data of 4 to 30 values it raises a false alarm in under 5 % of sets, typically 2 %. Values that
/// are not finite are skipped; fewer than 4 never have two modes.
pub fn two_modes(values: &[f64]) -> Option<(f64, f64)> {
    let sorted = finite_sorted(values);
    let n = sorted.len();
    if n < 4 {
        return None;
    }
    // Scaled to at most 1, so that no square overflows; if all are zero there is nothing to scale
    // (0 / 0 is NaN and fails the tests).
    let largest = sorted[0].abs().max(sorted[n - 1].abs());
    let scaled: Vec<f64> = sorted.iter().map(|value| value / largest).collect();
    let (at, gap, ratio) = widest_split(&scaled)?;
    let limit = 5.5 + 40.0 / ((n - 2) as f64).powi(2);
    if ratio > limit && gap > WORTH_NOTING * middle(&scaled)?.abs() {
        return Some((middle(&sorted[..at])?, middle(&sorted[at..])?));
    }
    None
}

/// Finds the split of ascending values (at least 4): the size of the lower group, the gap, and the
/// ratio of the gap to the spread.
fn widest_split(sorted: &[f64]) -> Option<(usize, f64, f64)> {
    let n = sorted.len();
    let lower = running_squares(sorted.iter());
    let upper = running_squares(sorted.iter().rev());
    (2..=n - 2)
        .map(|at| {
            let gap = sorted[at] - sorted[at - 1];
            let spread = ((lower[at - 1] + upper[n - at - 1]) / (n - 2) as f64).sqrt();
            (at, gap, gap / spread)
        })
        .filter(|(_, _, ratio)| !ratio.is_nan())
        .max_by(|a, b| a.2.total_cmp(&b.2))
}

/// Returns for each value the sum of squared deviations of all values up to it (Welford 1962: no
/// cancellation).
fn running_squares<'a>(values: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let (mut mean, mut squares) = (0.0, 0.0);
    values
        .enumerate()
        .map(|(before, value)| {
            let step = value - mean;
            mean += step / (before + 1) as f64;
            squares += step * (value - mean);
            squares
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::testing::{Rng, SHAPES};

    #[test]
    fn a_clear_outlier_is_found() {
        assert_eq!(outliers(&[100.0, 101.0, 250.0, 99.0, 100.5]), [2]);
        assert_eq!(outliers(&[1.0, 100.0, 101.0, 99.0, 100.5, 98.0, 102.0, 100.2]), [0]);
        assert_eq!(outliers(&[100.0, f64::NAN, 101.0, 250.0, 99.0, f64::INFINITY, 100.5]), [3]);
    }

    #[test]
    fn under_five_values_nothing_stands_out() {
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 99.0]), [] as [usize; 0]);
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 99.0, f64::NAN]), [] as [usize; 0]);
    }

    #[test]
    fn jitter_is_no_outlier() {
        for values in [
            [100.0, 100.0, 100.0, 100.0, 100.0, 100.0],
            [100.0, 100.0, 100.0, 100.0, 100.0, 101.0],
            [100.0, 100.0 + 1e-9, 100.0, 100.0 - 1e-9, 100.0, 101.9],
            [0.0; 6],
            [10.0, 10.0, 10.0, 10.0, 11.0, 9.0],
            [10.0, 10.0 + 1e-9, 10.0 - 1e-9, 10.0, 11.0, 9.0],
        ] {
            assert_eq!(outliers(&values), [] as [usize; 0], "{values:?}");
        }
    }

    #[test]
    fn a_stray_among_ties_is_found() {
        assert_eq!(outliers(&[100.0, 100.0, 103.0, 100.0, 100.0]), [2]);
        assert_eq!(outliers(&[100.0, 100.01, 99.99, 100.0, 103.0]), [4]);
        assert_eq!(outliers(&[0.0, 0.0, 0.0, 0.0, 0.0, 3.0]), [5]);
    }

    #[test]
    fn normal_data_have_few_outliers() {
        let mut rng = Rng::new(7);
        let rounds = 4_000;
        for n in [5, 6, 7, 8, 12, 30] {
            let alarms =
                (0..rounds).filter(|_| !outliers(&SHAPES[0].values(&mut rng, n)).is_empty());
            let rate = alarms.count() as f64 / rounds as f64;
            assert!(rate < 0.025, "n = {n}: {rate}");
        }
    }

    #[test]
    fn two_modes_by_hand() {
        let values = [210.0, 100.0, 200.0, 101.0, 99.0, 205.0, f64::NAN];
        assert_eq!(two_modes(&values), Some((100.0, 205.0)));
        assert_eq!(two_modes(&[1.0, 1.0, 2.0, 2.0]), Some((1.0, 2.0)));
        assert_eq!(two_modes(&[0.0, 0.0, 0.0, 5.0, 5.0]), Some((0.0, 5.0)));
    }

    #[test]
    fn one_mode_by_hand() {
        assert_eq!(two_modes(&[]), None);
        assert_eq!(two_modes(&[1.0, 1.0, 9.0]), None);
        assert_eq!(two_modes(&[0.0; 8]), None);
        assert_eq!(two_modes(&[5.0; 8]), None);
        // A single value apart is an outlier, not a mode.
        assert_eq!(two_modes(&[1.0, 1.01, 0.99, 1.0, 1.02, 9.0]), None);
        // Two clean groups, but only 10 % apart.
        assert_eq!(two_modes(&[100.0, 100.1, 99.9, 110.0, 110.1, 109.9]), None);
    }

    #[test]
    fn one_mode_raises_few_alarms() {
        let mut rng = Rng::new(11);
        let rounds = 4_000;
        for shape in SHAPES {
            for n in [4, 5, 6, 7, 8, 10, 15, 20, 30] {
                let alarms =
                    (0..rounds).filter(|_| two_modes(&shape.values(&mut rng, n)).is_some());
                let rate = alarms.count() as f64 / rounds as f64;
                assert!(rate < 0.05, "{} n = {n}: {rate}", shape.name);
            }
        }
    }

    /// Simulates a disk that responds in 1.0 or in 2.5, each with 4 % noise.
    #[test]
    fn a_mixture_is_found() {
        let mut rng = Rng::new(13);
        for (n, slow) in [(5, 2), (8, 3), (12, 6), (20, 4), (30, 10)] {
            let rounds = 1_000;
            let mut found = 0;
            for _ in 0..rounds {
                let speed = |i: usize| if i < slow { 1.0 } else { 2.5 };
                let values: Vec<f64> =
                    (0..n).map(|i| speed(i) * (1.0 + 0.04 * rng.normal())).collect();
                if let Some((low, high)) = two_modes(&values) {
                    found += usize::from((low - 1.0).abs() < 0.15 && (high - 2.5).abs() < 0.4);
                }
            }
            assert!(found > rounds * 9 / 10, "n = {n}: {found} of {rounds}");
        }
    }

    proptest! {
        #[test]
        fn any_input_is_safe(values in prop::collection::vec(any::<f64>(), 0..40)) {
            let found = outliers(&values);
            prop_assert!(found.iter().all(|&index| values[index].is_finite()));
            prop_assert!(found.len() <= values.len() / 2);
            if let Some((low, high)) = two_modes(&values) {
                prop_assert!(low < high);
            }
        }

        #[test]
        fn scale_does_not_matter(values in prop::collection::vec(0.5..2.0f64, 4..20), power in -30..30i32) {
            let scale = 2f64.powi(power);
            let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
            prop_assert_eq!(outliers(&values), outliers(&scaled));
            prop_assert_eq!(two_modes(&values).is_some(), two_modes(&scaled).is_some());
        }
    }
}
