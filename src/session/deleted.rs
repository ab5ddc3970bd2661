//! Deleted sessions that can be brought back until the program that deleted them ends.
//!
//! A deleted session stays in the folder under a hidden name, locked by the process that deleted
//! it. Lists do not show it. When that process ends, it removes the file; if it was killed, the
//! lock is free, and the next list brings the session back: a crash deletes nothing.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::edit::{self, lock_session};
use super::list::Listed;
use super::publish::{FolderLock, LOCK_TIMEOUT, try_lock, unlock};
use super::schema::SUFFIX;
use super::{SessionError, list, naming};

/// Prefix of the hidden name.
const HIDDEN: &str = ".deleted-";
/// Before the number that tells sessions of one id apart.
const NUMBER: char = '~';

/// A deleted session that still exists.
#[derive(Debug)]
pub struct Deleted {
    pub id: String,
    hidden: PathBuf,
    /// Locked as long as the process lives.
    file: File,
}

/// Deletes a session in `dir` so that it can be restored. `None`: it was removed at once, because
/// this file system has no locks, or the file cannot be opened for writing.
///
/// # Errors
/// As [`edit::delete`].
pub fn put_aside(dir: &Path, path: &Path) -> Result<Option<Deleted>, SessionError> {
    edit::check_deletable(dir, path)?;
    let _lock = FolderLock::in_folder(dir, LOCK_TIMEOUT);
    let file = match lock_session(path) {
        Ok(file) => file,
        Err(busy @ SessionError::Busy(_)) => return Err(busy),
        Err(_) => return remove_now(path),
    };
    // Where a second handle gets the lock too, others could not see that this process lives.
    if path.parent() != Some(dir) || open(path).is_some_and(|other| try_lock(&other)) {
        return remove_now(path);
    }
    let id = list::id_of(path);
    let names = (1u32..).map(|n| dir.join(format!("{HIDDEN}{id}{NUMBER}{n}.{SUFFIX}")));
    let Some(hidden) = names.into_iter().find(|hidden| hidden.symlink_metadata().is_err()) else {
        return remove_now(path);
    };
    fs::rename(path, &hidden).map_err(|e| SessionError::io("remove", path, e))?;
    Ok(Some(Deleted { id, hidden, file }))
}

fn remove_now(path: &Path) -> Result<Option<Deleted>, SessionError> {
    fs::remove_file(path).map_err(|e| SessionError::io("remove", path, e)).map(|()| None)
}

fn open(path: &Path) -> Option<File> {
    OpenOptions::new().append(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).ok()
}

impl Deleted {
    /// Gives a session its place back; its name gets a number if another session has it by now.
    ///
    /// # Errors
    /// A session with its id was created meanwhile, or the kernel refuses; it stays deleted then.
    pub fn restore(&self, dir: &Path) -> Result<(), SessionError> {
        give_back(dir, &self.hidden, &self.id, &self.file).map(drop)
    }

    /// Removes the file for good.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn remove(self) -> Result<(), SessionError> {
        fs::remove_file(&self.hidden).map_err(|e| SessionError::io("remove", &self.hidden, e))
    }
}

/// Gives a hidden session its place back and releases its lock; returns its path. Its name gets a
/// number if another session has it by now.
fn give_back(dir: &Path, hidden: &Path, id: &str, locked: &File) -> Result<PathBuf, SessionError> {
    let path = naming::path_of(dir, id);
    {
        let _lock = FolderLock::in_folder(dir, LOCK_TIMEOUT);
        if path.symlink_metadata().is_ok() {
            return Err(SessionError::io("restore", &path, ErrorKind::AlreadyExists.into()));
        }
        fs::rename(hidden, &path).map_err(|e| SessionError::io("restore", &path, e))?;
    }
    unlock(locked);
    let own = list::header(&path).map(|listed| listed.name).unwrap_or_default();
    let taken = |other: &Listed| other.name == own && other.id != list::id_of(&path);
    if !own.is_empty() && list::headers(dir).is_ok_and(|all| all.iter().any(taken)) {
        // It is back, whether it gets a number or not.
        let _ = edit::rename(dir, &path, &own);
    }
    Ok(path)
}

