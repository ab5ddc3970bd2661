//! The summary of repeated measurements: median with its interval, mean, spread, extremes.

use serde::{Deserialize, Serialize};

use super::{finite_sorted, middle};

/// Confidence level of the interval.
const CONFIDENCE: f64 = 0.95;

/// Values above this are scaled down by a power of two, which is exact, before they are squared.
const LARGE: f64 = 1e150;

/// Summary of a set of values. Every field has the unit of the values and is finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The middle value, or the midpoint of the middle two.
    pub median: f64,
    /// Lower end of the 95 % confidence interval of the median; `None` for fewer than 5 values.
    pub low: Option<f64>,
    /// Upper end of that interval; `None` for fewer than 5 values.
    pub high: Option<f64>,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1); 0 for a single value.
    pub stddev: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl Summary {
    /// Summarizes `values` in any order. Values that are not finite are skipped; `None` if none is
    /// left.
    ///
    /// The interval is based on order statistics and assumes no shape of the distribution: with 5
    /// values it is `[min, max]`, which contains the median in 93.75 % of cases; from 6 on it is
    /// interpolated to 95 % (Hettmansperger and Sheather, "Confidence intervals based on
    /// interpolated order statistics", Statistics & Probability Letters 4, 1986). Both assume
    /// independent values.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let sorted = finite_sorted(values);
        let median = middle(&sorted)?;
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let (mean, stddev) = moments(&sorted);
        let interval = interval(&sorted);
        Some(Self {
            median,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            mean,
            stddev,
            min,
            max,
        })
    }

    /// Returns the half width of the interval relative to the median, on its wider side: 0.05 means
    /// "within 5 %".
    ///
    /// `None` without an interval, and if the median is 0 but the interval has a width.
    pub fn half_width(&self) -> Option<f64> {
        let side = (self.high? - self.median).max(self.median - self.low?);
        if side == 0.0 {
            return Some(0.0);
        }
        Some(side / self.median.abs()).filter(|width| width.is_finite())
    }

    /// Returns the summary of the same values, each multiplied by a factor of 0 or more.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            median: self.median * factor,
            low: self.low.map(|low| low * factor),
            high: self.high.map(|high| high * factor),
            mean: self.mean * factor,
            stddev: self.stddev * factor,
            min: self.min * factor,
            max: self.max * factor,
        }
    }
}

/// Returns the mean and sample standard deviation of ascending finite values (at least one),
/// without overflow.
fn moments(sorted: &[f64]) -> (f64, f64) {
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    let scale = if max.abs().max(min.abs()) > LARGE { 2f64.powi(-600) } else { 1.0 };
    let n = sorted.len() as f64;
    let mean = sorted.iter().map(|v| v * scale).sum::<f64>() / n;
    let squares: f64 = sorted.iter().map(|v| (v * scale - mean).powi(2)).sum();
    // Rounding must neither move the mean outside the values nor yield a spread of equal values.
    let stddev = if min == max { 0.0 } else { (squares / (n - 1.0)).sqrt() / scale };
    ((mean / scale).clamp(min, max), stddev.min(f64::MAX))
}

/// Returns the interval of the median of ascending values; see [`Summary::from_values`].
fn interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let n = sorted.len();
    match n {
        0..5 => return None,
        5 => return Some((sorted[0], sorted[4])),
        _ => {}
    }
    let (k, share) = interpolation(n);
    // The paper counts from 1: X(k) and X(k+1) from below, X(n-k+1) and X(n-k) from above.
    let between = |outer: f64, inner: f64| (1.0 - share) * outer + share * inner;
    let low = between(sorted[k - 1], sorted[k]);
    let high = between(sorted[n - k], sorted[n - k - 1]);
    // Only rounding: for equal values both ends are that value.
    Some((low.clamp(sorted[k - 1], sorted[k]), high.clamp(sorted[n - k - 1], sorted[n - k])))
}

