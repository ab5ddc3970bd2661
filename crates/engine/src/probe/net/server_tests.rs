//! Strangers and faulty clients cannot harm a server: after each of them it serves the next client.

use std::io::{self, PipeWriter, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::client::Limits;
use super::connection::{Connection, ConnectionError};
use super::secret::{NONCE_LEN, PROOF_LEN, ProofSide, SALT, SaltedKey, Secret, SecretKey, prove};
use super::server::{ClientEvent, Server};
use super::timed_io::StreamError;
use super::wire::{Challenge, FRAME, Hello, MAX_FACTS, MAX_SINK, WireReply, WireRequest};
use crate::catalog::MAX_ECHO;
use crate::probe::error::StopFlag;
use crate::record::HostSummary;

mod crowd;
mod impostors;

/// A server on a free port, with the errors that it reported about its clients.
struct Far {
    address: SocketAddr,
    errors: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Creates a secret without cached keys.
fn fresh() -> Secret {
    Secret::new("a secret for the tests", "here").unwrap()
}

static SECRET: LazyLock<Secret> = LazyLock::new(fresh);
/// The key of all servers, so that it is derived only once.
static SALTED: LazyLock<SaltedKey> = LazyLock::new(|| SaltedKey::new(&SECRET).unwrap());

fn key() -> Option<&'static SecretKey> {
    Some(&SALTED.key)
}

impl Far {
    fn start(limits: Limits) -> Far {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let facts = HostSummary {
            name: "far\u{1b}[31m".into(),
            kernel: "6.1".into(),
            cpus: 4,
            ..HostSummary::default()
        };
        let server = Server::new(vec![listener], Some(SALTED.clone()), limits, &facts).unwrap();
        let (wait, wake) = io::pipe().unwrap();
        let (errors, stop): (Arc<Mutex<Vec<String>>>, Arc<AtomicBool>) = Default::default();
        let (tell, stopped) = (Arc::clone(&errors), Arc::clone(&stop));
        let run = move || {
            server.run(&|| stopped.load(Relaxed), Some(&wait), &|_, what| {
                if let ClientEvent::Ended(why) = what {
                    tell.lock().unwrap().push(why.into());
                }
            })
        };
        Far { address, errors, stop, wake: Some(wake), thread: Some(std::thread::spawn(run)) }
    }

    fn start_default() -> Far {
        Far::start(Limits::default())
    }

    fn connect(&self) -> Connection {
        Connection::open(self.address, Some(&SECRET), &StopFlag::default()).unwrap()
    }

    fn connect_plain(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// Asserts that the server still serves a client.
    fn assert_serves(&self) {
        let connection = self.connect();
        connection.ask(WireRequest::Sink(3)).unwrap();
        connection.write(b"abc").unwrap();
        assert_eq!(connection.reply().unwrap(), 3);
    }

    fn assert_reported(&self, why: &str) {
        let begin = Instant::now();
        while !self.errors.lock().unwrap().iter().any(|errors| errors.contains(why)) {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "{why}: {:?}",
                self.errors.lock().unwrap()
            );
            std::thread::yield_now();
        }
    }

    /// Stops the server: all its threads end within a second, whatever its clients do.
    fn end(mut self) {
        let begin = Instant::now();
        self.stop.store(true, Relaxed);
        drop(self.wake.take());
        self.thread.take().unwrap().join().unwrap().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    }
}

/// Reads until the other end closes the connection, which it must.
fn read_to_close(mut stream: &TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => all,
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => all,
        Err(error) => panic!("it was not closed: {error}"),
    }
}

/// Acts as a client up to the proof; returns the server's verdict.
fn greet_with_proof(
    far: &Far,
    proof: impl Fn(&[u8; NONCE_LEN]) -> [u8; PROOF_LEN],
) -> (TcpStream, u8) {
    let mut stream = far.connect_plain();
    stream.write_all(&Hello { nonce: [1; NONCE_LEN] }.encode()).unwrap();
    let mut challenge = [0; Challenge::LEN];
    stream.read_exact(&mut challenge).unwrap();
    stream.write_all(&proof(&Challenge::decode(&challenge).unwrap().nonce)).unwrap();
    let mut verdict = [9];
    stream.read_exact(&mut verdict).unwrap();
    (stream, verdict[0])
}

#[test]
fn authenticated_clients_can_request_everything() {
    let far = Far::start_default();
    let connection = far.connect();
    let facts = connection.facts().unwrap();
    assert_eq!((facts.name.as_str(), facts.kernel.as_str(), facts.cpus), ("far?[31m", "6.1", 4));
    for count in [1, FRAME as u64, 3 << 20] {
        connection.ask(WireRequest::Sink(count)).unwrap();
        connection.write(&vec![7; count as usize]).unwrap();
        assert_eq!(connection.reply().unwrap(), count);
    }
    connection.ask(WireRequest::Accepted).unwrap();
    assert_eq!(connection.reply().unwrap(), 1);
    connection.ask(WireRequest::Echo(5)).unwrap();
    assert_eq!(connection.reply().unwrap(), 5);
    for message in [b"first", b"secnd"] {
        let mut back = [0; 5];
        connection.write(message).unwrap();
        connection.read(&mut back).unwrap();
        assert_eq!(&back, message);
    }
    drop(connection);
    assert!(far.errors.lock().unwrap().is_empty());
    far.end();
}

