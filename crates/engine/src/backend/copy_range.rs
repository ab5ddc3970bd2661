//! `copy-range`: copy_file_range(2) into a temporary file next to the target.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use nix::sys::statvfs::statvfs;

use super::drive::run_each;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work};
use crate::catalog;
use crate::plan::{Info, Job};
use crate::record::Note;
use crate::sys::scratch::Scratch;
use crate::sys::{calls, space};
use crate::units::show_bytes;
use crate::with_fill;

pub struct CopyRange;

impl Backend for CopyRange {
    fn info(&self) -> &'static Info {
        &catalog::COPY_RANGE
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        let dir = folder_of(&target.path);
        let from = target.open_for_check().map_err(|error| Unsupported(error.to_string()))?;
        let found = from.metadata().ok();
        if found.as_ref().is_some_and(|meta| !meta.is_file()) {
            return Err(Unsupported(
                "copy_file_range copies only between regular files, and this is a device".into(),
            ));
        }
        let free = statvfs(&dir)
            .map(|found| found.blocks_available().saturating_mul(found.fragment_size()));
        // A scratch file that is not filled yet will also need its space.
        let missing = found.map_or(0, |meta| job.span.saturating_sub(meta.len()));
        if let Some(free) = free.ok().filter(|free| *free < job.span.saturating_add(missing)) {
            return Err(Unsupported(format!(
                "the copy needs {} in {}, which has {} free; use a smaller --size",
                show_bytes(job.span),
                dir.display(),
                show_bytes(free)
            )));
        }
        let copy = create_copy(&dir)?;
        match calls::copy_range::<false>(from.as_raw_fd(), copy.file().as_raw_fd(), 0, 1) {
            errno if PERMANENT_ERRORS.contains(&(-errno as i32)) => Err(Unsupported(format!(
                "copy_file_range(2): {}",
                std::io::Error::from_raw_os_error(-errno as i32)
            ))),
            // A read that fails here fails in the run, too, with its offset.
            _ => Ok(()),
        }
    }

    fn open(&self, target: &Target, job: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        let copy = create_copy(&folder_of(&target.path))?;
        let file = Rc::new(target.open(job)?);
        let clones = space::shares_blocks(&file, copy.file());
        Ok(Box::new(CopyLane { file, copy, clones }))
    }
}

/// Errors that mean that these two files can never be copied between.
const PERMANENT_ERRORS: [i32; 9] = [
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

fn create_copy(dir: &Path) -> Result<Scratch, Unsupported> {
    Scratch::create(dir).map_err(|error| {
        Unsupported(format!("cannot create a temporary file in {}: {error}", dir.display()))
    })
}

/// Returns the folder of the file; the kernel knows that of an unnamed one.
fn folder_of(path: &Path) -> PathBuf {
    let named = path.starts_with("/proc").then(|| std::fs::read_link(path).ok()).flatten();
    let path = named.as_deref().unwrap_or(path);
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

struct CopyLane {
    file: Rc<File>,
    copy: Scratch,
    /// Whether the file system can share blocks instead of copying them.
    clones: bool,
}

impl CopyLane {
    fn run_loop<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let (from, to) = (self.file.as_raw_fd(), self.copy.file().as_raw_fd());
        run_each(work, std::ptr::null(), 1, |r| {
            calls::copy_range::<FILL>(from, to, r.offset, r.len as usize)
        })
    }
}

impl Lane for CopyLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        if self.clones {
            work.note(Note::Cloned);
        }
        with_fill!(FILL => self.run_loop::<FILL>(work))
    }

    fn turn_to(&mut self, file: Rc<File>, _: &Job) -> Result<u32, BackendError> {
        self.file = file;
        Ok(0)
    }
}

#[cfg(test)]
mod tests;
