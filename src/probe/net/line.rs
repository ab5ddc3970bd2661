//! The client's end: a connection on which both sides have proved who they are.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::counted;
use super::key::{self, Nonce, PROOF, Side};
use super::patient::{Lost, Patience, prepare};
use super::secret::{Secret, SecretError, VARIABLE};
use super::wire::{self, Challenge, FRAME, HEAD, Hello, MOST_FACTS, Reply, Request, Wrong};
use crate::probe::{ProbeError, Site};
use crate::record::HostSummary;
use crate::sys::nonce::random;

/// A peer that says nothing for so long is gone.
pub const IDLE: Duration = Duration::from_secs(3);
/// No line is used for longer: a visit to a cell is over by then.
const LONGEST: Duration = Duration::from_secs(600);

/// A connection to a server, ready for requests.
pub struct Line {
    stream: TcpStream,
    site: Site,
    /// Without a single byte.
    idle: Duration,
    until: Instant,
}

/// Why there is no line, or no answer on it; for people, without any secret and without addresses.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error(transparent)]
    Lost(#[from] Lost),
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error(
        "it asks for a secret: set {} or use --secret-file FILE here, with the secret that it was started with",
        VARIABLE
    )]
    NeedsSecret,
    #[error("it asks for no secret, and there is one here: it may be another than you mean")]
    NoSecret,
    #[error("it closed the connection before a word: it may have too many clients")]
    Shut,
    #[error("it did not accept the secret")]
    Refused,
    #[error("it does not know the secret")]
    Impostor,
    #[error("it refused what was asked: it has limits")]
    Limits,
    #[error("random numbers: {0}")]
    Nonce(io::Error),
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl LineError {
    /// As a cell's error; a stop stays one.
    pub fn told(self) -> ProbeError {
        match self {
            LineError::Lost(Lost::Stopped) => ProbeError::Stopped,
            other => ProbeError::Missing(format!("the far end: {other}")),
        }
    }
}

impl Line {
    /// Connects and lets both ends prove that they know `secret`, this one first.
    ///
    /// # Errors
    /// Nobody is there, somebody else is, or one end has another secret.
    pub fn open(to: SocketAddr, secret: Option<&Secret>, site: &Site) -> Result<Line, LineError> {
        Line::open_within(to, secret, site, IDLE)
    }

    /// As [`open`](Line::open), with a peer that may be silent for so long; its whole greeting may
    /// take twice that.
    pub(super) fn open_within(
        to: SocketAddr,
        secret: Option<&Secret>,
        site: &Site,
        idle: Duration,
    ) -> Result<Line, LineError> {
        let mut line = Line::connect(to, site, idle)?;
        let (mut own, mut challenge) = line.hello(secret)?;
        if let Some(secret) = secret.filter(|secret| !secret.has_key(&challenge.salt)) {
            // A crowded server keeps a place for a round trip only, and this takes longer: come
            // again with the key.
            drop(line);
            secret.key(&challenge.salt)?;
            line = Line::connect(to, site, idle)?;
            (own, challenge) = line.hello(Some(secret))?;
        }
        line.prove(secret, &own, &challenge)?;
        line.until = Instant::now() + LONGEST;
        Ok(line)
    }

    fn connect(to: SocketAddr, site: &Site, idle: Duration) -> Result<Line, LineError> {
        let stream = TcpStream::connect_timeout(&to, idle).map_err(LineError::Connect)?;
        prepare(&stream).map_err(LineError::Connect)?;
        Ok(Line { stream, site: site.clone(), idle, until: Instant::now() + 2 * idle })
    }

