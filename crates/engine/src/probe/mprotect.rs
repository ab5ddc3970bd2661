//! `mprotect`: changing the protection of pages.

use super::batch::BatchTime;
use super::context::ProbeContext;
use super::error::ProbeError;
use super::kind::{Gauge, Probe};
use super::map::{Map, page};
use super::param_table::{has_only, number};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
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

const PAGES: [u64; 2] = [1, 256];

fn pages(cell: &ProbeCell) -> Option<usize> {
    let pages = number(cell, "pages")
        .filter(|pages| (1..=1 << 20).contains(pages) && has_only(cell, &["pages"]))?;
    usize::try_from(pages).ok()
}

impl Probe for Mprotect {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, context: &ProbeContext) -> Vec<ProbeCell> {
        let pages = context.requested_values(&INFO, "pages").unwrap_or_else(|| PAGES.into());
        pages.into_iter().map(|pages| ProbeCell::new(INFO.id, [("pages", pages.into())])).collect()
    }

    fn check(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<(), String> {
        pages(cell).map_or(Ok(()), |pages| context.check_memory((pages * page()) as u64))
    }

    fn estimate(&self, cell: &ProbeCell, _: &ProbeContext) -> Option<Estimate> {
        let pages = pages(cell)? as f64;
        let reason = format!(
            "a system call, a lock, {pages} page-table entries at 5-15 ns, and a TLB flush"
        );
        Some(Estimate { low: 300.0 + 5.0 * pages, high: 2500.0 + 15.0 * pages, reason })
    }

    fn open(&self, cell: &ProbeCell, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        let pages = pages(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        self.check(cell, context).map_err(ProbeError::Missing)?;
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
