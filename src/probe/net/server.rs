//! The far end of the network probes.
//!
//! One thread takes connections and waits with poll(2) for their first byte: who only connects, or says nothing, costs a descriptor
//! for a while and nothing else. Who speaks gets a plain thread with blocking calls, up to a limit. It is no asynchronous runtime,
//! because this end is part of what is measured: readiness costs one more system call for every message.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, PipeReader};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv};

use super::client;
use super::limits::Limits;
use super::secret::Secret;
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
    pub(super) secret: Option<Secret>,
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

/// A connection that has not said anything yet.
struct Silent {
    stream: TcpStream,
    from: SocketAddr,
    since: Instant,
}

/// A connection that has said something, and not yet that it knows the secret. They are counted apart from clients: strangers
/// take no place of those who know it.
struct Greeter {
    number: u64,
    stream: Arc<TcpStream>,
    from: SocketAddr,
}

/// Which of these makes room for one more: the oldest of the address that has the most, so that one address pushes out its own.
pub(super) fn gives_way(addresses: impl Iterator<Item = IpAddr>) -> Option<usize> {
    let mut of: HashMap<IpAddr, (usize, usize)> = HashMap::new();
    for (at, address) in addresses.enumerate() {
        of.entry(address).or_insert((0, at)).0 += 1;
    }
    of.into_values().max_by_key(|(count, first)| (*count, std::cmp::Reverse(*first))).map(|(_, first)| first)
}

impl Server {
    /// Takes the sockets that listen already.
    ///
    /// # Errors
    /// The errno of a call on one of them.
    pub fn new(listeners: Vec<TcpListener>, secret: Option<Secret>, limits: Limits, facts: &HostSummary) -> io::Result<Server> {
        listeners.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        let facts = serde_json::to_string(&facts.clone().clean()).unwrap_or_default();
        // Cannot be: every text of it was cut. An empty one is still JSON.
        let facts = if facts.len() as u64 <= MOST_FACTS { facts } else { "{}".into() };
        let (serving, threads) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Server { listeners, secret, limits, facts, accepted: AtomicU64::new(0), serving, threads, greeters: Mutex::default() })
    }

    /// Connections that were taken so far.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Relaxed)
    }

    /// Serves until `stop` says so, or until the writing end of `wake` is gone. All of its threads have ended then.
    ///
    /// # Errors
    /// The errno of poll(2).
    pub fn run(&self, stop: &(dyn Fn() -> bool + Sync), wake: Option<&PipeReader>, watch: &Watch<'_>) -> io::Result<()> {
        std::thread::scope(|scope| {
            let mut silent: Vec<Silent> = Vec::new();
            loop {
                let Some(ready) = self.wait(&silent, wake)? else { return Ok(()) };
                if stop() {
                    return Ok(());
                }
                let (new, spoken) = ready.split_at(self.listeners.len());
                let now = Instant::now();
                let waiting = std::mem::take(&mut silent);
                for (one, ready) in waiting.into_iter().zip(spoken) {
                    match (*ready, one.since + self.limits.greeting > now) {
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

    /// Waits for a tick at most; which of the listeners and of the silent have something. `None`: it is to end.
    fn wait(&self, silent: &[Silent], wake: Option<&PipeReader>) -> io::Result<Option<Vec<bool>>> {
        let listening = self.listeners.iter().map(AsFd::as_fd);
        let fds = listening.chain(silent.iter().map(|one| one.stream.as_fd())).chain(wake.map(AsFd::as_fd));
        let mut fds: Vec<PollFd> = fds.map(|fd: BorrowedFd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        let tick = PollTimeout::try_from(super::patient::TICK).unwrap_or(PollTimeout::ZERO);
        match poll(&mut fds, tick) {
            Ok(_) => {}
            // A signal: the caller looks at its flag.
            Err(Errno::EINTR) => return Ok(Some(vec![false; fds.len() - usize::from(wake.is_some())])),
            Err(error) => return Err(error.into()),
        }
        let mut ready: Vec<bool> = fds.iter().map(|fd| fd.any().unwrap_or(false)).collect();
        let woken = wake.is_some() && ready.pop().unwrap_or(false);
        Ok(if woken { None } else { Some(ready) })
    }

    /// Takes what waits at a listener.
    fn take(&self, listener: &TcpListener, silent: &mut Vec<Silent>) {
        // As many as the kernel lets wait, so that those who speak get their turn between.
        for _ in 0..128 {
            match listener.accept() {
                Ok((stream, from)) => {
                    self.accepted.fetch_add(1, Relaxed);
                    // Who has been silent longest makes room: one that means it speaks at once.
                    if silent.len() >= self.limits.silent
                        && let Some(at) = gives_way(silent.iter().map(|one| one.from.ip()))
                    {
                        silent.remove(at);
                    }
                    silent.push(Silent { stream, from, since: Instant::now() });
                }
                // No descriptors are left: those that are served give some back. Without a pause this would spin.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)) => {
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
        one: Silent,
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
        let Silent { stream, from, .. } = one;
        // Those that gave way end at once, but not before the next one begins.
        if self.threads.fetch_add(1, Relaxed) >= self.limits.clients + 2 * self.limits.greeters {
            self.threads.fetch_sub(1, Relaxed);
            return watch(from, Happened::Ended("too many strangers"));
        }
        let stream = Arc::new(stream);
        let number = self.begin_greeting(&stream, from);
        let work = move || {
            let admitted = Cell::new(false);
            let admit = || {
                // Gone from the list: it had to give way.
                admitted.set(self.end_greeting(number) && self.admit());
                admitted.get()
            };
            let served = || client::serve(&stream, self, stop, &admit, &|| watch(from, Happened::Greeted));
            match catch_unwind(AssertUnwindSafe(served)) {
                Ok(Err(ended)) if !ended.is_quiet() => watch(from, Happened::Ended(&ended.to_string())),
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
        if std::thread::Builder::new().name("client".into()).stack_size(256 << 10).spawn_scoped(scope, work).is_err() {
            self.end_greeting(number);
            self.threads.fetch_sub(1, Relaxed);
            watch(from, Happened::Ended("no thread is left for it"));
        }
    }

    /// Notes one that greets; where there are too many, one of them gives way.
    fn begin_greeting(&self, stream: &Arc<TcpStream>, from: SocketAddr) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Relaxed);
        let mut greeters = self.greeters.lock().unwrap_or_else(PoisonError::into_inner);
        if greeters.len() >= self.limits.greeters
            && let Some(at) = gives_way(greeters.iter().map(|one| one.from.ip()))
        {
            // Its thread sees that as the end of the connection.
            let _ = greeters.remove(at).stream.shutdown(Shutdown::Both);
        }
        greeters.push(Greeter { number, stream: Arc::clone(stream), from });
        number
    }

    /// It greets no more; `false` where it was not noted any more.
    fn end_greeting(&self, number: u64) -> bool {
        let mut greeters = self.greeters.lock().unwrap_or_else(PoisonError::into_inner);
        let at = greeters.iter().position(|one| one.number == number);
        at.map(|at| greeters.remove(at)).is_some()
    }

    /// A place among the clients.
    fn admit(&self) -> bool {
        let taken = self.serving.fetch_update(Relaxed, Relaxed, |serving| (serving < self.limits.clients).then_some(serving + 1));
        taken.is_ok()
    }
}
