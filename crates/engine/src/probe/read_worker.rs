//! A child process that reads parts of a file on request and reports how long each took.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::helper::{HelperProcess, Placement};
use super::pipe::{read_exact, was_interrupted, write_all};
use super::{ProbeContext, ProbeError};
use crate::sys::buffer::Aligned;
use crate::sys::clock::monotonic_nanos;
use crate::sys::threads::Affinity;

/// How often a wait polls the stop flag.
const TICK: Duration = Duration::from_millis(20);

/// The reading process; killed on drop.
pub(super) struct ReadWorker {
    channel: UnixStream,
    _process: HelperProcess,
}

/// Time and counters of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ReadPart {
    pub nanos: u64,
    /// Bytes read: fewer than requested at end of file.
    pub bytes: u64,
    /// Bytes the kernel accounted to the process as device reads.
    pub device_bytes: u64,
}

/// 64-bit words of a reply: the three fields of a part and an errno.
const WORDS: usize = 4;

impl ReadWorker {
    /// Forks the process. It may run on all CPUs of this process, even if its parent is pinned.
    /// `group` is an open `cgroup.procs` of the control group it joins first.
    pub fn fork(
        file: &File,
        block: usize,
        group: Option<RawFd>,
        context: &ProbeContext,
    ) -> Result<ReadWorker, ProbeError> {
        let (channel, far) = UnixStream::pair().map_err(ProbeError::in_call("socketpair"))?;
        channel.set_read_timeout(Some(TICK)).map_err(ProbeError::in_call("setsockopt"))?;
        let everywhere = Affinity::from_cpus(&context.cpus);
        let mut buffer =
            Aligned::filled(block, 0).map_err(ProbeError::in_call("memory to read into"))?;
        let (file, words, not_mine) = (file.as_raw_fd(), far.as_raw_fd(), channel.as_raw_fd());
        let body = || {
            // If refused, it keeps its parent's affinity.
            let _ = everywhere.apply();
            // SAFETY: after the fork the descriptor belongs only to this process, which does not
            // use it; once it is closed this process sees end of file when its parent exits.
            unsafe { libc::close(not_mine) };
            // "0" stands for the writing process.
            if group.is_none_or(|group| write_all(group, b"0")) {
                serve(words, file, &mut buffer);
            }
        };
        // SAFETY: the child makes only system calls, on memory allocated before the fork.
        let process = unsafe { HelperProcess::fork(Placement::Same, context, body) }?;
        Ok(ReadWorker { channel, _process: process })
    }

    /// Starts reading `[from, to)`.
    pub fn request(&mut self, from: u64, to: u64) -> Result<(), ProbeError> {
        let mut ask = [0u8; 16];
        ask[..8].copy_from_slice(&from.to_ne_bytes());
        ask[8..].copy_from_slice(&to.to_ne_bytes());
        self.channel.write_all(&ask).map_err(|_| gone())
    }

    /// Waits for the reply to [`ask`](ReadWorker::ask).
    pub fn wait(&mut self, context: &ProbeContext) -> Result<ReadPart, ProbeError> {
        let mut words = [0u8; 8 * WORDS];
        let mut done = 0;
        while done < words.len() {
            context.check_stop()?;
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
        let (part, error) =
            (ReadPart { nanos: next(), bytes: next(), device_bytes: next() }, next());
        match i32::try_from(error).unwrap_or(libc::EIO) {
            0 => Ok(part),
            errno => Err(ProbeError::in_call("reading the file")(
                std::io::Error::from_raw_os_error(errno),
            )),
        }
    }
}

fn gone() -> ProbeError {
    ProbeError::Missing(
        "the reading process is gone: it was killed, or it may not join its control group".into(),
    )
}

/// Runs the child: serves requests until its parent exits. Makes only system calls.
fn serve(channel: RawFd, file: RawFd, buffer: &mut [u8]) {
    let mut ask = [0u8; 16];
    while read_exact(channel, &mut ask) {
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
        if !write_all(channel, &answer) {
            return;
        }
    }
}

/// Reads `[from, to)`; returns the bytes read and an errno, 0 without an error.
fn read_all(file: RawFd, from: u64, to: u64, buffer: &mut [u8]) -> (u64, u64) {
    let mut at = from;
    while at < to {
        let want = (to - at).min(buffer.len() as u64) as usize;
        // SAFETY: `want` is at most the length of the buffer, which is writable.
        match unsafe { libc::pread(file, buffer.as_mut_ptr().cast(), want, at as libc::off_t) } {
            0 => break,
            -1 if was_interrupted() => {}
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

/// Returns the bytes the calling process read from devices; getrusage(2) counts units of 512 bytes.
fn device_bytes() -> u64 {
    // SAFETY: a rusage consists of integers, for which zero is valid; the kernel writes one rusage
    // into `usage`.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        u64::try_from(usage.ru_inblock).unwrap_or(0) * 512
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::testing::context;

    #[test]
    fn read_worker_reports_parts_and_death() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(100_000).unwrap();
        let context = context();
        let mut reader = ReadWorker::fork(&file, 4096, None, &context).unwrap();
        for (from, to, bytes) in
            [(0, 4096, 4096), (5, 70_000, 69_995), (90_000, 200_000, 10_000), (7, 7, 0)]
        {
            reader.request(from, to).unwrap();
            assert_eq!(reader.wait(&context).unwrap().bytes, bytes);
        }
        // A `cgroup.procs` that is not writable.
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut refused = ReadWorker::fork(&file, 4096, Some(full.as_raw_fd()), &context).unwrap();
        let outcome = refused.request(0, 1).and_then(|()| refused.wait(&context));
        assert!(outcome.unwrap_err().to_string().contains("gone"));
        let unreadable = File::options().write(true).open("/dev/null").unwrap();
        let mut reader = ReadWorker::fork(&unreadable, 4096, None, &context).unwrap();
        reader.request(0, 1).unwrap();
        assert!(reader.wait(&context).unwrap_err().to_string().contains("Bad file descriptor"));
        // A stop is noticed while waiting for a reply.
        context.request_stop();
        assert!(matches!(reader.wait(&context), Err(ProbeError::Stopped)));
    }
}
