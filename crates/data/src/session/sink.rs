//! Writes whole lines to a file; survives a full disk, and leaves no partial line in the middle.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};

use super::seal;
use crate::text::{clean, describe_io_error};
use crate::units::{counted, verb};

/// Bytes of lines that may wait for the disk, some ten thousand trials; further lines are dropped
/// and counted.
const MAX_WAITING_BYTES: usize = if cfg!(test) { 1 << 20 } else { 32 << 20 };

/// The operations that the sink needs of a file opened for appending.
pub trait Tail: Write {
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// Waits until the device has everything.
    fn settle(&mut self) -> io::Result<()>;
}

impl Tail for File {
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn settle(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A line that is not written yet.
struct WaitingLine {
    line: Vec<u8>,
    /// A later line with the same key replaces it.
    on: Option<usize>,
}

/// Whole lines on their way to a file.
pub struct Sink<F> {
    /// `None` if it could not be created or was removed; all lines wait then.
    file: Option<F>,
    /// Size of the file up to the end of its last complete line, bytes.
    whole: u64,
    /// The number of that line, if lines are sealed.
    lines: Option<u64>,
    /// A line was partly written and is not yet cut off.
    torn: bool,
    waiting: VecDeque<WaitingLine>,
    waiting_bytes: usize,
    /// Lines that were dropped and are not yet noted in the file.
    dropped: u64,
    lost: u64,
    error: Option<String>,
}

impl<F: Tail> Sink<F> {
    /// Returns a sink without a file yet.
    pub fn new() -> Sink<F> {
        Sink {
            file: None,
            whole: 0,
            lines: None,
            torn: false,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            dropped: 0,
            lost: 0,
            error: None,
        }
    }

    /// Returns a sink that seals each line.
    pub fn sealed() -> Sink<F> {
        Sink { lines: Some(0), ..Sink::new() }
    }

    /// Appends to a file that has `whole` bytes in complete lines, at least `lines` of which were
    /// written.
    pub fn open(&mut self, file: F, whole: u64, lines: u64) {
        self.lines = self.lines.map(|written| written.max(lines));
        (self.file, self.whole, self.torn, self.error) = (Some(file), whole, false, None);
    }

    /// Returns the file and the size of its complete lines, bytes.
    pub fn file(&self) -> Option<(&F, u64)> {
        self.file.as_ref().map(|file| (file, self.whole))
    }

    /// Writes a line after all waiting ones. A line that cannot be written waits and replaces one
    /// with the same key `on`; one with `must` is never dropped.
    pub fn push(&mut self, line: Vec<u8>, on: Option<usize>, must: bool) {
        self.flush();
        self.wait(line, on, must);
        if self.waiting.len() == 1 {
            self.flush();
        }
    }

    /// Holds a line until it can be written.
    pub fn wait(&mut self, line: Vec<u8>, on: Option<usize>, must: bool) {
        if let Some(at) = on.and_then(|_| self.waiting.iter().position(|waits| waits.on == on)) {
            self.waiting_bytes -= self.waiting.remove(at).map_or(0, |waits| waits.line.len());
        }
        if must || self.waiting_bytes + line.len() <= MAX_WAITING_BYTES {
            self.waiting_bytes += line.len();
            self.waiting.push_back(WaitingLine { line, on });
        } else {
            self.dropped += 1;
            self.lost += 1;
        }
    }

    /// Writes waiting lines until a write fails.
    pub fn flush(&mut self) {
        if self.file.is_none() {
            return;
        }
        while let Some(waits) = self.waiting.pop_front() {
            if let Err(error) = self.write(&waits.line) {
                self.waiting.push_front(waits);
                self.error = Some(clean::brief(&describe_io_error(&error), 160));
                return;
            }
            self.waiting_bytes -= waits.line.len();
        }
        self.error = None;
    }

    /// Returns the number of lines dropped since the last call, once writing works again.
    pub fn take_dropped(&mut self) -> Option<u64> {
        let is_due = self.waiting.is_empty() && self.dropped > 0;
        is_due.then(|| std::mem::take(&mut self.dropped))
    }

    /// Appends one line in one write(2), or leaves the file unchanged.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Err(ErrorKind::NotFound.into()) };
        if self.torn {
            file.truncate(self.whole)?;
            self.torn = false;
        }
        let sealed = self.lines.map(|number| seal::seal(line, number + 1));
        let line = sealed.as_deref().unwrap_or(line);
        let mut rest = line;
        while !rest.is_empty() {
            match file.write(rest) {
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
        self.lines = self.lines.map(|number| number + 1);
        Ok(())
    }

    /// Removes a partly written line; if that fails too, the next attempt starts with it.
    fn tear(&mut self, error: io::Error) -> io::Result<()> {
        if self.torn && self.file.as_mut().is_some_and(|file| file.truncate(self.whole).is_ok()) {
            self.torn = false;
        }
        Err(error)
    }

    /// Waits for the device; does nothing if the file system cannot sync.
    pub fn settle(&mut self) {
        match self.file.as_mut().map_or(Ok(()), Tail::settle) {
            Err(error)
                if self.error.is_none()
                    && error.kind() != ErrorKind::InvalidInput
                    && error.kind() != ErrorKind::Unsupported =>
            {
                self.error = Some(clean::brief(&describe_io_error(&error), 160));
            }
            _ => {}
        }
    }

    /// Returns whether the last attempt to write or to sync failed.
    pub fn fails(&self) -> bool {
        self.error.is_some()
    }

    /// Replaces the file, for tests of a failing disk.
    #[cfg(test)]
    pub fn swap(&mut self, file: F) -> F {
        self.file.replace(file).expect("it has a file")
    }

    /// Returns why lines are missing from the file, if any are.
    pub fn unsaved(&self) -> Option<String> {
        let lines = |count| counted(count, "line");
        let waiting = lines(self.waiting.len());
        match (&self.error, self.lost) {
            (None, 0) => None,
            (None, lost) => {
                let (lines, were) = (lines(lost as usize), verb(lost as usize, "was", "were"));
                Some(format!("{lines} {were} lost while the session could not be written"))
            }
            (Some(error), 0) => Some(format!("{waiting} not yet saved: {error}")),
            (Some(error), lost) => Some(format!("{waiting} not yet saved, {lost} lost: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A disk with room for a number of bytes; it writes in pieces and can refuse to truncate.
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
        fn truncate(&mut self, length: u64) -> io::Result<()> {
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
        let mut sink = Sink::new();
        sink.open(Disk { bytes: Vec::new(), room, cuts: true }, 0, 0);
        sink
    }

    fn disk(sink: &mut Sink<Disk>) -> &mut Disk {
        sink.file.as_mut().unwrap()
    }

    #[test]
    fn full_disks_keep_whole_lines() {
        let mut sink = sink(7);
        for line in ["one\n", "two\n", "three\n"] {
            sink.push(line.into(), None, false);
        }
        assert_eq!(disk(&mut sink).bytes, b"one\n");
        assert!(sink.unsaved().unwrap().starts_with("2 lines not yet saved"));
        disk(&mut sink).room = 99;
        sink.push("four\n".into(), None, false);
        assert_eq!(disk(&mut sink).bytes, b"one\ntwo\nthree\nfour\n");
        assert_eq!((sink.unsaved(), sink.take_dropped()), (None, None));
    }

    #[test]
    fn uncut_torn_lines_block_the_file() {
        let mut sink = sink(6);
        disk(&mut sink).cuts = false;
        sink.push("one\n".into(), None, false);
        sink.push("two\n".into(), None, false);
        assert_eq!(disk(&mut sink).bytes, b"one\ntw");
        disk(&mut sink).room = 99;
        sink.push("three\n".into(), None, false);
        assert_eq!(disk(&mut sink).bytes, b"one\ntw");
        disk(&mut sink).cuts = true;
        sink.push("four\n".into(), None, false);
        assert_eq!(disk(&mut sink).bytes, b"one\ntwo\nthree\nfour\n");
    }

    #[test]
    fn waiting_lines_are_bounded() {
        let mut sink = sink(0);
        for _ in 0..5000 {
            sink.push(vec![b'x'; 1000], None, false);
        }
        assert!(sink.waiting_bytes <= MAX_WAITING_BYTES);
        sink.push(b"end\n".to_vec(), None, true);
        assert_eq!(sink.take_dropped(), None);
        disk(&mut sink).room = usize::MAX;
        sink.push(b"\n".to_vec(), None, true);
        let dropped = sink.take_dropped().unwrap();
        assert_eq!(disk(&mut sink).bytes.len() as u64, (5000 - dropped) * 1000 + 5);
        assert_eq!(sink.take_dropped(), None);
        assert!(sink.unsaved().unwrap().contains(&format!("{dropped} lines were lost")));
    }

    #[test]
    fn outdated_lines_do_not_wait() {
        let mut sink: Sink<Disk> = Sink::new();
        for (line, on) in
            [("a1\n", Some(1)), ("b\n", None), ("a2\n", Some(2)), ("a1 again\n", Some(1))]
        {
            sink.push(line.into(), on, false);
        }
        assert_eq!((sink.waiting.len(), sink.waiting_bytes), (3, 14));
        sink.open(Disk { bytes: b"head\n".to_vec(), room: 99, cuts: true }, 5, 1);
        sink.flush();
        assert_eq!(disk(&mut sink).bytes, b"head\nb\na2\na1 again\n");
        assert_eq!((sink.unsaved(), sink.waiting_bytes, sink.whole), (None, 0, 19));
    }

    proptest! {
        #[test]
        fn the_file_has_only_whole_lines(steps in prop::collection::vec((1usize..30, 0usize..200, any::<bool>()), 1..40)) {
            let mut sink = sink(0);
            let mut expected = Vec::new();
            for (length, room, cuts) in steps {
                (disk(&mut sink).room, disk(&mut sink).cuts) = (disk(&mut sink).bytes.len().max(room), cuts);
                let mut line = vec![b'a' + (length % 26) as u8; length];
                line.push(b'\n');
                expected.extend_from_slice(&line);
                sink.push(line, None, false);
                prop_assert!(expected.starts_with(&disk(&mut sink).bytes));
            }
            (disk(&mut sink).room, disk(&mut sink).cuts) = (usize::MAX, true);
            sink.push(Vec::new(), None, true);
            prop_assert_eq!(&disk(&mut sink).bytes, &expected);
        }
    }
}
