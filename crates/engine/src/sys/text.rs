//! Reads the kernel's text files (/proc, /sys): bounded, and tolerant of invalid bytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

/// Maximum number of bytes read; the rest of a longer file is ignored.
const LIMIT: u64 = 16 << 20;

/// Reads the text of a kernel file, at most 16 MiB, with invalid UTF-8 replaced.
///
/// # Errors
/// The errno of open(2) or read(2).
pub fn read(path: impl AsRef<Path>) -> io::Result<String> {
    // Most are shorter: one call reads them, and another finds the end.
    let mut bytes = Vec::with_capacity(4096);
    File::open(path)?.take(LIMIT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// Returns the trimmed text of a one-line file; `None` if it is unreadable or empty.
pub fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = read(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_string())
}

/// Returns the number in a one-line file; `None` if there is none.
pub fn number<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    line(path)?.parse().ok()
}

/// Returns the error for kernel text that does not have the documented form.
pub(crate) fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what}: not in the documented form"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_content_is_no_number_and_no_panic() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for (bytes, want) in [
            (&b" 42\n"[..], Some(42)),
            (b"", None),
            (b"\n", None),
            (b"\xff\xfe", None),
            (b"-1", None),
        ] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(number::<u64>(&path), want);
        }
        assert_eq!(line(dir.path()), None);
        assert_eq!(line("/nonexistent"), None);
    }
}
