//! A file that takes whole lines, survives a full disk, and never keeps a torn line in its middle.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};

use super::seal;
use crate::text::clean;

/// Bytes of lines that wait for the disk, some ten thousand trials; what comes on top is dropped
/// and counted.
const WAITING: usize = if cfg!(test) { 1 << 20 } else { 32 << 20 };

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

/// A line that waits.
struct Waits {
    line: Vec<u8>,
    /// A later line on the same takes its place.
    on: Option<usize>,
}

/// Whole lines on their way to a file.
pub struct Sink<F> {
    /// `None`: it could not be made, or is gone; then all lines wait.
    file: Option<F>,
    /// Bytes of the file up to the end of its last whole line.
    whole: u64,
    /// The number of that line, where lines are sealed.
    lines: Option<u64>,
    /// A line was written in part and not yet cut off.
    torn: bool,
    waiting: VecDeque<Waits>,
    waiting_bytes: usize,
    /// Lines that were dropped and not yet told of in the file.
    dropped: u64,
    lost: u64,
    error: Option<String>,
}

impl<F: Tail> Sink<F> {
    /// A sink without a file yet.
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

    /// A sink that puts a seal on each line.
    pub fn sealed() -> Sink<F> {
        Sink { lines: Some(0), ..Sink::new() }
    }

    /// Appends to a file that has so many bytes, all of them whole lines: those that this sink
    /// wrote, after at least so many.
    pub fn open(&mut self, file: F, whole: u64, lines: u64) {
        self.lines = self.lines.map(|written| written.max(lines));
        (self.file, self.whole, self.torn, self.error) = (Some(file), whole, false, None);
    }

    /// The file and the bytes of its whole lines.
    pub fn file(&self) -> Option<(&F, u64)> {
        self.file.as_ref().map(|file| (file, self.whole))
    }

    /// Writes a line, after those that wait. One that cannot be written waits, in the place of one
    /// `on` the same; `must` keeps it where others are dropped.
    pub fn push(&mut self, line: Vec<u8>, on: Option<usize>, must: bool) {
        self.flush();
        self.wait(line, on, must);
        if self.waiting.len() == 1 {
            self.flush();
        }
    }

    /// Keeps a line until the file takes it.
    pub fn wait(&mut self, line: Vec<u8>, on: Option<usize>, must: bool) {
        if let Some(at) = on.and_then(|_| self.waiting.iter().position(|waits| waits.on == on)) {
            self.waiting_bytes -= self.waiting.remove(at).map_or(0, |waits| waits.line.len());
        }
        if must || self.waiting_bytes + line.len() <= WAITING {
            self.waiting_bytes += line.len();
            self.waiting.push_back(Waits { line, on });
        } else {
            self.dropped += 1;
            self.lost += 1;
        }
    }

    /// Writes what waits, as far as the disk takes it.
    pub fn flush(&mut self) {
        if self.file.is_none() {
            return;
        }
        while let Some(waits) = self.waiting.pop_front() {
            if let Err(error) = self.write(&waits.line) {
                self.waiting.push_front(waits);
                self.error = Some(clean::brief(&error.to_string(), 160));
                return;
            }
            self.waiting_bytes -= waits.line.len();
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
        let Some(file) = &mut self.file else { return Err(ErrorKind::NotFound.into()) };
        if self.torn {
            file.cut(self.whole)?;
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

    /// Cuts off what was written of a line; where that fails too, the next attempt begins with it.
    fn tear(&mut self, error: io::Error) -> io::Result<()> {
        if self.torn && self.file.as_mut().is_some_and(|file| file.cut(self.whole).is_ok()) {
            self.torn = false;
        }
        Err(error)
    }

    /// Waits for the device. Nothing to do where the file system cannot.
    pub fn settle(&mut self) {
        match self.file.as_mut().map_or(Ok(()), Tail::settle) {
            Err(error)
                if self.error.is_none()
                    && error.kind() != ErrorKind::InvalidInput
                    && error.kind() != ErrorKind::Unsupported =>
            {
                self.error = Some(clean::brief(&error.to_string(), 160));
            }
            _ => {}
        }
    }

    /// Whether the last attempt to write or to settle failed.
    pub fn fails(&self) -> bool {
        self.error.is_some()
    }

    /// Puts another file in the place of this one, for tests of a disk that fails.
    #[cfg(test)]
    pub fn swap(&mut self, file: F) -> F {
        self.file.replace(file).expect("it has a file")
    }

    /// Why not everything is in the file, if so.
    pub fn unsaved(&self) -> Option<String> {
        match (&self.error, self.lost) {
            (None, 0) => None,
            (None, lost) => {
                Some(format!("{lost} lines were lost while the session could not be written"))
            }
            (Some(error), 0) => {
                Some(format!("{} lines wait to be saved: {error}", self.waiting.len()))
            }
            (Some(error), lost) => Some(format!(
                "{} lines wait to be saved, {lost} are lost: {error}",
                self.waiting.len()
            )),
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
        let mut sink = Sink::new();
        sink.open(Disk { bytes: Vec::new(), room, cuts: true }, 0, 0);
        sink
    }

    fn disk(sink: &mut Sink<Disk>) -> &mut Disk {
        sink.file.as_mut().unwrap()
    }

    #[test]
    fn a_full_disk_holds_whole_lines_and_is_tried_again() {
        let mut sink = sink(7);
        for line in ["one\n", "two\n", "three\n"] {
            sink.push(line.into(), None, false);
        }
        assert_eq!(disk(&mut sink).bytes, b"one\n");
        assert!(sink.unsaved().unwrap().starts_with("2 lines wait"));
        disk(&mut sink).room = 99;
        sink.push("four\n".into(), None, false);
        assert_eq!(disk(&mut sink).bytes, b"one\ntwo\nthree\nfour\n");
        assert_eq!((sink.unsaved(), sink.take_dropped()), (None, None));
    }

    #[test]
    fn a_torn_line_that_cannot_be_cut_off_blocks_the_file() {
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
    fn what_waits_is_bounded_and_the_rest_is_counted() {
        let mut sink = sink(0);
        for _ in 0..5000 {
            sink.push(vec![b'x'; 1000], None, false);
        }
        assert!(sink.waiting_bytes <= WAITING);
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
    fn without_a_file_all_waits_and_what_is_outdated_does_not() {
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
        fn the_file_is_always_a_run_of_whole_lines(steps in prop::collection::vec((1usize..30, 0usize..200, any::<bool>()), 1..40)) {
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
