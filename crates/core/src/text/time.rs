//! Conversion between system time and RFC 3339 text in UTC.
//!
//! The calendar algorithm is Howard Hinnant's ("chrono-Compatible Low-Level Date Algorithms",
//! `days_from_civil` and `civil_from_days`): years begin in March, so the leap day is the last day
//! of a year.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: i64 = 86_400;
/// 9999-12-31T23:59:59Z: RFC 3339 has four digits for a year.
const MAX_SECONDS: i64 = 253_402_300_799;
/// 0000-01-01T00:00:00Z.
const MIN_SECONDS: i64 = -62_167_219_200;

/// Converts days since 1970-01-01 into year, month, day.
fn date_from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u32, day as u32)
}

/// Converts year, month, day into days since 1970-01-01.
fn days_from_date(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Returns the seconds since 1970, rounded down and clamped to what RFC 3339 can express.
fn seconds_since_epoch(time: SystemTime) -> i64 {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).unwrap_or(MAX_SECONDS),
        Err(before) => {
            let before = before.duration();
            let whole = i64::try_from(before.as_secs()).unwrap_or(MAX_SECONDS);
            -whole - i64::from(before.subsec_nanos() > 0)
        }
    };
    seconds.clamp(MIN_SECONDS, MAX_SECONDS)
}

struct Parts {
    year: i64,
    month: u32,
    day: u32,
    hour: i64,
    minute: i64,
    second: i64,
}

fn parts(time: SystemTime) -> Parts {
    let seconds = seconds_since_epoch(time);
    let (year, month, day) = date_from_days(seconds.div_euclid(DAY));
    let second = seconds.rem_euclid(DAY);
    Parts { year, month, day, hour: second / 3600, minute: second / 60 % 60, second: second % 60 }
}

