//! A folder of our own for files that need names; it leaves nothing behind.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

use super::scratch::next_name;

/// A new folder, removed with the files in it when dropped.
#[derive(Debug)]
pub struct ScratchDir {
    path: PathBuf,
    /// Locked where that is possible: tells a sweep in another container that it is in use.
    folder: Result<Flock<File>, File>,
}

impl ScratchDir {
    /// Makes `.iotui-scratch-PID-N` in `dir`; one that a killed run leaves is removed by [`sweep`](super::scratch::sweep).
    ///
    /// # Errors
    /// The errno of mkdir(2) or open(2).
    pub fn create(dir: &Path) -> io::Result<Self> {
        let path = dir.join(next_name());
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = open(&path).inspect_err(|_| drop(fs::remove_dir(&path)))?;
        let folder = Flock::lock(folder, FlockArg::LockExclusiveNonblock).map_err(|(folder, _)| folder);
        Ok(Self { path, folder })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// For the calls that take a name relative to a folder.
    pub fn folder(&self) -> &File {
        self.folder.as_deref().unwrap_or_else(|folder| folder)
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let _ = empty(&self.path, self.folder());
        let _ = fs::remove_dir(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)
}

/// Removes the regular files of a folder; what else is in it stays.
fn empty(path: &Path, folder: &File) -> io::Result<()> {
    for entry in fs::read_dir(path)?.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
        unlinkat(folder.as_fd(), entry.file_name().as_os_str(), UnlinkatFlags::NoRemoveDir)?;
    }
    Ok(())
}

/// Removes a folder that an ended run left: this user's, locked by nobody, with nothing but regular files in it.
pub(super) fn remove_left(path: &Path) -> bool {
    let Ok(folder) = open(path) else { return false };
    let ours = folder.metadata().is_ok_and(|meta| meta.uid() == geteuid().as_raw());
    let Some(folder) = ours.then(|| Flock::lock(folder, FlockArg::LockExclusiveNonblock).ok()).flatten() else { return false };
    let plain =
        fs::read_dir(path).is_ok_and(|mut all| all.all(|one| one.is_ok_and(|one| one.file_type().is_ok_and(|kind| kind.is_file()))));
    plain && empty(path, &folder).is_ok() && fs::remove_dir(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::scratch::sweep;

    #[test]
    fn it_goes_with_all_files_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let own = ScratchDir::create(dir.path()).unwrap();
        assert_eq!(own.folder().metadata().unwrap().mode() & 0o777, 0o700);
        (0..300).for_each(|n| fs::write(own.path().join(format!("f{n}")), "x").unwrap());
        // It is in use.
        assert_eq!((sweep(dir.path()).unwrap(), fs::read_dir(own.path()).unwrap().count()), (0, 300));
        drop(own);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(ScratchDir::create(&dir.path().join("none")).is_err());
    }

    #[test]
    fn what_a_killed_run_left_is_swept_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        // Higher than any process number of Linux.
        let at = |number: u32| dir.path().join(format!(".iotui-scratch-99999999-{number}"));
        (0..5).for_each(|number| fs::create_dir(at(number)).unwrap());
        fs::write(at(0).join("f0"), "x").unwrap();
        fs::create_dir(at(1).join("not ours")).unwrap();
        fs::write(at(1).join("f0"), "x").unwrap();
        let precious = dir.path().join("precious");
        fs::write(&precious, "x").unwrap();
        std::os::unix::fs::symlink(&precious, at(2).join("f0")).unwrap();
        let _lock = Flock::lock(File::open(at(3)).unwrap(), FlockArg::LockExclusiveNonblock).unwrap();
        std::os::unix::fs::symlink(dir.path(), at(5)).unwrap();
        assert_eq!(sweep(dir.path()).unwrap(), 2);
        let left: Vec<bool> = (0..6).map(|number| fs::symlink_metadata(at(number)).is_ok()).collect();
        assert_eq!(left, [false, true, true, true, false, true]);
        assert!(at(1).join("f0").exists() && precious.exists());
    }
}
