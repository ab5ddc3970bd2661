//! A file beside another that is to take its place: whole, or gone.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;

use super::folder::{Folder, Own, is_unguessable, unguessable};

/// In use until it is dropped; whoever makes it removes it, or renames it.
#[derive(Debug)]
pub struct Temporary {
    own: Own,
    path: PathBuf,
}

impl Temporary {
    /// Makes an empty file in `dir` under a name that nobody can guess. One that a killed run
    /// leaves is removed by [`scratch::sweep`](super::scratch::sweep).
    ///
    /// # Errors
    /// The errno of open(2).
    pub fn beside(dir: &Path, mode: u32) -> io::Result<Temporary> {
        let folder = Folder::open(dir)?;
        let own = folder.own_file(Mode::from_bits_truncate(mode), &|| {
            format!(".iotui-{}.tmp", unguessable())
        })?;
        Ok(Temporary { path: folder.path(&own.name), own })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Deref for Temporary {
    type Target = File;

    fn deref(&self) -> &File {
        &self.own.file
    }
}

impl DerefMut for Temporary {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.own.file
    }
}

pub(super) fn is_name(name: &str) -> bool {
    name.strip_prefix(".iotui-")
        .and_then(|rest| rest.strip_suffix(".tmp"))
        .is_some_and(is_unguessable)
}
