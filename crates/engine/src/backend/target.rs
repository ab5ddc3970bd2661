//! The measured file, as lanes open it.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::written::WrittenData;
use super::{BackendError, IoFault, Stamps, Unsupported, access_pattern, advice};
use crate::catalog::ATIME;
use crate::plan::{Job, Op, Sync, Writes};
use crate::sys::content::Content;
use crate::sys::fd::HeldFile;
use crate::sys::{fd, space};

/// The measured file. Each lane opens its own file description: two threads on one cost 120-155 ns
/// more per call.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// Its path; one under /proc for an unnamed file.
    pub path: PathBuf,
    /// The file that lanes open, even if the name leads elsewhere by then. Without it the file can
    /// only be read.
    pub held: Option<HeldFile>,
    pub size: u64,
    /// Whether iotui created it.
    pub writable: bool,
    /// Alignment of offset and length for direct I/O, bytes; `None` = unknown.
    pub direct_align: Option<u32>,
    /// Why direct I/O is unavailable, where that is known.
    pub direct_refused: Option<String>,
    /// Kind of data to write; `None` = random, the same block again and again.
    pub content: Option<Content>,
    /// Stamps of the written data, if it is to be verified.
    pub stamps: Option<Stamps>,
    /// The files of the lanes, where each has its own; else empty.
    pub own: Arc<[OwnFile]>,
    /// The files of a list that are read as one; else empty.
    pub listed: Arc<[OwnFile]>,
}

/// The file of one lane, or one of a list.
#[derive(Debug, Clone)]
pub struct OwnFile {
    /// As [`Target::path`], [`Target::held`] and [`Target::size`].
    pub path: PathBuf,
    pub held: HeldFile,
    pub size: u64,
}

impl Target {
    /// Returns a file of `size` bytes that is only read, without any other property.
    pub fn plain(path: PathBuf, size: u64) -> Target {
        Target { path, size, ..Target::default() }
    }

