//! Reads lines of a file that may be torn, hostile or not text at all, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::Path;

use memchr::memchr;

use super::SessionError;
use iotui_files::fd;

/// The longest line that is read, bytes: a plan of 50,000 cells has about 12 MiB.
pub const MAX_LINE_LEN: u64 = 16 << 20;
/// The largest file that is loaded, bytes: a million trials have about 1.2 GiB.
pub const MAX_FILE_LEN: u64 = 2 << 30;

/// Opens a regular file for reading; a device or a pipe could be endless.
pub fn open(path: &Path) -> Result<(File, u64), SessionError> {
    let file = fd::open_regular(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => SessionError::NotAFile(path.into()),
        _ => SessionError::io("open", path, error),
    })?;
    let bytes = file.metadata().map_err(|e| SessionError::io("read", path, e))?.len();
    Ok((file, bytes))
}

/// Returns the lines of a session file that is to be loaded completely.
pub fn read_lines(path: &Path) -> Result<Lines<BufReader<File>>, SessionError> {
    let (file, bytes) = open(path)?;
    if bytes > MAX_FILE_LEN {
        return Err(SessionError::TooLarge { path: path.into(), bytes, most: MAX_FILE_LEN });
    }
    Ok(Lines::new(BufReader::with_capacity(256 << 10, file)))
}

/// The start of a line, and the number of the line before it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    pub start: u64,
    pub number: u64,
}

/// Complete lines, one after the other.
pub struct Lines<R> {
    input: R,
    /// The line, if it is not entirely in the buffer of `input`.
    line: Vec<u8>,
    /// Bytes of that buffer that the last line occupied.
    taken: usize,
    /// Bytes of a last line without its line feed: they were read but are not a line.
    torn: u64,
    there: bool,
    /// The number of the line that was last returned, from 1.
    pub number: u64,
    /// Bytes up to the end of that line, which is the start of the next.
    pub whole: u64,
}

/// Why the next line cannot be read.
#[derive(Debug)]
pub enum LineError {
    Io(io::Error),
    TooLong,
}

impl LineError {
    pub fn into_session_error(self, path: &Path, line: u64) -> SessionError {
        match self {
            LineError::Io(error) => SessionError::io("read", path, error),
            LineError::TooLong => {
                let why = format!("it is longer than {} MiB", MAX_LINE_LEN >> 20);
                match line {
                    1 => SessionError::NotASession {
                        path: path.into(),
                        why: format!("line 1: {why}"),
                    },
                    _ => SessionError::Damaged { path: path.into(), line, why },
                }
            }
        }
    }
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Lines<R> {
        Lines { input, line: Vec::new(), taken: 0, torn: 0, there: false, number: 0, whole: 0 }
    }

    /// Returns the next line without its line feed; `None` at the end, and also if the rest has no
    /// line feed.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, LineError> {
        self.release();
        // Most lines are entirely in the buffer and are used in place.
        if let Some(end) = memchr(b'\n', filled(&mut self.input).map_err(LineError::Io)?) {
            if end as u64 > MAX_LINE_LEN {
                return Err(LineError::TooLong);
            }
            self.taken = end + 1;
            self.number += 1;
            self.whole += self.taken as u64;
            return Ok(self.input.fill_buf().map_err(LineError::Io)?.get(..end));
        }
        self.line.clear();
        let read = (&mut self.input)
            .take(MAX_LINE_LEN + 1)
            .read_until(b'\n', &mut self.line)
            .map_err(LineError::Io)?;
        if self.line.pop_if(|last| *last == b'\n').is_none() {
            self.torn += read as u64;
            return if read as u64 > MAX_LINE_LEN { Err(LineError::TooLong) } else { Ok(None) };
        }
        self.number += 1;
        self.whole += read as u64;
        Ok(Some(&self.line))
    }

    /// Reads the next line, for [`Lines::current`].
    pub fn peek_line(&mut self) -> Result<(), LineError> {
        self.there = false;
        let there = self.next_line()?.is_some();
        self.there = there;
        Ok(())
    }

    /// Returns the line that was last read without its line feed; `None` at the end.
    pub fn current(&mut self) -> Option<&[u8]> {
        match self.taken {
            _ if !self.there => None,
            0 => Some(&self.line),
            // It is already in the buffer.
            taken => self.input.fill_buf().ok()?.get(..taken - 1),
        }
    }

    /// Skips the rest of a line that is too long, including its line feed.
    pub fn skip(&mut self) -> Result<(), LineError> {
        self.release();
        let mut skipped = 0;
        loop {
            let buffer = filled(&mut self.input).map_err(LineError::Io)?;
            let (taken, ends) = match memchr(b'\n', buffer) {
                Some(at) => (at + 1, true),
                None => (buffer.len(), buffer.is_empty()),
            };
            self.input.consume(taken);
            skipped += taken as u64;
            if ends {
                self.number += 1;
                self.whole += std::mem::take(&mut self.torn) + skipped;
                return Ok(());
            }
        }
    }

    /// Returns the place of the next line.
    pub fn place(&self) -> Place {
        Place { start: self.whole, number: self.number }
    }

    fn release(&mut self) {
        self.input.consume(std::mem::take(&mut self.taken));
    }

    /// Returns whether nothing follows.
    pub fn at_end(&mut self) -> bool {
        self.release();
        filled(&mut self.input).is_ok_and(<[u8]>::is_empty)
    }
}

