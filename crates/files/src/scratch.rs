//! Scratch files and folders: invisible where that changes nothing, and deleted when closed. What a
//! killed run left is removed by the next one.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::fcntl::AtFlags;
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

use super::caretaker::Caretaker;
use super::folder::{Folder, LockedEntry, names};
use super::names::{is_leftover_name, is_temporary_name, next_name};
use super::{fd, mounts};

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
    /// does. It keeps a name while it is open if the file system syncs unnamed files differently.
    ///
    /// # Errors
    /// As [`Scratch::create`].
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

/// Returns whether a file system syncs unnamed files differently: btrfs before Linux 6.17 and ZFS
/// do not log them, f2fs writes a checkpoint each time. Overlays are treated alike because the file
/// system below is unknown.
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

/// Removes the leftovers of killed runs in `dir`: files and folders with iotui's names that belong
/// to this user and are not locked; folders only if they contain nothing but iotui's files. The
/// removed paths are recorded for [`take_leftover_notes`].
///
/// # Errors
/// The errno of reading the folder; what cannot be removed stays.
pub fn sweep(dir: &Path) -> io::Result<usize> {
    let folder = Folder::open(dir)?;
    let mut removed = 0;
    for name in folder.names()? {
        let text = name.to_str().unwrap_or_default();
        let gone = if is_temporary_name(text) {
            remove_file(&folder, &name)
        } else if is_leftover_name(text) {
            remove_file(&folder, &name) || remove_folder(&folder, &name)
        } else {
            false
        };
        if gone {
            record_leftover(&folder.path(&name));
            removed += 1;
        }
    }
    Ok(removed)
}

fn remove_file(folder: &Folder, name: &OsStr) -> bool {
    folder.take_over(name, SFlag::S_IFREG).is_some_and(|entry| folder.remove(name, entry.id))
}

/// A new folder, removed with the files in it when dropped.
#[derive(Debug)]
pub struct ScratchDir {
    parent: Folder,
    entry: LockedEntry,
    path: PathBuf,
    /// The descriptor for listing the folder, so that it can be removed without a free one.
    spare: Option<File>,
    /// Ends after it is removed.
    _caretaker: Option<Caretaker>,
}

impl ScratchDir {
    /// Creates one in `dir`; a folder left by a killed run is removed by
    /// [`sweep`].
    ///
    /// # Errors
    /// The errno of mkdir(2) or open(2).
    pub fn create(dir: &Path) -> io::Result<Self> {
        let parent = Folder::open(dir)?;
        let entry = parent.create_folder(&next_name)?;
        let (path, caretaker) =
            (parent.path(&entry.name), Caretaker::of_folder(&parent, &entry.name));
        let mut dir = Self { parent, entry, path, spare: None, _caretaker: caretaker };
        dir.spare = Some(dir.entry.file.try_clone()?);
        Ok(dir)
    }

    /// Returns the path by which others open the files in it. Files are created through
    /// [`folder`](Self::folder).
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the open folder, for calls with a name relative to it.
    pub fn folder(&self) -> &File {
        &self.entry.file
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        drop(self.spare.take());
        let _ = empty(&self.entry.file);
        self.parent.remove_folder(&self.entry.name, self.entry.id);
    }
}

/// Returns whether `name` is a file name that probes use: `f0`, `g17`.
fn is_ours(name: &OsStr) -> bool {
    let rest =
        name.to_str().and_then(|name| name.strip_prefix(|first: char| first.is_ascii_lowercase()));
    rest.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Removes our regular files from a folder; others stay.
fn empty(folder: &File) -> io::Result<()> {
    for name in names(folder.as_fd())?.iter().filter(|name| is_plain(folder, name)) {
        unlinkat(folder.as_fd(), name.as_os_str(), UnlinkatFlags::NoRemoveDir)?;
    }
    Ok(())
}

fn is_plain(folder: &File, name: &OsStr) -> bool {
    fn plain(stat: FileStat) -> bool {
        stat.st_mode & libc::S_IFMT == libc::S_IFREG && stat.st_uid == geteuid().as_raw()
    }
    is_ours(name) && fstatat(folder.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok_and(plain)
}

/// Removes a folder left by a killed run if it belongs to this user, is not locked, and contains
/// nothing but our files.
fn remove_folder(parent: &Folder, name: &OsStr) -> bool {
    let Some(entry) = parent.take_over(name, SFlag::S_IFDIR) else { return false };
    let plain =
        names(entry.file.as_fd()).is_ok_and(|all| all.iter().all(|one| is_plain(&entry.file, one)));
    plain && empty(&entry.file).is_ok() && parent.remove_folder(name, entry.id)
}

/// Files of killed runs that this process has removed and not yet reported to the user.
static REMOVED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Records the path of a file that a killed run left and this process removed.
pub fn record_leftover(path: &Path) {
    REMOVED.lock().unwrap_or_else(PoisonError::into_inner).push(path.into());
}

/// Returns the paths removed since the last call, as messages for the user.
pub fn take_leftover_notes() -> Vec<String> {
    let removed = std::mem::take(&mut *REMOVED.lock().unwrap_or_else(PoisonError::into_inner));
    removed
        .iter()
        .map(|path| format!("removed {}, left behind by a killed iotui", path.display()))
        .collect()
}

#[cfg(test)]
mod tests;
