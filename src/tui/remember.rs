//! What the full screen remembers from one start to the next: `$XDG_STATE_HOME/iotui/state.toml`.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::plan::Settings;
use crate::sys::atomic_file;
use crate::sys::fd::open_regular;
use crate::userdata::{Home, create_private_folder};

/// Choices of the last time. Nothing of it is worth an error: what cannot be read is as if it had
/// not been written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remembered {
    /// The id of the preset that was chosen; `None` in files from before it was kept.
    pub preset: Option<String>,
    /// What was changed of it.
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
/// A file that is longer was not written here.
const MAX_FILE_BYTES: u64 = 64 << 10;

impl Remembered {
    /// Loads what was remembered last time; the defaults where there is nothing.
    pub fn load() -> Remembered {
        place().map(|path| Remembered::load_from(&path)).unwrap_or_default()
    }

    /// Keeps it for the next time.
    ///
    /// # Errors
    /// There is no home, or it cannot be written: the old file stays.
    pub fn save(&self) -> io::Result<()> {
        self.save_to(&place().ok_or(io::ErrorKind::NotFound)?)
    }

    fn load_from(path: &Path) -> Remembered {
        let mut text = String::new();
        let read = open_regular(path)
            .ok()
            .and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text).ok());
        read.map(|_| Remembered::parse(&text)).unwrap_or_default()
    }

    fn save_to(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            create_private_folder(folder)?;
        }
        atomic_file::to_file(path, |to| to.write_all(self.text().as_bytes()))
    }

    /// Returns each value by itself: one that is wrong takes no other with it.
    fn parse(text: &str) -> Remembered {
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
    fn text(&self) -> String {
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

fn place() -> Option<PathBuf> {
    Some(Home::State.folder()?.join("state.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    fn some() -> Remembered {
        let mut settings = Settings::default();
        for (name, text) in [
            ("backend", "read,stdio+buf=64k"),
            ("direct", "true"),
            ("trial-time", "5ms..1s"),
            ("seed", "7"),
        ] {
            settings.set(name, text).unwrap();
        }
        let (theme, folder) = (Some("dark \"x\"".into()), Some("/a b/ü".into()));
        let preset = Some("lab/\"x\"".into());
        Remembered {
            preset,
            settings,
            recent: vec!["/a".into(), "b\n\u{1b}".into()],
            theme,
            folder,
            log_y: true,
        }
    }

    #[test]
    fn what_was_saved_is_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/iotui/state.toml");
        assert_eq!(Remembered::load_from(&path), Remembered::default());
        for state in [some(), Remembered::default()] {
            state.save_to(&path).unwrap();
            assert_eq!(Remembered::load_from(&path), state);
        }
        let strange =
            Remembered { recent: vec![OsStr::from_bytes(b"/\xff").into(), "/b".into()], ..some() };
        strange.save_to(&path).unwrap();
        assert_eq!(
            Remembered::load_from(&path),
            Remembered { recent: vec!["/b".into()], ..some() }
        );
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(some().save_to("/proc/iotui/state.toml".as_ref()).is_err());
    }

    #[test]
    fn what_is_broken_is_forgotten_and_the_rest_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.toml");
        for text in [&b"theme = "[..], b"\xff\xfe", b"\0", b""] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(Remembered::load_from(&path), Remembered::default());
        }
        assert_eq!(Remembered::load_from(dir.path()), Remembered::default());
        let text = "preset = []\ntheme = 3\nlog-y = true\nfolder = \"\"\nrecent = [1, \"/a\", \"\"]\n[settings]\nseed = \"x\"\nop = \"write\"\nnew = \"1\"\ntrials = 3\n";
        let found = Remembered::parse(text);
        assert_eq!(
            (found.settings.argv().join(" "), found.recent),
            ("--op write".into(), vec![PathBuf::from("/a")])
        );
        assert_eq!(
            (found.preset, found.theme, found.folder, found.log_y),
            (None, None, None, true)
        );
    }
}
