//! Changes to saved sessions: rename, delete, import. None affects another session.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::line::{self, LostLine};
use super::load::{load, load_with_damage};
use super::publish::{FolderLock, LOCK_TIMEOUT, Unfinished, publish};
use super::reader;
use super::seal::{self, Seal};
use super::{
    NewSession, Recorder, SUFFIX, Session, SessionError, fio, header_line, list, naming, portable,
    store,
};
use crate::text::time;
use iotui_files::file_lock::{try_lock, unlock};

/// How often to retry a file that is replaced while it is being locked.
const MAX_REPLACED: u32 = 100;

/// Locks a session file; the lock lasts as long as the handle. Fails while a run writes the file.
fn lock_session(path: &Path) -> Result<File, SessionError> {
    let no = |e| SessionError::io("change", path, e);
    for _ in 0..MAX_REPLACED {
        let file = OpenOptions::new()
            .append(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path)
            .map_err(no)?;
        if !try_lock(&file) {
            return Err(SessionError::Busy(list::id_of(path)));
        }
        // Another process may have replaced it by a renamed copy since.
        let (own, named) = (file.metadata().map_err(no)?, fs::metadata(path).map_err(no)?);
        if (own.dev(), own.ino()) == (named.dev(), named.ino()) {
            return Ok(file);
        }
    }
    Err(no(ErrorKind::ResourceBusy.into()))
}

/// Renames the session in `path`, with a number if a session in `dir` has that name; returns the
/// new name.
///
/// # Errors
/// The name is not valid, the file is not a session, a run is writing it, or the disk is full. The
/// file is unchanged then.
pub fn rename(dir: &Path, path: &Path, name: &str) -> Result<String, SessionError> {
    let lock = FolderLock::in_folder(dir, LOCK_TIMEOUT);
    let _locked = lock_session(path)?;
    let name = store::free_name(dir, name, Some(&list::id_of(path)))?;
    // A symbolic link remains a link.
    let path = &fs::canonicalize(path).map_err(|e| SessionError::io("change", path, e))?;
    let beside = path.parent().unwrap_or(dir);
    // Leftovers are removed only from our own folder.
    let is_ours = fs::canonicalize(dir).is_ok_and(|dir| dir == beside);
    let mut copied = Unfinished::beside(beside, is_ours.then_some(&lock))
        .map_err(|e| SessionError::io("create a file in", beside, e))?;
    copy(path, &mut copied.file, None, &name)?;
    copied.replace(path).map_err(|e| SessionError::io("replace", path, e))?;
    Ok(name)
}

/// Removes a session. A file that is neither in `dir` nor a session is not touched.
///
/// # Errors
/// The file is not ours, a run is writing it, or the kernel refuses.
pub fn delete(dir: &Path, path: &Path) -> Result<(), SessionError> {
    let stored = path.parent() == Some(dir) && path.extension().is_some_and(|e| e == SUFFIX);
    if !stored && list::header(path).is_none() {
        return Err(SessionError::NotOurs(path.into()));
    }
    let _lock = FolderLock::in_folder(dir, LOCK_TIMEOUT);
    // A file that cannot be opened for writing is not being written by a run.
    let claimed = match lock_session(path) {
        Err(busy @ SessionError::Busy(_)) => return Err(busy),
        claimed => claimed,
    };
    let removed = fs::remove_file(path).map_err(|e| SessionError::io("remove", path, e));
    drop(claimed);
    removed
}

/// The session that an import created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    pub id: String,
    pub path: PathBuf,
    pub name: String,
    /// The name was taken, so it got a number.
    pub renamed: bool,
}

/// Imports the output of another program; `None` if its format is unknown.
fn import_foreign(dir: &Path, from: &Path) -> Result<Option<Imported>, SessionError> {
    let Some(session) = fio::session(from)? else { return Ok(None) };
    let slug = from.file_stem().unwrap_or_default().to_string_lossy();
    let created = time::parse_utc(&session.created).unwrap_or(std::time::UNIX_EPOCH);
    let recorder = Recorder::create(
        dir,
        &NewSession { name: None, slug: &slug, host: &session.host, plan: &session.plan, created },
    )?;
    let (id, path) = recorder.record_all(&session)?;
    Ok(Some(Imported { id, path, name: String::new(), renamed: false }))
}

