//! A temporary file that will replace another one: completed or removed.

use std::fs::{self, File};
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;

use super::folder::{Folder, LockedEntry, is_random_name, random_name};

/// A temporary file, locked until it is dropped; its creator removes or renames it.
#[derive(Debug)]
pub struct Temporary {
    entry: LockedEntry,
    path: PathBuf,
}

impl Temporary {
    /// Creates an empty file with a random name in `dir`. A file left by a killed run is removed by
    /// [`scratch::sweep`](super::scratch::sweep).
    ///
    /// # Errors
    /// The errno of open(2).
    pub fn beside(dir: &Path, mode: u32) -> io::Result<Temporary> {
        let folder = Folder::open(dir)?;
        let entry = folder.create_file(Mode::from_bits_truncate(mode), &|| {
            format!(".iotui-{}.tmp", random_name())
        })?;
        Ok(Temporary { path: folder.path(&entry.name), entry })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it. A FUSE file system may refuse that while the file is open.
    ///
    /// # Errors
    /// The errno of unlink(2).
    pub fn remove(self) -> io::Result<()> {
        let path = self.path.clone();
        fs::remove_file(&path).or_else(|_| {
            drop(self);
            fs::remove_file(&path)
        })
    }
}

impl Deref for Temporary {
    type Target = File;

    fn deref(&self) -> &File {
        &self.entry.file
    }
}

impl DerefMut for Temporary {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.entry.file
    }
}

pub fn is_name(name: &str) -> bool {
    name.strip_prefix(".iotui-")
        .and_then(|rest| rest.strip_suffix(".tmp"))
        .is_some_and(is_random_name)
}
