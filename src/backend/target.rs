//! The file as lanes open it.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use super::{BackendError, Unsupported, advice, shared};
use crate::plan::{Job, Op, Sync};

/// The file that is measured, as lanes open it: each its own file description, since two threads on one cost
/// 120-155 ns more per call.
#[derive(Debug, Clone)]
pub struct Target {
    /// What `open` takes; a path under /proc for an unnamed file.
    pub path: PathBuf,
    pub size: u64,
    /// Only a file that iotui made.
    pub writable: bool,
    /// What direct I/O must be aligned to: offset and length, in bytes; `None` = not known.
    pub direct_align: Option<u32>,
    /// Why direct I/O cannot be had, where that is known.
    pub direct_refused: Option<String>,
}

impl Target {
    /// Opens a description of the lane's own, as the job needs it.
    pub fn open(&self, job: &Job) -> Result<File, BackendError> {
        let mut flags = libc::O_CLOEXEC;
        if job.direct {
            flags |= libc::O_DIRECT;
        }
        if job.op == Op::Write && job.sync == Sync::Each {
            flags |= libc::O_DSYNC;
        }
        let write = job.op == Op::Write;
        if write && !self.writable {
            return Err(Unsupported("iotui writes only to files that it made itself".into()).into());
        }
        OpenOptions::new().read(true).write(write).custom_flags(flags).open(&self.path).map_err(BackendError::Open)
    }

    /// As [`Target::open`], and the kernel is told of the order where the job says so.
    pub(super) fn open_advised(&self, job: &Job) -> Result<File, BackendError> {
        let file = self.open(job)?;
        advice::tell(&file, job)?;
        Ok(file)
    }

    /// What offsets and lengths of the job's I/O must be multiples of: 1 without direct I/O.
    pub fn align(&self, job: &Job) -> u32 {
        if job.direct { self.direct_align.unwrap_or(512).max(1) } else { 1 }
    }

    /// The reasons that hold for every backend which moves data.
    pub fn check(&self, job: &Job) -> Result<(), Unsupported> {
        advice::check(job)?;
        shared::check(job)?;
        if !job.direct {
            return Ok(());
        }
        if let Some(why) = &self.direct_refused {
            return Err(Unsupported(format!("direct I/O: {why}")));
        }
        let align = u64::from(self.align(job));
        if !job.block.is_multiple_of(align) {
            return Err(Unsupported(format!("direct I/O needs blocks that are a multiple of {align} bytes here, {} is not", job.block)));
        }
        if job.op == Op::Write && !job.span.is_multiple_of(align) {
            return Err(Unsupported(format!("direct writes need a --size that is a multiple of {align} bytes here")));
        }
        Ok(())
    }
}
