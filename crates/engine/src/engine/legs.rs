//! The lanes of a list of files that are read as one: each lane reads its share of one file after
//! the other, on the same open handle.

use std::fs::File;
use std::rc::Rc;

use super::spec::Spec;
use crate::backend::access_pattern::Share;
use crate::backend::{BackendError, Lane, Target, Work};
use crate::plan::{Job, Opened};
use crate::stats::random::mix;

/// The part of a file that a lane reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg {
    /// The index of the file in the list.
    pub file: usize,
    /// The file's bytes in use are its span.
    pub share: Share,
}

/// Returns what a lane reads, in order; nothing if the target is no list. Threads read a piece of
/// every file, or whole files in turn. A count that is less than a pass is that of the first
/// operations of the list.
pub(super) fn of_lane(spec: &Spec, lane: u32) -> Vec<Leg> {
    let (job, threads) = (&spec.job, spec.job.threads.max(1));
    let is_whole = spec.count >= job.blocks();
    let (mut bytes, mut operations) = (job.span, spec.count);
    let mut legs = Vec::new();
    for (file, of_list) in spec.target.listed.iter().enumerate() {
        let span = of_list.size.min(bytes);
        bytes -= span;
        let of_file = Job { span, ..job.clone() };
        let blocks = of_file.blocks();
        // With an odd end of each file, a pass has more operations than the span has blocks.
        let count = if is_whole { blocks } else { blocks.min(operations) };
        operations = operations.saturating_sub(count);
        let turn = (file % threads as usize) as u32;
        let seed = mix(spec.seed ^ mix(file as u64));
        let share = match job.reads_whole_files() {
            true if turn != lane => continue,
            true => Share::within(&Job { threads: 1, ..of_file }, 0..blocks, 0, count, seed),
            // Else the first thread would read all files of one block.
            false => Share::within(&of_file, 0..blocks, (lane + turn) % threads, count, seed),
        };
        if share.quota > 0 {
            legs.push(Leg { file, share });
        }
    }
    legs
}

/// Returns the place of a lane among the lanes that read anything of a list, and their number;
/// `None` if the target is no list.
pub(super) fn place(spec: &Spec, lane: u32) -> Option<(u32, u32)> {
    if spec.target.listed.is_empty() {
        return None;
    }
    let reads = |lane: &u32| !of_lane(spec, *lane).is_empty();
    let lanes: Vec<u32> = (0..spec.job.threads).filter(reads).collect();
    let place = lanes.iter().position(|own| *own == lane).unwrap_or(0);
    Some((place as u32, lanes.len().max(1) as u32))
}

/// Returns all that a lane reads in a pass, as if it were of one file.
pub(super) fn whole(spec: &Spec, legs: &[Leg]) -> Share {
    let quota = legs.iter().map(|leg| leg.share.quota).sum();
    Share { quota, blocks: quota, first: 0, ..spec.share(0) }
}

/// Returns the job and the target that a lane begins with: its first file, or the first of all if
/// it reads none; `None` if the target is no list.
pub(super) fn first(spec: &Spec, legs: &[Leg]) -> Option<(Job, Target)> {
    let file = legs.first().map_or(0, |leg| leg.file);
    let target = spec.target.of_list(file, false)?;
    let span = legs.first().map_or(target.size, |leg| leg.share.span);
    Some((Job { span, ..spec.job.clone() }, target))
}

/// The files that a lane reads in turn.
pub(super) struct ListedFiles<'a> {
    spec: &'a Spec,
    legs: &'a [Leg],
    /// The file of each, where they are opened before the timed work.
    open: Vec<Rc<File>>,
}

/// Opens the files of a lane, or leaves that to the timed work; `None` if the target is no list.
pub(super) fn open_all<'a>(
    spec: &'a Spec,
    legs: &'a [Leg],
) -> Result<Option<ListedFiles<'a>>, BackendError> {
    if spec.target.listed.is_empty() {
        return Ok(None);
    }
    let mut files = ListedFiles { spec, legs, open: Vec::new() };
    if spec.job.opened == Opened::Before {
        files.open = legs.iter().map(|leg| files.open_file(leg)).collect::<Result<_, _>>()?;
    }
    Ok(Some(files))
}

impl ListedFiles<'_> {
    fn open_file(&self, leg: &Leg) -> Result<Rc<File>, BackendError> {
        let target = self.spec.target.of_list(leg.file, self.spec.job.opened == Opened::Timed);
        let target =
            target.ok_or_else(|| BackendError::Open(std::io::ErrorKind::NotFound.into()))?;
        let file = target.open_advised(&self.spec.job).map_err(|error| self.in_file(leg, error))?;
        Ok(Rc::new(file))
    }

    /// Adds the name of the file to an error.
    fn in_file(&self, leg: &Leg, error: BackendError) -> BackendError {
        let Some(target) = self.spec.target.of_list(leg.file, false) else { return error };
        let error = Box::new(error.with_current_size(&target));
        BackendError::InFile { path: target.path, error }
    }

    /// Runs the lane on its files in turn, as often as there are passes.
    pub fn run(&self, lane: &mut dyn Lane, work: &mut Work) -> Result<(), BackendError> {
        work.begin();
        for pass in 0..self.spec.passes {
            let mut earlier = 0;
            for (index, leg) in self.legs.iter().enumerate() {
                if !work.turn_to(leg.share, pass, earlier) {
                    return work.finish();
                }
                // It begins with its first file, opened before.
                if (pass, index) != (0, 0) || self.open.is_empty() {
                    self.turn(lane, work, index, leg)?;
                }
                lane.run(work).map_err(|error| self.in_file(leg, error))?;
                earlier += leg.share.quota;
            }
        }
        work.rest();
        Ok(())
    }

    fn turn(
        &self,
        lane: &mut dyn Lane,
        work: &mut Work,
        index: usize,
        leg: &Leg,
    ) -> Result<(), BackendError> {
        let (file, calls) = match self.open.get(index) {
            Some(file) => (Rc::clone(file), 0),
            // Each is closed when the next is open.
            None => (self.open_file(leg)?, 2),
        };
        let job = Job { span: leg.share.span, ..self.spec.job.clone() };
        let turned = lane.turn_to(file, &job).map_err(|error| self.in_file(leg, error))?;
        work.add_syscalls(u64::from(turned + calls));
        Ok(())
    }
}
