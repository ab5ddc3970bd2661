//! What strangers and the clumsy can do to a server: nothing. After each of them it serves the next
//! client.

use std::io::{self, PipeWriter, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::key::{Key, NONCE, PROOF, SALT, Salted, Side, prove};
use super::limits::Limits;
use super::line::{Line, LineError};
use super::patient::Lost;
use super::secret::Secret;
use super::server::{Happened, Server};
use super::wire::{Challenge, FRAME, Hello, MOST_ECHO, MOST_FACTS, MOST_SINK, Reply, Request};
use crate::probe::Site;
use crate::record::HostSummary;

mod crowd;
mod impostors;

/// A server on a free port, with what it said of its clients.
struct Far {
    address: SocketAddr,
    told: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    wake: Option<PipeWriter>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// A secret that was not stretched yet.
fn fresh() -> Secret {
    Secret::new("a secret for the tests", "here").unwrap()
}

static SECRET: LazyLock<Secret> = LazyLock::new(fresh);
/// That of all servers, so that it is stretched once.
static SALTED: LazyLock<Salted> = LazyLock::new(|| Salted::new(&SECRET).unwrap());

fn key() -> Option<&'static Key> {
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
        let (told, stop): (Arc<Mutex<Vec<String>>>, Arc<AtomicBool>) = Default::default();
        let (tell, stopped) = (Arc::clone(&told), Arc::clone(&stop));
        let run = move || {
            server.run(&|| stopped.load(Relaxed), Some(&wait), &|_, what| {
                if let Happened::Ended(why) = what {
                    tell.lock().unwrap().push(why.into());
                }
            })
        };
        Far { address, told, stop, wake: Some(wake), thread: Some(std::thread::spawn(run)) }
    }

    fn usual() -> Far {
        Far::start(Limits::default())
    }

    fn line(&self) -> Line {
        Line::open(self.address, Some(&SECRET), &Site::default()).unwrap()
    }

    fn plain(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// It still does its work.
    fn serves(&self) {
        let line = self.line();
        line.ask(Request::Sink(3)).unwrap();
        line.write(b"abc").unwrap();
        assert_eq!(line.reply().unwrap(), 3);
    }

    fn has_told(&self, why: &str) {
        let begin = Instant::now();
        while !self.told.lock().unwrap().iter().any(|told| told.contains(why)) {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "{why}: {:?}",
                self.told.lock().unwrap()
            );
            std::thread::yield_now();
        }
    }

    /// Ends it: whatever its clients do, all its threads are gone within a second.
    fn end(mut self) {
        let begin = Instant::now();
        self.stop.store(true, Relaxed);
        drop(self.wake.take());
        self.thread.take().unwrap().join().unwrap().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    }
}

/// All that comes until the other end closes; it must.
fn drained(mut stream: &TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => all,
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => all,
        Err(error) => panic!("it was not closed: {error}"),
    }
}

/// Speaks as a client up to the proof.
fn greeted(far: &Far, proof: impl Fn(&[u8; NONCE]) -> [u8; PROOF]) -> (TcpStream, u8) {
    let mut stream = far.plain();
    stream.write_all(&Hello { nonce: [1; NONCE] }.encode()).unwrap();
    let mut challenge = [0; Challenge::LEN];
    stream.read_exact(&mut challenge).unwrap();
    stream.write_all(&proof(&Challenge::decode(&challenge).unwrap().nonce)).unwrap();
    let mut verdict = [9];
    stream.read_exact(&mut verdict).unwrap();
    (stream, verdict[0])
}

#[test]
fn a_client_that_knows_the_secret_has_everything_it_may() {
    let far = Far::usual();
    let line = far.line();
    let facts = line.facts().unwrap();
    assert_eq!((facts.name.as_str(), facts.kernel.as_str(), facts.cpus), ("far?[31m", "6.1", 4));
    for count in [1, FRAME as u64, 3 << 20] {
        line.ask(Request::Sink(count)).unwrap();
        line.write(&vec![7; count as usize]).unwrap();
        assert_eq!(line.reply().unwrap(), count);
    }
    line.ask(Request::Accepted).unwrap();
    assert_eq!(line.reply().unwrap(), 1);
    line.ask(Request::Echo(5)).unwrap();
    assert_eq!(line.reply().unwrap(), 5);
    for message in [b"first", b"secnd"] {
        let mut back = [0; 5];
        line.write(message).unwrap();
        line.read(&mut back).unwrap();
        assert_eq!(&back, message);
    }
    drop(line);
    assert!(far.told.lock().unwrap().is_empty());
    far.end();
}

