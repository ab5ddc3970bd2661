//! A backend with its options as written: `mmap`, `uring+sqpoll`, `stdio+buf=64k`.

use std::fmt;

use super::{Info, OptValue, Unknown, nearest};
use crate::units;

/// `NAME+OPTION[=VALUE]...`, checked against the registry entry it names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Choice {
    pub id: String,
    pub options: Vec<(String, Option<String>)>,
    /// Whether it names a peer: only the registry knows, see [`Choice::normalize`].
    pub peer: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("{backend}+{option} needs a value: {backend}+{option}={value}")]
    NeedsValue { backend: String, option: String, value: &'static str },
    #[error("{0} takes no options, but got '{1}'")]
    NoOption(String, String),
    #[error("{0}: +{1} is given twice")]
    Twice(String, String),
    #[error("{backend}+{option} takes no value")]
    NoValue { backend: String, option: String },
    #[error("{backend}+{option}={value}: {why}")]
    BadValue { backend: String, option: String, value: String, why: String },
    #[error("'{0}' names no backend")]
    Empty(String),
}

impl Choice {
    /// Parses the syntax only; [`Choice::check`] knows the names.
    pub fn parse(text: &str) -> Result<Self, ChoiceError> {
        let mut parts = text.trim().split('+');
        let id = parts.next().unwrap_or_default().trim().to_string();
        let options: Vec<(String, Option<String>)> = parts
            .map(|part| match part.split_once('=') {
                Some((name, value)) => (name.trim().to_string(), Some(value.trim().to_string())),
                None => (part.trim().to_string(), None),
            })
            .collect();
        if id.is_empty() || options.iter().any(|(name, _)| name.is_empty()) {
            return Err(ChoiceError::Empty(text.into()));
        }
        Ok(Choice { id, options, peer: false })
    }

    /// Checks the options against the backend's own list. A value is a size.
    pub fn check(&self, info: &Info) -> Result<(), ChoiceError> {
        for (at, (name, value)) in self.options.iter().enumerate() {
            if info.options.is_empty() {
                return Err(ChoiceError::NoOption(self.id.clone(), name.clone()));
            }
            let known = info
                .option(name)
                .ok_or_else(|| nearest("option", name, info.options.iter().map(|o| o.name)))?;
            if self.options[..at].iter().any(|(before, _)| before == name) {
                return Err(ChoiceError::Twice(self.to_string(), name.clone()));
            }
            let (backend, option) = (self.id.clone(), name.clone());
            match (known.value, value) {
                (Some(what), None) => {
                    return Err(ChoiceError::NeedsValue { backend, option, value: what.word });
                }
                (None, Some(_)) => return Err(ChoiceError::NoValue { backend, option }),
                (Some(OptValue { word, max }), Some(value)) => {
                    let why = match units::parse_bytes(value) {
                        Ok(size) if (1..=max).contains(&size) => continue,
                        Ok(_) if max < 1 << 20 => format!("between 1 and {max}"),
                        Ok(_) => format!("between 1 and {}", units::short_bytes(max)),
                        Err(_) if word == "N" => format!("not a number between 1 and {max}"),
                        Err(error) => error.to_string(),
                    };
                    return Err(ChoiceError::BadValue {
                        backend,
                        option,
                        value: value.clone(),
                        why,
                    });
                }
                (None, None) => {}
            }
        }
        Ok(())
    }

    /// Returns a backend without options.
    pub fn plain(id: &str) -> Choice {
        Choice { id: id.into(), options: Vec::new(), peer: false }
    }

    /// Sorts the options as the registry lists them, so that the same choice has one name however
    /// it was typed, and notes whether it is a peer.
    pub fn normalize(mut self, info: &Info) -> Choice {
        self.options
            .sort_by_key(|(name, _)| info.options.iter().position(|option| option.name == name));
        Choice { peer: info.is_peer(), ..self }
    }

    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| name == option)
    }

    /// Returns the size given to `option`; `None` without one.
    pub fn size(&self, option: &str) -> Option<u64> {
        let (_, value) = self.options.iter().find(|(name, _)| name == option)?;
        units::parse_bytes(value.as_deref()?).ok()
    }
}

impl Info {
    /// Returns the entry that describes it with the options of `choice`.
    pub fn of(&'static self, choice: &Choice) -> &'static Info {
        let changed = self.changed_by.iter().find(|(option, _)| choice.has(option));
        changed.map_or(self, |(_, info)| info)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.id)?;
        for (name, value) in &self.options {
            match value {
                Some(value) => write!(f, "+{name}={value}")?,
                None => write!(f, "+{name}")?,
            }
        }
        Ok(())
    }
}

/// The requested backends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backends {
    All,
    These(Vec<Choice>),
}

impl Backends {
    /// Returns each requested backend; `all` is every backend, without the peers.
    pub fn choices(&self, infos: &[&'static Info]) -> Vec<Choice> {
        match self {
            Backends::These(list) => list.clone(),
            Backends::All => infos
                .iter()
                .filter(|info| !info.is_peer())
                .map(|info| Choice::plain(info.id))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::Opt;

    const INFO: Info = Info {
        id: "stdio",
        title: "fread(3)",
        options: &[
            Opt { name: "buf", value: Some(OptValue::SIZE), about: "" },
            Opt { name: "fast", value: None, about: "" },
        ],
        ..Info::COPIES_BY_CALL
    };

    fn check(text: &str) -> Result<(), String> {
        Choice::parse(text).and_then(|c| c.check(&INFO)).map_err(|e| e.to_string())
    }

    #[test]
    fn options_are_checked_against_the_entry() {
        assert_eq!(check("stdio+buf=64k+fast"), Ok(()));
        assert!(check("stdio+buf").unwrap_err().contains("stdio+buf=SIZE"));
        assert!(check("stdio+fast=1").unwrap_err().contains("takes no value"));
        assert!(check("stdio+buf=0").unwrap_err().contains("between 1 and 1g"));
        assert!(check("stdio+fast+fast").unwrap_err().contains("+fast is given twice"));
        assert!(check("stdio+buf=4k+buf=8k").unwrap_err().contains("+buf is given twice"));
        assert!(check("stdio+buff=1").unwrap_err().contains("did you mean buf"));
        assert!(Choice::parse("+x").is_err() && Choice::parse("read+").is_err());
    }

    #[test]
    fn options_have_one_order() {
        let known = |text| Choice::parse(text).unwrap().normalize(&INFO);
        assert_eq!(known("stdio+fast+buf=64k"), known("stdio+buf=64k+fast"));
        assert_eq!(known("stdio+fast+buf=64k").to_string(), "stdio+buf=64k+fast");
    }

    #[test]
    fn without_options_none_is_listed() {
        let info = Info { options: &[], id: "dd", ..INFO };
        let error = Choice::parse("dd+psync").unwrap().check(&info).unwrap_err().to_string();
        assert_eq!(error, "dd takes no options, but got 'psync'");
    }

    proptest! {
        #[test]
        fn parsed_text_prints_back(text in "[a-z+=0-9 -]{0,20}") {
            if let Ok(choice) = Choice::parse(&text) {
                prop_assert_eq!(Choice::parse(&choice.to_string()).unwrap(), choice);
            }
        }
    }
}
