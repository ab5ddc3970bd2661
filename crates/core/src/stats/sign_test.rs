//! The sign test: whether one of two outcomes is more frequent than chance explains.

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
