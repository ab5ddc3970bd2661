//! What several processes can measure together.

use super::args::Args;
use crate::plan::{Plan, TargetSpec};

/// Refuses what is measured by one process only.
///
/// # Errors
/// The plan or an option is not for several ranks.
pub(super) fn check(args: &Args, plan: &Plan) -> anyhow::Result<()> {
    let refused = [
        (args.refine.is_some(), "--refine continues a run of one process"),
        (!args.between.is_empty(), "--between compares variants of one machine"),
        (!plan.probes.is_empty(), "probes measure one machine"),
        (plan.targets().count() > 1, "several targets are measured by one process only"),
        (plan.pick, "the preset fast tries its methods in one process"),
        (
            plan.targets().any(|target| !matches!(target, TargetSpec::Scratch { .. })),
            "each rank measures a file of its own: name a folder with --dir, and no file",
        ),
    ];
    match refused.iter().find(|(applies, _)| *applies) {
        Some((_, why)) => anyhow::bail!("{why}"),
        None => Ok(()),
    }
}
