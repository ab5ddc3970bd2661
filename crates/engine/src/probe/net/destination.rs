//! The destination of a network cell, given by its parameters `to` and `ip`, and how to connect to
//! it.

use super::connection::{Connection, ConnectionError};
use super::ip::Ip;
use super::loopback_server::{self, LoopbackServer};
use crate::plan::{Param, ProbeCell};
use crate::probe::context::ProbeContext;
use crate::probe::error::ProbeError;
use crate::probe::param_table::text;
use crate::record::HostSummary;

/// The far end of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination {
    pub remote: bool,
    pub ip: Ip,
}

/// All destinations, nearest first.
pub const ALL: [Destination; 4] = [
    Destination { remote: false, ip: Ip::V4 },
    Destination { remote: false, ip: Ip::V6 },
    Destination { remote: true, ip: Ip::V4 },
    Destination { remote: true, ip: Ip::V6 },
];

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
    /// Parses the destination of a cell; `None` if it is unknown.
    pub fn parse(cell: &ProbeCell) -> Option<Destination> {
        let remote = match text(cell, "to")? {
            "loopback" => false,
            "remote" => true,
            _ => return None,
        };
        let ip = match cell.params.get("ip") {
            None => Ip::V4,
            Some(Param::Number(6)) => Ip::V6,
            Some(_) => return None,
        };
        Some(Destination { remote, ip })
    }

    /// Returns the parameters of this destination.
    pub fn params(self) -> impl Iterator<Item = (&'static str, Param)> {
        let ip = (self.ip == Ip::V6).then_some(("ip", 6.into()));
        [("to", if self.remote { "remote" } else { "loopback" }.into())].into_iter().chain(ip)
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
