//! `preadv2`: preadv2(2) and pwritev2(2), the calls that take a flag for each operation.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd;

use super::drive::{each, each_counted};
use super::one_block::OneBlock;
use super::target::ATIME;
use super::{Backend, BackendError, Lane, Target, Unsupported, Work, advice};
use crate::plan::{DataPath, Depth, Fio, FioEngine, FioOption, Info, Job, Op, Opt};
use crate::sys::calls::{self, RWF_DONTCACHE, RWF_NOWAIT};
use crate::sys::{fd, raw};
use crate::with_fill;

pub struct Preadv2;

const FIO_OPTIONS: &[FioOption] = &[
    FioOption::new("nowait", "nowait", "1"),
    FioOption::new("dontcache", "uncached", "1"),
    advice::FIO_SEQUENTIAL,
    advice::FIO_RANDOM,
];

/// In the words of fio.
const FIO: Fio = Fio::Engine(FioEngine::new("pvsync2", Some(1), FIO_OPTIONS));

impl Backend for Preadv2 {
    fn info(&self) -> &'static Info {
        &Info {
            id: "preadv2",
            title: "preadv2(2)",
            about: "copies a block at an offset into one buffer, with a flag for the operation",
            doc: "One preadv2 (or pwritev2) per block with one vector; without an option it is pread by another door. +nowait asks for what is cached \
                  only (RWF_NOWAIT); where that is not all, what is missing is read by a plain pread: both calls are counted, and the miss has \
                  begun to read ahead. A server does so to answer from memory at once and to hand the rest to a thread. +dontcache \
                  (RWF_DONTCACHE, Linux 6.14) drops each page again once it was copied, or written to the device: a scan or a backup that leaves \
                  the page cache to others. What was cached before stays.",
            data_path: DataPath::CopiedByCall,
            ops: &[Op::Read, Op::Write],
            depth: Depth::Synchronous,
            direct: true,
            cached: true,
            mixes: false,
            appends: true,
            options: &[
                Opt {
                    name: "nowait",
                    value: None,
                    about: "first only what is cached (RWF_NOWAIT), then a pread of what is missing",
                },
                Opt {
                    name: "dontcache",
                    value: None,
                    about: "leaves nothing behind in the page cache (RWF_DONTCACHE, Linux 6.14)",
                },
                ATIME,
                advice::SEQUENTIAL,
                advice::RANDOM,
                advice::WILL_NEED,
            ],
            fio: FIO,
            ..Info::COPIES_BY_CALL
        }
    }

    fn writes_by(&self) -> &'static str {
        "pwritev2(2)"
    }

    fn check(&self, target: &Target, job: &Job) -> Result<(), Unsupported> {
        target.check(job)?;
        let flags = flags(job);
        if flags != 0 && job.direct {
            return Err(Unsupported(
                "+nowait and +dontcache are about the page cache, which direct I/O passes by"
                    .into(),
            ));
        }
        if flags & RWF_NOWAIT != 0 && job.op != Op::Read {
            return Err(Unsupported(
                "+nowait is about reading: no write is answered by the cache".into(),
            ));
        }
        let names = [
            (RWF_NOWAIT, "RWF_NOWAIT (+nowait)"),
            (RWF_DONTCACHE, "RWF_DONTCACHE (+dontcache, Linux 6.14)"),
        ];
        for (flag, name) in names.into_iter().filter(|(flag, _)| flags & flag != 0) {
            probe(target, flag).map_err(|error| Unsupported(refusal(name, &error)))?;
        }
        Ok(())
    }

    fn open(&self, target: &Target, job: &Job, lane: u32) -> Result<Box<dyn Lane>, BackendError> {
        Ok(Box::new(Preadv2Lane { one: OneBlock::open(target, job, lane)?, flags: flags(job) }))
    }
}

fn flags(job: &Job) -> u32 {
    let of = |option, flag| if job.backend.has(option) { flag } else { 0 };
    of("nowait", RWF_NOWAIT) | of("dontcache", RWF_DONTCACHE)
}

/// Asks the kernel itself, at the end of the file, where there is nothing to read: file systems
/// differ.
fn probe(target: &Target, flag: u32) -> io::Result<()> {
    let file = target.look()?;
    let (mut byte, end) = (0u8, fd::size(&file)?);
    // SAFETY: one byte, which is ours.
    match unsafe { calls::preadv2::<false>(file.as_raw_fd(), &raw mut byte, 1, end, flag) } {
        errno @ ..0 if errno != -(libc::EAGAIN as isize) => {
            Err(io::Error::from_raw_os_error(-errno as i32))
        }
        _ => Ok(()),
    }
}

fn refusal(flag: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP) => {
            format!("{flag}: EOPNOTSUPP, not on this file system or not in this kernel")
        }
        Some(libc::ENOSYS) => "preadv2: ENOSYS, not in this kernel or filtered out".into(),
        _ => format!("{flag}: {error}"),
    }
}

struct Preadv2Lane {
    one: OneBlock,
    flags: u32,
}

impl Preadv2Lane {
    fn go<const FILL: bool>(&self, work: &mut Work) -> Result<(), BackendError> {
        let (fd, buffer, mask, flags) =
            (self.one.file.as_raw_fd(), &self.one.buffer, self.one.mask, self.flags);
        let round = |len: u32| (len as usize + mask) & !mask;
        let whole = |at: u32| buffer.at(at as usize);
        if self.one.write {
            // SAFETY: the buffer holds the largest block, rounded up.
            each(work, buffer.ptr(), 1, |r| unsafe {
                calls::pwritev2::<FILL>(fd, whole(r.at), r.len as usize, r.offset, flags)
            })
        } else if flags & RWF_NOWAIT == 0 {
            // SAFETY: the buffer holds the largest block, rounded up.
            each(work, buffer.ptr(), 1, |r| unsafe {
                calls::preadv2::<FILL>(fd, whole(r.at), round(r.len), r.offset, flags)
            })
        } else {
            let rest = flags & !RWF_NOWAIT;
            each_counted(work, buffer.ptr(), |r| {
                let (at, len) = (whole(r.at), round(r.len));
                // SAFETY: the buffer holds the largest block, rounded up.
                unsafe {
                    match calls::preadv2::<FILL>(fd, at, len, r.offset, flags) {
                        MISSING if rest == 0 => (raw::pread::<FILL>(fd, at, len, r.offset), 2),
                        MISSING => (calls::preadv2::<FILL>(fd, at, len, r.offset, rest), 2),
                        done => (done, 1),
                    }
                }
            })
        }
    }
}

/// Nothing of the block is cached.
const MISSING: isize = -(libc::EAGAIN as isize);

impl Lane for Preadv2Lane {
    fn run(&mut self, work: &mut Work) -> Result<(), BackendError> {
        self.one.begin(work);
        with_fill!(FILL => self.go::<FILL>(work))
    }
}

#[cfg(test)]
mod tests;
