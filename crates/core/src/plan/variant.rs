//! Variants of the machine, each set by a command or by a neighbour, whose cells are measured in
//! the same rounds.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Neighbour, VariantError, VariantName};
use crate::text::clean_text;

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

    /// Returns the variants of a plan in which each cell is measured alone, and next to each of
    /// these neighbours.
    pub fn next_to(neighbours: Vec<Neighbour>) -> Vec<Variant> {
        let several = neighbours.len() > 1;
        let name = |of: &Neighbour| match (of.share, of.job.rate) {
            (Some(share), _) => format!("{share}%"),
            (None, Some(rate)) if several => rate.to_string(),
            _ => "neighbour".into(),
        };
        let named = |name: VariantName, neighbour: Option<Neighbour>| Variant {
            name,
            command: String::new(),
            neighbour: neighbour.map(Box::new),
        };
        // Rates and percentages are names.
        let next_to =
            neighbours.into_iter().filter_map(|of| Some(named(name(&of).parse().ok()?, Some(of))));
        std::iter::once(named(VariantName::alone(), None)).chain(next_to).collect()
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
    use crate::plan::{Job, Rate, TargetSpec, testing};

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

    #[test]
    fn neighbours_are_named_by_rates() {
        let neighbour = |share, rate| Neighbour {
            options: "-s 4k".into(),
            job: Job { rate, ..testing::job() },
            target: TargetSpec::None,
            share,
            compressible: None,
            dedupe: None,
        };
        let names = |all: Vec<Neighbour>| {
            let all = Variant::next_to(all);
            all.iter().map(|of| of.name.to_string()).collect::<Vec<_>>().join(" ")
        };
        let rate = |bytes| Some(Rate::Bytes(bytes));
        assert_eq!(names(vec![neighbour(None, rate(7))]), "alone neighbour");
        assert_eq!(
            names(vec![neighbour(None, rate(50_000_000)), neighbour(None, rate(7 << 20))]),
            "alone 50MB/s 7MiB/s"
        );
        let shares = [25, 100].map(|share| neighbour(Some(share), None));
        assert_eq!(names(shares.to_vec()), "alone 25% 100%");
    }
}
