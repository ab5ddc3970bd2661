//! The user's folders, and the files in them other than sessions: presets, themes.

mod presets;

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::sys::fd::open_regular;
use crate::text::clean_text;

pub use iotui_files::{Home, create_private_folder};
pub use presets::{SavePresetError, presets_folder, save_preset};

/// A preset or a theme has some lines; a larger file is something else.
pub const MAX_TOML_LEN: u64 = 64 << 10;

/// A file of the user.
#[derive(Debug)]
pub struct TomlFile {
    /// Its name without `.toml`, safe to display.
    pub id: String,
    path: PathBuf,
    /// Its text, or why it cannot be read.
    pub text: Result<String, String>,
}

impl TomlFile {
    /// Adds the path to what is wrong with the file.
    pub fn explain(&self, why: &str) -> String {
        format!("{}: {why}", clean_text(&self.path.to_string_lossy()))
    }
}

/// Reads the `*.toml` files of a folder, in the order of their names; empty without the folder.
///
/// # Errors
/// The folder cannot be read.
pub fn read_toml_files(dir: &Path) -> io::Result<Vec<TomlFile>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths.into_iter().filter_map(read_file).collect())
}

/// Reads a file; `None` if its name does not end in `.toml`.
fn read_file(path: PathBuf) -> Option<TomlFile> {
    let stem = path.file_stem().filter(|_| path.extension().is_some_and(|e| e == "toml"))?;
    let id = clean_text(&stem.to_string_lossy());
    // A hidden file is another program's, or half written.
    (!id.starts_with('.')).then(|| TomlFile { id, text: read_text(&path), path })
}

fn read_text(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = open_regular(path).map_err(|error| error.to_string())?;
    file.take(MAX_TOML_LEN + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_TOML_LEN {
        return Err(format!("it is larger than {MAX_TOML_LEN} bytes"));
    }
    Ok(text)
}
