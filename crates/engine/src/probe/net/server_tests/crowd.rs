//! Many strangers at once.

use std::net::IpAddr;
use std::thread::JoinHandle;

use super::*;
use crate::probe::net::server::place_to_evict as evict_among;

/// Returns whether this process may open `count` descriptors and some more, raising the limit if
/// allowed.
fn may_open(count: u64) -> bool {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (now, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let wanted = count + 1000;
    now >= wanted || most >= wanted && setrlimit(Resource::RLIMIT_NOFILE, wanted, most).is_ok()
}

/// Keeps `strangers` connections open that each send the first `says` bytes of a greeting, until
/// `stop`. Each is replaced as soon as it is closed, and half of them regardless.
fn crowd_in(far: &Far, strangers: usize, says: usize, stop: &Arc<AtomicBool>) -> JoinHandle<()> {
    let (address, stop) = (far.address, Arc::clone(stop));
    let say = Hello { nonce: [3; NONCE_LEN] }.encode()[..says].to_vec();
    std::thread::spawn(move || {
        let connect = || {
            let mut stream = TcpStream::connect(address).ok()?;
            stream.write_all(&say).ok()?;
            stream.set_nonblocking(true).ok()?;
            Some(stream)
        };
        let mut all: Vec<Option<TcpStream>> = (0..strangers).map(|_| connect()).collect();
        let mut turn = 0usize;
        while !stop.load(Relaxed) {
            turn += 1;
            let at = turn % all.len();
            let gone = all[at]
                .as_ref()
                .is_none_or(|stream| (&mut &*stream).read(&mut [0; 64]).is_ok_and(|got| got == 0));
            if gone || turn.is_multiple_of(2) {
                all[at] = connect();
            }
            std::thread::yield_now();
        }
    })
}

#[test]
fn strangers_take_no_client_places() {
    for (strangers, says) in [(40, 1), (1000, 1), (1000, Hello::LEN)] {
        if !may_open(2 * strangers as u64) {
            crate::sys::testing::skip(&format!(
                "{strangers} strangers need more descriptors than allowed"
            ));
            continue;
        }
        let far = Far::start_default();
        let stop = Arc::new(AtomicBool::new(false));
        let crowd = crowd_in(&far, strangers, says, &stop);
        let is_served = |secret: &Secret| {
            Connection::open(far.address, Some(secret), &StopFlag::default()).is_ok_and(
                |connection| {
                    connection.ask(WireRequest::Sink(3)).is_ok()
                        && connection.write(b"abc").is_ok()
                        && connection.reply().is_ok_and(|got| got == 3)
                },
            )
        };
        let (mut served, mut retries) = (0, 0);
        // The first of them still has to derive its key.
        for secret in std::iter::once(&fresh()).chain(std::iter::repeat_n(&*SECRET, 49)) {
            // On a busy machine a greeting may take longer than a server waits for it.
            let attempts = (1..=3).find(|_| is_served(secret));
            served += usize::from(attempts.is_some());
            retries += attempts.unwrap_or(1) - 1;
        }
        stop.store(true, Relaxed);
        crowd.join().unwrap();
        assert!(
            served == 50 && retries <= 5,
            "{served} of 50, {retries} retries, with {strangers} strangers that say {says} bytes"
        );
        far.end();
    }
}

#[test]
fn crowds_evict_their_own_connections() {
    let ip = |text: &str| text.parse().unwrap();
    let [one, two]: [IpAddr; 2] = [ip("192.0.2.1"), ip("::1")];
    let place_to_evict =
        |places: &[(IpAddr, bool)], newcomer| evict_among(places.iter().copied(), newcomer);
    assert_eq!(
        place_to_evict(&[(one, true), (two, true), (two, true), (one, true), (two, true)], None),
        Some(1)
    );
    assert_eq!(place_to_evict(&[(one, true), (two, true)], None), Some(0));
    assert_eq!(place_to_evict(&[], Some(one)), None);
    // Recent connections keep their places, even if another address with fewer places has an older
    // one.
    let young = [(one, true), (two, false), (two, false), (two, true), (two, false)];
    assert_eq!(place_to_evict(&young, Some(two)), Some(3));
    assert_eq!(place_to_evict(&young[..3], Some(two)), None);
    // Another address does not take more than its share from the crowd.
    assert_eq!(place_to_evict(&young[1..3], Some(one)), Some(0));
    assert_eq!(place_to_evict(&young[..3], Some(one)), None);
}
