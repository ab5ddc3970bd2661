//! The lanes of a list of files that are read as one: each lane reads its share of one file after
//! the other, on the same open handle.

use std::fs::File;
use std::rc::Rc;

use super::spec::Spec;
use crate::backend::access_pattern::Share;
use crate::backend::{Backend, BackendError, Lane, Target, Work};
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
/// every file, or whole files in turn. With fewer operations than blocks, the beginning of every
/// file is read, in proportion to its size, as the first files alone may be unlike the others.
pub(super) fn of_lane(spec: &Spec, lane: u32) -> Vec<Leg> {
    let (job, threads) = (&spec.job, spec.job.threads.max(1));
    let spans = spec.target.listed.iter().scan(job.span, |left, of_list| {
        let span = of_list.size.min(*left);
        *left -= span;
        Some(span)
    });
    let blocks_of = |span: u64| span.div_ceil(job.block.max(1));
    let all: u64 = spans.clone().map(blocks_of).sum();
    // With an odd end of each file, a pass has more operations than the span has blocks.
    let is_whole = spec.count >= job.blocks() && job.count.is_none_or(|count| count == 0);
    let (mut blocks_before, mut legs) = (0, Vec::new());
    let mut of_file = job.clone();
    for (file, span) in spans.enumerate() {
        let blocks = blocks_of(span);
        let until =
            |blocks: u64| u128::from(spec.count) * u128::from(blocks) / u128::from(all.max(1));
        let part = until(blocks_before + blocks) - until(blocks_before);
        let count = if is_whole { blocks } else { blocks.min(part as u64) };
        blocks_before += blocks;
        of_file.span = span;
        let turn = (file % threads as usize) as u32;
        let seed = mix(spec.seed ^ mix(file as u64));
        let own = match job.reads_whole_files() {
            true if turn != lane => continue,
            true => {
                of_file.threads = 1;
                0
            }
            // Else the first thread would read all files of one block.
            false => (lane + turn) % threads,
        };
        let share = Share::within(&of_file, 0..blocks, own, count, seed);
        if share.quota > 0 {
            legs.push(Leg { file, share });
        }
    }
    legs
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
    backend: &'a dyn Backend,
    legs: &'a [Leg],
    /// The file of each, where they are opened before the timed work.
    open: Vec<Rc<File>>,
}

/// Opens the files of a lane, or leaves that to the timed work; `None` if the target is no list.
pub(super) fn open_all<'a>(
    spec: &'a Spec,
    backend: &'a dyn Backend,
    legs: &'a [Leg],
) -> Result<Option<ListedFiles<'a>>, BackendError> {
    if spec.target.listed.is_empty() {
        return Ok(None);
    }
    let mut files = ListedFiles { spec, backend, legs, open: Vec::new() };
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
        let opened = self.backend.open_file(&target, &self.spec.job);
        opened.map(Rc::new).map_err(|error| self.in_file(leg, error))
    }

    /// Adds the name of the file to an error.
    fn in_file(&self, leg: &Leg, error: BackendError) -> BackendError {
        let Some(target) = self.spec.target.of_list(leg.file, false) else { return error };
        let error = Box::new(error.with_current_size(&target));
        BackendError::InFile { path: target.path, error }
    }

    /// Runs the lane on its files in turn, as often as there are passes.
    pub fn run(&self, lane: &mut dyn Lane, work: &mut Work) -> Result<(), BackendError> {
        let mut job = self.spec.job.clone();
        work.begin();
        for pass in 0..self.spec.passes {
            let mut earlier = 0;
            for (index, leg) in self.legs.iter().enumerate() {
                if !work.turn_to(leg.share, pass, earlier) {
                    return work.finish();
                }
                // It begins with its first file, opened before.
                if (pass, index) != (0, 0) || self.open.is_empty() {
                    job.span = leg.share.span;
                    self.turn(lane, work, index, &job)?;
                }
                lane.run(work).map_err(|error| self.in_file(leg, error))?;
                earlier += leg.share.quota;
            }
        }
        work.rest();
        Ok(())
    }

    /// Turns to the file of a leg, whose size is the span of `job`.
    fn turn(
        &self,
        lane: &mut dyn Lane,
        work: &mut Work,
        index: usize,
        job: &Job,
    ) -> Result<(), BackendError> {
        let began = work.now();
        let leg = &self.legs[index];
        let (file, calls) = match self.open.get(index) {
            Some(file) => (Rc::clone(file), 0),
            // Each is closed when the next is open.
            None => (self.open_file(leg)?, 2),
        };
        let turned = lane.turn_to(file, job).map_err(|error| self.in_file(leg, error))?;
        work.add_syscalls(u64::from(turned + calls));
        work.end_turn(began);
        Ok(())
    }
}
