//! The ratio of two settings whose trials alternated, from the pairs of each round.
//!
//! A drift from round to round affects both trials of a pair and cancels. The interval inverts
//! Wilcoxon's signed-rank test, and the ratio is the pseudo-median (Hodges and Lehmann, "Estimates
//! of location based on rank tests", Annals of Mathematical Statistics 34, 1963; Hollander, Wolfe
//! and Chicken, "Nonparametric Statistical Methods", 3rd ed., sections 3.2 and 3.3). The test
//! assumes that differences are symmetric, which holds where the order within a pair is random or
//! alternates: equal settings can be exchanged. So equal settings are called different in at most
//! 2 % of cases, 3 % with six pairs, whatever the shape of the scatter.

use std::collections::BTreeMap;

use super::{Ratio, Summary};
use super::{finite_sorted, middle};

/// The rounds and rates of a setting's trials.
pub type Series = Vec<(u32, f64)>;

/// Fewer pairs have no 95 % interval; six have one of 97 %, more have one of 98 %.
pub const MIN_PAIRS: usize = 6;
/// More pairs would have millions of averages; the last ones are used.
const MAX_PAIRS: usize = 1000;
/// Up to this many, the distribution of the ranks is exact; beyond, it is normal.
const MAX_EXACT: usize = 60;
/// Probability of each tail: less than a 95 % interval has, because a machine is never quite as
/// symmetric as the test assumes. With 0.02, 5 and 6 % of equal cells were called different
/// (`cargo bench --bench equal`).
const TAIL: f64 = 0.01;
/// The quantile of the normal distribution beyond which it is.
const NORMAL_TAIL: f64 = 2.326;

/// With one pair fewer, 7 % of 24 equal cells were called slower than the fastest of them, which is
/// picked among many.
const MIN_FOR_RATIO: usize = MIN_PAIRS + 1;
/// The time for a ratio grows with the square of the pairs; the last ones are used.
const MAX_FOR_RATIO: usize = 200;

/// Returns the speed of a setting as a multiple of the speed of `base`: by the pairs of trials of
/// the same rounds, in which changes of the machine cancel; by the medians if the pairs are too
/// few. Every statement about which cell of a run is faster is based on it.
pub fn ratio(of: &Series, base: &Series) -> Option<Ratio> {
    let pairs = pairs_of_rounds(base.iter().copied(), of.iter().copied());
    let last = &pairs[pairs.len().saturating_sub(MAX_FOR_RATIO)..];
    from_pairs(last).filter(|_| last.len() >= MIN_FOR_RATIO).or_else(|| {
        let summary = |series: &Series| Summary::from_values(&rates(series));
        Ratio::from_summaries(&summary(of)?, &summary(base)?)
    })
}

/// Returns the rates of all trials.
pub fn rates(series: &Series) -> Vec<f64> {
    series.iter().map(|(_, rate)| *rate).collect()
}

/// Pairs the values of the rounds that are in both, in the order of the rounds; each value is given
/// with its round.
pub fn pairs_of_rounds(
    base: impl IntoIterator<Item = (u32, f64)>,
    other: impl IntoIterator<Item = (u32, f64)>,
) -> Vec<(f64, f64)> {
    let others: BTreeMap<u32, f64> = other.into_iter().collect();
    let base: BTreeMap<u32, f64> = base.into_iter().collect();
    base.into_iter().filter_map(|(round, value)| Some((value, *others.get(&round)?))).collect()
}

/// Returns the ratio of the second value of each pair to the first; `None` for fewer than
/// [`MIN_PAIRS`] pairs of values above 0.
pub fn from_pairs(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let pairs = &pairs[pairs.len().saturating_sub(MAX_PAIRS)..];
    let logs: Vec<f64> =
        pairs.iter().map(|(base, of)| (of / base).ln()).filter(|log| log.is_finite()).collect();
    if logs.len() < MIN_PAIRS {
        return None;
    }
    let averages = walsh_averages(&logs);
    let outside = count_outside(logs.len());
    let (ratio, low, high) =
        (middle(&averages)?, averages[outside], averages[averages.len() - 1 - outside]);
    Some(Ratio { ratio: ratio.exp(), low: Some(low.exp()), high: Some(high.exp()) })
}

