//! Lines of a grid at values that a person would choose.

use crate::units::column::{self, Unit};

/// Lines are at most so many.
const MOST: usize = 6;

/// Round values from 0 on, the last at or above `high`, in the unit that suits it: value and label.
pub fn linear(high: f64, units: &'static [Unit]) -> (Vec<(f64, String)>, &'static str) {
    let (factor, unit) = column::unit([high], units);
    let rough = high / factor / (MOST - 1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.filter(|step| step.is_finite() && *step > 0.0).unwrap_or(1.0);
    let count = (high / factor / step - 1e-9).ceil().clamp(1.0, MOST as f64) as usize;
    let ticks = (0..=count).map(|i| i as f64 * step).map(|value| (value * factor, plain(value)));
    (ticks.collect(), unit)
}

/// Powers between the ends, each with its own unit: of 2 where the units are, else of 10 or 1, 2, 5.
pub fn logarithmic(low: f64, high: f64, units: &'static [Unit]) -> Vec<(f64, String)> {
    let binary = units.get(1).is_some_and(|unit| unit.0 == 1024.0);
    // Above it every power is inside.
    let high = high.min(f64::MAX);
    let base: f64 = if binary { 2.0 } else { 10.0 };
    let (first, last) = (low.log(base).ceil() as i32, high.log(base).floor() as i32);
    let fine = !binary && last - first < 2;
    let every = ((last - first + 1).max(1) as usize).div_ceil(MOST);
    let powers = (first - i32::from(fine)..=last).filter(|power| fine || power.rem_euclid(every as i32) == 0);
    let steps: &[f64] = if fine { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let all = powers.flat_map(|power| steps.iter().map(move |step| step * base.powi(power)));
    all.filter(|value| (low..=high).contains(value)).map(|value| (value, own(value, units))).collect()
}

fn own(value: f64, units: &[Unit]) -> String {
    let (factor, name) = units.iter().rev().find(|unit| value >= unit.0 * 0.9999).or(units.first()).copied().unwrap_or((1.0, ""));
    format!("{} {name}", plain(value / factor))
}

/// Without zeros that say nothing: `2.5`, `10`, `0.02`.
fn plain(value: f64) -> String {
    let text = column::figure(value);
    if text.contains('.') && !text.contains('e') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::column::{PER_SECOND, RATE, TIME};
    use proptest::prelude::*;

    fn labels(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn lines_are_at_round_values() {
        let gib = f64::from(1 << 30);
        let (ticks, unit) = linear(31.7 * gib, RATE);
        assert_eq!((labels(ticks), unit), (["0", "10", "20", "30", "40"].map(String::from).to_vec(), "GiB/s"));
        assert_eq!(labels(linear(1.3e6, PER_SECOND).0), ["0", "0.5", "1", "1.5"]);
        assert_eq!(labels(logarithmic(0.3 * gib, 20.0 * gib, RATE)), ["512 MiB/s", "1 GiB/s", "2 GiB/s", "4 GiB/s", "8 GiB/s", "16 GiB/s"]);
        assert_eq!(labels(logarithmic(90.0, 2.1e6, TIME)), ["100 ns", "1 µs", "10 µs", "100 µs", "1 ms"]);
        assert_eq!(labels(logarithmic(900.0, 25_000.0, TIME)), ["1 µs", "2 µs", "5 µs", "10 µs", "20 µs"]);
    }

    proptest! {
        #[test]
        fn any_ends_have_a_few_lines_in_order(low in 1e-300f64..1e300, factor in 20.0f64..1e12) {
            let high = low * factor;
            for units in [RATE, PER_SECOND, TIME] {
                for ticks in [linear(high, units).0, logarithmic(low, high, units)] {
                    prop_assert!(ticks.len() <= 3 * MOST, "{ticks:?}");
                    prop_assert!(ticks.windows(2).all(|two| two[0].0 < two[1].0), "{ticks:?}");
                }
            }
        }
    }
}
