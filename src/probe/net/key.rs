//! The key made of a secret, and how both ends prove with it that they know the secret without
//! saying it.
//!
//! The secret is stretched by Argon2id (RFC 9106) with a salt of the server: whoever has a proof,
//! as a stranger that poses as the server has, pays a key for every word that is tried against it.
//! The server makes its key once, a client once for a server, so that nobody can make them spend
//! more. A salt that a stranger chose gives away nothing: its keys are good for no other salt.
//!
//! Then challenge and response over HMAC-SHA256 (RFC 2104): each end signs both nonces with a word
//! that says which end it is, so that neither a recorded nor a reflected proof is worth anything.
//! It keeps strangers out; what is measured with is not encrypted.

use std::fmt;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::secret::{Secret, SecretError};
use crate::sys::nonce::random;

pub const NONCE: usize = 32;
pub type Nonce = [u8; NONCE];
pub const PROOF: usize = 32;
pub type Proof = [u8; PROOF];
pub const SALT: usize = 16;
pub type Salt = [u8; SALT];

/// Memory that a key takes while it is made.
pub const MEMORY_MIB: u32 = 32;
/// With three passes about a tenth of a second. Both belong to the version of the protocol: nobody
/// can ask for less, or for more.
const PARAMS: Params = match Params::new(MEMORY_MIB << 10, 3, 1, None) {
    Ok(params) => params,
    Err(_) => panic!("parameters that Argon2 takes"),
};

/// A stretched secret. It is never shown, as the secret is not.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A server's key, and the salt that its clients need to make the same.
#[derive(Debug, Clone)]
pub struct Salted {
    pub salt: Salt,
    pub key: Key,
}

impl Salted {
    /// A key with a salt that nobody used before.
    ///
    /// # Errors
    /// There is no memory for it, or no random number.
    pub fn new(secret: &Secret) -> Result<Salted, SecretError> {
        let salt = random().map_err(SecretError::Salt)?;
        Ok(Salted { salt, key: secret.key(&salt)? })
    }
}

/// Stretches the bytes of a secret.
///
/// # Errors
/// There is no memory for it.
pub fn stretch(secret: &[u8], salt: &Salt) -> Result<Key, SecretError> {
    let mut memory = blocks(PARAMS.block_count()).ok_or(SecretError::Memory)?;
    let mut key = [0; 32];
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, PARAMS);
    // Lengths and parameters are constants that it takes, so memory is all that can be missing.
    argon2
        .hash_password_into_with_memory(secret, salt, &mut key, &mut memory)
        .map_err(|_| SecretError::Memory)?;
    Ok(Key(key))
}

/// `None` where the memory is refused; the library would abort.
fn blocks(count: usize) -> Option<Vec<Block>> {
    let mut blocks = Vec::new();
    blocks.try_reserve_exact(count).ok()?;
    blocks.resize(count, Block::default());
    Some(blocks)
}

/// Which end proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

fn signed(key: Option<&Key>, side: Side, client: &Nonce, server: &Nonce) -> Hmac<Sha256> {
    let word: &[u8] = match side {
        Side::Client => b"iotui client 2",
        Side::Server => b"iotui server 2",
    };
    // Without a secret both ends sign with an empty key: the frames are the same.
    let key = key.map_or(&[][..], |key| &key.0);
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key)
        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    [word, client, server].into_iter().for_each(|part| mac.update(part));
    mac
}

/// Proves to the other end that this one knows the secret of `key`.
pub fn prove(key: Option<&Key>, side: Side, client: &Nonce, server: &Nonce) -> Proof {
    signed(key, side, client, server).finalize().into_bytes().into()
}

/// Whether a proof of the other end is one; in a time that does not depend on how much of it is
/// right.
pub fn proves(
    proof: &Proof,
    key: Option<&Key>,
    side: Side,
    client: &Nonce,
    server: &Nonce,
) -> bool {
    signed(key, side, client, server).verify_slice(proof).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str, salt: u8) -> Key {
        Secret::new(text, "x").unwrap().key(&[salt; SALT]).unwrap()
    }

    #[test]
    fn a_key_is_of_its_secret_and_its_salt() {
        let text = "a secret of many words";
        assert_eq!(key(text, 1), key(text, 1));
        assert_ne!(key(text, 1), key(text, 2));
        assert_ne!(key(text, 1), key("another secret of words", 1));
        assert_eq!(format!("{:?}", key(text, 1)), "Key(..)");
    }

    #[test]
    fn memory_that_is_refused_is_an_error() {
        assert!(blocks(isize::MAX as usize / size_of::<Block>()).is_none());
        assert!(SecretError::Memory.to_string().contains("32 MiB"));
    }

    #[test]
    fn a_proof_holds_for_its_side_its_nonces_and_its_key_only() {
        let (known, other) = (Key([1; 32]), Key([2; 32]));
        let (one, two): (Nonce, Nonce) = (random().unwrap(), random().unwrap());
        assert_ne!(one, two);
        let proof = prove(Some(&known), Side::Client, &one, &two);
        let holds = |key: Option<&Key>, side, client: &Nonce, server: &Nonce| {
            proves(&proof, key, side, client, server)
        };
        assert!(holds(Some(&known), Side::Client, &one, &two));
        assert!(!holds(Some(&known), Side::Server, &one, &two), "reflected");
        assert!(!holds(Some(&known), Side::Client, &two, &one));
        assert!(!holds(Some(&known), Side::Client, &one, &one), "replayed");
        assert!(!holds(None, Side::Client, &one, &two));
        assert!(!holds(Some(&other), Side::Client, &one, &two));
    }
}
