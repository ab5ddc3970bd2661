//! The traits of a backend: [`Backend`] describes it and opens its lanes, and [`Lane`] runs the
//! timed loop.

use std::fs::File;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use super::access_pattern::Share;
use super::fold;
use super::meter::Timed;
use super::work::{Assignment, Published};
use super::{BackendError, Target, Unsupported, Work};
use crate::plan::{Info, Job};
use crate::sys::clock::Clock;

/// A method of I/O, as the engine uses it: `info` and `check` before a run, `open` on each worker
/// thread before a trial, [`Lane::run`] inside it.
pub trait Backend: Sync {
    /// Returns the static description: id, texts for `--list`, operations, depth and options. The
    /// planner builds the matrix of cells from it, so it must not depend on the machine.
    fn info(&self) -> &'static Info;

    /// Checks whether this kernel and target support `job`, by trying rather than by version
    /// numbers. The error is shown to the user as the reason a cell is skipped. By default, makes
    /// the checks of every backend that moves data.
    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        if self.info().moves_bytes() { target.check(job) } else { Ok(()) }
    }

    /// Returns the assignment of a lane of `job`: one pass over its share, not timed.
    fn assignment<'a>(
        &self,
        job: &Job,
        share: Share,
        stop: &'a AtomicBool,
        published: &'a Published,
    ) -> Assignment<'a> {
        let info = self.info().of(&job.backend);
        Assignment {
            share,
            passes: 1,
            depth: job.depth,
            moves: info.moves_bytes(),
            calls: (info.title, info.write_call.unwrap_or(info.title)),
            fold: job.xor.then(|| fold::fastest().1),
            timed: Timed::None,
            clock: Clock::best(),
            stop,
            published,
            cursor: None,
            log: None,
            pace: None,
        }
    }

    /// Opens a file for a lane, with the advice of its options: by default the kernel is advised of
    /// the file.
    ///
    /// # Errors
    /// As of [`Backend::open`].
    fn open_file(&self, target: &Target, job: &Job) -> Result<File, BackendError> {
        target.open_advised(job)
    }

    /// Opens lane `lane` of a trial: its own file description, buffers and kernel objects. Called
    /// on the worker thread that will run it, outside the timed window.
    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError>;
}

/// One worker's open handle of a backend. Dropped after the trial, on the same thread.
pub trait Lane {
    /// Takes requests from `work` and reports their results until no request is left or in flight.
    /// This is the timed loop: it must not allocate, log or lock.
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError>;

    /// Turns to another file of a list, whose size is the span of `job`. Returns the number of
    /// system calls: it is part of the timed work.
    ///
    /// # Errors
    /// The file cannot be mapped or registered.
    fn turn_to(&mut self, file: Rc<File>, job: &Job) -> Result<u32, BackendError>;

    /// Returns the CPU time so far, in nanoseconds, of a helper thread that works for this lane (a
    /// kernel thread or a runtime's); `None` where it is unknown. It is added to the lane's system
    /// time.
    fn helper_nanos(&self) -> Option<u64> {
        Some(0)
    }
}