/// Returns the rank k (from 1) of the outer order statistic and the weight of the next inner one,
/// for `n` >= 6 values.
///
/// `[X(k), X(n-k+1)]` covers the median with probability 1 - 2 P(Binomial(n, 1/2) < k). k is the
/// largest rank that still reaches 95 %; the weight reduces the excess to exactly 95 %.
fn interpolation(n: usize) -> (usize, f64) {
    let count = n as f64;
    // Logarithms, because 2^-n underflows from n = 1075 on.
    let mut ln_chance = -count * std::f64::consts::LN_2;
    let mut coverage = 1.0 - 2.0 * ln_chance.exp();
    for k in 1..n / 2 {
        let rank = k as f64;
        ln_chance += ((count - rank + 1.0) / rank).ln();
        let next = coverage - 2.0 * ln_chance.exp();
        if next < CONFIDENCE {
            let excess = (coverage - CONFIDENCE) / (coverage - next);
            let share = (count - rank) * excess / (rank + (count - 2.0 * rank) * excess);
            return (k, share.clamp(0.0, 1.0));
        }
        coverage = next;
    }
    // The innermost pair covers less than 95 % for every n >= 6, so this is never reached; the
    // widest interval would still be correct.
    (1, 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::testing::{Rng, SHAPES};

    #[test]
    fn known_values() {
        let s = Summary::from_values(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((s.median, s.mean, s.min, s.max), (2.5, 2.5, 1.0, 4.0));
        assert!((s.stddev - (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!((s.low, s.high, s.half_width()), (None, None, None));
        let s = Summary::from_values(&[10.0, 9.0, 14.0, 8.0, 11.0]).unwrap();
        assert_eq!((s.low, s.high), (Some(8.0), Some(14.0)));
        assert_eq!(s.half_width(), Some(0.4));
    }

    #[test]
    fn scaling_commutes_with_summarizing() {
        let values = [10.0, 9.0, 14.0, 8.0, 11.0, 30.0];
        let scaled = values.map(|value| value * 0.25);
        let summary = Summary::from_values(&values).unwrap().scaled(0.25);
        assert_eq!(summary, Summary::from_values(&scaled).unwrap());
    }

    #[test]
    fn nothing_finite_is_none() {
        assert_eq!(Summary::from_values(&[]), None);
        assert_eq!(Summary::from_values(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]), None);
        assert_eq!(Summary::from_values(&[f64::NAN, 3.0]), Summary::from_values(&[3.0]));
    }

    #[test]
    fn interpolation_by_hand() {
        // n = 6: [X1, X6] covers 1 - 2/64, [X2, X5] covers 1 - 14/64; excess 0.1, share 0.5 / 1.4.
        let (k, share) = interpolation(6);
        assert_eq!(k, 1);
        assert!((share - 0.5 / 1.4).abs() < 1e-12);
        // Ranks in tables of the sign test: 10 -> 2, 20 -> 6, 30 -> 10, 50 -> 18.
        let ranks: Vec<usize> = [10, 20, 30, 50].iter().map(|&n| interpolation(n).0).collect();
        assert_eq!(ranks, [2, 6, 10, 18]);
    }

    #[test]
    fn interpolation_approaches_the_normal() {
        for n in [1_000usize, 2_000, 100_000] {
            let (k, share) = interpolation(n);
            let expected = n as f64 / 2.0 - 1.959_964 * (n as f64).sqrt() / 2.0 + 0.5;
            assert!(
                (k as f64 + share - expected).abs() < 0.2,
                "{n}: {k} + {share}, expected {expected}"
            );
        }
    }

    #[test]
    fn equal_and_extreme_values() {
        let s = Summary::from_values(&[0.1; 7]).unwrap();
        assert_eq!(
            (s.mean, s.stddev, s.low, s.high, s.half_width()),
            (0.1, 0.0, Some(0.1), Some(0.1), Some(0.0))
        );
        assert_eq!(Summary::from_values(&[0.0; 6]).unwrap().half_width(), Some(0.0));
        assert_eq!(
            Summary::from_values(&[-2.0, -1.0, 0.0, 0.0, 1.0, 2.0]).unwrap().half_width(),
            None
        );
        let s = Summary::from_values(&[f64::MAX, -f64::MAX, f64::MAX, f64::MAX, -f64::MAX, 0.0])
            .unwrap();
        assert!(s.mean.is_finite() && s.stddev.is_finite() && s.low.unwrap().is_finite());
        assert_eq!(Summary::from_values(&[1e200; 3]).unwrap().mean, 1e200);
    }

    /// Returns the share of simulated samples whose interval contains the true median.
    #[test]
    fn coverage_is_nominal() {
        let mut rng = Rng::new(2024);
        let rounds = 8_000;
        for shape in SHAPES {
            for n in [5, 6, 8, 11, 20] {
                let held = (0..rounds).filter(|_| {
                    let s = Summary::from_values(&shape.values(&mut rng, n)).unwrap();
                    s.low.unwrap() <= shape.median && shape.median <= s.high.unwrap()
                });
                let coverage = held.count() as f64 / rounds as f64;
                let nominal = if n == 5 { 0.9375 } else { CONFIDENCE };
                // Four standard errors of the simulation are 0.010; the interpolation itself is off
                // by up to 0.005.
                assert!((coverage - nominal).abs() < 0.015, "{} n = {n}: {coverage}", shape.name);
            }
        }
    }

    proptest! {
        #[test]
        fn ordered_and_finite_for_any_input(values in prop::collection::vec(any::<f64>(), 0..40)) {
            let Some(s) = Summary::from_values(&values) else {
                prop_assert!(values.iter().all(|v| !v.is_finite()));
                return Ok(());
            };
            prop_assert!(s.min <= s.median && s.median <= s.max);
            prop_assert!(s.min <= s.mean && s.mean <= s.max);
            prop_assert!(s.stddev >= 0.0 && s.stddev.is_finite());
            if let (Some(low), Some(high)) = (s.low, s.high) {
                prop_assert!(s.min <= low && low <= s.median && s.median <= high && high <= s.max);
            }
            prop_assert!(s.half_width().is_none_or(|w| w >= 0.0 && w.is_finite()));
        }

        #[test]
        fn order_does_not_matter(mut values in prop::collection::vec(-1e6..1e6f64, 1..40)) {
            let before = Summary::from_values(&values);
            values.reverse();
            prop_assert_eq!(before, Summary::from_values(&values));
        }
    }
}
