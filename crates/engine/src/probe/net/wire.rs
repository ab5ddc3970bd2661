//! The protocol between the two ends: frames of fixed length, so that neither end can make the
//! other allocate memory.
//!
//! The client sends first, so a connection that is only opened and closed
//! ([`connect`](super::connect)) carries no bytes. `Hello` -> `Challenge` -> proof (32 bytes) ->
//! verdict (1 byte) and proof (32 bytes), then any number of requests, each with its reply. Numbers
//! are big-endian. `Hello` and the head of `Challenge` are the same in every version, so that each
//! end can recognise the version of the other.

use super::secret::{NONCE_LEN, Nonce, SALT, Salt};

/// Version of the protocol, including key derivation; an end with another version is refused, and
/// the error names its version.
pub const VERSION: u16 = 2;
const MAGIC: &[u8; 6] = b"iotui\0";

/// Largest batch that is discarded, in bytes.
pub const MAX_SINK: u64 = 4 << 30;
/// Largest JSON with the facts about a machine, in bytes.
pub const MAX_FACTS: u64 = 4096;

/// A violation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    #[error("it does not speak the protocol of iotui serve")]
    Magic,
    #[error(
        "it uses version {0} of the protocol, this iotui version {VERSION}; use the same version \
         of iotui on both machines"
    )]
    Version(u16),
    #[error("it sent an invalid message")]
    Message,
}

/// Checks the protocol and version of a frame, of which the first [`HEAD_LEN`] bytes suffice.
pub fn check_version(bytes: &[u8]) -> Result<(), ProtocolError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(ProtocolError::Magic)?;
    match rest.first_chunk() {
        Some(version) if u16::from_be_bytes(*version) == VERSION => Ok(()),
        Some(version) => Err(ProtocolError::Version(u16::from_be_bytes(*version))),
        None => Err(ProtocolError::Magic),
    }
}

fn write_head(to: &mut [u8]) {
    let (magic, version) = to.split_at_mut(MAGIC.len());
    magic.copy_from_slice(MAGIC);
    version[..2].copy_from_slice(&VERSION.to_be_bytes());
}

/// Length of the protocol's magic and version.
pub const HEAD_LEN: usize = MAGIC.len() + 2;

/// The client's first frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    pub nonce: Nonce,
}

impl Hello {
    pub const LEN: usize = HEAD_LEN + NONCE_LEN;

    pub fn encode(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        write_head(&mut out);
        out[HEAD_LEN..].copy_from_slice(&self.nonce);
        out
    }

    /// # Errors
    /// If the frame has another protocol or version.
    pub fn decode(bytes: &[u8; Self::LEN]) -> Result<Hello, ProtocolError> {
        check_version(bytes)?;
        let nonce = bytes.last_chunk().copied().ok_or(ProtocolError::Message)?;
        Ok(Hello { nonce })
    }
}

/// The server's first frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge {
    /// Whether the server requires a secret.
    pub secret: bool,
    /// Salt of the key derivation; zeros without a secret.
    pub salt: Salt,
    pub nonce: Nonce,
}

impl Challenge {
    pub const LEN: usize = HEAD_LEN + 1 + SALT + NONCE_LEN;

    pub fn encode(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        write_head(&mut out);
        out[HEAD_LEN] = self.secret.into();
        let (salt, nonce) = out[HEAD_LEN + 1..].split_at_mut(SALT);
        salt.copy_from_slice(&self.salt);
        nonce.copy_from_slice(&self.nonce);
        out
    }

    /// # Errors
    /// If the frame has another protocol or version.
    pub fn decode(bytes: &[u8; Self::LEN]) -> Result<Challenge, ProtocolError> {
        check_version(bytes)?;
        let secret = match bytes[HEAD_LEN] {
            0 => false,
            1 => true,
            _ => return Err(ProtocolError::Message),
        };
        let salt = bytes[HEAD_LEN + 1..].first_chunk().copied().ok_or(ProtocolError::Message)?;
        let nonce = bytes.last_chunk().copied().ok_or(ProtocolError::Message)?;
        Ok(Challenge { secret, salt, nonce })
    }
}

