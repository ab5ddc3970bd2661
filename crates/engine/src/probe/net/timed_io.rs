//! Socket I/O of whole frames with time limits: every call returns within a tick, checks the stop
//! flag, and eventually gives up. While bytes flow, it costs no more than the bare calls.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest wait of a socket call before the stop flag is checked, so that both ends stop within a
/// second.
pub const TICK: Duration = Duration::from_millis(200);

/// Why a transfer failed.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    #[error("stopped")]
    Stopped,
    #[error("the other end closed the connection")]
    Closed,
    #[error("the other end was silent for {} s", .0.as_secs())]
    Silent(Duration),
    #[error("the other end took too long")]
    Late,
    #[error("{0}")]
    Failed(io::Error),
}

/// The stop flag and time limits of a transfer.
#[derive(Clone, Copy)]
pub struct TimedIo<'a> {
    pub stop: &'a dyn Fn() -> bool,
    /// Time limit for waiting without receiving or sending a single byte.
    pub idle: Duration,
    /// Deadline, however slowly bytes arrive.
    pub until: Instant,
}

/// Sets the tick as timeout of reads and writes, and disables Nagle's algorithm.
pub fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(TICK))?;
    stream.set_write_timeout(Some(TICK))?;
    stream.set_nodelay(true)
}

impl TimedIo<'_> {
    /// Reads all of `buffer`.
    pub fn read(&self, stream: &TcpStream, buffer: &mut [u8]) -> Result<(), StreamError> {
        self.transfer(buffer.len(), |done| {
            buffer.get_mut(done..).map_or(Ok(0), |rest| (&mut &*stream).read(rest))
        })
    }

    /// Writes all of `bytes`.
    pub fn write(&self, stream: &TcpStream, bytes: &[u8]) -> Result<(), StreamError> {
        self.transfer(bytes.len(), |done| {
            bytes.get(done..).map_or(Ok(0), |rest| (&mut &*stream).write(rest))
        })
    }

    /// Reads and discards `count` bytes through `buffer`, which must not be empty.
    pub fn skip(
        &self,
        stream: &TcpStream,
        count: u64,
        buffer: &mut [u8],
    ) -> Result<(), StreamError> {
        let (mut left, mut reads) = (count, 0u32);
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let mut got = 0;
            let some = buffer.get_mut(..most).unwrap_or_default();
            // Takes what is available, because waiting for a full buffer would only add calls.
            self.transfer(1, |_| {
                got = (&mut &*stream).read(some)?;
                Ok(got.min(1))
            })?;
            left -= got as u64;
            reads = reads.wrapping_add(1);
            // Checks the clock rarely: small pieces arrive fast, and this loop is being measured.
            if reads.is_multiple_of(64) && Instant::now() > self.until {
                return Err(StreamError::Late);
            }
        }
        Ok(())
    }

    #[inline]
    fn transfer(
        &self,
        len: usize,
        mut some: impl FnMut(usize) -> io::Result<usize>,
    ) -> Result<(), StreamError> {
        let (mut done, mut silent) = (0, None);
        while done < len {
            match some(done) {
                Ok(0) => return Err(StreamError::Closed),
                Ok(more) => {
                    done += more;
                    silent = None;
                    if done < len && Instant::now() > self.until {
                        return Err(StreamError::Late);
                    }
                }
                Err(error) => self.handle_error(error, &mut silent)?,
            }
        }
        Ok(())
    }

    #[cold]
    fn handle_error(
        &self,
        error: io::Error,
        silent: &mut Option<Instant>,
    ) -> Result<(), StreamError> {
        match error.kind() {
            // A call that timed out has already waited one tick.
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                let begin = *silent.get_or_insert_with(|| {
                    Instant::now().checked_sub(TICK).unwrap_or_else(Instant::now)
                });
                if (self.stop)() {
                    Err(StreamError::Stopped)
                } else if begin.elapsed() >= self.idle {
                    Err(StreamError::Silent(self.idle))
                } else if Instant::now() > self.until {
                    Err(StreamError::Late)
                } else {
                    Ok(())
                }
            }
            ErrorKind::Interrupted if (self.stop)() => Err(StreamError::Stopped),
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
                Err(StreamError::Closed)
            }
            _ => Err(StreamError::Failed(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let two = listener.accept().unwrap().0;
        prepare(&one).unwrap();
        prepare(&two).unwrap();
        (one, two)
    }

    fn io(stop: &dyn Fn() -> bool) -> TimedIo<'_> {
        TimedIo {
            stop,
            idle: Duration::from_secs(60),
            until: Instant::now() + Duration::from_secs(60),
        }
    }

    #[test]
    fn frames_assemble_from_pieces() {
        let (one, two) = pair();
        let writer = std::thread::spawn(move || {
            for piece in [&b"ab"[..], b"c", b"def"] {
                (&one).write_all(piece).unwrap();
                std::thread::yield_now();
            }
        });
        let (mut got, mut rest) = ([0; 4], [0; 2]);
        io(&|| false).read(&two, &mut got).unwrap();
        io(&|| false).skip(&two, 2, &mut rest).unwrap();
        assert_eq!((&got, &rest[1..]), (b"abcd", &b"f"[..]));
        writer.join().unwrap();
        assert!(matches!(io(&|| false).read(&two, &mut got), Err(StreamError::Closed)));
    }

    #[test]
    fn silence_and_stop_end_reads() {
        let (one, two) = pair();
        let mut buffer = [0; 4];
        let silent = TimedIo { idle: TICK, ..io(&|| false) }.read(&two, &mut buffer);
        assert!(matches!(silent, Err(StreamError::Silent(_))), "{silent:?}");
        assert!(matches!(io(&|| true).read(&two, &mut buffer), Err(StreamError::Stopped)));
        // Nobody reads from the other end, so the kernel's buffers fill up and the write has to
        // wait.
        let many = vec![0; 64 << 20];
        assert!(matches!(io(&|| true).write(&two, &many), Err(StreamError::Stopped)));
        drop(one);
    }

    #[test]
    fn a_trickle_ends_at_the_deadline() {
        let (one, two) = pair();
        (&one).write_all(b"a").unwrap();
        let late = TimedIo { until: Instant::now(), ..io(&|| false) };
        assert!(matches!(late.read(&two, &mut [0; 4]), Err(StreamError::Late)));
        (&one).write_all(&[b'a'; 100]).unwrap();
        assert!(
            matches!(late.skip(&two, 1000, &mut [0; 1]), Err(StreamError::Late)),
            "in pieces of one byte"
        );
    }
}
