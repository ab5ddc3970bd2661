//! `mprotect`: the protection of pages changed.

use super::known::{has_only, number};
use super::map::{Map, page};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::Estimate;

pub(super) struct Mprotect;

static INFO: ProbeInfo = ProbeInfo {
    id: "mprotect",
    group: Group::Memory,
    title: "page protection",
    about: "mprotect of 1 and of 256 pages that are in memory, to read-only and back",
    doc: "Makes pages read-only and writable again by mprotect(2), half of the calls each way. Every call changes the entries of its pages and \
          throws their addresses out of the TLB; making them read-only is dearer, as a stale entry would still allow a write. The pages \
          are touched before, so that none is missing.",
    makes_files: false,
    params: &[ProbeParam {
        name: "pages",
        about: "pages whose protection is changed",
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

    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        let pages = site.chosen(&INFO, "pages").unwrap_or_else(|| PAGES.into());
        pages.into_iter().map(|pages| ProbeCell::new(INFO.id, [("pages", pages.into())])).collect()
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        pages(cell).map_or(Ok(()), |pages| site.has_memory((pages * page()) as u64))
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        let pages = pages(cell)? as f64;
        let reason = format!("a system call, a lock, {pages} entries at 5-15 ns, and the TLB told");
        Some(Estimate { low: 300.0 + 5.0 * pages, high: 2500.0 + 15.0 * pages, reason })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let pages = pages(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        self.check(cell, site).map_err(ProbeError::Missing)?;
        // Room on both sides: what lies beside is never changed, so the kernel neither joins nor
        // splits other mappings.
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
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let mut good = true;
        let took = Took::around(count, || {
            for _ in 0..count {
                self.writable = !self.writable;
                good &= self.map.protect(self.map.len(), self.writable);
            }
        });
        if good { Ok(took) } else { Err(ProbeError::last("mprotect")) }
    }
}
