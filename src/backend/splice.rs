//! `splice`: splice(2) from the file into a pipe, and out of the pipe to /dev/null.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use super::drive::each_counted;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work, advice};
use crate::plan::{DataPath, Depth, Fio, FioEngine, Info, Job, Op};
use crate::sys::calls;
use crate::sys::fd::page_size;
use crate::with_fill;

pub struct Splice;

/// In the words of fio.
const FIO: Fio = Fio::Engine(
    FioEngine::new("splice", None, advice::FIO_OPTIONS)
        .with_note("fio maps the pages of the pipe and looks at them, iotui drops them"),
);

impl Backend for Splice {
    fn info(&self) -> &'static Info {
        &Info {
            id: "splice",
            title: "splice(2)",
            about: "moves pages of the page cache into a pipe and on to /dev/null: no byte is copied",
            doc: "For each block a splice from the file into a pipe and one from the pipe to /dev/null, as often as the pipe is full (it is made as \
                  large as a block where the system allows, else 64 KiB). Only references to cached pages move: what is not cached is read \
                  from the device first, but no byte is ever copied and nothing reaches the program, so there is no XOR. Its rate is what \
                  reading could be without the copy: the price of finding pages and passing them on.",
            data_path: DataPath::InKernel,
            ops: &[Op::Read],
            depth: Depth::Synchronous,
            direct: false,
            cached: true,
            mixes: false,
            appends: false,
            options: &[advice::SEQUENTIAL, advice::RANDOM, advice::WILL_NEED],
            fio: FIO,
            ..Info::COPIES_BY_CALL
        }
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)
    }

    fn open(&self, target: &Target, job: &Job, _: u32) -> Result<Box<dyn Lane>, BackendError> {
        let (from, to) = nix::unistd::pipe2(OFlag::O_CLOEXEC)
            .map_err(|error| BackendError::Open(error.into()))?;
        enlarge(&to, job.block);
        Ok(Box::new(SpliceLane {
            file: target.open_advised(job)?,
            pipe: (from, to),
            sink: sink()?,
            will_need: job.backend.has(advice::WILL_NEED.name),
        }))
    }
}

/// What swallows everything that is sent to it.
pub(super) fn sink() -> Result<File, BackendError> {
    OpenOptions::new().write(true).open("/dev/null").map_err(BackendError::Open)
}

/// Room for a block and the page that it may begin in the middle of; less where the system sets a
/// limit.
fn enlarge(pipe: &OwnedFd, block: u64) {
    let wanted = block.saturating_add(page_size()).min(1 << 30);
    let most = std::fs::read_to_string("/proc/sys/fs/pipe-max-size")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    for size in [wanted, wanted.min(most.unwrap_or(1 << 20))] {
        // Smaller than it is would be slower for nothing; a refusal leaves it as it is.
        let now = fcntl(pipe, FcntlArg::F_GETPIPE_SZ).map_or(0, |size| size as u64);
        if size <= now || fcntl(pipe, FcntlArg::F_SETPIPE_SZ(size as i32)).is_ok() {
            return;
        }
    }
}

struct SpliceLane {
    file: File,
    /// Its end to read from and its end to write to; empty between operations.
    pipe: (OwnedFd, OwnedFd),
    sink: File,
    will_need: bool,
}

impl SpliceLane {
    fn go<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let (file, sink) = (self.file.as_raw_fd(), self.sink.as_raw_fd());
        let (from, to) = (self.pipe.0.as_raw_fd(), self.pipe.1.as_raw_fd());
        each_counted(work, std::ptr::null(), |request| {
            let (len, mut done, mut calls) = (request.len as usize, 0, 0);
            while done < len {
                let moved =
                    calls::splice_in::<FILL>(file, request.offset + done as u64, to, len - done);
                calls += 1;
                if moved <= 0 {
                    // What came before it counts; the rest is asked for again.
                    return (if done > 0 { done as isize } else { moved }, calls);
                }
                let (out, more) = drain::<FILL>(from, sink, moved as usize);
                calls += more;
                if out < 0 {
                    return (out, calls);
                }
                done += moved as usize;
            }
            (done as isize, calls)
        })
    }
}

/// Empties the pipe: 0 or -errno, and the calls it took.
#[inline(always)]
fn drain<const FILL: bool>(pipe: i32, sink: i32, mut left: usize) -> (isize, u32) {
    let mut calls = 0;
    while left > 0 {
        let out = calls::splice_out::<FILL>(pipe, sink, left);
        calls += 1;
        match out {
            1.. => left -= out as usize,
            // A pipe that is not empty has no end.
            0 => return (-(libc::EIO as isize), calls),
            _ if out == -(libc::EINTR as isize) => {}
            _ => return (out, calls),
        }
    }
    (0, calls)
}

impl Lane for SpliceLane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        advice::will_need(&self.file, self.will_need, work);
        with_fill!(FILL => self.go::<FILL>(work))
    }
}
