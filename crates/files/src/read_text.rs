//! Reads the kernel's text files (/proc, /sys): bounded, and tolerant of invalid bytes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;

/// Maximum number of bytes read; the rest of a longer file is ignored.
const LIMIT: u64 = 16 << 20;
/// Bytes of the first read(2): most files are shorter.
const FIRST: usize = 4096;

/// Reads the text of a kernel file, at most 16 MiB, with invalid UTF-8 replaced.
///
/// # Errors
/// The errno of open(2) or read(2).
pub fn read(path: impl AsRef<Path>) -> io::Result<String> {
    read_until(path, |_| false)
}

/// Reads the text until what was read so far is enough, or the file ends: a one-line file takes one
/// read(2), where reading it whole takes another to find the end.
fn read_until(path: impl AsRef<Path>, enough: impl Fn(&[u8]) -> bool) -> io::Result<String> {
    let mut file = open(path.as_ref())?;
    let mut bytes = vec![0; FIRST];
    let filled = file.read(&mut bytes)?;
    bytes.truncate(filled);
    if filled > 0 && !enough(&bytes) {
        // Files of more than one read are read whole.
        file.take(LIMIT - bytes.len() as u64).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// Opens a regular file. A pipe or a device in its place would block or never end.
fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// Returns the trimmed text of a one-line file; `None` if it is unreadable or empty.
pub fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = read_until(path, |bytes| bytes.ends_with(b"\n")).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_string())
}

/// Reads at least the first line that is not blank.
///
/// # Errors
/// As [`read`].
pub fn read_line(path: impl AsRef<Path>) -> io::Result<String> {
    read_until(path, |bytes| bytes.trim_ascii_start().contains(&b'\n'))
}

/// Returns the number in a one-line file, if it holds one.
pub fn number<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    line(path)?.parse().ok()
}

/// Returns the error for kernel text that does not have the documented form.
pub fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what}: not in the documented form"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_files_and_first_lines() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for text in ["", "\n", "\n \nx\n", "no end", &"0123456789\n".repeat(1000)] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(read(&file).unwrap(), text);
            let first = |text: &str| text.lines().find(|l| !l.trim().is_empty()).map(String::from);
            assert_eq!(first(&read_line(&file).unwrap()), first(text), "{text:.20}");
        }
    }

    #[test]
    fn odd_content_is_not_a_number() {
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
        // A pipe without a writer would block.
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(read(&pipe).is_err() && read_line(&pipe).is_err());
        assert_eq!(line("/nonexistent"), None);
    }
}
