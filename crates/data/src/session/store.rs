//! The folder of sessions, their names, and how a session is found.

use std::path::{Path, PathBuf};

use super::list::{self, Listed, State};
use super::naming::{check_name, is_id, path_of};
use super::{Session, SessionError, load, references};
use crate::plan::nearest;
use crate::text::slug;
use iotui_files::{Home, create_private_folder};

/// Returns `$XDG_DATA_HOME/iotui/sessions`, by default `~/.local/share/iotui/sessions`. It need not
/// exist.
pub fn folder() -> Result<PathBuf, SessionError> {
    Ok(Home::Data.folder().ok_or(SessionError::NoHome)?.join("sessions"))
}

/// Creates the folder, readable only by its user.
pub(super) fn make_folder(dir: &Path) -> Result<(), SessionError> {
    create_private_folder(dir).map_err(|e| SessionError::io("create the folder", dir, e))
}

/// Returns the name, or `NAME-2` and so on if a session other than `except` has it.
pub(super) fn free_name(
    dir: &Path,
    text: &str,
    except: Option<&str>,
) -> Result<String, SessionError> {
    let name = check_name(text)?;
    let taken: std::collections::HashSet<String> = list::headers(dir)?
        .into_iter()
        .filter(|s| Some(s.id.as_str()) != except)
        .map(|s| s.name)
        .collect();
    let numbered = (2u64..).map(|n| format!("{name}-{n}"));
    Ok(std::iter::once(name.clone())
        .chain(numbered)
        .find(|name| !taken.contains(name))
        .unwrap_or(name))
}

/// Returns the file of the session that `text` denotes: its id, its name, a unique prefix of its
/// id, `last` (or `last~2`, the second before it), the label of one without a name, or a path.
///
/// # Errors
/// [`SessionError::Unknown`] with the nearest names, [`SessionError::Ambiguous`] with the
/// candidates, [`SessionError::Reference`] if none of the user's sessions matches but a reference
/// does, which has no file.
pub fn find(dir: &Path, text: &str) -> Result<PathBuf, SessionError> {
    if is_id(text) && path_of(dir, text).is_file() {
        return Ok(path_of(dir, text));
    }
    let sessions = match list::headers(dir) {
        Ok(sessions) => sessions,
        // A path needs no sessions folder.
        Err(_) if is_path(text) => return Ok(text.into()),
        Err(error) => return Err(error),
    };
    let named: Vec<&Listed> =
        sessions.iter().filter(|s| !text.is_empty() && s.name == text).collect();
    let readable = || sessions.iter().filter(|s| s.state != State::Unreadable);
    let meant: Vec<&Listed> = match last(text).and_then(|back| readable().nth(back)) {
        _ if !named.is_empty() => named,
        Some(one) => vec![one],
        None => sessions.iter().filter(|s| !text.is_empty() && s.id.starts_with(text)).collect(),
    };
    // A label has no slash: ./NAME is a file.
    let labelled = match meant.is_empty() && !text.contains('/') {
        true => find_by_label(&sessions, text),
        false => Vec::new(),
    };
    match meant[..] {
        // A session of that name would have matched above; ./NAME denotes a file of that name.
        [] if references::reference(text).is_some() => Err(reference(text)),
        [] if !labelled.is_empty() => one_of(dir, text, &labelled),
        [] if is_path(text) => Ok(text.into()),
        [] if references::find_by_prefix(text).is_some() => Err(reference(text)),
        [] => {
            let known = sessions
                .iter()
                .flat_map(|s| [s.id.as_str(), s.name.as_str()])
                .filter(|name| !name.is_empty());
            let known = known.chain(references::references().iter().map(|reference| reference.id));
            Err(SessionError::Unknown {
                text: text.into(),
                near: nearest("session", text, known).near,
            })
        }
        ref several => one_of(dir, text, several),
    }
}

/// Returns the file of the only session that is meant.
fn one_of(dir: &Path, text: &str, meant: &[&Listed]) -> Result<PathBuf, SessionError> {
    if let [one] = meant {
        return Ok(path_of(dir, &one.id));
    }
    let near = meant.iter().take(5).map(|one| one.id.clone()).collect();
    Err(SessionError::Ambiguous { text: text.into(), count: meant.len(), near })
}

