//! `iotui serve`: the far end of the network probes.

use std::collections::HashMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::host;
use crate::output::{failure, print_message};
use crate::plan::Remote;
use crate::probe::net::{
    ClientEvent, Limits, MIN_SECRET_CHARS, SECRET_VARIABLE, SaltedKey, Secret, Server,
};
use crate::sys::signals;

/// Where it listens, and who may come.
#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Address to listen on; any but the loopback needs a shared secret of at least 16 characters
    /// [default: 127.0.0.1 and ::1, port 7717]
    #[arg(long, value_name = "ADDR[:PORT]", value_parser = listen)]
    pub listen: Option<SocketAddr>,

    /// File with the shared secret [default: the environment variable IOTUI_SECRET]
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,

    /// Print nothing but errors to stderr; the addresses are on stdout
    #[arg(long)]
    pub quiet: bool,
}

/// Returns `127.0.0.1`, `0.0.0.0:7717`, `::`, `[::]:7717`. Names are refused, since they may have
/// several addresses.
fn listen(text: &str) -> Result<SocketAddr, String> {
    let text = text.replace("localhost", "127.0.0.1");
    let bare =
        |text: &str| text.parse().ok().map(|ip: IpAddr| SocketAddr::from((ip, Remote::PORT)));
    let found = text
        .parse()
        .ok()
        .or_else(|| bare(&text))
        .or_else(|| bare(text.strip_prefix('[')?.strip_suffix(']')?));
    found.ok_or_else(|| {
        format!(
            "not an IP address of this machine, e.g. 192.0.2.7, 0.0.0.0:{0} or [::]:{0}",
            Remote::PORT
        )
    })
}

/// Serves until a signal arrives; returns the exit code.
///
/// # Errors
/// The server would admit strangers, or could admit no client.
pub fn run(args: &Serve) -> anyhow::Result<u8> {
    let secret = Secret::find(args.secret_file.as_deref());
    let secret =
        if args.secret_file.is_some() { secret.context("--secret-file")? } else { secret? };
    if let (Some(address), None) =
        (args.listen.filter(|address| !address.ip().is_loopback()), &secret)
    {
        anyhow::bail!(
            "--listen: {} is reachable from other machines: set {SECRET_VARIABLE} or use --secret-file \
             FILE, with at least {MIN_SECRET_CHARS} characters, here and on the measuring machine",
            address.ip()
        );
    }
    signals::install().context("cannot handle signals")?;
    let listeners = listeners(args.listen)?;
    let addresses: Vec<String> =
        listeners.iter().filter_map(|own| Some(format!("{}\n", own.local_addr().ok()?))).collect();
    let known = if secret.is_some() {
        "for clients that know the secret"
    } else {
        "for programs on this machine"
    };
    let salted = secret.as_ref().map(SaltedKey::new).transpose().map_err(failure)?;
    let server = Server::new(listeners, salted, Limits::default(), &host::collect().summary())
        .map_err(failure)?;
    // A closed stdout does not stop the server.
    let _ = std::io::stdout()
        .write_all(addresses.concat().as_bytes())
        .and_then(|()| std::io::stdout().flush());
    if !args.quiet {
        print_message(format!("iotui: listening {known}; stop with Ctrl-C or SIGTERM"));
    }
    let book = Book::new(args.quiet);
    fn stop() -> bool {
        signals::stop_flag().load(std::sync::atomic::Ordering::Acquire)
    }
    server.run(&stop, None, &|from, what| book.note(from.ip(), what)).map_err(failure)?;
    if !args.quiet {
        print_message(format!("iotui: stopped after {} connections", server.accepted()));
    }
    Ok(signals::pending().map_or(0, |signal| 128 + signal as u8))
}

/// Returns the sockets: of the address that was named, else of both loopbacks, where there are two.
fn listeners(named: Option<SocketAddr>) -> anyhow::Result<Vec<TcpListener>> {
    fn bind(address: SocketAddr) -> Result<TcpListener, anyhow::Error> {
        TcpListener::bind(address)
            .map_err(|error| failure(format!("cannot listen on {address}: {error}")))
    }
    if let Some(address) = named {
        return Ok(vec![bind(address)?]);
    }
    let first = bind((Ipv4Addr::LOCALHOST, Remote::PORT).into())?;
    // A machine without IPv6 has one loopback.
    Ok([first].into_iter().chain(TcpListener::bind((Ipv6Addr::LOCALHOST, Remote::PORT))).collect())
}