/// A client's request, always answered on the same connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireRequest {
    /// Facts about the machine: JSON, whose length is in the reply.
    Facts,
    /// Switches to echo mode: from now on every message of this many bytes is sent back.
    Echo(u64),
    /// This many bytes follow immediately and are discarded; the reply is sent when all have
    /// arrived.
    Sink(u64),
    /// The number of connections accepted so far, in the reply.
    Accepted,
}

/// The server's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireReply {
    Done(u64),
    /// The request is too large or exceeds the limit of the connection.
    Refused,
}

/// Length of a request and of a reply.
pub const FRAME: usize = 16;

fn build_frame(word: u8, value: u64) -> [u8; FRAME] {
    let mut out = [0; FRAME];
    out[0] = word;
    out[FRAME - 8..].copy_from_slice(&value.to_be_bytes());
    out
}

fn split_frame(bytes: &[u8; FRAME]) -> Result<(u8, u64), ProtocolError> {
    let value =
        bytes.last_chunk().copied().map(u64::from_be_bytes).ok_or(ProtocolError::Message)?;
    if bytes[1..FRAME - 8].iter().all(|byte| *byte == 0) {
        Ok((bytes[0], value))
    } else {
        Err(ProtocolError::Message)
    }
}

impl WireRequest {
    pub fn encode(self) -> [u8; FRAME] {
        match self {
            WireRequest::Facts => build_frame(1, 0),
            WireRequest::Echo(bytes) => build_frame(2, bytes),
            WireRequest::Sink(bytes) => build_frame(3, bytes),
            WireRequest::Accepted => build_frame(4, 0),
        }
    }

    pub fn decode(bytes: &[u8; FRAME]) -> Result<WireRequest, ProtocolError> {
        match split_frame(bytes)? {
            (1, 0) => Ok(WireRequest::Facts),
            (2, bytes) => Ok(WireRequest::Echo(bytes)),
            (3, bytes) => Ok(WireRequest::Sink(bytes)),
            (4, 0) => Ok(WireRequest::Accepted),
            _ => Err(ProtocolError::Message),
        }
    }
}

impl WireReply {
    pub fn encode(self) -> [u8; FRAME] {
        match self {
            WireReply::Done(value) => build_frame(1, value),
            WireReply::Refused => build_frame(2, 0),
        }
    }

    pub fn decode(bytes: &[u8; FRAME]) -> Result<WireReply, ProtocolError> {
        match split_frame(bytes)? {
            (1, value) => Ok(WireReply::Done(value)),
            (2, 0) => Ok(WireReply::Refused),
            _ => Err(ProtocolError::Message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn other_protocols_and_versions_are_recognised() {
        let mut bytes = Hello { nonce: [7; NONCE_LEN] }.encode();
        bytes[7] = 9;
        assert_eq!(Hello::decode(&bytes), Err(ProtocolError::Version(9)));
        assert!(ProtocolError::Version(9).to_string().contains("version 9"));
        bytes[0] = b'G';
        assert_eq!(Hello::decode(&bytes), Err(ProtocolError::Magic));
    }

    proptest! {
        #[test]
        fn frames_survive_a_round_trip(
            nonce: [u8; NONCE_LEN],
            salt: [u8; SALT],
            secret: bool,
            value: u64,
        ) {
            prop_assert_eq!(Hello::decode(&Hello { nonce }.encode()), Ok(Hello { nonce }));
            let challenge = Challenge { secret, salt, nonce };
            prop_assert_eq!(Challenge::decode(&challenge.encode()), Ok(challenge));
            let (echo, sink) = (WireRequest::Echo(value), WireRequest::Sink(value));
            for request in [WireRequest::Facts, echo, sink, WireRequest::Accepted] {
                prop_assert_eq!(WireRequest::decode(&request.encode()), Ok(request));
            }
            for reply in [WireReply::Done(value), WireReply::Refused] {
                prop_assert_eq!(WireReply::decode(&reply.encode()), Ok(reply));
            }
        }

        #[test]
        fn garbage_has_at_most_one_meaning(bytes: [u8; FRAME], hello: [u8; Hello::LEN]) {
            if let Ok(request) = WireRequest::decode(&bytes) {
                prop_assert_eq!(request.encode(), bytes);
            }
            if let Ok(reply) = WireReply::decode(&bytes) {
                prop_assert_eq!(reply.encode(), bytes);
            }
            prop_assert_eq!(Hello::decode(&hello), Err(ProtocolError::Magic));
        }
    }
}
