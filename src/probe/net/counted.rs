//! What the kernel counts on a TCP connection (TCP_INFO of tcp(7)).
#![allow(unsafe_code)]

use std::mem::{MaybeUninit, size_of};
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// Of one connection, since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Segments that were lost, or thought to be.
    pub sent_again: u32,
    /// Smoothed, as congestion control sees it.
    pub round_trip_micros: u32,
}

/// `None` where the kernel does not say.
pub fn of(stream: &TcpStream) -> Option<Counted> {
    // All of it are numbers, for which zero is one; what an older kernel does not know stays zero.
    let mut info: MaybeUninit<libc::tcp_info> = MaybeUninit::zeroed();
    let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes into `info`, which has so many.
    let done = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &mut len,
        )
    };
    // SAFETY: every field is an integer, for which each pattern is a value, and all bytes were
    // zeroed before the call.
    let info = unsafe { info.assume_init() };
    (done == 0).then_some(Counted {
        sent_again: info.tcpi_total_retrans,
        round_trip_micros: info.tcpi_rtt,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_connection_has_counters() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(of(&stream).map(|counted| counted.sent_again), Some(0));
    }
}
