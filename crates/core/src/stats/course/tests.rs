use proptest::prelude::*;

use super::*;
use crate::stats::testing::{Rng, SHAPES};

fn places(course: &Course) -> Vec<(usize, usize)> {
    course.stretches.iter().map(|s| (s.first, s.last)).collect()
}

/// A file system behind a token bucket: MB/s of each trial.
const BUCKET: [f64; 15] = [
    808.0, 633.0, 476.0, 827.0, 463.0, 324.0, 480.0, 437.0, 34.0, 30.0, 30.0, 30.0, 30.0, 30.0,
    30.0,
];

#[test]
fn emptied_token_buckets_are_steps() {
    let course = course(&BUCKET).unwrap();
    assert_eq!((course.kind, places(&course)), (Kind::Step, vec![(0, 7), (8, 14)]));
    assert_eq!(course.stretches.iter().map(|s| s.median).collect::<Vec<_>>(), [478.0, 30.0]);
}

#[test]
fn eight_trials_show_a_step() {
    let step = [500.0, 510.0, 490.0, 505.0, 200.0, 195.0, 205.0, 198.0];
    let back: Vec<f64> = step.iter().rev().copied().collect();
    for values in [&step[..], &back] {
        assert_eq!(places(&course(values).unwrap()), [(0, 3), (4, 7)]);
    }
    let small: Vec<f64> = step.iter().map(|value| 500.0 + value / 1000.0).collect();
    assert_eq!(course(&small), None, "0.06 %");
}

#[test]
fn five_trials_show_a_drift() {
    for n in [5, 8, 15, 30, 60] {
        let decay: Vec<f64> =
            (0..n).map(|i| 800.0 * (-2.5 * f64::from(i) / f64::from(n)).exp()).collect();
        let line: Vec<f64> = (0..n).map(|i| 300.0 + 400.0 * f64::from(i) / f64::from(n)).collect();
        for values in [decay, line] {
            let course = course(&values).unwrap();
            assert_eq!(course.kind, Kind::Drift, "{n}");
            let third = (n as usize / 3).max(2);
            assert_eq!(places(&course), [(0, third - 1), (n as usize - third, n as usize - 1)]);
        }
    }
}

#[test]
fn many_values_are_reduced() {
    let mut rng = Rng::new(3);
    let mut values: Vec<f64> = (0..100_003).map(|_| 500.0 + 20.0 * rng.normal()).collect();
    assert_eq!(course(&values), None);
    values[60_000..].iter_mut().for_each(|value| *value /= 2.0);
    let found = course(&values).unwrap();
    assert_eq!(
        (found.kind, found.stretches.len(), found.stretches[1].last),
        (Kind::Step, 2, 100_002)
    );
    assert!(found.stretches[0].last.abs_diff(60_000) < 600, "{found:?}");
}

#[test]
fn two_falls_make_three_stretches() {
    let mut rng = Rng::new(5);
    let values: Vec<f64> =
        (0..36).map(|i| [900.0, 400.0, 150.0][i / 12] * (1.0 + 0.05 * rng.normal())).collect();
    assert_eq!(places(&course(&values).unwrap()), [(0, 11), (12, 23), (24, 35)]);
}

/// Independent noise is called a change in under 2 % of sets, whatever its shape; 0.8 % is the
/// tolerance of the simulation.
#[test]
fn noise_raises_few_alarms() {
    let mut rng = Rng::new(17);
    let rounds = 1_500;
    let rate = |rng: &mut Rng, n: usize, draw: &dyn Fn(&mut Rng) -> f64| {
        let alarms = (0..rounds)
            .filter(|_| course(&(0..n).map(|_| draw(rng)).collect::<Vec<f64>>()).is_some());
        alarms.count() as f64 / f64::from(rounds)
    };
    for n in [5, 8, 10, 15, 30] {
        for shape in SHAPES {
            let alarms = rate(&mut rng, n, &|rng| (shape.draw)(rng).abs() + 1e-9);
            assert!(alarms < 0.026, "{} n = {n}: {alarms}", shape.name);
        }
        for share in [0.1, 0.2, 0.3, 0.4, 0.5] {
            let modes = |rng: &mut Rng| if rng.uniform() < share { 1.0 } else { 2.5 } * (1.0 + 0.04 * rng.normal());
            let alarms = rate(&mut rng, n, &modes);
            assert!(alarms < 0.026, "two modes, {share}, n = {n}: {alarms}");
        }
    }
}

#[test]
fn chances_of_orders_by_hand() {
    // Five in perfect order: 2 of 120. With one pair swapped: 2 (1 + 4) of 120.
    assert!((chance_of_order(5, 10) - 2.0 / 120.0).abs() < 1e-12);
    assert!((chance_of_order(5, 8) - 10.0 / 120.0).abs() < 1e-12);
    assert_eq!(chance_of_order(6, 0), 1.0);
    // Tables of Kendall's tau: with 10 values a balance of 27 is the first within 1 % (two-sided);
    // at 40 both methods agree on the limit.
    assert!(
        chance_of_order(10, 29) < 0.01
            && chance_of_order(10, 27) < 0.02
            && chance_of_order(10, 21) > 0.05
    );
    let exact = (0..=780).find(|balance| chance_of_order(40, *balance) <= ALPHA).unwrap() as f64;
    let spread = (40.0f64 * 39.0 * 85.0 / 18.0).sqrt();
    assert!(((exact - 1.0) / spread - 2.64).abs() < 0.05, "{exact}");
}

proptest! {
    #[test]
    fn stretches_do_not_depend_on_scale(values in prop::collection::vec(any::<f64>(), 0..40), power in -30..30i32) {
        if let Some(found) = course(&values) {
            prop_assert!(found.stretches.len() >= 2 && found.stretches.iter().all(|s| s.first <= s.last && s.last < values.len()));
            prop_assert!(found.stretches.windows(2).all(|pair| pair[0].last < pair[1].first));
        }
        let sound: Vec<f64> = values.iter().map(|v| if v.is_finite() { v.abs() % 7.0 + 0.5 } else { 1.0 }).collect();
        let scaled: Vec<f64> = sound.iter().map(|v| v * 2f64.powi(power)).collect();
        prop_assert_eq!(course(&sound).is_some(), course(&scaled).is_some());
    }
}
