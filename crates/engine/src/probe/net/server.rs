//! The far end of the network probes. One thread accepts connections and waits with poll(2) for
//! their first byte: a client that only connects, or stays silent, costs a descriptor for a while
//! and nothing else. A client that sends something gets a thread with blocking calls, up to a
//! limit. There is no asynchronous runtime because this end is part of the measurement: readiness
//! events cost one more system call per message.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, PipeReader};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv};

use super::client::{self, Limits, Service};
use super::secret::SaltedKey;
use super::wire::MAX_FACTS;
use crate::record::HostSummary;

/// An event of a client, for the watcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientEvent<'a> {
    /// The client proved that it knows the secret.
    Authenticated,
    /// The server ended the connection, with the reason.
    Ended(&'a str),
}

/// Callback with a client's address and an event, called from many threads.
pub type ClientWatcher<'a> = dyn Fn(SocketAddr, ClientEvent) + Sync + 'a;

/// A server on listening sockets.
pub struct Server {
    listeners: Vec<TcpListener>,
    service: Service,
    serving: AtomicUsize,
    /// Threads of clients and of greeters.
    threads: AtomicUsize,
    /// Sorted by age, oldest first.
    greeters: Mutex<Vec<PendingClient>>,
}

/// How often to check for a free place while connections wait for one.
const FREE_PLACE_INTERVAL: Duration = Duration::from_millis(5);

/// A connection that is not authenticated yet. At first it is silent; once it has sent something,
/// it takes the place of a greeter. Greeters have a separate limit, so strangers cannot take the
/// places of authenticated clients.
#[derive(Clone)]
struct PendingClient {
    stream: Arc<TcpStream>,
    from: SocketAddr,
    since: Instant,
    /// Whether it has sent something since, and waits for a free greeter.
    spoke: bool,
    /// The number of the greeter.
    number: u64,
}

/// Returns the index of the place to give to a newcomer, in a list sorted oldest first: one of the
/// address with the most places, so that an address evicts its own connections. `true` marks a
/// place that any newcomer may take; a newcomer from an address with fewer places takes the oldest
/// of that address even if it is not marked. `None` means the newcomer has to wait.
pub(super) fn place_to_evict(
    places: impl Iterator<Item = (IpAddr, bool)>,
    newcomer: Option<IpAddr>,
) -> Option<usize> {
    let mut of: HashMap<IpAddr, (usize, usize, Option<usize>)> = HashMap::new();
    for (at, (address, free)) in places.enumerate() {
        let (count, _, first_free) = of.entry(address).or_insert((0, at, None));
        *count += 1;
        *first_free = first_free.or(free.then_some(at));
    }
    let share = newcomer.map(|address| of.get(&address).map_or(0, |(count, ..)| *count));
    let (count, first, first_free) =
        of.into_values().max_by_key(|(count, first, _)| (*count, std::cmp::Reverse(*first)))?;
    first_free.or_else(|| share.is_some_and(|share| share + 1 < count).then_some(first))
}

