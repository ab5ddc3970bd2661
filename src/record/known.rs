//! A number that may not be known, in the room of one: a session of 100,000 trials holds 600,000 of
//! them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What [`Option<u64>`] is, in 8 bytes instead of 16. The largest number counts as not known:
/// nothing measures it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Known(u64);

impl Known {
    const NOT: u64 = u64::MAX;

    pub const fn get(self) -> Option<u64> {
        if self.0 == Known::NOT { None } else { Some(self.0) }
    }
}

impl Default for Known {
    fn default() -> Known {
        Known(Known::NOT)
    }
}

impl From<Option<u64>> for Known {
    fn from(value: Option<u64>) -> Known {
        Known(value.unwrap_or(Known::NOT))
    }
}

impl From<u64> for Known {
    fn from(value: u64) -> Known {
        Known(value)
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Serialize for Known {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(out)
    }
}

impl<'de> Deserialize<'de> for Known {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Known, D::Error> {
        Option::deserialize(from).map(Known::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_an_option_in_the_room_of_a_number() {
        assert_eq!(size_of::<Known>(), 8);
        for (value, text) in
            [(None, "null"), (Some(0), "0"), (Some(u64::MAX - 1), "18446744073709551614")]
        {
            let known = Known::from(value);
            assert_eq!(
                (known.get(), serde_json::to_string(&known).unwrap().as_str()),
                (value, text)
            );
            assert_eq!(serde_json::from_str::<Known>(text).unwrap(), known);
            assert_eq!(format!("{known:?}"), format!("{value:?}"));
        }
        assert_eq!(
            (
                Known::default().get(),
                serde_json::from_str::<Known>("18446744073709551615").unwrap().get()
            ),
            (None, None)
        );
    }
}
