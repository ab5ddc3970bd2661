//! Ids and names of sessions, and the file path for an id.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{NAME_LENGTH, SUFFIX, SessionError};
use crate::text::{self, clean, time};

/// Returns whether `text` can be the id of a session.
pub(super) fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// Builds the id of a session: `20261121-093011-scratch`.
pub(super) fn new_id(created: SystemTime, slug_of: &str) -> String {
    format!("{}-{}", time::stamp(created), text::slug(slug_of))
}

/// Returns the path of the session with that id.
pub fn path_of(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("{id}.{SUFFIX}"))
}

/// Trims a name and drops control characters.
///
/// # Errors
/// The result is empty or too long.
pub fn check_name(text: &str) -> Result<String, SessionError> {
    let name = clean::text(text).trim().to_string();
    match name.chars().count() {
        1..=NAME_LENGTH => Ok(name),
        _ => Err(SessionError::Name(text.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_one_printable_line() {
        assert_eq!(check_name("  my\x1b[31m run\n").unwrap(), "my[31m run");
        for bad in ["", " \n", "\0", &"x".repeat(81)] {
            assert!(matches!(check_name(bad), Err(SessionError::Name(_))), "{bad:?}");
        }
        assert!(check_name(&"ä".repeat(80)).is_ok());
    }

    proptest! {
        #[test]
        fn slugs_are_parts_of_ids(any in ".{0,80}") {
            prop_assert!(is_id(&text::slug(&any)));
        }
    }
}
