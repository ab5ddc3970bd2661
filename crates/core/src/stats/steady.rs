//! Whether a series has reached its steady state.

/// Values of the window that is judged.
pub const STEADY_WINDOW: usize = 5;
/// The largest difference of two values of the window, as a share of their mean.
const MAX_EXCURSION: f64 = 0.2;
/// The rise or fall of the best straight line over the window, as a share of their mean.
const MAX_SLOPE: f64 = 0.1;

/// Returns whether the last five values are steady: they lie within 20 % of their mean, and the
/// line through them rises or falls by at most 10 % of it (SNIA Solid State Storage Performance
/// Test Specification 2.0.2, section 2.1.24).
pub fn is_steady(values: &[f64]) -> bool {
    let Some(from) = values.len().checked_sub(STEADY_WINDOW) else { return false };
    let window = &values[from..];
    let count = STEADY_WINDOW as f64;
    let mean = window.iter().sum::<f64>() / count;
    let (low, high) = window
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    let middle = (count - 1.0) / 2.0;
    let places = || (0..STEADY_WINDOW).map(|at| at as f64 - middle);
    let rise: f64 = places().zip(window).map(|(at, value)| at * value).sum();
    let slope = rise / places().map(|at| at * at).sum::<f64>();
    mean > 0.0
        && high - low <= MAX_EXCURSION * mean
        && (slope * (count - 1.0)).abs() <= MAX_SLOPE * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_windows_are_narrow_and_level() {
        assert!(is_steady(&[100.0; 5]));
        assert!(is_steady(&[900.0, 100.0, 95.0, 104.0, 98.0, 103.0]));
        assert!(!is_steady(&[100.0; 4]), "too few");
        assert!(!is_steady(&[100.0, 100.0, 121.0, 100.0, 100.0]), "one is too far off");
        assert!(!is_steady(&[106.0, 103.0, 100.0, 97.0, 94.0]), "they fall by 12 %");
        assert!(is_steady(&[104.0, 102.0, 100.0, 98.0, 96.0]), "they fall by 8 %");
        assert!(!is_steady(&[0.0; 5]));
        assert!(!is_steady(&[f64::NAN; 5]));
    }
}
