//! Steps to a larger or smaller value of a numeric setting.

use std::time::Duration;

use super::slider::next_power;
use crate::plan::{Range, RangeOf, Rate, Rates};
use crate::units::{parse_time, short_bytes, short_per_second, short_time};

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueStep {
    To(String),
    /// Clears the value, so that the default applies.
    Unset,
    Stay,
}

const TRIALS: &[u64] = &[1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100];
const COUNTS: &[u64] = &[
    0,
    1,
    1 << 10,
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
    16 << 20,
    64 << 20,
    128 << 20,
];
/// Milliseconds.
const BUDGETS: &[u64] = &[
    1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 50_000, 60_000, 90_000, 120_000, 180_000, 300_000,
    600_000, 1_800_000, 3_600_000,
];
const TRIAL_TIMES: &[u64] = &[1, 3, 10, 30, 100, 300, 1_000, 3_000, 5_000, 10_000, 15_000, 30_000];

/// Operations per second.
const RATES: &[u64] =
    &[10, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000];
/// Milliseconds.
const PAUSES: &[u64] = &[1, 2, 5, 10, 20, 50, 100, 1_000];

/// Returns the step from `text`, or from `usual` (the value that applies) if none is set.
pub fn step(name: &str, text: Option<&str>, usual: Option<&str>, up: bool) -> ValueStep {
    let from = text.or(usual);
    match name {
        "threads" => {
            step_by_doubling(from, (1, crate::plan::Job::MAX_THREADS.into()), up, RangeOf::Count)
        }
        "depth" => {
            step_by_doubling(from, (1, crate::plan::Job::MAX_DEPTH.into()), up, RangeOf::Count)
        }
        "size" => step_by_doubling(from, (4 << 10, 1 << 50), up, RangeOf::Bytes),
        "trials" => step_along(TRIALS, parse_count_end(from, up), up, show_number),
        "count" => step_along(COUNTS, parse_count_end(from, up), up, short_bytes),
        "budget" => step_along(BUDGETS, parse_time_end(from, up), up, show_millis),
        "trial-time" => step_along(TRIAL_TIMES, parse_time_end(from, up), up, show_millis),
        "rate" => match parse_rate_end(from, up) {
            Ok(rate) => step_along(RATES, rate, up, short_per_second),
            Err(()) => ValueStep::Stay,
        },
        "think" => step_along(PAUSES, parse_time_end(from, up), up, show_millis),
        "seed" => match (parse_count_end(from, up), up) {
            (None | Some(0), false) => ValueStep::Unset,
            (Some(seed), false) => ValueStep::To((seed - 1).to_string()),
            (seed, true) => ValueStep::To(seed.map_or(0, |s| s + 1).to_string()),
        },
        _ => ValueStep::Stay,
    }
}

fn show_number(value: u64) -> String {
    value.to_string()
}

fn show_millis(value: u64) -> String {
    short_time(Duration::from_millis(value))
}

/// Returns the end of a range that a step starts from.
fn range_end(values: &[u64], up: bool) -> Option<u64> {
    if up { values.iter().copied().max() } else { values.iter().copied().min() }
}

fn parse_count_end(text: Option<&str>, up: bool) -> Option<u64> {
    range_end(&Range::parse(text?, RangeOf::Count).ok()?.values, up)
}

fn parse_time_end(text: Option<&str>, up: bool) -> Option<u64> {
    let text = text?;
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let time = parse_time(if up { high } else { low }).ok()?;
    Some(time.as_millis() as u64)
}

/// Returns the end of a range of operations per second.
///
/// # Errors
/// It is in bytes.
fn parse_rate_end(text: Option<&str>, up: bool) -> Result<Option<u64>, ()> {
    let Some(rates) = text.and_then(|text| Rates::parse(text).ok()) else { return Ok(None) };
    let operations = rates.values.iter().map(|rate| match rate {
        Rate::Operations(operations) => Ok(*operations),
        Rate::Bytes(_) => Err(()),
    });
    Ok(range_end(&operations.collect::<Result<Vec<_>, _>>()?, up))
}

