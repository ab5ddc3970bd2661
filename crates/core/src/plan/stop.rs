//! The conditions that end a watch before its time (`--stop-if`).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{Condition, Metric, SettingError};
use crate::units;

/// Something that must not happen within a window of time: `p99>50ms for 10s`.
#[derive(Debug, Clone, PartialEq)]
pub struct StopCondition {
    /// This is to hold in each window: the opposite of what was written.
    pub holds: Condition,
    pub window: Duration,
    /// As it was written, with one space around `for`.
    text: String,
}

impl StopCondition {
    /// Windows from a second, as latencies are logged by tenths of it, to an hour.
    const SHORTEST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(3600);

    /// Returns what ends a watch when `holds` does not hold for that long.
    pub fn opposite(holds: &Condition, window: Duration) -> StopCondition {
        let text = format!("{holds} for {}", units::short_time(window));
        StopCondition { holds: holds.clone(), window, text }
    }

    /// Parses a list with commas.
    pub(super) fn parse_list(text: &str) -> Result<Vec<StopCondition>, SettingError> {
        text.split(',').map(str::parse).collect()
    }
}

impl fmt::Display for StopCondition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for StopCondition {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<StopCondition, SettingError> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let wrong = |why: &str| SettingError::Value(format!("'{text}': {why}"));
        let (condition, window) = text
            .split_once("for")
            .ok_or_else(|| wrong("what stops a watch has a time: p99>50ms for 10s"))?;
        let time = units::parse_time(window)?;
        if !(StopCondition::SHORTEST..=StopCondition::LONGEST).contains(&time) {
            return Err(wrong("the time is from 1s to 1h: p99>50ms for 10s"));
        }
        let (name, bound) = condition.split_at(condition.find(['<', '>']).unwrap_or(0));
        let (is_latency, opposite) = match bound.strip_prefix(">=") {
            Some(bound) => (true, format!("{name}<{bound}")),
            None => match (bound.strip_prefix("<="), bound.strip_prefix('>')) {
                (Some(bound), _) => (false, format!("{name}>{bound}")),
                (None, Some(bound)) => (true, format!("{name}<={bound}")),
                (None, None) => (false, format!("{name}>={}", bound.trim_start_matches('<'))),
            },
        };
        if bound.is_empty() || name.is_empty() {
            return Err(wrong("a condition has a figure and > or <: p99>50ms for 10s"));
        }
        let metric: Metric = name.parse()?;
        if metric != Metric::Iops && !metric.is_latency() || metric.is_latency() != is_latency {
            return Err(wrong(
                "a watch is stopped by a high latency (p50, p90, p99, p99.9, max) or a low rate: \
                 p99>50ms for 10s, iops<50 for 1m",
            ));
        }
        let text = format!("{condition} for {window}");
        Ok(StopCondition { holds: opposite.parse()?, window: time, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_stop_are_read() {
        for (text, holds, seconds, shown) in [
            ("p99>50ms for 10s", "p99<=50ms", 10, "p99>50ms for 10s"),
            (" p50 >= 0ns for  2s", "p50<0ns", 2, "p50>=0ns for 2s"),
            ("max>1sfor1m", "max<=1s", 60, "max>1s for 1m"),
            ("iops<50 for 1h", "iops>=50", 3600, "iops<50 for 1h"),
            ("iops<=50 for 1h", "iops>50", 3600, "iops<=50 for 1h"),
        ] {
            let stop: StopCondition = text.parse().unwrap();
            assert_eq!((stop.holds.to_string(), stop.window.as_secs()), (holds.into(), seconds));
            assert_eq!(stop.to_string(), shown);
            assert_eq!(stop.to_string().parse(), Ok(stop));
        }
        assert_eq!(StopCondition::parse_list("p99>1s for 5s,max>2s for 5s").unwrap().len(), 2);
    }

    #[test]
    fn invalid_stops_show_valid_ones() {
        for (text, wanted) in [
            ("p99>50ms", "has a time: p99>50ms for 10s"),
            ("p99>50ms for", "is not a time"),
            ("p99>50ms for 10ms", "from 1s to 1h"),
            ("p99>50ms for 2h", "from 1s to 1h"),
            ("p99<50ms for 10s", "stopped by a high latency"),
            ("iops>50 for 10s", "stopped by a high latency"),
            ("commits<50 for 10s", "stopped by a high latency"),
            ("p99=50ms for 10s", "has a figure and"),
            (">50ms for 10s", "has a figure and"),
            ("p98>50ms for 10s", "did you mean"),
            ("p99>50 for 10s", "is not a time"),
            ("p99>=>50ms for 10s", "is not a time"),
            ("", "has a time"),
        ] {
            let error = StopCondition::parse_list(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
