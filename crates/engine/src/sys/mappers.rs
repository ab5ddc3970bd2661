//! Finds the other processes that map a file: the usual reason why its cache cannot be dropped.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::sys::stat::{major, minor};

use super::text;

/// Maximum number of processes examined.
const MAX_PROCESSES: usize = 32_768;
/// Maximum number of mappers listed.
const MAX_FOUND: usize = 32;

/// Another process that maps the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapper {
    pub pid: u32,
    /// Its name, at most 15 bytes (/proc/PID/comm); empty if unreadable.
    pub name: String,
    /// Bytes of address space that map the file: an upper bound of what the process keeps cached.
    pub bytes: u64,
}

/// The identity of the file in the maps of a process.
struct FileKey {
    inode: u64,
    device: String,
    path: String,
}

/// Returns the other processes that map `file`, from /proc/PID/maps: at most 32, if their maps are
/// readable.
pub fn mappers(file: &File) -> Vec<Mapper> {
    let (Ok(wanted), Ok(processes)) = (file_key(file), fs::read_dir("/proc")) else {
        return Vec::new();
    };
    let own_pid = std::process::id();
    let mut found = Vec::new();
    for entry in processes.flatten().take(MAX_PROCESSES) {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if pid == own_pid {
            continue;
        }
        let bytes =
            text::read(entry.path().join("maps")).map_or(0, |maps| mapped_bytes(&maps, &wanted));
        if bytes > 0 {
            let name = text::line(entry.path().join("comm")).unwrap_or_default();
            found.push(Mapper { pid, name, bytes });
            if found.len() == MAX_FOUND {
                break;
            }
        }
    }
    found
}

fn file_key(file: &File) -> io::Result<FileKey> {
    let meta = file.metadata()?;
    let path = fs::read_link(Path::new("/proc/thread-self/fd").join(file.as_raw_fd().to_string()))?;
    Ok(FileKey {
        inode: meta.ino(),
        device: format!("{:02x}:{:02x}", major(meta.dev()), minor(meta.dev())),
        path: path.to_string_lossy().into_owned(),
    })
}

/// Sums the lengths of the lines that refer to the file.
fn mapped_bytes(maps: &str, wanted: &FileKey) -> u64 {
    maps.lines().filter_map(|line| mapped_line(line, wanted)).fold(0, u64::saturating_add)
}

/// Parses `7f00-7f10 r--s 00000000 fe:00 1234 /path`. Btrfs and overlays report a different device
/// than stat, so the path is compared too.
fn mapped_line(line: &str, wanted: &FileKey) -> Option<u64> {
    let mut words = line.splitn(6, ' ');
    let (low, high) = words.next()?.split_once('-')?;
    let (_flags, _offset, device) = (words.next()?, words.next()?, words.next()?);
    let inode: u64 = words.next()?.parse().ok()?;
    let path = words.next().unwrap_or("").trim_start();
    if inode != wanted.inode || (device != wanted.device && path != wanted.path) {
        return None;
    }
    u64::from_str_radix(high, 16).ok()?.checked_sub(u64::from_str_radix(low, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing;

    #[test]
    fn lines_of_maps() {
        let wanted = FileKey { inode: 77, device: "fe:00".into(), path: "/data/my file".into() };
        let maps = "\
7f0000000000-7f0000200000 r--s 00000000 fe:00 77                         /data/my file (deleted)
7f0000200000-7f0000201000 r--s 00000000 00:1c 77                         /data/my file
7f0000300000-7f0000400000 r--s 00000000 00:1c 77                         /elsewhere
7f0000400000-7f0000500000 r--s 00000000 fe:00 78                         /data/my file
7f0000500000-7f0000600000 rw-p 00000000 00:00 0
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
garbage
zz-00 r fe:00 77 77 77
00-zz r-- 0 fe:00 77 x
";
        assert_eq!(mapped_bytes(maps, &wanted), 0x200000 + 0x1000);
    }

    #[test]
    fn a_mapping_process_is_found() {
        // Any running program maps its executable: here a child that waits for input.
        let Ok(mut child) = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
        else {
            return testing::without("cat");
        };
        // One byte of output proves that it runs.
        use std::io::{Read, Write};
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let program = fs::read_link(format!("/proc/{}/exe", child.id())).and_then(File::open);
        if let Ok(program) = program {
            let found = mappers(&program);
            assert!(
                found.len() == MAX_FOUND
                    || found.iter().any(|m| m.pid == child.id() && m.bytes > 0),
                "{found:?}"
            );
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn an_unknown_file_has_no_mappers() {
        assert_eq!(mappers(&tempfile::tempfile().unwrap()), []);
    }
}