    /// Returns the target of a lane: its own file, where it has one.
    pub fn of_lane(&self, lane: u32) -> Cow<'_, Target> {
        match self.own.get(lane as usize) {
            None => Cow::Borrowed(self),
            Some(OwnFile { path, held, .. }) => Cow::Owned(Target {
                path: path.clone(),
                held: Some(held.clone()),
                own: Arc::default(),
                stamps: self.stamps.map(|stamps| stamps.of_file(lane)),
                ..self.clone()
            }),
        }
    }

    /// Returns a file of its list, to be opened by its name as programs do, if `by_name`.
    pub fn of_list(&self, file: usize, by_name: bool) -> Option<Target> {
        let OwnFile { path, held, size } = self.listed.get(file)?.clone();
        let held = Some(held).filter(|_| !by_name);
        Some(Target { path, held, size, listed: Arc::default(), ..self.clone() })
    }

    /// Opens the lane's own file description, as the job needs it.
    ///
    /// # Errors
    /// The job writes and iotui did not create the file, or the errno of open(2).
    pub fn open(&self, job: &Job) -> Result<File, BackendError> {
        let mut flags = libc::O_CLOEXEC;
        if job.direct {
            flags |= libc::O_DIRECT;
        }
        flags |= match job.sync {
            Sync::Dsync if job.op == Op::Write => libc::O_DSYNC,
            Sync::Osync if job.op == Op::Write => libc::O_SYNC,
            _ => 0,
        };
        let write = job.op == Op::Write;
        if write && !(self.writable && self.held.is_some()) {
            return Err(Unsupported("iotui writes only to files it created".into()).into());
        }
        let mut options = File::options();
        options.read(true).write(write);
        let noatime = !job.backend.has(ATIME.name);
        let opened = match &self.held {
            Some(held) => held.open(&mut options, flags, noatime, write),
            // A pipe that took the name would wait for a writer.
            None if noatime => fd::open_noatime(&self.path, &mut options, flags | libc::O_NONBLOCK),
            None => options.custom_flags(flags | libc::O_NONBLOCK).open(&self.path),
        };
        opened.map_err(BackendError::Open)
    }

    /// Returns the kind of data that a job writes.
    pub(super) fn data(&self) -> WrittenData {
        WrittenData { content: self.content, stamps: self.stamps }
    }

    /// Opens the file for a check before the run.
    pub(super) fn open_for_check(&self) -> io::Result<File> {
        match &self.held {
            Some(held) => held.open(File::options().read(true), libc::O_NONBLOCK, true, false),
            None => fd::open_named(&self.path),
        }
    }

    /// Returns the present size of the file, bytes.
    pub(super) fn size_now(&self) -> Option<u64> {
        fd::size(self.held.as_ref()?.file()).ok()
    }

    /// Opens the file like [`Target::open`], and advises the kernel of the order if the job
    /// requests it.
    pub(super) fn open_advised(&self, job: &Job) -> Result<File, BackendError> {
        let file = self.open(job)?;
        advice::advise(&file, job)?;
        Ok(file)
    }

    /// Returns the alignment of the job's offsets and lengths: 1 without direct I/O.
    pub fn align(&self, job: &Job) -> u32 {
        if job.direct { self.direct_align.unwrap_or(512).max(1) } else { 1 }
    }

    /// Checks whether the file system has the calls that follow writes.
    pub(super) fn check_sync(&self, job: &Job) -> Result<(), Unsupported> {
        if !job.syncs_after_writes() {
            return Ok(());
        }
        let refused = |error| Unsupported(format!("{}: {error}", job.sync));
        let file = self.open_for_check().map_err(refused)?;
        match job.sync {
            Sync::Fsync => file.sync_all(),
            _ => file.sync_data(),
        }
        .map_err(refused)
    }

    /// Checks whether the file system can allocate space without writing it.
    fn check_writes(&self, job: &Job) -> Result<(), Unsupported> {
        match &self.held {
            Some(held) if self.writable && job.writes == Writes::Preallocated => {
                space::check_allocation(held.file())
                    .map_err(|error| Unsupported(format!("preallocated: fallocate(2): {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Makes the checks of every backend that moves data.
    pub fn check(&self, job: &Job) -> Result<(), Unsupported> {
        advice::check(job)?;
        access_pattern::check_shared(job)?;
        self.check_sync(job)?;
        self.check_writes(job)?;
        if !job.direct {
            return Ok(());
        }
        if let Some(why) = &self.direct_refused {
            return Err(Unsupported(format!("direct I/O: {why}")));
        }
        let align = u64::from(self.align(job));
        if !job.block.is_multiple_of(align) {
            return Err(Unsupported(format!(
                "direct I/O needs a block size that is a multiple of {align} bytes here; {} is not",
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

impl BackendError {
    /// Adds the present size of the file, which distinguishes a file that shrank from a short read
    /// or a failed device.
    pub fn with_current_size(self, target: &Target) -> BackendError {
        match self {
            BackendError::Io { call, offset, len, fault: IoFault::Short { came, .. } } => {
                let ends_here =
                    target.size_now().map(|size| size < offset.saturating_add(len.into()));
                BackendError::Io { call, offset, len, fault: IoFault::Short { came, ends_here } }
            }
            BackendError::Mapped { offset, .. } => {
                BackendError::Mapped { offset, size: target.size_now() }
            }
            other => other,
        }
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

    /// Sets an access time so old that any ordinary read updates it.
    fn long_unread(file: &File) -> SystemTime {
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        file.set_times(std::fs::FileTimes::new().set_accessed(long_ago)).unwrap();
        long_ago
    }

    #[test]
    fn no_backend_updates_the_access_time() {
        let (temp, _, target) = file(65536, 1);
        let before = long_unread(temp.as_file());
        for backend in BACKENDS.iter().filter(|backend| backend.info().ops.contains(&Op::Read)) {
            let job = Job { backend: Choice::plain(backend.info().id), ..job() };
            if backend.check(&target, &job).is_ok() {
                read_all(*backend, &target, &job);
                assert_eq!(
                    temp.as_file().metadata().unwrap().accessed().unwrap(),
                    before,
                    "{}",
                    job.backend
                );
            }
        }
    }

    #[test]
    fn atime_updates_the_access_time() {
        let (temp, _, target) = file(65536, 2);
        if mounts::mount_of(temp.as_file())
            .is_ok_and(|mount| mount.options.iter().any(|option| option == "noatime"))
        {
            return skip("the file system is mounted with noatime");
        }
        for id in ["pread", "read", "readv", "preadv2"] {
            let before = long_unread(temp.as_file());
            let job = Job { backend: Choice::parse(&format!("{id}+atime")).unwrap(), ..job() };
            read_all(backend(id).unwrap(), &target, &job);
            assert_ne!(temp.as_file().metadata().unwrap().accessed().unwrap(), before, "{id}");
        }
    }
}
