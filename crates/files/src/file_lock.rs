//! The lock of a file that a process writes. The kernel drops it when the process ends.

use std::fs::File;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};

/// Takes the lock of a file that is being written, until every copy of the handle is closed;
/// `false` if another process has it.
///
/// On a file system without locks every file counts as free.
pub fn try_lock(file: &File) -> bool {
    !matches!(set_lock(file, libc::F_WRLCK), Err(Errno::EAGAIN | Errno::EACCES))
}

/// Returns whether another process, or another handle of this one, writes a file.
pub fn is_locked(file: &File) -> bool {
    let mut found = whole_file(libc::F_WRLCK);
    let asked = fcntl(file, FcntlArg::F_OFD_GETLK(&mut found));
    asked.is_ok() && i32::from(found.l_type) != libc::F_UNLCK
}

/// Releases the lock of a file that is complete. Closing is not enough: a child that was just
/// forked has a copy of the handle.
pub fn unlock(file: &File) {
    let _ = set_lock(file, libc::F_UNLCK);
}

fn set_lock(file: &File, kind: libc::c_int) -> nix::Result<()> {
    fcntl(file, FcntlArg::F_OFD_SETLK(&whole_file(kind))).map(drop)
}

fn whole_file(kind: libc::c_int) -> libc::flock {
    libc::flock { l_type: kind as _, l_whence: libc::SEEK_SET as _, l_start: 0, l_len: 0, l_pid: 0 }
}
