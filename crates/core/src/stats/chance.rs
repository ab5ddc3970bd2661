//! How far the number of values beyond a quantile may be chance.

/// Chance of an error on each side of an interval of 95 %.
const CHANCE: f64 = 0.025;
/// Expected count at which the normal distribution replaces the binomial: close enough above, and
/// no term underflows below.
const MANY: f64 = 100.0;
/// Standard deviations that a normal distribution exceeds by [`CHANCE`].
const DEVIATIONS: f64 = 1.959_964;

/// Returns the 95 % limits, exclusive, of how many of `count` independent values lie beyond a
/// quantile that each exceeds with the probability `share`. The first is `None` for too few
/// values.
pub fn tail_limits(count: u64, share: f64) -> (Option<u64>, u64) {
    let expected = count as f64 * share;
    if !(expected > 0.0 && share < 1.0) {
        return (None, 1);
    }
    if expected >= MANY {
        let reach = DEVIATIONS * (expected * (1.0 - share)).sqrt() + 0.5;
        return (Some((expected - reach).floor() as u64), (expected + reach).ceil() as u64);
    }
    let mut term = (count as f64 * (-share).ln_1p()).exp();
    let (mut few, mut below) = (None, 0.0);
    for beyond in 0..=count {
        // P(fewer than `beyond`) is `below`.
        if 1.0 - below <= CHANCE {
            return (few, beyond);
        }
        below += term;
        if below <= CHANCE {
            few = Some(beyond);
        }
        term *= (count - beyond) as f64 / (beyond + 1) as f64 * share / (1.0 - share);
    }
    (few, count.saturating_add(1))
}

/// Returns the most that the probability can be that `many` of `count` independent events happen,
/// or more, where each does with the probability `share`: Chernoff's bound, exp(-n D(k/n || p)).
pub fn most_chance(count: u64, many: u64, share: f64) -> f64 {
    let (count, seen) = (count as f64, many as f64 / count.max(1) as f64);
    if seen <= share || share.is_nan() {
        return 1.0;
    }
    let part = |own: f64, other: f64| if own > 0.0 { own * (own / other).ln() } else { 0.0 };
    (-count * (part(seen, share) + part(1.0 - seen, 1.0 - share))).exp()
}

/// Returns the probability that at least `more` of `more + fewer` tosses of a fair coin show the
/// same named side: the one-sided sign test (Conover, "Practical Nonparametric Statistics", 3rd
/// ed., section 3.4). 1 for no tosses.
pub fn sign_test(more: u32, fewer: u32) -> f64 {
    let tosses = f64::from(more) + f64::from(fewer);
    // Logarithms: 2^-n vanishes for thousands of tosses.
    let mut term = -tosses * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for heads in 0..=more.saturating_add(fewer) {
        if heads >= more {
            sum += term.exp();
        }
        term += ((tosses - f64::from(heads)) / (f64::from(heads) + 1.0)).ln();
    }
    f64::min(sum, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_chance_bounds_the_binomial() {
        // P(K >= 5 of 10) = 6.3690e-5 at 0.05, P(K >= 9 of 100) = 3.8e-6 at 0.01.
        for (count, many, share, exact) in [(10, 5, 0.05, 6.369e-5), (100, 9, 0.01, 3.8e-6)] {
            let most = most_chance(count, many, share);
            assert!((exact..50.0 * exact).contains(&most), "{count} {many} {share}: {most}");
        }
        assert!((most_chance(10, 10, 0.1) / 1e-10 - 1.0).abs() < 1e-9);
        assert_eq!((most_chance(10, 1, 0.1), most_chance(0, 0, 0.1)), (1.0, 1.0));
        assert_eq!(most_chance(10, 5, f64::NAN), 1.0);
    }

    #[test]
    fn limits_by_hand() {
        // 1,000 values, one in a hundred: P(K <= 3) = 0.0101, P(K <= 4) = 0.0287;
        // P(K >= 18) = 0.0135, P(K >= 17) = 0.0265.
        assert_eq!(tail_limits(1000, 0.01), (Some(3), 18));
        // Without one beyond, 367 values leave 0.99^367 = 0.02501, 368 leave 0.02476.
        assert_eq!((tail_limits(367, 0.01).0, tail_limits(368, 0.01).0), (None, Some(0)));
        // 20 values and the median, as in tables of the sign test: 5 or fewer, 15 or more.
        assert_eq!(tail_limits(20, 0.5), (Some(5), 15));
        // One of one value beyond p99 is one chance in a hundred.
        assert_eq!(tail_limits(1, 0.01), (None, 1));
        assert_eq!((tail_limits(1, 0.5), tail_limits(0, 0.5)), ((None, 2), (None, 1)));
    }

    #[test]
    fn the_normal_distribution_continues_the_binomial() {
        let (low, high) = tail_limits(9_999, 0.01);
        let (next_low, next_high) = tail_limits(10_001, 0.01);
        assert!(low.unwrap().abs_diff(next_low.unwrap()) <= 1 && high.abs_diff(next_high) <= 1);
        let (low, high) = tail_limits(100_000_000, 0.001);
        assert!((99_379..99_382).contains(&low.unwrap()) && (100_619..100_622).contains(&high));
        for share in [f64::NAN, 0.0, 1.0, 2.0] {
            assert_eq!(tail_limits(1000, share), (None, 1));
        }
        tail_limits(u64::MAX, 0.5);
    }

    #[test]
    fn matches_binomial_tables() {
        for (more, fewer, want) in [
            (0, 0, 1.0),
            (1, 0, 0.5),
            (4, 2, 0.34375),
            (9, 6, 0.303_619_384_765_625),
            (10, 0, 1.0 / 1024.0),
            (0, 10, 1.0),
        ] {
            let got = sign_test(more, fewer);
            assert!((got - want).abs() < 1e-12, "{more} to {fewer}: {got}");
        }
        assert!(sign_test(50, 6) < 1e-9);
        assert!(sign_test(2000, 0) < 1e-300 && sign_test(2000, 2000) > 0.5);
    }
}
