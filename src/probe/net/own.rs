//! A far end in this process, for the loopback: nobody has to start one.

use std::io::{self, PipeReader, PipeWriter};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;

use super::limits::Limits;
use super::server::Server;
use super::to::Ip;
use crate::sys::threads::Affinity;

/// Listens on a free port of the loopback until it is dropped; its threads are gone then.
pub struct Own {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Own {
    /// Its threads run on `cpu`; `None`: where the calling thread may run.
    ///
    /// # Errors
    /// There is no loopback of this kind, or no thread or descriptor is left.
    pub fn start(ip: Ip, cpu: Option<usize>) -> io::Result<Own> {
        let listener = listen(ip)?;
        let address = listener.local_addr()?;
        let (wait, wake): (PipeReader, PipeWriter) = io::pipe()?;
        let server = Server::new(vec![listener], None, Limits::default(), &Default::default())?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let body = move || {
            if let Some(cpu) = cpu {
                // Refused, it runs where the scheduler puts it: the clients notice nothing but
                // another figure.
                let _ = Affinity::only(cpu).apply();
            }
            // What fails here is seen by the client, whose connection ends.
            let _ = server.run(&|| stopped.load(Relaxed), Some(&wait), &|_, _| {});
        };
        let thread = std::thread::Builder::new().name("far end".into()).spawn(body)?;
        Ok(Own { address, stop, wake: Some(wake), thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A socket on a free port of the loopback.
///
/// # Errors
/// The errno of bind(2): no such loopback.
pub fn listen(ip: Ip) -> io::Result<TcpListener> {
    match ip {
        Ip::V4 => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)),
        Ip::V6 => TcpListener::bind((Ipv6Addr::LOCALHOST, 0)),
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
