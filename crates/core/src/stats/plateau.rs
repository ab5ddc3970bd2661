//! The plateaus of a rising curve, such as the latency of memory by working-set size.

use super::median;

/// All values of a plateau are within this factor of each other: the edges of a cache are not
/// sharp.
const LEVEL: f64 = 1.6;
/// Two values alone form a plateau if they are within this factor, and two adjacent plateaus are
/// merged if their medians are.
const MAX_CLOSE_RATIO: f64 = 1.3;

/// One level stretch of the curve, from index `first` to `last`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    pub first: usize,
    pub last: usize,
    /// Median of its values.
    pub level: f64,
}

/// Returns the plateaus of a curve from left to right, each with at least two adjacent values; the
/// rises lie in between. The first and the last value may form a plateau alone if their neighbour
/// is far off.
///
/// A value that is not above 0 ends a plateau.
pub fn plateaus(values: &[f64]) -> Vec<Plateau> {
    let mut found: Vec<Plateau> = Vec::new();
    let mut first = 0;
    while first < values.len() {
        let last = stretch(values, first);
        let alone = first == last;
        if sound(values[first]) && (!alone || first == 0 || last + 1 == values.len()) {
            let level = middle(&values[first..=last]);
            // One plateau that noise broke in two.
            match found.last_mut().filter(|before| {
                before.last + 1 == first && lie_within(MAX_CLOSE_RATIO, before.level, level)
            }) {
                Some(before) => {
                    before.last = last;
                    before.level = middle(&values[before.first..=last]);
                }
                None => found.push(Plateau { first, last, level }),
            }
        }
        first = last + 1;
    }
    found
}

fn sound(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn lie_within(factor: f64, a: f64, b: f64) -> bool {
    sound(a) && sound(b) && a.max(b) / a.min(b) <= factor
}

/// Returns the last index of the longest plateau from `first`.
fn stretch(values: &[f64], first: usize) -> usize {
    let level = |last: usize| {
        let factor = if last == first + 1 { MAX_CLOSE_RATIO } else { LEVEL };
        values[first..=last]
            .iter()
            .all(|one| values[first..=last].iter().all(|other| lie_within(factor, *one, *other)))
    };
    (first + 1..values.len()).take_while(|last| level(*last)).last().unwrap_or(first)
}

fn middle(values: &[f64]) -> f64 {
    let sound: Vec<f64> = values.iter().copied().filter(|value| sound(*value)).collect();
    median(&sound).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 4 KiB to 1 GiB by doubling: L1 up to 32 KiB, L2 up to 1 MiB, L3 up to 32 MiB, then memory;
    /// the points at the edges lie in between.
    const STAIRS: [f64; 19] = [
        1.5, 1.5, 1.5, 1.6, 4.2, 4.4, 4.5, 4.6, 5.2, 14.0, 17.0, 18.0, 18.5, 21.0, 48.0, 88.0,
        101.0, 106.0, 108.0,
    ];

    fn levels(values: &[f64]) -> Vec<(usize, usize)> {
        plateaus(values).iter().map(|plateau| (plateau.first, plateau.last)).collect()
    }

    #[test]
    fn staircase_steps_are_plateaus() {
        let found = plateaus(&STAIRS);
        assert_eq!(
            found.iter().map(|p| (p.first, p.last)).collect::<Vec<_>>(),
            [(0, 3), (4, 8), (9, 13), (15, 18)]
        );
        let wanted = [1.5, 4.5, 18.0, 103.5];
        assert!(
            found
                .iter()
                .zip(wanted)
                .all(|(plateau, level)| (plateau.level / level - 1.0).abs() < 0.02),
            "{found:?}"
        );
    }

    #[test]
    fn noise_moves_steps_little() {
        let mut seed = 1u64;
        let mut noise = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            1.0 + ((seed >> 40) as f64 / f64::from(1 << 24) - 0.5) * 0.12
        };
        for _ in 0..200 {
            let noisy: Vec<f64> = STAIRS.iter().map(|value| value * noise()).collect();
            let found = levels(&noisy);
            assert_eq!(found.len(), 4, "{noisy:?}: {found:?}");
            for ((first, last), (wanted_first, wanted_last)) in
                found.iter().zip([(0, 3), (4, 8), (9, 13), (15, 18)])
            {
                assert!(
                    first.abs_diff(wanted_first) <= 1 && last.abs_diff(wanted_last) <= 1,
                    "{noisy:?}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn slopes_have_no_plateau() {
        assert_eq!(levels(&[7.0; 9]), [(0, 8)]);
        let slope: Vec<f64> = (0..10).map(|n| 2f64.powi(n)).collect();
        assert_eq!(levels(&slope), [(0, 0), (9, 9)]);
        assert_eq!(levels(&[]), []);
        assert_eq!(levels(&[3.0]), [(0, 0)]);
    }

    proptest! {
        #[test]
        fn plateaus_never_overlap(values in proptest::collection::vec(prop_oneof![Just(f64::NAN), Just(0.0), -1e3..1e9f64], 0..40)) {
            let found = plateaus(&values);
            prop_assert!(found.iter().all(|p| p.first <= p.last && p.last < values.len() && p.level.is_finite()));
            prop_assert!(found.windows(2).all(|pair| pair[0].last < pair[1].first));
        }
    }
}
