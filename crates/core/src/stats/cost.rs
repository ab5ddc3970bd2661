//! The cost of an operation: a fixed part, and a part per byte.

use serde::{Deserialize, Serialize};

/// Rounds of reweighting; with clean curves the weights settle in 5.
const ROUNDS: usize = 30;

/// Huber's constant: errors of more standard deviations than this count linearly instead of
/// squared.
const HUBER: f64 = 1.345;

/// Median distance of normally distributed values from their centre, in standard deviations.
const MAD: f64 = 0.6745;

/// `time(bytes) = fixed + per_byte x bytes`, in nanoseconds, with 95 % intervals.
///
/// This is Hockney's pair of r-infinity and n-half ("Performance parameters and benchmarking of
/// supercomputers", Parallel Computing 17, 1991), expressed as times. Errors are relative to the
/// time, because trials of 1-byte and of 1 MiB reads scatter by similar percentages. Huber's
/// weights keep a single outlying block size from tilting the line. Neither part is below 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Nanoseconds per operation, independent of its size.
    pub fixed: f64,
    pub fixed_low: f64,
    pub fixed_high: f64,
    /// Nanoseconds per byte.
    pub per_byte: f64,
    pub per_byte_low: f64,
    pub per_byte_high: f64,
    /// The largest distance of a point from the line, as a share of the line.
    pub misfit: f64,
}

