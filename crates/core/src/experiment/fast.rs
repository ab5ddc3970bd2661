//! `fast`: reads the whole file by the fastest of several methods, which the engine determines at
//! run time.

use super::kind::{Cells, Experiment, PlanRequest};
use super::plan_error::PlanError;
use super::sweep::{self, spans};
use crate::plan::{Job, Moves, Op, Range, Settings, Skipped};

const ID: &str = "fast";
const UNSEEN: &str = "it passes no data to the program, so it does not really read the file";

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: ID,
    about: "tries every cell briefly on a part of the file, then reads all of it by the fastest",
    picks: true,
    cells,
    ..sweep::EXPERIMENT
};

/// Returns the cells of a sweep over the whole span with its XOR, with one thread per CPU;
/// blocks are no larger than the file.
fn cells(settings: &Settings, request: &PlanRequest) -> Result<Cells, PlanError> {
    if settings.mix.is_some() || settings.op.is_some_and(|op| op != Op::Read) {
        return Err(PlanError::OnlyReads(ID));
    }
    let mut settings = settings.clone();
    settings.op = Some(Op::Read);
    settings.xor.get_or_insert(true);
    settings.count.get_or_insert_with(|| Range::list(&[0]));
    settings
        .threads
        .get_or_insert_with(|| Range::list(&[request.cpus.clamp(1, Job::MAX_THREADS).into()]));
    let least = spans(&settings, request.allowed)
        .into_iter()
        .flatten()
        .fold(request.target.size(), u64::min)
        .max(1);
    // Direct I/O needs multiples of the sector size, so its blocks are not reduced: it is
    // skipped if the file is smaller than one block.
    let reduces = settings.direct.as_deref() != Some(&[true]);
    if let (Some(blocks), true) = (&mut settings.block_size, reduces) {
        blocks.values.iter_mut().for_each(|block| *block = (*block).min(least));
    }
    let (cells, mut skipped) = sweep::cells(&settings, request)?;
    let seen = |job: &Job| {
        request.infos.iter().any(|info| info.id == job.backend.id && info.moves() == Moves::Data)
    };
    let (cells, unseen): (Vec<Job>, Vec<Job>) = cells.into_iter().partition(seen);
    skipped.extend(unseen.into_iter().map(|cell| Skipped { cell, reason: UNSEEN.into() }));
    Ok((cells, skipped))
}