/// Copies a session from anywhere into `dir`, or builds one from its export as `jsonl` or from the
/// JSON of fio. A session keeps
/// its id and name, with a number if they are taken.
///
/// # Errors
/// The file cannot be loaded as a session, or the copy cannot be written; no file is left then.
pub fn import(dir: &Path, from: &Path) -> Result<Imported, SessionError> {
    let session = match load(from) {
        Ok(session) => session,
        Err(error @ SessionError::NotASession { .. }) => {
            return match portable::unpack(dir, from)? {
                Some((unpacked, session)) => import_session(dir, unpacked.path(), session),
                None => import_foreign(dir, from)?.ok_or(error),
            };
        }
        Err(error) => return Err(error),
    };
    import_session(dir, from, session)
}

/// Copies the file of a session into `dir`.
fn import_session(dir: &Path, from: &Path, session: Session) -> Result<Imported, SessionError> {
    let created = time::parse_utc(&session.created).unwrap_or(std::time::UNIX_EPOCH);
    let wanted = match naming::is_id(&session.id) && session.id.len() <= 100 {
        true => session.id,
        false => naming::new_id(created, &session.name),
    };
    let name = Some(session.name.as_str()).filter(|name| !name.is_empty());
    let made =
        publish(dir, &wanted, name, LOCK_TIMEOUT, |to, id, name| copy(from, to, Some(id), name))?;
    unlock(&made.file);
    let renamed = made.name != session.name;
    Ok(Imported { id: made.id, path: made.path, name: made.name, renamed })
}

