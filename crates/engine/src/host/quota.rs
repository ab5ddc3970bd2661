//! The CPU quota of this process's control groups.

use super::groups::Groups;
use super::root::Root;

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
    fn missing_and_invalid_limits_are_ignored() {
        assert_eq!(cpus(&Tree::new(&[]).root()), None);
        for text in ["max 100000", "", "1", "1 0", "0 1", "x y", "-1 5"] {
            let tree =
                Tree::new(&[("proc/self/cgroup", "0::/../x\n"), ("sys/fs/cgroup/cpu.max", text)]);
            assert_eq!(cpus(&tree.root()), None, "{text}");
        }
    }
}