/// Returns the number of sessions to skip from the newest: `last`, `last~3`.
fn last(text: &str) -> Option<usize> {
    match text.strip_prefix("last")?.strip_prefix('~') {
        Some(back) => back.parse().ok(),
        None => (text == "last").then_some(0),
    }
}

fn reference(text: &str) -> SessionError {
    references::find_by_prefix(text).map_or_else(
        || SessionError::Unknown { text: text.into(), near: Vec::new() },
        |found| SessionError::Reference(found.id),
    )
}

/// Returns whether anything has that name, even a dangling link: problems with it are reported when
/// it is opened.
fn is_path(text: &str) -> bool {
    Path::new(text).symlink_metadata().is_ok()
}

/// Returns the sessions without a name whose label is `text`, however its signs are written; else
/// the sessions whose label begins with it.
fn find_by_label<'a>(sessions: &'a [Listed], text: &str) -> Vec<&'a Listed> {
    if !text.chars().any(char::is_alphanumeric) {
        return Vec::new();
    }
    let wanted = slug(text);
    let labelled = |is: &dyn Fn(&str) -> bool| -> Vec<&'a Listed> {
        let is_called = |one: &&Listed| one.name.is_empty() && !one.label.is_empty();
        let has = |one: &&Listed| is_called(one) && is(&slug(&one.label));
        sessions.iter().filter(has).collect()
    };
    let same = labelled(&|label| label == wanted);
    if !same.is_empty() {
        return same;
    }
    labelled(&|label| label.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('-')))
}

