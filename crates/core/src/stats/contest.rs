//! A contest: which of several settings is the fastest, or which of them share the lead.
//!
//! A setting stays a contender unless the interval of the ratio ([`paired::ratio`]) shows that it
//! is slower than the leader. Contenders borrow from each other: their true rates scatter around a
//! common one by an amount that is unknown, and each of its possible values counts by its
//! likelihood (Gelman et al., "Bayesian Data Analysis", 3rd ed., section 5.4). Twelve equal
//! settings of five noisy trials each are then known as well as one of sixty.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;

use super::paired::{self, Series, rates};
use super::{Summary, median};

/// Fewer trials have no interval.
const MIN_TRIALS: usize = 5;
/// The probability with which a statement has to hold.
const CONFIDENCE: f64 = 0.95;
/// How many intervals a setting has to be behind: with one, each of many rivals and each look
/// after a round would add its own chance of an error.
const SURELY: f64 = 1.25;
/// The standard error of a median of normal values is that of their mean times this.
const MEDIAN_ERROR: f64 = 1.2533;
/// The standard deviation of a normal distribution, in median absolute deviations.
const DEVIATION: f64 = 1.4826;
/// The possible scatters of the true rates: steps of a hundredth, as logarithms.
const SCATTERS: u32 = 40;

/// The state of a contest.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The indexes of the settings that may be the fastest.
    pub contenders: Vec<usize>,
    /// More trials change no statement: one setting leads, or whichever contender is chosen is
    /// within the tolerance of their common level; and the interval of that level is within twice
    /// the tolerance.
    pub settled: bool,
}

/// Judges a contest; `None` while a setting has fewer than five trials, or without settings.
/// `tolerance` is a share: 0.1 = differences of a tenth do not matter.
pub fn standing(settings: &[&Series], tolerance: f64) -> Option<Standing> {
    if settings.iter().any(|series| series.len() < MIN_TRIALS) {
        return None;
    }
    let reach = tolerance.ln_1p();
    let contenders = contenders(settings, reach)?;
    let group = Group::new(contenders.iter().map(|at| settings[*at]))?;
    let is_decided = contenders.len() == 1 || group.chance_alike(reach) >= CONFIDENCE;
    let settled = is_decided && group.half_level()? <= 2.0 * reach;
    Some(Standing { contenders, settled })
}

/// Returns the settings that the interval of the ratio does not show to be slower than the one with
/// the highest median, or that are within `reach` of it.
fn contenders(settings: &[&Series], reach: f64) -> Option<Vec<usize>> {
    let medians = settings.iter().map(|series| median(&rates(series)));
    let medians: Vec<f64> = medians.collect::<Option<_>>()?;
    let lead = (0..medians.len()).max_by(|a, b| medians[*a].total_cmp(&medians[*b]))?;
    let is_slower = |at: usize| {
        let ratio = paired::ratio(settings[lead], settings[at])?;
        let (low, ahead) = (ratio.low?, ratio.ratio.ln());
        Some(ahead > reach && ahead > SURELY * (ahead - low.ln()))
    };
    Some((0..settings.len()).filter(|at| *at == lead || is_slower(*at) != Some(true)).collect())
}

/// Settings that may be equal.
struct Group {
    /// The distance of each round from the median, as a logarithm, and how many trials show it.
    drift: BTreeMap<u32, (f64, usize)>,
    /// The median of each setting as a logarithm, without that drift, and its standard error.
    places: Vec<(f64, f64)>,
}

