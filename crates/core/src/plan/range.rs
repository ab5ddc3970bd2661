//! The RANGE of the command line: `4k`, `512,4k,1m`, `1k..8m` (doubling), `1k..8m*4`, `1..9+2`.

use std::fmt;

use crate::units::{self, UnitError};

/// The kind of numbers in a range, which determines how they are parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeOf {
    Bytes,
    Count,
}

/// The values of a range, in the order given, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    pub text: String,
    pub values: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    #[error(transparent)]
    Unit(#[from] UnitError),
    #[error("the range '{0}' runs backwards: write the smaller number first")]
    Backwards(String),
    #[error("the range '{0}' never ends: start above 0, step above 0, factor above 1")]
    Endless(String),
    #[error("the range '{0}' has more than {MAX_VALUES} values")]
    TooMany(String),
    #[error("the range is empty: write a number (4k), a list (4k,64k) or a range (4k..1m)")]
    Empty,
}

/// More values than any run has time for; a typo such as `1..1g+1` fails here, not out of memory.
const MAX_VALUES: usize = 1024;

enum Step {
    Times(u64),
    Plus(u64),
}

impl Range {
    /// A size that is not known yet: what is free, less a tenth.
    pub const FREE: u64 = u64::MAX;

    pub fn parse(text: &str, of: RangeOf) -> Result<Self, RangeError> {
        match of {
            RangeOf::Bytes => Range::parse_by(text, units::parse_bytes),
            RangeOf::Count => Range::parse_by(text, units::parse_count),
        }
    }

    /// Parses a range whose numbers `one` parses.
    pub(super) fn parse_by(
        text: &str,
        one: impl Fn(&str) -> Result<u64, UnitError>,
    ) -> Result<Self, RangeError> {
        let mut values = Vec::new();
        for item in text.split(',') {
            if item.trim().is_empty() {
                return Err(RangeError::Empty);
            }
            match item.split_once("..") {
                None => push(&mut values, one(item)?),
                Some((low, rest)) => span(&mut values, item, one(low)?, rest, &one)?,
            }
            if values.len() > MAX_VALUES {
                return Err(RangeError::TooMany(text.into()));
            }
        }
        Ok(Range { text: text.into(), values })
    }

    /// Returns a range of exactly these values.
    pub fn list(values: &[u64]) -> Self {
        let text = values.iter().map(|v| units::short_bytes(*v)).collect::<Vec<_>>().join(",");
        Range { text, values: values.to_vec() }
    }

    /// Returns whether one value alone was requested.
    pub fn is_single(&self) -> bool {
        self.values.len() == 1
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn push(values: &mut Vec<u64>, value: u64) {
    if !values.contains(&value) {
        values.push(value);
    }
}

fn span(
    values: &mut Vec<u64>,
    item: &str,
    low: u64,
    rest: &str,
    one: impl Fn(&str) -> Result<u64, UnitError>,
) -> Result<(), RangeError> {
    let (high, step) = if let Some((high, factor)) = rest.split_once('*') {
        (one(high)?, Step::Times(units::parse_count(factor)?))
    } else if let Some((high, add)) = rest.split_once('+') {
        (one(high)?, Step::Plus(one(add)?))
    } else {
        (one(rest)?, Step::Times(2))
    };
    if low > high {
        return Err(RangeError::Backwards(item.into()));
    }
    if matches!(step, Step::Plus(0) | Step::Times(0 | 1))
        || (low == 0 && matches!(step, Step::Times(_)) && high > 0)
    {
        return Err(RangeError::Endless(item.into()));
    }
    let mut value = low;
    loop {
        push(values, value);
        let next = match step {
            Step::Times(factor) => value.checked_mul(factor),
            Step::Plus(add) => value.checked_add(add),
        };
        match next {
            Some(next) if next <= high && next > value => value = next,
            _ => return Ok(()),
        }
        if values.len() > MAX_VALUES {
            return Err(RangeError::TooMany(item.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(text: &str) -> Result<Vec<u64>, RangeError> {
        Range::parse(text, RangeOf::Bytes).map(|r| r.values)
    }

    #[test]
    fn every_documented_form() {
        assert_eq!(bytes("4k").unwrap(), [4096]);
        assert_eq!(bytes("512,4k,1m").unwrap(), [512, 4096, 1 << 20]);
        assert_eq!(bytes("1k..8k").unwrap(), [1024, 2048, 4096, 8192]);
        assert_eq!(bytes("1k..64k*4").unwrap(), [1024, 4096, 16384, 65536]);
        assert_eq!(bytes("1..9+2").unwrap(), [1, 3, 5, 7, 9]);
        assert_eq!(bytes("3k..8k").unwrap(), [3072, 6144]);
        assert_eq!(bytes("4k,4k").unwrap(), [4096]);
    }

    #[test]
    fn what_makes_no_range_says_why() {
        assert!(matches!(bytes("8m..1k"), Err(RangeError::Backwards(_))));
        assert!(matches!(bytes("0..8"), Err(RangeError::Endless(_))));
        assert!(matches!(bytes("1..8*1"), Err(RangeError::Endless(_))));
        assert!(matches!(bytes("1..8+0"), Err(RangeError::Endless(_))));
        assert!(matches!(bytes("1..1g+1"), Err(RangeError::TooMany(_))));
        assert!(matches!(bytes("4k,"), Err(RangeError::Empty)));
        assert!(matches!(bytes("x..y"), Err(RangeError::Unit(_))));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9kmg.,*+ ]{0,30}") {
            let _ = bytes(&text);
        }

        #[test]
        fn range_values_ascend_within_bounds(low in 1u64..1 << 40, extra in 0u64..1 << 40) {
            let high = low + extra;
            let values = bytes(&format!("{low}..{high}")).unwrap();
            prop_assert_eq!(values[0], low);
            prop_assert!(values.windows(2).all(|w| w[1] == 2 * w[0]));
            prop_assert!(*values.last().unwrap() <= high && values.last().unwrap() * 2 > high);
        }
    }
}
