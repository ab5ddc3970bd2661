//! The full speed of a job that is to run at a share of it.

use std::time::Duration;

use super::calibrate::endless_amount;
use super::cells::Cell;
use super::control::Cut;
use super::target::OpenTarget;
use super::trial::{TrialStage, run_unobserved};
use crate::backend::meter::Timed;
use crate::record::Visit;
use crate::sys::clock::monotonic_nanos;

/// Returns what a job does in `time`; `None` where that cannot be measured.
pub(super) fn full_speed(
    target: &OpenTarget,
    cell: &Cell,
    time: Duration,
    cut: &dyn Fn() -> Option<Cut>,
) -> Option<Visit> {
    cell.executor.check(&target.for_job(&cell.job).target, &cell.job).ok()?;
    let now = monotonic_nanos();
    let stage = TrialStage {
        limit: Some(time),
        ends_by_time: true,
        ..TrialStage::new(target, now, now, cut)
    };
    let amount = endless_amount(&cell.job, Timed::None, time);
    let trial = run_unobserved(&stage, cell, &amount, &mut |_, _| {}).ok()?.trial;
    let (bytes, ops, nanos) = (trial.bytes, trial.ops, trial.nanos);
    (ops > 0 && nanos > 0).then_some(Visit { bytes, ops, nanos })
}