/// Returns the sessions in `dir` as [`list::list`] does, with those that a killed process had
/// deleted.
///
/// # Errors
/// The folder cannot be read.
pub fn list_all(dir: &Path) -> Result<Vec<Listed>, SessionError> {
    list::list(dir, &|hidden| bring_back(dir, hidden))
}

/// Brings back a session that a killed process had deleted; returns its path. `None` if the file is
/// no deleted session, the process lives, or another session has its id by now: it stays hidden
/// then, until that one is gone.
fn bring_back(dir: &Path, hidden: &Path) -> Option<PathBuf> {
    let name = hidden.file_stem()?.to_str()?.strip_prefix(HIDDEN)?;
    let (id, _) = name.rsplit_once(NUMBER)?;
    let file = open(hidden)?;
    if !try_lock(&file) {
        return None;
    }
    give_back(dir, hidden, id, &file).inspect_err(|_| unlock(&file)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{delete, find, list, testing};

    fn listed(dir: &Path) -> Vec<(String, String)> {
        list(dir).unwrap().into_iter().map(|one| (one.id, one.name)).collect()
    }

    #[test]
    fn a_deleted_session_is_gone_until_it_is_restored() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let id = testing::recorded(dir, Some("mine"), "a");
        let path = find(dir, &id).unwrap();
        let bytes = fs::read(&path).unwrap();
        let deleted = put_aside(dir, &path).unwrap().unwrap();
        assert_eq!((listed(dir), path.exists()), (vec![], false));
        assert!(find(dir, "mine").is_err() && find(dir, &id).is_err());
        deleted.restore(dir).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
        // It is free again.
        delete(dir, &path).unwrap();
        assert_eq!(fs::read_dir(dir).unwrap().count(), 0);
    }

    #[test]
    fn what_took_its_place_meanwhile_stays() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let id = testing::recorded(dir, Some("mine"), "a");
        let deleted = put_aside(dir, &find(dir, &id).unwrap()).unwrap().unwrap();
        let other = testing::recorded(dir, Some("mine"), "b");
        deleted.restore(dir).unwrap();
        let mut names = listed(dir);
        names.sort();
        assert_eq!(names, [(id.clone(), "mine-2".into()), (other, "mine".into())]);
        let deleted = put_aside(dir, &find(dir, &id).unwrap()).unwrap().unwrap();
        assert_eq!(testing::recorded(dir, None, "a"), id);
        let why = deleted.restore(dir).unwrap_err().to_string();
        assert!(why.starts_with("cannot restore") && why.contains("exists"), "{why}");
        deleted.remove().unwrap();
        assert_eq!(fs::read_dir(dir).unwrap().count(), 2);
    }

    #[test]
    fn a_crash_deletes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let id = testing::recorded(dir, Some("mine"), "a");
        let deleted = put_aside(dir, &find(dir, &id).unwrap()).unwrap().unwrap();
        // The kernel closes the handles of a killed process.
        drop(deleted);
        assert_eq!(listed(dir), [(id, "mine".into())]);
        fs::write(dir.join(".deleted-.jsonl"), "x").unwrap();
        fs::write(dir.join(".deleted-x.jsonl"), "x").unwrap();
        assert_eq!(listed(dir).len(), 1);
    }

    #[test]
    fn what_a_crash_brings_back_takes_neither_a_name_nor_an_id() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let id = testing::recorded(dir, Some("mine"), "a");
        drop(put_aside(dir, &find(dir, &id).unwrap()).unwrap().unwrap());
        // One of its id and name is there by now: the other one waits.
        assert_eq!(testing::recorded(dir, Some("mine"), "a"), id);
        assert_eq!(listed(dir), [(id.clone(), "mine".to_string())]);
        let other = testing::recorded(dir, Some("mine-2"), "b");
        delete(dir, &find(dir, &id).unwrap()).unwrap();
        edit::rename(dir, &find(dir, &other).unwrap(), "mine").unwrap();
        // The list shows it as it is in the file by now.
        let mut names = listed(dir);
        names.sort();
        assert_eq!(names, [(id, "mine-2".into()), (other, "mine".into())]);
    }

    #[test]
    fn a_session_that_is_recorded_is_not_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let recorder = testing::recorder(dir.path(), &testing::plan(1));
        let refused = put_aside(dir.path(), recorder.path());
        assert!(matches!(refused, Err(SessionError::Busy(_))));
        assert!(recorder.path().exists());
    }
}
