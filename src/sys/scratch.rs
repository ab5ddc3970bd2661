//! A file that nobody sees and that leaves nothing behind.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

use super::{fd, scratch_dir};

const PREFIX: &str = ".iotui-scratch-";
/// Entries of a folder looked at when sweeping.
const MAX_ENTRIES: usize = 100_000;

/// An open scratch file, readable and writable, gone when dropped.
#[derive(Debug)]
pub struct Scratch {
    file: File,
    /// Its name, where it could not do without one.
    named: Option<PathBuf>,
    /// Tells a sweep in another container, where our process number means nothing, that a named file is in use.
    _lock: Option<Flock<File>>,
}

impl Scratch {
    /// Makes an empty file in `dir`: unnamed (O_TMPFILE); where that is not possible with a name `.iotui-scratch-PID-N` that is taken away at once.
    ///
    /// # Errors
    /// The errno of open(2) for the named file: EACCES, EROFS, ENOSPC, ENOENT ...
    pub fn create(dir: &Path) -> io::Result<Self> {
        let unnamed = OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(libc::O_TMPFILE).open(dir);
        unnamed.map(|file| Self { file, named: None, _lock: None }).or_else(|_| Self::create_named(dir))
    }

    fn create_named(dir: &Path) -> io::Result<Self> {
        let path = dir.join(next_name());
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(&path)?;
        if fs::remove_file(&path).is_ok() {
            return Ok(Self { file, named: None, _lock: None });
        }
        let lock = file.try_clone().ok().and_then(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).ok());
        Ok(Self { file, named: Some(path), _lock: lock })
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// A path by which threads and child processes can open it again, for as long as it lives.
    pub fn path(&self) -> PathBuf {
        self.named.clone().unwrap_or_else(|| fd::path(&self.file))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(path) = &self.named {
            let _ = fs::remove_file(path);
        }
    }
}

/// A name that tells whose it is: `.iotui-scratch-PID-N`.
pub(super) fn next_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{PREFIX}{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed))
}

/// Removes the named scratch files and folders in `dir` that ended runs left: of this user, not open in a running one, folders only where
/// nothing but regular files is in them. Returns their number.
///
/// # Errors
/// The errno of reading the folder; a file that cannot be removed is left alone.
pub fn sweep(dir: &Path) -> io::Result<usize> {
    let folder = File::open(dir)?;
    let mut removed = 0;
    for entry in fs::read_dir(dir)?.take(MAX_ENTRIES).flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(owner).is_none_or(alive) {
            continue;
        }
        let path = entry.path();
        let file = || is_leftover(&path) && unlinkat(folder.as_fd(), name.as_os_str(), UnlinkatFlags::NoRemoveDir).is_ok();
        if file() || scratch_dir::remove_left(&path) {
            removed += 1;
        }
    }
    Ok(removed)
}

/// The process number in `.iotui-scratch-PID-N`.
fn owner(name: &str) -> Option<u32> {
    let (pid, count) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    number(count)?;
    number(pid)
}

fn alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// A regular file of ours that nobody has locked; a link is not followed.
fn is_leftover(path: &Path) -> bool {
    let ours = |meta: &fs::Metadata| meta.is_file() && !meta.file_type().is_fifo() && meta.uid() == geteuid().as_raw();
    if !fs::symlink_metadata(path).is_ok_and(|meta| ours(&meta)) {
        return false;
    }
    let Ok(file) = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path) else {
        return false;
    };
    file.metadata().is_ok_and(|meta| ours(&meta)) && Flock::lock(file, FlockArg::LockExclusiveNonblock).is_ok()
}

#[cfg(test)]
#[path = "scratch_tests.rs"]
mod tests;
