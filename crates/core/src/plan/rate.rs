//! The pace of operations: a rate (`--rate`, `--arrival`) or pauses (`--think`).

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Job, Range, RangeError, SettingError, names};
use crate::units::{self, UnitError};

names! {
    /// How the intended starts of operations lie under a rate.
    #[derive(Default)]
    "arrival" Arrival {
        /// At equal distances.
        #[default]
        Steady = "steady",
        /// At random, so that any number may come at once: a Poisson process.
        Poisson = "poisson",
    }
}

impl Arrival {
    pub fn is_steady(&self) -> bool {
        *self == Arrival::Steady
    }
}

/// A rate of all threads of a cell together, per second; above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rate {
    Operations(u64),
    Bytes(u64),
}

impl Rate {
    /// The most operations per second.
    pub const MAX_OPERATIONS: u64 = 100_000_000;
    /// The most bytes per second: 1 TB/s.
    pub const MAX_BYTES: u64 = 1_000_000_000_000;

    /// Returns the operations per second with blocks of this size, above 0.
    pub fn per_second(self, block: u64) -> f64 {
        match self {
            Rate::Operations(operations) => operations as f64,
            Rate::Bytes(bytes) => bytes as f64 / block.max(1) as f64,
        }
    }

    /// Returns whether it is within the limits.
    pub fn is_valid(self) -> bool {
        match self {
            Rate::Operations(operations) => (1..=Rate::MAX_OPERATIONS).contains(&operations),
            Rate::Bytes(bytes) => (1..=Rate::MAX_BYTES).contains(&bytes),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Rate::Operations(operations) => f.write_str(&units::short_per_second(operations)),
            Rate::Bytes(bytes) if bytes % 1_000_000 == 0 => write!(f, "{}MB/s", bytes / 1_000_000),
            Rate::Bytes(bytes) if bytes % 1000 == 0 => write!(f, "{}kB/s", bytes / 1000),
            Rate::Bytes(bytes) => write!(f, "{}B/s", units::short_bytes(bytes)),
        }
    }
}

/// The rates of a plan, as they were given.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    text: String,
    pub values: Vec<Rate>,
}

impl Rates {
    /// Parses a range of operations (`10k`) or of bytes (`100MB/s`) per second.
    ///
    /// # Errors
    /// A number is 0, too large, or of the other kind.
    pub fn parse(text: &str) -> Result<Rates, SettingError> {
        let (wrap, parse): (fn(u64) -> Rate, fn(&str) -> Result<u64, UnitError>) =
            match counts_bytes(text) {
                true => (Rate::Bytes, units::parse_rate),
                false => (Rate::Operations, units::parse_per_second),
            };
        let one = |item: &str| match parse(item) {
            Ok(value) if wrap(value).is_valid() && counts_bytes(item) == counts_bytes(text) => {
                Ok(value)
            }
            _ => Err(UnitError::Pace(item.trim().into())),
        };
        let range = Range::parse_by(text, one).map_err(|error| match error {
            RangeError::Empty => UnitError::Pace(text.into()).into(),
            error => SettingError::from(error),
        })?;
        Ok(Rates { text: range.text, values: range.values.into_iter().map(wrap).collect() })
    }
}

impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns whether a rate is in bytes: it has a `B`, as in `100MB/s`.
fn counts_bytes(text: &str) -> bool {
    text.contains(['b', 'B'])
}

/// The operations of a trial under a rate, and the time in which they are intended to start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PacedAmount {
    /// 1 or more; with random arrivals this is the mean.
    pub operations: u64,
    pub time: Duration,
}

impl Job {
    /// The longest pause between two operations.
    pub const MAX_THINK: Duration = Duration::from_secs(3600);
    /// The fewest operations of a trial under a rate.
    const LEAST_PACED: u64 = 10;

    /// Returns whether operations wait for their start: under a rate, or after a pause.
    pub fn is_paced(&self) -> bool {
        self.rate.is_some() || self.think > 0
    }

    /// Returns the operations per second that are intended; `None` without a rate.
    pub fn operations_per_second(&self) -> Option<f64> {
        self.rate.map(|rate| rate.per_second(self.block))
    }

