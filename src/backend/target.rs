//! The file as lanes open it.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use super::{BackendError, Unsupported, advice, shared};
use crate::plan::{Job, Op, Opt, Sync};
use crate::sys::fd;
use crate::sys::held::Held;

/// Opens the file as ordinary programs do, for the ways that copy one block per call. Else
/// `O_NOATIME` is asked for: what is measured stays as it was, and fio does the same.
pub(super) const ATIME: Opt = Opt {
    name: "atime",
    value: None,
    about: "opened without O_NOATIME, as most programs do: each read looks whether the time of last access is to be set anew",
};

/// The file that is measured, as lanes open it: each its own file description, since two threads on
/// one cost 120-155 ns more per call.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its name; a path under /proc for an unnamed file.
    pub path: PathBuf,
    /// What lanes open, whatever has the name by then. Without it a file can only be read.
    pub held: Option<Held>,
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
        if write && !(self.writable && self.held.is_some()) {
            return Err(Unsupported("iotui writes only to files it created".into()).into());
        }
        let mut options = File::options();
        options.read(true).write(write);
        let noatime = !job.backend.has(ATIME.name);
        let opened = match &self.held {
            Some(held) => held.open(&mut options, flags, noatime, write),
            None if noatime => fd::open_noatime(&self.path, &mut options, flags),
            None => options.custom_flags(flags).open(&self.path),
        };
        opened.map_err(BackendError::Open)
    }

    /// Opens the file to ask something of it before the run.
    pub(super) fn look(&self) -> io::Result<File> {
        match &self.held {
            Some(held) => held.open(File::options().read(true), libc::O_NONBLOCK, true, false),
            None => fd::open_named(&self.path),
        }
    }

    /// Bytes that the file has now, whatever it had when the run began.
    pub(super) fn size_now(&self) -> Option<u64> {
        fd::size(self.held.as_ref()?.file()).ok()
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
            return Err(Unsupported(format!(
                "direct I/O needs blocks that are a multiple of {align} bytes here, {} is not",
                job.block
            )));
        }
        if job.op == Op::Write && !job.span.is_multiple_of(align) {
            return Err(Unsupported(format!(
                "direct writes need a --size that is a multiple of {align} bytes here"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::backend::testing::{file, job, read_all};
    use crate::backend::{BACKENDS, backend};
    use crate::plan::Choice;
    use crate::sys::mounts;
    use crate::sys::testing::skip;

    /// Read so long ago that any ordinary read notes it.
    fn long_unread(file: &File) -> SystemTime {
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        file.set_times(std::fs::FileTimes::new().set_accessed(long_ago)).unwrap();
        long_ago
    }

    #[test]
    fn no_way_of_reading_touches_the_time_of_last_access() {
        let (own, _, target) = file(65536, 1);
        let before = long_unread(own.as_file());
        for backend in BACKENDS.iter().filter(|backend| backend.info().ops.contains(&Op::Read)) {
            let job = Job { backend: Choice::plain(backend.info().id), ..job() };
            if backend.check(&target, &job).is_ok() {
                read_all(*backend, &target, &job);
                assert_eq!(
                    own.as_file().metadata().unwrap().accessed().unwrap(),
                    before,
                    "{}",
                    job.backend
                );
            }
        }
    }

    #[test]
    fn who_asks_for_it_reads_as_ordinary_programs_do() {
        let (own, _, target) = file(65536, 2);
        if mounts::of(own.as_file())
            .is_ok_and(|mount| mount.options.iter().any(|option| option == "noatime"))
        {
            return skip("the file system is mounted with noatime");
        }
        for id in ["pread", "read", "readv", "preadv2"] {
            let before = long_unread(own.as_file());
            let job = Job { backend: Choice::parse(&format!("{id}+atime")).unwrap(), ..job() };
            read_all(backend(id).unwrap(), &target, &job);
            assert_ne!(own.as_file().metadata().unwrap().accessed().unwrap(), before, "{id}");
        }
    }
}
