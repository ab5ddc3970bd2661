//! What the two ends say to each other: frames of fixed length, so that nobody's word makes anybody
//! allocate.
//!
//! The client speaks first: a connection that is only opened and closed
//! ([`connect`](super::connect)) carries no byte. `Hello` -> `Challenge` -> proof (32 bytes) ->
//! verdict (1 byte) and proof (32 bytes), then any number of requests, each with its reply. Numbers
//! are big-endian. `Hello` and the head of `Challenge` are the same in every version, so that each
//! end can tell which version the other is of.

use super::key::{NONCE, Nonce, SALT, Salt};

/// The version of all this, with how keys are made; an end of another version is refused with its
/// number.
pub const VERSION: u16 = 2;
const MAGIC: &[u8; 6] = b"iotui\0";

/// Bytes of a message that is echoed, at most.
pub const MOST_ECHO: u64 = 64 << 10;
/// Bytes of one batch that is thrown away, at most.
pub const MOST_SINK: u64 = 4 << 30;
/// Bytes of the facts about a machine, at most.
pub const MOST_FACTS: u64 = 4096;

/// What is not of this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    #[error("it does not speak the protocol of iotui serve")]
    Magic,
    #[error(
        "it speaks version {0} of the protocol, this iotui version {VERSION}: use the same iotui on both machines"
    )]
    Version(u16),
    #[error("it said what is no part of the protocol")]
    Word,
}

/// Refuses a frame that does not begin as this version's do; [`HEAD`] bytes of it suffice.
///
/// # Errors
/// Another protocol or version.
pub fn versioned(bytes: &[u8]) -> Result<(), Wrong> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(Wrong::Magic)?;
    match rest.first_chunk() {
        Some(version) if u16::from_be_bytes(*version) == VERSION => Ok(()),
        Some(version) => Err(Wrong::Version(u16::from_be_bytes(*version))),
        None => Err(Wrong::Magic),
    }
}

fn head(to: &mut [u8]) {
    let (magic, version) = to.split_at_mut(MAGIC.len());
    magic.copy_from_slice(MAGIC);
    version[..2].copy_from_slice(&VERSION.to_be_bytes());
}

/// Bytes that say which protocol and version it is.
pub const HEAD: usize = MAGIC.len() + 2;

/// The client's first frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    pub nonce: Nonce,
}

impl Hello {
    pub const LEN: usize = HEAD + NONCE;

    pub fn encode(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        head(&mut out);
        out[HEAD..].copy_from_slice(&self.nonce);
        out
    }

    /// # Errors
    /// Another protocol or version.
    pub fn decode(bytes: &[u8; Self::LEN]) -> Result<Hello, Wrong> {
        versioned(bytes)?;
        let nonce = bytes.last_chunk().copied().ok_or(Wrong::Word)?;
        Ok(Hello { nonce })
    }
}

/// The server's first frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge {
    /// Whether a secret has to be known.
    pub secret: bool,
    /// What the secret is stretched with; zeros where there is none.
    pub salt: Salt,
    pub nonce: Nonce,
}

impl Challenge {
    pub const LEN: usize = HEAD + 1 + SALT + NONCE;

    pub fn encode(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        head(&mut out);
        out[HEAD] = self.secret.into();
        let (salt, nonce) = out[HEAD + 1..].split_at_mut(SALT);
        salt.copy_from_slice(&self.salt);
        nonce.copy_from_slice(&self.nonce);
        out
    }

    /// # Errors
    /// Another protocol or version.
    pub fn decode(bytes: &[u8; Self::LEN]) -> Result<Challenge, Wrong> {
        versioned(bytes)?;
        let secret = match bytes[HEAD] {
            0 => false,
            1 => true,
            _ => return Err(Wrong::Word),
        };
        let salt = bytes[HEAD + 1..].first_chunk().copied().ok_or(Wrong::Word)?;
        let nonce = bytes.last_chunk().copied().ok_or(Wrong::Word)?;
        Ok(Challenge { secret, salt, nonce })
    }
}

