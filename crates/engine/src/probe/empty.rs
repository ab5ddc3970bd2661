//! `loop`: one iteration of an empty loop.

use super::empty_loop::run_empty_loop;
use super::{BatchTime, Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::plan::{Group, ProbeInfo};
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

impl ProbeKind for Loop {
    const INFO: &'static ProbeInfo = &INFO;
    type Params = ();

    fn params(_: &mut ParamSource) -> Option<Self::Params> {
        Some(())
    }

    fn estimate(_: &(), context: &ProbeContext) -> Option<Estimate> {
        context.estimate_cycles(1.0, 2.0, "an addition and a correctly predicted branch")
    }

    fn open(_: &(), _: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        Ok(Box::new(Turns))
    }
}

struct Turns;

impl Gauge for Turns {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        // The loop itself is being measured, so it is not subtracted.
        Ok(BatchTime { loops: 0, ..BatchTime::of_loop(count, || run_empty_loop(count)) })
    }
}
