//! The key derived from a secret, and how each end proves that it knows the secret without
//! revealing it.
//!
//! The secret is stretched by Argon2id (RFC 9106) with a salt chosen by the server: an attacker who
//! obtains a proof, for example by posing as the server, has to derive a key for every guess. The
//! server derives its key once, and a client once per server, so neither can be made to spend more.
//! A salt chosen by an attacker reveals nothing: keys derived with it are useless with any other
//! salt.
//!
//! Challenge and response over HMAC-SHA256 (RFC 2104) follow: each end signs both nonces and a word
//! that names its side, so neither a recorded nor a reflected proof is accepted. This keeps
//! strangers out; the measured traffic is not encrypted.

use std::fmt;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use hmac::{Hmac, Mac};
use sha2::Sha256;

pub const NONCE_LEN: usize = 32;
pub type Nonce = [u8; NONCE_LEN];
pub const PROOF_LEN: usize = 32;
pub type Proof = [u8; PROOF_LEN];
pub const SALT: usize = 16;
pub type Salt = [u8; SALT];

/// Memory used to derive a key, in MiB.
pub const KEY_MEMORY_MIB: u32 = 32;
/// Three passes take about a tenth of a second. The parameters belong to the protocol version, so
/// neither end can request others.
const PARAMS: Params = match Params::new(KEY_MEMORY_MIB << 10, 3, 1, None) {
    Ok(params) => params,
    Err(_) => panic!("parameters that Argon2 takes"),
};

/// A stretched secret; like the secret, it is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Derives a key from the bytes of a secret; `None` if there is not enough memory.
pub fn stretch(secret: &[u8], salt: &Salt) -> Option<Key> {
    let mut memory = allocate_blocks(PARAMS.block_count())?;
    let mut key = [0; 32];
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, PARAMS);
    // The lengths and parameters are valid constants, so the only possible failure is lack of
    // memory.
    argon2.hash_password_into_with_memory(secret, salt, &mut key, &mut memory).ok()?;
    Some(Key(key))
}

/// Allocates `count` blocks; `None` if there is not enough memory, in which case the library would
/// abort.
fn allocate_blocks(count: usize) -> Option<Vec<Block>> {
    let mut blocks = Vec::new();
    blocks.try_reserve_exact(count).ok()?;
    blocks.resize(count, Block::default());
    Some(blocks)
}

/// The end that creates a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

fn sign(key: Option<&Key>, side: Side, client: &Nonce, server: &Nonce) -> Hmac<Sha256> {
    let word: &[u8] = match side {
        Side::Client => b"iotui client 2",
        Side::Server => b"iotui server 2",
    };
    // Without a secret both ends sign with an empty key, so the frames are the same.
    let key = key.map_or(&[][..], |key| &key.0);
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key)
        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    [word, client, server].into_iter().for_each(|part| mac.update(part));
    mac
}

/// Creates the proof that this end knows the secret of `key`.
pub fn prove(key: Option<&Key>, side: Side, client: &Nonce, server: &Nonce) -> Proof {
    sign(key, side, client, server).finalize().into_bytes().into()
}

/// Returns whether the other end's proof is valid, in constant time.
pub fn verify_proof(
    proof: &Proof,
    key: Option<&Key>,
    side: Side,
    client: &Nonce,
    server: &Nonce,
) -> bool {
    sign(key, side, client, server).verify_slice(proof).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::net::secret::{Secret, SecretError};
    use crate::sys::nonce::random;

    fn key(text: &str, salt: u8) -> Key {
        Secret::new(text, "x").unwrap().key(&[salt; SALT]).unwrap()
    }

    #[test]
    fn a_key_depends_on_its_secret_and_its_salt() {
        let text = "a secret of many words";
        assert_eq!(key(text, 1), key(text, 1));
        assert_ne!(key(text, 1), key(text, 2));
        assert_ne!(key(text, 1), key("another secret of words", 1));
        assert_eq!(format!("{:?}", key(text, 1)), "Key(..)");
    }

    #[test]
    fn a_lack_of_memory_is_an_error() {
        assert!(allocate_blocks(isize::MAX as usize / size_of::<Block>()).is_none());
        assert!(SecretError::Memory.to_string().contains("32 MiB"));
    }

    #[test]
    fn a_proof_is_valid_only_for_its_side_nonces_and_key() {
        let (known, other) = (Key([1; 32]), Key([2; 32]));
        let (one, two): (Nonce, Nonce) = (random().unwrap(), random().unwrap());
        assert_ne!(one, two);
        let proof = prove(Some(&known), Side::Client, &one, &two);
        let holds = |key: Option<&Key>, side, client: &Nonce, server: &Nonce| {
            verify_proof(&proof, key, side, client, server)
        };
        assert!(holds(Some(&known), Side::Client, &one, &two));
        assert!(!holds(Some(&known), Side::Server, &one, &two), "reflected");
        assert!(!holds(Some(&known), Side::Client, &two, &one));
        assert!(!holds(Some(&known), Side::Client, &one, &one), "replayed");
        assert!(!holds(None, Side::Client, &one, &two));
        assert!(!holds(Some(&other), Side::Client, &one, &two));
    }
}
