//! The lanes of a list of files that are read as one: each lane reads its share of one file after
//! the other, on the same open handle.

use std::fs::File;
use std::rc::Rc;

use super::spec::Spec;
use crate::backend::access_pattern::Share;
use crate::backend::{BackendError, Lane, Target, Work};
use crate::catalog;
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
    let files = spec.target.listed.iter().scan(job.span, |left, of_list| {
        let span = of_list.size.min(*left);
        *left -= span;
        Some(Job { span, ..job.clone() })
    });
    let files: Vec<Job> = files.collect();
    let all: u64 = files.iter().map(Job::blocks).sum();
    // With an odd end of each file, a pass has more operations than the span has blocks.
    let is_whole = spec.count >= job.blocks() && job.count.is_none_or(|count| count == 0);
    let (mut blocks_before, mut legs) = (0, Vec::new());
    for (file, of_file) in files.into_iter().enumerate() {
        let blocks = of_file.blocks();
        let until =
            |blocks: u64| u128::from(spec.count) * u128::from(blocks) / u128::from(all.max(1));
        let part = until(blocks_before + blocks) - until(blocks_before);
        let count = if is_whole { blocks } else { blocks.min(part as u64) };
        blocks_before += blocks;
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
    /// The backend maps files.
    maps: bool,
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
    let maps = [catalog::MMAP.id, catalog::MMAP_COPY.id, catalog::SIMD_COPY.id];
    let maps = maps.contains(&spec.job.backend.id.as_str());
    let mut files = ListedFiles { spec, legs, maps, open: Vec::new() };
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
        // A mapping is advised itself.
        let opened = match self.maps {
            true => target.open(&self.spec.job),
            false => target.open_advised(&self.spec.job),
        };
        let file = opened.map_err(|error| self.in_file(leg, error))?;
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
        let began = work.now();
        let (file, calls) = match self.open.get(index) {
            Some(file) => (Rc::clone(file), 0),
            // Each is closed when the next is open.
            None => (self.open_file(leg)?, 2),
        };
        let job = Job { span: leg.share.span, ..self.spec.job.clone() };
        let turned = lane.turn_to(file, &job).map_err(|error| self.in_file(leg, error))?;
        work.add_syscalls(u64::from(turned + calls));
        work.end_turn(began);
        Ok(())
    }
}
