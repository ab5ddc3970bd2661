//! The expectations of the figures of a run (`--expect`): conditions, written in place or
//! named by a profile.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::kinds::names;
use super::{Job, Op, SettingError, nearest};
use crate::units;

names! {
    /// The figure that a condition is about.
    "figure" Metric {
        P50 = "p50",
        P90 = "p90",
        P99 = "p99",
        P999 = "p99.9",
        /// The longest latency.
        Max = "max",
        Throughput = "throughput",
        /// Operations per second.
        Iops = "iops",
        /// Commits per second: writes that each waited for the device.
        Commits = "commits",
    }
}

impl Metric {
    /// Returns which quantile of the latency it is; `None` for other metrics.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Metric::P50 => Some(0.5),
            Metric::P90 => Some(0.9),
            Metric::P99 => Some(0.99),
            Metric::P999 => Some(0.999),
            Metric::Max | Metric::Throughput | Metric::Iops | Metric::Commits => None,
        }
    }

    /// Returns whether it is a latency, so that less is better.
    pub fn is_latency(self) -> bool {
        self == Metric::Max || self.quantile().is_some()
    }

    /// Returns whether a job has this figure.
    pub fn is_of(self, job: &Job) -> bool {
        match self {
            Metric::Commits => job.commits(),
            Metric::Throughput => job.op != Op::Seek,
            _ => true,
        }
    }

    /// Formats a figure with its unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Metric::Throughput => units::show_rate(value),
            Metric::Iops | Metric::Commits => format!("{}/s", units::show_count(value)),
            _ => units::show_nanos(value),
        }
    }

    /// Parses a bound: nanoseconds, bytes per second or operations per second.
    fn parse_bound(self, text: &str) -> Result<u64, SettingError> {
        match self {
            Metric::Throughput => Ok(units::parse_rate(text)?),
            Metric::Iops | Metric::Commits => Ok(units::parse_per_second(text)?),
            _ => {
                let time = units::parse_time(text)?;
                Ok(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
            }
        }
    }
}

/// A bound on a figure: `p99<10ms`, `iops>=10k`, `>=500MB/s`.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub metric: Metric,
    /// Nanoseconds, bytes per second, or operations per second.
    pub bound: u64,
    /// The bound itself does not hold.
    pub strict: bool,
    /// As it was written, without spaces.
    text: String,
}

impl Condition {
    /// Returns whether a figure keeps to it.
    pub fn holds(&self, value: f64) -> bool {
        let bound = self.bound as f64;
        match (self.metric.is_latency(), self.strict) {
            (true, true) => value < bound,
            (true, false) => value <= bound,
            (false, true) => value > bound,
            (false, false) => value >= bound,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Condition {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Condition, SettingError> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let wrong = |why: &str| SettingError::Value(format!("'{text}': {why}"));
        let at = text
            .find(['<', '>'])
            .ok_or_else(|| wrong("a condition has < or >: p99<10ms, iops>=10k, >=500MB/s"))?;
        let (name, rest) = text.split_at(at);
        let below = rest.starts_with('<');
        let bound = rest[1..].strip_prefix('=').unwrap_or(&rest[1..]);
        let strict = bound.len() + 1 == rest.len();
        let metric = match name {
            "" => Metric::Throughput,
            name => name.parse::<Metric>()?,
        };
        if below != metric.is_latency() {
            return Err(wrong(if below {
                "a rate is expected above a bound: iops>=10k, throughput>=500MB/s"
            } else {
                "a latency is expected below a bound: p99<10ms"
            }));
        }
        Ok(Condition { metric, bound: metric.parse_bound(bound)?, strict, text })
    }
}

/// A request of the user: a profile by its name, or a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Expect {
    Profile(String),
    Condition(Condition),
}

impl Expect {
    /// Parses a list with commas. Names of profiles are looked up later: some are files of the
    /// user.
    pub(super) fn parse_list(text: &str) -> Result<Vec<Expect>, SettingError> {
        text.split(',').map(str::parse).collect()
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Expect::Profile(name) => f.write_str(name),
            Expect::Condition(condition) => condition.fmt(f),
        }
    }
}

impl FromStr for Expect {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Expect, SettingError> {
        match text.trim() {
            "" => Err(SettingError::Value(
                "an expectation is missing: name a profile, or write p99<10ms".into(),
            )),
            text if text.contains(['<', '>', '=']) => Ok(Expect::Condition(text.parse()?)),
            name => Ok(Expect::Profile(name.into())),
        }
    }
}

/// The profile that an expectation is from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpectedBy {
    pub profile: String,
    /// The address of the page with the figure.
    pub source: String,
    /// The published requirement, in a line.
    pub published: String,
    /// The options, by their names, that a cell must have to be one that the profile is about.
    pub cells: BTreeMap<String, String>,
}

/// Conditions on the cells of a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The profile; omitted from JSON for conditions of the user, which are about every cell that
    /// has such a figure.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ExpectedBy>,
    pub conditions: Vec<Condition>,
}

