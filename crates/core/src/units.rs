//! Parsing and formatting of numbers: bytes, rates, counts and times.
//!
//! `k`, `m`, `g`, `t` and `KiB` etc. are powers of 1024; `kB`, `MB`, `GB`, `TB` are powers of 1000;
//! plain numbers are bytes.

pub mod column;
mod precision;
mod rate;
pub mod ticks;

pub use precision::Precision;
pub use rate::{Rates, UnknownUnit};

use std::time::Duration;

/// Why a text is not a number of the expected kind. The message says what is accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    #[error(
        "'{0}' is not a size: use bytes or a number with k, m, g, KiB, kB ... (4096, 4k, 1.5m)"
    )]
    Bytes(String),
    #[error("'{0}' is not a count: use an integer, with k, m, g for powers of 1024 (1000, 64k)")]
    Count(String),
    #[error("'{0}' does not fit in 64 bits")]
    TooLarge(String),
    #[error("'{0}' is not a time: use a number with a unit (300ms, 5s, 2m)")]
    Time(String),
    #[error("'{0}' is not a percentage: use a number from 0 to 100, such as 5, 5% or 2.5%")]
    Percent(String),
    #[error("'{0}' is not a speed: use bytes per second (3500MB/s, 2GiB/s, 500m)")]
    Rate(String),
    #[error("'{0}' is not a number per second: use 500, 10k or 1.5m (thousands, millions)")]
    PerSecond(String),
    #[error(
        "'{0}' is not a rate: use 500 or 10k (operations per second, up to 100m), or 100MB/s (bytes, up to 1TB/s); --rated is the vendor's speed"
    )]
    Pace(String),
}

/// Returns whether a number is 0: serde leaves it out.
pub fn is_zero<N: PartialEq + Default>(number: &N) -> bool {
    *number == N::default()
}

const POWERS: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kib", 1 << 10),
    ("kb", 1000),
    ("m", 1 << 20),
    ("mib", 1 << 20),
    ("mb", 1_000_000),
    ("g", 1 << 30),
    ("gib", 1 << 30),
    ("gb", 1_000_000_000),
    ("t", 1 << 40),
    ("tib", 1 << 40),
    ("tb", 1_000_000_000_000),
];

/// Splits a text into number and unit, the unit in lower case.
fn split(text: &str) -> (String, String) {
    let text = text.trim();
    let end =
        text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    (text[..end].replace('_', ""), text[end..].trim().to_ascii_lowercase())
}

/// Returns `number * factor` if the product is an integer, `Err` if it does not fit; exact for
/// integers.
fn scale(number: &str, factor: u64) -> Option<Result<u64, ()>> {
    if let Ok(integer) = number.parse::<u64>() {
        return Some(integer.checked_mul(factor).ok_or(()));
    }
    if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
        return Some(Err(()));
    }
    let value = number.parse::<f64>().ok()? * factor as f64;
    if value.fract() != 0.0 || factor == 1 {
        return None;
    }
    Some(if value < 9e18 { Ok(value as u64) } else { Err(()) })
}

/// Parses a number with one of these units; `wrong` makes the error of any other text.
fn parse_scaled(
    text: &str,
    is_unit: impl Fn(&str) -> bool,
    wrong: fn(String) -> UnitError,
) -> Result<u64, UnitError> {
    let (number, unit) = split(text);
    let known = POWERS.iter().find(|(name, _)| *name == unit && is_unit(name));
    match known.and_then(|(_, factor)| scale(&number, *factor)) {
        Some(Ok(value)) => Ok(value),
        Some(Err(())) => Err(UnitError::TooLarge(text.into())),
        None => Err(wrong(text.into())),
    }
}

/// Parses a size in bytes such as `4k`, `512`, `1.5m`, `4KiB`, `4kB`.
pub fn parse_bytes(text: &str) -> Result<u64, UnitError> {
    parse_scaled(text, |_| true, UnitError::Bytes)
}

/// Parses a speed such as `3500MB/s` or `2g` into bytes per second, above 0.
pub fn parse_rate(text: &str) -> Result<u64, UnitError> {
    let bytes = text.trim().trim_end_matches("/s").trim();
    parse_bytes(bytes).ok().filter(|rate| *rate > 0).ok_or_else(|| UnitError::Rate(text.into()))
}

