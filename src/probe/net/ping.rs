//! `ping` as a gauge: the program that everybody knows, beside what iotui measures itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::time::Duration;

use super::to::{Ip, To};
use crate::probe::{Gauge, ProbeError, Site, Took};
use crate::sys::child::{self, ChildAction};

/// Seconds between two echoes: what newer versions allow everyone, and what all do.
const SHORT: &str = "0.002";
const LONG: &str = "0.2";
/// Echoes of one process.
const MOST: u64 = 10;
/// Seconds that an answer is waited for, and that a process lasts at most; the second with a
/// reserve for its own start.
const WAIT: &str = "1";
const LONGEST: &str = "4";
const PATIENCE: Duration = Duration::from_secs(6);

/// Echoes by a process of ping.
pub struct Ping {
    program: PathBuf,
    to: IpAddr,
    bytes: u64,
    between: &'static str,
    site: Site,
    sent: u64,
    back: u64,
}

/// Whether there is a ping at all.
///
/// # Errors
/// There is none: what to do.
pub fn check() -> Result<(), String> {
    program().map(drop)
}

fn program() -> Result<PathBuf, String> {
    let found = child::find("ping", std::env::var_os("PATH").as_deref());
    found.ok_or_else(|| "ping is not installed: apt-get install iputils-ping".into())
}

impl Ping {
    /// Finds out how often this user may ask.
    ///
    /// # Errors
    /// ping is missing or refused, or nobody answers: its own words.
    pub fn open(to: To, bytes: u64, site: &Site) -> Result<Ping, ProbeError> {
        let to = match (to.remote, &site.peer, to.ip) {
            (true, Some(peer), ip) => peer.address(ip).map_err(ProbeError::Missing)?.ip(),
            (true, None, _) => {
                return Err(ProbeError::Missing("no other machine was named".into()));
            }
            (false, _, Ip::V4) => Ipv4Addr::LOCALHOST.into(),
            (false, _, Ip::V6) => Ipv6Addr::LOCALHOST.into(),
        };
        let program = program().map_err(ProbeError::Missing)?;
        let mut ping =
            Ping { program, to, bytes, between: SHORT, site: site.clone(), sent: 0, back: 0 };
        if ping.times(2).is_err() {
            site.go_on()?;
            ping.between = LONG;
            ping.times(1)?;
        }
        Ok(ping)
    }

    /// Milliseconds of the answers to `count` echoes; it is ended where the run is to end, or where
    /// it does not end by itself.
    fn times(&self, count: u64) -> Result<Vec<f64>, ProbeError> {
        let (count, bytes, to) = (count.to_string(), self.bytes.to_string(), self.to.to_string());
        let args =
            ["-n", "-c", &count, "-i", self.between, "-W", WAIT, "-w", LONGEST, "-s", &bytes, &to]
                .map(String::from);
        let mut late = false;
        let mut watch = |since: Duration| {
            late |= since > PATIENCE;
            if late || self.site.stopping() { ChildAction::Kill } else { ChildAction::Continue }
        };
        let ended = child::run(&self.program, &args, &mut watch);
        self.site.go_on()?;
        if late {
            return Err(ProbeError::Missing(format!(
                "ping did not end within {} s",
                PATIENCE.as_secs()
            )));
        }
        let ended = ended.map_err(ProbeError::of("ping"))?;
        let (said, complained) =
            (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        let times = times(&said);
        if times.is_empty() {
            Err(ProbeError::Missing(complaint(&said, &complained)))
        } else {
            Ok(times)
        }
    }
}

/// Milliseconds in `time=0.017 ms` and `time<1 ms`, one of each answer.
fn times(said: &str) -> Vec<f64> {
    let time = |line: &str| {
        let (_, rest) = line.split_once("time=").or_else(|| line.split_once("time<"))?;
        rest.split_whitespace().next()?.trim_end_matches("ms").parse().ok()
    };
    said.lines().filter_map(time).filter(|time: &f64| time.is_finite() && *time >= 0.0).collect()
}

/// Why there is no answer, in one line.
fn complaint(said: &str, complained: &str) -> String {
    // `From ADDRESS icmp_seq=1 Destination Host Unreachable`: the address is nobody's business.
    let unreachable = said.lines().filter(|line| line.contains("nreachable"));
    let unreachable =
        unreachable.filter_map(|line| Some(line.split_once("icmp_seq=")?.1.split_once(' ')?.1));
    let complained = complained.lines().chain(unreachable);
    let first = complained
        .map(|line| line.trim().trim_start_matches("ping:").trim())
        .find(|line| !line.is_empty());
    format!("ping: {}", first.unwrap_or("no echo came back; it may be filtered on the way"))
}

impl Gauge for Ping {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let count = count.clamp(1, MOST);
        let times = self.times(count)?;
        self.sent += count;
        self.back += times.len() as u64;
        let nanos = times.iter().sum::<f64>() * 1e6;
        // ping's own figure: nothing of this process is in it, so nothing is taken out.
        Ok(Took { nanos: nanos.round() as u64, amount: times.len() as f64, ..Took::default() })
    }

    fn most(&self) -> u64 {
        MOST
    }

    fn evidence(&self) -> Vec<String> {
        vec![format!(
            "{} of {} echoes answered; ping's own figures, in whole microseconds",
            self.back, self.sent
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_several_pings_are_read() {
        let iputils = "PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.\n64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.017 ms\n\
                       64 bytes from 127.0.0.1: icmp_seq=2 ttl=64 time=12.5 ms\n\n--- 127.0.0.1 ping statistics ---\n\
                       2 packets transmitted, 2 received, 0% packet loss, time 1ms\nrtt min/avg/max/mdev = 0.017/0.019/0.021/0.002 ms\n";
        assert_eq!(times(iputils), [0.017, 12.5]);
        assert_eq!(times("64 bytes from ::1: seq=0 ttl=64 time=0.057 ms\n"), [0.057], "busybox");
        assert_eq!(times("... time<1 ms\n... time=3ms\n"), [1.0, 3.0]);
        assert!(times("time=\ntime=nan ms\ntime=-1 ms\ntime=x ms\n").is_empty());
    }

    #[test]
    fn a_refusal_is_one_line_in_its_own_words() {
        assert_eq!(
            complaint("", "ping: socktype: SOCK_RAW\nping: socket: Operation not permitted\n"),
            "ping: socktype: SOCK_RAW"
        );
        assert_eq!(
            complaint("From 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n", "\n"),
            "ping: Destination Host Unreachable"
        );
        assert!(complaint("", "").contains("no echo came back"));
    }
}
