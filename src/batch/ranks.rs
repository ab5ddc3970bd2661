//! Checks that the started ranks fit the plan.

use super::args::Args;
use super::watch::Outcome;
use crate::engine::Started;
use crate::plan::{Plan, TargetSpec};

/// Refuses a plan that is not for the processes that were started: `started` ranks, or this one
/// alone.
///
/// # Errors
/// The plan or an option is for others.
pub(super) fn check(args: &Args, plan: &Plan, started: Option<Started>) -> anyhow::Result<()> {
    let (needs, started) = (plan.processes(), started.map_or(1, |of| of.ranks));
    if needs > started {
        anyhow::bail!(
            "this plan is for {needs} ranks: start it with mpirun -n {needs} iotui-mpi --batch"
        );
    }
    if started == 1 {
        return Ok(());
    }
    let refused = [
        (args.refine.is_some(), "--refine continues a run of one process"),
        (!plan.variants.is_empty(), "--between and --neighbour are for one process"),
        (!plan.probes.is_empty(), "probes measure one machine"),
        (plan.targets().count() > 1, "several targets are measured by one process only"),
        (plan.pick, "the preset fast tries its methods in one process"),
        (
            plan.cells.iter().any(|cell| cell.ranks.is_none()),
            "this plan is for one process: run it with iotui --batch",
        ),
        (
            matches!(plan.target, TargetSpec::New { .. }),
            "the file of several ranks goes with the run: name a folder, and no file",
        ),
        (
            args.keep && plan.cells.iter().any(|cell| cell.shares_its_file()),
            "a file that ranks share goes with the run: leave out --keep",
        ),
    ];
    match refused.iter().find(|(applies, _)| *applies) {
        Some((_, why)) => anyhow::bail!("{why}"),
        None => Ok(()),
    }
}

/// Returns whether ranks could not open what they are to measure: they were started wrongly.
pub(super) fn could_not_open(outcome: &Outcome, started: Option<Started>) -> bool {
    let several = started.is_some_and(|of| of.ranks > 1);
    several && outcome.session.grounds.is_none() && outcome.signal.is_none()
}
