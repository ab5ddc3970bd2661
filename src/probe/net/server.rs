//! The far end of the network probes.
//!
//! One thread takes connections and waits with poll(2) for their first byte: who only connects, or
//! says nothing, costs a descriptor for a while and nothing else. Who speaks gets a plain thread
//! with blocking calls, up to a limit. It is no asynchronous runtime, because this end is part of
//! what is measured: readiness costs one more system call for every message.

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

use super::client;
use super::key::Salted;
use super::limits::Limits;
use super::wire::MOST_FACTS;
use crate::record::HostSummary;

/// What happens, for whoever watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened<'a> {
    /// It proved that it knows the secret.
    Greeted,
    /// It was left: why.
    Ended(&'a str),
}

/// Called with every client's address, from many threads.
pub type Watch<'a> = dyn Fn(SocketAddr, Happened) + Sync + 'a;

/// A server that listens.
pub struct Server {
    listeners: Vec<TcpListener>,
    /// `None`: everybody may come.
    pub(super) salted: Option<Salted>,
    pub(super) limits: Limits,
    /// JSON of what this machine is.
    pub(super) facts: String,
    accepted: AtomicU64,
    serving: AtomicUsize,
    /// Threads of clients and greeters.
    threads: AtomicUsize,
    /// The oldest first.
    greeters: Mutex<Vec<Greeter>>,
}

/// How often it is looked whether a place is free again, while connections wait for one.
const FREED: Duration = Duration::from_millis(5);

/// A connection that has not said anything yet.
struct Silent {
    stream: Arc<TcpStream>,
    from: SocketAddr,
    since: Instant,
    /// It has said something since, and waits until a greeter's place is free.
    spoke: bool,
}

/// A connection that has said something, and not yet that it knows the secret. They are counted
/// apart from clients: strangers take no place of those who know it.
struct Greeter {
    number: u64,
    stream: Arc<TcpStream>,
    from: SocketAddr,
    since: Instant,
}

