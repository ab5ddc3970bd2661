//! A rule about caches below this machine: of a host, a server, an array or a drive.

use crate::plan::{Cache, Op};
use crate::record::verdict::CellEvidence;
use crate::record::{Finding, FirstVisits, Medium, Severity, Trial, finding};

/// Trials read the same blocks again and again, so a cache below this machine serves all of them
/// but the first. Where each block is read once, it serves none.
pub(super) fn first_visit(evidence: &CellEvidence) -> Option<Finding> {
    let job = evidence.job;
    let reads_the_device = job.op == Op::Read && (job.direct || job.cache == Cache::Cold);
    let is_repeated = |trial: &Trial| trial.evidence.visited.is_none();
    if !reads_the_device || evidence.target.memory || !evidence.trials().any(is_repeated) {
        return None;
    }
    let visits = evidence.target.first_visits.filter(FirstVisits::show_a_cache)?;
    let FirstVisits { pairs, slower, faster, .. } = visits;
    finding(
        Severity::Misleading,
        format!(
            "{} caches: a block's first read took {:.1}x as long as its next",
            name_what_is_below(evidence),
            visits.ratio()?
        ),
        format!(
            "of {pairs} blocks, {slower} took at least {}x as long at first, {faster} the other \
             way; chance alone does this in 1 of 10,000 runs",
            FirstVisits::FACTOR
        ),
        "use {fresh}, which reads only blocks that nothing has read since this machine started",
    )
}

fn name_what_is_below(evidence: &CellEvidence) -> &'static str {
    match evidence.target.ground.as_ref().map(|ground| ground.medium) {
        Some(Medium::Program) => "the program below the file, or something below it,",
        _ => "something below this machine",
    }
}
