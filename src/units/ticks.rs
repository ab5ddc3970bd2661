//! Round values for the ticks of an axis: every picture, page and plot takes them from here.
//!
//! The values are in the unit of the axis: a tick is round in MiB/s where the axis is in MiB/s.

use std::ops::RangeInclusive;

/// More decades than any measurement spans; a bound for values that are none.
const DECADES: RangeInclusive<i32> = -330..=308;

/// The smallest of 1, 2, 5 times a power of ten that is at least `least`; `None` where there is
/// none.
pub fn step(least: f64) -> Option<f64> {
    if !(least.is_finite() && least > 0.0) {
        return None;
    }
    let power = 10f64.powf(least.log10().floor());
    // A step that misses by rounding alone is that step.
    let enough = least * (1.0 - 1e-9);
    [1.0, 2.0, 5.0, 10.0]
        .map(|step| step * power)
        .into_iter()
        .find(|step| *step >= enough && step.is_finite() && *step > 0.0)
}

/// Round values between two ends, at most `most` of them (at least 2), evenly apart.
pub fn linear(low: f64, high: f64, most: usize) -> Vec<f64> {
    let most = most.max(2);
    let mut least = (high - low) / most as f64;
    while let Some(step) = step(least) {
        let first = (low / step - 1e-9).ceil();
        // + 0.0 makes 0 of -0.
        let values = (0..=most).map(|i| (first + i as f64) * step + 0.0);
        let values: Vec<f64> = values.take_while(|value| *value <= high + step * 1e-9).collect();
        if values.len() <= most {
            return values;
        }
        least = step * 1.01;
    }
    Vec::new()
}

/// The round end of an axis from 0 that holds `high`, with ticks at most `most` apart.
pub fn end(high: f64, most: usize) -> f64 {
    step(high / most.max(2) as f64)
        .map_or(high, |step| ((high / step - 1e-9).ceil() * step).max(high))
}

/// Decades between two ends, with 2 and 5 of each where all of them are at most `most`; of more
/// decades every n-th.
pub fn logarithmic(low: f64, high: f64, most: usize) -> Vec<f64> {
    for steps in [&[1.0, 2.0, 5.0][..], &[1.0]] {
        let values = within_decades(low, high, steps);
        if (2..=most.max(2)).contains(&values.len()) {
            return values;
        }
    }
    let decades = within_decades(low, high, &[1.0]);
    if decades.len() < 2 {
        // Less than a decade with more values than there is room for.
        return linear(low, high, most).into_iter().filter(|value| *value > 0.0).collect();
    }
    let every = decades.len().div_ceil(most.max(2));
    // Counted from 1, so that 1, 100, 10000 stand there and not 10, 1000.
    decades
        .into_iter()
        .filter(|value| (value.log10().round() as i32).rem_euclid(every as i32) == 0)
        .collect()
}

/// These multiples of every power of ten between two ends.
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

/// Powers of ten as they are written: `0.001` and not `0.0010000000000000002`.
fn decade(power: i32) -> f64 {
    if power < 0 { 1.0 / 10f64.powi(-power) } else { 10f64.powi(power) }
}

/// A tick as it is written: no zeros that say nothing, thousands apart: `0.05`, `2.5`, `10,000`.
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
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut out = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at < whole && (whole - at).is_multiple_of(3) {
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
    fn steps_are_one_two_five() {
        assert_eq!(
            [1.0, 1.1, 2.1, 5.1, 0.03].map(|least| step(least).unwrap()),
            [1.0, 2.0, 5.0, 10.0, 0.05]
        );
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(step), [None; 4]);
    }

    #[test]
    fn linear_ticks_are_round_and_reach_the_end() {
        assert_eq!(linear(0.0, 31.7, 6), [0.0, 10.0, 20.0, 30.0]);
        assert_eq!(linear(0.0, 1.3, 6), [0.0, 0.5, 1.0]);
        assert_eq!((end(31.7, 6), end(619.0, 6), end(10.0, 5)), (40.0, 800.0, 10.0));
        assert_eq!(linear(0.0, end(619.0, 6), 6), [0.0, 200.0, 400.0, 600.0, 800.0]);
    }

    #[test]
    fn logarithmic_ticks_are_decades_with_two_and_five_where_there_is_room() {
        assert_eq!(logarithmic(0.4, 12.0, 6), [0.5, 1.0, 2.0, 5.0, 10.0]);
        assert_eq!(logarithmic(0.67, 39_000.0, 6), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(logarithmic(1e-9, 1.0, 5), [1e-8, 1e-6, 1e-4, 1e-2, 1.0]);
        assert_eq!(logarithmic(21.0, 49.0, 6), [25.0, 30.0, 35.0, 40.0, 45.0]);
    }

    #[test]
    fn labels_say_no_more_than_they_mean() {
        let shown =
            [0.0, 0.05, 0.5, 2.5, 10.0, 1000.0, 10_000.0, 2e6, 1e12, 1e-8, -40.0].map(label);
        assert_eq!(
            shown,
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
        fn any_ends_have_few_ticks_in_order_between_them(low in 1e-300f64..1e300, factor in 1.0f64..1e12, most in 2usize..12) {
            let high = low * factor;
            // A linear tick may stand off an end by a part of the axis that no picture shows, a
            // logarithmic one by a part of itself.
            let length = high - low;
            let linears = [(linear(0.0, high, most), 0.0, high), (linear(low, high, most), low, length)];
            let linears = linears.map(|(ticks, low, length)| (ticks, low - length * 1e-6, high + length * 1e-6));
            let logarithmic = (logarithmic(low, high, most), low * (1.0 - 1e-6), high * (1.0 + 1e-6));
            for (ticks, least, greatest) in linears.into_iter().chain([logarithmic]) {
                prop_assert!(ticks.len() <= most.max(4), "{ticks:?}");
                prop_assert!(ticks.windows(2).all(|two| two[0] < two[1]), "{ticks:?}");
                prop_assert!(ticks.iter().all(|tick| (least..=greatest).contains(tick)), "{ticks:?}");
            }
            prop_assert!(end(high, most) >= high);
        }

        #[test]
        fn no_number_panics(low: f64, high: f64, most in 0usize..20) {
            let _ = (linear(low, high, most), logarithmic(low, high, most), end(high, most), label(low));
        }
    }
}
