//! The client's end: a connection on which both sides have proved that they know the secret.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::secret::{
    Nonce, PROOF_LEN, ProofSide, Secret, SecretError, VARIABLE, prove, verify_proof,
};
use super::tcp_info;
use super::timed_io::{StreamError, TimedIo, prepare};
use super::wire::{
    self, Challenge, FRAME, HEAD_LEN, Hello, MAX_FACTS, ProtocolError, WireReply, WireRequest,
};
use crate::probe::error::{ProbeError, StopFlag};
use crate::record::HostSummary;
use crate::sys::names::random;

/// How long a peer may be silent.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum lifetime of a connection: the measurement of a cell ends before that.
const MAX_DURATION: Duration = Duration::from_secs(600);

/// A connection to a server, ready for requests.
pub struct Connection {
    stream: TcpStream,
    stop: StopFlag,
    /// Time limit for waiting without a single byte.
    idle: Duration,
    until: Instant,
}

/// Why a connection failed or had no reply. The messages contain neither a secret nor an
/// address.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    #[error(
        "it requires a secret: set {} or use --secret-file FILE here, with the secret it was \
         started with",
        VARIABLE
    )]
    NeedsSecret,
    #[error("it requires no secret, but one is set here; check that the address is the right one")]
    NoSecret,
    #[error("it closed the connection without replying; it may have too many clients")]
    Closed,
    #[error("it did not accept the secret")]
    Refused,
    #[error("it does not know the secret")]
    Impostor,
    #[error("it refused the request, which exceeds its limits")]
    OverLimit,
    #[error("cannot get random numbers: {0}")]
    Nonce(io::Error),
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl ConnectionError {
    /// Converts this into the error of a cell; a stop remains a stop.
    pub fn into_probe_error(self) -> ProbeError {
        match self {
            ConnectionError::Stream(StreamError::Stopped) => ProbeError::Stopped,
            other => ProbeError::Missing(format!("the far end: {other}")),
        }
    }
}

impl Connection {
    /// Connects, then each end proves to the other that it knows `secret`, this one first.
    pub fn open(
        to: SocketAddr,
        secret: Option<&Secret>,
        stop: &StopFlag,
    ) -> Result<Connection, ConnectionError> {
        Connection::open_within(to, secret, stop, IDLE_TIMEOUT)
    }

    /// Opens a connection like [`open`](Connection::open), to a peer that may be silent for `idle`;
    /// its whole greeting may take twice that.
    pub(super) fn open_within(
        to: SocketAddr,
        secret: Option<&Secret>,
        stop: &StopFlag,
        idle: Duration,
    ) -> Result<Connection, ConnectionError> {
        let mut connection = Connection::connect(to, stop, idle)?;
        let (mut nonce, mut challenge) = connection.hello(secret)?;
        if let Some(secret) = secret.filter(|secret| !secret.has_key(&challenge.salt)) {
            // A crowded server keeps a place only for one round trip, and deriving a key takes
            // longer: connect again once the key is derived.
            drop(connection);
            secret.key(&challenge.salt)?;
            connection = Connection::connect(to, stop, idle)?;
            (nonce, challenge) = connection.hello(Some(secret))?;
        }
        connection.prove(secret, &nonce, &challenge)?;
        connection.until = Instant::now() + MAX_DURATION;
        Ok(connection)
    }

    fn connect(
        to: SocketAddr,
        stop: &StopFlag,
        idle: Duration,
    ) -> Result<Connection, ConnectionError> {
        let stream = TcpStream::connect_timeout(&to, idle).map_err(ConnectionError::Connect)?;
        prepare(&stream).map_err(ConnectionError::Connect)?;
        Ok(Connection { stream, stop: stop.clone(), idle, until: Instant::now() + 2 * idle })
    }

