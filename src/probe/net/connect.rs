//! `connect`: making a TCP connection, and closing it.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrStorage, connect, setsockopt, socket,
    sockopt::SendTimeout,
};
use nix::sys::time::{TimeVal, TimeValLike};

use super::estimate;
use super::line::{IDLE, LineError};
use super::to::{self, To, Way};
use super::wire::Request;
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::probe::known::{has_only, text};
use crate::probe::{Gauge, Probe, ProbeError, Site, Took};
use crate::record::{Estimate, HostSummary};
use crate::sys::clock::Clock;

pub(in crate::probe) struct Connect;

static INFO: ProbeInfo = ProbeInfo {
    id: "connect",
    group: Group::Network,
    title: "connection",
    about: "setting up a TCP connection and closing it, over the loopback and to --remote",
    doc: "Makes sockets and times connect(2) and then close(2) by themselves, once per connection; no byte is sent over them. connect comes \
          back when the other end's kernel has answered, which is one round trip and the making of a connection at both ends; that \
          the program over there takes it is not waited for, and over the loopback mostly happens afterwards. close \
          sends a last packet and does not wait for the answer: it costs about the same whatever the network. A batch has \
          at most 100 connections, as the report's, since each of them keeps its port for a minute.",
    makes_files: false,
    params: &[],
};

/// Connections of a batch: fewer than a listening socket lets wait.
const MOST: u64 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Setup,
    Teardown,
}

fn parts(cell: &ProbeCell) -> Option<(To, Part)> {
    let part = match text(cell, "part")? {
        "setup" => Part::Setup,
        "teardown" => Part::Teardown,
        _ => return None,
    };
    let known: &[&str] =
        if cell.params.contains_key("ip") { &["to", "part", "ip"] } else { &["to", "part"] };
    Some((To::of(cell)?, part)).filter(|_| has_only(cell, known))
}

impl Probe for Connect {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        let of = |to: To| {
            ["setup", "teardown"]
                .map(|part| ProbeCell::new(INFO.id, to.params().chain([("part", part.into())])))
        };
        to::ALL.into_iter().flat_map(of).collect()
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        parts(cell).map_or(Ok(()), |(to, _)| to.check(site))
    }

    fn far(&self, cell: &ProbeCell, site: &Site) -> Option<HostSummary> {
        To::of(cell)?.far(site)
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let known = |low, high, reason: &str| Some(Estimate { low, high, reason: reason.into() });
        match parts(cell)? {
            (To { remote: true, .. }, Part::Setup) => Some(estimate::ways(site, 2.0, 0.0)),
            (To { remote: false, .. }, Part::Setup) => known(
                8_000.0,
                150_000.0,
                "three packets through the network code, two connections made, and a program woken: one or two round trips",
            ),
            (_, Part::Teardown) => {
                known(2_000.0, 60_000.0, "one packet sent and a file closed; nothing is waited for")
            }
        }
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let (to, part) = parts(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        let way = to.open(None, site)?;
        let address = way.line.stream().peer_addr().map_err(ProbeError::of("getpeername"))?;
        Ok(Box::new(Connections { way, address, part, site: site.clone(), made: 0, took: 0 }))
    }
}

struct Connections {
    /// Keeps the far end, and asks it what it has taken.
    way: Way,
    address: SocketAddr,
    part: Part,
    site: Site,
    made: u64,
    /// Connections that the far end had taken by the end of the last batch, since the first.
    took: u64,
}

fn plain(address: &SocketAddr) -> Result<OwnedFd, ProbeError> {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let made = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, SockProtocol::Tcp)
        .map_err(ProbeError::of("socket"))?;
    // It bounds connect(2) too; without it a peer that vanished holds it for two minutes.
    setsockopt(&made, SendTimeout, &TimeVal::milliseconds(500))
        .map_err(ProbeError::of("setsockopt"))?;
    Ok(made)
}

impl Connections {
    fn accepted(&self) -> Result<u64, LineError> {
        self.way.line.ask(Request::Accepted)?;
        self.way.line.reply()
    }

    /// Waits until the far end has taken `wanted` more than `before`: a queue that is full drops
    /// what comes next for a second.
    fn settle(&mut self, before: u64, wanted: u64) -> Result<(), ProbeError> {
        let begin = Instant::now();
        loop {
            self.site.go_on()?;
            let taken = self.accepted().map_err(LineError::told)?.saturating_sub(before);
            if taken >= wanted {
                self.took += taken;
                return Ok(());
            }
            if begin.elapsed() > IDLE {
                let why = format!(
                    "the far end took {taken} of {wanted} connections in {} s",
                    IDLE.as_secs()
                );
                return Err(ProbeError::Missing(why));
            }
            crate::sys::pause::sleep(Duration::from_micros(100));
        }
    }
}

impl Gauge for Connections {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let count = count.min(MOST);
        let before = self.accepted().map_err(LineError::told)?;
        let (clock, to) = (Clock::best(), SockaddrStorage::from(self.address));
        let mut nanos = 0;
        for _ in 0..count {
            self.site.go_on()?;
            let socket = plain(&self.address)?;
            let begin = clock.now();
            connect(socket.as_raw_fd(), &to).map_err(ProbeError::of("connect"))?;
            let there = clock.now();
            drop(socket);
            let closed = clock.now();
            nanos += match self.part {
                Part::Setup => clock.nanos(begin, there),
                Part::Teardown => clock.nanos(there, closed),
            };
        }
        self.made += count;
        self.settle(before, count)?;
        Ok(Took { nanos, amount: count as f64, loops: 0, readings: count })
    }

    fn most(&self) -> u64 {
        MOST
    }

    fn evidence(&self) -> Vec<String> {
        vec![format!("{} connections made, {} taken by the far end", self.made, self.took)]
    }
}
