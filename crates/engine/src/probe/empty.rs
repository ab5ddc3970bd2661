//! `loop`: one iteration of an empty loop.
#![allow(unsafe_code)]

use super::{BatchTime, Gauge, Probe, ProbeContext, ProbeError};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;

pub(super) struct Loop;

static INFO: ProbeInfo = ProbeInfo {
    id: "loop",
    group: Group::Cpu,
    title: "empty loop",
    about: "one iteration of an empty loop",
    doc: "Counts down to zero and does nothing else, with a barrier that keeps the compiler from \
          removing the loop. Everything measured in a loop includes this time, so it is subtracted \
          from every other value. An iteration is one addition and one correctly predicted branch: \
          one cycle, or two where the loop crosses an instruction-cache boundary.",
    makes_files: false,
    params: &[],
};

/// Runs `count` empty iterations.
#[inline(never)]
pub(super) fn run_empty_loop(count: u64) {
    for _ in 0..count {
        opaque_nop();
    }
}

/// An empty `asm!` block, which the compiler cannot remove from a loop.
#[inline(always)]
pub(super) fn opaque_nop() {
    // SAFETY: the template is empty, so it keeps the promises of its options: no memory, stack or
    // flags are touched.
    unsafe { std::arch::asm!("", options(nomem, nostack, preserves_flags)) }
}

impl Probe for Loop {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &ProbeContext) -> Vec<ProbeCell> {
        vec![ProbeCell::new(INFO.id, [])]
    }

    fn estimate(&self, _: &ProbeCell, context: &ProbeContext) -> Option<Estimate> {
        context.estimate_cycles(1.0, 2.0, "an addition and a correctly predicted branch")
    }

    fn open(&self, cell: &ProbeCell, _: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        if cell.params.is_empty() { Ok(Box::new(Turns)) } else { Err(ProbeError::unknown(cell)) }
    }
}

struct Turns;

impl Gauge for Turns {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        // The loop itself is measured, so it is not subtracted.
        Ok(BatchTime { loops: 0, ..BatchTime::of_loop(count, || run_empty_loop(count)) })
    }
}
