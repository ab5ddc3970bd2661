//! Statistics on plain slices: what a set of trials shows, and how far it can be trusted.
//!
//! This module knows nothing about files, units or sessions, and never panics: values that are not
//! finite are skipped, and a result that the values cannot support is `None`.

mod buckets;
pub mod chance;
pub mod compare;
pub mod contest;
pub mod cost;
pub mod course;
pub mod drift;
pub mod histogram;
pub mod knee;
pub mod outlier;
pub mod paired;
pub mod plateau;
pub mod random;
pub mod recent;
mod segments;
pub mod series;
mod steady;
pub mod summary;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use buckets::Buckets;
pub use chance::{most_chance, sign_test, tail_limits};
pub use compare::{Ratio, may_be_chance};
pub use cost::Cost;
pub use course::{Course, Stretch, course};
pub use histogram::Histogram;
pub use knee::Knees;
pub use outlier::{outliers, two_modes};
pub use plateau::{Plateau, plateaus};
pub use recent::Recent;
pub use segments::segments;
pub use series::{merge_neighbours, reduce};
pub use steady::{STEADY_ROUNDS, is_steady};
pub use summary::Summary;

/// Returns the finite values in ascending order; NaN and infinities are skipped.
fn finite_sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// Returns the median of the finite values; `None` without any.
pub fn median(values: &[f64]) -> Option<f64> {
    middle(&finite_sorted(values))
}

/// Returns the median of ascending values: the middle one, or the midpoint of the middle two.
/// `None` without values.
fn middle(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(sorted[sorted.len() / 2 - 1].midpoint(upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_even_and_none() {
        assert_eq!(middle(&[]), None);
        assert_eq!(middle(&[7.0]), Some(7.0));
        assert_eq!(middle(&[1.0, 2.0]), Some(1.5));
        assert_eq!(middle(&[1.0, 2.0, 9.0]), Some(2.0));
        assert_eq!(middle(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    }

    #[test]
    fn only_finite_values_are_kept() {
        let values = [2.0, f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY];
        assert_eq!(finite_sorted(&values), [-1.0, 2.0]);
    }
}