#[test]
fn clients_without_secret_are_refused() {
    let far = Far::start_default();
    let other = Secret::new("another secret of words", "x").unwrap();
    let open = |secret: Option<&Secret>| {
        Connection::open(far.address, secret, &StopFlag::default()).err().unwrap()
    };
    assert!(matches!(open(Some(&other)), ConnectionError::Refused));
    far.assert_reported("wrong secret");
    let why = open(None).to_string();
    assert!(why.contains("--secret-file"), "{why}");
    // The server's own proof, reflected, is not a client's proof.
    let (stream, verdict) =
        greet_with_proof(&far, |nonce| prove(key(), ProofSide::Server, &[1; NONCE_LEN], nonce));
    assert_eq!((verdict, read_to_close(&stream)), (0, vec![]));
    let (_, verdict) =
        greet_with_proof(&far, |nonce| prove(key(), ProofSide::Client, &[1; NONCE_LEN], nonce));
    assert_eq!(verdict, 1);
    far.assert_serves();
    far.end();
}

#[test]
fn clients_derive_their_key_once() {
    let far = Far::start_default();
    let secret = fresh();
    let accepted = || {
        let connection =
            Connection::open(far.address, Some(&secret), &StopFlag::default()).unwrap();
        connection.ask(WireRequest::Accepted).unwrap();
        connection.reply().unwrap()
    };
    assert_eq!([accepted(), accepted()], [2, 3]);
    assert!(far.errors.lock().unwrap().is_empty());
    far.end();
}

#[test]
fn garbage_ends_only_its_connection() {
    let far = Far::start_default();
    for garbage in [
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
        vec![0; 100_000],
        vec![0xff; 40],
        b"iotui\0\0\x02".repeat(5),
    ] {
        let mut stream = far.connect_plain();
        let _ = stream.write_all(&garbage);
        read_to_close(&stream);
        far.assert_serves();
    }
    // An older client is informed of the server's version.
    let mut hello = Hello { nonce: [0; NONCE_LEN] }.encode();
    hello[7] = 1;
    let mut stream = far.connect_plain();
    stream.write_all(&hello).unwrap();
    assert!(Challenge::decode(read_to_close(&stream)[..].try_into().unwrap()).is_ok());
    // Authenticates, then sends nonsense.
    for word in [[0xff; FRAME], [0; FRAME]] {
        let connection = far.connect();
        connection.write(&word).unwrap();
        assert!(read_to_close(connection.stream()).is_empty());
    }
    far.assert_reported("invalid message");
    far.assert_serves();
    far.end();
}

#[test]
fn oversized_requests_are_refused_unread() {
    let far = Far::start(Limits { bytes: 10_000, ..Limits::default() });
    for request in [
        WireRequest::Echo(MAX_ECHO + 1),
        WireRequest::Echo(u64::MAX),
        WireRequest::Echo(0),
        WireRequest::Sink(MAX_SINK + 1),
        WireRequest::Sink(0),
    ] {
        let connection = far.connect();
        connection.ask(request).unwrap();
        assert!(matches!(connection.reply(), Err(ConnectionError::OverLimit)), "{request:?}");
        assert!(read_to_close(connection.stream()).is_empty());
    }
    far.assert_reported("too large");
    // More than the limit of a connection, at once and in pieces.
    let connection = far.connect();
    connection.ask(WireRequest::Sink(20_000)).unwrap();
    assert!(connection.reply().is_err());
    let connection = far.connect();
    let asked = (0..10_000)
        .find(|_| connection.ask(WireRequest::Accepted).is_err() || connection.reply().is_err());
    assert!(asked.is_some_and(|count| count <= 10_000 / FRAME as u64), "{asked:?}");
    far.assert_reported("limit of bytes");
    far.assert_serves();
    far.end();
}

#[test]
fn slow_and_silent_clients_are_disconnected() {
    let short = Duration::from_millis(300);
    let far = Far::start(Limits {
        greeting: short,
        idle: short,
        connection: short * 2,
        ..Limits::default()
    });
    let silent = far.connect_plain();
    // A byte now and then does not complete a greeting.
    let mut slow = far.connect_plain();
    let begin = Instant::now();
    let mut gone = false;
    let hello = Hello { nonce: [0; NONCE_LEN] }.encode();
    for byte in hello {
        gone |= slow.write_all(&[byte]).is_err();
        slow.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        gone |= slow.read(&mut [0; 1]).is_ok_and(|got| got == 0);
    }
    assert!(gone, "it was heard for {:?}", begin.elapsed());
    assert!(read_to_close(&silent).is_empty());
    // Authenticates, then stays silent; authenticates, then sends requests forever.
    let (idle, busy) = (far.connect(), far.connect());
    assert!(read_to_close(idle.stream()).is_empty());
    far.assert_reported("silent");
    busy.ask(WireRequest::Echo(1)).ok();
    let begin = Instant::now();
    while busy.write(b"a").is_ok() && busy.read(&mut [0]).is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
    far.assert_serves();
    far.end();
}

