//! The destination of a network cell, given by its parameters `to` and `ip`: a server in this
//! process, or the remote host.

use std::io::{self, PipeReader, PipeWriter};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;

use super::client::Limits;
use super::connection::{Connection, ConnectionError};
use super::remote_host::Ip;
use super::server::Server;
use crate::facts::NetworkCard;
use crate::probe::{ParamSource, ProbeContext, ProbeError};
use crate::record::{Estimate, HostSummary};
use crate::sys::threads::Affinity;
use crate::units::show_rate;

/// The far end of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination {
    pub remote: bool,
    pub ip: Ip,
}

const NO_PEER: &str =
    "no remote machine was given: run iotui serve there, and add --remote HOST here";

/// A connection to a destination; owns the server if that is in this process.
pub struct Route {
    // Dropped before the server that it connects to.
    pub connection: Connection,
    _server: Option<LoopbackServer>,
}

impl Destination {
    /// Asks for the destination of a cell; lists the nearest first.
    pub fn ask(source: &mut ParamSource) -> Option<Destination> {
        let remote = source.word("to", &[("loopback", false), ("remote", true)])?;
        let ip = if source.mark("ip", 6u64, true)? { Ip::V6 } else { Ip::V4 };
        Some(Destination { remote, ip })
    }

    /// Asks for the size of a message. By default several are listed over IPv4, if `several`, else
    /// only the first.
    pub fn ask_bytes(
        self,
        source: &mut ParamSource,
        implied: Option<u64>,
        several: bool,
    ) -> Option<u64> {
        source.number_among("bytes", implied, &|_, mut usual| {
            if !several || self.ip == Ip::V6 {
                usual.truncate(1);
            }
            usual
        })
    }

    /// Asks whether the far end runs on another CPU, which only the loopback has; lists it for the
    /// nearest destination, if `listed` and no sizes were requested.
    pub fn ask_apart(self, source: &mut ParamSource, listed: bool) -> Option<bool> {
        let nearest = !self.remote && self.ip == Ip::V4;
        let listed = listed && nearest && !source.lists_requested("bytes");
        let apart = source.mark("cpus", 2u64, listed)?;
        (!apart || !self.remote).then_some(apart)
    }

    /// Checks that it can be reached; the error is for the user. A remote host is contacted once
    /// for all cells.
    pub fn check(self, context: &ProbeContext) -> Result<(), String> {
        match (self.remote, &context.remote) {
            (false, _) => listen(self.ip).map(drop).map_err(|error| match self.ip {
                Ip::V4 => format!("the loopback is unavailable: {error}"),
                Ip::V6 => format!("IPv6 is unavailable: {error}"),
            }),
            (true, None) => Err(NO_PEER.into()),
            (true, Some(remote)) => remote.fetch_facts(self.ip, &context.stop).map(drop),
        }
    }

    /// Returns the facts about the other machine; `None` for this one.
    pub fn remote_host(self, context: &ProbeContext) -> Option<HostSummary> {
        context.remote.as_ref().filter(|_| self.remote)?.fetch_facts(self.ip, &context.stop).ok()
    }

    /// Connects to it. A server in this process runs on `cpu`, or wherever this thread may run.
    pub fn open(self, cpu: Option<usize>, context: &ProbeContext) -> Result<Route, ProbeError> {
        if !self.remote {
            let server = LoopbackServer::start(self.ip, cpu)
                .map_err(ProbeError::in_call("a server on the loopback"))?;
            let connection = Connection::open(server.address, None, &context.stop)
                .map_err(ConnectionError::into_probe_error)?;
            return Ok(Route { connection, _server: Some(server) });
        }
        let remote = context.remote.as_ref().ok_or_else(|| ProbeError::Missing(NO_PEER.into()))?;
        let address = remote.address(self.ip).map_err(ProbeError::Missing)?;
        let secret = remote.secret().map_err(ProbeError::Missing)?;
        let connection = Connection::open(address, secret, &context.stop)
            .map_err(ConnectionError::into_probe_error)?;
        Ok(Route { connection, _server: None })
    }
}