impl Expectation {
    /// Describes it: `etcd (p99<10ms)`, or the conditions alone.
    pub fn describe(&self) -> String {
        let conditions: Vec<&str> = self.conditions.iter().map(|one| one.text.as_str()).collect();
        let conditions = conditions.join(", ");
        match &self.by {
            Some(by) => format!("{} ({conditions})", by.profile),
            None => conditions,
        }
    }
}

/// Returns the error for a profile that there is not. Where none is near, what its makers do not
/// publish can still be asked by a condition.
pub fn unknown_profile<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let unknown = nearest("profile", name, known);
    let hint = if unknown.near.is_empty() { "; or write a condition: p99<10ms" } else { "" };
    format!("{unknown}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Expect>, String> {
        Expect::parse_list(text).map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_are_read_and_written_alike() {
        for (text, metric, bound, strict) in [
            ("p50<250us", Metric::P50, 250_000, true),
            ("p99<10ms", Metric::P99, 10_000_000, true),
            ("p99.9<=1.5s", Metric::P999, 1_500_000_000, false),
            ("max<1s", Metric::Max, 1_000_000_000, true),
            (">=500MB/s", Metric::Throughput, 500_000_000, false),
            ("throughput>2GiB/s", Metric::Throughput, 2 << 30, true),
            ("iops>=10k", Metric::Iops, 10_000, false),
            ("commits>=1.5k", Metric::Commits, 1_500, false),
            ("iops>2m/s", Metric::Iops, 2_000_000, true),
        ] {
            let [Expect::Condition(condition)] = &parse(text).unwrap()[..] else {
                panic!("{text}")
            };
            assert_eq!(
                (condition.metric, condition.bound, condition.strict),
                (metric, bound, strict),
                "{text}"
            );
            assert_eq!(condition.to_string(), text);
            let json = serde_json::to_string(condition).unwrap();
            assert_eq!(serde_json::from_str::<Condition>(&json).unwrap(), *condition);
        }
        assert_eq!(parse(" p99 < 10ms , etcd").unwrap(), parse("p99<10ms,etcd").unwrap());
    }

    #[test]
    fn the_sign_decides_a_bound() {
        let holds = |text: &str, value| text.parse::<Condition>().unwrap().holds(value);
        assert!(holds("p99<10ms", 9_999_999.0) && !holds("p99<10ms", 1e7));
        assert!(holds("p99<=10ms", 1e7) && !holds("p99<=10ms", 1e7 + 1.0));
        assert!(holds("iops>=10k", 1e4) && !holds("iops>10k", 1e4) && holds("iops>10k", 10_001.0));
    }

    #[test]
    fn invalid_conditions_show_valid_ones() {
        for (text, wanted) in [
            ("p99>10ms", "'p99>10ms': a latency is expected below a bound: p99<10ms"),
            ("iops<10k", "a rate is expected above a bound"),
            ("p99=10ms", "a condition has < or >"),
            ("p98<10ms", "unknown figure 'p98'; did you mean p90 or p99"),
            ("p99<10", "is not a time"),
            ("p99<", "is not a time"),
            ("iops>=fast", "is not a number per second"),
            ("iops>=1kk", "is not a number per second"),
            ("iops>=-5", "is not a number per second"),
            (">=", "is not a speed"),
            ("", "an expectation is missing"),
            ("etcd,", "an expectation is missing"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn user_expectations_omit_profile_keys() {
        let conditions = vec!["p99<10ms".parse().unwrap()];
        let own = Expectation { by: None, conditions: conditions.clone() };
        let json = serde_json::to_string(&own).unwrap();
        assert_eq!(json, r#"{"conditions":["p99<10ms"]}"#);
        assert_eq!(serde_json::from_str::<Expectation>(&json).unwrap(), own);
        let cells = BTreeMap::from([("op".into(), "write".into()), ("oops".into(), "1".into())]);
        let by = ExpectedBy { profile: "x".into(), cells, ..ExpectedBy::default() };
        let named = Expectation { by: Some(by), conditions };
        let json = serde_json::to_string(&named).unwrap();
        assert_eq!(serde_json::from_str::<Expectation>(&json).unwrap(), named);
        assert_eq!((named.describe(), own.describe()), ("x (p99<10ms)".into(), "p99<10ms".into()));
    }

    #[test]
    fn only_synced_writes_commit() {
        use crate::plan::{Choice, Sync};
        let job = |op, sync| Job { sync, ..Job::plain(Choice::plain("pread"), op) };
        assert!(Metric::Commits.is_of(&job(Op::Write, Sync::Fdatasync)));
        for other in
            [job(Op::Write, Sync::End), job(Op::Write, Sync::None), job(Op::Read, Sync::None)]
        {
            assert!(!Metric::Commits.is_of(&other) && Metric::P99.is_of(&other));
        }
        assert!(!Metric::Throughput.is_of(&job(Op::Seek, Sync::None)));
    }
}
