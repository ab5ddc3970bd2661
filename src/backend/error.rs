//! What can go wrong in a backend, in words that say what to do next.

use std::io;

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
    Open(#[source] io::Error),
    #[error("{call} of {len} bytes at offset {offset}: {fault}")]
    Io { call: &'static str, offset: u64, len: u32, fault: IoFault },
    #[error("the file was truncated, or the device failed, at offset {offset} while it was mapped")]
    Mapped { offset: u64 },
    #[error("cannot map the file: {0}")]
    Map(#[source] io::Error),
    #[error("no memory for a buffer of {len} bytes: {error}; use fewer threads, less depth or smaller blocks")]
    Memory { len: u64, error: io::Error },
    #[error("io_uring: {step}: {error}")]
    Ring { step: &'static str, error: io::Error },
    #[error("io_getevents: {0}")]
    Aio(#[source] io::Error),
    #[error("tokio's runtime: {0}")]
    Runtime(#[source] io::Error),
    #[error("fflush: {0}")]
    Flush(#[source] io::Error),
    #[error("fdatasync: {0}")]
    Sync(#[source] io::Error),
    #[error("the worker panicked: this is a bug in iotui, please report it")]
    Panicked,
    #[error("not started: another lane failed to open")]
    NotStarted,
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
}

/// What came back instead of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoFault {
    /// 0 bytes where the file should go on.
    End,
    Errno(i32),
    TooMuch(u64),
}

impl std::fmt::Display for IoFault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match *self {
            IoFault::End => write!(f, "the file ends here: it shrank while it was measured"),
            IoFault::TooMuch(bytes) => write!(f, "the kernel returned {bytes} bytes, more than asked"),
            IoFault::Errno(errno) => {
                write!(f, "{}", io::Error::from_raw_os_error(errno))?;
                match errno {
                    libc::EIO => write!(f, "; the device failed: see the kernel log (dmesg)"),
                    libc::ENOSPC | libc::EDQUOT => write!(f, "; the disk is full: use a smaller --size or another --dir"),
                    libc::EINVAL => write!(f, "; with --direct the block size must be a multiple of the device's sector"),
                    _ => Ok(()),
                }
            }
        }
    }
}
