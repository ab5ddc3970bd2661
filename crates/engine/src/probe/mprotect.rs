//! `mprotect`: changing the protection of pages.

use super::map::{Map, page};
use super::{BatchTime, Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::plan::{Group, ProbeInfo, ProbeParam, RangeOf};
use crate::record::Estimate;

pub(super) struct Mprotect;

static INFO: ProbeInfo = ProbeInfo {
    id: "mprotect",
    group: Group::Memory,
    title: "page protection",
    about: "mprotect of 1 and of 256 resident pages, to read-only and back",
    doc: "Makes pages read-only and writable again by mprotect(2), half of the calls each. Every \
          call changes the page-table entries and flushes their addresses from the TLB; making \
          pages read-only is more expensive, because a stale entry would still allow a write. The \
          pages are touched first, so that all are resident.",
    makes_files: false,
    params: &[ProbeParam {
        name: "pages",
        about: "pages per call",
        of: RangeOf::Count,
        least: 1,
        most: 1 << 20,
        step: 1,
        usual: "1,256",
    }],
};

impl ProbeKind for Mprotect {
    const INFO: &'static ProbeInfo = &INFO;
    /// The number of pages.
    type Params = usize;

    fn params(source: &mut ParamSource) -> Option<usize> {
        usize::try_from(source.number("pages")?).ok()
    }

    fn check(pages: &usize, context: &ProbeContext) -> Result<(), String> {
        context.check_memory((pages * page()) as u64)
    }

    fn estimate(pages: &usize, _: &ProbeContext) -> Option<Estimate> {
        let pages = *pages as f64;
        let reason = format!(
            "a system call, a lock, {pages} page-table entries at 5-15 ns, and a TLB flush"
        );
        Some(Estimate { low: 300.0 + 5.0 * pages, high: 2500.0 + 15.0 * pages, reason })
    }

    fn open(pages: &usize, _: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        // The whole mapping is changed, so the kernel neither merges nor splits other mappings.
        let map = Map::anonymous(pages * page(), false)?;
        map.touch();
        Ok(Box::new(Toggle { map, writable: true }))
    }
}

struct Toggle {
    map: Map,
    writable: bool,
}

impl Gauge for Toggle {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let mut good = true;
        let batch = BatchTime::of_loop(count, || {
            for _ in 0..count {
                self.writable = !self.writable;
                good &= self.map.protect(self.map.len(), self.writable);
            }
        });
        if good { Ok(batch) } else { Err(ProbeError::last_os_error("mprotect")) }
    }
}
