//! `loop`: one turn of an empty loop.
#![allow(unsafe_code)]

use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;

pub(super) struct Loop;

static INFO: ProbeInfo = ProbeInfo {
    id: "loop",
    group: Group::Cpu,
    title: "empty loop",
    about: "one turn of a loop with nothing in it",
    doc: "Counts down to zero and does nothing else, with a barrier that keeps the compiler from leaving the loop out. Everything that is \
          measured in a loop has this much too, so it is taken out of every other value. A turn is one add and one branch that is always \
          guessed right: one cycle, or two where a turn crosses a boundary of the instruction cache.",
    makes_files: false,
    params: &[],
};

/// `count` turns.
#[inline(never)]
pub(super) fn turns(count: u64) {
    for _ in 0..count {
        nothing();
    }
}

/// A point that the compiler moves nothing across and cannot leave out.
#[inline(always)]
pub(super) fn nothing() {
    // SAFETY: the template is empty: it reads and writes no memory, register or flag, as the
    // options say.
    unsafe { std::arch::asm!("", options(nomem, nostack, preserves_flags)) }
}

impl Probe for Loop {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        vec![ProbeCell::new(INFO.id, [])]
    }

    fn estimate(&self, _: &ProbeCell, site: &Site) -> Option<Estimate> {
        site.cycles(1.0, 2.0, "an add and a branch that is guessed right")
    }

    fn open(&self, cell: &ProbeCell, _: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        if cell.params.is_empty() { Ok(Box::new(Turns)) } else { Err(ProbeError::unknown(cell)) }
    }
}

struct Turns;

impl Gauge for Turns {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        // The loop is what is measured here.
        Ok(Took { loops: 0, ..Took::around(count, || turns(count)) })
    }
}
