//! `tlb`: the time of one load by the number of pages.

use super::chase::{Ring, shuffled};
use super::map::{Map, page};
use super::{BatchTime, Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::plan::{Group, ProbeInfo, ProbeParam, RangeOf};
use crate::record::Estimate;

pub(super) struct Tlb;

static INFO: ProbeInfo = ProbeInfo {
    id: "tlb",
    group: Group::Memory,
    title: "TLB reach",
    about: "the time of one load by the number of pages, one cache line on each",
    doc: "Chases pointers around a ring with one slot per page, on a different line of every page \
          so that the cache sets are used evenly. So little data fits in the L1 and L2 caches; \
          what grows with the number of pages is address translation: it is free in the \
          first-level TLB, takes some cycles in the second, and beyond that a page walk, which \
          goes through two sets of page tables on a virtual machine. The number of pages at the \
          end of a step times the page size is the reach of that TLB.",
    makes_files: false,
    params: &[ProbeParam {
        name: "pages",
        about: "pages in the ring",
        of: RangeOf::Count,
        least: 2,
        most: 1 << 24,
        step: 1,
        usual: "8..32k",
    }],
};

const LINE: usize = 64;

impl ProbeKind for Tlb {
    const INFO: &'static ProbeInfo = &INFO;
    /// The number of pages.
    type Params = usize;

    fn params(source: &mut ParamSource) -> Option<usize> {
        usize::try_from(source.number("pages")?).ok()
    }

    fn check(pages: &usize, context: &ProbeContext) -> Result<(), String> {
        context.check_memory((pages * page()) as u64)
    }

    fn estimate(pages: &usize, context: &ProbeContext) -> Option<Estimate> {
        match pages {
            ..=64 => context.estimate_cycles(
                3.0,
                7.0,
                "a first-level TLB of about 64 entries \
                holds them all",
            ),
            65..=1024 => context.estimate_cycles(
                9.0,
                35.0,
                "a second-level TLB of 1024 to 3072 \
                entries holds them; the lines are in the L2 cache",
            ),
            _ => context.estimate_cycles(
                15.0,
                250.0,
                "beyond the second-level TLB: a page walk, \
                through two sets of page tables on a virtual machine",
            ),
        }
    }

    fn open(pages: &usize, _: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        let page = page();
        let map = Map::anonymous(pages * page, false)?;
        map.touch();
        let lines = (page / LINE).max(1);
        let place = move |number: usize| number * page + number % lines * LINE;
        Ok(Box::new(Loads(Ring::through(
            map,
            shuffled(*pages, *pages as u64).into_iter().map(move |number| place(number as usize)),
        ))))
    }
}

struct Loads(Ring);

impl Gauge for Loads {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        Ok(self.0.run(count))
    }
}
