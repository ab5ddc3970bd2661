//! Reading and writing whole frames on a socket that may stay silent: every call comes back within
//! a tick, looks whether to stop, and gives up in the end. Where bytes flow, it costs no more than
//! the bare calls.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// No call on a socket waits longer before it looks at the stop flag: both ends are gone well
/// within a second.
pub const TICK: Duration = Duration::from_millis(200);

/// Why nothing more is to be had from the other end.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
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

/// How long to be patient.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    pub stop: &'a dyn Fn() -> bool,
    /// Without a single byte.
    pub idle: Duration,
    /// However the bytes trickle.
    pub until: Instant,
}

/// Sets the tick; small messages are sent at once.
///
/// # Errors
/// The errno of setsockopt(2).
pub fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(TICK))?;
    stream.set_write_timeout(Some(TICK))?;
    stream.set_nodelay(true)
}

impl Patience<'_> {
    /// Reads all of `buffer`.
    ///
    /// # Errors
    /// Whatever ends it before.
    pub fn read(&self, stream: &TcpStream, buffer: &mut [u8]) -> Result<(), Lost> {
        self.all(buffer.len(), |done| {
            buffer.get_mut(done..).map_or(Ok(0), |rest| (&mut &*stream).read(rest))
        })
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// Whatever ends it before.
    pub fn write(&self, stream: &TcpStream, bytes: &[u8]) -> Result<(), Lost> {
        self.all(bytes.len(), |done| {
            bytes.get(done..).map_or(Ok(0), |rest| (&mut &*stream).write(rest))
        })
    }

    /// Reads `count` bytes and throws them away, through `buffer`, which must not be empty.
    ///
    /// # Errors
    /// Whatever ends it before.
    pub fn skip(&self, stream: &TcpStream, count: u64, buffer: &mut [u8]) -> Result<(), Lost> {
        let (mut left, mut reads) = (count, 0u32);
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let mut got = 0;
            let some = buffer.get_mut(..most).unwrap_or_default();
            // As much as is there: waiting for a full buffer would only add calls.
            self.all(1, |_| {
                got = (&mut &*stream).read(some)?;
                Ok(got.min(1))
            })?;
            left -= got as u64;
            reads = reads.wrapping_add(1);
            // Now and then: small pieces come fast, and this is measured.
            if reads.is_multiple_of(64) && Instant::now() > self.until {
                return Err(Lost::Late);
            }
        }
        Ok(())
    }

    #[inline]
    fn all(
        &self,
        len: usize,
        mut some: impl FnMut(usize) -> io::Result<usize>,
    ) -> Result<(), Lost> {
        let (mut done, mut silent) = (0, None);
        while done < len {
            match some(done) {
                Ok(0) => return Err(Lost::Closed),
                Ok(more) => {
                    done += more;
                    silent = None;
                    if done < len && Instant::now() > self.until {
                        return Err(Lost::Late);
                    }
                }
                Err(error) => self.bear(error, &mut silent)?,
            }
        }
        Ok(())
    }

    #[cold]
    fn bear(&self, error: io::Error, silent: &mut Option<Instant>) -> Result<(), Lost> {
        match error.kind() {
            // A call that was cut by its tick has waited one tick already.
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                let begin = *silent.get_or_insert_with(|| {
                    Instant::now().checked_sub(TICK).unwrap_or_else(Instant::now)
                });
                match () {
                    () if (self.stop)() => Err(Lost::Stopped),
                    () if begin.elapsed() >= self.idle => Err(Lost::Silent(self.idle)),
                    () if Instant::now() > self.until => Err(Lost::Late),
                    () => Ok(()),
                }
            }
            ErrorKind::Interrupted if (self.stop)() => Err(Lost::Stopped),
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
                Err(Lost::Closed)
            }
            _ => Err(Lost::Failed(error)),
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

    fn patience(stop: &dyn Fn() -> bool) -> Patience<'_> {
        Patience {
            stop,
            idle: Duration::from_secs(60),
            until: Instant::now() + Duration::from_secs(60),
        }
    }

    #[test]
    fn pieces_make_a_frame_and_an_end_is_told() {
        let (one, two) = pair();
        let writer = std::thread::spawn(move || {
            for piece in [&b"ab"[..], b"c", b"def"] {
                (&one).write_all(piece).unwrap();
                std::thread::yield_now();
            }
        });
        let (mut got, mut rest) = ([0; 4], [0; 2]);
        patience(&|| false).read(&two, &mut got).unwrap();
        patience(&|| false).skip(&two, 2, &mut rest).unwrap();
        assert_eq!((&got, &rest[1..]), (b"abcd", &b"f"[..]));
        writer.join().unwrap();
        assert!(matches!(patience(&|| false).read(&two, &mut got), Err(Lost::Closed)));
    }

    #[test]
    fn silence_and_a_stop_end_it() {
        let (one, two) = pair();
        let mut buffer = [0; 4];
        let silent = Patience { idle: TICK, ..patience(&|| false) }.read(&two, &mut buffer);
        assert!(matches!(silent, Err(Lost::Silent(_))), "{silent:?}");
        assert!(matches!(patience(&|| true).read(&two, &mut buffer), Err(Lost::Stopped)));
        // Nobody reads: the buffers of the kernel fill up, and writing waits as reading does.
        let many = vec![0; 64 << 20];
        assert!(matches!(patience(&|| true).write(&two, &many), Err(Lost::Stopped)));
        drop(one);
    }

    #[test]
    fn a_trickle_ends_at_the_last_moment() {
        let (one, two) = pair();
        (&one).write_all(b"a").unwrap();
        let late = Patience { until: Instant::now(), ..patience(&|| false) };
        assert!(matches!(late.read(&two, &mut [0; 4]), Err(Lost::Late)));
        (&one).write_all(&[b'a'; 100]).unwrap();
        assert!(
            matches!(late.skip(&two, 1000, &mut [0; 1]), Err(Lost::Late)),
            "in pieces of one byte"
        );
    }
}
