use super::*;

const DRAWS: u64 = 200_000;

/// Returns how often each of `n` ranks is drawn.
fn counts(pattern: Pattern, n: u64, seed: u64) -> Vec<u64> {
    let draw = Draw::new(pattern, n, seed).unwrap();
    let mut counts = vec![0; n as usize];
    (0..DRAWS).for_each(|index| counts[draw.rank(index) as usize] += 1);
    counts
}

/// Returns the probability of each of `n` ranks by its definition.
fn odds(pattern: Pattern, n: u64) -> Vec<f64> {
    match pattern {
        Pattern::Zipf(thousandths) => {
            let weight = |k: u64| (k as f64).powf(-f64::from(thousandths) / 1000.0);
            let all: f64 = (1..=n).map(weight).sum();
            (1..=n).map(|k| weight(k) / all).collect()
        }
        Pattern::Hot { share, accesses } => {
            let hot = (n * u64::from(share)).div_ceil(100);
            let part = f64::from(accesses) / 100.0;
            let odds =
                |k| if k < hot { part / hot as f64 } else { (1.0 - part) / (n - hot) as f64 };
            (0..n).map(odds).collect()
        }
        _ => panic!("{pattern} draws nothing"),
    }
}

/// Asserts by Pearson's test that counts have these odds; ranks that are rarely drawn are joined.
fn assert_drawn_by(odds: &[f64], counts: &[u64], label: &str) {
    let (mut sum, mut bins, mut expected, mut found) = (0.0, 0.0, 0.0, 0.0);
    let mut left = counts.len();
    for (p, count) in odds.iter().zip(counts) {
        (expected, found, left) = (expected + p * DRAWS as f64, found + *count as f64, left - 1);
        if expected >= 20.0 || left == 0 {
            sum += (found - expected) * (found - expected) / expected.max(1.0);
            bins += 1.0;
            (expected, found) = (0.0, 0.0);
        }
    }
    // Degrees of freedom and 4.5 standard deviations: 1 in 100,000 and fewer are further off.
    let (freedom, most) = (bins - 1.0, 4.5 * f64::sqrt(2.0 * bins));
    assert!(bins > 10.0 && sum < freedom + most, "{label}: chi-square {sum} of {freedom}");
    assert!(sum > freedom - most, "{label}: chi-square {sum} of {freedom} is no chance");
}

#[test]
fn zipf_ranks_have_their_odds() {
    for (thousandths, n) in
        [(1, 50), (500, 1000), (990, 100), (990, 1 << 20), (1000, 1000), (1001, 777), (1500, 99)]
    {
        let pattern = Pattern::Zipf(thousandths);
        for seed in 0..3 {
            let label = format!("{pattern} of {n}, seed {seed}");
            assert_drawn_by(&odds(pattern, n), &counts(pattern, n, seed), &label);
        }
    }
}

#[test]
fn the_steepest_zipf_is_exact() {
    let pattern = Pattern::Zipf(Pattern::MAX_THETA);
    let (odds, counts) = (odds(pattern, 1000), counts(pattern, 1000, 4));
    // Ranks 1 to 3 have 96.4, 3.0 and 0.4 %.
    for (p, count) in odds.iter().zip(&counts).take(3) {
        let (mean, deviation) = (p * DRAWS as f64, (p * (1.0 - p) * DRAWS as f64).sqrt());
        assert!((*count as f64 - mean).abs() < 4.5 * deviation, "{p}: {count}");
    }
}

#[test]
fn hot_ranks_have_their_odds() {
    for (share, accesses, n) in [(20, 80, 1000), (1, 99, 5000), (50, 50, 64), (10, 90, 33)] {
        let pattern = Pattern::hot(share, accesses).unwrap();
        for seed in 0..3 {
            let label = format!("{pattern} of {n}, seed {seed}");
            assert_drawn_by(&odds(pattern, n), &counts(pattern, n, seed), &label);
        }
    }
}

#[test]
fn few_ranks_are_all_drawn() {
    for pattern in
        [Pattern::Zipf(990), Pattern::Zipf(1000), Pattern::Hot { share: 1, accesses: 99 }]
    {
        for n in [1, 2, 3] {
            assert!(counts(pattern, n, 9).iter().all(|count| *count > 0), "{pattern} of {n}");
        }
        assert_eq!(Draw::new(pattern, 0, 1).unwrap().rank(5), 0);
    }
    assert!(Draw::new(Pattern::Random, 5, 1).is_none());
}

#[test]
fn many_ranks_are_drawn_within_bounds() {
    for n in [1 << 40, 1 << 52, u64::MAX] {
        for thousandths in [1, 500, 1000, 5000] {
            let draw = Draw::new(Pattern::Zipf(thousandths), n, 3).unwrap();
            assert!((0..1000).all(|index| draw.rank(index) < n), "{thousandths} of {n}");
        }
        let draw = Draw::new(Pattern::Hot { share: 20, accesses: 80 }, n, 3).unwrap();
        let hot = (0..1000).filter(|index| draw.rank(*index) <= n / 5).count();
        assert!((730..870).contains(&hot), "{hot} of 1000, n = {n}");
    }
}

#[test]
fn draws_depend_on_seed_and_index() {
    let list = |seed| {
        let draw = Draw::new(Pattern::Zipf(800), 1 << 30, seed).unwrap();
        (0..500).map(|index| draw.rank(index)).collect::<Vec<u64>>()
    };
    assert_eq!(list(1), list(1));
    let same = list(1).iter().zip(list(2)).filter(|(a, b)| **a == *b).count();
    assert!(same < 20, "{same} of 500");
}

#[test]
fn expected_ranks_are_those_drawn() {
    for (pattern, n) in [
        (Pattern::Zipf(500), 20_000),
        (Pattern::Zipf(990), 100_000),
        (Pattern::Zipf(1000), 5_000_000),
        (Pattern::Zipf(2000), 100_000),
        (Pattern::Hot { share: 20, accesses: 80 }, 300_000),
        (Pattern::Hot { share: 1, accesses: 99 }, 1_000_000),
    ] {
        let found = counts(pattern, n, 11).iter().filter(|count| **count > 0).count() as f64;
        let draw = Draw::new(pattern, n, 11).unwrap();
        let expected = draw.expect_different(DRAWS) as f64;
        let exact: f64 = odds(pattern, n).iter().map(|p| 1.0 - (1.0 - p).powf(DRAWS as f64)).sum();
        assert!(
            (expected - exact).abs() < 0.6 + exact * 1e-5,
            "{pattern}: {expected}, not {exact}"
        );
        // The number of different ranks scatters by less than its square root.
        assert!((found - exact).abs() < 4.5 * exact.sqrt(), "{pattern}: {found} of {exact}");
        assert_eq!(draw.expect_different(0), 0);
        assert_eq!(draw.expect_different(1), 1);
        assert_eq!(Draw::new(pattern, 1, 0).unwrap().expect_different(7), 1);
    }
}
