//! The machine's memory: how much, in which pages, and what may take it away.

use serde::{Deserialize, Serialize};

use super::root::{Root, bracketed, cpu_list};
use crate::sys::fd;

/// Memory of the machine, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    pub total: u64,
    /// What a program can have without swapping (MemAvailable), when asked.
    pub available: u64,
    /// The limit of the memory control group, page cache included; `None`: no limit to be seen.
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
    /// A running DAMON kernel thread (`kdamond.0`): it may evict files that are cached and idle.
    pub kdamond: Option<String>,
    /// A guest that hands freed memory back to its host: the first touch of new memory is slow.
    pub reports_free_pages: bool,
}

impl Memory {
    /// The limit that holds: the control group's, else the machine's size.
    pub fn allowed(&self) -> u64 {
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

/// Processes looked at; one costs about 5 µs.
const PROCESSES: usize = 4096;

/// The name of a DAMON kernel thread. Its sysfs folder is for root only, the list of processes for
/// everyone.
fn kdamond(root: &Root) -> Option<String> {
    let by_number = root
        .names("/proc")
        .into_iter()
        .filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
        .take(PROCESSES);
    let mut names = by_number.filter_map(|pid| root.line(&format!("/proc/{pid}/comm")));
    names.find(|name| name.starts_with("kdamond"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::fake::Tree;

    #[test]
    fn captured_files() {
        let tree = Tree::new(&[
            (
                "proc/meminfo",
                "MemTotal:  1000 kB\nMemAvailable: 900 kB\nSwapTotal: 8 kB\nSwapFree: 4 kB\nHugepagesize:  2048 kB\n",
            ),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/devices/system/node/online", "0-1\n"),
            ("proc/1/comm", "init\n"),
            ("proc/77/comm", "kdamond.0\n"),
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
        assert_eq!(Memory { limit: Some(5), ..found.clone() }.allowed(), 5);
        assert_eq!(found.allowed(), 1000 << 10);
    }

    #[test]
    fn nonsense_is_zero_or_unknown() {
        let tree = Tree::new(&[
            (
                "proc/meminfo",
                "MemTotal:\nMemAvailable: 99999999999999999999 kB\nSwapTotal: 18446744073709551615 kB",
            ),
            ("sys/kernel/mm/transparent_hugepage/enabled", "]["),
            ("sys/devices/system/node/online", "9-1"),
            ("proc/1/comm", "not kdamond"),
        ]);
        let found = Memory::read(&tree.root());
        assert_eq!((found.total, found.available, found.swap_total, found.nodes), (0, 0, 0, 1));
        assert_eq!((found.huge_pages, found.kdamond), (None, None));
        assert!(found.page_size.is_power_of_two());
    }
}
