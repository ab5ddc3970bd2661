//! The destination of a network cell, given by its parameters `to` and `ip`, and how to connect to
//! it.

use super::connection::{Connection, ConnectionError};
use super::ip::Ip;
use super::loopback_server::{self, LoopbackServer};
use crate::probe::params::ParamSource;
use crate::probe::{ProbeContext, ProbeError};
use crate::record::HostSummary;

/// The far end of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination {
    pub remote: bool,
    pub ip: Ip,
}

/// How to connect to a peer.
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
        source.number_among("bytes", implied, |_, mut usual| {
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

    /// Checks that it can be reached. A peer is contacted once for all cells.
    ///
    /// # Errors
    /// The reason why not, worded for the user.
    pub fn check(self, context: &ProbeContext) -> Result<(), String> {
        match (self.remote, &context.peer) {
            (false, _) => {
                loopback_server::listen(self.ip).map(drop).map_err(|error| match self.ip {
                    Ip::V4 => format!("the loopback is unavailable: {error}"),
                    Ip::V6 => format!("IPv6 is unavailable: {error}"),
                })
            }
            (true, None) => Err(NO_PEER.into()),
            (true, Some(peer)) => peer.fetch_facts(self.ip, &context.stop).map(drop),
        }
    }

    /// Returns the facts about the other machine; `None` for this one.
    pub fn remote_host(self, context: &ProbeContext) -> Option<HostSummary> {
        context.peer.as_ref().filter(|_| self.remote)?.fetch_facts(self.ip, &context.stop).ok()
    }

    /// Connects to it. A server in this process runs on `cpu`, or wherever this thread may run.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub fn open(self, cpu: Option<usize>, context: &ProbeContext) -> Result<Route, ProbeError> {
        if !self.remote {
            let server = LoopbackServer::start(self.ip, cpu)
                .map_err(ProbeError::in_call("a server on the loopback"))?;
            let connection = Connection::open(server.address(), None, &context.stop)
                .map_err(ConnectionError::into_probe_error)?;
            return Ok(Route { connection, _server: Some(server) });
        }
        let peer = context.peer.as_ref().ok_or_else(|| ProbeError::Missing(NO_PEER.into()))?;
        let address = peer.address(self.ip).map_err(ProbeError::Missing)?;
        let secret = peer.secret().map_err(ProbeError::Missing)?;
        let connection = Connection::open(address, secret, &context.stop)
            .map_err(ConnectionError::into_probe_error)?;
        Ok(Route { connection, _server: None })
    }
}