/// Formats a time as `2026-11-21T09:30:11Z`: UTC, whole seconds, years 0 to 9999.
pub fn utc(time: SystemTime) -> String {
    let Parts { year, month, day, hour, minute, second } = parts(time);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Shortens a time written by [`utc`] to `2026-11-21 09:30`; returns other text unchanged.
pub fn to_minute(created: &str) -> String {
    match (created.get(..10), created.get(10..11), created.get(11..16)) {
        (Some(day), Some("T"), Some(time)) => format!("{day} {time}"),
        _ => created.into(),
    }
}

/// Formats how long ago a time written by [`utc`] was: `2 h ago`; after a month, or if it is in the
/// future, its day.
pub fn age(created: &str, now: SystemTime) -> String {
    let ago = parse_utc(created).and_then(|then| now.duration_since(then).ok());
    match ago.map(|ago| ago.as_secs()) {
        Some(0..60) => "just now".into(),
        Some(seconds @ 60..3600) => format!("{} min ago", seconds / 60),
        Some(seconds @ 3600..86_400) => format!("{} h ago", seconds / 3600),
        Some(seconds @ 86_400..2_592_000) => format!("{} d ago", seconds / 86_400),
        _ => to_day(created).into(),
    }
}

/// Shortens a time written by [`utc`] to `2026-11-21`; returns other text unchanged.
pub fn to_day(created: &str) -> &str {
    match (created.get(..10), created.get(10..11)) {
        (Some(day), Some("T")) => day,
        _ => created,
    }
}

/// Formats a time as `20261121-093011` for the id of a session; ids sort like times.
pub fn stamp(time: SystemTime) -> String {
    let Parts { year, month, day, hour, minute, second } = parts(time);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

/// Converts the time at the start of an id, written by [`stamp`], to RFC 3339.
pub fn utc_from_stamp(id: &str) -> Option<String> {
    let date = id.get(..8)?;
    let time = id.get(8..15)?.strip_prefix('-')?;
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        date.get(..4)?,
        date.get(4..6)?,
        date.get(6..)?,
        time.get(..2)?,
        time.get(2..4)?,
        time.get(4..)?
    );
    parse_utc(&text).map(|_| text)
}

/// Parses the format of [`utc`], with a fraction of up to 9 digits allowed; `None` for anything
/// else.
pub fn parse_utc(text: &str) -> Option<SystemTime> {
    let bytes = text.as_bytes();
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let (head, tail) = bytes.split_at_checked(shape.len())?;
    let has_shape = head
        .iter()
        .zip(shape)
        .all(|(byte, form)| if *form == b'd' { byte.is_ascii_digit() } else { byte == form });
    let digits = tail.strip_suffix(b"Z")?;
    if !has_shape || !(digits.is_empty() || digits[0] == b'.' && (2..=10).contains(&digits.len())) {
        return None;
    }
    fn number(digits: &[u8]) -> Option<i64> {
        digits
            .iter()
            .try_fold(0i64, |n, d| d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0')))
    }
    let [year, month, day] = [number(&head[..4])?, number(&head[5..7])?, number(&head[8..10])?];
    let [hour, minute, second] =
        [number(&head[11..13])?, number(&head[14..16])?, number(&head[17..])?];
    let days = days_from_date(year, month, day);
    // A date such as February 30 converts back to another date.
    if date_from_days(days) != (year, month as u32, day as u32)
        || hour > 23
        || minute > 59
        || second > 59
    {
        return None;
    }
    let mut nanos = number(digits.get(1..).unwrap_or_default())?;
    for _ in digits.len()..10 {
        nanos *= if digits.is_empty() { 0 } else { 10 };
    }
    let seconds = days * DAY + hour * 3600 + minute * 60 + second;
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let time =
        if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    time?.checked_add(Duration::from_nanos(nanos.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: i64) -> SystemTime {
        let time = Duration::from_secs(seconds.unsigned_abs());
        if seconds < 0 { UNIX_EPOCH - time } else { UNIX_EPOCH + time }
    }

    #[test]
    fn converts_known_times() {
        // From date -u -d @N.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_795_253_411, "2026-11-21T09:30:11Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (MAX_SECONDS, "9999-12-31T23:59:59Z"),
            (MIN_SECONDS, "0000-01-01T00:00:00Z"),
        ] {
            assert_eq!(utc(at(seconds)), text);
            assert_eq!(parse_utc(text), Some(at(seconds)), "{text}");
        }
        assert_eq!(stamp(at(1_795_253_411)), "20261121-093011");
        assert_eq!(utc(at(MAX_SECONDS + 1)), utc(at(MAX_SECONDS)));
        assert_eq!(
            parse_utc("1970-01-01T00:00:00.25Z"),
            Some(UNIX_EPOCH + Duration::from_millis(250))
        );
        assert_eq!(utc(UNIX_EPOCH - Duration::from_millis(1)), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn ages_are_numbers_or_days() {
        let created = "2026-11-21T09:30:11Z";
        let then = 1_795_253_411;
        for (later, expected) in [
            (0, "just now"),
            (59, "just now"),
            (60, "1 min ago"),
            (3599, "59 min ago"),
            (7200, "2 h ago"),
            (DAY, "1 d ago"),
            (29 * DAY, "29 d ago"),
            (30 * DAY, "2026-11-21"),
            (-5, "2026-11-21"),
        ] {
            assert_eq!(age(created, at(then + later)), expected, "{later}");
        }
        assert_eq!((age("", at(0)), age("yesterday", at(0))), ("".into(), "yesterday".into()));
    }

    #[test]
    fn rejects_invalid_times() {
        for text in [
            "",
            "2026-02-30T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1234567890Z",
            "2026-01-01T00:00:0\u{661}Z",
        ] {
            assert_eq!(parse_utc(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_second_survives_a_round_trip(seconds in MIN_SECONDS..=MAX_SECONDS) {
            let text = utc(at(seconds));
            prop_assert_eq!(text.len(), 20);
            prop_assert_eq!(parse_utc(&text), Some(at(seconds)));
        }

        #[test]
        fn stamps_sort_like_times(a in MIN_SECONDS..=MAX_SECONDS, b in MIN_SECONDS..=MAX_SECONDS) {
            prop_assert_eq!(a.cmp(&b), stamp(at(a)).cmp(&stamp(at(b))));
        }

        #[test]
        fn no_text_panics(text in "[0-9TZ:.\\-]{0,30}|.{0,30}") {
            let _ = parse_utc(&text);
        }
    }
}
