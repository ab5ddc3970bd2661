//! The server's side of one client, on its own thread: a greeting, then requests until the client
//! leaves or reaches a limit.
//!
//! It replies only on the client's connection and opens none, so it cannot be made to send to a
//! third party.

use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::secret::{PROOF_LEN, ProofSide, SaltedKey, prove, verify_proof};
use super::timed_io::{StreamError, TimedIo, prepare};
use super::wire::{Challenge, FRAME, Hello, MAX_SINK, ProtocolError, WireReply, WireRequest};
use crate::catalog::MAX_ECHO;
use crate::sys::buffer::Aligned;
use crate::sys::names::random;

/// Bytes read at once when they are discarded.
const SINK_BYTES: usize = 256 << 10;

/// Why the server ended a connection.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    #[error("wrong secret")]
    Secret,
    #[error("too many clients")]
    TooManyClients,
    #[error("it exceeded the limit of bytes per connection")]
    ByteLimit,
    #[error("a message is too large")]
    TooLarge,
    #[error("cannot get random numbers: {0}")]
    Nonce(std::io::Error),
}

impl ServeError {
    /// Returns whether this is a normal end: the client closed the connection, or the server stops.
    pub fn is_quiet(&self) -> bool {
        matches!(self, ServeError::Stream(StreamError::Closed | StreamError::Stopped))
    }
}

/// The limits of a server: no client can use more than this.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Authenticated clients served at once, each by a thread.
    pub clients: usize,
    /// Connections that have not sent anything yet. If there are more, the oldest one of the
    /// address with the most is closed; those within the grace period are kept, and the new one
    /// waits.
    pub silent: usize,
    /// The same for connections that have sent something but are not authenticated yet.
    pub greeters: usize,
    /// Minimum time that a connection keeps its place: enough for the round trip of a client that
    /// knows the secret.
    pub grace: Duration,
    /// Time limit from the first byte to the last proof.
    pub greeting: Duration,
    /// Time after which a silent client is disconnected.
    pub idle: Duration,
    /// Longest duration of a connection.
    pub connection: Duration,
    /// Bytes per connection, in both directions together.
    pub bytes: u64,
}

impl Default for Limits {
    /// Returns the default: each client has buffers of at most 320 KiB and a stack of 256 KiB; 32
    /// clients are more than any comparison needs.
    fn default() -> Limits {
        Limits {
            clients: 32,
            silent: 64,
            greeters: 128,
            grace: Duration::from_millis(250),
            greeting: Duration::from_secs(2),
            idle: Duration::from_secs(30),
            connection: Duration::from_secs(600),
            bytes: 256 << 30,
        }
    }
}

/// The service for every client.
pub struct Service {
    /// `None` admits every client.
    pub salted: Option<SaltedKey>,
    pub limits: Limits,
    /// Facts about this machine, as JSON.
    pub facts: String,
    /// Connections accepted so far.
    pub accepted: AtomicU64,
}

/// Serves one client. `admit` is called once the client has proved that it knows the secret, and
/// `greeted` after the client has been informed.
pub fn serve(
    stream: &TcpStream,
    service: &Service,
    stop: &dyn Fn() -> bool,
    admit: &dyn Fn() -> bool,
    greeted: &dyn Fn(),
) -> Result<(), ServeError> {
    let begin = Instant::now();
    let limits = &service.limits;
    prepare(stream).map_err(StreamError::Failed)?;
    let io = TimedIo { stop, idle: limits.greeting, until: begin + limits.greeting };
    greet(stream, service, &io, admit)?;
    greeted();
    let io = TimedIo { stop, idle: limits.idle, until: begin + limits.connection };
    Client { stream, service, io, left: limits.bytes }.serve_requests()
}

