//! A file that takes whole lines, survives a full disk, and never keeps a torn line in its middle.

use std::fs::File;
use std::io::{self, ErrorKind, Write};

use super::clean;

/// Bytes of lines that wait for the disk; what comes on top is dropped and counted.
const WAITING: usize = 1 << 20;

/// What the sink needs of a file opened to append.
pub trait Tail: Write {
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Waits until the device has everything.
    fn settle(&mut self) -> io::Result<()>;
}

impl Tail for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn settle(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Whole lines on their way to a file.
pub struct Sink<F> {
    file: F,
    /// Bytes of the file up to the end of its last whole line.
    whole: u64,
    /// A line was written in part and not yet cut off.
    torn: bool,
    waiting: std::collections::VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    /// Lines that were dropped and not yet told of in the file.
    dropped: u64,
    lost: u64,
    error: Option<String>,
}

impl<F: Tail> Sink<F> {
    /// Appends to a file that has no bytes yet.
    pub fn new(file: F) -> Sink<F> {
        Sink { file, whole: 0, torn: false, waiting: Default::default(), waiting_bytes: 0, dropped: 0, lost: 0, error: None }
    }

    /// Writes the first line, or leaves the file as it was.
    pub fn begin(&mut self, line: &[u8]) -> io::Result<()> {
        self.write(line)
    }

    /// Writes a line, after those that wait. One that cannot be written waits; `must` keeps it where others are dropped.
    pub fn push(&mut self, line: Vec<u8>, must: bool) {
        self.flush();
        if must || self.waiting_bytes + line.len() <= WAITING {
            self.waiting_bytes += line.len();
            self.waiting.push_back(line);
        } else {
            self.dropped += 1;
            self.lost += 1;
            return;
        }
        if self.waiting.len() == 1 {
            self.flush();
        }
    }

    /// Writes what waits, as far as the disk takes it.
    pub fn flush(&mut self) {
        while let Some(line) = self.waiting.pop_front() {
            if let Err(error) = self.write(&line) {
                self.waiting.push_front(line);
                self.error = Some(clean::brief(&error.to_string(), 160));
                return;
            }
            self.waiting_bytes -= line.len();
        }
        self.error = None;
    }

    /// Lines that were dropped since the last call, once the file takes lines again.
    pub fn take_dropped(&mut self) -> Option<u64> {
        let told = self.waiting.is_empty() && self.dropped > 0;
        told.then(|| std::mem::take(&mut self.dropped))
    }

    /// Appends one line in one write(2), or leaves the file as it was.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.torn {
            self.file.cut(self.whole)?;
            self.torn = false;
        }
        let mut rest = line;
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return self.tear(ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.torn = true;
                    rest = rest.get(written..).unwrap_or_default();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return self.tear(error),
            }
        }
        self.torn = false;
        self.whole += line.len() as u64;
        Ok(())
    }

    /// Cuts off what was written of a line; where that fails too, the next attempt begins with it.
    fn tear(&mut self, error: io::Error) -> io::Result<()> {
        if self.torn && self.file.cut(self.whole).is_ok() {
            self.torn = false;
        }
        Err(error)
    }

    /// Waits for the device. Nothing to do where the file system cannot.
    pub fn settle(&mut self) {
        match self.file.settle() {
            Err(error) if self.error.is_none() && error.kind() != ErrorKind::InvalidInput && error.kind() != ErrorKind::Unsupported => {
                self.error = Some(clean::brief(&error.to_string(), 160));
            }
            _ => {}
        }
    }

    /// Whether the last attempt to write or to settle failed.
    pub fn fails(&self) -> bool {
        self.error.is_some()
    }

    /// No line waits.
    pub fn is_flushed(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Not even the first line is in the file.
    pub fn is_empty(&self) -> bool {
        self.whole == 0
    }

    /// Puts another file in the place of this one, for tests of a disk that fails.
    #[cfg(test)]
    pub fn swap(&mut self, file: F) -> F {
        std::mem::replace(&mut self.file, file)
    }

    /// Why not everything is in the file, if so.
    pub fn unsaved(&self) -> Option<String> {
        match (&self.error, self.lost) {
            (None, 0) => None,
            (None, lost) => Some(format!("{lost} lines were lost while the session could not be written")),
            (Some(error), 0) => Some(format!("{} lines wait to be saved: {error}", self.waiting.len())),
            (Some(error), lost) => Some(format!("{} lines wait to be saved, {lost} are lost: {error}", self.waiting.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A disk with room for so many bytes; writes in pieces; can refuse to cut.
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
        cuts: bool,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fits = bytes.len().min(self.room.saturating_sub(self.bytes.len()));
            if fits == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            self.bytes.extend_from_slice(&bytes[..fits]);
            Ok(fits)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Tail for Disk {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            if !self.cuts {
                return Err(ErrorKind::PermissionDenied.into());
            }
            self.bytes.truncate(length as usize);
            Ok(())
        }
        fn settle(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn sink(room: usize) -> Sink<Disk> {
        Sink::new(Disk { bytes: Vec::new(), room, cuts: true })
    }

    #[test]
    fn a_full_disk_holds_whole_lines_and_is_tried_again() {
        let mut sink = sink(7);
        for line in ["one\n", "two\n", "three\n"] {
            sink.push(line.into(), false);
        }
        assert_eq!(sink.file.bytes, b"one\n");
        assert!(sink.unsaved().unwrap().starts_with("2 lines wait"));
        sink.file.room = 99;
        sink.push("four\n".into(), false);
        assert_eq!(sink.file.bytes, b"one\ntwo\nthree\nfour\n");
        assert_eq!((sink.unsaved(), sink.take_dropped()), (None, None));
    }

    #[test]
    fn a_torn_line_that_cannot_be_cut_off_blocks_the_file() {
        let mut sink = sink(6);
        sink.file.cuts = false;
        sink.push("one\n".into(), false);
        sink.push("two\n".into(), false);
        assert_eq!(sink.file.bytes, b"one\ntw");
        sink.file.room = 99;
        sink.push("three\n".into(), false);
        assert_eq!(sink.file.bytes, b"one\ntw");
        sink.file.cuts = true;
        sink.push("four\n".into(), false);
        assert_eq!(sink.file.bytes, b"one\ntwo\nthree\nfour\n");
    }

    #[test]
    fn what_waits_is_bounded_and_the_rest_is_counted() {
        let mut sink = sink(0);
        for _ in 0..5000 {
            sink.push(vec![b'x'; 1000], false);
        }
        assert!(sink.waiting_bytes <= WAITING);
        sink.push(b"end\n".to_vec(), true);
        assert_eq!(sink.take_dropped(), None);
        sink.file.room = usize::MAX;
        sink.push(b"\n".to_vec(), true);
        let dropped = sink.take_dropped().unwrap();
        assert_eq!(sink.file.bytes.len() as u64, (5000 - dropped) * 1000 + 5);
        assert_eq!(sink.take_dropped(), None);
        assert!(sink.unsaved().unwrap().contains(&format!("{dropped} lines were lost")));
    }

    proptest! {
        #[test]
        fn the_file_is_always_a_run_of_whole_lines(steps in prop::collection::vec((1usize..30, 0usize..200, any::<bool>()), 1..40)) {
            let mut sink = sink(0);
            let mut expected = Vec::new();
            for (length, room, cuts) in steps {
                (sink.file.room, sink.file.cuts) = (sink.file.bytes.len().max(room), cuts);
                let mut line = vec![b'a' + (length % 26) as u8; length];
                line.push(b'\n');
                expected.extend_from_slice(&line);
                sink.push(line, false);
                prop_assert!(expected.starts_with(&sink.file.bytes));
            }
            (sink.file.room, sink.file.cuts) = (usize::MAX, true);
            sink.push(Vec::new(), true);
            prop_assert_eq!(&sink.file.bytes, &expected);
        }
    }
}
