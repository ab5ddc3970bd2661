//! One client of the server, on a thread of its own: greeting, then requests until it leaves or has
//! had enough.
//!
//! It answers on the connection that the client made and opens none: nobody can make it send to a
//! third party.

use std::net::TcpStream;
use std::time::Instant;

use super::key::{self, PROOF, Side};
use super::patient::{Lost, Patience, prepare};
use super::server::Server;
use super::wire::{Challenge, FRAME, Hello, MOST_ECHO, MOST_SINK, Reply, Request, Wrong};
use crate::sys::buffer::Aligned;
use crate::sys::nonce::random;

/// Bytes that are read at once where they are thrown away.
const SINK: usize = 256 << 10;

/// Why a connection was ended from this side.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    #[error(transparent)]
    Lost(#[from] Lost),
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error("wrong secret")]
    Secret,
    #[error("too many clients")]
    Many,
    #[error("more bytes than one connection may have")]
    Bytes,
    #[error("a message that is too large")]
    Large,
    #[error("random numbers: {0}")]
    Nonce(std::io::Error),
}

impl Ended {
    /// Nothing to be told: the client had what it wanted, or everybody goes home.
    pub fn is_quiet(&self) -> bool {
        matches!(self, Ended::Lost(Lost::Closed | Lost::Stopped))
    }
}

/// Serves one client; `admit` is asked when it has proved who it is, and `greeted` is called when
/// it knows that too.
pub fn serve(
    stream: &TcpStream,
    server: &Server,
    stop: &dyn Fn() -> bool,
    admit: &dyn Fn() -> bool,
    greeted: &dyn Fn(),
) -> Result<(), Ended> {
    let begin = Instant::now();
    let limits = &server.limits;
    prepare(stream).map_err(Lost::Failed)?;
    let patience = Patience { stop, idle: limits.greeting, until: begin + limits.greeting };
    greet(stream, server, &patience, admit)?;
    greeted();
    let patience = Patience { stop, idle: limits.idle, until: begin + limits.connection };
    Client { stream, server, patience, left: limits.bytes }.requests()
}

fn greet(
    stream: &TcpStream,
    server: &Server,
    patience: &Patience,
    admit: &dyn Fn() -> bool,
) -> Result<(), Ended> {
    let mut hello = [0; Hello::LEN];
    patience.read(stream, &mut hello)?;
    let hello = Hello::decode(&hello);
    // One of another version is told which this is.
    if let Err(other @ (Wrong::Magic | Wrong::Word)) = hello {
        return Err(other.into());
    }
    let nonce = random().map_err(Ended::Nonce)?;
    let (salt, key) = server
        .salted
        .as_ref()
        .map_or(Default::default(), |salted| (salted.salt, Some(&salted.key)));
    patience.write(stream, &Challenge { secret: key.is_some(), salt, nonce }.encode())?;
    let hello = hello?;
    let mut proof = [0; PROOF];
    patience.read(stream, &mut proof)?;
    if !key::proves(&proof, key, Side::Client, &hello.nonce, &nonce) {
        patience.write(stream, &[0])?;
        return Err(Ended::Secret);
    }
    if !admit() {
        return Err(Ended::Many);
    }
    patience.write(stream, &[1])?;
    Ok(patience.write(stream, &key::prove(key, Side::Server, &hello.nonce, &nonce))?)
}

struct Client<'a> {
    stream: &'a TcpStream,
    server: &'a Server,
    patience: Patience<'a>,
    /// Bytes that it may still have.
    left: u64,
}

impl Client<'_> {
    fn requests(mut self) -> Result<(), Ended> {
        let mut sink: Option<Aligned> = None;
        loop {
            let mut bytes = [0; FRAME];
            self.patience.read(self.stream, &mut bytes)?;
            // Reading looks at the clock only where it waits, and who asks without a pause is never
            // waited for.
            if Instant::now() > self.patience.until {
                return Err(Lost::Late.into());
            }
            match Request::decode(&bytes)? {
                Request::Facts => {
                    let facts = self.server.facts.as_bytes();
                    self.spend(facts.len() as u64)?;
                    self.reply(Reply::Done(facts.len() as u64))?;
                    self.patience.write(self.stream, facts)?;
                }
                Request::Accepted => self.reply(Reply::Done(self.server.accepted()))?,
                Request::Sink(count) => {
                    self.large(count, MOST_SINK)?;
                    self.spend(count)?;
                    let sink = match &mut sink {
                        Some(sink) => sink,
                        none => none.insert(Aligned::filled(SINK, 0).map_err(Lost::Failed)?),
                    };
                    self.patience.skip(self.stream, count, sink)?;
                    self.reply(Reply::Done(count))?;
                }
                Request::Echo(bytes) => {
                    self.large(bytes, MOST_ECHO)?;
                    self.reply(Reply::Done(bytes))?;
                    return self.echo(bytes);
                }
            }
        }
    }

    /// Messages back and forth until the client leaves.
    fn echo(&mut self, bytes: u64) -> Result<(), Ended> {
        let mut message = vec![0; bytes as usize];
        let mut round = 0u64;
        loop {
            self.patience.read(self.stream, &mut message)?;
            self.patience.write(self.stream, &message)?;
            self.spend(2 * bytes)?;
            round += 1;
            // The clock is read now and then only: this is the loop that is measured.
            if round.is_multiple_of(256) && Instant::now() > self.patience.until {
                return Err(Lost::Late.into());
            }
        }
    }

    fn spend(&mut self, bytes: u64) -> Result<(), Ended> {
        // A frame is something too: requests without data come to an end as well.
        self.left = self.left.checked_sub(bytes.max(FRAME as u64)).ok_or(Ended::Bytes)?;
        Ok(())
    }

    /// Refuses what is empty or larger than `most`.
    fn large(&mut self, bytes: u64, most: u64) -> Result<(), Ended> {
        if (1..=most).contains(&bytes) {
            return Ok(());
        }
        self.reply(Reply::Refused)?;
        Err(Ended::Large)
    }

    fn reply(&mut self, reply: Reply) -> Result<(), Ended> {
        self.spend(FRAME as u64)?;
        Ok(self.patience.write(self.stream, &reply.encode())?)
    }
}
