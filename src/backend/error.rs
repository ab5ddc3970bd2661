//! What can go wrong in a backend, in words that say what to do next.

use std::io;
use std::ops::Range;

use super::Target;

/// Why a backend cannot do a job here; nothing failed yet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Where a library makes the calls, only the kernel can count them.
pub(super) fn uncounted(error: io::Error) -> Unsupported {
    Unsupported(format!("system calls cannot be counted: /proc/thread-self/io: {error}"))
}

/// A cell's failure.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    #[error("cannot open the target: {0}")]
    Open(io::Error),
    #[error("{call} of {len} bytes at offset {offset}: {fault}")]
    Io { call: &'static str, offset: u64, len: u32, fault: IoFault },
    #[error("mmap(2): {}", lost(*.offset, *.size))]
    Mapped { offset: u64, size: Option<u64> },
    #[error("cannot map the file: {0}")]
    Map(io::Error),
    #[error("madvise(2) from offset {offset}: {}", with_hint(.error))]
    Advise { offset: u64, error: io::Error },
    #[error(
        "no memory for a buffer of {len} bytes: {error}; use fewer threads, less depth or smaller blocks"
    )]
    Memory { len: u64, error: io::Error },
    #[error("io_uring: {step}: {error}")]
    Ring { step: &'static str, error: io::Error },
    #[error("io_getevents: {0}")]
    Aio(io::Error),
    #[error("tokio's runtime: {0}")]
    Runtime(io::Error),
    #[error("fflush(3) of what was written before offset {offset}: {}", with_hint(.error))]
    Flush { offset: u64, error: io::Error },
    #[error("fdatasync(2) of what was written from offset {} to {}: {}", .written.start, .written.end, with_hint(.error))]
    Sync { written: Range<u64>, error: io::Error },
    #[error("the worker panicked: this is a bug in iotui, please report it")]
    Panicked,
    #[error("not started: another lane failed to open")]
    NotStarted,
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
}

impl BackendError {
    /// With the size that the file has now: it tells a short read, or a failed device, from a file
    /// that shrank.
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

/// What came back instead of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoFault {
    /// So many bytes and then none, and whether the file has become smaller than the end of the
    /// block: `None` = not known.
    Short {
        came: u64,
        ends_here: Option<bool>,
    },
    /// A write of 0 bytes.
    Unwritten,
    Errno(i32),
    TooMuch(u64),
}

impl std::fmt::Display for IoFault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match *self {
            IoFault::Short { ends_here: Some(true), .. } => {
                write!(f, "the file ends here: it shrank while it was measured")
            }
            IoFault::Short { came, ends_here } => {
                let why = if ends_here.is_none() {
                    "; the file may have shrunk"
                } else {
                    ", though the file is as large as before"
                };
                write!(f, "short read: {came} bytes came{why}")
            }
            IoFault::Unwritten => write!(f, "no byte was written"),
            IoFault::TooMuch(bytes) => {
                write!(f, "the kernel returned {bytes} bytes, more than asked")
            }
            IoFault::Errno(errno) => {
                let more = if errno == libc::EINVAL {
                    "; with --direct the block size must be a multiple of the device's sector"
                } else {
                    ""
                };
                write!(f, "{}{more}", with_hint(&io::Error::from_raw_os_error(errno)))
            }
        }
    }
}

/// Why a mapping has nothing at this offset, by the size that the file has now.
fn lost(offset: u64, size: Option<u64>) -> String {
    match size {
        Some(size) if size <= offset => {
            format!("the file ends before offset {offset}: it shrank while it was measured")
        }
        Some(_) => format!("the page at offset {offset} cannot be had (SIGBUS){FAILED}"),
        None => format!("the file was truncated, or the device failed, at offset {offset}"),
    }
}

const FAILED: &str = "; the device failed: see the kernel log (dmesg)";

