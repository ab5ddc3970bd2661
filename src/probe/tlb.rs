//! `tlb`: the time of one load by the number of pages that are used.

use super::chase::{Ring, shuffled};
use super::known::{has_only, number};
use super::map::{Map, page};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::Estimate;

pub(super) struct Tlb;

static INFO: ProbeInfo = ProbeInfo {
    id: "tlb",
    group: Group::Memory,
    title: "TLB reach",
    about: "the time of one load by the number of pages that are used, one line of each",
    doc: "Walks a ring with one place on each page, on another line of every page so that the caches' sets are used evenly. So little data fits \
          in the first caches; what grows with the number of pages is the search for their addresses: in the first TLB it costs nothing, \
          in the second some cycles, and beyond it a page walk, which on a virtual machine goes through two sets of tables. \
          The number of pages at the end of a step, times the size of a page, is the reach of that TLB.",
    makes_files: false,
    params: &[ProbeParam {
        name: "pages",
        about: "pages that are used",
        of: RangeOf::Count,
        least: 2,
        most: 1 << 24,
        step: 1,
        usual: "8..32k",
    }],
};

const LINE: usize = 64;
const PAGES: std::ops::RangeInclusive<u32> = 3..=15;

fn pages(cell: &ProbeCell) -> Option<usize> {
    let pages = number(cell, "pages").filter(|_| has_only(cell, &["pages"]))?;
    usize::try_from(pages).ok().filter(|pages| (2..=1 << 24).contains(pages))
}

impl Probe for Tlb {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        let pages =
            site.chosen(&INFO, "pages").unwrap_or_else(|| PAGES.map(|power| 1 << power).collect());
        pages.into_iter().map(|pages| ProbeCell::new(INFO.id, [("pages", pages.into())])).collect()
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        pages(cell).map_or(Ok(()), |pages| site.has_memory((pages * page()) as u64))
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        match pages(cell)? {
            ..=64 => site.cycles(3.0, 7.0, "a first TLB of about 64 entries has them all"),
            65..=1024 => site.cycles(9.0, 35.0, "a second TLB of 1024 to 3072 entries has them; the lines are in the L2 cache"),
            _ => site.cycles(15.0, 250.0, "beyond the second TLB: a page walk, through two sets of tables on a virtual machine"),
        }
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let pages = pages(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        self.check(cell, site).map_err(ProbeError::Missing)?;
        let page = page();
        let map = Map::anonymous(pages * page, false)?;
        map.touch();
        let lines = (page / LINE).max(1);
        let place = move |number: usize| number * page + number % lines * LINE;
        Ok(Box::new(Loads(Ring::through(
            map,
            shuffled(pages, pages as u64).into_iter().map(move |number| place(number as usize)),
        ))))
    }
}

struct Loads(Ring);

impl Gauge for Loads {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        Ok(self.0.run(count))
    }
}
