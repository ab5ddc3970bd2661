//! `connect`: opening and closing a TCP connection.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrStorage, connect, setsockopt, socket,
    sockopt::SendTimeout,
};
use nix::sys::time::{TimeVal, TimeValLike};

use super::connection::{ConnectionError, IDLE_TIMEOUT};
use super::destination::{Destination, Route, estimate_trips};
use super::wire::WireRequest;
use crate::probe::{BatchTime, Gauge, KnownCell, Opened, ParamSource, ProbeContext, ProbeError};
use crate::record::{Estimate, HostSummary};
use crate::sys::clock::Clock;

/// Maximum connections per batch, fewer than the backlog of a listening socket.
const MAX_CONNECTIONS: u64 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectPart {
    Setup,
    Teardown,
}

const PARTS: [(&str, ConnectPart); 2] =
    [("setup", ConnectPart::Setup), ("teardown", ConnectPart::Teardown)];

pub(in crate::probe) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let (to, part) = (Destination::ask(source)?, source.word("part", &PARTS)?);
    Some(Box::new(Connect { to, part }))
}

struct Connect {
    to: Destination,
    part: ConnectPart,
}

impl KnownCell for Connect {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        self.to.check(context)
    }

    fn remote_host(&self, context: &ProbeContext) -> Option<HostSummary> {
        self.to.remote_host(context)
    }

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        let (low, high, reason) = match self.part {
            ConnectPart::Setup if self.to.remote => return Some(estimate_trips(context, 2.0, 0.0)),
            ConnectPart::Setup => (
                8_000.0,
                150_000.0,
                "three packets through the network stack, two connections set up, and a process \
                 woken: one or two round trips",
            ),
            ConnectPart::Teardown => {
                (2_000.0, 60_000.0, "one packet sent and a descriptor closed, without waiting")
            }
        };
        Some(Estimate { low, high, reason: reason.into() })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let route = self.to.open(None, context)?;
        let address =
            route.connection.stream().peer_addr().map_err(ProbeError::in_call("getpeername"))?;
        Ok(Box::new(Connections {
            route,
            address,
            part: self.part,
            context: context.clone(),
            opened: 0,
            accepted_total: 0,
        }))
    }
}

struct Connections {
    /// Keeps the far end alive, and is used to query how many connections it accepted.
    route: Route,
    address: SocketAddr,
    part: ConnectPart,
    context: ProbeContext,
    opened: u64,
    /// Connections the far end accepted in all batches so far.
    accepted_total: u64,
}

fn create_socket(address: &SocketAddr) -> Result<OwnedFd, ProbeError> {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let opened = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, SockProtocol::Tcp)
        .map_err(ProbeError::in_call("socket"))?;
    // Also limits connect(2), which otherwise waits two minutes for a peer that vanished.
    setsockopt(&opened, SendTimeout, &TimeVal::milliseconds(500))
        .map_err(ProbeError::in_call("setsockopt"))?;
    Ok(opened)
}

impl Connections {
    fn accepted(&self) -> Result<u64, ConnectionError> {
        self.route.connection.ask(WireRequest::Accepted)?;
        self.route.connection.reply()
    }

    /// Waits until the far end has accepted `wanted` more connections than `before`: a full backlog
    /// drops new ones for a second.
    fn wait_until_accepted(&mut self, before: u64, wanted: u64) -> Result<(), ProbeError> {
        let begin = Instant::now();
        loop {
            self.context.check_stop()?;
            let taken =
                self.accepted().map_err(ConnectionError::into_probe_error)?.saturating_sub(before);
            if taken >= wanted {
                self.accepted_total += taken;
                return Ok(());
            }
            if begin.elapsed() > IDLE_TIMEOUT {
                let why = format!(
                    "the far end accepted only {taken} of {wanted} connections within {} s",
                    IDLE_TIMEOUT.as_secs()
                );
                return Err(ProbeError::Missing(why));
            }
            crate::sys::pause::sleep(Duration::from_micros(100));
        }
    }
}

impl Gauge for Connections {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let count = count.min(MAX_CONNECTIONS);
        let before = self.accepted().map_err(ConnectionError::into_probe_error)?;
        let (clock, to) = (Clock::best(), SockaddrStorage::from(self.address));
        let mut nanos = 0;
        for _ in 0..count {
            self.context.check_stop()?;
            let socket = create_socket(&self.address)?;
            let begin = clock.now();
            connect(socket.as_raw_fd(), &to).map_err(ProbeError::in_call("connect"))?;
            let there = clock.now();
            drop(socket);
            let closed = clock.now();
            nanos += match self.part {
                ConnectPart::Setup => clock.nanos(begin, there),
                ConnectPart::Teardown => clock.nanos(there, closed),
            };
        }
        self.opened += count;
        self.wait_until_accepted(before, count)?;
        Ok(BatchTime { nanos, amount: count as f64, loops: 0, readings: count })
    }

    fn max_batch(&self) -> u64 {
        MAX_CONNECTIONS
    }

    fn evidence(&self) -> Vec<String> {
        vec![format!(
            "{} connections opened, {} accepted by the far end",
            self.opened, self.accepted_total
        )]
    }
}
