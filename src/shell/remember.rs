//! Reads and writes what the full screen remembers: `$XDG_STATE_HOME/iotui/state.toml`.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use iotui_files::fd::open_regular;
use iotui_files::{Home, atomic_file, create_private_folder};

use crate::tui::remember::Remembered;

/// A file that is longer was not written here.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// Loads the state of the last start, or the defaults.
pub fn load() -> Remembered {
    place().map(|path| load_from(&path)).unwrap_or_default()
}

/// Keeps it for the next time.
///
/// # Errors
/// There is no home, or it cannot be written: the old file stays.
pub fn save(remembered: &Remembered) -> io::Result<()> {
    save_to(remembered, &place().ok_or(io::ErrorKind::NotFound)?)
}

fn load_from(path: &Path) -> Remembered {
    let mut text = String::new();
    let read = open_regular(path)
        .ok()
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text).ok());
    read.map(|_| Remembered::parse(&text)).unwrap_or_default()
}

fn save_to(remembered: &Remembered, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_private_folder(folder)?;
    }
    atomic_file::to_file(path, |to| to.write_all(remembered.text().as_bytes()))
}

fn place() -> Option<PathBuf> {
    Some(Home::State.folder()?.join("state.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use crate::plan::Settings;

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
        assert_eq!(load_from(&path), Remembered::default());
        for state in [some(), Remembered::default()] {
            save_to(&state, &path).unwrap();
            assert_eq!(load_from(&path), state);
        }
        let strange =
            Remembered { recent: vec![OsStr::from_bytes(b"/\xff").into(), "/b".into()], ..some() };
        save_to(&strange, &path).unwrap();
        assert_eq!(load_from(&path), Remembered { recent: vec!["/b".into()], ..some() });
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(save_to(&some(), "/proc/iotui/state.toml".as_ref()).is_err());
    }

    #[test]
    fn broken_parts_alone_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.toml");
        for text in [&b"theme = "[..], b"\xff\xfe", b"\0", b""] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(load_from(&path), Remembered::default());
        }
        assert_eq!(load_from(dir.path()), Remembered::default());
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