/// Copies a session with another name, and another id if given, in its first line; syncs the copy.
/// All other bytes remain, except that damaged lines are skipped and counted in an added line.
fn copy(from: &Path, to: &mut File, id: Option<&str>, name: &str) -> Result<(), SessionError> {
    let (session, damage) = load_with_damage(from)?;
    let no = |why: &str| SessionError::NotASession { path: from.into(), why: why.into() };
    let mut lines = reader::read_lines(from)?;
    let first = reader::next_line(&mut lines, from)?.ok_or_else(|| no("it is empty"))?;
    let first = [first, b"\n"].concat();
    let header = match seal::check(first.trim_ascii_end()) {
        Seal::Whole(_, open) => [open, b"}\n"].concat(),
        _ => first.clone(),
    };
    let header = Some(header).filter(|_| !damage.mended).and_then(|header| {
        header_line::replace_values(std::str::from_utf8(&header).ok()?, id, name)
    });
    // A damaged header was restored from its copy or its parts: the restored one is written.
    let header = header.map_or_else(|| header_line::restore(&session, id, name), Ok)?;
    let mut to = BufWriter::new(to);
    let failed = |e| SessionError::io("copy", from, e);
    to.write_all(&if damage.sealed {
        header_line::seal_twice(&header)
    } else {
        header.into_bytes()
    })
    .map_err(failed)?;
    if damage.moved && !damage.bad.contains(&1) && !first.starts_with(b"{\"iotui\":") {
        to.write_all(&first).map_err(failed)?;
    }
    while let Some(bytes) = reader::next_line(&mut lines, from)? {
        // The header and its copy are already written, wherever they are in this file.
        let header = bytes.starts_with(b"{\"iotui\":");
        let bytes = [bytes, b"\n"].concat();
        if !header && damage.bad.binary_search(&lines.number).is_err() {
            to.write_all(&bytes).map_err(failed)?;
        }
    }
    let lost = damage.unnumbered() - damage.omitted_lines;
    if lost > 0 {
        let line = line::bytes(&LostLine { lines: lost })?;
        let line = if damage.sealed { seal::seal(&line, damage.next()) } else { line };
        to.write_all(&line).map_err(failed)?;
    }
    to.into_inner().map_err(|e| failed(e.into_error()))?.sync_data().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{find, testing};

    #[test]
    fn rename_changes_the_name_only() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let (id, other) =
            (testing::recorded(dir, Some("old"), "a"), testing::recorded(dir, Some("taken"), "b"));
        let path = find(dir, &id).unwrap();
        let before = load(&path).unwrap();
        let bytes = fs::read(find(dir, &other).unwrap()).unwrap();
        assert_eq!(rename(dir, &path, "taken").unwrap(), "taken-2");
        let after = load(&find(dir, "taken-2").unwrap()).unwrap();
        assert_eq!(after, crate::session::Session { name: "taken-2".into(), ..before });
        assert_eq!(fs::read(find(dir, &other).unwrap()).unwrap(), bytes);
        // The session's own name is available to it.
        assert_eq!(rename(dir, &path, "taken-2").unwrap(), "taken-2");
        assert!(matches!(rename(dir, &path, "\n"), Err(SessionError::Name(_))));
        assert_eq!(fs::read_dir(dir).unwrap().count(), 2);
    }

    #[test]
    fn recording_sessions_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let recorder = testing::recorder(dir, &testing::plan(1));
        let path = recorder.path().to_path_buf();
        assert!(matches!(rename(dir, &path, "n"), Err(SessionError::Busy(_))));
        assert!(matches!(delete(dir, &path), Err(SessionError::Busy(_))));
        drop(recorder);
        rename(dir, &path, "n").unwrap();
        delete(dir, &path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn concurrent_changes_leave_sessions_intact() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let ids: Vec<String> =
            (0..40).map(|n| testing::recorded(dir, None, &format!("s{n}"))).collect();
        std::thread::scope(|scope| {
            for turn in 0..3 {
                let ids = &ids;
                scope.spawn(move || {
                    for (at, id) in ids.iter().enumerate() {
                        // One of the three deletes it under the others, which say so.
                        let done = find(dir, id).and_then(|path| match (at + turn) % 3 {
                            0 => delete(dir, &path),
                            _ => rename(dir, &path, &format!("n{at}")).map(drop),
                        });
                        let why = done.err().map(|error| error.to_string()).unwrap_or_default();
                        assert!(!why.contains('\n'), "{why}");
                        let all = crate::session::list(dir).unwrap();
                        assert!(all.iter().all(|one| one.state == list::State::Finished));
                    }
                });
            }
        });
        assert!(crate::session::list(dir).unwrap().len() <= ids.len());
    }

    #[test]
    fn only_sessions_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let mine = dir.path().join("letter.txt");
        fs::write(&mine, "dear").unwrap();
        let store = dir.path().join("store");
        assert!(matches!(delete(&store, &mine), Err(SessionError::NotOurs(_))));
        assert!(mine.exists());
        // In the sessions folder, unreadable ones may be removed too.
        fs::create_dir(&store).unwrap();
        fs::write(store.join("bad.jsonl"), "x").unwrap();
        delete(&store, &store.join("bad.jsonl")).unwrap();
    }

    #[test]
    fn import_numbers_taken_names() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let id = testing::recorded(from.path(), Some("n"), "a");
        let path = find(from.path(), &id).unwrap();
        let store = to.path().join("new/store");
        let first = import(&store, &path).unwrap();
        assert_eq!(
            (first.id.as_str(), first.name.as_str(), first.renamed),
            (id.as_str(), "n", false)
        );
        let again = import(&store, &path).unwrap();
        assert_eq!(
            (again.id, again.name.as_str(), again.renamed),
            (format!("{id}-2"), "n-2", true)
        );
        assert_eq!(load(&again.path).unwrap().trials, load(&path).unwrap().trials);
        fs::write(to.path().join("x"), "not a session\n").unwrap();
        assert!(import(&store, &to.path().join("x")).is_err());
        assert_eq!(fs::read_dir(&store).unwrap().count(), 2);
    }
}
