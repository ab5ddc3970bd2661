//! The CPU caches: size, associativity, line size, and the CPUs that share them.

use super::root::Root;
use crate::facts::{CacheLevel, cpu_list};
use crate::units;

const CPUS: &str = "/sys/devices/system/cpu";
/// Maximum number of kinds of cache that a CPU can have.
const MAX_CACHES: u32 = 16;

/// Reads the caches of the first CPU and, if cores differ, of the first core of each other kind.
pub(super) fn read(root: &Root) -> Vec<CacheLevel> {
    let mut caches: Vec<CacheLevel> = Vec::new();
    for cpu in distinct_cpus(root) {
        for cache in (0..MAX_CACHES).map_while(|index| read_cache(root, cpu, index)) {
            if !caches.iter().any(|known| is_same_kind(known, &cache)) {
                caches.push(cache);
            }
        }
    }
    caches.sort_by_key(|cache| (cache.level, cache.kind != "data"));
    caches
}

/// Returns true if two caches differ only in the CPUs that share them.
fn is_same_kind(a: &CacheLevel, b: &CacheLevel) -> bool {
    CacheLevel { shared_with: String::new(), ..a.clone() }
        == CacheLevel { shared_with: String::new(), ..b.clone() }
}

/// Returns one CPU of each kind: Intel lists its small cores, Arm reports a capacity for each CPU.
fn distinct_cpus(root: &Root) -> Vec<u32> {
    let mut kinds = vec![0];
    kinds.extend(
        root.line("/sys/devices/cpu_atom/cpus").and_then(|list| cpu_list(&list).first().copied()),
    );
    let capacity = |cpu: u32| root.number::<u32>(&format!("{CPUS}/cpu{cpu}/cpu_capacity"));
    let mut seen: Vec<u32> = capacity(0).into_iter().collect();
    if !seen.is_empty() {
        for cpu in
            root.line(&format!("{CPUS}/online")).map(|list| cpu_list(&list)).unwrap_or_default()
        {
            if let Some(value) = capacity(cpu).filter(|value| !seen.contains(value)) {
                seen.push(value);
                kinds.push(cpu);
            }
        }
    }
    kinds
}

/// Reads the cache with this index, if it exists.
fn read_cache(root: &Root, cpu: u32, index: u32) -> Option<CacheLevel> {
    let path = |name: &str| format!("{CPUS}/cpu{cpu}/cache/index{index}/{name}");
    let number = |name: &str| root.number::<u32>(&path(name)).filter(|n| *n > 0);
    let size = root.line(&path("size")).and_then(|size| units::parse_bytes(&size).ok());
    Some(CacheLevel {
        level: root.number(&path("level"))?,
        kind: root.line(&path("type")).unwrap_or_default().to_ascii_lowercase(),
        size: size.unwrap_or(0),
        ways: number("ways_of_associativity"),
        line: number("coherency_line_size"),
        sets: number("number_of_sets"),
        shared_with: root.line(&path("shared_cpu_list")).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    fn add(tree: &Tree, cpu: u32, index: u32, values: [&str; 6]) {
        let names =
            ["level", "type", "size", "ways_of_associativity", "number_of_sets", "shared_cpu_list"];
        for (name, value) in names.iter().zip(values) {
            tree.write(
                &format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{name}"),
                value.as_bytes(),
            );
        }
    }

    #[test]
    fn reads_caches_of_all_core_types() {
        let tree = Tree::new(&[("sys/devices/cpu_atom/cpus", "2-5\n")]);
        add(&tree, 0, 0, ["1\n", "Instruction\n", "32K\n", "8", "64", "0-1\n"]);
        add(&tree, 0, 1, ["1\n", "Data\n", "48K\n", "12", "64", "0-1\n"]);
        add(&tree, 0, 2, ["3\n", "Unified\n", "32M\n", "16", "32768", "0-5\n"]);
        add(&tree, 2, 0, ["1\n", "Data\n", "32K\n", "8", "64", "2\n"]);
        add(&tree, 2, 1, ["3\n", "Unified\n", "32M\n", "16", "32768", "0-5\n"]);
        let caches = read(&tree.root());
        let summary: Vec<_> =
            caches.iter().map(|cache| (cache.name(), cache.size, cache.sharers())).collect();
        let expected =
            [("L1d", 48 << 10, 2), ("L1d", 32 << 10, 1), ("L1i", 32 << 10, 2), ("L3", 32 << 20, 6)];
        assert_eq!(summary, expected.map(|(name, size, cpus)| (name.to_string(), size, cpus)));
        assert_eq!((caches[0].ways, caches[0].sets, caches[0].line), (Some(12), Some(64), None));
    }

    #[test]
    fn finds_arm_clusters_by_capacity() {
        let tree = Tree::new(&[("sys/devices/system/cpu/online", "0-2")]);
        for (cpu, capacity) in [(0, "446"), (1, "446"), (2, "1024")] {
            tree.write(
                &format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"),
                capacity.as_bytes(),
            );
        }
        assert_eq!(distinct_cpus(&tree.root()), [0, 2]);
    }

    #[test]
    fn ignores_invalid_values() {
        let tree = Tree::new(&[]);
        assert!(read(&tree.root()).is_empty());
        add(&tree, 0, 0, ["", "", "", "", "", ""]);
        add(&tree, 0, 1, ["1", "Data", "48K", "12", "64", "0"]);
        assert!(read(&tree.root()).is_empty(), "the first index ends the list");
        add(&tree, 0, 0, ["1", "\u{1b}[2J", "99999999999999999999K", "-1", "x", "x"]);
        let caches = read(&tree.root());
        assert_eq!((caches[1].size, caches[1].ways, caches[1].sharers()), (0, None, 1));
    }
}
