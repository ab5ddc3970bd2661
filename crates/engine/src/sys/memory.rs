//! The memory of this machine, and the share of it that this process may use: the control groups
//! around it have limits.

use std::io;
use std::path::{Component, Path, PathBuf};

use memmap2::MmapOptions;
use nix::sys::resource::{Resource, getrlimit};

use super::fd::page_size;
use super::mounts::{self, MountEntry};
use super::text;

/// The fields of /proc/meminfo, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pub total: u64,
    /// Memory for new programs without swapping, as estimated by the kernel.
    pub available: u64,
    /// Page cache in folios that can be mapped as one huge page (2 MiB on x86-64). `None` if the
    /// kernel does not report it.
    pub file_huge_pages: Option<u64>,
}

impl Memory {
    /// Reads the current values.
    ///
    /// # Errors
    /// The errno of reading /proc/meminfo; `InvalidData` for malformed text.
    pub fn now() -> io::Result<Self> {
        parse(&text::read("/proc/meminfo")?).ok_or_else(|| text::malformed("/proc/meminfo"))
    }
}

/// Returns a field of /proc/meminfo in bytes: `MemTotal:       49368168 kB`.
pub fn bytes_of(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

fn parse(meminfo: &str) -> Option<Memory> {
    let bytes = |name| bytes_of(meminfo, name);
    Some(Memory {
        total: bytes("MemTotal")?,
        available: bytes("MemAvailable")?,
        file_huge_pages: bytes("FileHugePages"),
    })
}

/// Returns an id that changes with each boot, after which a warm cache or a device name is no
/// longer valid.
pub fn boot_id() -> Option<String> {
    text::line("/proc/sys/kernel/random/boot_id")
}

/// The file names of one version of control groups.
#[derive(Debug)]
struct GroupVersion {
    controller: &'static str,
    /// Above `memory.high` the kernel reclaims pages and throttles the process, so for a
    /// measurement it is as hard a limit as `memory.max`.
    limits: &'static [&'static str],
    usage: &'static str,
    /// Fields of memory.stat: memory that the kernel reclaims before it refuses an allocation.
    cache: [&'static str; 2],
}

const VERSION_2: GroupVersion = GroupVersion {
    controller: "",
    limits: &["memory.max", "memory.high"],
    usage: "memory.current",
    cache: ["inactive_file", "active_file"],
};
const VERSION_1: GroupVersion = GroupVersion {
    controller: "memory",
    limits: &["memory.limit_in_bytes"],
    usage: "memory.usage_in_bytes",
    cache: ["total_inactive_file", "total_active_file"],
};

/// Returns the memory limit in bytes that control groups (version 2 or 1) set for this process: the
/// lowest one up to the root. `None`: no limit, or none visible.
pub fn cgroup_limit() -> Option<u64> {
    enclosing_groups().iter().filter_map(|(dir, version)| limit(dir, version)).min()
}

/// Returns the bytes that this process can use before the machine swaps or a control group around
/// it reaches its limit. Memory used by others in these groups is subtracted, except their page
/// cache. `None` if it is unknown.
pub fn free_memory() -> Option<u64> {
    let available = Memory::now().ok().map(|memory| memory.available);
    enclosing_groups()
        .iter()
        .filter_map(|(dir, version)| remaining(dir, version))
        .chain(available)
        .min()
}

/// Address space in bytes that a run needs: with less, small allocations fail and end the process
/// without a message.
pub const MIN_ADDRESS_SPACE: u64 = 40 << 20;

/// Returns whether this process has room for anything: without it, an allocation of a few bytes
/// would end it without a message. Allocates nothing itself.
pub fn has_room() -> bool {
    const LEAST: usize = 8 << 20;
    MmapOptions::new().len(LEAST).map_anon().is_ok()
}

/// Returns the address space limit (`ulimit -v`) and what remains of it, if that is less than
/// [`MIN_ADDRESS_SPACE`].
pub fn narrow_space() -> Option<(u64, u64)> {
    let (limit, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    let pages: u64 = text::read("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
    let left = limit.saturating_sub(pages.saturating_mul(page_size()));
    (left < MIN_ADDRESS_SPACE).then_some((limit, left))
}

/// Returns the groups from our own up to the root of the mount.
fn enclosing_groups() -> Vec<(PathBuf, &'static GroupVersion)> {
    let read = |path| text::read(path).ok();
    let (Some(groups), Some(mounts)) = (read("/proc/self/cgroup"), read("/proc/self/mountinfo"))
    else {
        return Vec::new();
    };
    let mounts = mounts::parse_table(&mounts);
    let v2 = mounts.iter().find(|m| m.fs == "cgroup2").map(|m| (m, &VERSION_2));
    let v1 = mounts
        .iter()
        .find(|m| m.fs == "cgroup" && m.options.iter().any(|o| o == "memory"))
        .map(|m| (m, &VERSION_1));
    let on = |(mount, version): (&MountEntry, &'static GroupVersion)| {
        let group = group_path(&groups, version.controller)
            .map(|group| below_root(&group, &mount.root))
            .unwrap_or_default();
        group.ancestors().map(|dir| (mount.mount_point.join(dir), version)).collect::<Vec<_>>()
    };
    [v2, v1].into_iter().flatten().flat_map(on).collect()
}

/// Returns the path in `4:memory:/some/group`; version 2 has no controller: `0::/some/group`.
pub fn group_path(groups: &str, controller: &str) -> Option<PathBuf> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let named = fields.next()?.split(',').any(|c| c == controller);
        named.then_some(())?;
        fields.next().map(PathBuf::from)
    })
}

