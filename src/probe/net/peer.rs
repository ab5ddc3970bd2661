//! The other machine: its addresses, whether it answers, and what it is; found out once for all
//! cells of a run.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::line::Line;
use super::secret::{self, Secret};
use super::to::Ip;
use crate::plan::Remote;
use crate::probe::Site;
use crate::record::HostSummary;

/// The machine that `--remote` names.
#[derive(Debug)]
pub struct Peer {
    remote: Remote,
    secret: Result<Option<Secret>, String>,
    addresses: OnceLock<Result<Vec<SocketAddr>, String>>,
    v4: OnceLock<Result<HostSummary, String>>,
    v6: OnceLock<Result<HostSummary, String>>,
}

/// A name that is not resolved by then is no name.
const NAMING: Duration = Duration::from_secs(3);

impl Peer {
    /// Touches nothing yet. The secret is that of this process.
    pub fn new(remote: &Remote) -> Peer {
        let secret = secret::kept().map_err(|error| error.to_string());
        let (addresses, v4, v6) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Peer { remote: remote.clone(), secret, addresses, v4, v6 }
    }

    /// # Errors
    /// There is one, and it cannot be used.
    pub fn secret(&self) -> Result<Option<&Secret>, String> {
        self.secret.as_ref().map(Option::as_ref).map_err(String::clone)
    }

    /// Its first address of that kind.
    ///
    /// # Errors
    /// The name is unknown, or has no such address.
    pub fn address(&self, ip: Ip) -> Result<SocketAddr, String> {
        let addresses =
            self.addresses.get_or_init(|| resolve(&self.remote)).as_ref().map_err(String::clone)?;
        let kind = if ip == Ip::V4 { "IPv4" } else { "IPv6" };
        let found = addresses.iter().find(|address| address.is_ipv4() == (ip == Ip::V4));
        found.copied().ok_or_else(|| format!("{} has no {kind} address", self.remote.host))
    }

    /// What it says of itself, asked when first wanted.
    ///
    /// # Errors
    /// It is not there, or not to be talked to; the same for everyone who asks.
    pub fn meet(&self, ip: Ip, site: &Site) -> Result<HostSummary, String> {
        let known = if ip == Ip::V4 { &self.v4 } else { &self.v6 };
        let meet = || {
            let (address, secret) = (self.address(ip)?, self.secret()?);
            let facts = Line::open(address, secret, site).and_then(|line| line.facts());
            facts.map_err(|error| format!("{}: {error}", self.remote))
        };
        known.get_or_init(meet).clone()
    }
}

/// The resolver has no time limit of its own: it is asked on a thread that is left behind where it
/// does not come back.
fn resolve(remote: &Remote) -> Result<Vec<SocketAddr>, String> {
    let (to, from) = channel();
    let Remote { host, port } = remote.clone();
    let ask = move || drop(to.send((host.as_str(), port).to_socket_addrs().map(Vec::from_iter)));
    let told = |why: &dyn std::fmt::Display| format!("{}: {why}", remote.host);
    std::thread::Builder::new().name("resolver".into()).spawn(ask).map_err(|error| told(&error))?;
    match from.recv_timeout(NAMING) {
        Ok(found) => found.map_err(|error| told(&error)),
        Err(_) => Err(told(&"no answer of the resolver for 3 s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_its_kind_only() {
        let peer = Peer::new(&"127.0.0.1:9".parse().unwrap());
        assert_eq!(peer.address(Ip::V4), Ok("127.0.0.1:9".parse().unwrap()));
        assert_eq!(peer.address(Ip::V6), Err("127.0.0.1 has no IPv6 address".into()));
    }

    #[test]
    fn nobody_there_is_one_line_with_the_name() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let peer = Peer::new(&free.to_string().parse().unwrap());
        let why = peer.meet(Ip::V4, &Site::default()).unwrap_err();
        assert!(
            why.starts_with(&free.to_string()) && why.contains("refused") && !why.contains('\n'),
            "{why}"
        );
    }
}
