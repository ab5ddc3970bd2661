//! Round values for the ticks of an axis, for every picture, page and plot.
//!
//! The values are in the unit of the axis: on an axis in MiB/s, ticks are round in MiB/s.

use std::ops::RangeInclusive;

/// Decades that a finite number can have.
const DECADES: RangeInclusive<i32> = -330..=308;

/// Returns the smallest of 1, 2, 5 times a power of ten that is at least `min`; `None` if there is
/// none.
pub fn step(min: f64) -> Option<f64> {
    if !(min.is_finite() && min > 0.0) {
        return None;
    }
    let power = 10f64.powf(min.log10().floor());
    // Accepts a step that is too small only by a rounding error.
    let enough = min * (1.0 - 1e-9);
    [1.0, 2.0, 5.0, 10.0]
        .map(|step| step * power)
        .into_iter()
        .find(|step| *step >= enough && step.is_finite() && *step > 0.0)
}

/// Values whose largest is more than this many times the smallest need a logarithmic axis: on a
/// linear one, the smallest would hug its foot.
const MAX_LINEAR_RATIO: f64 = 20.0;

/// Returns whether an axis of values between these is logarithmic, unless somebody chose another.
pub fn is_logarithmic(low: f64, high: f64) -> bool {
    high / low > MAX_LINEAR_RATIO
}

/// Returns the smallest step of at least `min` seconds that is round in seconds, minutes, hours or
/// days.
pub fn time_step(min: f64) -> Option<f64> {
    const SECONDS: [f64; 15] = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0,
        21600.0,
    ];
    if min <= 0.5 {
        return step(min);
    }
    let enough = min * (1.0 - 1e-9);
    let days = || step(min / 86400.0).map(|days| days * 86400.0);
    SECONDS.into_iter().find(|step| *step >= enough).or_else(days)
}

/// Returns evenly spaced round values between `low` and `high`, at most `max_ticks` (at least 2).
pub fn linear(low: f64, high: f64, max_ticks: usize) -> Vec<f64> {
    densest(low, high, max_ticks, &step, &mut |_| true).unwrap_or_default()
}

/// Returns the densest evenly spaced values between `low` and `high`, at most `max_ticks` (at least
/// 2), that `fits` accepts; `round` returns the smallest round step of at least its argument.
pub fn densest(
    low: f64,
    high: f64,
    max_ticks: usize,
    round: &dyn Fn(f64) -> Option<f64>,
    fits: &mut dyn FnMut(&[f64]) -> bool,
) -> Option<Vec<f64>> {
    let max_ticks = max_ticks.max(2);
    let (mut last, mut min_step) = (0.0, (high - low) / max_ticks as f64);
    while let Some(step) = round(min_step) {
        let first = (low / step - 1e-6).ceil();
        // + 0.0 turns -0 into 0.
        let values = (0..=max_ticks).map(|i| (first + i as f64) * step + 0.0);
        let values: Vec<f64> = values.take_while(|value| *value <= high + step * 1e-6).collect();
        if values.len() <= max_ticks && fits(&values) {
            return Some(values);
        }
        // Among the smallest numbers that exist, the next step may round to the same one.
        if values.len() < 2 || step <= last {
            return None;
        }
        (last, min_step) = (step, step * 1.01);
    }
    None
}

/// Returns the round end of an axis from 0 to `high` with at most `max_ticks` steps.
pub fn round_end(high: f64, max_ticks: usize) -> f64 {
    step(high / max_ticks.max(2) as f64)
        .map_or(high, |step| ((high / step - 1e-9).ceil() * step).max(high))
}

/// Returns the powers of ten between `low` and `high`: with their multiples by 2 and 5 if that
/// makes at most `max_ticks`, or every n-th if there are too many.
pub fn logarithmic(low: f64, high: f64, max_ticks: usize) -> Vec<f64> {
    for steps in [&[1.0, 2.0, 5.0][..], &[1.0]] {
        let values = within_decades(low, high, steps);
        if (2..=max_ticks.max(2)).contains(&values.len()) {
            return values;
        }
    }
    let decades = within_decades(low, high, &[1.0]);
    if decades.len() < 2 {
        // The axis spans less than a decade.
        return linear(low, high, max_ticks).into_iter().filter(|value| *value > 0.0).collect();
    }
    let interval = decades.len().div_ceil(max_ticks.max(2));
    // Counted from 1, for 1, 100, 10000 rather than 10, 1000.
    decades
        .into_iter()
        .filter(|value| (value.log10().round() as i32).rem_euclid(interval as i32) == 0)
        .collect()
}

/// Returns the multiples `steps` of every power of ten between `low` and `high`.
pub fn within_decades(low: f64, high: f64, steps: &[f64]) -> Vec<f64> {
    if !(low > 0.0 && low <= high && high.is_finite()) {
        return Vec::new();
    }
    let decades = low.log10().floor() as i32..=high.log10().floor() as i32;
    let inside = |value: &f64| *value >= low * (1.0 - 1e-9) && *value <= high * (1.0 + 1e-9);
    let all = decades
        .filter(|power| DECADES.contains(power))
        .flat_map(|power| steps.iter().map(move |step| step * decade(power)));
    all.filter(inside).collect()
}

