//! Fills a file with data that is actually stored.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use memmap2::MmapMut;
use nix::errno::Errno;

use super::content::FileData;
use super::fd;

/// Size of a write: with 2 MiB and more the page cache uses its largest folios.
const PIECE: usize = 4 << 20;
/// Pieces are halved down to this size while writing one takes longer than [`SLOW_PIECE`].
const MIN_PIECE: usize = 64 << 10;
const SLOW_PIECE: Duration = Duration::from_millis(250);
/// Dirty data is limited to twice this, so that stopping and the final sync do not wait for
/// gigabytes.
pub const WINDOW: u64 = 64 << 20;

/// Receives the bytes written so far, and may end the filling after a multiple of [`WINDOW`].
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// The call that failed, and its offset.
#[derive(Debug, thiserror::Error)]
#[error("{call} at offset {offset}: {error}")]
pub struct FillError {
    call: &'static str,
    offset: u64,
    pub error: io::Error,
}

impl FillError {
    fn from_call(call: &'static str, offset: u64) -> impl Fn(io::Error) -> FillError {
        move |error| FillError { call, offset, error }
    }
}

impl From<FillError> for io::Error {
    fn from(failed: FillError) -> io::Error {
        io::Error::new(failed.error.kind(), failed)
    }
}

/// Writes `len` bytes of `data` from the start of `file`, then makes them durable.
///
/// Does not preallocate, because file systems would keep unwritten extents. `progress` receives the
/// bytes written so far after each piece, and may end the filling after a multiple of [`WINDOW`];
/// `stop` is called as often, and when a call is interrupted.
///
/// # Errors
/// `Interrupted` when stopped (what was written stays); ENOSPC, EDQUOT, EFBIG, EIO from the kernel.
pub fn fill_file(
    file: &File,
    len: u64,
    data: FileData,
    stop: &dyn Fn() -> bool,
    progress: Progress,
) -> Result<(), FillError> {
    fill_part(file, 0..len, data, stop, progress)
}

/// Fills a part of a file like [`fill_file`].
///
/// # Errors
/// As [`fill_file`].
pub fn fill_part(
    file: &File,
    part: Range<u64>,
    data: FileData,
    stop: &dyn Fn() -> bool,
    progress: Progress,
) -> Result<(), FillError> {
    let mut piece = MmapMut::map_anon(PIECE).map_err(FillError::from_call(
        "mmap(2) of a \
                                                                    buffer",
        0,
    ))?; // page-aligned
    let (mut at, mut most) = (part.start, PIECE);
    while at < part.end {
        if stop() {
            return Err(FillError::from_call("pwrite(2)", at)(fd::stop_error()));
        }
        let bytes = &mut piece[..usize::try_from(part.end - at).unwrap_or(most).min(most)];
        data.fill(at, bytes);
        let begin = Instant::now();
        write_all_at(file, bytes, at, stop)?;
        at += bytes.len() as u64;
        // Checks `stop` more often on a slow disk.
        if begin.elapsed() > SLOW_PIECE {
            most = (most / 2).max(MIN_PIECE);
        }
        if at.is_multiple_of(WINDOW) {
            write_back_window(file, at)
                .map_err(FillError::from_call("sync_file_range(2)", at - WINDOW))?;
        }
        if progress(at).is_break() && at.is_multiple_of(WINDOW) {
            break;
        }
    }
    sync_data(file, stop).map_err(FillError::from_call("fdatasync(2)", 0))
}

/// Writes like std's `write_all_at`, which would retry forever if a file system always returned
/// EINTR.
fn write_all_at(
    file: &File,
    mut bytes: &[u8],
    mut at: u64,
    stop: &dyn Fn() -> bool,
) -> Result<(), FillError> {
    let failed = |at, error| Err(FillError::from_call("pwrite(2)", at)(error));
    while !bytes.is_empty() {
        match file.write_at(bytes, at) {
            Ok(0) => return failed(at, io::ErrorKind::WriteZero.into()),
            Ok(written) => (bytes, at) = (&bytes[written..], at + written as u64),
            Err(error) if error.kind() == io::ErrorKind::Interrupted && !stop() => {}
            Err(error) => return failed(at, error),
        }
    }
    Ok(())
}

