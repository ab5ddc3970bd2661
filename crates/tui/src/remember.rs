//! The state that the full screen keeps from one start to the next:
//! `$XDG_STATE_HOME/iotui/state.toml`.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::plan::Settings;

/// Choices of the last time. Nothing of it is worth an error: what cannot be read is as if it had
/// not been written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remembered {
    /// The id of the preset that was chosen; `None` in files from before it was kept.
    pub preset: Option<String>,
    /// Settings that differ from the preset.
    pub settings: Settings,
    /// Targets, the last one first.
    pub recent: Vec<PathBuf>,
    /// The id of the theme.
    pub theme: Option<String>,
    /// Where the file chooser was.
    pub folder: Option<PathBuf>,
    /// Plots of throughput have a logarithmic axis.
    pub log_y: bool,
}

/// The most targets that are remembered.
pub const MAX_RECENT: usize = 10;

impl Remembered {
    /// Returns each value by itself: one that is wrong takes no other with it.
    pub fn parse(text: &str) -> Remembered {
        let table: Table = toml::from_str(text).unwrap_or_default();
        let text_of =
            |key: &str| table.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let recent = table.get("recent").and_then(Value::as_array).into_iter().flatten();
        let mut settings = Settings::default();
        for (name, value) in table.get("settings").and_then(Value::as_table).into_iter().flatten() {
            let _ = value.as_str().map(|text| settings.set(name, text));
        }
        Remembered {
            preset: text_of("preset").map(String::from),
            settings,
            recent: recent
                .filter_map(Value::as_str)
                .filter(|p| !p.is_empty())
                .map(PathBuf::from)
                .take(MAX_RECENT)
                .collect(),
            theme: text_of("theme").map(String::from),
            folder: text_of("folder").map(PathBuf::from),
            log_y: table.get("log-y").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    /// Returns a path that is not text is skipped: TOML cannot hold it.
    pub fn text(&self) -> String {
        let settings: Table =
            self.settings.given_values().map(|(name, text)| (name.into(), text.into())).collect();
        let recent: Vec<Value> =
            self.recent.iter().filter_map(|path| path.to_str()).map(Value::from).collect();
        let mut table = Table::new();
        let folder = self.folder.as_deref().and_then(Path::to_str);
        for (key, text) in [
            ("preset", self.preset.as_deref()),
            ("theme", self.theme.as_deref()),
            ("folder", folder),
        ] {
            table.extend(text.map(|text| (key.to_string(), text.into())));
        }
        table.insert("log-y".into(), self.log_y.into());
        table.insert("recent".into(), recent.into());
        table.insert("settings".into(), settings.into());
        toml::to_string(&table).unwrap_or_default()
    }
}