/// Returns the session that `text` denotes, with its file; a reference has none. The user's own
/// sessions take precedence over references.
///
/// # Errors
/// As [`find`] and [`load`].
pub fn open(dir: &Path, text: &str) -> Result<(Session, Option<PathBuf>), SessionError> {
    match find(dir, text) {
        Ok(path) => load(&path).map(|session| (session, Some(path))),
        Err(SessionError::Reference(id)) => {
            let found = references::reference(id).ok_or(SessionError::Reference(id))?;
            Ok((found.session().clone(), None))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{NewSession, Recorder, delete, testing};

    #[test]
    fn sessions_are_found_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let one = testing::recorded(dir, Some("nightly"), "one");
        let two = testing::recorded(dir, Some("2026"), "two");
        let path = |id: &str| path_of(dir, id);
        assert_eq!(find(dir, &one).unwrap(), path(&one));
        assert_eq!(find(dir, "nightly").unwrap(), path(&one));
        assert_eq!(find(dir, &one[..one.len() - 1]).unwrap(), path(&one));
        // A name wins over a prefix of several ids.
        assert_eq!(find(dir, "2026").unwrap(), path(&two));
        let file = path(&two);
        assert_eq!(find(dir, file.to_str().unwrap()).unwrap(), file);
        assert_eq!(find(Path::new("/no/such/folder"), file.to_str().unwrap()).unwrap(), file);
    }

    #[test]
    fn last_counts_back_from_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        assert!(matches!(find(dir, "last"), Err(SessionError::Unknown { .. })));
        // Within one second, the later letter is the later id.
        let ids: Vec<String> =
            ["a", "b", "c"].iter().map(|slug| testing::recorded(dir, None, slug)).collect();
        std::fs::write(path_of(dir, "zzz"), "no session").unwrap();
        // The start of an id does not count before it.
        let older = std::fs::read_to_string(path_of(dir, &ids[0]))
            .unwrap()
            .replace("2026-11-21T", "2026-11-14T");
        std::fs::write(path_of(dir, "last-week"), older).unwrap();
        for (text, wanted) in [
            ("last", Some(2)),
            ("last~0", Some(2)),
            ("last~1", Some(1)),
            ("last~2", Some(0)),
            ("last~4", None),
        ] {
            assert_eq!(
                find(dir, text).ok(),
                wanted.map(|at: usize| path_of(dir, &ids[at])),
                "{text}"
            );
        }
        for text in ["last~", "last~x", "last~-1", "last1", "last~99999999999999999999"] {
            assert!(matches!(find(dir, text), Err(SessionError::Unknown { .. })), "{text}");
        }
        let named = testing::recorded(dir, Some("last"), "0");
        assert_eq!(find(dir, "last").unwrap(), path_of(dir, &named));
    }

    #[test]
    fn nanoseconds_order_sessions_of_one_second() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let at = |slug: &str, millis: u64| {
            let created =
                std::time::UNIX_EPOCH + testing::CREATED + std::time::Duration::from_millis(millis);
            let recorder = Recorder::create(
                dir,
                &NewSession {
                    name: None,
                    slug,
                    host: &Default::default(),
                    plan: &testing::plan(1),
                    created,
                },
            );
            recorder.unwrap().id().to_string()
        };
        let ids = [at("zzz", 100), at("aaa", 250), at("mmm", 900)];
        for (text, id) in [("last~2", &ids[0]), ("last~1", &ids[1]), ("last", &ids[2])] {
            assert_eq!(find(dir, text).unwrap(), path_of(dir, id), "{text}");
        }
        let listed: Vec<String> =
            crate::session::list(dir).unwrap().into_iter().map(|one| one.id).collect();
        assert_eq!(listed, ids.into_iter().rev().collect::<Vec<_>>());
        // Renaming does not affect the order.
        crate::session::rename(dir, &path_of(dir, &listed[2]), "first").unwrap();
        assert_eq!(crate::session::list(dir).unwrap()[2].name, "first");
    }

    #[test]
    fn labels_find_sessions() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let id = testing::recorded(dir, None, "a");
        let label = crate::session::list(dir).unwrap()[0].label.clone();
        assert_eq!(label, "file · read");
        for text in [label.as_str(), "file - read", "file-read", "File read", "file"] {
            assert_eq!(find(dir, text).unwrap(), path_of(dir, &id), "{text}");
        }
        for text in ["fil", "read", "./file", "·"] {
            assert!(find(dir, text).is_err(), "{text}");
        }
        // One with a name is not called by its label.
        let named = testing::recorded(dir, Some("nightly"), "c");
        assert_eq!(find(dir, &label).unwrap(), path_of(dir, &id));
        assert_eq!(find(dir, "nightly").unwrap(), path_of(dir, &named));
        testing::recorded(dir, None, "b");
        let error = find(dir, &label).unwrap_err().to_string();
        assert!(error.contains("2 sessions"), "{error}");
    }

    #[test]
    fn unknown_and_ambiguous_name_the_candidates() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        for slug in ["one", "two"] {
            testing::recorded(dir, Some(&format!("run {slug}")), slug);
        }
        let error = find(dir, "20").unwrap_err().to_string();
        assert!(
            error.contains("2 sessions") && error.contains("-one") && error.contains("-two"),
            "{error}"
        );
        let error = find(dir, "run onw").unwrap_err().to_string();
        assert!(error.contains("run one"), "{error}");
        for text in ["", "../no such session", "zzz"] {
            assert!(matches!(find(dir, text), Err(SessionError::Unknown { .. })), "{text}");
        }
    }

    #[test]
    fn own_sessions_hide_references() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let (session, path) = open(dir, "xeon").unwrap();
        assert_eq!((session.id.as_str(), path), ("xeon-os", None));
        let said = find(dir, "xeon-os").unwrap_err().to_string();
        assert!(said.contains("not changed or run"), "{said}");
        testing::recorded(dir, Some("xeon-os"), "mine");
        let (session, path) = open(dir, "xeon-os").unwrap();
        assert_eq!((session.name.as_str(), session.reference), ("xeon-os", None));
        delete(dir, &path.unwrap()).unwrap();
        assert!(open(dir, "xeon-os").unwrap().0.reference.is_some());
        let near = open(dir, "macbok-2017").unwrap_err().to_string();
        assert!(near.contains("did you mean macbook-2017?"), "{near}");
    }
}
