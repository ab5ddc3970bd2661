//! Variants of the machine, each set by a command or by a neighbour, whose cells are measured in
//! the same rounds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Neighbour;
use crate::text::clean_text;

/// The name of a variant: 1 to 16 letters, digits and characters of [`VariantName::MARKS`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VariantName(String);

/// A state of the machine: the shell command that sets it, or the job that runs meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    pub name: VariantName,
    /// Empty, and absent from JSON, in a plan with neighbours.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// `None`: nothing runs meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<Box<Neighbour>>,
}

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
    /// What a name may have besides letters and digits.
    const MARKS: &[u8] = b".-_%/";

    /// The name of the variant without a neighbour.
    pub const ALONE: &str = "alone";

    pub fn as_str(&self) -> &str {
        &self.0
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

impl FromStr for Variant {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Variant, VariantError> {
        let (name, command) = text.split_once(':').ok_or(VariantError::NoCommand)?;
        let (name, command) = (name.trim().parse()?, command.trim());
        if command.is_empty() {
            return Err(VariantError::NoCommand);
        }
        Ok(Variant { name, command: command.into(), neighbour: None })
    }
}

impl Variant {
    /// Returns whether a command of the user sets it.
    pub fn is_set_by_command(&self) -> bool {
        !self.command.is_empty()
    }

    /// Returns whether commands of the user set these.
    pub fn are_set_by_commands(variants: &[Variant]) -> bool {
        variants.iter().any(Variant::is_set_by_command)
    }

    /// Describes it in one line: `mq: echo mq-deadline >...`, `25%: next to ...`.
    pub fn describe(&self) -> String {
        let name = &self.name;
        match &self.neighbour {
            Some(neighbour) => format!("{name}: next to {}", neighbour.describe()),
            None if self.is_set_by_command() => format!("{name}: {}", clean_text(&self.command)),
            None => name.to_string(),
        }
    }

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
