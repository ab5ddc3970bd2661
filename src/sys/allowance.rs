//! How much memory we may have: what is free, and what the control groups around this process leave
//! of it.

use std::path::{Component, Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit};

use super::fd::page_size;
use super::memory::Memory;
use super::mountinfo::{self, Entry};
use super::text;

/// What a version of the control groups calls it.
#[derive(Debug)]
struct Version {
    controller: &'static str,
    /// Above `memory.high` the kernel takes pages away and holds the process up, so it is as hard
    /// for a measurement as `memory.max`.
    limits: &'static [&'static str],
    usage: &'static str,
    /// In memory.stat: what the kernel gives back before it says no.
    cache: [&'static str; 2],
}

const VERSION_2: Version = Version {
    controller: "",
    limits: &["memory.max", "memory.high"],
    usage: "memory.current",
    cache: ["inactive_file", "active_file"],
};
const VERSION_1: Version = Version {
    controller: "memory",
    limits: &["memory.limit_in_bytes"],
    usage: "memory.usage_in_bytes",
    cache: ["total_inactive_file", "total_active_file"],
};

/// The memory limit in bytes that a control group (version 2 or 1) sets for this process: the
/// lowest on the way to the root. `None`: no limit, or none visible.
pub fn cgroup_limit() -> Option<u64> {
    around().iter().filter_map(|(dir, version)| limit(dir, version)).min()
}

/// Bytes that this process can have before the machine swaps or a control group around it reaches
/// its limit, with what others in these groups use taken off and their page cache not. `None` where
/// the kernel does not say.
pub fn free_memory() -> Option<u64> {
    let available = Memory::now().ok().map(|memory| memory.available);
    around().iter().filter_map(|(dir, version)| left(dir, version)).chain(available).min()
}

/// Address space that a run needs: with less, allocations of a few bytes fail, which ends the
/// process without a word of its own.
pub const LEAST_SPACE: u64 = 16 << 20;

/// The limit on the address space (`ulimit -v`) and what it leaves, where that is less than
/// [`LEAST_SPACE`].
pub fn narrow_space() -> Option<(u64, u64)> {
    let (limit, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    let pages: u64 = text::read("/proc/self/statm").ok()?.split(' ').next()?.parse().ok()?;
    let left = limit.saturating_sub(pages.saturating_mul(page_size()));
    (left < LEAST_SPACE).then_some((limit, left))
}

/// The groups from our own to the top of what is mounted.
fn around() -> Vec<(PathBuf, &'static Version)> {
    let read = |path| text::read(path).ok();
    let (Some(groups), Some(mounts)) = (read("/proc/self/cgroup"), read("/proc/self/mountinfo"))
    else {
        return Vec::new();
    };
    let mounts = mountinfo::parse(&mounts);
    let v2 = mounts.iter().find(|m| m.fs == "cgroup2").map(|m| (m, &VERSION_2));
    let v1 = mounts
        .iter()
        .find(|m| m.fs == "cgroup" && m.options.iter().any(|o| o == "memory"))
        .map(|m| (m, &VERSION_1));
    let on = |(mount, version): (&Entry, &'static Version)| {
        let own = group_path(&groups, version.controller)
            .map(|group| below_root(&group, &mount.root))
            .unwrap_or_default();
        own.ancestors().map(|dir| (mount.mount_point.join(dir), version)).collect::<Vec<_>>()
    };
    [v2, v1].into_iter().flatten().flat_map(on).collect()
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

/// `max` and version 1's number for it are no limit.
fn limit(dir: &Path, version: &Version) -> Option<u64> {
    version
        .limits
        .iter()
        .filter_map(|file| text::number::<u64>(dir.join(file)).filter(|n| *n < 1 << 62))
        .min()
}

/// What is left below the limit of one group.
fn left(dir: &Path, version: &Version) -> Option<u64> {
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

    /// Above memory.high nothing is refused, but a read of 160 MiB kept 98 cached below one of 100
    /// MiB.
    #[test]
    fn high_is_a_limit_too_and_max_is_none() {
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

    /// A quarter of the limit, taken beside neighbours who have most of it, would call the killer
    /// on one of them.
    #[test]
    fn what_neighbours_use_is_not_free_but_their_cache_is() {
        let stat = "anon 700\nfile 250\ninactive_file 150\nactive_file 50\nshmem 50\n";
        let of = |limit| {
            left(
                group(&[("memory.max", limit), ("memory.current", "950"), ("memory.stat", stat)])
                    .path(),
                &VERSION_2,
            )
        };
        assert_eq!((of("1000"), of("500"), of("max")), (Some(250), Some(0), None));
        assert_eq!(left(group(&[("memory.max", "1000")]).path(), &VERSION_2), Some(1000));
        let stat = "cache 250\ninactive_file 1\nactive_file 1\ntotal_inactive_file 150\ntotal_active_file 50\n";
        let files = [
            ("memory.limit_in_bytes", "1000"),
            ("memory.usage_in_bytes", "950"),
            ("memory.stat", stat),
        ];
        assert_eq!(left(group(&files).path(), &VERSION_1), Some(250));
    }

    #[test]
    fn this_machine() {
        assert!(cgroup_limit().is_none_or(|n| n > 0));
        assert!(free_memory().is_some_and(|free| free > 0 && free <= Memory::now().unwrap().total));
    }
}