/// Prints events of clients: one line per client, however many connections it makes, and a limited
/// number of complaints about strangers.
struct Book {
    quiet: bool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// When a client last had a line.
    greeted: HashMap<IpAddr, Instant>,
    complained: Option<Instant>,
    omitted: u64,
}

/// A client that was absent this long is new.
const ABSENCE_TIMEOUT: Duration = Duration::from_secs(60);
/// Minimum time between complaints.
const COMPLAINT_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of clients that are remembered.
const MAX_CLIENTS: usize = 1024;

impl Book {
    fn new(quiet: bool) -> Book {
        Book { quiet, seen: Mutex::default() }
    }

    fn note(&self, from: IpAddr, what: ClientEvent) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = seen.line(from, what, Instant::now()).filter(|_| !self.quiet) {
            print_message(format!("iotui: {line}"));
        }
    }
}

impl Seen {
    fn line(&mut self, from: IpAddr, what: ClientEvent, now: Instant) -> Option<String> {
        match what {
            ClientEvent::Authenticated => {
                if self.greeted.len() >= MAX_CLIENTS {
                    self.greeted.retain(|_, last| now - *last < ABSENCE_TIMEOUT);
                }
                if self.greeted.len() >= MAX_CLIENTS && !self.greeted.contains_key(&from) {
                    return None;
                }
                self.greeted
                    .insert(from, now)
                    .is_none_or(|last| now - last >= ABSENCE_TIMEOUT)
                    .then(|| format!("{from} is measuring"))
            }
            ClientEvent::Ended(_)
                if self.complained.is_some_and(|last| now - last < COMPLAINT_INTERVAL) =>
            {
                self.omitted += 1;
                None
            }
            ClientEvent::Ended(why) => {
                self.complained = Some(now);
                let more = std::mem::take(&mut self.omitted);
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                Some(format!("{from} was disconnected: {why}{more}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_and_without_a_port() {
        fn read(text: &str) -> Result<String, String> {
            listen(text).map(|address| address.to_string())
        }
        assert_eq!(read("127.0.0.1"), Ok(format!("127.0.0.1:{}", Remote::PORT)));
        assert_eq!(read("localhost:0"), Ok("127.0.0.1:0".into()));
        assert_eq!(read("::"), Ok(format!("[::]:{}", Remote::PORT)));
        assert_eq!(read("[::1]"), Ok(format!("[::1]:{}", Remote::PORT)));
        assert_eq!(read("[::1]:80"), Ok("[::1]:80".into()));
        for bad in ["", "example.org", "1.2.3", "1.2.3.4:99999", ":80", "[::1"] {
            assert!(read(bad).is_err_and(|why| why.contains("address")), "{bad}");
        }
    }

    #[test]
    fn refused_clients_do_not_flood() {
        let (mut seen, begin) = (Seen::default(), Instant::now());
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        let [one, two]: [IpAddr; 2] = ["192.0.2.1".parse().unwrap(), "::1".parse().unwrap()];
        assert_eq!(
            seen.line(one, ClientEvent::Authenticated, begin).as_deref(),
            Some("192.0.2.1 is measuring")
        );
        // The next one comes long after the first and soon after the last: it never left.
        assert_eq!(
            [40, 80].map(|seconds| seen.line(one, ClientEvent::Authenticated, at(seconds))),
            [None, None]
        );
        assert!(seen.line(two, ClientEvent::Authenticated, at(80)).is_some());
        assert!(seen.line(one, ClientEvent::Authenticated, at(200)).is_some());
        assert_eq!(
            seen.line(one, ClientEvent::Ended("x"), begin).as_deref(),
            Some("192.0.2.1 was disconnected: x")
        );
        assert_eq!((0..5).find_map(|_| seen.line(one, ClientEvent::Ended("x"), begin)), None);
        assert_eq!(
            seen.line(two, ClientEvent::Ended("y"), at(1)).as_deref(),
            Some("::1 was disconnected: y, and 5 more")
        );
        for number in 0..2 * MAX_CLIENTS as u32 {
            seen.line(Ipv4Addr::from(number).into(), ClientEvent::Authenticated, at(201));
        }
        assert!(seen.greeted.len() <= MAX_CLIENTS);
    }
}
