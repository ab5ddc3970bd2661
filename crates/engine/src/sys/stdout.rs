//! stdout as a file: if it is closed or not open for writing, std discards the output and reports
//! success.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::fd;

/// Whether stdout was closed when the program started. Checked before `main`, because std then
/// opens /dev/null in its place.
static CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn check_stdout() {
    // SAFETY: F_GETFD takes no pointer, and fails with EBADF for a closed descriptor.
    CLOSED.store(unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } < 0, Relaxed);
}

// SAFETY: functions in this section are called once before `main`; this one makes a system call and
// stores a flag.
#[used]
#[unsafe(link_section = ".init_array")]
static CHECK_STDOUT: extern "C" fn() = check_stdout;

/// Opens stdout unbuffered; a write fails if it cannot be delivered.
///
/// # Errors
/// EBADF if it is closed or open for reading only.
pub fn open() -> io::Result<File> {
    if CLOSED.load(Relaxed) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    fd::writable_copy(libc::STDOUT_FILENO)
}
