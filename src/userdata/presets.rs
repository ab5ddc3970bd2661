//! Presets of the user: where their files lie, and how one is written.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::plan::{Preset, Presets};
use crate::sys::atomic_file;
use crate::sys::scratch::sweep;
use crate::text::{clean, slug};
use crate::userdata::{Home, folder_of_ours};

/// Why a preset cannot be kept. Every message is one line and says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error("no home folder to keep presets in: set HOME or XDG_CONFIG_HOME to an absolute path")]
    NoHome,
    #[error("'{}' is no name for a preset: use letters and digits", clean::brief(.0, 80))]
    Name(String),
    #[error("'{0}' is a preset of iotui: choose another name")]
    BuiltIn(String),
    #[error("there is a preset '{0}'")]
    Exists(String),
    #[error("cannot write {}: {error}", crate::text::shown(.path))]
    Io { path: PathBuf, error: io::Error },
}

/// The folder of the user's presets: `$XDG_CONFIG_HOME/iotui/presets`. It need not exist.
///
/// # Errors
/// There is no home.
pub fn presets_folder() -> Result<PathBuf, KeepError> {
    Ok(Home::Config.folder().ok_or(KeepError::NoHome)?.join("presets"))
}

/// Writes a preset into `dir` (made if need be), its id made of the one it has; returns it with
/// that id, and its file. With `replace` it takes the place of one of the same id.
///
/// # Errors
/// The id has no letter or digit, is one of iotui's or (without `replace`) taken, or the file
/// cannot be written: then nothing is changed.
pub fn keep_preset(
    dir: &Path,
    preset: &Preset,
    replace: bool,
) -> Result<(Preset, PathBuf), KeepError> {
    if !preset.id.contains(|c: char| c.is_ascii_alphanumeric()) {
        return Err(KeepError::Name(preset.id.clone()));
    }
    let preset = Preset { id: slug(&preset.id), ..preset.clone() };
    if Presets::is_built_in(&preset.id) {
        return Err(KeepError::BuiltIn(preset.id));
    }
    let path = dir.join(format!("{}.toml", preset.id));
    folder_of_ours(dir).map_err(|error| KeepError::Io { path: dir.into(), error })?;
    // What a killed process left.
    let _ = sweep(dir);
    let write = if replace { atomic_file::replace } else { atomic_file::create };
    match write(&path, preset.to_toml().as_bytes()) {
        Ok(()) => Ok((preset, path)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(KeepError::Exists(preset.id)),
        Err(error) => Err(KeepError::Io { path, error }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::plan::{Op, Settings};

    fn preset(id: &str, seed: u64) -> Preset {
        let settings = Settings { op: Some(Op::Write), seed: Some(seed), ..Settings::default() };
        Preset {
            id: id.into(),
            about: "a \"line\"".into(),
            doc: String::new(),
            experiment: "sweep".into(),
            settings,
            sweeps: Vec::new(),
        }
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_preset_is_written_whole_and_never_over_another() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("a/presets");
        let (kept, path) = keep_preset(&dir, &preset("../My Disk!", 1), false).unwrap();
        assert_eq!((kept.id.as_str(), names(&dir)), ("my-disk", vec!["my-disk.toml".to_string()]));
        let read = || Preset::parse("my-disk", &fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(read(), kept);
        assert!(
            matches!(keep_preset(&dir, &preset("my disk", 2), false), Err(KeepError::Exists(id)) if id == "my-disk")
        );
        assert_eq!(read().settings.seed, Some(1));
        keep_preset(&dir, &preset("my disk", 2), true).unwrap();
        assert_eq!(read().settings.seed, Some(2));
        assert_eq!(names(&dir), ["my-disk.toml"]);
    }

    #[test]
    fn names_that_cannot_be_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let told = |id: &str, replace| {
            keep_preset(dir.path(), &preset(id, 1), replace).unwrap_err().to_string()
        };
        assert!(told("Quick", true).contains("is a preset of iotui"));
        assert!(told("\u{1b}[;!", false).contains("letters and digits"));
        assert!(names(dir.path()).is_empty());
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(
            keep_preset(file.path(), &preset("x", 1), false)
                .unwrap_err()
                .to_string()
                .starts_with("cannot write")
        );
    }
}
