//! The knee of a curve: the first place where it is close to its peak, and how sure that is.

use super::Summary;

/// Ways in which the trials might have come out.
const DRAWS: usize = 512;

/// Random normal values, drawn once for any number of curves.
pub struct Knees(Vec<f64>);

/// So many values are drawn; a curve takes as many in a row as it has places for each way, and
/// begins again at the end.
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
    /// The first place of ascending ones whose median is at least `close` of the highest; `None`
    /// for none.
    pub fn at(curve: &[&Summary], close: f64) -> Option<usize> {
        first(curve.iter().map(|summary| summary.median), close)
    }

    /// How sure `at` is that place: the share of ways in which it comes out so when each median is
    /// drawn anew within its interval (lognormal: rates scatter by shares). 0 to 1; `None` where a
    /// place has no interval, so under 5 trials.
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

/// The logarithm of a median and its standard error: the interval is 2 x 1.96 of them wide.
fn place(summary: &Summary) -> Option<(f64, f64)> {
    let log = |value: f64| (value.is_finite() && value > 0.0).then(|| value.ln());
    let (low, high) = (log(summary.low?)?, log(summary.high?)?);
    Some((log(summary.median)?, (high - low).abs() / (2.0 * 1.96)))
}

#[cfg(test)]
mod tests;
