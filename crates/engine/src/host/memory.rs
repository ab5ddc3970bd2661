//! The machine's memory: size, pages, and what may evict or reclaim it.

use super::root::{Root, bracketed};
use crate::facts::{Memory, cpu_list};
use crate::sys::fd;
use crate::sys::memory::bytes_of;

pub(super) fn read(root: &Root) -> Memory {
    let meminfo = root.text("/proc/meminfo").unwrap_or_default();
    let bytes = |name| bytes_of(&meminfo, name);
    let nodes =
        root.line("/sys/devices/system/node/online").map_or(1, |list| cpu_list(&list).len().max(1));
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

/// Where DAMON is controlled, which only root may read.
const DAMON: &str = "/sys/kernel/mm/damon/admin/kdamonds";

/// Returns the name of a DAMON kernel thread, if DAMON's own files name its process.
fn kdamond(root: &Root) -> Option<String> {
    let threads = root.names(DAMON).into_iter().map(|n| format!("{DAMON}/{n}/pid"));
    let modules = ["reclaim", "lru_sort", "stat"]
        .map(|name| format!("/sys/module/damon_{name}/parameters/kdamond_pid"));
    let named = |file: String| kdamond_name(root, root.number(&file)?);
    threads.chain(modules).find_map(named)
}

/// Returns the name of a process if it is a DAMON kernel thread.
fn kdamond_name(root: &Root, pid: u32) -> Option<String> {
    root.line(&format!("/proc/{pid}/comm")).filter(|name| name.starts_with("kdamond"))
}

/// Maximum number of processes inspected; each takes about 5 µs.
const MAX_PROCESSES: usize = 4096;

/// Returns the name of a DAMON kernel thread for a user who may not read DAMON's files, from the
/// names of all processes: too slow for the start of a run.
pub(super) fn search_kdamond(root: &Root) -> Option<String> {
    if !root.exists("/sys/kernel/mm/damon") || root.line(&format!("{DAMON}/nr_kdamonds")).is_some()
    {
        return None;
    }
    // Kernel threads are among the first processes.
    let mut pids: Vec<u32> =
        root.names("/proc").into_iter().filter_map(|name| name.parse().ok()).collect();
    pids.sort_unstable();
    pids.into_iter().take(MAX_PROCESSES).find_map(|pid| kdamond_name(root, pid))
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
            ("sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "1\n"),
            ("sys/kernel/mm/damon/admin/kdamonds/0/pid", "77\n"),
        ]);
        let found = read(&tree.root());
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
    fn processes_are_searched_for_damon_last() {
        let mut files = vec![("proc/1/comm", "init\n"), ("proc/77/comm", "kdamond.0\n")];
        assert_eq!(search_kdamond(&Tree::new(&files).root()), None, "a kernel without DAMON");
        files.push(("sys/kernel/mm/damon/admin/kdamonds/0/state", "on\n"));
        let hidden = Tree::new(&files);
        assert_eq!(read(&hidden.root()).kdamond, None);
        assert_eq!(search_kdamond(&hidden.root()).as_deref(), Some("kdamond.0"));
        files.push(("sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "0\n"));
        assert_eq!(search_kdamond(&Tree::new(&files).root()), None);
        files.push(("sys/module/damon_reclaim/parameters/kdamond_pid", "77\n"));
        assert_eq!(read(&Tree::new(&files).root()).kdamond.as_deref(), Some("kdamond.0"));
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
        let found = read(&tree.root());
        assert_eq!((found.total, found.available, found.swap_total, found.nodes), (0, 0, 0, 1));
        assert_eq!((found.huge_pages, found.kdamond), (None, None));
        assert!(found.page_size.is_power_of_two());
    }
}
