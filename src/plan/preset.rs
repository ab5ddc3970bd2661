//! Presets: an experiment with its settings, in a TOML file.

use serde::{Deserialize, Serialize};

use super::settings::SettingError;
use super::{Settings, Unknown, nearest};

/// A preset as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    pub id: String,
    pub about: String,
    pub doc: String,
    pub experiment: String,
    pub settings: Settings,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PresetError {
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("preset {id}: {why}")]
    Syntax { id: String, why: String },
    #[error("preset {id}: {key}: {error}")]
    Setting { id: String, key: String, error: Box<SettingError> },
}

/// The presets that come with iotui: id and text.
pub static PRESETS: &[(&str, &str)] =
    &[("quick", include_str!("../../assets/presets/quick.toml")), ("raw", include_str!("../../assets/presets/raw.toml"))];

impl PresetError {
    /// Without the name of the preset, for a list of presets.
    pub fn why(&self) -> String {
        match self {
            PresetError::Unknown(unknown) => unknown.to_string(),
            PresetError::Syntax { why, .. } => why.clone(),
            PresetError::Setting { key, error, .. } => format!("{key}: {error}"),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    doc: String,
    experiment: String,
    settings: toml::Table,
}

impl Preset {
    /// Reads a preset; every key of `[settings]` is a long option of the command line.
    pub fn parse(id: &str, text: &str) -> Result<Preset, PresetError> {
        let syntax = |why: String| PresetError::Syntax { id: id.into(), why };
        let file: File = toml::from_str(text).map_err(|e| syntax(e.to_string().replace('\n', " ")))?;
        let mut settings = Settings::default();
        for (key, value) in file.settings {
            let text = match value {
                toml::Value::String(text) => text,
                toml::Value::Integer(n) => n.to_string(),
                toml::Value::Boolean(on) => on.to_string(),
                other => return Err(syntax(format!("{key} is a {}: write text, a whole number, true or false", other.type_str()))),
            };
            settings.set(&key, &text).map_err(|error| PresetError::Setting { id: id.into(), key, error: error.into() })?;
        }
        Ok(Preset { id: id.into(), about: file.about, doc: file.doc, experiment: file.experiment, settings })
    }

    /// The text of its file: parsing it gives this preset again.
    pub fn to_toml(&self) -> String {
        let settings = self.settings.said().map(|(name, text)| (name.to_string(), text.into())).collect();
        let Preset { about, doc, experiment, .. } = self.clone();
        // Text and tables of text can always be written.
        toml::to_string(&File { about, doc, experiment, settings }).unwrap_or_default()
    }
}

/// The preset of that name.
pub fn preset(id: &str) -> Result<Preset, PresetError> {
    match PRESETS.iter().find(|(name, _)| *name == id) {
        Some((name, text)) => Preset::parse(name, text),
        None => Err(nearest("preset", id, PRESETS.iter().map(|(name, _)| *name)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_says_what_it_is() {
        for (id, _) in PRESETS {
            let preset = preset(id).unwrap();
            assert!(!preset.about.is_empty() && preset.about.len() <= 80 && !preset.doc.is_empty(), "{id}");
        }
    }

    #[test]
    fn every_preset_is_written_and_read_back() {
        for (id, _) in PRESETS {
            let preset = Preset { about: "\"a\" \u{1b} 'b' \\".into(), ..preset(id).unwrap() };
            assert_eq!(Preset::parse(id, &preset.to_toml()).unwrap(), preset);
        }
    }

    #[test]
    fn errors_name_the_preset_the_key_and_the_reason() {
        assert!(preset("quik").unwrap_err().to_string().contains("did you mean quick"));
        let bad = |settings: &str| {
            Preset::parse("x", &format!("about='a'\ndoc='d'\nexperiment='sweep'\n[settings]\n{settings}")).unwrap_err().to_string()
        };
        assert!(bad("block-size='8m..1k'").contains("x: block-size: the range"));
        assert!(bad("trials=[1]").contains("trials is a array") || bad("trials=[1]").contains("trials is a"));
        assert!(Preset::parse("x", "about = ").unwrap_err().to_string().contains("line"));
    }
}