/// Parses operations per second, where `k` and `m` are thousands and millions as vendors write.
pub fn parse_per_second(text: &str) -> Result<u64, UnitError> {
    let bare = text.trim().trim_end_matches("/s").to_ascii_lowercase();
    let number = bare.trim_end_matches(['k', 'm']);
    let factor = match &bare[number.len()..] {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        _ => f64::NAN,
    };
    match number.parse::<f64>().map(|value| value * factor) {
        Ok(value) if (0.0..1e18).contains(&value) && value.fract() == 0.0 => Ok(value as u64),
        _ => Err(UnitError::PerSecond(text.into())),
    }
}

/// Formats operations per second as [`parse_per_second`] reads them: `10k`, `1500`.
pub fn short_per_second(operations: u64) -> String {
    match operations {
        0 => "0".into(),
        m if m % 1_000_000 == 0 => format!("{}M", m / 1_000_000),
        k if k % 1000 == 0 => format!("{}k", k / 1000),
        plain => plain.to_string(),
    }
}

/// Parses a count such as `1000` or `64k` (powers of 1024, like block counts).
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    parse_scaled(text, |unit| unit != "b", UnitError::Count)
}

/// Parses a time with its unit: `ns`, `us`, `ms`, `s`, `m`, `h`.
pub fn parse_time(text: &str) -> Result<Duration, UnitError> {
    let (number, unit) = split(text);
    let seconds = match unit.as_str() {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(UnitError::Time(text.into())),
    };
    let value = number.parse::<f64>().map_err(|_| UnitError::Time(text.into()))? * seconds;
    // No run takes longer than a year, and longer times could overflow a Duration.
    if value > 366.0 * 86_400.0 {
        Err(UnitError::TooLarge(text.into()))
    } else {
        Ok(Duration::from_secs_f64(value))
    }
}

/// Parses a percentage such as `5` or `5%` into a share, 0.05.
pub fn parse_percent(text: &str) -> Result<f64, UnitError> {
    let text = text.trim();
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value / 100.0),
        _ => Err(UnitError::Percent(text.into())),
    }
}

/// Formats a number with three significant digits: `3.05`, `30.5`, `305`, `3050`.
pub fn three_digits(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        "-".into()
    } else if size >= 99.95 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size == 0.0 {
        "0".into()
    } else {
        format!("{value:.2}")
    }
}

