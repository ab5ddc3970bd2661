//! Opens a session by what its user calls it: a saved session or a reference.

use std::path::{Path, PathBuf};

use super::{Session, SessionError, find, load, references};

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
    use crate::session::{delete, testing};

    #[test]
    fn a_reference_is_opened_unless_an_own_session_has_its_name() {
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
