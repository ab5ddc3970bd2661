//! Parsing of an option's text into the value of a setting.

use std::time::Duration;

use super::{
    Backends, Choice, Condition, Job, Range, RangeError, RangeOf, SettingError, TrialTime, Unknown,
    Until,
};
use crate::units;

pub(super) fn bad<T>(text: &str, wanted: &str) -> Result<T, SettingError> {
    Err(SettingError::Value(format!("'{text}' is not {wanted}")))
}

pub(super) fn backends(text: &str) -> Result<Backends, SettingError> {
    if text.trim() == "all" {
        return Ok(Backends::All);
    }
    let mut choices = Vec::new();
    for item in text.split(',') {
        let choice = Choice::parse(item)?;
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    Ok(Backends::These(choices))
}

pub(super) fn block_sizes(text: &str) -> Result<Option<Range>, SettingError> {
    // `auto` is the preset's own range.
    if text.trim() == "auto" { Ok(None) } else { Ok(Some(Range::parse(text, RangeOf::Bytes)?)) }
}

/// Parses sizes, or `free`.
pub(super) fn sizes(text: &str) -> Result<Range, SettingError> {
    if text.trim() == "free" {
        return Ok(Range { text: "free".into(), values: vec![Range::FREE] });
    }
    Ok(Range::parse(text, RangeOf::Bytes)?)
}

pub(super) fn some_names<T: std::str::FromStr<Err = Unknown> + PartialEq>(
    text: &str,
) -> Result<Vec<T>, SettingError> {
    let mut names: Vec<T> = Vec::new();
    for item in text.split(',') {
        let name = item.parse()?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Returns `70`, `70%`, `0,30,50`, `0..100+25`.
pub(super) fn percents(text: &str) -> Result<Range, SettingError> {
    percentages(text, 0..=100, "a percentage of reads from 0 to 100")
}

/// Returns the percentage in `70` or `70%`.
pub(super) fn percent(text: &str) -> Result<u8, SettingError> {
    let number = text.trim();
    match number.strip_suffix('%').unwrap_or(number).trim_end().parse() {
        Ok(percent) if percent <= 100 => Ok(percent),
        _ => bad(text, "a percentage from 0 to 100"),
    }
}

/// Parses how many times a file is written.
pub(super) fn times(text: &str) -> Result<u8, SettingError> {
    match text.trim().parse() {
        Ok(times) if (1..=100).contains(&times) => Ok(times),
        _ => bad(text, "a number of times from 1 to 100"),
    }
}

/// Returns `50`, `50,100,150`, `50%`; more than ten times the memory is a typing error.
pub(super) fn shares(text: &str) -> Result<Range, SettingError> {
    percentages(text, 1..=1000, "a percentage of the memory from 1 to 1000")
}

/// Returns `25,50,100`: percentages of the full speed of a neighbour.
pub(super) fn neighbour_shares(text: &str) -> Result<Range, SettingError> {
    percentages(text, 1..=100, "a percentage of the full speed from 1 to 100")
}

fn percentages(
    text: &str,
    within: std::ops::RangeInclusive<u64>,
    wanted: &str,
) -> Result<Range, SettingError> {
    let plain: String = text.chars().filter(|c| *c != '%').collect();
    match Range::parse(&plain, RangeOf::Count) {
        Ok(range) if range.values.iter().all(|value| within.contains(value)) => Ok(range),
        _ => bad(text, wanted),
    }
}

pub(super) fn some_of(text: &str, most: u64) -> Result<Range, SettingError> {
    let range = Range::parse(text, RangeOf::Count)?;
    match range.values.iter().all(|v| (1..=most).contains(v)) {
        true => Ok(range),
        false => bad(text, &format!("between 1 and {most}")),
    }
}

pub(super) fn switch(text: &str) -> Result<bool, SettingError> {
    match text {
        "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        _ => bad(text, "yes or no"),
    }
}

/// Parses `yes`, `no`, or both as `no,yes`.
pub(super) fn switches(text: &str) -> Result<Vec<bool>, SettingError> {
    let each = text.split(',').map(|one| switch(one.trim()));
    let mut all: Vec<bool> = each.collect::<Result<_, _>>()?;
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Returns one value as it is in a preset, and several as they are in an option.
pub(super) fn show_switches(all: &Vec<bool>) -> String {
    match all.as_slice() {
        [one] => one.to_string(),
        _ => "no,yes".into(),
    }
}

pub(super) fn trials(text: &str) -> Result<u32, SettingError> {
    match text.trim().parse() {
        Ok(n) if (1..=1_000_000).contains(&n) => Ok(n),
        _ => bad(text, "a number of trials from 1 to 1000000"),
    }
}

/// Parses `answer`, `steady`, or a share in percent, `5%` or `0.5`.
pub(super) fn until(text: &str) -> Result<Until, SettingError> {
    let text = text.trim();
    match text {
        "answer" => return Ok(Until::Answer),
        "steady" => return Ok(Until::Steady),
        _ => {}
    }
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    match number.parse::<f64>().map(|percent| (percent * 100.0).round()) {
        Ok(hundredths) if (1.0..=10_000.0).contains(&hundredths) => {
            Ok(Until::Within(hundredths as u32))
        }
        _ => bad(text, "answer, steady or a percentage from 0.01 to 100"),
    }
}

pub(super) fn positive(text: &str) -> Result<Duration, SettingError> {
    let time = units::parse_time(text)?;
    if time.is_zero() { bad(text, "a time above 0") } else { Ok(time) }
}

/// Parses a condition on the latency.
pub(super) fn latency_target(text: &str) -> Result<Condition, SettingError> {
    let condition: Condition = text.parse()?;
    match condition.metric.is_latency() && condition.bound > 0 {
        true => Ok(condition),
        false => bad(text, "a condition on the response time, such as p99<5ms"),
    }
}

/// Parses how long a watch takes.
pub(super) fn watch(text: &str) -> Result<Duration, SettingError> {
    const DAY: Duration = Duration::from_secs(86_400);
    match units::parse_time(text)? {
        time if (Duration::from_secs(10)..=30 * DAY).contains(&time) => Ok(time),
        _ => bad(text, "a time from 10s to 720h"),
    }
}

/// Parses the pause after an operation.
pub(super) fn pause(text: &str) -> Result<Duration, SettingError> {
    match units::parse_time(text)? {
        time if time <= Job::MAX_THINK => Ok(time),
        _ => bad(text, "a time up to 1h"),
    }
}

pub(super) fn trial_time(text: &str) -> Result<TrialTime, SettingError> {
    let (low, high) = match text.split_once("..") {
        Some((low, high)) => (positive(low)?, positive(high)?),
        None => (positive(text)?, positive(text)?),
    };
    if low > high {
        return Err(RangeError::Backwards(text.into()).into());
    }
    Ok(TrialTime { low, high })
}

pub(super) fn seed(text: &str) -> Result<u64, SettingError> {
    match text.trim().parse::<u64>() {
        Ok(seed) if seed < 1 << 53 => Ok(seed),
        _ => bad(text, "a seed: a whole number from 0 to 9007199254740991"),
    }
}

/// Splits a list at commas; the registry checks the names.
pub(super) fn split_list(text: &str) -> Result<Vec<String>, SettingError> {
    let words: Vec<String> = text.split(',').map(|word| word.trim().to_string()).collect();
    if words.iter().any(String::is_empty) { bad(text, "a list of names") } else { Ok(words) }
}
