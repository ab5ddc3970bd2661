//! stdout as a file: std writes into the void where it is closed or not open for writing, and says
//! that it went well.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::fd;

/// It was closed when the program started. Found out before `main`, for std then opens /dev/null in
/// its place.
static CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn look() {
    // SAFETY: F_GETFD takes no pointer, and a descriptor that is closed is answered by EBADF.
    CLOSED.store(unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } < 0, Relaxed);
}

// SAFETY: functions of this list are called once before `main`; this one makes a system call and
// stores a flag.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// What is written to it goes there at once, and fails where it cannot.
///
/// # Errors
/// EBADF where it is closed or open for reading only.
pub fn open() -> io::Result<File> {
    if CLOSED.load(Relaxed) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    fd::writable_copy(libc::STDOUT_FILENO)
}
