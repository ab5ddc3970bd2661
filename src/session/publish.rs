//! How a session's file comes to be: whole under its name or not at all, and by one process at a
//! time.
//!
//! Whoever makes or changes sessions holds the folder's lock, so that a name is given once; whoever
//! writes a file holds that file's lock. Both end with their process, however it ends; what it
//! leaves is a hidden file that the next one removes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::unistd::geteuid;

use super::{SessionError, naming, store};
use crate::sys::folder::random_name;
use crate::sys::leftovers;
use crate::sys::pause::sleep;

/// How long others are waited for: one may copy a large session.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How many sessions of one second and slug get an id.
const SAME_SECOND: u32 = 1000;
/// How the name of an unfinished file begins and ends.
const HIDDEN: &str = ".session-";
const UNFINISHED: &str = "tmp";

/// No other process makes, renames, deletes or imports sessions of a folder while this lives.
///
/// Where the file system has no locks, or whoever holds it does not end, it is gone without: then a
/// name may be given twice, and nothing else.
pub struct Alone(Option<File>);

impl Alone {
    pub fn in_folder(dir: &Path, patience: Duration) -> Alone {
        let Ok(folder) = File::open(dir) else { return Alone(None) };
        let begin = Instant::now();
        loop {
            match folder.try_lock() {
                Ok(()) => return Alone(Some(folder)),
                Err(TryLockError::Error(error)) if error.kind() != ErrorKind::Interrupted => {
                    return Alone(None);
                }
                Err(_) if begin.elapsed() >= patience => return Alone(None),
                Err(_) => sleep(Duration::from_millis(1)),
            }
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // Closing is not enough: a child that was just forked has a copy of the handle.
        if let Some(folder) = &self.0 {
            let _ = folder.unlock();
        }
    }
}

/// Takes the lock of a file that is written, until every copy of the handle is closed; `false`
/// where another has it.
///
/// File systems without locks count as free: there only the user can know.
pub fn lock(file: &File) -> bool {
    let whole = libc::flock {
        l_type: libc::F_WRLCK as _,
        l_whence: libc::SEEK_SET as _,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    !matches!(fcntl(file, FcntlArg::F_OFD_SETLK(&whole)), Err(Errno::EAGAIN | Errno::EACCES))
}

/// A file without a session's name yet; without one it is gone when dropped.
pub struct Unfinished {
    /// Opened to read and append, and locked.
    pub file: File,
    path: PathBuf,
}

impl Unfinished {
    /// Makes one in `dir`. With the lock of that folder it removes those that ended processes left
    /// there.
    pub fn beside(dir: &Path, alone: Option<&Alone>) -> io::Result<Unfinished> {
        // Without the lock one that is just being made would not be locked yet.
        if alone.is_some_and(|alone| alone.0.is_some()) {
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
                    lock(&file);
                    return Ok(Unfinished { file, path });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives it a name that no file has; `false` where one has it.
    fn name(&mut self, path: &Path) -> io::Result<bool> {
        match fs::hard_link(&self.path, path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) if error.kind() == ErrorKind::StorageFull => Err(error),
            // A file system without links: nobody else makes files here, as far as it has locks.
            Err(_) if path.symlink_metadata().is_ok() => Ok(false),
            Err(_) => self.renamed(path).map(|()| true),
        }
    }

    /// Puts it in the place of another.
    pub fn replace(mut self, path: &Path) -> io::Result<()> {
        self.renamed(path)
    }

    fn renamed(&mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.path = PathBuf::new();
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Where it was renamed the name may be another's by now.
        if self.path != Path::new("") {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes unfinished files that nobody writes.
fn sweep(dir: &Path) {
    let old = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(HIDDEN) && path.extension().is_some_and(|e| e == UNFINISHED)
    };
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
        let ours = |file: &File| {
            file.metadata().is_ok_and(|meta| meta.is_file() && meta.uid() == geteuid().as_raw())
        };
        if left.is_ok_and(|file| ours(&file) && lock(&file)) && fs::remove_file(&path).is_ok() {
            leftovers::record(&path);
        }
    }
}

/// Whether the handle's file still has that name. Where that cannot be known it counts as there.
pub fn is_there(file: &File, path: &Path) -> bool {
    // Numbers of files are not compared: some network file systems change them.
    let removed = file.metadata().is_ok_and(|own| own.nlink() == 0);
    let missing = path
        .symlink_metadata()
        .is_err_and(|e| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory));
    !removed && !missing
}

/// The file of a new session.
pub struct Made {
    pub id: String,
    /// Empty where none was asked for.
    pub name: String,
    pub path: PathBuf,
    /// Opened to read and append, and locked.
    pub file: File,
}

/// Makes the file of a new session in `dir`, which is made if need be. The name and id that are
/// wanted get a number where they are taken; `fill` writes the file and is told both.
///
/// # Errors
/// The folder or file cannot be made or written, or the name is none: then nothing is left of it.
pub fn publish(
    dir: &Path,
    wanted: &str,
    name: Option<&str>,
    patience: Duration,
    mut fill: impl FnMut(&mut File, &str, &str) -> Result<(), SessionError>,
) -> Result<Made, SessionError> {
    store::make_folder(dir)?;
    let alone = Alone::in_folder(dir, patience);
    let name = name.map(|name| store::free_name(dir, name, None)).transpose()?.unwrap_or_default();
    let mut made = Unfinished::beside(dir, Some(&alone))
        .map_err(|e| SessionError::io("create a file in", dir, e))?;
    for number in 1..=SAME_SECOND {
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
            return Ok(Made { id, name, path, file });
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

    fn text(dir: &Path, id: &str, text: &str) -> Result<Made, SessionError> {
        publish(dir, id, None, PATIENCE, |to, id, _| {
            write!(to, "{id} {text}").map_err(|e| SessionError::io("write", Path::new("x"), e))
        })
    }

    #[test]
    fn an_id_that_is_taken_gets_a_number_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("a/b");
        let ids: Vec<String> =
            ["one", "two", "three"].map(|t| text(&dir, "id", t).unwrap().id).into();
        assert_eq!(ids, ["id", "id-2", "id-3"]);
        assert_eq!(names(&dir), ["id-2.jsonl", "id-3.jsonl", "id.jsonl"]);
        assert_eq!(fs::read_to_string(dir.join("id-2.jsonl")).unwrap(), "id-2 two");
    }

    #[test]
    fn what_fails_leaves_nothing_and_what_a_killed_process_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::write(dir.join(".session-77-0.tmp"), "left").unwrap();
        fs::write(dir.join(".mine.tmp"), "not ours").unwrap();
        let used = File::create(dir.join(".session-78-0.tmp")).unwrap();
        assert!(lock(&used));
        let no = publish(dir, "id", None, PATIENCE, |_, _, _| Err(SessionError::Json("no".into())));
        assert!(no.is_err_and(|e| matches!(e, SessionError::Json(_))));
        assert_eq!(names(dir), [".mine.tmp", ".session-78-0.tmp"]);
    }

    #[test]
    fn one_at_a_time_and_no_longer_than_is_patient() {
        let dir = tempfile::tempdir().unwrap();
        let first = Alone::in_folder(dir.path(), PATIENCE);
        assert!(first.0.is_some());
        assert!(Alone::in_folder(dir.path(), Duration::ZERO).0.is_none());
        // Without the lock a file can be made all the same.
        assert_eq!(
            publish(dir.path(), "id", None, Duration::ZERO, |_, _, _| Ok(())).unwrap().id,
            "id"
        );
        drop(first);
        assert!(Alone::in_folder(dir.path(), Duration::ZERO).0.is_some());
    }

    #[test]
    fn a_file_that_was_removed_or_moved_is_not_there() {
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
