//! Scratch files: invisible where that changes nothing, and deleted when closed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, SFlag};

use super::caretaker::Caretaker;
use super::fd;
use super::folder::{Folder, LockedEntry};
use super::scratch_name::{is_leftover_name, next_name};
use super::{leftovers, mounts, scratch_dir, temporary};

/// An open scratch file, readable and writable; deleted when dropped.
#[derive(Debug)]
pub struct Scratch {
    file: File,
    /// Its folder and name, if it needs one.
    named: Option<Named>,
}

#[derive(Debug)]
struct Named {
    folder: Folder,
    entry: LockedEntry,
    /// Ends after the file is removed.
    _caretaker: Option<Caretaker>,
}

impl Scratch {
    /// Creates an empty file in `dir`: unnamed (O_TMPFILE), or with a name that is removed
    /// immediately. The name stays if there is no /proc, because the file could not be reopened
    /// without it.
    ///
    /// # Errors
    /// The errno of open(2) for the named file: EACCES, EROFS, ENOSPC, ENOENT ...
    pub fn create(dir: &Path) -> io::Result<Self> {
        let folder = Folder::open(dir)?;
        if finds_by_name(&mounts::fs_at(dir)?) {
            return Self::create_named(folder, |_| false);
        }
        match folder.unnamed(OWNER_ONLY) {
            Ok(file) if can_reopen(&file) => Ok(Self { file, named: None }),
            _ => Self::create_named(folder, can_reopen),
        }
    }

    /// Creates an empty file in `dir` to which writes will be committed, as [`Scratch::create`]
    /// does. It keeps a name while it is open where a file without one is synced in another way
    /// than any other.
    ///
    /// # Errors
    /// Those of [`Scratch::create`].
    pub fn create_to_commit(dir: &Path) -> io::Result<Self> {
        if syncs_by_name(&mounts::fs_at(dir)?) {
            Self::create_named(Folder::open(dir)?, |_| false)
        } else {
            Self::create(dir)
        }
    }

    /// Creates a file that other processes can open by its name.
    ///
    /// # Errors
    /// As [`Scratch::create`].
    pub fn create_to_share(dir: &Path) -> io::Result<Self> {
        Self::create_named(Folder::open(dir)?, |_| false)
    }

    /// Creates a file with a name, which is removed at once if `goes_unnamed`.
    fn create_named(folder: Folder, goes_unnamed: impl Fn(&File) -> bool) -> io::Result<Self> {
        let entry = folder.create_file(OWNER_ONLY, &next_name)?;
        let file = match entry.file.try_clone() {
            Ok(file) => file,
            Err(error) => {
                folder.remove(&entry.name, entry.id);
                return Err(error);
            }
        };
        let unnamed = goes_unnamed(&file) && folder.remove(&entry.name, entry.id);
        let named = (!unnamed).then(|| {
            let caretaker = Caretaker::of_file(&folder, &entry.name);
            Named { folder, entry, _caretaker: caretaker }
        });
        Ok(Self { file, named })
    }

    /// Returns the open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns a path by which threads and child processes can reopen the file while it exists.
    pub fn path(&self) -> PathBuf {
        self.name().unwrap_or_else(|| fd::path(&self.file))
    }

    /// Returns its name, if it has one.
    pub fn name(&self) -> Option<PathBuf> {
        self.named.as_ref().map(|Named { folder, entry, .. }| folder.path(&entry.name))
    }
}

const OWNER_ONLY: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR);

/// Returns whether a file system syncs a file without a name differently: btrfs before Linux 6.17
/// and ZFS log nothing of it, f2fs writes a checkpoint each time. What is below an overlay is not
/// known.
fn syncs_by_name(fs: &str) -> bool {
    matches!(fs, "btrfs" | "zfs" | "f2fs" | "overlay")
}

/// Returns whether a file system opens and syncs a file only by its name, even one that is open.
fn finds_by_name(fs: &str) -> bool {
    fs == "9p"
}

fn can_reopen(file: &File) -> bool {
    File::open(fd::own_path(file)).is_ok()
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(Named { folder, entry, .. }) = &self.named {
            folder.remove(&entry.name, entry.id);
        }
    }
}

/// Removes what killed runs left in `dir`: files and folders with iotui's names that belong to this
/// user and are not locked; folders only if they contain nothing but iotui's files. The removed
/// paths are recorded for [`leftovers::take_notes`].
///
/// # Errors
/// The errno of reading the folder; what cannot be removed stays.
pub fn sweep(dir: &Path) -> io::Result<usize> {
    let folder = Folder::open(dir)?;
    let mut removed = 0;
    for name in folder.names()? {
        let text = name.to_str().unwrap_or_default();
        let gone = if temporary::is_name(text) {
            remove_file(&folder, &name)
        } else if is_leftover_name(text) {
            remove_file(&folder, &name) || scratch_dir::remove_leftover(&folder, &name)
        } else {
            false
        };
        if gone {
            leftovers::record(&folder.path(&name));
            removed += 1;
        }
    }
    Ok(removed)
}

fn remove_file(folder: &Folder, name: &OsStr) -> bool {
    folder.take_over(name, SFlag::S_IFREG).is_some_and(|entry| folder.remove(name, entry.id))
}

#[cfg(test)]
mod tests;
