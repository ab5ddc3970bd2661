//! Variants of the machine, each set by a command, whose cells are measured in the same rounds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of a variant: 1 to 16 letters, digits, dots, dashes and underscores.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VariantName(String);

/// A state of the machine, and the shell command that sets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    pub name: VariantName,
    pub command: String,
}

/// Why a text is not a variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    #[error("write NAME:COMMAND; the command `true` changes nothing")]
    NoCommand,
    #[error("a name has 1 to 16 letters, digits, dots, dashes and underscores")]
    Name,
    #[error("both variants are named {0}")]
    Twice(VariantName),
}

impl VariantName {
    const MAX_LEN: usize = 16;

    pub fn as_str(&self) -> &str {
        &self.0
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
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if (1..=VariantName::MAX_LEN).contains(&text.len()) && text.bytes().all(plain) {
            Ok(VariantName(text.into()))
        } else {
            Err(VariantError::Name)
        }
    }
}

impl FromStr for Variant {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Variant, VariantError> {
        let (name, command) = text.split_once(':').ok_or(VariantError::NoCommand)?;
        let (name, command) = (name.trim().parse()?, command.trim());
        if command.is_empty() {
            return Err(VariantError::NoCommand);
        }
        Ok(Variant { name, command: command.into() })
    }
}

impl Variant {
    /// Checks that no two have the same name.
    pub fn check_names(variants: &[Variant]) -> Result<(), VariantError> {
        for (index, variant) in variants.iter().enumerate() {
            if variants[..index].iter().any(|before| before.name == variant.name) {
                return Err(VariantError::Twice(variant.name.clone()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_has_name_and_command() {
        let variant: Variant = "mq-deadline: echo mq >a:b ".parse().unwrap();
        assert_eq!(
            (variant.name.as_str(), variant.command.as_str()),
            ("mq-deadline", "echo mq >a:b")
        );
        for text in ["data.bin", "A:", "A: "] {
            assert_eq!(text.parse::<Variant>(), Err(VariantError::NoCommand), "{text}");
        }
        for text in [":true", "a b:true", "\u{1b}[1m:true", "a-name-of-17-chars:true"] {
            assert_eq!(text.parse::<Variant>(), Err(VariantError::Name), "{text}");
        }
        let twice = [variant.clone(), variant.clone()];
        assert_eq!(Variant::check_names(&twice), Err(VariantError::Twice(variant.name)));
        assert_eq!(Variant::check_names(&twice[..1]), Ok(()));
    }

    #[test]
    fn names_in_files_are_checked() {
        let read = |json: &str| serde_json::from_str::<Variant>(json);
        assert!(read(r#"{"name":"A","command":"true"}"#).is_ok());
        assert!(read(r#"{"name":"A B","command":"true"}"#).is_err());
    }
}
