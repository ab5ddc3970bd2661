//! How much memory there is, how much of it we may have, and which boot this is.

use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{mountinfo, text};

/// From /proc/meminfo, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    pub total: u64,
    /// What new programs can have without swapping, as the kernel estimates it.
    pub available: u64,
    /// Page cache in folios that can be mapped whole (2 MiB on x86-64). `None` where the kernel has none.
    pub file_huge_pages: Option<u64>,
    /// Waiting to be written to devices.
    pub dirty: u64,
    /// Being written to devices now.
    pub writeback: u64,
}

impl Memory {
    /// Now.
    ///
    /// # Errors
    /// The errno of reading /proc/meminfo; `InvalidData` for odd text.
    pub fn now() -> io::Result<Self> {
        parse(&text::read("/proc/meminfo")?).ok_or_else(|| text::malformed("/proc/meminfo"))
    }
}

fn parse(meminfo: &str) -> Option<Memory> {
    // `MemTotal:       49368168 kB`
    let bytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    Some(Memory {
        total: bytes("MemTotal")?,
        available: bytes("MemAvailable")?,
        file_huge_pages: bytes("FileHugePages"),
        dirty: bytes("Dirty")?,
        writeback: bytes("Writeback")?,
    })
}

/// The memory limit in bytes that a control group (version 2, else 1) sets for this process: the lowest on the way to the root. `None`: no limit, or none visible.
pub fn cgroup_limit() -> Option<u64> {
    let groups = text::read("/proc/self/cgroup").ok()?;
    let mounts = mountinfo::parse(&text::read("/proc/self/mountinfo").ok()?);
    let v2 = mounts.iter().find(|m| m.fs == "cgroup2").map(|m| (m, "", "memory.max"));
    let v1 = mounts.iter().find(|m| m.fs == "cgroup" && m.options.iter().any(|o| o == "memory"));
    let v1 = v1.map(|m| (m, "memory", "memory.limit_in_bytes"));
    let limits = [v2, v1].into_iter().flatten().filter_map(|(mount, controller, file)| {
        let group = group_path(&groups, controller)?;
        lowest(&mount.mount_point, &below_root(&group, &mount.root), file)
    });
    limits.min()
}

/// The path in `4:memory:/some/group`; version 2 has no controller: `0::/some/group`.
pub(super) fn group_path(groups: &str, controller: &str) -> Option<PathBuf> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let named = fields.next()?.split(',').any(|c| c == controller);
        named.then_some(())?;
        fields.next().map(PathBuf::from)
    })
}

/// The group seen from the mount, which may show only a part of the tree; never upwards.
pub(super) fn below_root(group: &Path, root: &Path) -> PathBuf {
    let path = group.strip_prefix(root).unwrap_or(group);
    path.components().filter(|c| matches!(c, Component::Normal(_))).collect()
}

fn lowest(mount: &Path, group: &Path, file: &str) -> Option<u64> {
    group.ancestors().filter_map(|dir| limit(&text::line(mount.join(dir).join(file))?)).min()
}

/// `max` and version 1's number for it are no limit.
fn limit(text: &str) -> Option<u64> {
    text.parse().ok().filter(|n| *n < 1 << 62)
}

/// A word that changes with each boot: a warm cache or a device name of another boot means nothing.
pub fn boot_id() -> Option<String> {
    text::line("/proc/sys/kernel/random/boot_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    900 kB\nDirty:  8 kB\nWriteback:   4 kB\nWritebackTmp: 9 kB\nFileHugePages:  2048 kB\n";
        let want = Memory { total: 1_024_000, available: 900 << 10, file_huge_pages: Some(2 << 20), dirty: 8192, writeback: 4096 };
        assert_eq!(parse(text), Some(want));
        assert_eq!(parse(&text.replace("FileHuge", "X")).unwrap().file_huge_pages, None);
        for odd in ["", "MemTotal: x kB", "MemTotal 5", &text.replace("1000", "99999999999999999999")] {
            assert_eq!(parse(odd), None);
        }
    }

    #[test]
    fn groups() {
        let groups = "9:name=systemd:/\n4:cpu,memory:/a/b:c\n0::/x/y\nodd\n";
        assert_eq!(group_path(groups, "memory"), Some("/a/b:c".into()));
        assert_eq!(group_path(groups, ""), Some("/x/y".into()));
        assert_eq!(group_path(groups, "io"), None);
        assert_eq!(below_root(Path::new("/x/y/z"), Path::new("/x")), Path::new("y/z"));
        assert_eq!(below_root(Path::new("/../../y"), Path::new("/")), Path::new("y"));
        assert_eq!((limit("max"), limit("9223372036854771712"), limit("4096"), limit("")), (None, None, Some(4096), None));
    }

    #[test]
    fn the_lowest_limit_on_the_way_up() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        for (place, text) in [("a/b", "max"), ("a", "1000"), (".", "2000")] {
            std::fs::write(dir.path().join(place).join("memory.max"), text).unwrap();
        }
        assert_eq!(lowest(dir.path(), Path::new("a/b"), "memory.max"), Some(1000));
        assert_eq!(lowest(dir.path(), Path::new(""), "memory.max"), Some(2000));
        assert_eq!(lowest(dir.path(), Path::new("a"), "none"), None);
    }

    #[test]
    fn this_machine() {
        let now = Memory::now().unwrap();
        assert!(now.total >= now.available && now.available > 0);
        assert!(cgroup_limit().is_none_or(|n| n > 0));
        assert!(boot_id().is_none_or(|id| id.len() >= 32));
    }
}
