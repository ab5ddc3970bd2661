//! The errors of backends, in texts that name the remedy.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// Why a backend cannot do a job here; nothing has failed yet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

/// Returns the error for system calls that cannot be counted: only the kernel can count the calls
/// of a library.
pub(super) fn uncounted(error: io::Error) -> Unsupported {
    Unsupported(format!("system calls cannot be counted: /proc/thread-self/io: {error}"))
}

/// Why a cell failed.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    #[error("cannot open the target: {0}")]
    Open(io::Error),
    #[error("cannot run on CPU {cpu}: {error}; leave it out of --cpus")]
    Pin { cpu: u32, error: io::Error },
    #[error("{call} of {len} bytes at offset {offset}: {fault}")]
    Io { call: &'static str, offset: u64, len: u32, fault: IoFault },
    #[error("mmap(2): {}", describe_fault(*.offset, *.size))]
    Mapped { offset: u64, size: Option<u64> },
    #[error("cannot map the file: {0}")]
    Map(io::Error),
    #[error("madvise(2) from offset {offset}: {}", with_hint(.error))]
    Advise { offset: u64, error: io::Error },
    #[error(
        "cannot allocate a buffer of {len} bytes: {error}; use fewer threads, a lower depth or \
         smaller blocks"
    )]
    Memory { len: u64, error: io::Error },
    #[error("io_uring: {step}: {error}")]
    Ring { step: &'static str, error: io::Error },
    #[error("io_getevents: {0}")]
    Aio(io::Error),
    #[error("tokio runtime: {0}")]
    Runtime(io::Error),
    #[error("fflush(3) of the data before offset {offset}: {}", with_hint(.error))]
    Flush { offset: u64, error: io::Error },
    #[error(
        "{call} of the data from offset {} to {}: {}",
        .written.start,
        .written.end,
        with_hint(.error)
    )]
    Sync { call: &'static str, written: Range<u64>, error: io::Error },
    #[error("{}: {error}", .path.display())]
    InFile { path: PathBuf, error: Box<BackendError> },
    #[error("the worker panicked: this is a bug in iotui, please report it")]
    Panicked,
    #[error("not started: another lane failed to open")]
    NotStarted,
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
}

/// The result of an operation that did not move the whole block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoFault {
    /// Only `came` bytes, and whether the file now ends before the end of the block; `None` =
    /// unknown.
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
                write!(f, "the file ends here: it shrank during the measurement")
            }
            IoFault::Short { came, ends_here } => {
                let why = if ends_here.is_none() {
                    "; the file may have shrunk"
                } else {
                    ", although the file has not shrunk"
                };
                write!(f, "short read of {came} bytes{why}")
            }
            IoFault::Unwritten => write!(f, "no bytes were written"),
            IoFault::TooMuch(bytes) => {
                write!(f, "the kernel returned {bytes} bytes, more than requested")
            }
            IoFault::Errno(errno) => {
                let more = if errno == libc::EINVAL {
                    "; with --direct the block size must be a multiple of the sector size"
                } else {
                    ""
                };
                write!(f, "{}{more}", with_hint(&io::Error::from_raw_os_error(errno)))
            }
        }
    }
}

/// Describes a fault in a mapping at this offset, given the present size of the file.
fn describe_fault(offset: u64, size: Option<u64>) -> String {
    match size {
        Some(size) if size <= offset => {
            format!("the file ends before offset {offset}: it shrank during the measurement")
        }
        Some(_) => format!("the page at offset {offset} cannot be read (SIGBUS){DEVICE_FAILED}"),
        None => format!("the file was truncated or the device failed at offset {offset}"),
    }
}

const DEVICE_FAILED: &str = "; the device failed: see the kernel log (dmesg)";

/// Appends the remedy to an error, where there is one.
fn with_hint(error: &io::Error) -> String {
    let hint = match error.raw_os_error() {
        Some(libc::EIO) => DEVICE_FAILED,
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
    use crate::backend::access_pattern::Share;
    use crate::backend::target::Target;
    use crate::backend::work::{Published, Work};
    use crate::backend::{BACKENDS, backend, drive, testing};
    use crate::plan::{Choice, Job, Op};
    use crate::sys::fd::HeldFile;

    fn short(offset: u64, came: u64) -> BackendError {
        BackendError::Io {
            call: "pread(2)",
            offset,
            len: 4096,
            fault: IoFault::Short { came, ends_here: None },
        }
    }

    #[test]
    fn only_a_smaller_file_has_shrunk() {
        let (file, _, target) = testing::file(65536, 1);
        let text = |error: BackendError| error.with_current_size(&target).to_string();
        let mapped = |offset| BackendError::Mapped { offset, size: None };
        let begins = "pread(2) of 4096 bytes at offset 8192: ";
        assert_eq!(
            text(short(8192, 100)),
            format!("{begins}short read of 100 bytes, although the file has not shrunk")
        );
        assert_eq!(
            text(mapped(8192)),
            "mmap(2): the page at offset 8192 cannot be read (SIGBUS); the device failed: see the \
             kernel log (dmesg)"
        );
        file.as_file().set_len(8200).unwrap();
        assert_eq!(
            text(short(8192, 8)),
            format!("{begins}the file ends here: it shrank during the measurement")
        );
        assert_eq!(
            text(mapped(12288)),
            "mmap(2): the file ends before offset 12288: it shrank during the measurement"
        );
        let unknown = Target { held: None, ..target.clone() };
        assert_eq!(
            short(8192, 0).with_current_size(&unknown).to_string(),
            format!("{begins}short read of 0 bytes; the file may have shrunk")
        );
    }

    #[test]
    fn a_failed_populate_reports_its_offset() {
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
        let mut work = Work::new(mmap.assignment(
            &job,
            Share::for_lane(&job, 0, u64::MAX, 7),
            &stop,
            &published,
        ));
        let error = drive::run(lane.as_mut(), &mut work)
            .expect_err("it was cut")
            .with_current_size(&target);
        assert_eq!(
            error.to_string(),
            "mmap(2): the file ends before offset 2424832: it shrank during the measurement"
        );
    }

    /// Returns the error of a lane of that backend that writes to a full disk.
    fn write_to_full(id: &str) -> String {
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let held = Some(HeldFile::new(full, None).unwrap());
        let target = Target { held, writable: true, ..Target::plain("/dev/full".into(), 65536) };
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
        let mut work = Work::new(backend.assignment(
            &job,
            Share::for_lane(&job, 0, u64::MAX, 7),
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
    fn a_failed_write_has_its_offset() {
        let why = "No space left on device (os error 28); the disk is full: use a smaller --size \
                   or another --dir";
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
            let text = write_to_full(backend);
            // Where io_uring or aio is forbidden, that is the error.
            assert!(
                text == format!("{call} of 4096 bytes at offset 0: {why}")
                    || text.starts_with("io_"),
                "{backend}: {text}"
            );
        }
        let text = write_to_full("stdio");
        assert!(
            text.starts_with("fwrite(3) of 4096 bytes at offset ") && text.ends_with(why),
            "{text}"
        );
        let text = write_to_full("stdio+buf=1m");
        assert_eq!(text, format!("fflush(3) of the data before offset 65536: {why}"));
        let writes = BACKENDS
            .iter()
            .filter(|b| b.info().ops.contains(&Op::Write) && b.info().write_call.is_none());
        let unnamed: Vec<_> = writes.map(|b| b.info().id).collect();
        // These make no call that writes: they store, or do nothing.
        assert_eq!(unnamed, ["null", "mmap", "mmap-copy", "simd-copy"]);
    }
}
