//! A warning: the finding, the evidence and the remedy.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use crate::plan::{Settings, names};
use crate::text::clean_text;

/// Id of the warning of a cell whose system calls were not counted, so that their rate is unknown.
pub const CALLS_UNKNOWN: &str = "calls-unknown";
/// Ids of the warnings of a cell with too few trials for an interval, and with a wide one.
pub const FEW: &str = "few";
pub const WIDE: &str = "wide";

names! {
    /// How much a warning devalues a result.
    "severity" Severity {
        /// Worth knowing; the number is valid.
        Note = "note",
        /// The number is right but easily misread.
        Misleading = "misleading",
        /// The number does not measure what it claims to.
        Wrong = "wrong",
    }
}

/// A finding about a result, a target or a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Stable id: `holes`, `not-cold`.
    pub id: Cow<'static, str>,
    pub severity: Severity,
    /// The finding.
    pub message: String,
    /// The measured facts that raised it.
    pub evidence: String,
    #[serde(flatten)]
    pub remedy: Remedy,
}

/// The finding of a check; the table of checks has its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub message: String,
    /// The measured facts behind it.
    pub evidence: String,
    pub remedy: Remedy,
}

/// Builds the finding of a check.
pub fn finding(
    severity: Severity,
    message: impl Into<String>,
    evidence: impl Into<String>,
    remedy: impl Into<Remedy>,
) -> Option<Finding> {
    Some(Finding {
        severity,
        message: message.into(),
        evidence: evidence.into(),
        remedy: remedy.into(),
    })
}

impl Finding {
    /// Returns the warning. Names of processes and files may hold line breaks, so its texts are
    /// made single lines.
    pub fn into_warning(self, id: &'static str) -> Warning {
        let Finding { severity, message, evidence, remedy } = self;
        Warning {
            id: id.into(),
            severity,
            message: clean_text(&message),
            evidence: clean_text(&evidence),
            remedy,
        }
    }
}

/// The remedy of a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    #[serde(rename = "remedy")]
    pub text: String,
    /// The setting that it changes; absent from JSON if it changes none.
    #[serde(default, deserialize_with = "known_setting", skip_serializing_if = "Option::is_none")]
    pub setting: Option<SettingName>,
}

/// A name of [`Settings::ALL`].
pub type SettingName = &'static str;

impl From<&str> for Remedy {
    /// Writes each setting as its option, `{size}` as `--size`; the first is the one to change.
    fn from(text: &str) -> Remedy {
        let mut remedy = Remedy::default();
        for (at, part) in text.split(['{', '}']).enumerate() {
            if at % 2 == 1 {
                remedy.setting = remedy.setting.or(setting_of_name(part));
                remedy.text += "--";
            }
            remedy.text += part;
        }
        remedy
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Remedy {
        Remedy { text, setting: None }
    }
}

fn setting_of_name(name: &str) -> Option<&'static str> {
    Settings::ALL.iter().map(|setting| setting.name).find(|known| *known == name)
}

/// Reads the name of a setting; one that this version does not have is dropped.
fn known_setting<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'static str>, D::Error> {
    let name: Option<Cow<str>> = Option::deserialize(from)?;
    Ok(name.and_then(|name| setting_of_name(&name)))
}

impl Warning {
    /// Returns whether it says that more trials are needed for an interval: the result is
    /// unfinished, not faulty.
    pub fn is_unfinished(&self) -> bool {
        self.id == FEW
    }

    /// Returns whether more trials may clear it.
    pub fn needs_trials(&self) -> bool {
        self.is_unfinished() || self.id == WIDE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_names_its_setting() {
        for (text, wanted, setting) in [
            ("run again", "run again", None),
            ("use more {trials}", "use more --trials", Some("trials")),
            ("omit {xor}, or use more {threads}", "omit --xor, or use more --threads", Some("xor")),
        ] {
            let remedy = Remedy::from(text);
            assert_eq!((remedy.text.as_str(), remedy.setting), (wanted, setting));
        }
    }

    #[test]
    fn unknown_settings_are_dropped() {
        let text = |setting: &str| {
            format!(
                r#"{{"id":"a","severity":"note","message":"","evidence":"","remedy":"do it"{setting}}}"#
            )
        };
        for (setting, wanted) in [
            ("", None),
            (r#","setting":"size""#, Some("size")),
            (r#","setting":"of a later version""#, None),
        ] {
            let warning: Warning = serde_json::from_str(&text(setting)).unwrap();
            assert_eq!((warning.remedy.text.as_str(), warning.remedy.setting), ("do it", wanted));
            let written = serde_json::to_string(&warning).unwrap();
            assert_eq!(written, text(if wanted.is_some() { setting } else { "" }));
        }
    }
}
