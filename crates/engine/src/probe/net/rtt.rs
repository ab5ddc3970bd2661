//! `rtt`: the round-trip time of a message, by TCP and by ping.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use super::connection::{Connection, ConnectionError};
use super::destination::{Destination, Route, estimate_trips};
use super::remote_host::Ip;
use super::wire::WireRequest;
use crate::probe::{BatchTime, Gauge, KnownCell, Opened, ParamSource, ProbeContext, ProbeError};
use crate::record::{Estimate, HostSummary};
use crate::sys::child::{self, ChildAction};

/// Default message size, the same as that of ping.
const DEFAULT_BYTES: u64 = 56;

/// Limits of ping's message size: a message contains its sending time and must fit in one packet.
const PING_BYTES: RangeInclusive<u64> = 16..=65_507;

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SentBy {
    Tcp { bytes: u64, apart: bool },
    Ping { bytes: u64 },
}

pub(in crate::probe) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let to = Destination::ask(source)?;
    let ping = source.word("by", &[("tcp", false), ("ping", true)])?;
    let bytes = to.ask_bytes(source, None, !ping)?;
    let apart = to.ask_apart(source, !ping && bytes == DEFAULT_BYTES)?;
    if ping && (apart || !PING_BYTES.contains(&bytes)) {
        return None;
    }
    let by = if ping { SentBy::Ping { bytes } } else { SentBy::Tcp { bytes, apart } };
    Some(Box::new(RoundTrip { to, by }))
}

struct RoundTrip {
    to: Destination,
    by: SentBy,
}

impl KnownCell for RoundTrip {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        self.to.check(context)?;
        match self.by {
            SentBy::Ping { .. } => find_ping().map(drop),
            SentBy::Tcp { apart: true, .. } => context.check_other_cpu(),
            SentBy::Tcp { .. } => Ok(()),
        }
    }

    fn remote_host(&self, context: &ProbeContext) -> Option<HostSummary> {
        self.to.remote_host(context)
    }

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        let (SentBy::Tcp { bytes, .. } | SentBy::Ping { bytes }) = self.by;
        if self.to.remote {
            return Some(estimate_trips(context, 2.0, bytes as f64));
        }
        let (low, high, reason) = match self.by {
            SentBy::Ping { .. } => (
                5_000.0,
                60_000.0,
                "two system calls and two passes through the network stack, without a context \
                 switch",
            ),
            SentBy::Tcp { apart: true, .. } => (
                8_000.0,
                150_000.0,
                "four system calls, two passes through the network stack, and another CPU woken \
                 twice: a few µs if it idles, tens if it sleeps",
            ),
            SentBy::Tcp { .. } => (
                5_000.0,
                80_000.0,
                "four system calls, two context switches, and two passes through the network \
                 stack: 1 to 10 µs each",
            ),
        };
        Some(Estimate { low, high, reason: reason.into() })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        match self.by {
            SentBy::Ping { bytes } => Ok(Box::new(Ping::open(self.to, bytes, context)?)),
            SentBy::Tcp { bytes, apart } => {
                let route = self.to.open(context.other_cpu().filter(|_| apart), context)?;
                route
                    .connection
                    .ask(WireRequest::Echo(bytes))
                    .map_err(|lost| ConnectionError::from(lost).into_probe_error())?;
                route.connection.reply().map_err(ConnectionError::into_probe_error)?;
                Ok(Box::new(Echo {
                    route,
                    message: vec![0x5a; bytes as usize],
                    back: vec![0; bytes as usize],
                }))
            }
        }
    }
}

struct Echo {
    route: Route,
    message: Vec<u8>,
    back: Vec<u8>,
}

impl Echo {
    fn once(
        connection: &Connection,
        message: &[u8],
        back: &mut [u8],
    ) -> Result<(), ConnectionError> {
        connection.write(message)?;
        Ok(connection.read(back)?)
    }
}

impl Gauge for Echo {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let Echo { route, message, back } = self;
        let mut done = Ok(());
        let batch = BatchTime::of_loop(count, || {
            done = (0..count).try_for_each(|_| Echo::once(&route.connection, message, back))
        });
        done.map_err(ConnectionError::into_probe_error)?;
        if *back != *message {
            return Err(ProbeError::Missing("the reply differs from the message".into()));
        }
        Ok(batch)
    }

    fn evidence(&self) -> Vec<String> {
        self.route.connection.tcp_evidence()
    }
}

/// Seconds between two echoes: the shortest that newer versions allow to every user, and the
/// shortest that all versions allow.
const SHORT_INTERVAL: &str = "0.002";
const LONG_INTERVAL: &str = "0.2";
/// Maximum echoes per process.
const MAX_ECHOES: u64 = 10;
/// Seconds to wait for a reply, and the time limit of a process; [`PROCESS_TIMEOUT`] adds time for
/// its start.
const REPLY_TIMEOUT: &str = "1";
const PROCESS_LIMIT: &str = "4";
const PROCESS_TIMEOUT: Duration = Duration::from_secs(6);

/// Echoes sent by `ping`, the well-known program, for comparison with the measurement of iotui.
struct Ping {
    program: PathBuf,
    to: IpAddr,
    bytes: u64,
    interval: &'static str,
    context: ProbeContext,
    sent: u64,
    answered: u64,
}

fn find_ping() -> Result<PathBuf, String> {
    let found = child::find("ping", std::env::var_os("PATH").as_deref());
    found.ok_or_else(|| {
        "ping is not installed (Debian and Ubuntu: apt-get install iputils-ping)".into()
    })
}