#[test]
fn who_does_not_know_the_secret_has_nothing() {
    let far = Far::usual();
    let other = Secret::new("another secret of words", "x").unwrap();
    let open =
        |secret: Option<&Secret>| Line::open(far.address, secret, &Site::default()).err().unwrap();
    assert!(matches!(open(Some(&other)), LineError::Refused));
    far.has_told("wrong secret");
    let why = open(None).to_string();
    assert!(why.contains("--secret-file"), "{why}");
    // The server's own proof, sent back to it, is none of a client's.
    let (stream, verdict) = greeted(&far, |nonce| prove(key(), Side::Server, &[1; NONCE], nonce));
    assert_eq!((verdict, drained(&stream)), (0, vec![]));
    let (_, verdict) = greeted(&far, |nonce| prove(key(), Side::Client, &[1; NONCE], nonce));
    assert_eq!(verdict, 1);
    far.serves();
    far.end();
}

#[test]
fn a_client_stretches_the_secret_once_and_comes_again_with_the_key() {
    let far = Far::usual();
    let secret = fresh();
    let accepted = || {
        let line = Line::open(far.address, Some(&secret), &Site::default()).unwrap();
        line.ask(Request::Accepted).unwrap();
        line.reply().unwrap()
    };
    assert_eq!([accepted(), accepted()], [2, 3]);
    assert!(far.told.lock().unwrap().is_empty());
    far.end();
}

#[test]
fn garbage_ends_the_connection_and_nothing_else() {
    let far = Far::usual();
    for garbage in [
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
        vec![0; 100_000],
        vec![0xff; 40],
        b"iotui\0\0\x02".repeat(5),
    ] {
        let mut stream = far.plain();
        let _ = stream.write_all(&garbage);
        drained(&stream);
        far.serves();
    }
    // An older client learns which version this is.
    let mut hello = Hello { nonce: [0; NONCE] }.encode();
    hello[7] = 1;
    let mut stream = far.plain();
    stream.write_all(&hello).unwrap();
    assert!(Challenge::decode(drained(&stream)[..].try_into().unwrap()).is_ok());
    // Known, and then nonsense.
    for word in [[0xff; FRAME], [0; FRAME]] {
        let line = far.line();
        line.write(&word).unwrap();
        assert!(drained(line.stream()).is_empty());
    }
    far.has_told("no part of the protocol");
    far.serves();
    far.end();
}

#[test]
fn what_is_too_large_is_refused_before_a_byte_is_kept() {
    let far = Far::start(Limits { bytes: 10_000, ..Limits::default() });
    for request in [
        Request::Echo(MOST_ECHO + 1),
        Request::Echo(u64::MAX),
        Request::Echo(0),
        Request::Sink(MOST_SINK + 1),
        Request::Sink(0),
    ] {
        let line = far.line();
        line.ask(request).unwrap();
        assert!(matches!(line.reply(), Err(LineError::Limits)), "{request:?}");
        assert!(drained(line.stream()).is_empty());
    }
    far.has_told("too large");
    // More than one connection may have, at once and piece by piece.
    let line = far.line();
    line.ask(Request::Sink(20_000)).unwrap();
    assert!(line.reply().is_err());
    let line = far.line();
    let asked = (0..10_000).find(|_| line.ask(Request::Accepted).is_err() || line.reply().is_err());
    assert!(asked.is_some_and(|count| count <= 10_000 / FRAME as u64), "{asked:?}");
    far.has_told("more bytes");
    far.serves();
    far.end();
}

#[test]
fn the_slow_and_the_silent_are_left() {
    let short = Duration::from_millis(300);
    let far = Far::start(Limits {
        greeting: short,
        idle: short,
        connection: short * 2,
        ..Limits::default()
    });
    let silent = far.plain();
    // A byte now and then is no greeting.
    let mut slow = far.plain();
    let begin = Instant::now();
    let mut gone = false;
    let hello = Hello { nonce: [0; NONCE] }.encode();
    for byte in hello {
        gone |= slow.write_all(&[byte]).is_err();
        slow.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        gone |= slow.read(&mut [0; 1]).is_ok_and(|got| got == 0);
    }
    assert!(gone, "it was heard for {:?}", begin.elapsed());
    assert!(drained(&silent).is_empty());
    // Known, and then silent; known, and asking for ever.
    let (idle, busy) = (far.line(), far.line());
    assert!(drained(idle.stream()).is_empty());
    far.has_told("silent");
    busy.ask(Request::Echo(1)).ok();
    let begin = Instant::now();
    while busy.write(b"a").is_ok() && busy.read(&mut [0]).is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
    far.serves();
    far.end();
}