    /// Both ends say what they are.
    fn hello(&self, secret: Option<&Secret>) -> Result<(Nonce, Challenge), LineError> {
        let own = random().map_err(LineError::Nonce)?;
        self.write(&Hello { nonce: own }.encode())?;
        let mut challenge = [0; Challenge::LEN];
        let (head, rest) = challenge.split_at_mut(HEAD);
        self.read(head).map_err(|lost| {
            if matches!(lost, Lost::Closed) { LineError::Shut } else { lost.into() }
        })?;
        // The challenge of another version may be shorter: its rest is not waited for.
        wire::versioned(head)?;
        self.read(rest)?;
        let challenge = Challenge::decode(&challenge)?;
        match (challenge.secret, secret) {
            (true, None) => Err(LineError::NeedsSecret),
            // A stranger that answers in the other's place must not get away with asking for
            // nothing.
            (false, Some(_)) => Err(LineError::NoSecret),
            _ => Ok((own, challenge)),
        }
    }

    fn prove(
        &self,
        secret: Option<&Secret>,
        own: &Nonce,
        challenge: &Challenge,
    ) -> Result<(), LineError> {
        let key = secret.map(|secret| secret.key(&challenge.salt)).transpose()?;
        self.write(&key::prove(key.as_ref(), Side::Client, own, &challenge.nonce))?;
        let mut verdict = [0; 1];
        self.read(&mut verdict)?;
        if verdict != [1] {
            return Err(LineError::Refused);
        }
        let mut proof = [0; PROOF];
        self.read(&mut proof)?;
        match key::proves(&proof, key.as_ref(), Side::Server, own, &challenge.nonce) {
            true => Ok(()),
            false => Err(LineError::Impostor),
        }
    }

    fn with<T>(&self, work: impl FnOnce(&Patience) -> T) -> T {
        let stop = || self.site.stopping();
        work(&Patience { stop: &stop, idle: self.idle, until: self.until })
    }

    /// Reads all of `buffer`.
    ///
    /// # Errors
    /// The other end is gone or silent, or the run is to end.
    pub fn read(&self, buffer: &mut [u8]) -> Result<(), Lost> {
        self.with(|patience| patience.read(&self.stream, buffer))
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// As [`read`](Line::read).
    pub fn write(&self, bytes: &[u8]) -> Result<(), Lost> {
        self.with(|patience| patience.write(&self.stream, bytes))
    }

    /// Sends a request without waiting for its reply.
    ///
    /// # Errors
    /// As [`read`](Line::read).
    pub fn ask(&self, request: Request) -> Result<(), Lost> {
        self.write(&request.encode())
    }

    /// The reply to the request before.
    ///
    /// # Errors
    /// As [`read`](Line::read), or it was refused.
    pub fn reply(&self) -> Result<u64, LineError> {
        let mut bytes = [0; FRAME];
        self.read(&mut bytes)?;
        match Reply::decode(&bytes)? {
            Reply::Done(value) => Ok(value),
            Reply::Refused => Err(LineError::Limits),
        }
    }

    /// What machine the other end is. Its word is cut, cleaned and never trusted.
    ///
    /// # Errors
    /// As [`reply`](Line::reply).
    pub fn facts(&self) -> Result<HostSummary, LineError> {
        self.ask(Request::Facts)?;
        let len = self.reply()?;
        if len > MOST_FACTS {
            return Err(Wrong::Word.into());
        }
        let mut bytes = [0; MOST_FACTS as usize];
        let bytes = bytes.get_mut(..len as usize).unwrap_or_default();
        self.read(bytes)?;
        serde_json::from_slice(bytes).map(HostSummary::clean).map_err(|_| Wrong::Word.into())
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// What the kernel counted on this connection, for people.
    pub fn counted(&self) -> Vec<String> {
        let Some(counted) = counted::of(&self.stream) else { return Vec::new() };
        let again = match counted.sent_again {
            0 => "no segment was sent twice".into(),
            1 => "1 segment was sent twice".into(),
            count => format!("{count} segments were sent twice"),
        };
        vec![format!(
            "{again}; the kernel's own estimate of the round trip is {} µs",
            counted.round_trip_micros
        )]
    }
}
