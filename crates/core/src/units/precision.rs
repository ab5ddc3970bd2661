//! The digits that a figure deserves: fewer where its interval is wide.

use super::column::{self, RATE, TIME, Unit};
use super::three_digits;

const COUNT: &[Unit] = &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")];
/// A figure that three digits round to a larger unit has that one.
const ROUNDED: f64 = 0.9995;

/// The digits of a figure, by half of its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Precision {
    /// Three digits; also of a figure that has no interval by its nature, such as a count.
    #[default]
    Full,
    /// Two digits.
    Two,
    /// Two digits behind `~`.
    Rough,
}

/// Half widths, in percent as they are shown, from which a figure has two digits, is too uncertain
/// for a picture of large digits, and is rough.
const TWO: f64 = 10.0;
const SMALL: f64 = 20.0;
const ROUGH: f64 = 33.0;

/// Returns the half width in whole percent, as it is shown.
fn shown_percent(half_width: Option<f64>) -> f64 {
    half_width.map_or(0.0, |half| (half * 100.0).round())
}

impl Precision {
    /// Returns the precision of a figure, whose `half_width` is a share of it.
    pub fn of(half_width: Option<f64>) -> Precision {
        match shown_percent(half_width) {
            ROUGH.. => Precision::Rough,
            TWO.. => Precision::Two,
            _ => Precision::Full,
        }
    }

    /// Returns whether a figure may stand in large digits.
    pub fn suits_large(half_width: Option<f64>) -> bool {
        shown_percent(half_width) < SMALL
    }

    /// Formats a figure of a column: `3.72`, `3.7`, `~3.7`.
    pub fn figure(self, value: f64) -> String {
        self.or_two(value, column::figure)
    }

    /// Formats a figure like [`Precision::figure`], with a prefix from 100,000 on: `36 M`.
    pub fn short_figure(self, value: f64) -> String {
        if value.abs() < 1e5 { self.figure(value) } else { self.count(value) }
    }

    /// Formats bytes per second in binary units: `2.71 GiB/s`.
    pub fn rate(self, bytes_per_second: f64) -> String {
        self.in_units(bytes_per_second, RATE)
    }

    /// Formats a number with a decimal prefix: `3.31 M`, `330 k`, `12`.
    pub fn count(self, value: f64) -> String {
        match self {
            Precision::Full if value.abs() < 1e3 && value.fract() == 0.0 => format!("{value:.0}"),
            _ => self.in_units(value, COUNT).trim_end().into(),
        }
    }

    /// Formats nanoseconds: `302 ns`, `3.90 µs`, `2.50 s`.
    pub fn nanos(self, nanos: f64) -> String {
        self.in_units(nanos, TIME)
    }

    /// Formats a factor: `9.8x`, `12x`, `1.04x`.
    pub fn times(self, ratio: f64) -> String {
        let digits = |ratio: f64| match ratio {
            10.0.. => format!("{ratio:.0}"),
            1.1.. => format!("{ratio:.1}"),
            _ => format!("{ratio:.2}"),
        };
        // Two digits would hide a small difference.
        let is_near_one = (0.9..1.1).contains(&ratio) && self != Precision::Rough;
        if is_near_one { digits(ratio) + "x" } else { self.or_two(ratio, digits) + "x" }
    }

    fn in_units(self, value: f64, units: &[Unit]) -> String {
        let (factor, unit) = column::unit_for(value.abs() / ROUNDED, units);
        format!("{} {unit}", self.or_two(value / factor, three_digits))
    }

    fn or_two(self, value: f64, full: impl Fn(f64) -> String) -> String {
        match self {
            Precision::Full => full(value),
            Precision::Two => two_digits(value),
            Precision::Rough => format!("~{}", two_digits(value)),
        }
    }
}

/// Formats a number with two significant digits: `3.7`, `37`, `370`, `0.037`.
fn two_digits(value: f64) -> String {
    let size = value.abs();
    if !(1e-9..1e12).contains(&size) {
        return column::figure(value);
    }
    let decimals = |size: f64| 1 - size.log10().floor() as i32;
    let scale = 10f64.powi(decimals(size));
    let rounded = (value * scale).round() / scale;
    format!("{rounded:.0$}", decimals(rounded.abs()).max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_intervals_cost_digits() {
        for (half, precision, is_large) in [
            (None, Precision::Full, true),
            (Some(0.0), Precision::Full, true),
            (Some(0.094), Precision::Full, true),
            (Some(0.096), Precision::Two, true),
            (Some(0.194), Precision::Two, true),
            (Some(0.196), Precision::Two, false),
            (Some(0.324), Precision::Two, false),
            (Some(0.326), Precision::Rough, false),
            (Some(9.0), Precision::Rough, false),
        ] {
            assert_eq!(Precision::of(half), precision, "{half:?}");
            assert_eq!(Precision::suits_large(half), is_large, "{half:?}");
        }
    }

    #[test]
    fn figures_have_the_digits_they_deserve() {
        let [full, two, rough] = [Precision::Full, Precision::Two, Precision::Rough];
        for (shown, wanted) in [
            (full.figure(3698.0), "3698"),
            (two.figure(3698.0), "3700"),
            (two.figure(9.96), "10"),
            (two.figure(0.0372), "0.037"),
            (rough.figure(41.3), "~41"),
            (two.figure(0.0), "0"),
            (two.figure(f64::NAN), "-"),
            (full.short_figure(99_999.0), "99999"),
            (full.short_figure(100_000.0), "100 k"),
            (two.short_figure(35_962_545.0), "36 M"),
            (two.rate(3.745e9), "3.5 GiB/s"),
            (rough.rate(3.745e9), "~3.5 GiB/s"),
            (two.nanos(63_900.0), "64 µs"),
            (two.count(84_123.0), "84 k"),
            (two.count(261.0), "260"),
            (full.times(9.84), "9.8x"),
            (full.times(123.4), "123x"),
            (two.times(123.4), "120x"),
            (rough.times(2.04), "~2.0x"),
        ] {
            assert_eq!(shown, wanted);
        }
    }

    proptest! {
        #[test]
        fn two_digits_stay_close(value in prop::num::f64::POSITIVE) {
            let text = two_digits(value);
            if (1e-9..1e12).contains(&value) {
                let back: f64 = text.parse().unwrap();
                prop_assert!((back / value - 1.0).abs() <= 0.0501, "{value}: {text}");
            }
        }
    }
}
