//! The control groups of this process, and how they limit it: CPUs, disk bandwidth, and the
//! priority of its I/O.

use std::path::PathBuf;

use super::root::Root;
use crate::facts::BlockDevice;
use crate::record::Throttle;
use crate::sys::memory::group_path;
use crate::sys::threads::IoPriority;

/// The control groups of this process at one moment.
pub(super) struct Groups<'a> {
    root: &'a Root,
    /// The text of `/proc/self/cgroup`.
    text: String,
}

impl Groups<'_> {
    pub fn of_process(root: &Root) -> Groups<'_> {
        Groups { root, text: root.text("/proc/self/cgroup").unwrap_or_default() }
    }

    /// Returns the folders of this process's groups of a controller of version 1, or of version 2
    /// if it is empty: its own first, then those above it, as far as they can be seen.
    pub fn folders(&self, controller: &str) -> Vec<String> {
        let is_inside = |group: &PathBuf| group.to_str().is_some_and(|group| !group.contains(".."));
        let Some(group) = group_path(&self.text, controller).filter(is_inside) else {
            return Vec::new();
        };
        let base = match controller {
            // Next to version 1.
            "" if self.root.exists("/sys/fs/cgroup/unified") => "/sys/fs/cgroup/unified".into(),
            "" => "/sys/fs/cgroup".into(),
            name => format!("/sys/fs/cgroup/{name}"),
        };
        let all = group.strip_prefix("/").unwrap_or(&group).ancestors().take(64);
        all.filter_map(|folder| Some(format!("{base}/{}", folder.to_str()?)))
            .filter(|folder| self.root.exists(folder))
            .collect()
    }
}

/// Returns the number of CPUs that this process may keep busy now; `None`: no visible limit.
pub fn cpu_quota() -> Option<f64> {
    cpus(&Root::system())
}

/// Returns the number of CPUs that this process may keep busy: the lowest `cpu.max` (version 2) or
/// `cpu.cfs_quota_us` (version 1) up to the root; `None`: no visible limit.
pub(super) fn cpus(root: &Root) -> Option<f64> {
    let groups = Groups::of_process(root);
    let version_2 = groups
        .folders("")
        .into_iter()
        .filter_map(|folder| parse_quota(&root.line(&format!("{folder}/cpu.max"))?));
    let version_1 = groups.folders("cpu").into_iter().filter_map(|folder| {
        let line = |name: &str| root.line(&format!("{folder}/cpu.cfs_{name}_us"));
        parse_quota(&format!("{} {}", line("quota")?, line("period")?))
    });
    version_2.chain(version_1).min_by(f64::total_cmp)
}

/// Parses `150000 100000`, microseconds per period, into CPUs; `max` and -1 mean no limit.
fn parse_quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let share = quota.parse::<u64>().ok()? as f64 / period.trim().parse::<u64>().ok()? as f64;
    (share.is_finite() && share > 0.0).then_some(share)
}

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
type LimitField = fn(&mut Throttle) -> &mut Option<u64>;

const VERSION_1: [(&str, LimitField); 4] = [
    ("blkio.throttle.read_bps_device", |t| &mut t.read_bytes),
    ("blkio.throttle.write_bps_device", |t| &mut t.write_bytes),
    ("blkio.throttle.read_iops_device", |t| &mut t.reads),
    ("blkio.throttle.write_iops_device", |t| &mut t.writes),
];

