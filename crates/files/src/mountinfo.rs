//! Parses /proc/self/mountinfo (proc_pid_mountinfo(5)).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::read_text as text;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: u64,
    /// The id of the mount that it is on.
    pub parent: u64,
    /// (major, minor) of the superblock.
    pub device: (u64, u64),
    /// The folder of the file system that is mounted.
    pub root: PathBuf,
    pub mount_point: PathBuf,
    pub fs: String,
    pub source: String,
    /// Options of the mount, then of the superblock, without repetition.
    pub options: Vec<String>,
}

/// Returns the mounts of this thread.
pub fn all() -> Vec<Entry> {
    parse(&text::read("/proc/thread-self/mountinfo").unwrap_or_default())
}

/// Returns the mounts that the kernel goes through from the root folder to an absolute path without
/// symbolic links; the last is the one that the path is on.
pub fn on_the_way<'a>(table: &'a [Entry], path: &Path) -> Vec<&'a Entry> {
    let is_known = |id: u64| table.iter().any(|entry| entry.id == id);
    let is_root = |entry: &&Entry| {
        entry.mount_point == Path::new("/") && (entry.parent == entry.id || !is_known(entry.parent))
    };
    let mut way: Vec<&Entry> = table.iter().find(is_root).into_iter().collect();
    while let Some(last) = way.last().filter(|_| way.len() < table.len()) {
        let next = table.iter().filter(|entry| {
            entry.parent == last.id && entry.id != last.id && path.starts_with(&entry.mount_point)
        });
        // The one that the kernel meets first hides the others.
        match next.min_by_key(|entry| entry.mount_point.as_os_str().len()) {
            Some(next) => way.push(next),
            None => break,
        }
    }
    way
}

/// Parses all lines that have the documented form.
pub fn parse(table: &str) -> Vec<Entry> {
    table.lines().filter_map(entry).collect()
}

/// Parses `36 35 98:0 /root /mnt/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
fn entry(line: &str) -> Option<Entry> {
    let mut words = line.split(' ');
    let id = words.next()?.parse().ok()?;
    let parent = words.next()?.parse().ok()?;
    let (major, minor) = words.next()?.split_once(':')?;
    let root = path(words.next()?);
    let mount_point = path(words.next()?);
    let mut options: Vec<String> = words.next()?.split(',').map(String::from).collect();
    words.by_ref().find(|w| *w == "-")?;
    let fs = unescape(words.next()?);
    let source = unescape(words.next()?);
    for option in words.next().unwrap_or("").split(',').filter(|o| !o.is_empty()) {
        if !options.iter().any(|o| o == option) {
            options.push(option.to_string());
        }
    }
    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8_lossy(&bytes).into_owned()
    }
    Some(Entry {
        id,
        parent,
        device: (major.parse().ok()?, minor.parse().ok()?),
        root,
        mount_point,
        fs: text(fs),
        source: text(source),
        options,
    })
}

fn path(word: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(word)))
}

/// Decodes `\040` (space) and other octal escapes.
pub fn unescape(word: &str) -> Vec<u8> {
    let bytes = word.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let digits = bytes
            .get(i + 1..i + 4)
            .filter(|d| bytes[i] == b'\\' && d.iter().all(|c| (b'0'..b'8').contains(c)));
        match digits.map(|d| d.iter().fold(0u32, |n, c| n * 8 + u32::from(c - b'0'))) {
            Some(code @ 0..256) => {
                out.push(code as u8);
                i += 4;
            }
            _ => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        for (word, want) in [
            (r"/a\040b\011c\134", &b"/a b\tc\\"[..]),
            (r"\777", br"\777"),
            (r"\08", br"\08"),
            (r"x\", br"x\"),
            (r"\0401", b" 1"),
        ] {
            assert_eq!(unescape(word), want, "{word}");
        }
    }

    #[test]
    fn optional_fields_and_odd_lines() {
        let table = "\
36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 0:44 / /net ro - fuse.sshfs me@host:/x\\040y ro,user_id=0
99 27 bad / / rw - ext4 x rw
99 27 0:1 / / rw ext4 x rw
99 27 0:1 / / rw -

";
        let entries = parse(table);
        assert_eq!(entries.iter().map(|e| e.id).collect::<Vec<_>>(), [36, 27, 40]);
        let first = &entries[0];
        assert_eq!((first.device, first.mount_point.to_str()), ((98, 0), Some("/mnt 2")));
        assert_eq!(first.options, ["rw", "noatime", "errors=continue"]);
        assert_eq!(entries[2].source, "me@host:/x y");
    }
}
