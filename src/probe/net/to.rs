//! Where a cell of a network probe goes: the parameters `to` and `ip`, and what it takes to get
//! there.

use super::line::{Line, LineError};
use super::own::{self, Own};
use crate::plan::{Param, ProbeCell};
use crate::probe::known::text;
use crate::probe::{ProbeError, Site};
use crate::record::HostSummary;

/// Which internet protocol; the fourth unless a cell says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ip {
    V4,
    V6,
}

/// The far end of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct To {
    pub remote: bool,
    pub ip: Ip,
}

/// All of them, near before far.
pub const ALL: [To; 4] = [
    To { remote: false, ip: Ip::V4 },
    To { remote: false, ip: Ip::V6 },
    To { remote: true, ip: Ip::V4 },
    To { remote: true, ip: Ip::V6 },
];

/// What is to be done to have a peer.
const NO_PEER: &str =
    "no other machine was named: run iotui serve there, and name it here with --remote HOST";

/// A far end that can be talked to; one of this process ends with it.
pub struct Way {
    // Dropped before the server that it leads to.
    pub line: Line,
    _own: Option<Own>,
}

impl To {
    /// What a cell says; `None` where that is nothing known.
    pub fn of(cell: &ProbeCell) -> Option<To> {
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
        Some(To { remote, ip })
    }

    /// The parameters that say this.
    pub fn params(self) -> impl Iterator<Item = (&'static str, Param)> {
        let ip = (self.ip == Ip::V6).then_some(("ip", 6.into()));
        [("to", if self.remote { "remote" } else { "loopback" }.into())].into_iter().chain(ip)
    }

    /// Whether it can be reached. A peer is asked once for all cells.
    ///
    /// # Errors
    /// Why not, for people.
    pub fn check(self, site: &Site) -> Result<(), String> {
        match (self.remote, &site.peer) {
            (false, _) => own::listen(self.ip).map(drop).map_err(|error| match self.ip {
                Ip::V4 => format!("no loopback here: {error}"),
                Ip::V6 => format!("no IPv6 here: {error}"),
            }),
            (true, None) => Err(NO_PEER.into()),
            (true, Some(peer)) => peer.meet(self.ip, site).map(drop),
        }
    }

    /// What the other machine said of itself; `None` for this one.
    pub fn far(self, site: &Site) -> Option<HostSummary> {
        site.peer.as_ref().filter(|_| self.remote)?.meet(self.ip, site).ok()
    }

    /// A line to it. A far end in this process runs on `cpu`, or where this thread does.
    ///
    /// # Errors
    /// Nobody is there.
    pub fn open(self, cpu: Option<usize>, site: &Site) -> Result<Way, ProbeError> {
        if !self.remote {
            let own =
                Own::start(self.ip, cpu).map_err(ProbeError::of("a server on the loopback"))?;
            let line = Line::open(own.address(), None, site).map_err(LineError::told)?;
            return Ok(Way { line, _own: Some(own) });
        }
        let peer = site.peer.as_ref().ok_or_else(|| ProbeError::Missing(NO_PEER.into()))?;
        let address = peer.address(self.ip).map_err(ProbeError::Missing)?;
        let secret = peer.secret().map_err(ProbeError::Missing)?;
        let line = Line::open(address, secret, site).map_err(LineError::told)?;
        Ok(Way { line, _own: None })
    }
}
