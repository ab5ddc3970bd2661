//! A file that nobody sees and that leaves nothing behind.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, SFlag};

use super::fd;
use super::folder::{Folder, Own, is_unguessable, unguessable};
use super::{left, scratch_dir, temporary};

const PREFIX: &str = ".iotui-scratch-";

/// An open scratch file, readable and writable, gone when dropped.
#[derive(Debug)]
pub struct Scratch {
    file: File,
    /// Its folder and name, where it could not do without one.
    named: Option<(Folder, Own)>,
}

impl Scratch {
    /// Makes an empty file in `dir`: unnamed (O_TMPFILE); where that is not possible with a name
    /// that is taken away at once. The name stays where there is no /proc, as the file could not be
    /// opened again without it.
    ///
    /// # Errors
    /// The errno of open(2) for the named file: EACCES, EROFS, ENOSPC, ENOENT ...
    pub fn create(dir: &Path) -> io::Result<Self> {
        let folder = Folder::open(dir)?;
        match folder.unnamed(OWNER) {
            Ok(file) if can_reopen(&file) => Ok(Self { file, named: None }),
            _ => Self::create_named(folder, can_reopen),
        }
    }

    fn create_named(folder: Folder, can_reopen: impl Fn(&File) -> bool) -> io::Result<Self> {
        let own = folder.own_file(OWNER, &next_name)?;
        let file = own.file.try_clone()?;
        let unnamed = can_reopen(&file) && folder.remove(&own.name, own.id);
        Ok(Self { file, named: (!unnamed).then_some((folder, own)) })
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// A path by which threads and child processes can open it again, for as long as it lives.
    pub fn path(&self) -> PathBuf {
        self.name().unwrap_or_else(|| fd::path(&self.file))
    }

    /// Its name, where it has one.
    pub fn name(&self) -> Option<PathBuf> {
        self.named.as_ref().map(|(folder, own)| folder.path(&own.name))
    }
}

const OWNER: Mode = Mode::S_IRUSR.union(Mode::S_IWUSR);

fn can_reopen(file: &File) -> bool {
    fd::own_path(file).exists()
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some((folder, own)) = &self.named {
            folder.remove(&own.name, own.id);
        }
    }
}

/// A name that tells whose it is, and that nobody can guess.
pub(super) fn next_name() -> String {
    format!("{PREFIX}{}", unguessable())
}

/// Removes what killed runs left in `dir`: files and folders with names of iotui's own, of this
/// user, locked by nobody; folders only where nothing but files of iotui's own are in them. What
/// was removed is told by [`left::tell`].
///
/// # Errors
/// The errno of reading the folder; what cannot be removed is left alone.
pub fn sweep(dir: &Path) -> io::Result<usize> {
    let folder = Folder::open(dir)?;
    let mut removed = 0;
    for name in folder.names()? {
        let text = name.to_str().unwrap_or_default();
        let gone = match () {
            () if temporary::is_name(text) => remove_file(&folder, &name),
            () if is_name(text) => {
                remove_file(&folder, &name) || scratch_dir::remove_left(&folder, &name)
            }
            () => false,
        };
        if gone {
            left::removed(&folder.path(&name));
            removed += 1;
        }
    }
    Ok(removed)
}

fn remove_file(folder: &Folder, name: &OsStr) -> bool {
    folder.take_over(name, SFlag::S_IFREG).is_some_and(|own| folder.remove(name, own.id))
}

/// A name of [`next_name`], or of versions before it: `.iotui-scratch-PID-N` of a process that is
/// gone.
fn is_name(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|rest| is_unguessable(rest) || old_owner(rest).is_some_and(|pid| !alive(pid)))
}

fn old_owner(rest: &str) -> Option<u32> {
    let (pid, count) = rest.split_once('-')?;
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    number(count)?;
    number(pid)
}

fn alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

#[cfg(test)]
mod tests;