/// Returns a power of ten without rounding error: `0.001`, not `0.0010000000000000002`.
fn decade(power: i32) -> f64 {
    if power < 0 { 1.0 / 10f64.powi(-power) } else { 10f64.powi(power) }
}

/// Formats a tick without trailing zeros and with separators between thousands: `0.05`, `2.5`,
/// `10,000`.
pub fn label(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e9).contains(&size) {
        return format!("{value:e}");
    }
    let decimals = if size == 0.0 || size >= 100.0 {
        0
    } else {
        (2.0 - size.log10().floor()).clamp(0.0, 9.0) as usize
    };
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let integer_len = digits.find('.').unwrap_or(digits.len());
    let mut out = String::from(sign);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && i < integer_len && (integer_len - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_of_ages_have_few_steps() {
        let mut tried = 0;
        let found = densest(-1e-308, 1e308, 4, &time_step, &mut |_| {
            tried += 1;
            false
        });
        assert!(found.is_none() && tried < 3000, "{tried}");
        assert_eq!(time_step(30_000.0), Some(43_200.0));
        assert_eq!(time_step(200_000.0), Some(432_000.0));
    }

    #[test]
    fn steps_of_tiny_values_end() {
        for unit in [1.0, 1e6, 1e9] {
            let round = |least: f64| step(least / unit).map(|step| step * unit);
            for power in 300..324 {
                let high = 2.4 * 10f64.powi(-power);
                let mut tried = 0;
                densest(-high, high, 4, &round, &mut |_| {
                    tried += 1;
                    assert!(tried < 3000, "{high:e} in units of {unit:e}");
                    false
                });
            }
        }
    }

    #[test]
    fn steps_are_one_two_five() {
        assert_eq!(
            [1.0, 1.1, 2.1, 5.1, 0.03].map(|min| step(min).unwrap()),
            [1.0, 2.0, 5.0, 10.0, 0.05]
        );
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(step), [None; 4]);
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(linear(0.0, 31.7, 6), [0.0, 10.0, 20.0, 30.0]);
        assert_eq!(linear(0.0, 1.3, 6), [0.0, 0.5, 1.0]);
        assert_eq!(
            [round_end(31.7, 6), round_end(619.0, 6), round_end(10.0, 5)],
            [40.0, 800.0, 10.0]
        );
        assert_eq!(linear(0.0, round_end(619.0, 6), 6), [0.0, 200.0, 400.0, 600.0, 800.0]);
    }

    #[test]
    fn logarithmic_ticks_include_multiples() {
        assert_eq!(logarithmic(0.4, 12.0, 6), [0.5, 1.0, 2.0, 5.0, 10.0]);
        assert_eq!(logarithmic(0.67, 39_000.0, 6), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(logarithmic(1e-9, 1.0, 5), [1e-8, 1e-6, 1e-4, 1e-2, 1.0]);
        assert_eq!(logarithmic(21.0, 49.0, 6), [25.0, 30.0, 35.0, 40.0, 45.0]);
    }

    #[test]
    fn tiny_axes_end_the_search() {
        assert_eq!(densest(0.0, 5e-323, 3, &step, &mut |_| false), None);
    }

    #[test]
    fn labels_have_no_trailing_zeros() {
        let labels =
            [0.0, 0.05, 0.5, 2.5, 10.0, 1000.0, 10_000.0, 2e6, 1e12, 1e-8, -40.0].map(label);
        assert_eq!(
            labels,
            [
                "0",
                "0.05",
                "0.5",
                "2.5",
                "10",
                "1,000",
                "10,000",
                "2,000,000",
                "1e12",
                "1e-8",
                "-40"
            ]
        );
    }

    proptest! {
        #[test]
        fn any_axis_has_ordered_ticks(
            low in 1e-300f64..1e300, factor in 1.0f64..1e12, max in 2usize..12
        ) {
            let high = low * factor;
            // Rounding may move a linear tick by a millionth of the axis, a logarithmic one by a
            // millionth of itself.
            let length = high - low;
            let axes = [
                (linear(0.0, high, max), -high * 1e-6, high * (1.0 + 1e-6)),
                (linear(low, high, max), low - length * 1e-6, high + length * 1e-6),
                (logarithmic(low, high, max), low * (1.0 - 1e-6), high * (1.0 + 1e-6)),
            ];
            for (ticks, start, end) in axes {
                prop_assert!(ticks.len() <= max.max(4), "{ticks:?}");
                prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
                prop_assert!(ticks.iter().all(|tick| (start..=end).contains(tick)), "{ticks:?}");
            }
            prop_assert!(round_end(high, max) >= high);
        }

        #[test]
        fn no_number_panics(low: f64, high: f64, max in 0usize..20) {
            let _ = (linear(low, high, max), logarithmic(low, high, max));
            let _ = (round_end(high, max), label(low));
        }
    }
}
