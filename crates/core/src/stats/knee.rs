//! The knee of a curve: the first point that is close to the peak, and the confidence in it.

use super::Summary;

/// Number of simulated outcomes of the trials.
const DRAWS: usize = 512;

/// Normally distributed random values, drawn once for any number of curves.
pub struct Knees(Vec<f64>);

/// Number of values drawn; each simulated outcome takes the next ones in turn, one per point of the
/// curve, and starts again at the end.
const POOL: usize = 16_411;

impl Default for Knees {
    fn default() -> Knees {
        let mut state = 0x5EED_0F1C_0FFE_E000_u64;
        let mut uniform = move || {
            // SplitMix64 (Steele, Lea, Flood 2014).
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        // Box and Muller.
        Knees(
            (0..POOL)
                .map(|_| (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos())
                .collect(),
        )
    }
}

impl Knees {
    /// Returns the index of the first point whose median is at least `close` times the highest;
    /// `None` if no point reaches it.
    pub fn find_knee(curve: &[&Summary], close: f64) -> Option<usize> {
        first(curve.iter().map(|summary| summary.median), close)
    }

    /// Returns the confidence, 0 to 1, that `at` is the knee: the share of simulated outcomes with
    /// that result, where each median is redrawn within its interval (log-normal, because rates
    /// scatter in proportion). `None` if a point has no interval, that is, fewer than 5 trials.
    pub fn confidence(&self, curve: &[&Summary], at: usize, close: f64) -> Option<f64> {
        let places: Option<Vec<(f64, f64)>> = curve.iter().map(|summary| place(summary)).collect();
        let places = places.filter(|places| !places.is_empty())?;
        let mut normals = self.0.iter().cycle();
        let mut hits = 0;
        for _ in 0..DRAWS {
            let drawn: Vec<f64> = places
                .iter()
                .zip(&mut normals)
                .map(|((middle, spread), z)| (middle + spread * z).exp())
                .collect();
            hits += usize::from(first(drawn.into_iter(), close) == Some(at));
        }
        Some(hits as f64 / DRAWS as f64)
    }
}

fn first(values: impl Iterator<Item = f64> + Clone, close: f64) -> Option<usize> {
    let peak = values.clone().max_by(f64::total_cmp)?;
    values.into_iter().position(|value| value >= close * peak)
}

/// Returns the logarithm of a median and its standard error: the interval is 2 x 1.96 of these
/// wide.
fn place(summary: &Summary) -> Option<(f64, f64)> {
    fn log(value: f64) -> Option<f64> {
        (value.is_finite() && value > 0.0).then(|| value.ln())
    }
    let (low, high) = (log(summary.low?)?, log(summary.high?)?);
    Some((log(summary.median)?, (high - low).abs() / (2.0 * 1.96)))
}

#[cfg(test)]
mod tests;
