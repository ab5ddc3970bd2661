//! The scales of the bars: one for all times, one for each other unit.

use crate::record::Unit;

/// A logarithmic scale from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
}

/// From 0.3 ns, about a CPU cycle, to 1 s.
pub const TIMES: Scale = Scale { low: 0.3, high: 1e9 };

/// Powers of ten in nanoseconds, with their names; every third is a unit.
pub const DECADES: [(f64, &str); 10] = [
    (1.0, "1ns"),
    (10.0, "10ns"),
    (100.0, "100ns"),
    (1e3, "1µs"),
    (1e4, "10µs"),
    (1e5, "100µs"),
    (1e6, "1ms"),
    (1e7, "10ms"),
    (1e8, "100ms"),
    (1e9, "1s"),
];

impl Scale {
    /// Returns the scale of a unit.
    pub fn for_unit(unit: Unit) -> Scale {
        match unit {
            Unit::Nanos => TIMES,
            // From a slow network to the caches of a large machine.
            Unit::BytesPerSecond => Scale { low: 1e6, high: 1e12 },
            Unit::PerSecond => Scale { low: 1.0, high: 1e10 },
            Unit::Bytes => Scale { low: 1024.0, high: (1u64 << 40) as f64 },
        }
    }

    /// Returns the position of a value, clamped to 0..=1; NaN for NaN and negative values.
    pub fn share(self, value: f64) -> f64 {
        if value.is_nan() || value < 0.0 {
            return f64::NAN;
        }
        ((value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_are_equally_wide_and_values_are_clamped() {
        assert_eq!(
            [TIMES.share(0.3), TIMES.share(1e9), TIMES.share(0.0), TIMES.share(1e30)],
            [0.0, 1.0, 0.0, 1.0]
        );
        let steps: Vec<f64> = DECADES
            .windows(2)
            .map(|pair| TIMES.share(pair[1].0) - TIMES.share(pair[0].0))
            .collect();
        assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-12), "{steps:?}");
        assert!(TIMES.share(f64::NAN).is_nan() && TIMES.share(-1.0).is_nan());
        assert_eq!(Scale::for_unit(Unit::Bytes).share((1u64 << 25) as f64), 0.5);
    }
}
