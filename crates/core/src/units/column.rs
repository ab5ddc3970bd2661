//! Numbers in a column: a common unit and aligned decimal points.

use super::three_digits;

/// A unit: its size in the base unit, and its name.
pub type Unit = (f64, &'static str);

pub const RATE: &[Unit] = &[
    (1.0, "B/s"),
    (1024.0, "KiB/s"),
    (1_048_576.0, "MiB/s"),
    (1_073_741_824.0, "GiB/s"),
    (1_099_511_627_776.0, "TiB/s"),
    (1_125_899_906_842_624.0, "PiB/s"),
];
pub const PER_SECOND: &[Unit] = &[(1.0, "/s"), (1e3, "k/s"), (1e6, "M/s"), (1e9, "G/s")];
pub const TIME: &[Unit] = &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

/// Chooses the unit of a column: the largest in which the smallest value is at least 0.1, or a
/// larger one if the largest value would need seven digits.
pub fn unit(values: impl IntoIterator<Item = f64>, units: &[Unit]) -> Unit {
    let mut low = f64::INFINITY;
    let mut high = 0.0f64;
    for value in values.into_iter().filter(|v| v.is_finite() && *v > 0.0) {
        low = low.min(value);
        high = high.max(value);
    }
    let mut best = units.first().copied().unwrap_or((1.0, ""));
    if high == 0.0 {
        return best;
    }
    for unit in units {
        if low / unit.0 >= 0.1 || high / best.0 >= 1e6 {
            best = *unit;
        }
    }
    best
}

/// Chooses the largest unit in which `value` is at least 1: for a single figure, or the end of an
/// axis from 0.
pub fn unit_for(value: f64, units: &[Unit]) -> Unit {
    units.iter().rfind(|unit| value >= unit.0).or(units.first()).copied().unwrap_or((1.0, ""))
}

/// Formats a figure with three digits, two below 0.1, and an exponent if it would be very long.
pub fn figure(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size == 0.0 || (0.1..1e9).contains(&size) {
        three_digits(value)
    } else if !(1e-9..1e9).contains(&size) {
        format!("{value:.1e}")
    } else {
        let decimals = 1.0 - size.log10().floor();
        format!("{value:.0$}", decimals as usize)
    }
}

/// Formats a figure with four significant digits from 0.1 on, for times to compare with
/// other programs: `0.1638`, `6.276`.
pub fn four_digits(value: f64) -> String {
    let size = value.abs();
    let decimals = [(999.95, 0), (99.995, 1), (9.9995, 2), (0.99995, 3), (0.1, 4)];
    match decimals.iter().find(|(from, _)| size >= *from) {
        Some((_, decimals)) if size < 1e9 => format!("{value:.decimals$}"),
        _ => figure(value),
    }
}

/// Formats the values in units of `factor`, padded to one width with aligned decimal points.
pub fn align(values: &[Option<f64>], factor: f64) -> Vec<String> {
    align_with(values, factor, figure)
}

/// Aligns like [`align`], with each value formatted by `show`.
pub fn align_with(values: &[Option<f64>], factor: f64, show: fn(f64) -> String) -> Vec<String> {
    align_texts(values.iter().map(|value| Some(show((*value)? / factor))))
}

/// Pads figures to one width with aligned decimal points; `-` stands for a missing one.
pub fn align_texts(figures: impl Iterator<Item = Option<String>>) -> Vec<String> {
    let texts: Vec<String> = figures.map(|text| text.unwrap_or("-".into())).collect();
    fn point(text: &str) -> usize {
        text.find('.').unwrap_or(text.len())
    }
    let before = texts.iter().map(|text| point(text)).max().unwrap_or(0);
    let after = texts.iter().map(|t| t.len() - point(t)).max().unwrap_or(0);
    texts
        .iter()
        .map(|t| {
            format!(
                "{}{t}{}",
                " ".repeat(before - point(t)),
                " ".repeat(after + point(t) - t.len())
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chooses_one_unit_for_a_column() {
        fn name(values: &[f64]) -> &str {
            unit(values.iter().map(|v| v * 1_048_576.0), RATE).1
        }
        assert_eq!(name(&[13.0, 30_000.0]), "MiB/s");
        assert_eq!(name(&[900.0, 30_000.0]), "GiB/s");
        assert_eq!(name(&[0.001, 30_000.0]), "MiB/s", "six digits are more legible than eight");
        assert_eq!(name(&[]), "B/s");
        assert_eq!(name(&[0.0, f64::NAN]), "B/s");
    }

    #[test]
    fn chooses_a_figures_unit() {
        assert_eq!(
            [112_000.0, 1e6, 0.5, 0.0, f64::NAN].map(|value| unit_for(value, PER_SECOND).1),
            ["k/s", "M/s", "/s", "/s", "/s"]
        );
        assert_eq!(unit_for(5.0, &[(1e6, "MB/s")]), (1e6, "MB/s"));
        assert_eq!(unit_for(5.0, &[]), (1.0, ""));
    }

    #[test]
    fn formats_four_digits() {
        let shown =
            [0.163_84, 6.275_913, 0.999_96, 16.384, 163.84, 1638.4, 99.9951, 0.0163, f64::NAN]
                .map(four_digits);
        assert_eq!(
            shown,
            ["0.1638", "6.276", "1.000", "16.38", "163.8", "1638", "100.0", "0.016", "-"]
        );
    }

    #[test]
    fn aligns_decimal_points() {
        let texts = align(&[Some(0.85), Some(305.0), None, Some(30.5), Some(0.001)], 1.0);
        assert_eq!(texts, ["  0.85  ", "305     ", "  -     ", " 30.5   ", "  0.0010"]);
    }

    proptest! {
        #[test]
        fn any_numbers_have_one_width(
            values in prop::collection::vec(prop::option::of(any::<f64>()), 0..9)
        ) {
            let (factor, _) = unit(values.iter().flatten().copied(), RATE);
            let texts = align(&values, factor);
            prop_assert!(texts.windows(2).all(|t| t[0].len() == t[1].len()));
        }
    }
}