impl Group {
    fn new<'a>(settings: impl Iterator<Item = &'a Series>) -> Option<Group> {
        let log =
            |(round, rate): &(u32, f64)| Some((*round, rate.ln())).filter(|of| of.1.is_finite());
        let logs: Vec<Series> =
            settings.map(|series| series.iter().filter_map(log).collect()).collect();
        let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for series in &logs {
            let middle = median(&rates(series))?;
            for (round, log) in series {
                rounds.entry(*round).or_default().push(log - middle);
            }
        }
        let drift: BTreeMap<u32, (f64, usize)> = rounds
            .into_iter()
            .filter_map(|(round, logs)| Some((round, (median(&logs)?, logs.len()))))
            .collect();
        // A round of one trial shows no drift that others share.
        let shared = |round: &u32| drift.get(round).filter(|of| of.1 > 1).map_or(0.0, |of| of.0);
        let steady = logs.iter().map(|series| {
            series.iter().map(|(round, log)| log - shared(round)).collect::<Vec<f64>>()
        });
        let steady: Vec<Vec<f64>> = steady.collect();
        let middles: Vec<f64> = steady.iter().map(|logs| median(logs)).collect::<Option<_>>()?;
        let off = steady
            .iter()
            .zip(&middles)
            .flat_map(|(logs, middle)| logs.iter().map(move |log| (log - middle).abs()));
        // The drift was fitted to the same trials.
        let count = logs.len() as f64;
        let fitted = if count > 1.0 { (count / (count - 1.0)).sqrt() } else { 1.0 };
        let spread = DEVIATION * fitted * median(&off.collect::<Vec<f64>>())?;
        let error = |logs: &Vec<f64>| MEDIAN_ERROR * spread / (logs.len() as f64).sqrt();
        let places = middles.iter().zip(&steady).map(|(middle, logs)| (*middle, error(logs)));
        let places = places.collect();
        Some(Group { drift, places })
    }

    /// Returns the half width of the interval of the common level, from round to round, as a
    /// logarithm.
    fn half_level(&self) -> Option<f64> {
        let levels: Vec<f64> = self.drift.values().map(|(level, _)| *level).collect();
        let level = Summary::from_values(&levels)?;
        Some((level.high? - level.median).max(level.median - level.low?))
    }

    /// Returns the probability that the true rate of a contender, whichever is chosen, is within
    /// `reach` of their common level.
    fn chance_alike(&self, reach: f64) -> f64 {
        let cases: Vec<(f64, f64)> =
            (0..=SCATTERS).map(|step| self.case(f64::from(step) / 100.0, reach)).collect();
        let most = cases.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
        let weighed = cases.iter().map(|(log, chance)| ((log - most).exp(), *chance));
        let sums = weighed.fold((0.0, 0.0), |(all, alike), (weight, chance)| {
            (all + weight, alike + weight * chance)
        });
        sums.1 / sums.0
    }

    /// Returns the logarithm of the likelihood that the true rates scatter by this much, and the
    /// probability that one is within `reach` then.
    fn case(&self, scatter: f64, reach: f64) -> (f64, f64) {
        let places = self.places.iter().map(|(middle, error)| {
            let error = error.powi(2).max(1e-12);
            (*middle, error, scatter.powi(2) + error)
        });
        let weight: f64 = places.clone().map(|(.., variance)| 1.0 / variance).sum();
        let centre = places.clone().map(|(middle, _, variance)| middle / variance).sum::<f64>();
        let centre = centre / weight;
        let (mut log, mut chances) = (weight.ln(), 0.0);
        for (middle, error, variance) in places {
            log += variance.ln() + (middle - centre).powi(2) / variance;
            // The share that the others have in this one.
            let borrowed = error / variance;
            let (off, deviation) =
                ((1.0 - borrowed) * (middle - centre), (scatter * borrowed.sqrt()).max(1e-9));
            chances += normal((reach - off) / deviation) - normal((-reach - off) / deviation);
        }
        (-0.5 * log, chances / self.places.len() as f64)
    }
}

/// Returns the normal distribution function (Abramowitz and Stegun, 7.1.26: to 1.5e-7).
fn normal(z: f64) -> f64 {
    let x = z.abs() * FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let sum = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let tail = 0.5 * t * sum.into_iter().fold(0.0, |sum, part| sum * t + part) * (-x * x).exp();
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests;
