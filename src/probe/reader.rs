//! A process that reads parts of one file when it is told to, and says how long each took.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::partner::{Place, Process};
use super::pipe::{all_read, all_written, interrupted};
use super::{ProbeError, Site};
use crate::sys::buffer::Aligned;
use crate::sys::clock::monotonic_nanos;
use crate::sys::threads::Affinity;

/// How often a wait looks whether the run is to end.
const TICK: Duration = Duration::from_millis(20);

/// The process; killed when dropped.
pub(super) struct Reader {
    channel: UnixStream,
    _process: Process,
}

/// What one part took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Part {
    pub nanos: u64,
    /// Bytes that came: fewer than asked at the end of the file.
    pub bytes: u64,
    /// Bytes that the kernel charged the process for as read from a device.
    pub device_bytes: u64,
}

/// Bytes of a part's words on the channel: three and an errno.
const WORDS: usize = 4;

impl Reader {
    /// Forks. It may run on all CPUs of this process, whatever its parent is pinned to. `group` is
    /// the list of processes of a control group that it joins first.
    pub fn fork(
        file: &File,
        block: usize,
        group: Option<RawFd>,
        site: &Site,
    ) -> Result<Reader, ProbeError> {
        let (channel, far) = UnixStream::pair().map_err(ProbeError::of("socketpair"))?;
        channel.set_read_timeout(Some(TICK)).map_err(ProbeError::of("setsockopt"))?;
        let everywhere = Affinity::of(&site.cpus);
        let mut buffer =
            Aligned::filled(block, 0).map_err(ProbeError::of("memory to read into"))?;
        let (file, words, not_mine) = (file.as_raw_fd(), far.as_raw_fd(), channel.as_raw_fd());
        let body = || {
            // A refusal leaves it where its parent is.
            let _ = everywhere.apply();
            // SAFETY: after the fork this is the process' own; without it, it sees the end when its
            // parent is gone.
            unsafe { libc::close(not_mine) };
            // "0" is the process that writes.
            if group.is_none_or(|group| all_written(group, b"0")) {
                serve(words, file, &mut buffer);
            }
        };
        // SAFETY: system calls only, into memory that is there already.
        let process = unsafe { Process::fork(Place::Same, site, body) }?;
        Ok(Reader { channel, _process: process })
    }

    /// Starts reading `[from, to)`.
    pub fn ask(&mut self, from: u64, to: u64) -> Result<(), ProbeError> {
        let mut ask = [0u8; 16];
        ask[..8].copy_from_slice(&from.to_ne_bytes());
        ask[8..].copy_from_slice(&to.to_ne_bytes());
        self.channel.write_all(&ask).map_err(|_| gone())
    }

    /// Waits for the end of what was asked.
    pub fn answer(&mut self, site: &Site) -> Result<Part, ProbeError> {
        let mut words = [0u8; 8 * WORDS];
        let mut done = 0;
        while done < words.len() {
            site.go_on()?;
            match self.channel.read(&mut words[done..]) {
                Ok(0) => return Err(gone()),
                Ok(got) => done += got,
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(_) => return Err(gone()),
            }
        }
        let mut word = words.as_chunks::<8>().0.iter().map(|bytes| u64::from_ne_bytes(*bytes));
        let mut next = || word.next().unwrap_or(0);
        let (part, error) = (Part { nanos: next(), bytes: next(), device_bytes: next() }, next());
        match i32::try_from(error).unwrap_or(libc::EIO) {
            0 => Ok(part),
            errno => {
                Err(ProbeError::of("reading the file")(std::io::Error::from_raw_os_error(errno)))
            }
        }
    }
}

fn gone() -> ProbeError {
    ProbeError::Missing(
        "the process that reads is gone: it was killed, or has no right to join its control group"
            .into(),
    )
}

/// The child, until its parent is gone. System calls only.
fn serve(channel: RawFd, file: RawFd, buffer: &mut [u8]) {
    let mut ask = [0u8; 16];
    while all_read(channel, &mut ask) {
        let &[from, to] = ask.as_chunks::<8>().0 else { return };
        let (from, to) = (u64::from_ne_bytes(from), u64::from_ne_bytes(to));
        let (before, begin) = (device_bytes(), monotonic_nanos());
        let (bytes, errno) = read_all(file, from, to, buffer);
        let nanos = monotonic_nanos().saturating_sub(begin);
        let mut answer = [0u8; 8 * WORDS];
        for (to, word) in answer.as_chunks_mut::<8>().0.iter_mut().zip([
            nanos,
            bytes,
            device_bytes().saturating_sub(before),
            errno,
        ]) {
            *to = word.to_ne_bytes();
        }
        if !all_written(channel, &answer) {
            return;
        }
    }
}

/// Bytes read, and the errno of what failed or 0.
fn read_all(file: RawFd, from: u64, to: u64, buffer: &mut [u8]) -> (u64, u64) {
    let mut at = from;
    while at < to {
        let want = (to - at).min(buffer.len() as u64) as usize;
        // SAFETY: the buffer is writable for that length.
        match unsafe { libc::pread(file, buffer.as_mut_ptr().cast(), want, at as libc::off_t) } {
            0 => break,
            -1 if interrupted() => {}
            -1 => {
                return (
                    at - from,
                    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) as u64,
                );
            }
            got => at += got as u64,
        }
    }
    (at - from, 0)
}

/// Of the calling process, from devices; the kernel counts in units of 512 bytes (getrusage(2)).
fn device_bytes() -> u64 {
    // SAFETY: a rusage holds integers only, for which zero is a value; the kernel writes one
    // rusage, into this one.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        u64::try_from(usage.ru_inblock).unwrap_or(0) * 512
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::testing::site;

    #[test]
    fn parts_are_read_by_another_process_and_a_dead_one_is_noticed() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(100_000).unwrap();
        let site = site();
        let mut reader = Reader::fork(&file, 4096, None, &site).unwrap();
        for (from, to, bytes) in
            [(0, 4096, 4096), (5, 70_000, 69_995), (90_000, 200_000, 10_000), (7, 7, 0)]
        {
            reader.ask(from, to).unwrap();
            assert_eq!(reader.answer(&site).unwrap().bytes, bytes);
        }
        // A list of processes that takes none.
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut refused = Reader::fork(&file, 4096, Some(full.as_raw_fd()), &site).unwrap();
        let told = refused.ask(0, 1).and_then(|()| refused.answer(&site));
        assert!(told.unwrap_err().to_string().contains("gone"));
        let unreadable = File::options().write(true).open("/dev/null").unwrap();
        let mut reader = Reader::fork(&unreadable, 4096, None, &site).unwrap();
        reader.ask(0, 1).unwrap();
        assert!(reader.answer(&site).unwrap_err().to_string().contains("Bad file descriptor"));
        // One that does not answer does not hold up a stop.
        site.end();
        assert!(matches!(reader.answer(&site), Err(ProbeError::Stopped)));
    }
}