const VERSION_2: [(&str, LimitField); 4] = [
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
fn lower_limit(found: &mut Throttle, by: &str, slot: LimitField, value: &str) {
    let Some(value) = value.trim().parse::<u64>().ok().filter(|value| *value > 0) else { return };
    let limit = slot(found);
    if limit.is_none_or(|limit| value < limit) {
        *limit = Some(value);
        found.by = by.into();
    }
}

/// The controllers with weights, and their files: io.cost follows the first, bfq the others.
const WEIGHTS: [(&str, &str); 3] =
    [("", "io.weight"), ("", "io.bfq.weight"), ("blkio", "blkio.bfq.weight_device")];
const USUAL_WEIGHT: u64 = 100;
/// Levels of the best-effort class above this one are below the usual one.
const USUAL_LEVEL: u8 = 4;

/// Returns why others go first where they use these devices too: `I/O class idle (ionice)`,
/// `io.bfq.weight 10 of usual 100`; `None` where nothing shows it.
pub(super) fn yields(root: &Root, devices: &[BlockDevice], own: IoPriority) -> Option<String> {
    let uses = |name: &str| devices.iter().any(|of| of.scheduler.as_deref() == Some(name));
    match own {
        IoPriority::Idle if uses("bfq") || uses("mq-deadline") => {
            return Some("I/O class idle (ionice)".into());
        }
        IoPriority::BestEffort(level) if level > USUAL_LEVEL && uses("bfq") => {
            return Some(format!("I/O class best-effort, level {level} (ionice)"));
        }
        _ => {}
    }
    let numbers: Vec<String> =
        devices.iter().map(|device| format!("{}:{}", device.major, device.minor)).collect();
    let costs = || root.text("/sys/fs/cgroup/io.cost.qos")?.contains("enable=1").then_some(());
    let groups = Groups::of_process(root);
    let least = |(controller, file)| {
        let folders = groups.folders(controller).into_iter();
        let weights = folders.filter_map(|folder| root.text(&format!("{folder}/{file}")));
        let least = weights.filter_map(|text| weight(&text, &numbers)).min()?;
        let counts = if file == "io.weight" { costs().is_some() } else { uses("bfq") };
        (least < USUAL_WEIGHT && counts).then(|| format!("{file} {least} of usual {USUAL_WEIGHT}"))
    };
    WEIGHTS.into_iter().find_map(least)
}

/// Returns the weight for one of these devices, else that for all others.
fn weight(text: &str, devices: &[String]) -> Option<u64> {
    let rows: Vec<(&str, u64)> = text
        .lines()
        .take(4096)
        .map(|line| line.trim().rsplit_once(' ').unwrap_or(("default", line.trim())))
        .filter_map(|(of, weight)| Some((of, weight.parse().ok()?)))
        .collect();
    let own = rows.iter().filter(|(of, _)| devices.iter().any(|device| device == of));
    let all = rows.iter().filter(|(of, _)| *of == "default");
    own.map(|(_, weight)| *weight).min().or(all.map(|(_, weight)| *weight).next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    #[test]
    fn the_lowest_quota_counts() {
        let tree = Tree::new(&[
            ("proc/self/cgroup", "1:name=systemd:/\n0::/a/b\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
        ]);
        assert_eq!(cpus(&tree.root()), Some(1.5));
        let quota = |quota| {
            Tree::new(&[
                ("proc/self/cgroup", "2:cpu,cpuacct:/a/b\n"),
                ("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", quota),
                ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "50000\n"),
            ])
        };
        assert_eq!(cpus(&quota("10000\n").root()), Some(0.2));
        assert_eq!(cpus(&quota("-1\n").root()), None);
    }

    #[test]
    fn invalid_quotas_are_ignored() {
        assert_eq!(cpus(&Tree::new(&[]).root()), None);
        for text in ["max 100000", "", "1", "1 0", "0 1", "x y", "-1 5"] {
            let tree =
                Tree::new(&[("proc/self/cgroup", "0::/../x\n"), ("sys/fs/cgroup/cpu.max", text)]);
            assert_eq!(cpus(&tree.root()), None, "{text}");
        }
    }

    const DISK: &[(u64, u64)] = &[(259, 1), (8, 0)];

    #[test]
    fn the_lowest_io_max_counts() {
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
    fn version_1_has_four_limits() {
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
    fn version_1_has_no_hierarchy() {
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
    fn invalid_disk_limits_are_ignored() {
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

    fn disk(scheduler: &str) -> BlockDevice {
        serde_json::from_value(serde_json::json!({
            "name": "sda", "kind": "disk", "major": 8, "minor": 0, "depth": 0,
            "scheduler": scheduler
        }))
        .unwrap()
    }

    #[test]
    fn a_low_io_class_yields() {
        let found = |scheduler, own| yields(&Tree::new(&[]).root(), &[disk(scheduler)], own);
        let idle = Some("I/O class idle (ionice)".to_string());
        assert_eq!(found("bfq", IoPriority::Idle), idle);
        assert_eq!(found("mq-deadline", IoPriority::Idle), idle);
        assert_eq!(found("none", IoPriority::Idle), None);
        assert!(found("bfq", IoPriority::BestEffort(7)).is_some_and(|why| why.contains("level 7")));
        assert_eq!(found("bfq", IoPriority::BestEffort(4)), None);
        assert_eq!(found("bfq", IoPriority::Other), None);
    }

    #[test]
    fn the_lowest_weight_counts() {
        let found = |group: &str, files: &[(&str, &str)], scheduler| {
            let mut all = vec![("proc/self/cgroup", group)];
            all.extend(files);
            yields(&Tree::new(&all).root(), &[disk(scheduler)], IoPriority::Other)
        };
        let bfq = [
            ("sys/fs/cgroup/blkio/a/b/blkio.bfq.weight_device", "default 100\n"),
            ("sys/fs/cgroup/blkio/a/blkio.bfq.weight_device", "default 10\n"),
        ];
        let expected = Some("blkio.bfq.weight_device 10 of usual 100".to_string());
        assert_eq!(found("4:blkio:/a/b\n", &bfq, "bfq"), expected);
        assert_eq!(found("4:blkio:/a/b\n", &bfq, "none"), None);
        let cost = |text| {
            let enabled = ("sys/fs/cgroup/io.cost.qos", "8:0 enable=1 ctrl=auto\n");
            found("0::/a\n", &[("sys/fs/cgroup/a/io.weight", text), enabled], "none")
        };
        assert_eq!(cost("default 50\n"), Some("io.weight 50 of usual 100".into()));
        assert_eq!(cost("default 50\n8:0 200\n"), None, "of this disk");
        assert_eq!(cost("default 100\n8:16 1\n"), None, "of another disk");
        assert_eq!((cost(""), cost("x\n8:0 y")), (None, None));
        let weight = ("sys/fs/cgroup/a/io.weight", "default 50\n");
        assert_eq!(found("0::/a\n", &[weight], "none"), None, "without io.cost");
    }
}
