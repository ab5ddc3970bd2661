//! An optional number in 8 bytes.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An [`Option<u64>`] in 8 bytes instead of 16. `u64::MAX`, which no measurement reaches, stands
/// for `None`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OptU64(u64);

impl OptU64 {
    const NONE: u64 = u64::MAX;

    /// Returns the number as an ordinary option.
    pub const fn get(self) -> Option<u64> {
        if self.0 == OptU64::NONE { None } else { Some(self.0) }
    }
}

impl Default for OptU64 {
    fn default() -> OptU64 {
        OptU64(OptU64::NONE)
    }
}

impl From<Option<u64>> for OptU64 {
    fn from(value: Option<u64>) -> OptU64 {
        OptU64(value.unwrap_or(OptU64::NONE))
    }
}

impl From<u64> for OptU64 {
    fn from(value: u64) -> OptU64 {
        OptU64(value)
    }
}

impl fmt::Debug for OptU64 {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Serialize for OptU64 {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(out)
    }
}

impl<'de> Deserialize<'de> for OptU64 {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OptU64, D::Error> {
        Option::deserialize(from).map(OptU64::from)
    }
}
