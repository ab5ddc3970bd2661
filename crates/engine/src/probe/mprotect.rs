//! `mprotect`: changing the protection of pages.

use super::map::{Map, page};
use super::{BatchTime, Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;

pub(super) struct Mprotect;

impl ProbeKind for Mprotect {
    const INFO: &'static ProbeInfo = &catalog::MPROTECT;
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
