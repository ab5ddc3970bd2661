//! The remote host: its addresses and facts, determined once for all cells of a run.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::connection::Connection;
use super::secret::{self, Secret};
use crate::plan::Remote;
use crate::probe::error::StopFlag;
use crate::record::HostSummary;

/// The internet protocol; IPv4 unless the cell has a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ip {
    V4,
    V6,
}

/// The machine that `--remote` names.
#[derive(Debug)]
pub struct RemoteHost {
    remote: Remote,
    secret: Result<Option<Secret>, String>,
    addresses: OnceLock<Result<Vec<SocketAddr>, String>>,
    v4: OnceLock<Result<HostSummary, String>>,
    v6: OnceLock<Result<HostSummary, String>>,
}

/// Time limit for name resolution.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);

impl RemoteHost {
    /// Creates the peer with the secret of this process, without contacting it yet.
    pub fn new(remote: &Remote) -> RemoteHost {
        let secret = secret::process_secret().map_err(|error| error.to_string());
        let (addresses, v4, v6) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        RemoteHost { remote: remote.clone(), secret, addresses, v4, v6 }
    }

    /// Returns the secret, if there is one.
    pub fn secret(&self) -> Result<Option<&Secret>, String> {
        self.secret.as_ref().map(Option::as_ref).map_err(String::clone)
    }

    /// Returns its first address of this kind.
    pub fn address(&self, ip: Ip) -> Result<SocketAddr, String> {
        let addresses =
            self.addresses.get_or_init(|| resolve(&self.remote)).as_ref().map_err(String::clone)?;
        let kind = if ip == Ip::V4 { "IPv4" } else { "IPv6" };
        let found = addresses.iter().find(|address| address.is_ipv4() == (ip == Ip::V4));
        found.copied().ok_or_else(|| format!("{} has no {kind} address", self.remote.host))
    }

    /// Returns its facts, requested on first use; a failure is cached too.
    pub fn fetch_facts(&self, ip: Ip, stop: &StopFlag) -> Result<HostSummary, String> {
        let known = if ip == Ip::V4 { &self.v4 } else { &self.v6 };
        let fetch = || {
            let (address, secret) = (self.address(ip)?, self.secret()?);
            let facts = Connection::open(address, secret, stop).and_then(|line| line.facts());
            facts.map_err(|error| format!("{}: {error}", self.remote))
        };
        known.get_or_init(fetch).clone()
    }
}

/// Resolves the name with a time limit. The resolver has none itself, so it runs on a thread that
/// is abandoned if it does not return.
fn resolve(remote: &Remote) -> Result<Vec<SocketAddr>, String> {
    let (to, from) = channel();
    let Remote { host, port } = remote.clone();
    let resolve =
        move || drop(to.send((host.as_str(), port).to_socket_addrs().map(Vec::from_iter)));
    let named = |why: &dyn std::fmt::Display| format!("{}: {why}", remote.host);
    std::thread::Builder::new()
        .name("resolver".into())
        .spawn(resolve)
        .map_err(|error| named(&error))?;
    match from.recv_timeout(RESOLVE_TIMEOUT) {
        Ok(found) => found.map_err(|error| named(&error)),
        Err(_) => Err(named(&"the name was not resolved within 3 s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_match_the_requested_kind() {
        let peer = RemoteHost::new(&"127.0.0.1:9".parse().unwrap());
        assert_eq!(peer.address(Ip::V4), Ok("127.0.0.1:9".parse().unwrap()));
        assert_eq!(peer.address(Ip::V6), Err("127.0.0.1 has no IPv6 address".into()));
    }

    #[test]
    fn unreachable_host_is_named_in_line() {
        // An address that no other test listens on: the free port of a common one may be taken.
        let free = std::net::TcpListener::bind("127.77.0.1:0").unwrap().local_addr().unwrap();
        let peer = RemoteHost::new(&free.to_string().parse().unwrap());
        let why = peer.fetch_facts(Ip::V4, &StopFlag::default()).unwrap_err();
        assert!(
            why.starts_with(&free.to_string()) && why.contains("refused") && !why.contains('\n'),
            "{why}"
        );
    }
}