/// Returns the averages of all pairs of values, each with itself too, in ascending order.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let with_later = |(at, first): (usize, &f64)| {
        let first = *first;
        values[at..].iter().map(move |second| first.midpoint(*second))
    };
    let all: Vec<f64> = values.iter().enumerate().flat_map(with_later).collect();
    finite_sorted(&all)
}

/// Returns how many of the ordered averages lie outside the interval at each end: one less than
/// the smallest rank sum that the test does not reject.
fn count_outside(pairs: usize) -> usize {
    if pairs > MAX_EXACT {
        let n = pairs as f64;
        let spread = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        return (n * (n + 1.0) / 4.0 - NORMAL_TAIL * spread).floor().max(1.0) as usize - 1;
    }
    let mut below = 0.0;
    let accepted = rank_sums(pairs).into_iter().position(|probability| {
        below += probability;
        below > TAIL
    });
    accepted.unwrap_or(0).saturating_sub(1)
}

/// Returns the probability of each sum of the ranks 1 to `count`, each taken with probability one
/// half.
fn rank_sums(count: usize) -> Vec<f64> {
    let mut sums = vec![0.0; count * (count + 1) / 2 + 1];
    sums[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..sums.len()).rev() {
            let with = if sum >= rank { sums[sum - rank] } else { 0.0 };
            sums[sum] = (sums[sum] + with) / 2.0;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::Rng;

    #[test]
    fn critical_values_match_enumeration() {
        // By counting subsets of the ranks: the largest sum with a probability of at most
        // 1 %, and so as many averages outside the interval.
        for (pairs, expected) in [(6, 0), (7, 0), (8, 1), (9, 3), (10, 5), (15, 19), (20, 43)] {
            assert_eq!(count_outside(pairs), expected, "{pairs}");
        }
        let sums = rank_sums(6);
        assert!((sums.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(sums[0], 1.0 / 64.0);
        // The normal distribution takes over without a step.
        let (exact, normal) = (count_outside(60), count_outside(61));
        assert!(normal > exact && normal < exact + 40, "{exact} {normal}");
    }

    #[test]
    fn a_drift_that_both_share_cancels() {
        let pairs: Vec<(f64, f64)> =
            (0..8).map(|n| 1.3f64.powi(n)).map(|of| (of, of * 1.1)).collect();
        let ratio = from_pairs(&pairs).unwrap();
        assert!((ratio.ratio - 1.1).abs() < 1e-9 && ratio.low.unwrap() > 1.09, "{ratio:?}");
        assert_eq!(from_pairs(&pairs[..5]), None);
        let zero = [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0)];
        assert_eq!(from_pairs(&[&pairs[..5], &zero[..]].concat()), None);
    }

    #[test]
    fn pairs_find_gains_not_noise() {
        let mut noise = Rng::new(7);
        let mut count = |pairs: usize, gain: f64| {
            let different = |_: &u32| {
                let mut level = 0.0;
                let trials: Vec<(f64, f64)> = (0..pairs)
                    .map(|_| {
                        // The machine wanders by 10 % a round, and each trial scatters by 5 %.
                        level += 0.1 * noise.normal();
                        let mut trial = || (level + 0.05 * noise.normal()).exp();
                        (trial(), trial() * gain)
                    })
                    .collect();
                from_pairs(&trials).unwrap().verdict() != Some(std::cmp::Ordering::Equal)
            };
            (0..2000).filter(different).count() as f64 / 2000.0
        };
        for pairs in [6, 7, 12, 30, 80] {
            let share = count(pairs, 1.0);
            assert!(share < 0.05, "{pairs}: {share}");
        }
        let found = [8, 12].map(|pairs| count(pairs, 1.1));
        assert!(found[0] > 0.65 && found[1] > 0.9, "{found:?}");
    }
}
