//! The root of the kernel's files: `/`, or a captured tree in tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::facts::clean;
use crate::sys::text;

/// Maximum number of folder entries read.
const MAX_ENTRIES: usize = 8192;

/// A tree that contains `proc/`, `sys/` and `etc/`. Anything unreadable is unknown, never an error.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

impl Root {
    /// Returns the root of the running system.
    pub fn system() -> Root {
        Root::new("/")
    }

    /// Creates the root of a captured tree.
    pub fn new(path: impl Into<PathBuf>) -> Root {
        Root(path.into())
    }

    /// Returns the path of a file inside the tree.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// Reads the whole text, at most 16 MiB, with invalid UTF-8 replaced.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        text::read(self.path(path)).ok()
    }

    /// Reads the first line that is not blank, cleaned by [`clean`].
    pub(super) fn line(&self, path: &str) -> Option<String> {
        let text = text::read_line(self.path(path)).ok()?;
        let line = clean(text.lines().find(|line| !line.trim().is_empty())?);
        (!line.is_empty()).then_some(line)
    }

    /// Reads a number.
    pub(super) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.line(path)?.parse().ok()
    }

    /// Lists the names in a folder, sorted; none if it cannot be read.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else { return Vec::new() };
        let mut names: Vec<_> = entries
            .flatten()
            .take(MAX_ENTRIES)
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// Returns the target of a symbolic link.
    pub(super) fn link(&self, path: &str) -> Option<PathBuf> {
        fs::read_link(self.path(path)).ok()
    }

    /// Returns true if this user may write the file.
    pub(super) fn is_writable(&self, path: &str) -> bool {
        nix::unistd::access(&self.path(path), nix::unistd::AccessFlags::W_OK).is_ok()
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }
}

/// Returns the last component of a path as text.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| clean(&name.to_string_lossy())).unwrap_or_default()
}

/// Returns the word in brackets of `always [madvise] never`.
pub(super) fn bracketed(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.trim())
}

#[cfg(test)]
pub(super) mod testing;

#[cfg(test)]
mod tests {
    use super::testing::Tree;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_one_clean_line() {
        let tree = Tree::new(&[
            ("a", "\n  two words \nmore"),
            ("b", "\x1b[31mred\u{7}"),
            ("c", ""),
            ("n", "42\n"),
        ]);
        tree.write("bin", &[0xff, 0xfe, 0, 1]);
        tree.write("huge", &vec![b'x'; 1 << 20]);
        let root = tree.root();
        assert_eq!(root.line("/a").as_deref(), Some("two words"));
        assert_eq!(root.line("b").as_deref(), Some("?[31mred?"));
        assert_eq!((root.line("c"), root.line("missing"), root.line("")), (None, None, None));
        assert_eq!(root.line("bin").as_deref(), Some("??\u{3f}?"));
        assert_eq!(root.line("huge").map(|line| line.len()), Some(crate::facts::MAX_LINE));
        assert_eq!((root.number::<u32>("n"), root.number::<u32>("a")), (Some(42), None));
        assert_eq!(root.names("").len(), 6);
    }

    #[test]
    fn finds_the_bracketed_word() {
        assert_eq!(bracketed("always [madvise] never"), Some("madvise"));
        assert_eq!(bracketed("none"), None);
        assert_eq!(bracketed("]["), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = (crate::facts::cpu_list(&text), bracketed(&text).map(str::len), clean(&text));
        }
    }
}
