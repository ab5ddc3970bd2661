//! Rates of operations (`--rate`, `--arrival`).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Range, RangeError, SettingError, names};
use crate::units::{self, UnitError};

names! {
    /// How the intended starts of operations lie under a rate.
    #[derive(Default)]
    "arrival" Arrival {
        /// At equal distances.
        #[default]
        Steady = "steady",
        /// At random, so that any number may come at once: a Poisson process with as many in a
        /// trial as the rate says.
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
            Rate::Bytes(bytes) => {
                let units = [(1_000_000, "MB"), (1 << 20, "MiB"), (1000, "kB"), (1, "B")];
                let whole = units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
                let (unit, name) = whole.unwrap_or((1, "B"));
                write!(f, "{}{name}/s", bytes / unit)
            }
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
        let in_bytes = counts_bytes(text);
        let wrap = if in_bytes { Rate::Bytes } else { Rate::Operations };
        let parse = if in_bytes { units::parse_rate } else { units::parse_per_second };
        let one = |item: &str| match parse(item) {
            Ok(value) if wrap(value).is_valid() && counts_bytes(item) == in_bytes => Ok(value),
            _ => Err(UnitError::Pace(item.trim().into())),
        };
        let range = Range::parse_by(text, one).map_err(|error| match error {
            RangeError::Empty => UnitError::Pace(text.into()).into(),
            error => SettingError::from(error),
        })?;
        Ok(Rates { text: range.text, values: range.values.into_iter().map(wrap).collect() })
    }
}

impl Rates {
    /// Returns the rates of a search: from 10 to 1,000,000 operations per second, in steps of about
    /// 5 %.
    pub fn ladder() -> Rates {
        let step = |at: i32| 10.0 * 1.05f64.powi(at);
        let steps = (0..).map(step).take_while(|rate| *rate < 1e6).chain([1e6]);
        // Three digits.
        let round = |rate: f64| {
            let unit = 10f64.powf((rate.log10().floor() - 2.0).max(0.0));
            ((rate / unit).round() * unit) as u64
        };
        let mut values: Vec<u64> = steps.map(round).collect();
        values.dedup();
        let text = values.iter().map(|rate| units::short_per_second(*rate));
        let text = text.collect::<Vec<_>>().join(",");
        Rates { text, values: values.into_iter().map(Rate::Operations).collect() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_parse_and_print_alike() {
        for (text, values, shown) in [
            ("10k", vec![Rate::Operations(10_000)], "10k"),
            ("500/s", vec![Rate::Operations(500)], "500"),
            ("1.5k", vec![Rate::Operations(1500)], "1500"),
            ("2m", vec![Rate::Operations(2_000_000)], "2M"),
            ("100MB/s", vec![Rate::Bytes(100_000_000)], "100MB/s"),
            ("100mb", vec![Rate::Bytes(100_000_000)], "100MB/s"),
            ("1MiB/s", vec![Rate::Bytes(1 << 20)], "1MiB/s"),
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
    fn ladders_rise_by_small_steps() {
        let ladder = Rates::ladder();
        let rates: Vec<f64> = ladder.values.iter().map(|rate| rate.per_second(1)).collect();
        assert_eq!((rates[0], *rates.last().unwrap()), (10.0, 1e6));
        assert!(rates.windows(2).all(|pair| pair[1] > pair[0] && pair[1] <= pair[0] * 1.1));
        assert_eq!(Rates::parse(&ladder.to_string()).unwrap().values, ladder.values);
    }
}