/// Returns the group as seen from the mount, which may show only part of the tree; never above it.
pub(super) fn below_root(group: &Path, root: &Path) -> PathBuf {
    let path = group.strip_prefix(root).unwrap_or(group);
    path.components().filter(|c| matches!(c, Component::Normal(_))).collect()
}

/// Returns the limit of one group; `max` and the corresponding number of version 1 mean none.
fn limit(dir: &Path, version: &GroupVersion) -> Option<u64> {
    version
        .limits
        .iter()
        .filter_map(|file| text::number::<u64>(dir.join(file)).filter(|n| *n < 1 << 62))
        .min()
}

/// Returns the bytes that remain below the limit of one group.
fn remaining(dir: &Path, version: &GroupVersion) -> Option<u64> {
    let limit = limit(dir, version)?;
    let used: u64 = text::number(dir.join(version.usage)).unwrap_or(0);
    let stat = text::read(dir.join("memory.stat")).unwrap_or_default();
    let cache = stat
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| version.cache.contains(name));
    let cache = cache
        .filter_map(|(_, bytes)| bytes.trim().parse::<u64>().ok())
        .fold(0, u64::saturating_add);
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_meminfo_are_bytes() {
        let text = "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    900 kB\nDirty:  8 \
                    kB\nWriteback:   4 kB\nWritebackTmp: 9 kB\nFileHugePages:  2048 kB\n";
        let want =
            Memory { total: 1_024_000, available: 900 << 10, file_huge_pages: Some(2 << 20) };
        assert_eq!(parse(text), Some(want));
        assert_eq!(parse(&text.replace("FileHuge", "X")).unwrap().file_huge_pages, None);
        for odd in
            ["", "MemTotal: x kB", "MemTotal 5", &text.replace("1000", "99999999999999999999")]
        {
            assert_eq!(parse(odd), None);
        }
    }

    fn group(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(dir.path().join(name), text).unwrap());
        dir
    }

    #[test]
    fn groups() {
        let groups = "9:name=systemd:/\n4:cpu,memory:/a/b:c\n0::/x/y\nodd\n";
        assert_eq!(group_path(groups, "memory"), Some("/a/b:c".into()));
        assert_eq!(group_path(groups, ""), Some("/x/y".into()));
        assert_eq!(group_path(groups, "io"), None);
        assert_eq!(below_root(Path::new("/x/y/z"), Path::new("/x")), Path::new("y/z"));
        assert_eq!(below_root(Path::new("/../../y"), Path::new("/")), Path::new("y"));
    }

    /// Above memory.high nothing is refused, but of a read of 160 MiB only 98 MiB stayed cached
    /// under a limit of 100 MiB.
    #[test]
    fn high_limits_and_max_does_not() {
        let of = |files, version| limit(group(files).path(), version);
        assert_eq!(
            of(&[("memory.max", "2000\n"), ("memory.high", "1000\n")], &VERSION_2),
            Some(1000)
        );
        assert_eq!(
            of(&[("memory.max", "2000\n"), ("memory.high", "max\n")], &VERSION_2),
            Some(2000)
        );
        assert_eq!(of(&[("memory.max", "max\n"), ("memory.high", "max\n")], &VERSION_2), None);
        assert_eq!(of(&[("memory.limit_in_bytes", "9223372036854771712\n")], &VERSION_1), None);
        assert_eq!(of(&[("memory.limit_in_bytes", "4096\n")], &VERSION_1), Some(4096));
        assert_eq!(of(&[("memory.max", "")], &VERSION_2), None);
    }

    /// A quarter of the limit, with neighbours that already use most of it, would trigger the OOM
    /// killer.
    #[test]
    fn the_cache_of_neighbours_is_free() {
        let stat = "anon 700\nfile 250\ninactive_file 150\nactive_file 50\nshmem 50\n";
        let of = |limit| {
            remaining(
                group(&[("memory.max", limit), ("memory.current", "950"), ("memory.stat", stat)])
                    .path(),
                &VERSION_2,
            )
        };
        assert_eq!((of("1000"), of("500"), of("max")), (Some(250), Some(0), None));
        assert_eq!(remaining(group(&[("memory.max", "1000")]).path(), &VERSION_2), Some(1000));
        let stat = "cache 250\ninactive_file 1\nactive_file 1\ntotal_inactive_file 150\n\
                    total_active_file 50\n";
        let files = [
            ("memory.limit_in_bytes", "1000"),
            ("memory.usage_in_bytes", "950"),
            ("memory.stat", stat),
        ];
        assert_eq!(remaining(group(&files).path(), &VERSION_1), Some(250));
    }

    #[test]
    fn this_machine() {
        let now = Memory::now().unwrap();
        assert!(now.total >= now.available && now.available > 0);
        assert!(boot_id().is_none_or(|id| id.len() >= 32));
        assert!(cgroup_limit().is_none_or(|n| n > 0));
        assert!(free_memory().is_some_and(|free| free > 0 && free <= now.total));
    }
}
