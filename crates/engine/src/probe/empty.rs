//! `loop`: one iteration of an empty loop.

use super::batch::BatchTime;
use super::context::ProbeContext;
use super::empty_loop::run_empty_loop;
use super::error::ProbeError;
use super::kind::{Gauge, Probe};
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
        // The loop itself is being measured, so it is not subtracted.
        Ok(BatchTime { loops: 0, ..BatchTime::of_loop(count, || run_empty_loop(count)) })
    }
}