/// Which of these places, the oldest first, is given to a newcomer: that of the address with the
/// most, so that one address pushes out its own. `true` marks a place that may be taken from
/// anybody's newcomer; one from an address with a smaller share takes the crowd's oldest even where
/// it may not. `None`: the newcomer waits.
pub(super) fn gives_way(
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
    /// Takes the sockets that listen already.
    ///
    /// # Errors
    /// The errno of a call on one of them.
    pub fn new(
        listeners: Vec<TcpListener>,
        salted: Option<Salted>,
        limits: Limits,
        facts: &HostSummary,
    ) -> io::Result<Server> {
        listeners.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        let facts = serde_json::to_string(&facts.clone().clean()).unwrap_or_default();
        // Cannot be: every text of it was cut. An empty one is still JSON.
        let facts = if facts.len() as u64 <= MOST_FACTS { facts } else { "{}".into() };
        let (serving, threads) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Server {
            listeners,
            salted,
            limits,
            facts,
            accepted: AtomicU64::new(0),
            serving,
            threads,
            greeters: Mutex::default(),
        })
    }

    /// Connections that were taken so far.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Relaxed)
    }

    /// Serves until `stop` says so, or until the writing end of `wake` is gone. All of its threads
    /// have ended then.
    ///
    /// # Errors
    /// The errno of poll(2).
    pub fn run(
        &self,
        stop: &(dyn Fn() -> bool + Sync),
        wake: Option<&PipeReader>,
        watch: &Watch<'_>,
    ) -> io::Result<()> {
        std::thread::scope(|scope| {
            let mut silent: Vec<Silent> = Vec::new();
            loop {
                let accepts =
                    silent.len() < self.limits.silent || self.silent_to_close(&silent).is_some();
                let Some(ready) = self.wait(&silent, accepts, wake)? else { return Ok(()) };
                if stop() {
                    return Ok(());
                }
                let (new, spoken) = ready.split_at(self.listeners.len());
                let now = Instant::now();
                let waiting = std::mem::take(&mut silent);
                for (one, ready) in waiting.into_iter().zip(spoken) {
                    match (*ready || one.spoke, one.since + self.limits.greeting > now) {
                        (true, _) => self.first_byte(one, scope, stop, watch, &mut silent),
                        (false, true) => silent.push(one),
                        (false, false) => {}
                    }
                }
                for (listener, _) in self.listeners.iter().zip(new).filter(|(_, ready)| **ready) {
                    self.take(listener, &mut silent);
                }
            }
        })
    }

    /// Waits for a tick at most; which of the listeners and of the silent have something. `None`:
    /// it is to end.
    fn wait(
        &self,
        silent: &[Silent],
        accepts: bool,
        wake: Option<&PipeReader>,
    ) -> io::Result<Option<Vec<bool>>> {
        // Those that nothing can be done for yet are not polled: they are ready all the time.
        let listening = self.listeners.iter().filter(|_| accepts).map(AsFd::as_fd);
        let quiet = silent.iter().filter(|one| !one.spoke).map(|one| one.stream.as_fd());
        let fds = listening.chain(quiet).chain(wake.map(AsFd::as_fd));
        let mut fds: Vec<PollFd> =
            fds.map(|fd: BorrowedFd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        let blocked = !accepts || silent.iter().any(|one| one.spoke);
        let tick = if blocked { FREED } else { super::patient::TICK };
        match poll(&mut fds, PollTimeout::try_from(tick).unwrap_or(PollTimeout::ZERO)) {
            Ok(_) => {}
            // A signal: the caller looks at its flag.
            Err(Errno::EINTR) => return Ok(Some(vec![false; self.listeners.len() + silent.len()])),
            Err(error) => return Err(error.into()),
        }
        let mut polled = fds.iter().map(|fd| fd.any().unwrap_or(false));
        let mut next = |polls: bool| polls && polled.next().unwrap_or(false);
        let listening: Vec<bool> = self.listeners.iter().map(|_| next(accepts)).collect();
        let ready =
            listening.into_iter().chain(silent.iter().map(|one| next(!one.spoke))).collect();
        Ok(if next(wake.is_some()) { None } else { Some(ready) })
    }

    /// Which of the silent makes room for one more: whoever means it speaks within the grace.
    fn silent_to_close(&self, silent: &[Silent]) -> Option<usize> {
        let places = silent
            .iter()
            .map(|one| (one.from.ip(), !one.spoke && one.since.elapsed() >= self.limits.grace));
        gives_way(places, None)
    }

    /// Takes what waits at a listener.
    fn take(&self, listener: &TcpListener, silent: &mut Vec<Silent>) {
        // As many as the kernel lets wait, so that those who speak get their turn between.
        for _ in 0..128 {
            if silent.len() >= self.limits.silent {
                // The others wait in the kernel's queue.
                let Some(at) = self.silent_to_close(silent) else { return };
                silent.remove(at);
            }
            match listener.accept() {
                Ok((stream, from)) => {
                    self.accepted.fetch_add(1, Relaxed);
                    silent.push(Silent {
                        stream: Arc::new(stream),
                        from,
                        since: Instant::now(),
                        spoke: false,
                    });
                }
                // No descriptors are left: those that are served give some back. Without a pause
                // this would spin.
                Err(error)
                    if matches!(
                        error.raw_os_error(),
                        Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)
                    ) =>
                {
                    std::thread::sleep(super::patient::TICK / 4);
                    return;
                }
                Err(_) => return,
            }
        }
    }

    /// A silent one has a byte, or left.
    fn first_byte<'scope, 'env>(
        &'env self,
        mut one: Silent,
        scope: &'scope Scope<'scope, 'env>,
        stop: &'env (dyn Fn() -> bool + Sync),
        watch: &'env Watch<'env>,
        silent: &mut Vec<Silent>,
    ) {
        match recv(one.stream.as_raw_fd(), &mut [0], MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT) {
            Ok(1..) => {}
            Err(Errno::EAGAIN | Errno::EINTR) => return silent.push(one),
            // It only connected.
            Ok(_) | Err(_) => return,
        }
        let Some(number) = self.begin_greeting(&one) else {
            one.spoke = true;
            return silent.push(one);
        };
        let Silent { stream, from, .. } = one;
        self.threads.fetch_add(1, Relaxed);
        let work = move || {
            let admitted = Cell::new(false);
            let admit = || {
                // Gone from the list: it had to give way.
                admitted.set(self.end_greeting(number) && self.admit());
                admitted.get()
            };
            let served =
                || client::serve(&stream, self, stop, &admit, &|| watch(from, Happened::Greeted));
            match catch_unwind(AssertUnwindSafe(served)) {
                Ok(Err(ended)) if !ended.is_quiet() => {
                    watch(from, Happened::Ended(&ended.to_string()))
                }
                Ok(_) => {}
                Err(_) => watch(from, Happened::Ended("this is a bug in iotui, please report it")),
            }
            self.end_greeting(number);
            drop(stream);
            if admitted.get() {
                self.serving.fetch_sub(1, Relaxed);
            }
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
            watch(from, Happened::Ended("no thread is left for it"));
        }
    }

    /// Gives it a greeter's place, where one is free or gives way.
    fn begin_greeting(&self, one: &Silent) -> Option<u64> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // The threads of those that gave way end at once, but not before the next one begins.
        if self.threads.load(Relaxed) >= self.limits.clients + 2 * self.limits.greeters {
            return None;
        }
        let mut greeters = self.greeters.lock().unwrap_or_else(PoisonError::into_inner);
        if greeters.len() >= self.limits.greeters {
            // Who knows the secret proves it within the grace; taken earlier, its place would be
            // lost to a flood.
            let places = greeters
                .iter()
                .map(|one| (one.from.ip(), one.since.elapsed() >= self.limits.grace));
            let at = gives_way(places, Some(one.from.ip()))?;
            // Its thread sees that as the end of the connection.
            let _ = greeters.remove(at).stream.shutdown(Shutdown::Both);
        }
        let number = NEXT.fetch_add(1, Relaxed);
        greeters.push(Greeter {
            number,
            stream: Arc::clone(&one.stream),
            from: one.from,
            since: Instant::now(),
        });
        Some(number)
    }

    /// It greets no more; `false` where it was not noted any more.
    fn end_greeting(&self, number: u64) -> bool {
        let mut greeters = self.greeters.lock().unwrap_or_else(PoisonError::into_inner);
        let at = greeters.iter().position(|one| one.number == number);
        at.map(|at| greeters.remove(at)).is_some()
    }

    /// A place among the clients.
    fn admit(&self) -> bool {
        let taken = self.serving.fetch_update(Relaxed, Relaxed, |serving| {
            (serving < self.limits.clients).then_some(serving + 1)
        });
        taken.is_ok()
    }
}
