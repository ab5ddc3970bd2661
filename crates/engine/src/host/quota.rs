//! The CPU quota of this process's control groups (version 2).

use std::path::Path;

use super::root::Root;

/// Returns the number of CPUs that this process may keep busy: the lowest `cpu.max` up to the root;
/// `None`: no visible limit.
pub(super) fn cpus(root: &Root) -> Option<f64> {
    let groups = root.text("/proc/self/cgroup")?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    // Only a pure version 2 hierarchy is mounted here; next to version 1 it has no CPU controller.
    let limits =
        Path::new(group.trim_start_matches('/')).ancestors().take(64).filter_map(|folder| {
            let parts = folder.to_str().filter(|folder| !folder.contains(".."))?;
            parse_quota(&root.line(&format!("/sys/fs/cgroup/{parts}/cpu.max"))?)
        });
    limits.min_by(f64::total_cmp)
}

/// Parses `150000 100000`, microseconds per period, into CPUs; `max` means no limit.
fn parse_quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let share = quota.parse::<u64>().ok()? as f64 / period.trim().parse::<u64>().ok()? as f64;
    (share.is_finite() && share > 0.0).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    #[test]
    fn the_lowest_limit_up_to_the_root_counts() {
        let tree = Tree::new(&[
            ("proc/self/cgroup", "1:name=systemd:/\n0::/a/b\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
        ]);
        assert_eq!(cpus(&tree.root()), Some(1.5));
    }

    #[test]
    fn missing_and_invalid_limits_are_ignored() {
        assert_eq!(cpus(&Tree::new(&[]).root()), None);
        for text in ["max 100000", "", "1", "1 0", "0 1", "x y", "-1 5"] {
            let tree =
                Tree::new(&[("proc/self/cgroup", "0::/../x\n"), ("sys/fs/cgroup/cpu.max", text)]);
            assert_eq!(cpus(&tree.root()), None, "{text}");
        }
    }
}
