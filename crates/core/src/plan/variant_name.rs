//! The names of variants.

use std::fmt;
use std::str::FromStr;

/// The name of a variant: 1 to 16 letters, digits and characters of [`VariantName::MARKS`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VariantName(String);

/// Why a text is not a variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    #[error("write NAME:COMMAND; the command `true` changes nothing")]
    NoCommand,
    #[error("a name has 1 to 16 letters, digits, and . - _ % /")]
    Name,
    #[error("both variants are named {0}")]
    Twice(VariantName),
}

impl VariantName {
    const MAX_LEN: usize = 16;
    /// The characters of a name besides letters and digits.
    const MARKS: &[u8] = b".-_%/";

    /// The name of the variant without a neighbour.
    const ALONE: &str = "alone";

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn alone() -> VariantName {
        VariantName(Self::ALONE.into())
    }

    /// Returns how a cell is measured in it: `with mq`, `alone`.
    pub fn phrase(&self) -> String {
        if self.0 == Self::ALONE { self.0.clone() } else { format!("with {self}") }
    }
}

impl fmt::Display for VariantName {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl FromStr for VariantName {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<VariantName, VariantError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || Self::MARKS.contains(&byte);
        if (1..=VariantName::MAX_LEN).contains(&text.len()) && text.bytes().all(plain) {
            Ok(VariantName(text.into()))
        } else {
            Err(VariantError::Name)
        }
    }
}