/// A server on a free loopback port; dropping it ends its threads.
struct LoopbackServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl LoopbackServer {
    /// Starts the server. Its threads run on `cpu`, or wherever the calling thread may run.
    fn start(ip: Ip, cpu: Option<usize>) -> io::Result<LoopbackServer> {
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
}

/// Opens a socket on a free loopback port.
fn listen(ip: Ip) -> io::Result<TcpListener> {
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

/// Header bytes of a data packet: IPv4, TCP and its time stamps.
const HEADERS: f64 = 52.0;
/// Bytes around a packet in an Ethernet frame: preamble, addresses, checksum, gap (IEEE 802.3).
const FRAMING: f64 = 38.0;

/// Returns the speed in bytes per second and the MTU of the fastest card with a link.
fn fastest_link(context: &ProbeContext) -> Option<(f64, f64)> {
    fn up(card: &&NetworkCard) -> bool {
        !card.is_virtual && card.state == "up"
    }
    let fast = context
        .host
        .network
        .iter()
        .filter(up)
        .filter_map(|card| Some((card.speed?, card.mtu.unwrap_or(1500))))
        .max()?;
    Some((f64::from(fast.0) * 1e6 / 8.0, f64::from(fast.1)))
}

/// Estimates the payload bytes per second over the fastest card.
pub fn estimate_bandwidth(context: &ProbeContext) -> Option<Estimate> {
    let (speed, mtu) = fastest_link(context)?;
    let share = (mtu - HEADERS) / (mtu + FRAMING);
    let reason = format!(
        "{:.0} % of the {} of the fastest card with a link: {} bytes of overhead per packet of \
         {mtu}",
        share * 100.0,
        show_rate(speed),
        HEADERS + FRAMING
    );
    (share > 0.0).then_some(Estimate { low: speed * share * 0.5, high: speed * share, reason })
}

/// Estimates the nanoseconds of `trips` one-way trips through a network with `bytes` each.
pub fn estimate_trips(context: &ProbeContext, trips: f64, bytes: f64) -> Estimate {
    let wire =
        fastest_link(context).map(|(speed, _)| trips * (bytes + HEADERS + FRAMING) / speed * 1e9);
    let wire_time = wire.map_or("the speed of the link is unknown".to_string(), |nanos| {
        format!("{nanos:.0} ns on the wire at the speed of the fastest card")
    });
    Estimate {
        low: 8_000.0 * trips + wire.unwrap_or(0.0),
        high: 250_000.0 * trips + wire.unwrap_or(0.0),
        reason: format!(
            "{wire_time}; two cards, a switch and a sleeping CPU add 8 to 250 µs each way within a \
             building"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fastest_linked_card_decides() {
        let mut context = ProbeContext::default();
        assert_eq!(estimate_bandwidth(&context), None);
        let card = |speed, is_virtual, state: &str| NetworkCard {
            speed,
            is_virtual,
            state: state.into(),
            mtu: Some(1500),
            ..NetworkCard::default()
        };
        context.host.network = vec![
            card(Some(100), false, "up"),
            card(Some(1000), false, "up"),
            card(Some(40_000), false, "down"),
            card(Some(10_000), true, "up"),
        ];
        let found = estimate_bandwidth(&context).unwrap();
        // 1448 of 1538 bytes of 125 MB/s.
        assert!(
            (found.high - 125e6 * 1448.0 / 1538.0).abs() < 1.0 && found.low < found.high,
            "{found:?}"
        );
        let wire = estimate_trips(&context, 2.0, 56.0).low
            - estimate_trips(&ProbeContext::default(), 2.0, 56.0).low;
        assert!((wire - 2.0 * 146.0 * 8.0).abs() < 1e-6, "{wire}");
    }
}
