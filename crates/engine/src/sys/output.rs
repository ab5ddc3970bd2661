//! Where reports go: stdout as a file, because std discards the output and reports success if it is
//! closed or not open for writing; descriptors of this process, which a shell may share; and files.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use nix::fcntl::{FcntlArg, fcntl};

use super::{atomic_file, fd};

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
pub fn open_stdout() -> io::Result<File> {
    if CLOSED.load(Relaxed) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    writable_copy(libc::STDOUT_FILENO)
}

/// Writes the file at `path` as [`atomic_file::to_file`] does. A descriptor of this process, named
/// like `/dev/stdout` or `/proc/self/fd/3`, is written at its current position, so that a shell's
/// `>>` appends.
///
/// # Errors
/// System errors, which name the file.
pub fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let Some(mut file) = open_descriptor(path)? else { return atomic_file::to_file(path, write) };
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    file.write_all(&bytes).map_err(|error| atomic_file::with_path(path, error))
}

/// Checks whether [`to_file`] could write there. Called before a run; changes nothing.
///
/// # Errors
/// System errors, which name the file.
pub fn probe(path: &Path) -> io::Result<()> {
    if open_descriptor(path)?.is_some() { Ok(()) } else { atomic_file::probe(path) }
}

/// Returns a copy of the descriptor that a path names; `None` if it names a file.
fn open_descriptor(path: &Path) -> io::Result<Option<File>> {
    let Some(number) = fd::named_descriptor(path) else { return Ok(None) };
    let opened = writable_copy(number).and_then(|file| {
        atomic_file::check_kind(&file.metadata()?)?;
        Ok(Some(file))
    });
    opened.map_err(|error| atomic_file::with_path(path, error))
}

/// Duplicates descriptor `number`, which shares its position; it must be open for writing.
///
/// # Errors
/// EBADF if it is not.
fn writable_copy(number: RawFd) -> io::Result<File> {
    if number < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: only used for two calls of fcntl(2), which fail if the number is not open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    let mode = fcntl(borrowed, FcntlArg::F_GETFL)? & libc::O_ACCMODE;
    if mode == libc::O_RDONLY {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    Ok(borrowed.try_clone_to_owned()?.into())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_named_pipe_end_is_written() {
        let (reader, writer) = io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
        probe(Path::new(&path)).unwrap();
        to_file(Path::new(&path), |out| out.write_all(b"through")).unwrap();
        drop(writer);
        assert_eq!(io::read_to_string(reader).unwrap(), "through");
    }

    /// Like a shell's `>> log` with `-o /dev/stdout`: the file is neither replaced nor truncated.
    #[test]
    fn descriptors_are_written_at_their_position() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "old\n").unwrap();
        let open = OpenOptions::new().append(true).open(&path).unwrap();
        let named = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        symlink(&named, folder.path().join("link")).unwrap();
        for name in [named, folder.path().join("link")] {
            probe(&name).unwrap();
            to_file(&name, |out| out.write_all(b"new\n")).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "old\nnew\nnew\n");
        let read_only = File::open(&path).unwrap();
        let named = PathBuf::from(format!("/dev/fd/{}", read_only.as_raw_fd()));
        assert!(probe(&named).unwrap_err().to_string().contains("bad file descriptor"));
        assert!(
            probe(Path::new("/dev/fd/999999"))
                .unwrap_err()
                .to_string()
                .contains("bad file descriptor")
        );
    }
}