impl Ping {
    /// Determines the shortest interval this user may use; an error is the message of ping.
    fn open(to: Destination, bytes: u64, context: &ProbeContext) -> Result<Ping, ProbeError> {
        let to = match (to.remote, &context.remote, to.ip) {
            (true, Some(remote), ip) => remote.address(ip).map_err(ProbeError::Missing)?.ip(),
            (true, None, _) => {
                return Err(ProbeError::Missing("no remote machine was given".into()));
            }
            (false, _, Ip::V4) => Ipv4Addr::LOCALHOST.into(),
            (false, _, Ip::V6) => Ipv6Addr::LOCALHOST.into(),
        };
        let program = find_ping().map_err(ProbeError::Missing)?;
        let mut ping = Ping {
            program,
            to,
            bytes,
            interval: SHORT_INTERVAL,
            context: context.clone(),
            sent: 0,
            answered: 0,
        };
        if ping.send_echoes(2).is_err() {
            context.check_stop()?;
            ping.interval = LONG_INTERVAL;
            ping.send_echoes(1)?;
        }
        Ok(ping)
    }

    /// Sends `count` echoes and returns the milliseconds of the replies. Kills ping when the run is
    /// stopped or ping does not end by itself.
    fn send_echoes(&self, count: u64) -> Result<Vec<f64>, ProbeError> {
        let (count, bytes, to) = (count.to_string(), self.bytes.to_string(), self.to.to_string());
        let args = [
            "-n",
            "-c",
            &count,
            "-i",
            self.interval,
            "-W",
            REPLY_TIMEOUT,
            "-w",
            PROCESS_LIMIT,
            "-s",
            &bytes,
            &to,
        ]
        .map(String::from);
        let mut late = false;
        let mut watch = |since: Duration| {
            late |= since > PROCESS_TIMEOUT;
            if late || self.context.is_stopping() {
                ChildAction::Kill
            } else {
                ChildAction::Continue
            }
        };
        let ended = child::run(&self.program, &args, &mut watch);
        self.context.check_stop()?;
        if late {
            return Err(ProbeError::Missing(format!(
                "ping did not finish within {} s",
                PROCESS_TIMEOUT.as_secs()
            )));
        }
        let ended = ended.map_err(ProbeError::in_call("ping"))?;
        let (stdout, stderr) =
            (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        let times = parse_times(&stdout);
        if times.is_empty() {
            Err(ProbeError::Missing(failure_reason(&stdout, &stderr)))
        } else {
            Ok(times)
        }
    }
}

/// Returns the milliseconds in `time=0.017 ms` and `time<1 ms`, one per reply.
fn parse_times(stdout: &str) -> Vec<f64> {
    let time = |line: &str| {
        let (_, rest) = line.split_once("time=").or_else(|| line.split_once("time<"))?;
        rest.split_whitespace().next()?.trim_end_matches("ms").parse().ok()
    };
    stdout.lines().filter_map(time).filter(|time: &f64| time.is_finite() && *time >= 0.0).collect()
}

/// Returns the reason for a missing reply, in one line.
fn failure_reason(stdout: &str, stderr: &str) -> String {
    // `From ADDRESS icmp_seq=1 Destination Host Unreachable`: the address is private.
    let unreachable = stdout.lines().filter(|line| line.contains("nreachable"));
    let unreachable =
        unreachable.filter_map(|line| Some(line.split_once("icmp_seq=")?.1.split_once(' ')?.1));
    let stderr = stderr.lines().chain(unreachable);
    let first = stderr
        .map(|line| line.trim().trim_start_matches("ping:").trim())
        .find(|line| !line.is_empty());
    format!("ping: {}", first.unwrap_or("no reply; a firewall may filter echoes"))
}

impl Gauge for Ping {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let count = count.clamp(1, MAX_ECHOES);
        let times = self.send_echoes(count)?;
        self.sent += count;
        self.answered += times.len() as u64;
        let nanos = times.iter().sum::<f64>() * 1e6;
        // ping's result does not include this process, so nothing is subtracted.
        Ok(BatchTime {
            nanos: nanos.round() as u64,
            amount: times.len() as f64,
            ..BatchTime::default()
        })
    }

    fn max_batch(&self) -> u64 {
        MAX_ECHOES
    }

    fn evidence(&self) -> Vec<String> {
        vec![format!(
            "{} of {} echoes answered; times as reported by ping, in whole microseconds",
            self.answered, self.sent
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_several_pings_parse() {
        let iputils = "PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.\n64 bytes from 127.0.0.1: \
                       icmp_seq=1 ttl=64 time=0.017 ms\n64 bytes from 127.0.0.1: icmp_seq=2 ttl=64 \
                       time=12.5 ms\n\n--- 127.0.0.1 ping statistics ---\n2 packets transmitted, 2 \
                       received, 0% packet loss, time 1ms\nrtt min/avg/max/mdev = \
                       0.017/0.019/0.021/0.002 ms\n";
        assert_eq!(parse_times(iputils), [0.017, 12.5]);
        assert_eq!(
            parse_times("64 bytes from ::1: seq=0 ttl=64 time=0.057 ms\n"),
            [0.057],
            "busybox"
        );
        assert_eq!(parse_times("... time<1 ms\n... time=3ms\n"), [1.0, 3.0]);
        assert!(parse_times("time=\ntime=nan ms\ntime=-1 ms\ntime=x ms\n").is_empty());
    }

    #[test]
    fn ping_refusal_is_one_line() {
        assert_eq!(
            failure_reason("", "ping: socktype: SOCK_RAW\nping: socket: Operation not permitted\n"),
            "ping: socktype: SOCK_RAW"
        );
        assert_eq!(
            failure_reason("From 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n", "\n"),
            "ping: Destination Host Unreachable"
        );
        assert!(failure_reason("", "").contains("no reply"));
    }
}
