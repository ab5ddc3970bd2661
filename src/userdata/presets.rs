//! The user's presets: their folder, and how one is saved.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::plan::{Preset, Presets};
use crate::sys::atomic_file;
use crate::sys::scratch::sweep;
use crate::text::{clean, describe_io_error, show_path, slug};
use crate::userdata::{Home, create_private_folder};

/// Why a preset cannot be saved. Every message is one line and says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum SavePresetError {
    #[error("no home folder to save presets in: set HOME or XDG_CONFIG_HOME to an absolute path")]
    NoHome,
    #[error("'{}' is not a valid preset name: use letters and digits", clean::brief(.0, 80))]
    Name(String),
    #[error("'{0}' is a built-in preset: choose another name")]
    BuiltIn(String),
    #[error("preset '{0}' already exists")]
    Exists(String),
    #[error("cannot write {}: {}", show_path(.path), describe_io_error(.error))]
    Io { path: PathBuf, error: io::Error },
}

/// Returns the folder of the user's presets, `$XDG_CONFIG_HOME/iotui/presets`. It need not exist.
///
/// # Errors
/// The user has no home folder.
pub fn presets_folder() -> Result<PathBuf, SavePresetError> {
    Ok(Home::Config.folder().ok_or(SavePresetError::NoHome)?.join("presets"))
}

/// Saves a preset in `dir`, which is created if necessary, under an id derived from its present
/// one. Returns the preset with that id, and its file. `replace` overwrites a preset with the same
/// id.
///
/// # Errors
/// The id has no letter or digit, is built in or (without `replace`) taken, or the file cannot be
/// written. Nothing is changed then.
pub fn save_preset(
    dir: &Path,
    preset: &Preset,
    replace: bool,
) -> Result<(Preset, PathBuf), SavePresetError> {
    if !preset.id.contains(|c: char| c.is_ascii_alphanumeric()) {
        return Err(SavePresetError::Name(preset.id.clone()));
    }
    let preset = Preset { id: slug(&preset.id), ..preset.clone() };
    if Presets::is_built_in(&preset.id) {
        return Err(SavePresetError::BuiltIn(preset.id));
    }
    let path = dir.join(format!("{}.toml", preset.id));
    create_private_folder(dir).map_err(|error| SavePresetError::Io { path: dir.into(), error })?;
    // Removes temporary files of killed processes.
    let _ = sweep(dir);
    let write = if replace { atomic_file::replace } else { atomic_file::create };
    match write(&path, preset.to_toml().as_bytes()) {
        Ok(()) => Ok((preset, path)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(SavePresetError::Exists(preset.id))
        }
        Err(error) => Err(SavePresetError::Io { path, error }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::plan::{Op, Settings};
    use crate::sys::testing::names;

    fn preset(id: &str, seed: u64) -> Preset {
        let settings = Settings { op: Some(Op::Write), seed: Some(seed), ..Settings::default() };
        Preset {
            id: id.into(),
            about: "a \"line\"".into(),
            question: "is it \"fast\"?".into(),
            needs_file: true,
            first_backend: true,
            doc: String::new(),
            experiment: "sweep".into(),
            settings,
            sweeps: Vec::new(),
        }
    }

    #[test]
    fn saves_a_preset_without_overwriting_another() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("a/presets");
        let (saved, path) = save_preset(&dir, &preset("../My Disk!", 1), false).unwrap();
        assert_eq!((saved.id.as_str(), names(&dir)), ("my-disk", vec!["my-disk.toml".to_string()]));
        let read = || Preset::parse("my-disk", &fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(read(), saved);
        let error = save_preset(&dir, &preset("my disk", 2), false).unwrap_err();
        assert!(matches!(error, SavePresetError::Exists(id) if id == "my-disk"));
        assert_eq!(read().settings.seed, Some(1));
        save_preset(&dir, &preset("my disk", 2), true).unwrap();
        assert_eq!(read().settings.seed, Some(2));
        assert_eq!(names(&dir), ["my-disk.toml"]);
    }

    #[test]
    fn rejects_invalid_names() {
        let dir = tempfile::tempdir().unwrap();
        let error_of = |id: &str, replace| {
            save_preset(dir.path(), &preset(id, 1), replace).unwrap_err().to_string()
        };
        assert!(error_of("Quick", true).contains("is a built-in preset"));
        assert!(error_of("\u{1b}[;!", false).contains("letters and digits"));
        assert!(names(dir.path()).is_empty());
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(
            save_preset(file.path(), &preset("x", 1), false)
                .unwrap_err()
                .to_string()
                .starts_with("cannot write")
        );
    }
}
