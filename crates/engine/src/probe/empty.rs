//! `loop`: one iteration of an empty loop.

use super::empty_loop::run_empty_loop;
use super::{BatchTime, Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;

pub(super) struct Loop;

impl ProbeKind for Loop {
    const INFO: &'static ProbeInfo = &catalog::EMPTY_LOOP;
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
