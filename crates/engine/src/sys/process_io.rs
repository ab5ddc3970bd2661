//! The bytes and calls that the kernel charges to this process: /proc/self/io.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::text;

/// The counters of /proc/PID/io since the start of the process or thread, in bytes and calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessIo {
    /// Bytes read from block devices for it: equal to the count of the disk, including readahead,
    /// io_uring workers and page faults.
    pub read_bytes: u64,
    /// Bytes dirtied that will be written to a block device. Charged when dirtied, not when
    /// written, so this is not device traffic.
    pub write_bytes: u64,
    /// Calls of read(2) and its variants, including calls that transferred nothing.
    pub syscr: u64,
    /// Calls of write(2) and its variants.
    pub syscw: u64,
    /// Bytes requested by read(2) and its variants: excludes mmap and io_uring.
    pub rchar: u64,
}

impl ProcessIo {
    /// Reads the counters in a file of /proc.
    ///
    /// # Errors
    /// The errno of reading it; `InvalidData` for malformed text.
    pub fn of(path: &Path) -> io::Result<Self> {
        parse(&text::read(path)?).ok_or_else(|| text::malformed(&path.to_string_lossy()))
    }

    /// Reads the counters of the whole process, which show where bytes came from.
    ///
    /// # Errors
    /// The errno of reading /proc/self/io (ENOENT without CONFIG_TASK_IO_ACCOUNTING); `InvalidData`
    /// for malformed text.
    pub fn process() -> io::Result<Self> {
        ProcessIo::of(Path::new("/proc/self/io"))
    }

    /// Reads the counters of the calling thread, which exclude the work of io_uring's kernel
    /// threads for it.
    ///
    /// # Errors
    /// Same as [`ProcessIo::process`], for /proc/thread-self/io.
    pub fn thread() -> io::Result<Self> {
        ProcessIo::of(Path::new("/proc/thread-self/io"))
    }
}

/// The number of read(2), write(2) and similar calls that the kernel counted for one thread.
///
/// The file stays open: reading the counter is one pread(2), which the next reading includes.
#[derive(Debug)]
pub struct ThreadCalls(File);

impl ThreadCalls {
    /// Opens the counter of the calling thread; only that thread may read it.
    ///
    /// # Errors
    /// The errno of open(2): ENOENT without CONFIG_TASK_IO_ACCOUNTING.
    pub fn new() -> io::Result<Self> {
        let calls = Self(File::open("/proc/thread-self/io")?);
        calls.now()?;
        Ok(calls)
    }

    /// Returns the number of calls so far, excluding this one.
    ///
    /// # Errors
    /// The errno of pread(2); `InvalidData` for malformed text.
    pub fn now(&self) -> io::Result<u64> {
        // Seven lines of a name and at most 20 digits.
        let mut bytes = [0u8; 512];
        let len = self.0.read_at(&mut bytes, 0)?;
        let io = std::str::from_utf8(&bytes[..len]).ok().and_then(parse);
        io.map(|io| io.syscr.saturating_add(io.syscw))
            .ok_or_else(|| text::malformed("/proc/thread-self/io"))
    }
}

difference! { ProcessIo: read_bytes, write_bytes, syscr, syscw, rchar }

/// Parses `name: number` lines; unknown names are skipped, a missing `read_bytes` returns `None`.
fn parse(text: &str) -> Option<ProcessIo> {
    let mut io = ProcessIo::default();
    let mut seen = false;
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let field = match name.trim() {
            "read_bytes" => {
                seen = true;
                &mut io.read_bytes
            }
            "write_bytes" => &mut io.write_bytes,
            "syscr" => &mut io.syscr,
            "syscw" => &mut io.syscw,
            "rchar" => &mut io.rchar,
            _ => continue,
        };
        *field = value.trim().parse().ok()?;
    }
    seen.then_some(io)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::testing;

    const CAPTURED: &str = "rchar: 6976\nwchar: 5\nsyscr: 10\nsyscw: 1\nread_bytes: \
                            8192\nwrite_bytes: 4096\ncancelled_write_bytes: 3\nnew_thing: x\n";

    #[test]
    fn captured_text() {
        let io = parse(CAPTURED).unwrap();
        let want =
            ProcessIo { read_bytes: 8192, write_bytes: 4096, syscr: 10, syscw: 1, rchar: 6976 };
        assert_eq!(io, want);
        assert_eq!(io - want, ProcessIo::default());
        assert_eq!(ProcessIo::default() - want, ProcessIo::default());
    }

    #[test]
    fn garbage_is_no_answer() {
        for text in ["", "read_bytes", "read_bytes: x", "read_bytes: -1", "rchar: 1\n", ":::\n\0"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_count_includes_the_previous_reading() {
        let Ok(calls) = ThreadCalls::new() else { return testing::skip("no /proc/thread-self/io") };
        let file = tempfile::tempfile().unwrap();
        for made in [0, 1, 2, 1000] {
            let before = calls.now().unwrap();
            (0..made).for_each(|_| drop(file.read_at(&mut [0u8; 8], 0)));
            assert_eq!(calls.now().unwrap() - before, made + 1);
        }
    }

    #[test]
    fn cold_reads_are_charged() {
        const LEN: usize = 4 << 20;
        let Some(file) = testing::file_on_disk(LEN) else {
            return;
        };
        let Ok(before) = ProcessIo::process() else {
            return testing::skip("no /proc/self/io");
        };
        let thread = ProcessIo::thread().unwrap();
        if !crate::sys::cold::make_cold(&file, LEN as u64).unwrap().is_cold() {
            return testing::skip("cannot be made cold");
        }
        crate::sys::cold::make_warm_within(&file, 0..LEN as u64, &|| false).unwrap();
        let (moved, mine) =
            (ProcessIo::process().unwrap() - before, ProcessIo::thread().unwrap() - thread);
        if moved.read_bytes == 0 {
            return testing::skip("this file system charges nothing");
        }
        assert!(
            moved.read_bytes >= LEN as u64 && mine.read_bytes >= LEN as u64,
            "{moved:?} {mine:?}"
        );
        assert!(mine.rchar >= LEN as u64 && mine.syscr >= 2);
    }
}
