//! How much a machine differs by itself: what the interval of a run's median does not know.
//!
//! Trials of one run share the state of the machine, so their interval describes that run. Minutes
//! later other work, clock rates and memory make it another machine. Measured on a busy machine
//! with two CPUs, 60 runs of 6 warm cells and of 3 direct ones, 8 trials of 100 ms, the shares of
//! equal cells called different, of neighbours | 10 and 30 runs apart:
//! - by the intervals of the runs alone 20 to 22 % | 17 to 45 %;
//! - widened by halves 3 % | 1 to 18 %. Their factor was chosen by these very runs, so other
//!   machines may do worse;
//! - widened by 3 to 20 kept runs 0 to 1 % | 0 to 6 %. Nothing was fitted there.
//!
//! Twice the speed was then found in 57 to 93 % of cells by halves and in 18 to 84 % by kept runs,
//! three times in 65 to 100 %: that machine itself changed by a factor of 2, which hides the rest.
//!
//! Bare loops of some milliseconds at both ends of each run were tried and left out: over the same
//! runs they scattered by 23 to 67 % (the cells: 17 %), because a time slice is as long as they
//! are, and their correlation with the cells was -0.4 to 0.

use super::Summary;
use super::cost::student;
use super::order::median;

/// The kept runs that a spread needs.
pub const KEPT: usize = 3;

/// From so many kept runs on the closest quarter of all pairs tells the spread, which a lasting
/// change of the speed leaves alone; fewer have too few pairs.
const ROBUST: usize = 5;

/// What makes that quarter the standard deviation of a normal distribution, for many values and for
/// 5 to 9 (Rousseeuw and Croux 1993, their Qn).
const NORMAL: f64 = 2.2219;
const OF_FEW: [f64; 5] = [0.844, 0.611, 0.857, 0.669, 0.872];

/// The trials that two halves need.
const HALVES: usize = 4;

/// Runs differ by more than the halves of a run do, since they are further apart: so many times,
/// chosen by the runs named above. To subtract the scatter of trials, which is in both, was tried:
/// on a steady machine it finds more, there 8 to 35 % of equal cells were called different again.
const APART: f64 = 3.0;

/// The half width, as a logarithm, by which the ratio of two runs varies though nothing changed: 95
/// %, from the medians of this cell in kept runs, as logarithms, and those of all cells; `None`
/// where there are under [`KEPT`].
///
/// Few runs tell the variance of one cell poorly, and all cells run on the same machine: half of
/// the variance is this cell's own and half is the mean of all, which doubles the degrees of
/// freedom.
pub fn between(own: &[f64], all: &[Vec<f64>]) -> Option<f64> {
    if own.len() < KEPT {
        return None;
    }
    let pool: Vec<f64> =
        all.iter().filter(|cell| cell.len() >= KEPT).map(|cell| spread(cell)).collect();
    let mean =
        if pool.is_empty() { spread(own) } else { pool.iter().sum::<f64>() / pool.len() as f64 };
    let each = (spread(own) + mean) / 2.0;
    Some(student(2 * (own.len() - 1)) * (2.0 * each).sqrt()).filter(|width| width.is_finite())
}

/// The same, from the trials of the two runs alone, each cell's in the order they were made; `None`
/// without enough trials.
pub fn within<'a>(cells: impl Iterator<Item = &'a [f64]>) -> Option<f64> {
    let squares: Vec<f64> = cells.filter_map(halves).map(|change| change * change).collect();
    let count = squares.len() as f64;
    (count > 0.0).then(|| APART * (squares.iter().sum::<f64>() / count / 2.0).sqrt())
}

/// The change from the first half of these trials to the second, as a logarithm.
fn halves(trials: &[f64]) -> Option<f64> {
    let half = trials.len() / 2;
    if trials.len() < HALVES {
        return None;
    }
    let (first, second) = (median(&trials[..half])?, median(&trials[trials.len() - half..])?);
    Some((second / first).ln()).filter(|change| change.is_finite())
}

/// The median as a logarithm, where it has one.
pub fn level(summary: &Summary) -> Option<f64> {
    Some(summary.median.ln()).filter(|level| level.is_finite())
}

/// The variance of runs, but for a lasting change among them: a regression that was kept must not
/// hide itself. Changes from one run to the next are as robust, and miss a slow drift: twice as
/// many equal cells were called different by them.
fn spread(values: &[f64]) -> f64 {
    if values.len() < ROBUST {
        return variance(values);
    }
    let n = values.len();
    let mut apart: Vec<f64> = values
        .iter()
        .enumerate()
        .flat_map(|(at, a)| values[..at].iter().map(move |b| (a - b).abs()))
        .collect();
    apart.sort_by(f64::total_cmp);
    let half = n / 2 + 1;
    let small = match n {
        5..=9 => OF_FEW[n - ROBUST],
        _ if n % 2 == 1 => n as f64 / (n as f64 + 1.4),
        _ => n as f64 / (n as f64 + 3.8),
    };
    apart
        .get(half * (half - 1) / 2 - 1)
        .map_or(f64::NAN, |quarter| (NORMAL * small * quarter).powi(2))
}

fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

#[cfg(test)]
mod tests;
