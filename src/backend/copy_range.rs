//! `copy-range`: copy_file_range(2) into a file of iotui's own beside the target.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use super::drive::each;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::plan::{DataPath, Depth, Fio, Info, Job, Op};
use crate::record::Note;
use crate::sys::scratch::Scratch;
use crate::sys::{calls, clone};
use crate::units::show_bytes;
use crate::with_fill;

pub struct CopyRange;

impl Backend for CopyRange {
    fn info(&self) -> &'static Info {
        &Info {
            id: "copy-range",
            title: "copy_file_range(2)",
            about: "copies a block into an unnamed file beside it, inside the kernel",
            doc: "One copy_file_range per block, into an unnamed file of iotui's own (O_TMPFILE) on the same file system, at the same offset: with all \
                  threads it takes at most the space of the span, and is gone when the trial ends. ext4 and others copy from page to page in \
                  memory, and what that makes dirty is written back later, on somebody's time. File systems with reflinks (btrfs, XFS, \
                  bcachefs) may share the blocks instead and copy nothing: the result then says so, and its rate is one of metadata. Servers \
                  (NFS, SMB) may copy without moving the data at all. Nothing reaches the program, so there is no XOR.",
            data_path: DataPath::InKernel,
            ops: &[Op::Read],
            depth: Depth::Synchronous,
            direct: false,
            cached: true,
            mixes: false,
            appends: false,
            options: &[],
            fio: Fio::Unavailable("fio has no engine of copy_file_range(2)"),
            ..Info::COPIES_BY_CALL
        }
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        let dir = beside(&target.path);
        let from = target.look().map_err(|error| Unsupported(error.to_string()))?;
        let found = from.metadata().ok();
        if found.as_ref().is_some_and(|meta| !meta.is_file()) {
            return Err(Unsupported(
                "copy_file_range copies between regular files, and this is a device".into(),
            ));
        }
        let free = statvfs(&dir)
            .map(|found| found.blocks_available().saturating_mul(found.fragment_size()));
        // Before a scratch file is filled, its own room is free too.
        let missing = found.map_or(0, |meta| job.span.saturating_sub(meta.len()));
        if let Some(free) = free.ok().filter(|free| *free < job.span.saturating_add(missing)) {
            let (need, free) = (show_bytes(job.span), show_bytes(free));
            return Err(Unsupported(format!(
                "a copy of {need} is to be made in {}, which has {free} free: use a smaller --size",
                dir.display()
            )));
        }
        let copy = copy_in(&dir)?;
        match calls::copy_range::<false>(from.as_raw_fd(), copy.file().as_raw_fd(), 0, 1) {
            errno if NEVER.contains(&(-errno as i32)) => Err(Unsupported(format!(
                "copy_file_range(2): {}",
                std::io::Error::from_raw_os_error(-errno as i32)
            ))),
            // A read that fails here fails in the run too, which tells where.
            _ => Ok(()),
        }
    }

    fn open(&self, target: &Target, job: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        let copy = copy_in(&beside(&target.path))?;
        let file = target.open(job)?;
        let clones = clone::clones(&file, copy.file());
        Ok(Box::new(CopyLane { file, copy, clones }))
    }
}

/// What is answered where these two files can never be copied between.
const NEVER: [i32; 9] = [
    libc::ENOSYS,
    libc::EOPNOTSUPP,
    libc::EXDEV,
    libc::EINVAL,
    libc::EPERM,
    libc::EACCES,
    libc::EBADF,
    libc::EISDIR,
    libc::ETXTBSY,
];

fn copy_in(dir: &Path) -> Result<Scratch, Unsupported> {
    Scratch::create(dir).map_err(|error| {
        Unsupported(format!("no file of its own can be made in {}: {error}", dir.display()))
    })
}

/// The folder of the file; that of an unnamed one is known to the kernel only.
fn beside(path: &Path) -> PathBuf {
    let named = path.starts_with("/proc").then(|| std::fs::read_link(path).ok()).flatten();
    let path = named.as_deref().unwrap_or(path);
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

struct CopyLane {
    file: File,
    copy: Scratch,
    /// The file system can share blocks instead of copying them.
    clones: bool,
}

impl CopyLane {
    fn go<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let (from, to) = (self.file.as_raw_fd(), self.copy.file().as_raw_fd());
        each(work, std::ptr::null(), 1, |r| {
            calls::copy_range::<FILL>(from, to, r.offset, r.len as usize)
        })
    }
}

impl Lane for CopyLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        if self.clones {
            work.note(Note::Cloned);
        }
        with_fill!(FILL => self.go::<FILL>(work))
    }
}

#[cfg(test)]
mod tests;
