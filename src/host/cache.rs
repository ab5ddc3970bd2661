//! The CPU caches: size, ways, lines, and which CPUs share them.

use serde::{Deserialize, Serialize};

use super::root::{Root, cpu_list};
use crate::units;

/// One kind of CPU cache of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheLevel {
    /// 1 is nearest to the core.
    pub level: u8,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// Bytes of one such cache.
    pub size: u64,
    /// Places that one address may have.
    pub ways: Option<u32>,
    /// Bytes of a line.
    pub line: Option<u32>,
    pub sets: Option<u32>,
    /// The CPUs that share the first such cache, as the kernel lists them: `0-3,8`.
    pub shared_with: String,
}

impl CacheLevel {
    /// `L1d`, `L1i`, `L2`.
    pub fn name(&self) -> String {
        let suffix = match self.kind.as_str() {
            "data" => "d",
            "instruction" => "i",
            _ => "",
        };
        format!("L{}{suffix}", self.level)
    }

    /// How many CPUs share one.
    pub fn sharers(&self) -> usize {
        cpu_list(&self.shared_with).len().max(1)
    }
}

const CPUS: &str = "/sys/devices/system/cpu";
/// No CPU has more kinds of cache than this.
const MOST: u32 = 16;

/// The caches of the first CPU and, where cores differ, of the first of each other kind.
pub(super) fn read(root: &Root) -> Vec<CacheLevel> {
    let mut caches: Vec<CacheLevel> = Vec::new();
    for cpu in kinds(root) {
        for cache in (0..MOST).map_while(|index| one(root, cpu, index)) {
            let alike =
                |known: &CacheLevel| CacheLevel { shared_with: String::new(), ..known.clone() };
            if !caches.iter().any(|known| alike(known) == alike(&cache)) {
                caches.push(cache);
            }
        }
    }
    caches.sort_by_key(|cache| (cache.level, cache.kind != "data"));
    caches
}

/// One CPU of each kind: Intel lists its small cores, Arm gives each CPU a capacity.
fn kinds(root: &Root) -> Vec<u32> {
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

fn one(root: &Root, cpu: u32, index: u32) -> Option<CacheLevel> {
    let at = |name: &str| format!("{CPUS}/cpu{cpu}/cache/index{index}/{name}");
    let number = |name: &str| root.number::<u32>(&at(name)).filter(|n| *n > 0);
    Some(CacheLevel {
        level: root.number(&at("level"))?,
        kind: root.line(&at("type")).unwrap_or_default().to_ascii_lowercase(),
        // `48K`: a power of 1024, as units reads it.
        size: root.line(&at("size")).and_then(|size| units::parse_bytes(&size).ok()).unwrap_or(0),
        ways: number("ways_of_associativity"),
        line: number("coherency_line_size"),
        sets: number("number_of_sets"),
        shared_with: root.line(&at("shared_cpu_list")).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::fake::Tree;

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
    fn big_and_little_cores() {
        let tree = Tree::new(&[("sys/devices/cpu_atom/cpus", "2-5\n")]);
        add(&tree, 0, 0, ["1\n", "Instruction\n", "32K\n", "8", "64", "0-1\n"]);
        add(&tree, 0, 1, ["1\n", "Data\n", "48K\n", "12", "64", "0-1\n"]);
        add(&tree, 0, 2, ["3\n", "Unified\n", "32M\n", "16", "32768", "0-5\n"]);
        add(&tree, 2, 0, ["1\n", "Data\n", "32K\n", "8", "64", "2\n"]);
        add(&tree, 2, 1, ["3\n", "Unified\n", "32M\n", "16", "32768", "0-5\n"]);
        let found = read(&tree.root());
        let names: Vec<_> =
            found.iter().map(|cache| (cache.name(), cache.size, cache.sharers())).collect();
        let want =
            [("L1d", 48 << 10, 2), ("L1d", 32 << 10, 1), ("L1i", 32 << 10, 2), ("L3", 32 << 20, 6)];
        assert_eq!(names, want.map(|(name, size, sharers)| (name.to_string(), size, sharers)));
        assert_eq!((found[0].ways, found[0].sets, found[0].line), (Some(12), Some(64), None));
    }

    #[test]
    fn arm_clusters_by_capacity() {
        let tree = Tree::new(&[("sys/devices/system/cpu/online", "0-2")]);
        for (cpu, capacity) in [(0, "446"), (1, "446"), (2, "1024")] {
            tree.write(
                &format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"),
                capacity.as_bytes(),
            );
        }
        assert_eq!(kinds(&tree.root()), [0, 2]);
    }

    #[test]
    fn nonsense_is_left_out() {
        let tree = Tree::new(&[]);
        assert!(read(&tree.root()).is_empty());
        add(&tree, 0, 0, ["", "", "", "", "", ""]);
        add(&tree, 0, 1, ["1", "Data", "48K", "12", "64", "0"]);
        assert!(read(&tree.root()).is_empty(), "the first index ends the list");
        add(&tree, 0, 0, ["1", "\u{1b}[2J", "99999999999999999999K", "-1", "x", "x"]);
        let found = read(&tree.root());
        assert_eq!((found[1].size, found[1].ways, found[1].sharers()), (0, None, 1));
    }
}
