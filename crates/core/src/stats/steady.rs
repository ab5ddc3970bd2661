//! Whether a rate over time has reached its steady state, by the criterion of the performance test
//! specification for solid state storage of SNIA (PTS 2.0.2, section 2.1.24).

/// Rounds of the window that is judged.
pub const STEADY_ROUNDS: usize = 5;
/// Most by which the rates of the window differ, as a share of their mean.
const MAX_RANGE: f64 = 0.2;
/// Most by which a straight line through them changes over the window, as a share of their mean.
const MAX_CHANGE: f64 = 0.1;

/// Returns whether the last five of these rates, of rounds of equal length, are steady: all within
/// 20 % of their mean from each other, and a line through them that changes by at most 10 % of it.
pub fn is_steady(rates: &[f64]) -> bool {
    let Some(window) = rates.last_chunk::<STEADY_ROUNDS>() else { return false };
    let mean = window.iter().sum::<f64>() / window.len() as f64;
    let (least, most) =
        window.iter().fold((f64::MAX, 0.0f64), |(least, most), of| (least.min(*of), most.max(*of)));
    // The slope of the line of least squares, per round.
    let middle = (window.len() - 1) as f64 / 2.0;
    let of_round = |(at, rate): (usize, &f64)| (at as f64 - middle) * (rate - mean);
    let squares = |at: usize| (at as f64 - middle).powi(2);
    let slope = window.iter().enumerate().map(of_round).sum::<f64>()
        / (0..window.len()).map(squares).sum::<f64>();
    let change = slope.abs() * (window.len() - 1) as f64;
    mean > 0.0 && most - least <= MAX_RANGE * mean && change <= MAX_CHANGE * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_alike_are_steady() {
        assert!(is_steady(&[900.0, 100.0, 104.0, 97.0, 101.0, 100.0]));
        assert!(!is_steady(&[100.0; 4]), "too few");
        assert!(!is_steady(&[0.0; 5]), "nothing moves");
    }

    #[test]
    fn a_stray_round_is_not() {
        assert!(is_steady(&[100.0, 109.0, 91.0, 100.0, 100.0]));
        assert!(!is_steady(&[100.0, 112.0, 90.0, 100.0, 100.0]), "a range of 22 %");
    }

    #[test]
    fn a_trend_is_not() {
        assert!(is_steady(&[104.0, 102.0, 100.0, 98.0, 96.0]), "8 % over the window");
        assert!(!is_steady(&[106.0, 103.0, 100.0, 97.0, 94.0]), "12 % over the window");
    }
}
