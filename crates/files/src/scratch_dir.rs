//! A temporary folder for files that need names; it is removed with its contents.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nix::fcntl::AtFlags;
use nix::sys::stat::{FileStat, SFlag, fstatat};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

use super::caretaker::Caretaker;
use super::folder::{Folder, LockedEntry, names};
use super::scratch_name::next_name;

/// A new folder, removed with the files in it when dropped.
#[derive(Debug)]
pub struct ScratchDir {
    parent: Folder,
    entry: LockedEntry,
    path: PathBuf,
    /// The descriptor that listing it takes, so that it goes also where none is left.
    spare: Option<File>,
    /// Ends after it is removed.
    _caretaker: Option<Caretaker>,
}

impl ScratchDir {
    /// Creates one in `dir`; a folder left by a killed run is removed by
    /// [`sweep`](super::scratch::sweep).
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
pub fn remove_leftover(parent: &Folder, name: &OsStr) -> bool {
    let Some(entry) = parent.take_over(name, SFlag::S_IFDIR) else { return false };
    let plain =
        names(entry.file.as_fd()).is_ok_and(|all| all.iter().all(|one| is_plain(&entry.file, one)));
    plain && empty(&entry.file).is_ok() && parent.remove_folder(name, entry.id)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use nix::fcntl::{Flock, FlockArg};

    use super::*;
    use crate::scratch::sweep;

    #[test]
    fn it_goes_with_all_files_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let entry = ScratchDir::create(dir.path()).unwrap();
        assert_eq!(entry.folder().metadata().unwrap().mode() & 0o777, 0o700);
        (0..300).for_each(|n| fs::write(entry.path().join(format!("f{n}")), "x").unwrap());
        // It is still in use.
        assert_eq!(
            (sweep(dir.path()).unwrap(), fs::read_dir(entry.path()).unwrap().count()),
            (0, 300)
        );
        drop(entry);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(ScratchDir::create(&dir.path().join("none")).is_err());
    }

    #[test]
    fn what_a_killed_run_left_is_swept_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        // Higher than any process id of Linux.
        let at = |number: u32| dir.path().join(format!(".iotui-scratch-99999999-{number}"));
        (0..5).for_each(|number| fs::create_dir(at(number)).unwrap());
        fs::write(at(0).join("f0"), "x").unwrap();
        fs::create_dir(at(1).join("not ours")).unwrap();
        fs::write(at(1).join("f0"), "x").unwrap();
        let precious = dir.path().join("precious");
        fs::write(&precious, "x").unwrap();
        std::os::unix::fs::symlink(&precious, at(2).join("f0")).unwrap();
        let _lock =
            Flock::lock(File::open(at(3)).unwrap(), FlockArg::LockExclusiveNonblock).unwrap();
        std::os::unix::fs::symlink(dir.path(), at(5)).unwrap();
        assert_eq!(sweep(dir.path()).unwrap(), 2);
        let left: Vec<bool> =
            (0..6).map(|number| fs::symlink_metadata(at(number)).is_ok()).collect();
        assert_eq!(left, [false, true, true, true, false, true]);
        assert!(at(1).join("f0").exists() && precious.exists());
    }
}
