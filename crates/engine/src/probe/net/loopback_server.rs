//! A server in this process as the far end of loopback cells.

use std::io::{self, PipeReader, PipeWriter};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;

use super::ip::Ip;
use super::limits::Limits;
use super::server::Server;
use crate::sys::threads::Affinity;

/// A server on a free loopback port; dropping it ends its threads.
pub struct LoopbackServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl LoopbackServer {
    /// Starts the server. Its threads run on `cpu`, or wherever the calling thread may run.
    ///
    /// # Errors
    /// If there is no loopback interface of this kind, or no thread or descriptor is available.
    pub fn start(ip: Ip, cpu: Option<usize>) -> io::Result<LoopbackServer> {
        let listener = listen(ip)?;
        let address = listener.local_addr()?;
        let (wait, wake): (PipeReader, PipeWriter) = io::pipe()?;
        let server = Server::new(vec![listener], None, Limits::default(), &Default::default())?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let body = move || {
            if let Some(cpu) = cpu {
                // If refused, the server runs where the scheduler puts it, which only changes the
                // results.
                let _ = Affinity::only(cpu).apply();
            }
            // The client notices a failure when its connection ends.
            let _ = server.run(&|| stopped.load(Relaxed), Some(&wait), &|_, _| {});
        };
        let thread = std::thread::Builder::new().name("far end".into()).spawn(body)?;
        Ok(LoopbackServer { address, stop, wake: Some(wake), thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Opens a socket on a free loopback port.
///
/// # Errors
/// The errno of bind(2): no such loopback.
pub fn listen(ip: Ip) -> io::Result<TcpListener> {
    match ip {
        Ip::V4 => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)),
        Ip::V6 => TcpListener::bind((Ipv6Addr::LOCALHOST, 0)),
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
