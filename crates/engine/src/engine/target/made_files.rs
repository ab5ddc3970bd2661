//! The files that iotui makes for some jobs beside the target: one that each pass starts fresh, and
//! one per thread. They go with the run.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{OpenTarget, create_scratch};
use crate::backend::OwnFile;
use crate::engine::error::EngineError;
use crate::plan::{Job, Plan, Writes};
use crate::sys::content::FileData;
use crate::sys::held_file::HeldFile;
use crate::sys::scratch::Scratch;
use crate::sys::{fill, space};

/// The files that are made for jobs; each kind is open only where the plan has such jobs.
#[derive(Debug, Default)]
pub(super) struct MadeFiles {
    /// For the jobs that start fresh in one file.
    growing: Option<Box<OpenTarget>>,
    /// For the jobs whose threads have a file each.
    own: Option<Box<OpenTarget>>,
}

/// The file of one thread.
#[derive(Debug)]
pub(super) struct LaneFile {
    file: Arc<File>,
    /// How many bytes from its start hold data of iotui's; 0 once it started fresh.
    filled: AtomicU64,
    _scratch: Option<Scratch>,
}

impl MadeFiles {
    /// Makes the empty files that the jobs of a plan need. The target itself is the growing file
    /// where no other job needs it.
    pub fn create(plan: &Plan, dir: &Path, data: FileData) -> Result<MadeFiles, EngineError> {
        let scratch = || create_scratch(plan, dir);
        let grows = |job: &Job| job.starts_fresh() && !job.has_own_files();
        let mut files = MadeFiles::default();
        if !plan.makes_every_file() && plan.cells.iter().any(grows) {
            let growing = OpenTarget::scratch(scratch()?, dir)?;
            files.growing = Some(Box::new(OpenTarget { extents: None, ..growing }));
        }
        let most = plan.cells.iter().filter(|job| job.has_own_files()).map(|job| job.threads).max();
        if let Some(threads) = most {
            let mut own =
                OpenTarget { extents: None, data, ..OpenTarget::scratch(scratch()?, dir)? };
            let mut targets = Vec::new();
            for lane in 0..threads {
                let (file, target) = match lane {
                    0 => own.first_lane_file(),
                    _ => LaneFile::create(scratch()?).map_err(EngineError::Fill)?,
                };
                own.lane_files.push(file);
                targets.push(target);
            }
            own.target.own = targets.into();
            files.own = Some(Box::new(own));
        }
        Ok(files)
    }

    /// Returns the files that were made for a job, if it needs some.
    pub fn for_job(&self, job: &Job) -> Option<&OpenTarget> {
        if job.has_own_files() {
            self.own.as_deref()
        } else if job.starts_fresh() {
            self.growing.as_deref()
        } else {
            None
        }
    }

    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut OpenTarget> {
        [&mut self.growing, &mut self.own].into_iter().flatten().map(|target| &mut **target)
    }
}

impl LaneFile {
    fn create(scratch: Scratch) -> io::Result<(LaneFile, OwnFile)> {
        let held = HeldFile::new(scratch.file().try_clone()?, scratch.name())?;
        let own = OwnFile { path: scratch.path(), held };
        let file = Arc::clone(own.held.file());
        Ok((LaneFile { file, filled: AtomicU64::new(0), _scratch: Some(scratch) }, own))
    }
}

impl OpenTarget {
    /// Returns the target's own file as that of the first thread.
    fn first_lane_file(&self) -> (LaneFile, OwnFile) {
        let (held, path) = (self.held.clone(), self.target.path.clone());
        let file = Arc::clone(&self.file);
        (LaneFile { file, filled: AtomicU64::new(0), _scratch: None }, OwnFile { path, held })
    }

    /// Returns the files that a job works on: one, or one per thread.
    pub fn files(&self, job: &Job) -> Vec<&File> {
        if job.has_own_files() {
            let lanes = self.lane_files.iter().take(job.threads as usize);
            lanes.map(|lane| &*lane.file).collect()
        } else {
            vec![&self.file]
        }
    }

    /// Brings the files of a job that makes its own into the shape that it writes: empty,
    /// allocated, or full.
    ///
    /// # Errors
    /// The errno of ftruncate(2), fallocate(2), pwrite(2) or fdatasync(2); `Interrupted` where
    /// `stop` ended the filling; or that iotui did not create the file.
    pub fn make_files(&self, job: &Job, stop: &dyn Fn() -> bool) -> io::Result<()> {
        if !job.makes_files() {
            return Ok(());
        }
        let bytes = job.bytes_per_file();
        match job.writes {
            Writes::Overwrite => {
                self.lane_files.iter().take(job.threads as usize).try_for_each(|lane| {
                    match lane.filled.load(Relaxed) == bytes {
                        true => Ok(()),
                        false => self.fill_lane_file(lane, bytes, stop),
                    }
                })
            }
            Writes::Append => self.empty_files(job),
            Writes::Preallocated => {
                self.empty_files(job)?;
                self.files(job).into_iter().try_for_each(|file| {
                    space::allocate(file, bytes)?;
                    // Else the first commit would write out the allocation too.
                    file.sync_all()
                })
            }
        }
    }

    fn empty_files(&self, job: &Job) -> io::Result<()> {
        self.lane_files.iter().for_each(|lane| lane.filled.store(0, Relaxed));
        self.files(job).into_iter().try_for_each(|file| self.truncate(file))
    }

    fn fill_lane_file(
        &self,
        lane: &LaneFile,
        bytes: u64,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        lane.filled.store(0, Relaxed);
        self.truncate(&lane.file)?;
        let whole = &mut |_| std::ops::ControlFlow::Continue(());
        fill::fill_file(&lane.file, bytes, self.data, stop, whole)?;
        lane.filled.store(bytes, Relaxed);
        Ok(())
    }

    /// Truncates a file to 0 bytes; only files that iotui created.
    ///
    /// # Errors
    /// The errno of ftruncate(2), or that iotui did not create the file.
    fn truncate(&self, file: &File) -> io::Result<()> {
        if !self.target.writable {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "iotui truncates only files it created",
            ));
        }
        // By the descriptor it was created with, whatever has its name now.
        file.set_len(0)
    }
}
