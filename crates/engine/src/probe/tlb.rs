//! `tlb`: the time of one load by the number of pages.

use super::chase::{Ring, shuffled};
use super::map::{Map, page};
use super::{BatchTime, Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;

pub(super) struct Tlb;

const LINE: usize = 64;

impl ProbeKind for Tlb {
    const INFO: &'static ProbeInfo = &catalog::TLB;
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
