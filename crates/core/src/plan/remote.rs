//! The other machine of the network probes: `HOST` or `HOST:PORT`.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use super::SettingError;

/// The address of `iotui serve` on another machine. Only its name: it is resolved on connecting.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Remote {
    /// A name or an address, without brackets.
    pub host: String,
    pub port: u16,
}

impl Remote {
    /// The default port of `iotui serve`; no other service is registered there.
    pub const PORT: u16 = 7717;
    /// Maximum length of a host name (RFC 1035).
    const MAX_NAME_LEN: usize = 253;
}

impl FromStr for Remote {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Remote, SettingError> {
        let bad = || {
            SettingError::Value(format!(
                "'{text}' is not HOST or HOST:PORT, as in lab-7, 192.0.2.7:{0} or [2001:db8::7]:{0}",
                Remote::PORT
            ))
        };
        let text = text.trim();
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or_else(bad)?;
                (
                    host,
                    if rest.is_empty() {
                        None
                    } else {
                        Some(rest.strip_prefix(':').ok_or_else(bad)?)
                    },
                )
            }
            // An IPv6 address without brackets has no port.
            None if text.matches(':').count() > 1 => (text, None),
            None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        let port = port.map_or(Ok(Remote::PORT), |port| port.parse().map_err(|_| bad()))?;
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
        // A host with colons is an IPv6 address, perhaps with a zone.
        let address = host.split_once('%').map_or(host, |(address, _)| address);
        let sound = !host.contains(':') || address.parse::<Ipv6Addr>().is_ok();
        let sound = sound
            && !host.is_empty()
            && host.len() <= Remote::MAX_NAME_LEN
            && host.chars().all(known)
            && !host.starts_with('-')
            && port > 0;
        if sound { Ok(Remote { host: host.into(), port }) } else { Err(bad()) }
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Remote { host, port } = self;
        match (host.contains(':'), *port == Remote::PORT) {
            (_, true) => f.write_str(host),
            (true, false) => write!(f, "[{host}]:{port}"),
            (false, false) => write!(f, "{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<(String, u16)> {
        text.parse().ok().map(|Remote { host, port }| (host, port))
    }

    #[test]
    fn names_addresses_and_ports() {
        let of = |host: &str, port| Some((host.to_string(), port));
        assert_eq!(read("lab-7"), of("lab-7", Remote::PORT));
        assert_eq!(read(" lab-7.example.org:80 "), of("lab-7.example.org", 80));
        assert_eq!(read("::1"), of("::1", Remote::PORT));
        assert_eq!(read("[fe80::1%eth0]:81"), of("fe80::1%eth0", 81));
        assert_eq!(read("[::1]"), of("::1", Remote::PORT));
        for bad in [
            "",
            ":80",
            "[:]",
            "1:2:3",
            "a:0",
            "a:65536",
            "a:x",
            "[::1",
            "[::1]80",
            "-f",
            "a b",
            "a/b",
            "a;b",
            "a\u{1b}",
            &"a".repeat(254),
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert!("a b".parse::<Remote>().unwrap_err().to_string().contains("HOST:PORT"));
    }

    proptest! {
        #[test]
        fn addresses_survive_a_round_trip(text in "[a-z0-9.:%\\[\\]-]{0,12}") {
            if let Ok(remote) = text.parse::<Remote>() {
                prop_assert_eq!(remote.to_string().parse::<Remote>().unwrap(), remote);
            }
        }
    }
}
