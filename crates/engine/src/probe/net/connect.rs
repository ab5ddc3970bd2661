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
use super::destination::{Destination, Route};
use super::estimate;
use super::wire::Request;
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::probe::params::ParamSource;
use crate::probe::{BatchTime, Gauge, ProbeContext, ProbeError, ProbeKind};
use crate::record::{Estimate, HostSummary};
use crate::sys::clock::Clock;

pub(in crate::probe) struct Connect;

/// Maximum connections per batch, fewer than the backlog of a listening socket.
const MAX_CONNECTIONS: u64 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::probe) enum Part {
    Setup,
    Teardown,
}

const PARTS: [(&str, Part); 2] = [("setup", Part::Setup), ("teardown", Part::Teardown)];

impl ProbeKind for Connect {
    const INFO: &'static ProbeInfo = &catalog::CONNECT;
    type Params = (Destination, Part);

    fn params(source: &mut ParamSource) -> Option<Self::Params> {
        Some((Destination::ask(source)?, source.word("part", &PARTS)?))
    }

    fn check((to, _): &Self::Params, context: &ProbeContext) -> Result<(), String> {
        to.check(context)
    }

    fn remote_host((to, _): &Self::Params, context: &ProbeContext) -> Option<HostSummary> {
        to.remote_host(context)
    }

    fn estimate(params: &Self::Params, context: &ProbeContext) -> Option<Estimate> {
        let known = |low, high, reason: &str| Some(Estimate { low, high, reason: reason.into() });
        match params {
            (Destination { remote: true, .. }, Part::Setup) => {
                Some(estimate::ways(context, 2.0, 0.0))
            }
            (Destination { remote: false, .. }, Part::Setup) => known(
                8_000.0,
                150_000.0,
                "three packets through the network stack, two connections set up, and a process \
                 woken: one or two round trips",
            ),
            (_, Part::Teardown) => {
                known(2_000.0, 60_000.0, "one packet sent and a descriptor closed, without waiting")
            }
        }
    }

    fn open(
        (to, part): &Self::Params,
        context: &ProbeContext,
    ) -> Result<Box<dyn Gauge>, ProbeError> {
        let route = to.open(None, context)?;
        let address =
            route.connection.stream().peer_addr().map_err(ProbeError::in_call("getpeername"))?;
        Ok(Box::new(Connections {
            route,
            address,
            part: *part,
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
    part: Part,
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
        self.route.connection.ask(Request::Accepted)?;
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
                Part::Setup => clock.nanos(begin, there),
                Part::Teardown => clock.nanos(there, closed),
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