impl<R: BufRead + Seek> Lines<R> {
    /// Seeks to the line at `place`.
    fn go_to(&mut self, place: Place) -> io::Result<()> {
        self.release();
        // Relative: the buffer is kept.
        let at = self.whole + self.torn;
        self.input.seek_relative(place.start.cast_signed().wrapping_sub(at.cast_signed()))?;
        (self.whole, self.torn, self.number) = (place.start, 0, place.number);
        Ok(())
    }
}

/// Returns the bytes in the buffer, which is filled first if it is empty.
fn filled<R: BufRead>(input: &mut R) -> io::Result<&[u8]> {
    while let Err(error) = input.fill_buf() {
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
    input.fill_buf()
}

/// Returns the next line, empty if it is too long: that one counts as damaged and is skipped.
///
/// # Errors
/// The file cannot be read, or its first line is too long.
pub fn next_line<'a, R: BufRead>(
    lines: &'a mut Lines<R>,
    path: &Path,
) -> Result<Option<&'a [u8]>, SessionError> {
    let line = lines.number + 1;
    if let Err(error) = lines.peek_line() {
        if line == 1 || !matches!(error, LineError::TooLong) {
            return Err(error.into_session_error(path, line));
        }
        lines.skip().map_err(|error| error.into_session_error(path, line))?;
        return Ok(Some(b""));
    }
    Ok(lines.current())
}

/// Seeks to the line at `place`.
///
/// # Errors
/// The file cannot be read.
pub fn go_to<R: BufRead + Seek>(
    lines: &mut Lines<R>,
    place: Place,
    path: &Path,
) -> Result<(), SessionError> {
    lines.go_to(place).map_err(|error| SessionError::io("read", path, error))
}

/// Returns the line at `place`.
///
/// # Errors
/// As [`next_line`].
pub fn line_at<'a, R: BufRead + Seek>(
    lines: &'a mut Lines<R>,
    place: Place,
    path: &Path,
) -> Result<&'a [u8], SessionError> {
    go_to(lines, place, path)?;
    Ok(next_line(lines, path)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(bytes);
        std::iter::from_fn(|| lines.next_line().unwrap().map(<[u8]>::to_vec)).collect()
    }

    #[test]
    fn a_torn_end_is_no_line() {
        assert_eq!(all(b"a\n\nbc\nd"), [&b"a"[..], b"", b"bc"]);
        assert_eq!(all(b"").len() + all(b"abc").len(), 0);
        assert_eq!(all(b"a\n").len(), 1);
    }

    #[test]
    fn lines_do_not_depend_on_buffers() {
        let mut text: Vec<u8> = (0..200usize)
            .flat_map(|n| [vec![b'a' + (n % 26) as u8; n * 7 % 90], vec![b'\n']].concat())
            .collect();
        text.extend(b"torn");
        let expected = all(&text);
        for buffer in [1, 7, 64, 1 << 16] {
            let mut lines = Lines::new(BufReader::with_capacity(buffer, io::Cursor::new(&text)));
            let mut starts = vec![0];
            while let Some(line) = lines.next_line().unwrap() {
                assert_eq!(line, expected[starts.len() - 1]);
                starts.push(lines.whole);
            }
            assert!(lines.at_end() && starts.len() == 201);
            for n in [3, 4, 150, 199, 0] {
                lines.go_to(Place { start: starts[n], number: n as u64 }).unwrap();
                assert_eq!(
                    lines.next_line().unwrap().unwrap(),
                    expected[n],
                    "line {n} with {buffer}"
                );
                assert_eq!(lines.number, n as u64 + 1);
            }
        }
    }

    #[test]
    fn endless_lines_are_refused_early() {
        let mut lines = Lines::new(BufReader::new(io::repeat(b'x')));
        assert!(matches!(lines.next_line(), Err(LineError::TooLong)));
        assert!(lines.line.capacity() <= 2 * MAX_LINE_LEN as usize + 64);
    }

    #[test]
    fn only_regular_files_are_opened() {
        assert!(matches!(open(Path::new("/dev/zero")), Err(SessionError::NotAFile(_))));
        assert!(matches!(open(Path::new("/")), Err(SessionError::NotAFile(_))));
        assert!(matches!(open(Path::new("/no/such")), Err(SessionError::Io { .. })));
    }
}