impl Server {
    /// Creates a server on sockets that are already listening.
    pub fn new(
        listeners: Vec<TcpListener>,
        salted: Option<SaltedKey>,
        limits: Limits,
        facts: &HostSummary,
    ) -> io::Result<Server> {
        listeners.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        let facts = serde_json::to_string(&facts.clone().clean()).unwrap_or_default();
        // The limit cannot be exceeded, since `clean` truncates every text; even so, `{}` is valid
        // JSON.
        let facts = if facts.len() as u64 <= MAX_FACTS { facts } else { "{}".into() };
        let (serving, threads) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Server {
            listeners,
            service: Service { salted, limits, facts, accepted: AtomicU64::new(0) },
            serving,
            threads,
            greeters: Mutex::default(),
        })
    }

    /// Returns the number of connections accepted so far.
    pub fn accepted(&self) -> u64 {
        self.service.accepted.load(Relaxed)
    }

    /// Serves until `stop` returns true or the write end of `wake` is closed, and returns after all
    /// of its threads have ended.
    pub fn run(
        &self,
        stop: &(dyn Fn() -> bool + Sync),
        wake: Option<&PipeReader>,
        watch: &ClientWatcher<'_>,
    ) -> io::Result<()> {
        std::thread::scope(|scope| {
            let mut silent: Vec<PendingClient> = Vec::new();
            loop {
                let accepts = silent.len() < self.service.limits.silent
                    || self.silent_to_close(&silent).is_some();
                let Some(ready) = self.wait(&silent, accepts, wake)? else { return Ok(()) };
                if stop() {
                    return Ok(());
                }
                let (new, spoken) = ready.split_at(self.listeners.len());
                let now = Instant::now();
                let waiting = std::mem::take(&mut silent);
                for (connection, ready) in waiting.into_iter().zip(spoken) {
                    match (
                        *ready || connection.spoke,
                        connection.since + self.service.limits.greeting > now,
                    ) {
                        (true, _) => self.first_byte(connection, scope, stop, watch, &mut silent),
                        (false, true) => silent.push(connection),
                        (false, false) => {}
                    }
                }
                for (listener, _) in self.listeners.iter().zip(new).filter(|(_, ready)| **ready) {
                    self.take(listener, &mut silent);
                }
            }
        })
    }

    /// Waits at most one tick; returns which of the listeners and silent connections are ready, or
    /// `None` to stop.
    fn wait(
        &self,
        silent: &[PendingClient],
        accepts: bool,
        wake: Option<&PipeReader>,
    ) -> io::Result<Option<Vec<bool>>> {
        // Connections that wait for a place are not polled, because they would always be ready.
        let listening = self.listeners.iter().filter(|_| accepts).map(AsFd::as_fd);
        let quiet = silent
            .iter()
            .filter(|connection| !connection.spoke)
            .map(|connection| connection.stream.as_fd());
        let fds = listening.chain(quiet).chain(wake.map(AsFd::as_fd));
        let mut fds: Vec<PollFd> =
            fds.map(|fd: BorrowedFd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        let blocked = !accepts || silent.iter().any(|connection| connection.spoke);
        let tick = if blocked { FREE_PLACE_INTERVAL } else { super::timed_io::TICK };
        match poll(&mut fds, PollTimeout::try_from(tick).unwrap_or(PollTimeout::ZERO)) {
            Ok(_) => {}
            // Interrupted by a signal: the caller checks the stop flag.
            Err(Errno::EINTR) => return Ok(Some(vec![false; self.listeners.len() + silent.len()])),
            Err(error) => return Err(error.into()),
        }
        let mut polled = fds.iter().map(|fd| fd.any().unwrap_or(false));
        let mut next = |polls: bool| polls && polled.next().unwrap_or(false);
        let listening: Vec<bool> = self.listeners.iter().map(|_| next(accepts)).collect();
        let ready = listening
            .into_iter()
            .chain(silent.iter().map(|connection| next(!connection.spoke)))
            .collect();
        Ok(if next(wake.is_some()) { None } else { Some(ready) })
    }

    /// Returns the silent connection to close for one more: a genuine client sends something within
    /// the grace period.
    fn silent_to_close(&self, silent: &[PendingClient]) -> Option<usize> {
        let places = silent.iter().map(|connection| {
            (
                connection.from.ip(),
                !connection.spoke && connection.since.elapsed() >= self.service.limits.grace,
            )
        });
        place_to_evict(places, None)
    }

    /// Accepts the connections waiting at a listener.
    fn take(&self, listener: &TcpListener, silent: &mut Vec<PendingClient>) {
        // At most the kernel's backlog, so that connections with data get their turn in between.
        for _ in 0..128 {
            if silent.len() >= self.service.limits.silent {
                // The remaining ones wait in the kernel's backlog.
                let Some(at) = self.silent_to_close(silent) else { return };
                silent.remove(at);
            }
            match listener.accept() {
                Ok((stream, from)) => {
                    self.service.accepted.fetch_add(1, Relaxed);
                    let (stream, since) = (Arc::new(stream), Instant::now());
                    silent.push(PendingClient { stream, from, since, spoke: false, number: 0 });
                }
                // No descriptors until clients leave. Without a pause this would be a busy loop.
                Err(error)
                    if matches!(
                        error.raw_os_error(),
                        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
                    ) =>
                {
                    std::thread::sleep(super::timed_io::TICK / 4);
                    return;
                }
                Err(_) => return,
            }
        }
    }

    /// Handles a silent connection that has a byte or was closed.
    fn first_byte<'scope, 'env>(
        &'env self,
        mut connection: PendingClient,
        scope: &'scope Scope<'scope, 'env>,
        stop: &'env (dyn Fn() -> bool + Sync),
        watch: &'env ClientWatcher<'env>,
        silent: &mut Vec<PendingClient>,
    ) {
        match recv(
            connection.stream.as_raw_fd(),
            &mut [0],
            MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT,
        ) {
            Ok(1..) => {}
            Err(Errno::EAGAIN | Errno::EINTR) => return silent.push(connection),
            // Closed without sending anything.
            Ok(_) | Err(_) => return,
        }
        let Some(number) = self.begin_greeting(&connection) else {
            connection.spoke = true;
            return silent.push(connection);
        };
        let PendingClient { stream, from, .. } = connection;
        self.threads.fetch_add(1, Relaxed);
        let work = move || {
            self.serve_client(number, &stream, from, stop, watch);
            drop(stream);
            self.threads.fetch_sub(1, Relaxed);
        };
        if std::thread::Builder::new()
            .name("client".into())
            .stack_size(256 << 10)
            .spawn_scoped(scope, work)
            .is_err()
        {
            self.end_greeting(number);
            self.threads.fetch_sub(1, Relaxed);
            watch(from, ClientEvent::Ended("cannot start a thread for it"));
        }
    }

    /// Serves a client in its own thread until it ends, and reports how.
    fn serve_client(
        &self,
        number: u64,
        stream: &TcpStream,
        from: SocketAddr,
        stop: &(dyn Fn() -> bool + Sync),
        watch: &ClientWatcher,
    ) {
        let admitted = Cell::new(false);
        let admit = || {
            // If it is no longer in the list, it was evicted.
            admitted.set(self.end_greeting(number) && self.admit());
            admitted.get()
        };
        let serve = || {
            client::serve(stream, &self.service, stop, &admit, &|| {
                watch(from, ClientEvent::Authenticated)
            })
        };
        match catch_unwind(AssertUnwindSafe(serve)) {
            Ok(Err(ended)) if !ended.is_quiet() => {
                watch(from, ClientEvent::Ended(&ended.to_string()))
            }
            Ok(_) => {}
            Err(_) => watch(from, ClientEvent::Ended("this is a bug in iotui, please report it")),
        }
        self.end_greeting(number);
        if admitted.get() {
            self.serving.fetch_sub(1, Relaxed);
        }
    }

    /// Assigns a greeter's place if one is free or can be freed.
    fn begin_greeting(&self, connection: &PendingClient) -> Option<u64> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // The threads of evicted greeters end soon, but possibly after the next one starts.
        if self.threads.load(Relaxed)
            >= self.service.limits.clients + 2 * self.service.limits.greeters
        {
            return None;
        }
        let mut greeters = self.greeters.lock().unwrap_or_else(PoisonError::into_inner);
        if greeters.len() >= self.service.limits.greeters {
            // A client that knows the secret proves it within the grace period; if its place could
            // be taken earlier, a flood of strangers would evict it.
            let places = greeters.iter().map(|connection| {
                (connection.from.ip(), connection.since.elapsed() >= self.service.limits.grace)
            });
            let at = place_to_evict(places, Some(connection.from.ip()))?;
            // Its thread notices that the connection has ended.
            let _ = greeters.remove(at).stream.shutdown(Shutdown::Both);
        }
        let number = NEXT.fetch_add(1, Relaxed);
        greeters.push(PendingClient { number, since: Instant::now(), ..connection.clone() });
        Some(number)
    }

    /// Frees the greeter's place; returns false if it had been evicted.
    fn end_greeting(&self, number: u64) -> bool {
        let mut greeters = self.greeters.lock().unwrap_or_else(PoisonError::into_inner);
        let at = greeters.iter().position(|connection| connection.number == number);
        at.map(|at| greeters.remove(at)).is_some()
    }

    /// Takes a client's place; returns false if all are taken.
    fn admit(&self) -> bool {
        let taken = self.serving.fetch_update(Relaxed, Relaxed, |serving| {
            (serving < self.service.limits.clients).then_some(serving + 1)
        });
        taken.is_ok()
    }
}