    /// Exchanges the greetings of both ends.
    fn hello(&self, secret: Option<&Secret>) -> Result<(Nonce, Challenge), ConnectionError> {
        let nonce = random().map_err(ConnectionError::Nonce)?;
        self.write(&Hello { nonce }.encode())?;
        let mut challenge = [0; Challenge::LEN];
        let (head, rest) = challenge.split_at_mut(HEAD_LEN);
        self.read(head).map_err(|lost| {
            if matches!(lost, StreamError::Closed) { ConnectionError::Closed } else { lost.into() }
        })?;
        // The challenge of another version may be shorter, so the version is checked before the
        // rest is read.
        wire::check_version(head)?;
        self.read(rest)?;
        let challenge = Challenge::decode(&challenge)?;
        match (challenge.secret, secret) {
            (true, None) => Err(ConnectionError::NeedsSecret),
            // An impostor must not bypass the secret by not requiring one.
            (false, Some(_)) => Err(ConnectionError::NoSecret),
            _ => Ok((nonce, challenge)),
        }
    }

    fn prove(
        &self,
        secret: Option<&Secret>,
        nonce: &Nonce,
        challenge: &Challenge,
    ) -> Result<(), ConnectionError> {
        let key = secret.map(|secret| secret.key(&challenge.salt)).transpose()?;
        self.write(&prove(key.as_ref(), ProofSide::Client, nonce, &challenge.nonce))?;
        let mut verdict = [0; 1];
        self.read(&mut verdict)?;
        if verdict != [1] {
            return Err(ConnectionError::Refused);
        }
        let mut proof = [0; PROOF_LEN];
        self.read(&mut proof)?;
        if verify_proof(&proof, key.as_ref(), ProofSide::Server, nonce, &challenge.nonce) {
            Ok(())
        } else {
            Err(ConnectionError::Impostor)
        }
    }

    fn with_io<T>(&self, work: impl FnOnce(&TimedIo) -> T) -> T {
        let stop = || self.stop.is_set();
        work(&TimedIo { stop: &stop, idle: self.idle, until: self.until })
    }

    /// Reads all of `buffer`.
    pub fn read(&self, buffer: &mut [u8]) -> Result<(), StreamError> {
        self.with_io(|io| io.read(&self.stream, buffer))
    }

    /// Writes all of `bytes`.
    pub fn write(&self, bytes: &[u8]) -> Result<(), StreamError> {
        self.with_io(|io| io.write(&self.stream, bytes))
    }

    /// Sends a request without waiting for its reply.
    pub fn ask(&self, request: WireRequest) -> Result<(), StreamError> {
        self.write(&request.encode())
    }

    /// Waits for the reply to the last request and returns its value.
    pub fn reply(&self) -> Result<u64, ConnectionError> {
        let mut bytes = [0; FRAME];
        self.read(&mut bytes)?;
        match WireReply::decode(&bytes)? {
            WireReply::Done(value) => Ok(value),
            WireReply::Refused => Err(ConnectionError::OverLimit),
        }
    }

    /// Requests the facts about the other machine, which are truncated, sanitised and never
    /// trusted.
    pub fn facts(&self) -> Result<HostSummary, ConnectionError> {
        self.ask(WireRequest::Facts)?;
        let len = self.reply()?;
        if len > MAX_FACTS {
            return Err(ProtocolError::Message.into());
        }
        let mut bytes = [0; MAX_FACTS as usize];
        let bytes = bytes.get_mut(..len as usize).unwrap_or_default();
        self.read(bytes)?;
        let text = std::str::from_utf8(bytes).map_err(|_| ProtocolError::Message)?;
        serde_json::from_str(text)
            .map(HostSummary::clean)
            .map_err(|_| ProtocolError::Message.into())
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Describes the kernel's counters of this connection.
    pub fn tcp_evidence(&self) -> Vec<String> {
        let Some(info) = tcp_info::read(&self.stream) else { return Vec::new() };
        let again = match info.retransmits {
            0 => "no segment was retransmitted".into(),
            1 => "1 segment was retransmitted".into(),
            count => format!("{count} segments were retransmitted"),
        };
        vec![format!(
            "{again}; the kernel's smoothed round-trip time is {} µs",
            info.round_trip_micros
        )]
    }
}