#[test]
fn too_many_clients_are_turned_away_and_come_back_later() {
    let far = Far::start(Limits { clients: 2, silent: 3, ..Limits::default() });
    let lines = [far.line(), far.line()];
    let shut = Line::open(far.address, Some(&SECRET), &Site::default()).err().unwrap();
    assert!(matches!(shut, LineError::Shut | LineError::Lost(_)), "{shut}");
    far.has_told("too many clients");
    drop(lines);
    let begin = Instant::now();
    while Line::open(far.address, Some(&SECRET), &Site::default()).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
    // Those who say nothing take no client's place; of them, too, there is an end.
    let silent: Vec<TcpStream> = (0..10).map(|_| far.plain()).collect();
    let closed = |stream: &TcpStream| {
        stream.set_nonblocking(true).unwrap();
        (&mut &*stream).read(&mut [0]).is_ok_and(|got| got == 0)
    };
    while silent.iter().filter(|stream| closed(stream)).count() < 7 {
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
    drop(silent);
    while Line::open(far.address, Some(&SECRET), &Site::default()).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
    far.end();
}

/// In a process of its own: descriptors and threads are counted.
#[test]
fn who_leaves_in_any_state_leaves_nothing_behind() {
    use crate::sys::testing;
    const NAME: &str = "probe::net::server_tests::who_leaves_in_any_state_leaves_nothing_behind";
    if !testing::is_child("leavers") {
        let output = testing::child(NAME, "leavers");
        return assert!(output.status.success(), "{output:?}");
    }
    let count = |what: &str| std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count();
    let before = (count("fd"), count("task"));
    let far = Far::usual();
    let serving = (count("fd"), count("task"));
    for round in 0..20 {
        drop(far.plain());
        for bytes in [1, Hello::LEN - 1, Hello::LEN] {
            far.plain().write_all(&Hello { nonce: [0; NONCE] }.encode()[..bytes]).unwrap();
        }
        let reset = far.plain();
        nix::sys::socket::setsockopt(
            &reset,
            nix::sys::socket::sockopt::Linger,
            &libc::linger { l_onoff: 1, l_linger: 0 },
        )
        .unwrap();
        drop(reset);
        drop(far.line());
        for (request, bytes) in [
            (Request::Facts, 0),
            (Request::Sink(1 << 20), 1000),
            (Request::Echo(1000), 10),
            (Request::Echo(1000), 1000),
        ] {
            let line = far.line();
            line.ask(request).unwrap();
            line.write(&vec![0; bytes]).unwrap();
            if round % 2 == 0 {
                line.stream().shutdown(Shutdown::Read).unwrap();
            }
        }
        far.serves();
    }
    // A thread that was joined is listed until the kernel is done with it.
    let until = |wanted: (usize, usize)| {
        let begin = Instant::now();
        while (count("fd"), count("task")) != wanted {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "{wanted:?}: {:?}",
                (count("fd"), count("task"))
            );
            std::thread::yield_now();
        }
    };
    until(serving);
    let open = far.line();
    far.end();
    drop(open);
    until(before);
}

#[test]
fn a_stop_is_heeded_by_a_client_that_waits() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, site) = (listener.local_addr().unwrap(), Site::default());
    site.end();
    let begin = Instant::now();
    // Nobody accepts: the greeting goes into the kernel's buffer, and no answer comes.
    let stopped = Line::open(address, None, &site).err().unwrap().told();
    assert!(matches!(stopped, crate::probe::ProbeError::Stopped), "{stopped}");
    assert!(begin.elapsed() < Duration::from_secs(1));
}

#[test]
fn who_asks_without_a_pause_is_left_in_the_end_too() {
    let far = Far::start(Limits { connection: Duration::from_millis(300), ..Limits::default() });
    for request in [Request::Accepted, Request::Facts, Request::Sink(1)] {
        let line = far.line();
        let begin = Instant::now();
        // Eight at once: the next one is there before the answer to the last is written.
        let asked = || {
            (0..8).try_for_each(|_| {
                line.ask(request).and_then(|()| {
                    if request == Request::Sink(1) { line.write(b"a") } else { Ok(()) }
                })
            })
        };
        while asked().is_ok()
            && (0..8).all(|_| {
                line.reply().is_ok_and(|len| {
                    request != Request::Facts || line.read(&mut vec![0; len as usize]).is_ok()
                })
            })
        {
            assert!(begin.elapsed() < Duration::from_secs(10), "{request:?} is served for ever");
        }
    }
    far.has_told("took too long");
    far.serves();
    far.end();
}