#[test]
fn excess_clients_can_return_later() {
    let far = Far::start(Limits { clients: 2, silent: 3, ..Limits::default() });
    let lines = [far.connect(), far.connect()];
    let shut = Connection::open(far.address, Some(&SECRET), &StopFlag::default()).err().unwrap();
    assert!(matches!(shut, ConnectionError::Closed | ConnectionError::Stream(_)), "{shut}");
    far.assert_reported("too many clients");
    drop(lines);
    let begin = Instant::now();
    while Connection::open(far.address, Some(&SECRET), &StopFlag::default()).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
    // Silent connections occupy no client's place, and their number is limited too.
    let silent: Vec<TcpStream> = (0..10).map(|_| far.connect_plain()).collect();
    fn is_closed(stream: &TcpStream) -> bool {
        stream.set_nonblocking(true).unwrap();
        (&mut &*stream).read(&mut [0]).is_ok_and(|got| got == 0)
    }
    while silent.iter().filter(|stream| is_closed(stream)).count() < 7 {
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
    drop(silent);
    while Connection::open(far.address, Some(&SECRET), &StopFlag::default()).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
    far.end();
}

/// Runs in its own process, since descriptors and threads are counted.
#[test]
fn leaving_clients_leave_nothing_behind() {
    use crate::sys::testing;
    const NAME: &str = "probe::net::server_tests::leaving_clients_leave_nothing_behind";
    if !testing::is_alone(NAME, "leavers") {
        return;
    }
    let count = |what: &str| std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count();
    let before = (count("fd"), count("task"));
    let far = Far::start_default();
    let serving = (count("fd"), count("task"));
    for round in 0..20 {
        drop(far.connect_plain());
        for bytes in [1, Hello::LEN - 1, Hello::LEN] {
            far.connect_plain()
                .write_all(&Hello { nonce: [0; NONCE_LEN] }.encode()[..bytes])
                .unwrap();
        }
        let reset = far.connect_plain();
        nix::sys::socket::setsockopt(
            &reset,
            nix::sys::socket::sockopt::Linger,
            &libc::linger { l_onoff: 1, l_linger: 0 },
        )
        .unwrap();
        drop(reset);
        drop(far.connect());
        for (request, bytes) in [
            (WireRequest::Facts, 0),
            (WireRequest::Sink(1 << 20), 1000),
            (WireRequest::Echo(1000), 10),
            (WireRequest::Echo(1000), 1000),
        ] {
            let connection = far.connect();
            connection.ask(request).unwrap();
            connection.write(&vec![0; bytes]).unwrap();
            if round % 2 == 0 {
                connection.stream().shutdown(Shutdown::Read).unwrap();
            }
        }
        far.assert_serves();
    }
    // A joined thread stays listed until the kernel has removed it.
    let until = |wanted: (usize, usize)| {
        let begin = Instant::now();
        while (count("fd"), count("task")) != wanted {
            assert!(begin.elapsed() < Duration::from_secs(20), "{wanted:?} {}", count("task"));
            std::thread::yield_now();
        }
    };
    until(serving);
    let open = far.connect();
    far.end();
    drop(open);
    until(before);
}

#[test]
fn stop_ends_waiting_clients() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = StopFlag::default();
    stop.set();
    let begin = Instant::now();
    // Nothing accepts the connection: the greeting stays in the kernel's buffer, without a reply.
    let stopped = Connection::open(address, None, &stop).err().unwrap().into_probe_error();
    assert!(matches!(stopped, crate::probe::ProbeError::Stopped), "{stopped}");
    assert!(begin.elapsed() < Duration::from_secs(1));
}

#[test]
fn endless_clients_are_disconnected() {
    let far = Far::start(Limits { connection: Duration::from_millis(300), ..Limits::default() });
    for request in [WireRequest::Accepted, WireRequest::Facts, WireRequest::Sink(1)] {
        let connection = far.connect();
        let begin = Instant::now();
        // Eight at once: the next request has arrived before the last reply is written.
        let asked = || {
            (0..8).try_for_each(|_| {
                connection.ask(request).and_then(|()| {
                    if request == WireRequest::Sink(1) { connection.write(b"a") } else { Ok(()) }
                })
            })
        };
        while asked().is_ok()
            && (0..8).all(|_| {
                connection.reply().is_ok_and(|len| {
                    request != WireRequest::Facts
                        || connection.read(&mut vec![0; len as usize]).is_ok()
                })
            })
        {
            assert!(begin.elapsed() < Duration::from_secs(10), "{request:?} is served forever");
        }
    }
    far.assert_reported("took too long");
    far.assert_serves();
    far.end();
}