const BINARY: &[&str] = &["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/// Formats a size: `4 KiB`, `1.50 MiB`; exact multiples without decimals.
pub fn show_bytes(bytes: u64) -> String {
    let mut power = 0;
    while power + 1 < BINARY.len() && bytes >> (10 * (power + 1)) != 0 {
        power += 1;
    }
    let unit = 1u64 << (10 * power);
    if bytes.is_multiple_of(unit) {
        format!("{} {}", bytes / unit, BINARY[power])
    } else {
        format!("{} {}", three_digits(bytes as f64 / unit as f64), BINARY[power])
    }
}

/// Returns the shortest argument that parses back to exactly `bytes`: `4k`, `1m`, `1000`.
pub fn short_bytes(bytes: u64) -> String {
    for (power, unit) in [(40, "t"), (30, "g"), (20, "m"), (10, "k")] {
        if bytes != 0 && bytes.is_multiple_of(1 << power) {
            return format!("{}{unit}", bytes >> power);
        }
    }
    bytes.to_string()
}

/// Formats bytes per second in binary units: `2.71 GiB/s`.
pub fn show_rate(bytes_per_second: f64) -> String {
    Precision::Full.rate(bytes_per_second)
}

/// Formats a number with a decimal prefix: `3.31 M`, `330 k`, `12`.
pub fn show_count(value: f64) -> String {
    Precision::Full.count(value)
}

/// Formats nanoseconds: `302 ns`, `3.90 µs`, `1.20 ms`, `2.50 s`.
pub fn show_nanos(nanos: f64) -> String {
    Precision::Full.nanos(nanos)
}

/// Formats a waiting time: `0.4 s`, `48 s`, `2 min 05 s`, `10 min`, `1 h 10 min`.
pub fn show_wait(time: Duration) -> String {
    let exact = time.as_secs_f64();
    let seconds = exact.round() as u64;
    match seconds {
        _ if exact > 0.0 && exact < 0.95 => format!("{:.1} s", exact.max(0.1)),
        0..=99 => format!("{seconds} s"),
        100..=5999 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        100..=5999 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Formats an estimated time: `48 s`, `7 min`, `1 h 25 min`, `3 h`.
pub fn show_about(time: Duration) -> String {
    let minutes = (time.as_secs_f64() / 60.0).round() as u64;
    match minutes {
        0..=1 => show_wait(time),
        2..=59 => format!("{minutes} min"),
        _ => match (minutes + 2) / 5 * 5 {
            whole if whole % 60 == 0 => format!("{} h", whole / 60),
            some => format!("{} h {:02} min", some / 60, some % 60),
        },
    }
}

/// Returns the shortest argument that parses back to exactly `time`: `300ms`, `5s`.
pub fn short_time(time: Duration) -> String {
    let nanos = time.as_nanos();
    for (factor, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
        if nanos != 0 && nanos.is_multiple_of(factor) {
            return format!("{}{unit}", nanos / factor);
        }
    }
    format!("{nanos}ns")
}

/// Formats a share as a percentage: `99.3 %`, `100 %`, `0 %`; never rounded up to 100 or down to 0.
pub fn show_share(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 99.9 && percent < 100.0 {
        ">99.9 %".into()
    } else if percent > 0.0 && percent < 0.1 {
        "<0.1 %".into()
    } else if percent.fract().abs() < 0.05 || percent.fract().abs() > 0.95 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// Formats a percentage in two digits, without its sign: `1.5`, `12`.
pub fn show_percent(percent: f64) -> String {
    if percent >= 9.95 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

/// Formats a goal of precision as it was requested: `0.01 %`, `2 %`.
pub fn show_goal(goal: f64) -> String {
    format!("{} %", (goal * 1e4).round() / 100.0)
}

/// Formats a number of things, by the name of one: `1 cell`, `5 cells`.
pub fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {}", plural(one)) }
}

/// Names one of several processes: `rank 3 on node7`, or `rank 3` where its machine has no name.
pub fn show_rank(rank: u32, node: &str) -> String {
    if node.is_empty() { format!("rank {rank}") } else { format!("rank {rank} on {node}") }
}

/// Returns `a`, `a and b`, `a, b and c`; `a, b and 3 more` where `count` is larger than the number
/// of names. `between` stands between names that hold commas themselves.
pub fn join_names<S: std::borrow::Borrow<str>>(names: &[S], count: usize, between: &str) -> String {
    match (names, count.saturating_sub(names.len())) {
        ([], _) => String::new(),
        ([one], 0) => one.borrow().into(),
        ([head @ .., last], 0) => format!("{} and {}", head.join(between), last.borrow()),
        (_, more) => format!("{} and {more} more", names.join(between)),
    }
}

/// Returns `28.7 to 30.1 GiB/s`: the unit once where both have it.
pub fn join_range(low: &str, high: &str) -> String {
    match (low.split_once(' '), high.split_once(' ')) {
        _ if low == high => high.into(),
        (Some((number, unit)), Some((_, other))) if unit == other => {
            format!("{number} to {high}")
        }
        _ => format!("{low} to {high}"),
    }
}

/// Returns the plural of a noun: `cells`, `batches`, `queries`.
fn plural(one: &str) -> String {
    match one.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u'])) {
        Some(stem) => format!("{stem}ies"),
        None if one.ends_with("ch") || one.ends_with('s') || one.ends_with('x') => {
            format!("{one}es")
        }
        None => format!("{one}s"),
    }
}

/// Returns the verb that belongs to a number of things: `is` or `are`, `has` or `have`.
pub fn verb<'a>(count: usize, one: &'a str, several: &'a str) -> &'a str {
    if count == 1 { one } else { several }
}

/// Formats a number of trials: `1 trial`, `5 trials`.
pub fn show_trials(count: usize) -> String {
    counted(count, "trial")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counted_nouns_agree_with_their_number() {
        for (count, one, wanted) in [
            (1, "cell", "1 cell"),
            (0, "cell", "0 cells"),
            (2, "batch", "2 batches"),
            (3, "query", "3 queries"),
            (4, "key", "4 keys"),
            (21, "process", "21 processes"),
        ] {
            assert_eq!(counted(count, one), wanted);
        }
        assert_eq!((verb(1, "is", "are"), verb(2, "is", "are")), ("is", "are"));
    }

    #[test]
    fn parses_sizes_with_the_documented_powers() {
        for (text, bytes) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("1.5m", 1_572_864),
            ("7", 7),
            ("1 MiB", 1 << 20),
            ("2g", 2 << 30),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_sizes() {
        for text in ["", "k", "4x", "-1", "1.5", "0x10", "4 k k", "1.0000001k"] {
            assert!(matches!(parse_bytes(text), Err(UnitError::Bytes(_))), "{text}");
        }
        for text in ["99999999999999999999", "20000000000g", "1e3"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert!(matches!(parse_bytes("99999999999999999999"), Err(UnitError::TooLarge(_))));
    }

    #[test]
    fn names_join_in_a_sentence() {
        for (names, count, wanted) in [
            (&[][..], 0, ""),
            (&["a"], 1, "a"),
            (&["a", "b"], 2, "a and b"),
            (&["a", "b", "c"], 3, "a, b and c"),
            (&["a", "b"], 5, "a, b and 3 more"),
        ] {
            assert_eq!(join_names(names, count, ", "), wanted);
        }
    }

    #[test]
    fn times_need_a_unit() {
        assert_eq!(parse_time("300ms"), Ok(Duration::from_millis(300)));
        assert_eq!(parse_time("0.3s"), Ok(Duration::from_millis(300)));
        assert_eq!(parse_time("2m"), Ok(Duration::from_secs(120)));
        assert!(
            parse_time("5").is_err()
                && parse_time("-5s").is_err()
                && parse_time("1e99s").is_err()
                && parse_time("99999999999h").is_err()
        );
    }

    #[test]
    fn numbers_are_shown_with_three_digits() {
        assert_eq!(show_rate(2.71 * 1024.0 * 1024.0 * 1024.0), "2.71 GiB/s");
        assert_eq!(show_bytes(4096), "4 KiB");
        assert_eq!(show_bytes(u64::MAX), "16384 PiB");
        assert_eq!(show_nanos(302.4), "302 ns");
        assert_eq!(show_nanos(999.9), "1.00 µs");
        assert_eq!(show_count(3_310_000.0), "3.31 M");
        assert_eq!(show_share(0.9999), ">99.9 %");
        assert_eq!(show_share(1.0), "100 %");
        assert_eq!([0.04, 9.94, 9.96, 100.0].map(show_percent), ["0.0", "9.9", "10", "100"]);
        assert_eq!(show_wait(Duration::from_secs(125)), "2 min 05 s");
        assert_eq!(show_wait(Duration::from_secs(600)), "10 min");
        assert_eq!(show_wait(Duration::from_millis(400)), "0.4 s");
        assert_eq!(show_wait(Duration::from_millis(960)), "1 s");
        assert_eq!(show_wait(Duration::ZERO), "0 s");
        let about =
            [48, 430, 5162, 3601, 7 * 3600].map(|time| show_about(Duration::from_secs(time)));
        assert_eq!(about, ["48 s", "7 min", "1 h 25 min", "1 h", "7 h"]);
        assert_eq!(three_digits(f64::NAN), "-");
    }

    proptest! {
        #[test]
        fn short_forms_parse_back(bytes: u64, nanos in 0u64..1 << 50) {
            prop_assert_eq!(parse_bytes(&short_bytes(bytes)), Ok(bytes));
            let time = Duration::from_nanos(nanos);
            let back = parse_time(&short_time(time)).unwrap();
            prop_assert!(back.abs_diff(time) <= Duration::from_nanos(1 + nanos / (1 << 50)));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = (parse_bytes(&text), parse_count(&text));
            let _ = (parse_time(&text), parse_percent(&text));
        }

        #[test]
        fn any_number_can_be_shown(value: f64, bytes: u64) {
            let _ = (show_rate(value), show_count(value), show_nanos(value));
            let _ = (show_share(value), show_bytes(bytes));
        }
    }
}
