//! The kernel's counters of a TCP connection (`TCP_INFO` of tcp(7)).
#![allow(unsafe_code)]

use std::mem::{MaybeUninit, size_of};
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// Counters of one connection since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpInfo {
    /// Segments that were retransmitted.
    pub retransmits: u32,
    /// Smoothed round-trip time used by congestion control, in microseconds.
    pub round_trip_micros: u32,
}

/// Reads the counters; `None` if the kernel refuses.
pub fn read(stream: &TcpStream) -> Option<TcpInfo> {
    // Fields that an older kernel does not fill in stay zero.
    let mut info: MaybeUninit<libc::tcp_info> = MaybeUninit::zeroed();
    let mut len = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes into `info`, which is that large.
    let done = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &mut len,
        )
    };
    // SAFETY: every field is an integer, for which any bit pattern is valid, and all bytes were
    // zeroed before the call.
    let info = unsafe { info.assume_init() };
    (done == 0).then_some(TcpInfo {
        retransmits: info.tcpi_total_retrans,
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
        assert_eq!(read(&stream).map(|info| info.retransmits), Some(0));
    }
}
