//! Checks of the memory: what fits, what is taken away, in which pages.

use super::{Facts, Finding, found};
use crate::record::Severity::{Misleading, Note};
use crate::units::show_bytes;

pub(super) fn larger_than_memory(facts: &Facts) -> Option<Finding> {
    let (span, total) = (facts.span()?, facts.host.memory.total);
    if total == 0 || span <= total || !facts.cache_wanted() {
        return None;
    }
    found(
        Misleading,
        "the target does not fit in memory: it cannot be warm, and each pass evicts what the last one read",
        format!("{} of the target, {} of memory", show_bytes(span), show_bytes(total)),
        "use --size below the memory's size for warm trials, or --cache cold",
    )
}

pub(super) fn memory_limit(facts: &Facts) -> Option<Finding> {
    let memory = &facts.host.memory;
    let (span, limit) =
        (facts.span()?, memory.limit.filter(|limit| memory.total == 0 || *limit < memory.total)?);
    if span <= limit || !facts.cache_wanted() {
        return None;
    }
    found(
        Misleading,
        "the control group's memory is smaller than the target, page cache included: it cannot be warm",
        format!("limit {}, target {}", show_bytes(limit), show_bytes(span)),
        "use --size below the limit, or run outside the container",
    )
}

pub(super) fn evictor(facts: &Facts) -> Option<Finding> {
    let name = facts.host.memory.kdamond.as_deref()?;
    if !facts.cache_wanted() {
        return None;
    }
    found(
        Misleading,
        "a kernel thread may evict the target while it is cached and idle: warm trials can go partly cold",
        format!("{name} runs (seen elsewhere: 2 GiB cached, 13 % left after 45 s idle)"),
        "each warm trial is warmed and checked again; distrust asis trials that follow a pause",
    )
}

pub(super) fn free_page_reporting(facts: &Facts) -> Option<Finding> {
    if !facts.host.memory.reports_free_pages || !facts.cold_wanted() {
        return None;
    }
    found(
        Note,
        "memory that was freed a while ago goes back to the host: its first touch is up to ten times slower, so cold reads depend on what ran before",
        "virtio_balloon reports free pages (feature bit 5)",
        "preparation takes memory back before each cold trial, and round 0 is not listed",
    )
}

pub(super) fn no_huge_pages(facts: &Facts) -> Option<Finding> {
    let setting = facts.host.memory.huge_pages.as_deref().unwrap_or("not in this kernel");
    let known = facts.host.memory.total > 0;
    if !known || setting == "always" || setting == "madvise" || !facts.any(|job| job.direct) {
        return None;
    }
    found(
        Note,
        "buffers of direct I/O lie on small pages: large blocks need many more entries per request (1.3 against 3.4 GB/s seen at 1 MiB)",
        format!("transparent huge pages: {setting}"),
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, as root",
    )
}

#[cfg(test)]
mod tests {
    use crate::host::doctor::testing::{check, plan};
    use crate::host::{Host, Memory, TargetFacts};

    fn with(memory: Memory) -> Host {
        Host { memory, ..Host::default() }
    }

    #[test]
    fn targets_larger_than_memory() {
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
    fn limits_of_control_groups() {
        let host = |limit| with(Memory { total: 8 << 30, limit, ..Memory::default() });
        assert!(
            check("memory-limit", &host(Some(1 << 20)), None, Some(&plan(&["warm"]))).is_some()
        );
        assert_eq!(check("memory-limit", &host(Some(2 << 30)), None, Some(&plan(&["warm"]))), None);
        assert_eq!(check("memory-limit", &host(None), None, Some(&plan(&["warm"]))), None);
        assert_eq!(
            check("memory-limit", &host(Some(1 << 40)), None, Some(&plan(&["warm"]))),
            None,
            "no limit in truth"
        );
    }

    #[test]
    fn evictors() {
        let host = with(Memory { kdamond: Some("kdamond.0".into()), ..Memory::default() });
        assert!(
            check("evictor", &host, None, None).is_some_and(|f| f.evidence.contains("kdamond.0"))
        );
        assert_eq!(check("evictor", &host, None, Some(&plan(&["cold"]))), None);
        assert_eq!(check("evictor", &Host::default(), None, None), None);
    }

    #[test]
    fn memory_that_goes_back_to_the_host() {
        let host = with(Memory { reports_free_pages: true, ..Memory::default() });
        assert!(check("free-page-reporting", &host, None, Some(&plan(&["cold"]))).is_some());
        assert_eq!(check("free-page-reporting", &host, None, Some(&plan(&["warm"]))), None);
        assert_eq!(check("free-page-reporting", &Host::default(), None, None), None);
    }

    #[test]
    fn small_pages() {
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
