//! `mmap` and `mmap-copy`: a mapped file, used in place or copied.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::rc::Rc;

use memmap2::{Advice, MmapOptions, MmapRaw};

use super::buffers::lane_buffer;
use super::commit::{Committer, sync_file};
use super::drive::run_each;
use super::fold::{self, FoldFn};
use super::work::Request;
use super::written::LaneBuffer;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work, access_pattern, advice};
use crate::catalog::{self, HUGE, POPULATE};
use crate::plan::{Info, Job, Op, Opt, Sync};
use crate::sys::fd::page_size;
use crate::sys::raw;
use crate::sys::sigbus::{self, Guard};

pub struct Mmap;
pub struct MmapCopy;

impl Backend for Mmap {
    fn info(&self) -> &'static Info {
        &catalog::MMAP
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        check_options(target, job)
    }

    fn open_file(&self, target: &Target, job: &Job) -> Result<File, BackendError> {
        // The mapping is advised, not the file.
        target.open(job)
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        if job.op == Op::Write {
            return MmapCopy.open(target, job, lane);
        }
        let map = Mapping::new(self.open_file(target, job)?, job)?;
        Ok(Box::new(MmapLane { map, form: fold::fastest().1 }))
    }
}

impl Backend for MmapCopy {
    fn info(&self) -> &'static Info {
        &catalog::MMAP_COPY
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        check_options(target, job)
    }

    fn open_file(&self, target: &Target, job: &Job) -> Result<File, BackendError> {
        // The mapping is advised, not the file.
        target.open(job)
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        let map = Mapping::new(self.open_file(target, job)?, job)?;
        Ok(Box::new(MmapCopyLane {
            map,
            buffer: lane_buffer(job, 1, lane, target.data())?,
            write: job.op == Op::Write,
        }))
    }
}

/// Checks the options. Advice is tried on an anonymous page, where the kernel refuses what it does
/// not know, too.
pub(super) fn check_options(target: &Target, job: &Job) -> Result<(), Unsupported> {
    advice::check(job)?;
    access_pattern::check_shared(job)?;
    target.check_sync(job)?;
    let probe = |advice, name: &str| {
        let page =
            MmapOptions::new().len(4096).map_anon().map_err(|e| Unsupported(e.to_string()))?;
        page.advise(advice).map_err(|e| Unsupported(format!("{name}: {e}")))
    };
    if job.backend.has("populate") {
        probe(Advice::PopulateRead, "MADV_POPULATE_READ (Linux 5.14)")?;
    }
    if job.backend.has("huge") {
        probe(Advice::HugePage, "MADV_HUGEPAGE")?;
    }
    Ok(())
}

/// Advice for the mapping that is given before anything is timed.
const ADVICE: [(Opt, Advice); 3] = [
    (HUGE, Advice::HugePage),
    (catalog::SEQUENTIAL, Advice::Sequential),
    (catalog::RANDOM, Advice::Random),
];

/// The mapped span, guarded against a file that shrinks. Fields drop in order: the guard before the
/// mapping.
pub(super) struct Mapping {
    pub guard: Guard,
    pub map: MmapRaw,
    /// The files of a list that were used before: a program that loads them keeps them mapped.
    kept: Vec<MmapRaw>,
    file: Rc<File>,
    committer: Option<Committer>,
    populate: Option<Advice>,
    will_need: bool,
}

/// The most mappings that all lanes keep: a process may have 65,530.
const MAX_KEPT: usize = 1 << 14;

impl Mapping {
    pub fn new(file: impl Into<Rc<File>>, job: &Job) -> Result<Mapping, BackendError> {
        let file = file.into();
        sigbus::install().map_err(BackendError::Map)?;
        let write = job.op == Op::Write;
        let mut options = MmapOptions::new();
        let len = usize::try_from(job.span)
            .map_err(|_| BackendError::Map(std::io::ErrorKind::OutOfMemory.into()))?;
        options.len(len);
        let map = if write { options.map_raw(&*file) } else { options.map_raw_read_only(&*file) }
            .map_err(BackendError::Map)?;
        for (_, advice) in ADVICE.into_iter().filter(|(option, _)| job.backend.has(option.name)) {
            map.advise(advice).map_err(BackendError::Map)?;
        }
        // SAFETY: the range is this mapping, which is dropped after the guard.
        let guard = unsafe { Guard::new(map.as_ptr(), len, write) }.map_err(BackendError::Map)?;
        let advice = if write { Advice::PopulateWrite } else { Advice::PopulateRead };
        Ok(Mapping {
            guard,
            map,
            kept: Vec::new(),
            file,
            committer: Committer::for_job(job),
            populate: job.backend.has(POPULATE.name).then_some(advice),
            will_need: job.backend.has(catalog::WILL_NEED.name),
        })
    }

    /// Maps another file of a list; returns the number of system calls.
    pub fn turn_to(&mut self, file: Rc<File>, job: &Job) -> Result<u32, BackendError> {
        let advised = ADVICE.iter().filter(|(option, _)| job.backend.has(option.name)).count();
        let mut calls = 1 + advised;
        let mut kept = std::mem::take(&mut self.kept);
        if kept.len() >= MAX_KEPT / job.threads.max(1) as usize {
            calls += kept.len();
            kept.clear();
        }
        let before = std::mem::replace(self, Mapping::new(file, job)?);
        kept.push(before.map);
        self.kept = kept;
        Ok(calls as u32)
    }

    /// Gives the `+willneed` and `+populate` advice; timed, as it is the reading. Covers the first
    /// to the last byte that the lane will visit, which is more than it visits where a count limits
    /// an order that jumps (warning `populated-more`).
    pub fn prepare(&self, work: &mut Work) {
        if self.will_need {
            self.advise(Advice::WillNeed, work);
        }
        if let Some(advice) = self.populate {
            self.advise(advice, work);
        }
    }

