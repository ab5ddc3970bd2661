//! How much a machine differs by itself: what the interval of a run's median does not know.
//!
//! Trials of one run share the state of the machine, so their interval describes that run. Minutes later other work, clock
//! rates and memory make it another machine. Measured on a busy machine with two CPUs, 60 runs of 6 warm cells and of 3 direct
//! ones, 8 trials of 100 ms: the intervals of the runs alone called 20 to 22 % of equal neighbours different and 17 to 45 % of
//! runs ten minutes apart; widened by halves 3 % and 1 to 11 %, by 3 to 20 kept runs 0 to 1 % and 0 to 6 %. Twice the speed was
//! found then in 32 to 63 % of cells, three times in 78 to 99 %: what the machine does by itself hides the rest.
//!
//! Bare loops of some milliseconds at both ends of each run were tried and left out: over the same runs they scattered by 23 to
//! 67 % (the cells: 17 %), because a time slice is as long as they are, and their correlation with the cells was -0.4 to 0.

use super::Summary;
use super::cost::student;
use super::order::median;

/// The kept runs that a spread needs.
pub const KEPT: usize = 3;

/// The trials that two halves need.
const HALVES: usize = 4;

/// Runs differ by more than the halves of a run do, since they are further apart: as many times, by the runs named above.
const APART: f64 = 3.0;

/// The half width, as a logarithm, by which the ratio of two runs varies though nothing changed: 95 %, from the medians of
/// this cell in kept runs, as logarithms, and those of all cells; `None` where there are under [`KEPT`].
///
/// Few runs tell the variance of one cell poorly, and all cells run on the same machine: half of the variance is this cell's
/// own and half is the mean of all, which doubles the degrees of freedom.
pub fn between(own: &[f64], all: &[Vec<f64>]) -> Option<f64> {
    if own.len() < KEPT {
        return None;
    }
    let pool: Vec<f64> = all.iter().filter(|cell| cell.len() >= KEPT).map(|cell| variance(cell)).collect();
    let mean = if pool.is_empty() { variance(own) } else { pool.iter().sum::<f64>() / pool.len() as f64 };
    let each = (variance(own) + mean) / 2.0;
    Some(student(2 * (own.len() - 1)) * (2.0 * each).sqrt()).filter(|width| width.is_finite())
}

/// The same, from the trials of the two runs alone, each cell's in the order they were made; `None` without enough trials.
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

fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

#[cfg(test)]
#[path = "drift_tests.rs"]
mod tests;
