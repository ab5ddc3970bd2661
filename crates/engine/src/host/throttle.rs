//! Disk limits of this process's control groups: io.max (version 2), blkio.throttle (version 1).

use super::groups::Groups;
use super::root::Root;
use crate::record::Throttle;

/// Reads the limits for these devices (major, minor); `None`: no visible limit. In version 2 the
/// lowest up to the root applies, in version 1, without a hierarchy, that of this process's group.
///
/// io.latency and io.weight are not limits: their effect depends on other groups.
pub(super) fn limits(root: &Root, devices: &[(u64, u64)]) -> Option<Throttle> {
    let mut found = Throttle::default();
    let groups = Groups::of_process(root);
    for folder in groups.folders("") {
        let text = root.text(&format!("{folder}/io.max")).unwrap_or_default();
        apply_io_max(&mut found, &text, devices);
    }
    if let Some(folder) = groups.folders("blkio").first() {
        for (file, slot) in VERSION_1 {
            let text = root.text(&format!("{folder}/{file}")).unwrap_or_default();
            rows(&text, devices)
                .for_each(|value| lower_limit(&mut found, "blkio.throttle", slot, value));
        }
    }
    (found != Throttle::default()).then_some(found)
}

/// Selects the field for a limit.
type Slot = fn(&mut Throttle) -> &mut Option<u64>;

const VERSION_1: [(&str, Slot); 4] = [
    ("blkio.throttle.read_bps_device", |t| &mut t.read_bytes),
    ("blkio.throttle.write_bps_device", |t| &mut t.write_bytes),
    ("blkio.throttle.read_iops_device", |t| &mut t.reads),
    ("blkio.throttle.write_iops_device", |t| &mut t.writes),
];

const VERSION_2: [(&str, Slot); 4] = [
    ("rbps", |t| &mut t.read_bytes),
    ("wbps", |t| &mut t.write_bytes),
    ("riops", |t| &mut t.reads),
    ("wiops", |t| &mut t.writes),
];

/// Returns the rest of each line for these devices: `8:0 rbps=1048576 wbps=max`.
fn rows<'a>(text: &'a str, devices: &'a [(u64, u64)]) -> impl Iterator<Item = &'a str> {
    text.lines().take(4096).filter_map(|line| {
        let (device, rest) = line.trim().split_once(' ')?;
        let (major, minor) = device.split_once(':')?;
        let device = (major.parse().ok()?, minor.parse().ok()?);
        devices.contains(&device).then_some(rest)
    })
}

/// Applies the limits of an io.max file.
fn apply_io_max(found: &mut Throttle, text: &str, devices: &[(u64, u64)]) {
    for row in rows(text, devices) {
        for (name, value) in row.split_whitespace().filter_map(|part| part.split_once('=')) {
            if let Some((_, slot)) = VERSION_2.iter().find(|(known, _)| *known == name) {
                lower_limit(found, "io.max", *slot, value);
            }
        }
    }
}

/// Lowers a limit to `value`, unless that is `max` or not a positive number.
fn lower_limit(found: &mut Throttle, by: &str, slot: Slot, value: &str) {
    let Some(value) = value.trim().parse::<u64>().ok().filter(|value| *value > 0) else { return };
    let limit = slot(found);
    if limit.is_none_or(|limit| value < limit) {
        *limit = Some(value);
        found.by = by.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    const DISK: &[(u64, u64)] = &[(259, 1), (8, 0)];

    #[test]
    fn the_lowest_io_max_of_these_devices_counts() {
        let tree = Tree::new(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            (
                "sys/fs/cgroup/a/b/io.max",
                "8:0 rbps=2097152 wbps=max riops=max wiops=120\n\
                 8:16 rbps=1 wbps=1 riops=1 wiops=1\n",
            ),
            ("sys/fs/cgroup/a/io.max", "8:0 rbps=1048576 wbps=max riops=max wiops=max\n"),
        ]);
        let expected = Throttle {
            by: "io.max".into(),
            read_bytes: Some(1 << 20),
            writes: Some(120),
            ..Throttle::default()
        };
        assert_eq!(limits(&tree.root(), DISK), Some(expected));
        assert_eq!(limits(&tree.root(), &[(9, 9)]), None);
    }

    #[test]
    fn version_1_has_a_file_for_each_limit() {
        let tree = Tree::new(&[
            ("proc/self/cgroup", "7:cpuset:/\n4:blkio,x:/job\n0::/\n"),
            ("sys/fs/cgroup/blkio/job/blkio.throttle.write_bps_device", "8:0 500\n"),
            ("sys/fs/cgroup/blkio/job/blkio.throttle.read_iops_device", "8:0 7\n8:16 3\n"),
        ]);
        let expected = Throttle {
            by: "blkio.throttle".into(),
            write_bytes: Some(500),
            reads: Some(7),
            ..Throttle::default()
        };
        assert_eq!(limits(&tree.root(), DISK), Some(expected));
    }

    #[test]
    fn only_the_own_group_of_version_1_limits() {
        const FILE: &str = "blkio.throttle.read_bps_device";
        let parent = format!("sys/fs/cgroup/blkio/job/{FILE}");
        let child = format!("sys/fs/cgroup/blkio/job/child/{FILE}");
        let groups = ("proc/self/cgroup", "4:blkio:/job/child\n");
        let nested = Tree::new(&[groups, (&parent, "8:0 500\n"), (&child, "")]);
        assert_eq!(limits(&nested.root(), DISK), None, "the limit of the parent");
        // In a container the root of the mount is its own group.
        let container = Tree::new(&[groups, (&format!("sys/fs/cgroup/blkio/{FILE}"), "8:0 500\n")]);
        assert_eq!(limits(&container.root(), DISK).and_then(|of| of.read_bytes), Some(500));
    }

    #[test]
    fn missing_and_invalid_limits_are_ignored() {
        assert_eq!(limits(&Tree::new(&[]).root(), DISK), None);
        for text in [
            "",
            "8:0",
            "8:0 rbps",
            "8:0 rbps=max",
            "8:0 rbps=0",
            "8:0 rbps=-1",
            "x:y rbps=1",
            "8:0 other=5",
            "\u{fffd}",
        ] {
            let tree = Tree::new(&[
                ("proc/self/cgroup", "0::/../x\n::\n0::/\n"),
                ("sys/fs/cgroup/io.max", text),
            ]);
            assert_eq!(limits(&tree.root(), DISK), None, "{text}");
        }
    }
}
