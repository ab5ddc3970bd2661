use proptest::prelude::*;

use super::*;
use crate::stats::testing::Rng;

/// Draws `rounds` trials of settings of these true rates, which scatter by `spread`.
fn draw(rng: &mut Rng, truth: &[f64], rounds: u32, spread: f64) -> Vec<Series> {
    let series = |rate: &f64| -> Series {
        (1..=rounds).map(|round| (round, rate * (spread * rng.normal()).exp())).collect()
    };
    truth.iter().map(series).collect()
}

fn judge(settings: &[Series]) -> Option<Standing> {
    standing(&settings.iter().collect::<Vec<_>>(), 0.1)
}

#[test]
fn quiet_leader_settles_after_five() {
    let mut rng = Rng::new(1);
    let found = judge(&draw(&mut rng, &[1.0, 1.3, 1.1], 5, 0.01)).unwrap();
    assert!(found.settled && found.contenders == [1], "{found:?}");
    assert_eq!(judge(&draw(&mut rng, &[1.0, 1.3], 4, 0.01)), None, "too few");
    assert_eq!(judge(&[]), None);
}

#[test]
fn equal_settings_settle_as_a_pool() {
    let mut rng = Rng::new(2);
    let (alone, pooled) = (draw(&mut rng, &[1.0], 9, 0.3), draw(&mut rng, &[1.0; 12], 9, 0.15));
    let found = judge(&pooled).unwrap();
    assert!(found.settled && found.contenders.len() > 9, "{found:?}");
    assert!(!judge(&alone).unwrap().settled, "a wide interval alone");
}

#[test]
fn rivals_far_apart_are_not_pooled() {
    let mut rng = Rng::new(3);
    let found = judge(&draw(&mut rng, &[1.0, 1.4], 5, 0.3)).unwrap();
    assert!(!found.settled, "{found:?}");
}

#[test]
fn shared_drift_cancels() {
    let mut rng = Rng::new(4);
    let mut all = draw(&mut rng, &[1.0, 1.1, 0.8], 8, 0.005);
    for series in &mut all {
        series.iter_mut().for_each(|(round, rate)| *rate *= f64::from(1 + *round % 2));
    }
    let found = judge(&all).unwrap();
    assert_eq!(found.contenders, [1]);
    assert!(!found.settled, "the level of a machine that changes this much is unknown");
}

#[test]
fn normal_distribution_matches_tables() {
    for (z, expected) in [(0.0, 0.5), (1.644_853, 0.95), (-1.959_964, 0.025), (9.0, 1.0)] {
        assert!((normal(z) - expected).abs() < 1e-6, "{z}: {}", normal(z));
    }
}

proptest! {
    #[test]
    fn any_rates_are_safe(
        rates in prop::collection::vec(prop::collection::vec(any::<f64>(), 0..8), 0..5)
    ) {
        let settings: Vec<Series> =
            rates.iter().map(|rates| (1..).zip(rates.iter().copied()).collect()).collect();
        if let Some(found) = judge(&settings) {
            prop_assert!(!found.contenders.is_empty());
            prop_assert!(found.contenders.iter().all(|at| *at < settings.len()));
        }
    }
}