/// What a client asks for. Each is answered on the connection it came on, and on no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// What machine this is: JSON of the length in the reply.
    Facts,
    /// From now on messages of so many bytes, each sent back whole; the connection does nothing
    /// else.
    Echo(u64),
    /// So many bytes follow at once and are thrown away; the reply comes when all are there.
    Sink(u64),
    /// How many connections were taken so far, in the reply.
    Accepted,
}

/// The server's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Done(u64),
    /// It is too large, or more than one connection may have.
    Refused,
}

/// Length of a request and of a reply.
pub const FRAME: usize = 16;

fn frame(word: u8, value: u64) -> [u8; FRAME] {
    let mut out = [0; FRAME];
    out[0] = word;
    out[FRAME - 8..].copy_from_slice(&value.to_be_bytes());
    out
}

fn parts(bytes: &[u8; FRAME]) -> Result<(u8, u64), Wrong> {
    let value = bytes.last_chunk().copied().map(u64::from_be_bytes).ok_or(Wrong::Word)?;
    if bytes[1..FRAME - 8].iter().all(|byte| *byte == 0) {
        Ok((bytes[0], value))
    } else {
        Err(Wrong::Word)
    }
}

impl Request {
    pub fn encode(self) -> [u8; FRAME] {
        match self {
            Request::Facts => frame(1, 0),
            Request::Echo(bytes) => frame(2, bytes),
            Request::Sink(bytes) => frame(3, bytes),
            Request::Accepted => frame(4, 0),
        }
    }

    /// # Errors
    /// A word that is unknown.
    pub fn decode(bytes: &[u8; FRAME]) -> Result<Request, Wrong> {
        match parts(bytes)? {
            (1, 0) => Ok(Request::Facts),
            (2, bytes) => Ok(Request::Echo(bytes)),
            (3, bytes) => Ok(Request::Sink(bytes)),
            (4, 0) => Ok(Request::Accepted),
            _ => Err(Wrong::Word),
        }
    }
}

impl Reply {
    pub fn encode(self) -> [u8; FRAME] {
        match self {
            Reply::Done(value) => frame(1, value),
            Reply::Refused => frame(2, 0),
        }
    }

    /// # Errors
    /// A word that is unknown.
    pub fn decode(bytes: &[u8; FRAME]) -> Result<Reply, Wrong> {
        match parts(bytes)? {
            (1, value) => Ok(Reply::Done(value)),
            (2, 0) => Ok(Reply::Refused),
            _ => Err(Wrong::Word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn another_protocol_and_another_version_are_told_apart() {
        let mut bytes = Hello { nonce: [7; NONCE] }.encode();
        bytes[7] = 9;
        assert_eq!(Hello::decode(&bytes), Err(Wrong::Version(9)));
        assert!(Wrong::Version(9).to_string().contains("version 9"));
        bytes[0] = b'G';
        assert_eq!(Hello::decode(&bytes), Err(Wrong::Magic));
    }

    proptest! {
        #[test]
        fn every_frame_comes_back(nonce: [u8; NONCE], salt: [u8; SALT], secret: bool, value: u64) {
            prop_assert_eq!(Hello::decode(&Hello { nonce }.encode()), Ok(Hello { nonce }));
            let challenge = Challenge { secret, salt, nonce };
            prop_assert_eq!(Challenge::decode(&challenge.encode()), Ok(challenge));
            for request in [Request::Facts, Request::Echo(value), Request::Sink(value), Request::Accepted] {
                prop_assert_eq!(Request::decode(&request.encode()), Ok(request));
            }
            for reply in [Reply::Done(value), Reply::Refused] {
                prop_assert_eq!(Reply::decode(&reply.encode()), Ok(reply));
            }
        }

        #[test]
        fn garbage_is_refused_or_means_one_thing(bytes: [u8; FRAME], hello: [u8; Hello::LEN]) {
            if let Ok(request) = Request::decode(&bytes) {
                prop_assert_eq!(request.encode(), bytes);
            }
            if let Ok(reply) = Reply::decode(&bytes) {
                prop_assert_eq!(reply.encode(), bytes);
            }
            prop_assert_eq!(Hello::decode(&hello), Err(Wrong::Magic));
        }
    }
}
