//! Checks of the memory: its size and limits, eviction, and huge pages.

use super::Facts;
use crate::record::Severity::{Misleading, Note};
use crate::record::{Finding, finding};
use crate::units::show_bytes;

pub(super) fn larger_than_memory(facts: &Facts) -> Option<Finding> {
    let span = facts.span()?;
    let total = facts.host.memory.total;
    if total == 0 || span <= total || !facts.uses_cache() {
        return None;
    }
    finding(
        Misleading,
        "the target does not fit in memory: it cannot be warm, and each pass evicts what the previous one read",
        format!("target {}, memory {}", show_bytes(span), show_bytes(total)),
        "use a {size} below the memory size for warm trials, or {cache} cold",
    )
}

pub(super) fn memory_limit(facts: &Facts) -> Option<Finding> {
    let memory = &facts.host.memory;
    let span = facts.span()?;
    let limit = memory.limit.filter(|limit| memory.total == 0 || *limit < memory.total)?;
    if span <= limit || !facts.uses_cache() {
        return None;
    }
    finding(
        Misleading,
        "the control group's memory limit, which includes the page cache, is below the target's size: it cannot be warm",
        format!("limit {}, target {}", show_bytes(limit), show_bytes(span)),
        "use a {size} below the limit, or run outside the container",
    )
}

pub(super) fn evictor(facts: &Facts) -> Option<Finding> {
    let name = facts.host.memory.kdamond.as_deref()?;
    if !facts.uses_cache() {
        return None;
    }
    finding(
        Note,
        "kdamond runs here and may evict idle pages: warm trials can become partly cold",
        format!(
            "{name} is running (measured elsewhere: of 2 GiB cached, 13 % left after 45 s idle)"
        ),
        "each warm trial is warmed and checked again; distrust asis trials after a pause",
    )
}

pub(super) fn free_page_reporting(facts: &Facts) -> Option<Finding> {
    if !facts.host.memory.reports_free_pages || !facts.uses_cold() {
        return None;
    }
    finding(
        Note,
        "freed memory returns to the host and its next first touch is up to ten times slower, so cold reads depend on earlier work",
        "virtio_balloon reports free pages (feature bit 5)",
        "no action needed: preparation reclaims memory before each cold trial, and round 0 is discarded",
    )
}

pub(super) fn no_huge_pages(facts: &Facts) -> Option<Finding> {
    let setting = facts.host.memory.huge_pages.as_deref().unwrap_or("not in this kernel");
    let is_known = facts.host.memory.total > 0;
    if !is_known || setting == "always" || setting == "madvise" || !facts.any(|job| job.direct) {
        return None;
    }
    finding(
        Note,
        "direct I/O buffers are on small pages: large blocks need many more entries per request (at 1 MiB, 1.3 instead of 3.4 GB/s was measured)",
        format!("transparent huge pages: {setting}"),
        "as root, echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    )
}

#[cfg(test)]
mod tests {
    use crate::doctor::testing::{check, plan};
    use crate::facts::{Host, Memory, TargetFacts};

    fn with(memory: Memory) -> Host {
        Host { memory, ..Host::default() }
    }

    #[test]
    fn reports_targets_larger_than_memory() {
        let host = with(Memory { total: 512 << 20, ..Memory::default() });
        let target = |size| TargetFacts { size, ..TargetFacts::default() };
        assert!(check("larger-than-memory", &host, Some(&target(1 << 30)), None).is_some());
        assert_eq!(check("larger-than-memory", &host, Some(&target(1 << 20)), None), None);
        assert!(
            check("larger-than-memory", &host, None, Some(&plan(&["warm"]))).is_some(),
            "1 GiB planned"
        );
        assert_eq!(check("larger-than-memory", &host, None, Some(&plan(&["cold"]))), None);
        assert_eq!(check("larger-than-memory", &Host::default(), Some(&target(1)), None), None);
    }

    #[test]
    fn reports_memory_limits_below_the_target() {
        let host = |limit| with(Memory { total: 8 << 30, limit, ..Memory::default() });
        assert!(
            check("memory-limit", &host(Some(1 << 20)), None, Some(&plan(&["warm"]))).is_some()
        );
        assert_eq!(check("memory-limit", &host(Some(2 << 30)), None, Some(&plan(&["warm"]))), None);
        assert_eq!(check("memory-limit", &host(None), None, Some(&plan(&["warm"]))), None);
        assert_eq!(
            check("memory-limit", &host(Some(1 << 40)), None, Some(&plan(&["warm"]))),
            None,
            "a limit above the machine's memory"
        );
    }

    #[test]
    fn reports_kdamond_to_cached_trials() {
        let host = with(Memory { kdamond: Some("kdamond.0".into()), ..Memory::default() });
        assert!(
            check("evictor", &host, None, None).is_some_and(|f| f.evidence.contains("kdamond.0"))
        );
        assert_eq!(check("evictor", &host, None, Some(&plan(&["cold"]))), None);
        assert_eq!(check("evictor", &Host::default(), None, None), None);
    }

    #[test]
    fn free_page_reporting_affects_cold_trials() {
        let host = with(Memory { reports_free_pages: true, ..Memory::default() });
        assert!(check("free-page-reporting", &host, None, Some(&plan(&["cold"]))).is_some());
        assert_eq!(check("free-page-reporting", &host, None, Some(&plan(&["warm"]))), None);
        assert_eq!(check("free-page-reporting", &Host::default(), None, None), None);
    }

    #[test]
    fn reports_missing_huge_pages() {
        let host = |setting: Option<&str>| {
            with(Memory { total: 1, huge_pages: setting.map(String::from), ..Memory::default() })
        };
        assert!(
            check("no-huge-pages", &host(Some("never")), None, Some(&plan(&["direct"]))).is_some()
        );
        assert!(check("no-huge-pages", &host(None), None, None).is_some());
        assert_eq!(check("no-huge-pages", &host(Some("never")), None, Some(&plan(&[]))), None);
        assert_eq!(
            check("no-huge-pages", &host(Some("madvise")), None, Some(&plan(&["direct"]))),
            None
        );
    }
}
