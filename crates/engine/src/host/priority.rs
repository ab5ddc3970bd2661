//! Why the disks serve other programs before this process: its I/O class, and the weight of its
//! control groups.

use super::groups::Groups;
use super::root::Root;
use crate::facts::BlockDevice;
use crate::sys::io_priority::IoPriority;

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

    fn disk(scheduler: &str) -> BlockDevice {
        serde_json::from_value(serde_json::json!({
            "name": "sda", "kind": "disk", "major": 8, "minor": 0, "depth": 0,
            "scheduler": scheduler
        }))
        .unwrap()
    }

    #[test]
    fn a_low_io_class_yields_where_the_scheduler_knows_classes() {
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
    fn the_lowest_weight_up_to_the_root_counts() {
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
