//! How much a machine varies from run to run, which the interval of one run's median cannot show.
//!
//! Trials of one run share the state of the machine, so their interval describes only that run.
//! Minutes later, other load, clock rates and memory layout make it a different machine. Measured
//! on a busy machine with two CPUs, in 60 runs of 6 warm cells and of 3 direct ones with 8 trials
//! of 100 ms: the share of equal cells called different, for adjacent runs | for runs 10 and 30
//! apart:
//! - by the intervals of the runs alone: 20 to 22 % | 17 to 45 %;
//! - widened by the halves of the runs: 3 % | 1 to 18 %. Their factor was chosen with these very
//!   runs, so other machines may do worse;
//! - widened by 3 to 20 saved runs: 0 to 1 % | 0 to 6 %. Nothing was fitted there; since then the
//!   width has a factor of 1.25.
//!
//! A twofold speed-up was then found in 57 to 93 % of cells by halves and in 18 to 84 % by saved
//! runs, a threefold one in 65 to 100 %: that machine itself varied by a factor of 2, which hides
//! the rest.
//!
//! That is not enough for runs minutes apart on a shared machine, where all cells of a kind moved
//! together by a factor of up to 1.9: of 2,304 equal cells in three series of 8 runs, 8.3 % were
//! called different by the halves. Taking such a common move for the machine's own left 0.2 %
//! ([`common_move`]).
//!
//! Timing a bare loop of some milliseconds at both ends of each run was tried and rejected: over
//! the same runs the loops scattered by 23 to 67 % (the cells: 17 %), because they are as long as a
//! time slice, and their correlation with the cells was -0.4 to 0.

use super::Summary;
use super::cost::student;
use super::{finite_sorted, median};

/// Minimum number of saved runs to estimate the spread from.
pub const MIN_SAVED_RUNS: usize = 3;

/// From this many saved runs on, the spread is estimated from the closest quarter of all pairs,
/// which a lasting change of speed does not affect; fewer runs have too few pairs.
const MIN_ROBUST_RUNS: usize = 5;

/// Factors that turn that quarter into the standard deviation of a normal distribution, for many
/// values and for 5 to 9 (Rousseeuw and Croux 1993, their Qn).
const NORMAL: f64 = 2.2219;
const OF_FEW: [f64; 5] = [0.844, 0.611, 0.857, 0.669, 0.872];

/// Minimum number of trials to split into halves.
const HALVES: usize = 4;

/// Factor by which runs differ more than the halves of a run, since they are further apart; chosen
/// with the runs described above. Subtracting the scatter of trials, which is in both, was tried:
/// on a steady machine it finds more, but there 8 to 35 % of equal cells were called different
/// again.
const MIN_SPREADS: f64 = 3.0;

/// Factor by which two runs differ more than the saved runs do, whose closest quarter leaves out
/// steps of the machine itself. Without it 1 to 6 % of equal cells in runs minutes apart were
/// called different (`cargo bench --bench equal`).
const APART: f64 = 1.25;

/// Returns the half width, as a logarithm, of the 95 % interval of the ratio of two runs when
/// nothing changed, from the logarithms of medians in saved runs: of this cell and of all
/// cells; `None` for fewer than [`MIN_SAVED_RUNS`] runs.
///
/// A few runs estimate the variance of one cell poorly, and all cells run on the same machine: half
/// of the variance is the cell's and half is the mean over all cells, which doubles the degrees of
/// freedom.
pub fn between(own: &[f64], all: &[Vec<f64>]) -> Option<f64> {
    if own.len() < MIN_SAVED_RUNS {
        return None;
    }
    let pool: Vec<f64> =
        all.iter().filter(|cell| cell.len() >= MIN_SAVED_RUNS).map(|cell| spread(cell)).collect();
    let mean =
        if pool.is_empty() { spread(own) } else { pool.iter().sum::<f64>() / pool.len() as f64 };
    let each = (spread(own) + mean) / 2.0;
    let width = APART * student(2 * (own.len() - 1)) * (2.0 * each).sqrt();
    Some(width).filter(|width| width.is_finite())
}

/// Returns the same half width from the trials of the two runs alone, in the order they were run;
/// `None` without enough trials.
pub fn within<'a>(cells: impl Iterator<Item = &'a [f64]>) -> Option<f64> {
    let squares: Vec<f64> = cells.filter_map(halves).map(|change| change * change).collect();
    let count = squares.len() as f64;
    (count > 0.0).then(|| MIN_SPREADS * (squares.iter().sum::<f64>() / count / 2.0).sqrt())
}

/// Returns the change from the first half of these trials to the second, as a logarithm.
fn halves(trials: &[f64]) -> Option<f64> {
    let half = trials.len() / 2;
    if trials.len() < HALVES {
        return None;
    }
    let (first, second) = (median(&trials[..half])?, median(&trials[trials.len() - half..])?);
    Some((second / first).ln()).filter(|change| change.is_finite())
}

/// Minimum number of cells that a common move is read from.
const MIN_TOGETHER: usize = 6;

/// Returns the move, as a logarithm, that three quarters of these cells made or went beyond, in one
/// direction; `None` for fewer than six cells, or if they moved apart.
pub fn common_move(moves: &[f64]) -> Option<f64> {
    let sorted = finite_sorted(moves);
    let quarter = sorted.len() / 4;
    let (low, high) = (*sorted.get(quarter)?, *sorted.get(sorted.len() - 1 - quarter)?);
    let moved = if low > 0.0 { low } else { high.min(0.0) };
    (sorted.len() >= MIN_TOGETHER && moved != 0.0).then_some(moved)
}

/// Returns the median as a logarithm; `None` if that is not finite.
pub fn level(summary: &Summary) -> Option<f64> {
    Some(summary.median.ln()).filter(|level| level.is_finite())
}

/// Returns the variance of runs without a lasting change among them: a regression in the saved runs
/// must not hide itself. Changes from one run to the next are equally robust but miss a slow drift:
/// with them twice as many equal cells were called different.
fn spread(values: &[f64]) -> f64 {
    if values.len() < MIN_ROBUST_RUNS {
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
        5..=9 => OF_FEW[n - MIN_ROBUST_RUNS],
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