fn greet(
    stream: &TcpStream,
    service: &Service,
    io: &TimedIo,
    admit: &dyn Fn() -> bool,
) -> Result<(), ServeError> {
    let mut hello = [0; Hello::LEN];
    io.read(stream, &mut hello)?;
    let hello = Hello::decode(&hello);
    // A client of another version still gets the challenge, which contains our version.
    if let Err(other @ (ProtocolError::Magic | ProtocolError::Message)) = hello {
        return Err(other.into());
    }
    let nonce = random().map_err(ServeError::Nonce)?;
    let (salt, key) = service
        .salted
        .as_ref()
        .map_or(Default::default(), |salted| (salted.salt, Some(&salted.key)));
    io.write(stream, &Challenge { secret: key.is_some(), salt, nonce }.encode())?;
    let hello = hello?;
    let mut proof = [0; PROOF_LEN];
    io.read(stream, &mut proof)?;
    if !verify_proof(&proof, key, ProofSide::Client, &hello.nonce, &nonce) {
        io.write(stream, &[0])?;
        return Err(ServeError::Secret);
    }
    if !admit() {
        return Err(ServeError::TooManyClients);
    }
    io.write(stream, &[1])?;
    Ok(io.write(stream, &prove(key, ProofSide::Server, &hello.nonce, &nonce))?)
}

struct Client<'a> {
    stream: &'a TcpStream,
    service: &'a Service,
    io: TimedIo<'a>,
    /// Bytes it may still transfer.
    left: u64,
}

impl Client<'_> {
    fn serve_requests(mut self) -> Result<(), ServeError> {
        let mut sink: Option<Aligned> = None;
        loop {
            let mut bytes = [0; FRAME];
            self.io.read(self.stream, &mut bytes)?;
            // Reading checks the clock only when it waits, and a client that never pauses never
            // makes it wait.
            if Instant::now() > self.io.until {
                return Err(StreamError::Late.into());
            }
            match WireRequest::decode(&bytes)? {
                WireRequest::Facts => {
                    let facts = self.service.facts.as_bytes();
                    self.charge(facts.len() as u64)?;
                    self.reply(WireReply::Done(facts.len() as u64))?;
                    self.io.write(self.stream, facts)?;
                }
                WireRequest::Accepted => {
                    self.reply(WireReply::Done(self.service.accepted.load(Relaxed)))?
                }
                WireRequest::Sink(count) => {
                    self.check_size(count, MAX_SINK)?;
                    self.charge(count)?;
                    let sink = match &mut sink {
                        Some(sink) => sink,
                        none => none
                            .insert(Aligned::filled(SINK_BYTES, 0).map_err(StreamError::Failed)?),
                    };
                    self.io.skip(self.stream, count, sink)?;
                    self.reply(WireReply::Done(count))?;
                }
                WireRequest::Echo(bytes) => {
                    self.check_size(bytes, MAX_ECHO)?;
                    self.reply(WireReply::Done(bytes))?;
                    return self.echo(bytes);
                }
            }
        }
    }

    /// Echoes messages until the client leaves.
    fn echo(&mut self, bytes: u64) -> Result<(), ServeError> {
        let mut message = vec![0; bytes as usize];
        let mut round = 0u64;
        loop {
            self.io.read(self.stream, &mut message)?;
            self.io.write(self.stream, &message)?;
            self.charge(2 * bytes)?;
            round += 1;
            // Checks the clock rarely, because this loop is being measured.
            if round.is_multiple_of(256) && Instant::now() > self.io.until {
                return Err(StreamError::Late.into());
            }
        }
    }

    fn charge(&mut self, bytes: u64) -> Result<(), ServeError> {
        // Charges at least one frame, so that requests without data reach the limit too.
        self.left = self.left.checked_sub(bytes.max(FRAME as u64)).ok_or(ServeError::ByteLimit)?;
        Ok(())
    }

    /// Refuses a size of 0 or more than `most`.
    fn check_size(&mut self, bytes: u64, most: u64) -> Result<(), ServeError> {
        if (1..=most).contains(&bytes) {
            return Ok(());
        }
        self.reply(WireReply::Refused)?;
        Err(ServeError::TooLarge)
    }

    fn reply(&mut self, reply: WireReply) -> Result<(), ServeError> {
        self.charge(FRAME as u64)?;
        Ok(self.io.write(self.stream, &reply.encode())?)
    }
}