/// The error and what to do about it.
fn with_hint(error: &io::Error) -> String {
    let hint = match error.raw_os_error() {
        Some(libc::EIO) => FAILED,
        Some(libc::ENOSPC | libc::EDQUOT) => {
            "; the disk is full: use a smaller --size or another --dir"
        }
        _ => "",
    };
    format!("{error}{hint}")
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::backend::order::Share;
    use crate::backend::work::{Assignment, Published, Work};
    use crate::backend::{BACKENDS, backend, drive, testing};
    use crate::plan::{Choice, Job, Op};
    use crate::sys::held::Held;

    fn short(offset: u64, came: u64) -> BackendError {
        BackendError::Io {
            call: "pread(2)",
            offset,
            len: 4096,
            fault: IoFault::Short { came, ends_here: None },
        }
    }

    #[test]
    fn only_a_file_that_is_smaller_now_shrank() {
        let (file, _, target) = testing::file(65536, 1);
        let told = |error: BackendError| error.with_current_size(&target).to_string();
        let mapped = |offset| BackendError::Mapped { offset, size: None };
        let begins = "pread(2) of 4096 bytes at offset 8192: ";
        assert_eq!(
            told(short(8192, 100)),
            format!("{begins}short read: 100 bytes came, though the file is as large as before")
        );
        assert_eq!(
            told(mapped(8192)),
            "mmap(2): the page at offset 8192 cannot be had (SIGBUS); the device failed: see the kernel log (dmesg)"
        );
        file.as_file().set_len(8200).unwrap();
        assert_eq!(
            told(short(8192, 8)),
            format!("{begins}the file ends here: it shrank while it was measured")
        );
        assert_eq!(
            told(mapped(12288)),
            "mmap(2): the file ends before offset 12288: it shrank while it was measured"
        );
        let unknown = Target { held: None, ..target.clone() };
        assert_eq!(
            short(8192, 0).with_current_size(&unknown).to_string(),
            format!("{begins}short read: 0 bytes came; the file may have shrunk")
        );
    }

    #[test]
    fn what_populate_is_refused_has_its_offset() {
        let (file, _, target) = testing::file(64 * 65536, 1);
        let job = Job {
            backend: Choice::parse("mmap+populate").unwrap(),
            span: 64 * 65536,
            ..testing::job()
        };
        let mmap = backend("mmap").unwrap();
        if let Err(why) = mmap.check(&target, &job) {
            return crate::sys::testing::skip(&why.0);
        }
        let mut lane = mmap.open(&target, &job, 0).unwrap();
        file.as_file().set_len(37 * 65536).unwrap();
        let (stop, published) = (AtomicBool::new(false), Published::default());
        let mut work = Work::new(Assignment::of(
            mmap,
            &job,
            Share::of(&job, 0, u64::MAX, 7),
            &stop,
            &published,
        ));
        let error = drive::run(lane.as_mut(), &mut work).expect_err("it was cut").with_current_size(&target);
        assert_eq!(
            error.to_string(),
            "mmap(2): the file ends before offset 2424832: it shrank while it was measured"
        );
    }

    /// What a lane of that backend says when it writes to a full disk.
    fn write_to_full(id: &str) -> String {
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let held = Some(Held::new(full, None).unwrap());
        let target = Target {
            path: "/dev/full".into(),
            held,
            size: 65536,
            writable: true,
            direct_align: None,
            direct_refused: None,
        };
        let job = Job {
            backend: Choice::parse(id).unwrap(),
            op: Op::Write,
            xor: false,
            ..testing::job()
        };
        let backend = backend(&job.backend.id).unwrap();
        if let Err(why) = backend.check(&target, &job) {
            return why.to_string();
        }
        let (stop, published) = (AtomicBool::new(false), Published::default());
        let mut work = Work::new(Assignment::of(
            backend,
            &job,
            Share::of(&job, 0, u64::MAX, 7),
            &stop,
            &published,
        ));
        match backend.open(&target, &job, 0) {
            Ok(mut lane) => {
                drive::run(lane.as_mut(), &mut work).expect_err("it is full").to_string()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_write_that_fails_is_called_a_write_and_has_its_offset() {
        let why = "No space left on device (os error 28); the disk is full: use a smaller --size or another --dir";
        for (backend, call) in [
            ("read", "write(2)"),
            ("pread", "pwrite(2)"),
            ("pread+libc", "pwrite(2)"),
            ("readv", "pwritev(2)"),
            ("preadv2", "pwritev2(2)"),
            ("uring", "io_uring(7) write"),
            ("aio", "io_submit(2) write"),
            ("tokio", "tokio::fs write"),
        ] {
            let told = write_to_full(backend);
            // Where io_uring or another is forbidden here, it says so itself.
            assert!(
                told == format!("{call} of 4096 bytes at offset 0: {why}")
                    || told.starts_with("io_"),
                "{backend}: {told}"
            );
        }
        let told = write_to_full("stdio");
        assert!(
            told.starts_with("fwrite(3) of 4096 bytes at offset ") && told.ends_with(why),
            "{told}"
        );
        let told = write_to_full("stdio+buf=1m");
        assert_eq!(told, format!("fflush(3) of what was written before offset 65536: {why}"));
        let writes = BACKENDS
            .iter()
            .filter(|b| b.info().ops.contains(&Op::Write) && b.writes_by() == b.info().title);
        let unnamed: Vec<_> = writes.map(|b| b.info().id).collect();
        // Neither makes a call that writes: they store.
        assert_eq!(unnamed, ["null", "mmap-copy", "simd-copy"]);
    }
}