    fn advise(&self, advice: Advice, work: &mut Work) {
        let range = work.reach();
        if range.is_empty() {
            return;
        }
        let start = range.start / page_size() * page_size();
        let done = self.map.advise_range(advice, start as usize, (range.end - start) as usize);
        work.add_syscalls(1);
        if let Err(error) = done {
            let offset = self.find_refused(advice, start..range.end).max(range.start);
            work.abort(match error.raw_os_error() {
                // A touch would have raised SIGBUS.
                Some(libc::EFAULT | libc::EHWPOISON) => BackendError::Mapped { offset, size: None },
                _ => BackendError::Advise { offset, error },
            });
        }
    }

    /// Returns the offset of the first page for which the advice is refused; the kernel reports
    /// only that there is one. Bisects the range, which is fast: earlier pages are populated
    /// already.
    fn find_refused(&self, advice: Advice, range: Range<u64>) -> u64 {
        let page = page_size();
        let (mut from, mut pages) = (range.start, (range.end - range.start).div_ceil(page));
        while pages > 1 {
            let half = pages / 2;
            if self.map.advise_range(advice, from as usize, (half * page) as usize).is_ok() {
                (from, pages) = (from + half * page, pages - half);
            } else {
                pages = half;
            }
        }
        from
    }

    pub fn fault_error(&self, at: u64) -> BackendError {
        BackendError::Mapped { offset: self.guard.first_fault().unwrap_or(at), size: None }
    }
}

struct MmapLane {
    map: Mapping,
    form: FoldFn,
}

impl Lane for MmapLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        self.map.prepare(work);
        let base = self.map.map.as_ptr();
        while let Some(request) = work.next(0) {
            work.fold(0, base.wrapping_add(request.offset as usize), self.form);
            if self.map.guard.hit() {
                work.abort(self.map.fault_error(request.offset));
                break;
            }
            work.done(0, request.len as isize, 0, std::ptr::null());
        }
        work.finish()
    }

    fn turn_to(&mut self, file: Rc<File>, job: &Job) -> Result<u32, BackendError> {
        self.map.turn_to(file, job)
    }
}

struct MmapCopyLane {
    map: Mapping,
    buffer: LaneBuffer,
    write: bool,
}

impl Lane for MmapCopyLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        // SAFETY: `copy_each` hands over two ranges of `len` bytes that do not overlap, one in the
        // mapping and one in the buffer.
        copy_each(&mut self.map, &self.buffer, self.write, work, |to, from, len| unsafe {
            std::ptr::copy_nonoverlapping(from, to, len)
        })
    }

    fn turn_to(&mut self, file: Rc<File>, job: &Job) -> Result<u32, BackendError> {
        self.map.turn_to(file, job)
    }
}

/// Copies each block between the mapping and the buffer by `copy(to, from, len)`, whose ranges are
/// valid and do not overlap.
#[inline(always)]
pub(super) fn copy_each(
    map: &mut Mapping,
    buffer: &LaneBuffer,
    write: bool,
    work: &mut Work,
    copy: impl Fn(*mut u8, *const u8, usize),
) -> Result<(), BackendError> {
    map.prepare(work);
    work.write_from(buffer);
    if let Some(mut committer) = map.committer.take() {
        let ended = store_each(map, buffer, work, &mut committer, copy);
        map.committer = Some(committer);
        return ended;
    }
    let (base, buffer, guard) = (map.map.as_mut_ptr(), buffer.ptr(), &map.guard);
    let result = run_each(work, buffer, 0, |request| {
        // The order stays inside the span, which is mapped; the buffer holds the largest block; no
        // reference into the mapping exists, and the guard replaces pages of a file that shrinks.
        let mapped = base.wrapping_add(request.offset as usize);
        let block = buffer.wrapping_add(request.at as usize);
        let (to, from) = if write { (mapped, block) } else { (block, mapped) };
        copy(to, from.cast_const(), request.len as usize);
        if guard.hit() { -(libc::EIO as isize) } else { request.len as isize }
    });
    if guard.hit() { Err(map.fault_error(0)) } else { result }
}

/// Stores each block from the buffer into the mapping, and makes what was stored durable.
#[inline(always)]
fn store_each(
    map: &Mapping,
    buffer: &LaneBuffer,
    work: &mut Work,
    committer: &mut Committer,
    copy: impl Fn(*mut u8, *const u8, usize),
) -> Result<(), BackendError> {
    let (base, guard, fd) = (map.map.as_mut_ptr(), &map.guard, map.file.as_raw_fd());
    let (method, page) = (committer.method(), page_size());
    // From the first to the last byte since the last sync.
    let stored = Cell::new((u64::MAX, 0));
    let write = |request: Request| {
        // As in `copy_each`.
        let (to, from) =
            (base.wrapping_add(request.offset as usize), buffer.address(request.at as usize));
        copy(to, from.cast_const(), request.len as usize);
        let (low, high) = stored.get();
        let end = request.offset + u64::from(request.len);
        stored.set((low.min(request.offset), high.max(end)));
        if guard.hit() { -(libc::EIO as isize) } else { request.len as isize }
    };
    let sync = || {
        let (low, high) = stored.replace((u64::MAX, 0));
        if method != Sync::Msync {
            return sync_file::<false>(method, fd);
        }
        let from = low / page * page;
        // SAFETY: the blocks lie inside the span, which is mapped.
        unsafe { raw::msync::<false>(base.wrapping_add(from as usize), (high - from) as usize) }
    };
    let result = committer.run(work, buffer.ptr(), 0, write, sync);
    if guard.hit() { Err(map.fault_error(0)) } else { result }
}