impl Cost {
    /// Fits points of (bytes, nanoseconds per operation), each with the relative standard error
    /// `spread`. Returns `None` for fewer than 3 different sizes, or if the best line is zero
    /// everywhere.
    ///
    /// Three noisy points may lie on a line by chance, so the intervals are never narrower than
    /// `spread` implies.
    pub fn fit(points: &[(f64, f64)], spread: f64) -> Option<Cost> {
        fn sound(value: f64) -> bool {
            value.is_finite() && value > 0.0
        }
        let points: Vec<(f64, f64)> = points
            .iter()
            .copied()
            .filter(|(bytes, nanos)| sound(*bytes) && sound(*nanos))
            .collect();
        let mut sizes: Vec<u64> = points.iter().map(|(bytes, _)| bytes.to_bits()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() < 3 {
            return None;
        }
        let mut line = Line::least_squares(&points, |_, nanos| nanos.powi(-2))?;
        let mut scale = 0.0;
        for _ in 0..ROUNDS {
            scale = line.scale(&points);
            let weight = |bytes: f64, nanos: f64| {
                let (time, error) =
                    (line.time(bytes).max(f64::MIN_POSITIVE), line.error(bytes, nanos).abs());
                let huber = if error <= HUBER * scale { 1.0 } else { HUBER * scale / error };
                huber / (time * time)
            };
            line = Line::least_squares(&points, weight)?;
        }
        Some(line.cost(&points, scale.max(spread)))
    }

    /// Returns the nanoseconds of one operation of `bytes`.
    pub fn nanos(&self, bytes: f64) -> f64 {
        self.fixed + self.per_byte * bytes
    }

    /// Returns the limit of bytes per second for ever larger blocks; `None` if a byte costs
    /// nothing.
    pub fn bandwidth(&self) -> Option<f64> {
        Some(1e9 / self.per_byte).filter(|rate| rate.is_finite())
    }

    /// Returns the block size in bytes that reaches half of that: there both parts cost the same.
    pub fn half(&self) -> Option<f64> {
        Some(self.fixed / self.per_byte).filter(|bytes| bytes.is_finite())
    }

    /// Returns the share of the fixed part in the time of an operation of `bytes`.
    pub fn fixed_share(&self, bytes: f64) -> f64 {
        let nanos = self.nanos(bytes);
        if nanos > 0.0 { self.fixed / nanos } else { 0.0 }
    }
}

/// An intermediate fit, with the variances of its parts for errors of variance 1.
#[derive(Clone, Copy)]
struct Line {
    fixed: f64,
    per_byte: f64,
    fixed_variance: f64,
    per_byte_variance: f64,
}

impl Line {
    /// Returns the weighted least-squares line with no part below 0; the weights apply to squared
    /// nanoseconds.
    fn least_squares(points: &[(f64, f64)], weight: impl Fn(f64, f64) -> f64) -> Option<Line> {
        // Sizes are relative to the largest, so that the sums have similar magnitudes.
        let unit = points.iter().map(|(bytes, _)| *bytes).fold(0.0, f64::max);
        let (mut one, mut x, mut xx, mut y, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (bytes, nanos) in points {
            let (w, bytes) = (weight(*bytes, *nanos), bytes / unit);
            one += w;
            x += w * bytes;
            xx += w * bytes * bytes;
            y += w * nanos;
            xy += w * bytes * nanos;
        }
        let determinant = one * xx - x * x;
        let (fixed, slope) = ((xx * y - x * xy) / determinant, (one * xy - x * y) / determinant);
        let line = if fixed < 0.0 {
            Line {
                fixed: 0.0,
                per_byte: xy / xx / unit,
                fixed_variance: 0.0,
                per_byte_variance: 1.0 / xx / unit / unit,
            }
        } else if slope < 0.0 {
            Line {
                fixed: y / one,
                per_byte: 0.0,
                fixed_variance: 1.0 / one,
                per_byte_variance: 0.0,
            }
        } else {
            Line {
                fixed,
                per_byte: slope / unit,
                fixed_variance: xx / determinant,
                per_byte_variance: one / determinant / unit / unit,
            }
        };
        let sound = [line.fixed, line.per_byte, line.fixed_variance, line.per_byte_variance]
            .iter()
            .all(|v| v.is_finite());
        (sound && line.fixed + line.per_byte > 0.0).then_some(line)
    }

    fn time(&self, bytes: f64) -> f64 {
        self.fixed + self.per_byte * bytes
    }

    /// Returns the distance of a point from the line, as a share of the line.
    fn error(&self, bytes: f64, nanos: f64) -> f64 {
        nanos / self.time(bytes).max(f64::MIN_POSITIVE) - 1.0
    }

    /// Estimates the standard deviation of the errors from their median; never 0, so that a perfect
    /// fit still has weights.
    fn scale(&self, points: &[(f64, f64)]) -> f64 {
        let mut errors: Vec<f64> =
            points.iter().map(|(bytes, nanos)| self.error(*bytes, *nanos).abs()).collect();
        errors.sort_unstable_by(f64::total_cmp);
        // The line itself uses up two degrees of freedom.
        let at = (errors.len() / 2 + 1).min(errors.len() - 1);
        (errors[at] / MAD).max(1e-9)
    }

    fn cost(self, points: &[(f64, f64)], scale: f64) -> Cost {
        let wide = student(points.len() - 2) * scale;
        let (fixed, byte) =
            (wide * self.fixed_variance.sqrt(), wide * self.per_byte_variance.sqrt());
        let misfit = points
            .iter()
            .map(|(bytes, nanos)| self.error(*bytes, *nanos).abs())
            .fold(0.0, f64::max);
        Cost {
            fixed: self.fixed,
            fixed_low: (self.fixed - fixed).max(0.0),
            fixed_high: self.fixed + fixed,
            per_byte: self.per_byte,
            per_byte_low: (self.per_byte - byte).max(0.0),
            per_byte_high: self.per_byte + byte,
            misfit: misfit.min(f64::MAX),
        }
    }
}

/// Returns the 97.5 % point of Student's t with `freedom` degrees of freedom, within 0.5 %.
pub(super) fn student(freedom: usize) -> f64 {
    const FEW: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    let n = freedom.max(1) as f64;
    // From 10 on, the first two terms of its expansion around the normal 1.96 are close enough.
    FEW.get(freedom.max(1) - 1).copied().unwrap_or(1.95996 + 2.3722 / n + 2.8225 / (n * n))
}

#[cfg(test)]
mod tests;