fn sync_data(file: &File, stop: &dyn Fn() -> bool) -> io::Result<()> {
    loop {
        match nix::unistd::fdatasync(file) {
            Err(Errno::EINTR) if !stop() => {}
            synced => return Ok(synced?),
        }
    }
}

/// Starts writing back the last window, and waits for the one before it.
fn write_back_window(file: &File, at: u64) -> io::Result<()> {
    sync_range(file, at - WINDOW, libc::SYNC_FILE_RANGE_WRITE)?;
    match at.checked_sub(2 * WINDOW) {
        Some(before) => sync_range(file, before, libc::SYNC_FILE_RANGE_WAIT_BEFORE),
        None => Ok(()),
    }
}

/// Calls sync_file_range(2). A device error is reported only once, so it must not be lost; missing
/// support is not an error.
fn sync_range(file: &File, offset: u64, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: sync_file_range(2) takes no pointers; the descriptor is open while `file` is
    // borrowed.
    let done =
        unsafe { libc::sync_file_range(file.as_raw_fd(), offset as i64, WINDOW as i64, flags) };
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        _ if done == 0 => Ok(()),
        Some(libc::EINVAL | libc::ENOSYS | libc::ESPIPE | libc::EOPNOTSUPP | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random;
    use crate::sys::{extents, testing};

    const GO: &dyn Fn() -> bool = &|| false;

    fn go_on(_: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn every_byte_is_stored() {
        let Some(file) = testing::file_on_disk(0) else {
            return;
        };
        let len = PIECE as u64 * 2 + 4099;
        let mut seen = Vec::new();
        fill_file(&file, len, FileData::random(42), GO, &mut |n| {
            seen.push(n);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(seen, [PIECE as u64, 2 * PIECE as u64, len]);
        assert_eq!(file.metadata().unwrap().len(), len);
        assert_eq!(extents::extents(&file, len).unwrap().hole_bytes(), 0);
        let (mut got, mut want) = (vec![0; 5000], vec![0; 5000]);
        let at = 2 * PIECE as u64 - 904;
        file.read_exact_at(&mut got, at).unwrap();
        random::fill(42, at, &mut want);
        assert_eq!(got, want);
    }

    #[test]
    fn ends_early_only_after_a_window() {
        let Some(file) = testing::file_on_disk(0) else {
            return;
        };
        let mut written = 0;
        fill_file(&file, 2 * WINDOW, FileData::random(42), GO, &mut |n| {
            written = n;
            ControlFlow::Break(())
        })
        .unwrap();
        assert_eq!((written, file.metadata().unwrap().len()), (WINDOW, WINDOW));
    }

    #[test]
    fn the_window_moves_on() {
        let Some(file) = testing::file_in_memory().or_else(|| testing::file_on_disk(0)) else {
            return;
        };
        file.set_len(3 * WINDOW).unwrap();
        (1..=3).for_each(|n| write_back_window(&file, n * WINDOW).unwrap());
    }

    #[test]
    fn stopping_and_failing() {
        let file = tempfile::tempfile().unwrap();
        let stopped =
            fill_file(&file, 1, FileData::random(0), &|| true, &mut go_on).unwrap_err().error;
        assert_eq!(stopped.kind(), io::ErrorKind::Interrupted);
        let stop = std::cell::Cell::new(false);
        let midway =
            fill_file(&file, 3 * PIECE as u64, FileData::random(0), &|| stop.get(), &mut |_| {
                stop.set(true);
                ControlFlow::Continue(())
            })
            .unwrap_err()
            .error;
        assert_eq!(
            (midway.kind(), file.metadata().unwrap().len()),
            (io::ErrorKind::Interrupted, PIECE as u64)
        );
        let full = File::options().write(true).open("/dev/full").unwrap();
        let failed = fill_file(&full, 10, FileData::random(0), GO, &mut go_on).unwrap_err();
        assert_eq!(
            failed.to_string(),
            "pwrite(2) at offset 0: No space left on device (os error 28)"
        );
        assert_eq!(failed.error.raw_os_error(), Some(libc::ENOSPC));
        fill_file(&file, 0, FileData::random(0), GO, &mut go_on).unwrap();
    }
}
