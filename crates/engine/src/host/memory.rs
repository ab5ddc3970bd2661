//! The machine's memory: size, pages, and what may evict or reclaim it.

use serde::{Deserialize, Serialize};

use super::root::{Root, bracketed, cpu_list};
use crate::sys::fd;

/// Memory of the machine, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    pub total: u64,
    /// Memory available without swapping (MemAvailable) when read.
    pub available: u64,
    /// The limit of the memory control group, page cache included; `None`: no visible limit.
    pub limit: Option<u64>,
    /// Bytes of a page: the unit of the page cache.
    pub page_size: u64,
    /// Bytes of a huge page.
    pub huge_page: Option<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`; `None`: a kernel without them.
    pub huge_pages: Option<String>,
    /// NUMA nodes that are online.
    pub nodes: u32,
    pub swap_total: u64,
    pub swap_free: u64,
    /// A running DAMON kernel thread (`kdamond.0`), which may evict idle cached files.
    pub kdamond: Option<String>,
    /// Whether this guest returns freed memory to its host, which makes the first touch of new
    /// memory slow.
    pub reports_free_pages: bool,
}

impl Memory {
    /// Returns the usable bytes: the control group's limit, at most the machine's size.
    pub fn usable(&self) -> u64 {
        self.limit.map_or(self.total, |limit| limit.min(self.total))
    }

    pub(super) fn read(root: &Root) -> Memory {
        let meminfo = root.text("/proc/meminfo").unwrap_or_default();
        let bytes = |name: &str| {
            let line =
                meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            line.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
        };
        let nodes = root
            .line("/sys/devices/system/node/online")
            .map_or(1, |list| cpu_list(&list).len().max(1));
        Memory {
            total: bytes("MemTotal").unwrap_or(0),
            available: bytes("MemAvailable").unwrap_or(0),
            limit: None,
            page_size: fd::page_size(),
            huge_page: bytes("Hugepagesize"),
            huge_pages: root
                .line("/sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| bracketed(&text).map(String::from)),
            nodes: nodes as u32,
            swap_total: bytes("SwapTotal").unwrap_or(0),
            swap_free: bytes("SwapFree").unwrap_or(0),
            kdamond: kdamond(root),
            reports_free_pages: super::machine::reports_free_pages(root),
        }
    }
}

/// Maximum number of processes inspected; each takes about 5 µs.
const MAX_PROCESSES: usize = 4096;

/// Returns the name of a DAMON kernel thread. Its sysfs folder is readable only by root, so the
/// process list is searched.
fn kdamond(root: &Root) -> Option<String> {
    if !root.exists("/sys/kernel/mm/damon") {
        return None;
    }
    // Kernel threads are among the first processes.
    let mut pids: Vec<u32> =
        root.names("/proc").into_iter().filter_map(|name| name.parse().ok()).collect();
    pids.sort_unstable();
    let mut names = pids
        .into_iter()
        .take(MAX_PROCESSES)
        .filter_map(|pid| root.line(&format!("/proc/{pid}/comm")));
    names.find(|name| name.starts_with("kdamond"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::testing::Tree;

    #[test]
    fn reads_captured_files() {
        let tree = Tree::new(&[
            (
                "proc/meminfo",
                "MemTotal:  1000 kB\nMemAvailable: 900 kB\nSwapTotal: 8 kB\nSwapFree: 4 kB\n\
                 Hugepagesize:  2048 kB\n",
            ),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/devices/system/node/online", "0-1\n"),
            ("proc/1/comm", "init\n"),
            ("proc/77/comm", "kdamond.0\n"),
            ("sys/kernel/mm/damon/admin", ""),
        ]);
        let found = Memory::read(&tree.root());
        assert_eq!(
            (found.total, found.available, found.swap_total, found.swap_free),
            (1000 << 10, 900 << 10, 8192, 4096)
        );
        assert_eq!(
            (found.huge_pages.as_deref(), found.huge_page, found.nodes),
            (Some("madvise"), Some(2 << 20), 2)
        );
        assert_eq!(found.kdamond.as_deref(), Some("kdamond.0"));
        assert_eq!(Memory { limit: Some(5), ..found.clone() }.usable(), 5);
        assert_eq!(found.usable(), 1000 << 10);
    }

    #[test]
    fn invalid_values_are_zero_or_unknown() {
        let tree = Tree::new(&[
            (
                "proc/meminfo",
                "MemTotal:\nMemAvailable: 99999999999999999999 kB\n\
                 SwapTotal: 18446744073709551615 kB",
            ),
            ("sys/kernel/mm/transparent_hugepage/enabled", "]["),
            ("sys/devices/system/node/online", "9-1"),
            ("proc/1/comm", "not kdamond"),
            ("sys/kernel/mm/damon/admin", ""),
        ]);
        let found = Memory::read(&tree.root());
        assert_eq!((found.total, found.available, found.swap_total, found.nodes), (0, 0, 0, 1));
        assert_eq!((found.huge_pages, found.kdamond), (None, None));
        assert!(found.page_size.is_power_of_two());
    }
}