fn step_by_doubling(
    text: Option<&str>,
    (low, high): (u64, u64),
    up: bool,
    of: RangeOf,
) -> ValueStep {
    let Some(range) = text.and_then(|text| Range::parse(text, of).ok()) else {
        return ValueStep::Stay;
    };
    let Some(from) = range_end(&range.values, up) else { return ValueStep::Stay };
    let next = next_power(from, up).clamp(low, high);
    let same = range.is_single() && next == from;
    match of {
        _ if same => ValueStep::Stay,
        RangeOf::Bytes => ValueStep::To(short_bytes(next)),
        RangeOf::Count => ValueStep::To(next.to_string()),
    }
}

/// Returns the next value of a list; a step below the first clears the setting.
fn step_along(list: &[u64], from: Option<u64>, up: bool, show: fn(u64) -> String) -> ValueStep {
    let next = match (from, up) {
        (None, true) => list.first(),
        (None, false) => return ValueStep::Stay,
        (Some(now), true) => list.iter().find(|v| **v > now),
        (Some(now), false) => list.iter().rev().find(|v| **v < now),
    };
    match next {
        Some(next) => ValueStep::To(show(*next)),
        None if up => ValueStep::Stay,
        None => ValueStep::Unset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Settings;

    #[test]
    fn steps_lead_to_usual_values() {
        let to = |text: &str| ValueStep::To(text.into());
        for (name, text, up, wanted) in [
            ("threads", Some("1"), true, to("2")),
            ("threads", Some("1"), false, ValueStep::Stay),
            ("threads", Some("1,2,8"), true, to("16")),
            ("threads", Some("2..8"), false, to("1")),
            ("threads", Some("1024"), true, ValueStep::Stay),
            ("threads", Some("6"), true, to("8")),
            ("threads", Some("6"), false, to("4")),
            ("depth", Some("4096"), true, ValueStep::Stay),
            ("trials", None, true, to("1")),
            ("trials", None, false, ValueStep::Stay),
            ("trials", Some("1"), false, ValueStep::Unset),
            ("trials", Some("4"), true, to("5")),
            ("count", None, true, to("0")),
            ("count", Some("0"), true, to("1")),
            ("count", Some("64m"), true, to("128m")),
            ("budget", Some("50s"), true, to("60s")),
            ("budget", Some("90s"), false, to("60s")),
            ("trial-time", Some("5s..15s"), true, to("30s")),
            ("trial-time", Some("300ms"), false, to("100ms")),
            ("rate", None, true, to("10")),
            ("rate", Some("1k..8k"), true, to("10k")),
            ("rate", Some("10"), false, ValueStep::Unset),
            ("rate", Some("1MB/s"), true, ValueStep::Stay),
            ("think", Some("5ms"), true, to("10ms")),
            ("size", Some("512m"), true, to("1g")),
            ("size", Some("512m"), false, to("256m")),
            ("seed", None, true, to("0")),
            ("seed", Some("0"), false, ValueStep::Unset),
            ("nothing", Some("1"), true, ValueStep::Stay),
        ] {
            assert_eq!(step(name, text, None, up), wanted, "{name} {text:?} {up}");
        }
    }

    #[test]
    fn every_step_can_be_set() {
        for name in ["threads", "depth", "size", "trials", "count", "budget", "trial-time", "seed"]
        {
            for up in [true, false] {
                let mut text: Option<String> = None;
                for _ in 0..60 {
                    match step(
                        name,
                        text.as_deref(),
                        Some(if name.contains('t') && name != "count" { "1s" } else { "8" }),
                        up,
                    ) {
                        ValueStep::To(next) => {
                            Settings::default()
                                .set(name, &next)
                                .unwrap_or_else(|e| panic!("{name} {next}: {e}"));
                            text = Some(next);
                        }
                        _ => break,
                    }
                }
            }
        }
    }
}
