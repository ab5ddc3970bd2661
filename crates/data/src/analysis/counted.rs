//! The trials that a summary is computed from.

use crate::stats;

/// Returns the indexes of the trials that were not cut short, or of all if all were.
pub fn counted_trials(is_short: impl Iterator<Item = bool> + Clone) -> Vec<usize> {
    let full: Vec<usize> =
        is_short.clone().enumerate().filter(|(_, short)| !short).map(|(index, _)| index).collect();
    if full.is_empty() { (0..is_short.count()).collect() } else { full }
}

/// Returns those of the `counted` trials whose value is an outlier; `values` has one of each.
pub fn outliers(counted: &[usize], values: &[f64]) -> Vec<usize> {
    stats::outliers(values).into_iter().filter_map(|at| counted.get(at).copied()).collect()
}