    /// Returns the amount of a trial that is to take `asked`; `None` without a rate.
    pub fn paced_amount(&self, asked: Duration) -> Option<PacedAmount> {
        let rate = self.operations_per_second()?;
        let group = match self.syncs_after_writes() {
            true => u64::from(self.writes_per_commit()),
            false => 1,
        };
        let operations = match self.count {
            Some(0) => self.blocks(),
            Some(count) => count,
            None => {
                let wanted = (rate * asked.as_secs_f64()).round() as u64;
                wanted.max(Job::LEAST_PACED).next_multiple_of(group)
            }
        };
        let operations = operations.max(1);
        let seconds = operations as f64 / rate;
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Some(PacedAmount { operations, time })
    }

    /// Returns the time of a trial that is to take `asked`: under a low rate, it is longer.
    pub fn trial_time(&self, asked: Duration) -> Duration {
        self.paced_amount(asked).map_or(asked, |amount| amount.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Choice, Op, Sync};

    #[test]
    fn rates_parse_and_print_alike() {
        for (text, values, shown) in [
            ("10k", vec![Rate::Operations(10_000)], "10k"),
            ("500/s", vec![Rate::Operations(500)], "500"),
            ("1.5k", vec![Rate::Operations(1500)], "1500"),
            ("2m", vec![Rate::Operations(2_000_000)], "2m"),
            ("100MB/s", vec![Rate::Bytes(100_000_000)], "100MB/s"),
            ("100mb", vec![Rate::Bytes(100_000_000)], "100MB/s"),
            ("1MiB/s", vec![Rate::Bytes(1 << 20)], "1mB/s"),
            ("4097B/s", vec![Rate::Bytes(4097)], "4097B/s"),
        ] {
            let rates = Rates::parse(text).unwrap();
            assert_eq!(rates.values, values, "{text}");
            assert_eq!(rates.values[0].to_string(), shown);
            assert_eq!(Rates::parse(shown).unwrap().values, values, "{shown}");
            let json = serde_json::to_string(&values[0]).unwrap();
            assert_eq!(serde_json::from_str::<Rate>(&json).unwrap(), values[0]);
        }
        let range = Rates::parse("1k..8k").unwrap();
        assert_eq!(range.values, [1000, 2000, 4000, 8000].map(Rate::Operations));
        let list = Rates::parse("10MB/s,1GB/s").unwrap();
        assert_eq!(list.values, [10_000_000, 1_000_000_000].map(Rate::Bytes));
    }

    #[test]
    fn other_rates_are_refused() {
        for (text, said) in [
            ("0", "'0' is not a rate: use 500 or 10k"),
            ("-5", "'-5' is not a rate"),
            ("1e30", "is not a rate"),
            ("99999999999999999999", "is not a rate"),
            ("0MB/s", "is not a rate"),
            ("2TB/s", "up to 1TB/s"),
            ("101m", "up to 100m"),
            ("0.5", "is not a rate"),
            ("fast", "--rated is the vendor's speed"),
            ("", "is not a rate"),
            ("100,1MB/s", "'100' is not a rate"),
            ("1..1m+1", "more than 1024 values"),
            ("8k..1k", "runs backwards"),
        ] {
            let error = Rates::parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn trials_have_ten_operations() {
        let asked = Duration::from_millis(300);
        let amount = |rate, change: fn(&mut Job)| {
            let mut job = Job { count: None, ..Job::plain(Choice::plain("pread"), Op::Write) };
            job.rate = Some(rate);
            change(&mut job);
            job.paced_amount(asked).map(|PacedAmount { operations, time }| (operations, time))
        };
        let ms = Duration::from_millis;
        assert_eq!(amount(Rate::Operations(10_000), |_| {}), Some((3000, ms(300))));
        assert_eq!(amount(Rate::Operations(10), |_| {}), Some((10, ms(1000))));
        assert_eq!(amount(Rate::Bytes(4_096_000), |_| {}), Some((300, ms(300))));
        assert_eq!(amount(Rate::Operations(100), |job| job.count = Some(5)), Some((5, ms(50))));
        let groups = |job: &mut Job| (job.sync, job.sync_every) = (Sync::Fdatasync, 7);
        assert_eq!(amount(Rate::Operations(1000), groups), Some((301, ms(301))));
        assert_eq!(amount(Rate::Operations(1), |job| job.rate = None), None);
    }
}
