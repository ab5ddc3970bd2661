//! Creates a session file: complete under its name or not at all, and by one process at a time.
//!
//! A process that creates or changes sessions holds the lock of the folder, so that no name is used
//! twice; one that writes a file holds the lock of that file. The kernel drops both locks when the
//! process ends. A killed process leaves a hidden file, which the next one removes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::unistd::geteuid;

use super::{SessionError, naming, store};
use iotui_files::file_lock::{try_lock, unlock};
use iotui_files::names::random_name;
use iotui_files::pause::sleep;
use iotui_files::scratch;

/// How long to wait for another process: it may be copying a large session.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Ids for sessions created in one second with the same slug.
const MAX_SAME_SECOND: u32 = 1000;
/// Prefix and extension of an unfinished file.
const HIDDEN: &str = ".session-";
const UNFINISHED: &str = "tmp";

/// The lock of a folder: while it is held, no other process creates, renames, deletes or imports
/// sessions there.
///
/// If the file system has no locks, or the holder does not release it in time, work continues
/// without it. The worst case is a name that is used twice.
pub struct FolderLock(Option<File>);

impl FolderLock {
    pub fn in_folder(dir: &Path, timeout: Duration) -> FolderLock {
        let Ok(folder) = File::open(dir) else { return FolderLock(None) };
        let begin = Instant::now();
        loop {
            match folder.try_lock() {
                Ok(()) => return FolderLock(Some(folder)),
                Err(TryLockError::Error(error)) if error.kind() != ErrorKind::Interrupted => {
                    return FolderLock(None);
                }
                Err(_) if begin.elapsed() >= timeout => return FolderLock(None),
                Err(_) => sleep(Duration::from_millis(1)),
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing is not enough: a child that was just forked has a copy of the handle.
        if let Some(folder) = &self.0 {
            let _ = folder.unlock();
        }
    }
}

/// A session file that has no name yet; removed on drop if it never gets one.
pub struct Unfinished {
    /// Opened to read and append, and locked.
    pub file: File,
    path: PathBuf,
}

impl Unfinished {
    /// Creates one in `dir`. If it holds the lock of that folder, it first removes the files
    /// that killed processes left behind.
    pub fn beside(dir: &Path, lock: Option<&FolderLock>) -> io::Result<Unfinished> {
        // Without the lock, a file that is being created may not be locked yet.
        if lock.is_some_and(|lock| lock.0.is_some()) {
            sweep(dir);
        }
        loop {
            let name = format!("{HIDDEN}{}.{UNFINISHED}", random_name());
            let path = dir.join(name);
            match OpenOptions::new()
                .read(true)
                .append(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
            {
                Ok(file) => {
                    try_lock(&file);
                    return Ok(Unfinished { file, path });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file a name; `false` if another file has that name.
    fn name(&mut self, path: &Path) -> io::Result<bool> {
        match fs::hard_link(&self.path, path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) if error.kind() == ErrorKind::StorageFull => Err(error),
            // A file system without hard links: the folder lock keeps others from creating the
            // name.
            Err(_) if path.symlink_metadata().is_ok() => Ok(false),
            Err(_) => self.rename(path).map(|()| true),
        }
    }

    /// Replaces another file.
    pub fn replace(mut self, path: &Path) -> io::Result<()> {
        self.rename(path)?;
        unlock(&self.file);
        Ok(())
    }

    fn rename(&mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.path = PathBuf::new();
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After a rename, another file may have the hidden name.
        if self.path != Path::new("") {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes unfinished files that no process is writing.
fn sweep(dir: &Path) {
    fn old(path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(HIDDEN) && path.extension().is_some_and(|e| e == UNFINISHED)
    }
    for path in fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| old(path))
    {
        let left = OpenOptions::new()
            .append(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW)
            .open(&path);
        fn ours(file: &File) -> bool {
            file.metadata().is_ok_and(|meta| meta.is_file() && meta.uid() == geteuid().as_raw())
        }
        if left.is_ok_and(|file| ours(&file) && try_lock(&file)) && fs::remove_file(&path).is_ok() {
            scratch::record_leftover(&path);
        }
    }
}

/// Returns whether the open file still has that name; true if that cannot be determined.
pub fn is_there(file: &File, path: &Path) -> bool {
    // Inode numbers are not compared: some network file systems change them.
    let removed = file.metadata().is_ok_and(|own| own.nlink() == 0);
    let missing = path
        .symlink_metadata()
        .is_err_and(|e| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory));
    !removed && !missing
}

/// The file of a new session.
pub struct CreatedFile {
    pub id: String,
    /// Empty if none was requested.
    pub name: String,
    pub path: PathBuf,
    /// Opened to read and append, and locked.
    pub file: File,
}

/// Creates the file of a new session in `dir`, and `dir` if it does not exist. A name or id that is
/// taken gets a number; `fill` receives both and writes the file.
///
/// # Errors
/// The folder or file cannot be created or written, or the name is not valid; no file is left then.
pub fn publish(
    dir: &Path,
    wanted: &str,
    name: Option<&str>,
    timeout: Duration,
    mut fill: impl FnMut(&mut File, &str, &str) -> Result<(), SessionError>,
) -> Result<CreatedFile, SessionError> {
    store::make_folder(dir)?;
    let lock = FolderLock::in_folder(dir, timeout);
    let name = name.map(|name| store::free_name(dir, name, None)).transpose()?.unwrap_or_default();
    let mut made = Unfinished::beside(dir, Some(&lock))
        .map_err(|e| SessionError::io("create a file in", dir, e))?;
    for number in 1..=MAX_SAME_SECOND {
        let id = if number == 1 { wanted.to_string() } else { format!("{wanted}-{number}") };
        let path = naming::path_of(dir, &id);
        if path.symlink_metadata().is_ok() {
            continue;
        }
        made.file.set_len(0).map_err(|e| SessionError::io("write", &path, e))?;
        fill(&mut made.file, &id, &name)?;
        if made.name(&path).map_err(|e| SessionError::io("make", &path, e))? {
            let file =
                made.file.try_clone().map_err(|e| SessionError::io("keep open", &path, e))?;
            return Ok(CreatedFile { id, name, path, file });
        }
    }
    Err(SessionError::io("make", dir, ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .flatten()
            .map(|e| e.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn text(dir: &Path, id: &str, text: &str) -> Result<CreatedFile, SessionError> {
        publish(dir, id, None, LOCK_TIMEOUT, |to, id, _| {
            write!(to, "{id} {text}").map_err(|e| SessionError::io("write", Path::new("x"), e))
        })
    }

    #[test]
    fn taken_ids_get_a_number() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("a/b");
        let ids: Vec<String> =
            ["one", "two", "three"].map(|t| text(&dir, "id", t).unwrap().id).into();
        assert_eq!(ids, ["id", "id-2", "id-3"]);
        assert_eq!(names(&dir), ["id-2.jsonl", "id-3.jsonl", "id.jsonl"]);
        assert_eq!(fs::read_to_string(dir.join("id-2.jsonl")).unwrap(), "id-2 two");
    }

    #[test]
    fn failures_and_kills_leave_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::write(dir.join(".session-77-0.tmp"), "left").unwrap();
        fs::write(dir.join(".mine.tmp"), "not ours").unwrap();
        let used = File::create(dir.join(".session-78-0.tmp")).unwrap();
        assert!(try_lock(&used));
        let no =
            publish(dir, "id", None, LOCK_TIMEOUT, |_, _, _| Err(SessionError::Json("no".into())));
        assert!(no.is_err_and(|e| matches!(e, SessionError::Json(_))));
        assert_eq!(names(dir), [".mine.tmp", ".session-78-0.tmp"]);
    }

    #[test]
    fn forked_children_hold_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("id.jsonl");
        let unfinished = Unfinished::beside(dir.path(), None).unwrap();
        let _copy_of_a_child = unfinished.file.try_clone().unwrap();
        unfinished.replace(&path).unwrap();
        assert!(try_lock(&OpenOptions::new().append(true).open(&path).unwrap()));
    }

    #[test]
    fn the_folder_lock_waits_its_timeout() {
        let dir = tempfile::tempdir().unwrap();
        let first = FolderLock::in_folder(dir.path(), LOCK_TIMEOUT);
        assert!(first.0.is_some());
        assert!(FolderLock::in_folder(dir.path(), Duration::ZERO).0.is_none());
        // A file can be created even without the lock.
        assert_eq!(
            publish(dir.path(), "id", None, Duration::ZERO, |_, _, _| Ok(())).unwrap().id,
            "id"
        );
        drop(first);
        assert!(FolderLock::in_folder(dir.path(), Duration::ZERO).0.is_some());
    }

    #[test]
    fn removed_or_moved_files_are_missed() {
        let dir = tempfile::tempdir().unwrap();
        let made = text(dir.path(), "id", "x").unwrap();
        assert!(is_there(&made.file, &made.path));
        let away = dir.path().join("away");
        fs::rename(&made.path, &away).unwrap();
        assert!(!is_there(&made.file, &made.path) && is_there(&made.file, &away));
        fs::remove_file(&away).unwrap();
        fs::write(&made.path, "another").unwrap();
        assert!(!is_there(&made.file, &made.path));
    }
}
