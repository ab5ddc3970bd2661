//! The shared secret: where it is read from, the keys derived from it, and how each end proves that
//! it knows the secret without revealing it.
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

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use argon2::{Algorithm, Argon2, Block, Params, Version};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::sys::fd;
use crate::sys::names::random;
use crate::text::show_path;

/// The environment variable with the secret. There is no command-line option for it, because every
/// user of a machine can see the command lines of others.
pub const VARIABLE: &str = crate::sys::child::SECRET;
/// Minimum number of characters.
pub const MIN_CHARS: usize = 16;
/// Minimum number of different characters: `aaaaaaaaaaaaaaaa` is long but easily guessed.
const MIN_DISTINCT_CHARS: usize = 6;
/// Largest file with a secret, in bytes.
const MAX_FILE_BYTES: u64 = 4096;

/// Maximum number of cached keys: a run has one peer, with one server or one per kind of address.
const MAX_KEYS: usize = 8;

/// A shared secret, never printed, neither by `{:?}` nor in errors.
#[derive(Clone)]
pub struct Secret {
    text: Vec<u8>,
    /// Derived once per salt for all clones; newest last.
    keys: Arc<Mutex<Vec<(Salt, SecretKey)>>>,
}

#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the secret in {0} has fewer than {MIN_CHARS} characters")]
    Short(String),
    #[error(
        "the secret in {0} has fewer than {MIN_DISTINCT_CHARS} different characters, so it is easy \
         to guess"
    )]
    Guessable(String),
    #[error(
        "the secret in {path} can be read or written by others (mode {mode:03o}); run chmod 600 on \
         it"
    )]
    Exposed { path: String, mode: u32 },
    #[error("cannot read the secret in {path}: {error}")]
    File { path: String, error: io::Error },
    #[error("the secret in {0} is not a text file of at most {MAX_FILE_BYTES} bytes")]
    NotText(String),
    #[error("cannot derive a key from the secret: it needs {KEY_MEMORY_MIB} MiB of memory")]
    Memory,
    #[error("cannot get random numbers: {0}")]
    Salt(io::Error),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// Creates a secret from `text`, without its surrounding white space.
    ///
    /// # Errors
    /// If it has fewer than [`MIN_CHARS`] characters, or too few different ones; the error names
    /// `place`, not the secret.
    pub fn new(text: &str, place: &str) -> Result<Secret, SecretError> {
        let text = text.trim();
        let kinds: BTreeSet<char> = text.chars().collect();
        match text.chars().count() {
            ..MIN_CHARS => Err(SecretError::Short(place.into())),
            _ if kinds.len() < MIN_DISTINCT_CHARS => Err(SecretError::Guessable(place.into())),
            _ => Ok(Secret { text: text.as_bytes().into(), keys: Arc::default() }),
        }
    }

    /// Reads a secret from a file.
    ///
    /// # Errors
    /// If the file cannot be read, others can read or write it too, it is not text, or it is too
    /// short or too long.
    pub fn read_file(path: &Path) -> Result<Secret, SecretError> {
        let place = show_path(path);
        let failed = |error| SecretError::File { path: place.clone(), error };
        // Opening a pipe would block, and so would some "regular" files in /proc.
        let file = match fd::open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(SecretError::NotText(place));
            }
            file => file.map_err(failed)?,
        };
        // The mode of the open file, in case the path has been replaced.
        let mode = file.metadata().map_err(failed)?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(SecretError::Exposed { path: place, mode });
        }
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        match String::from_utf8(bytes) {
            Ok(text) if text.len() as u64 <= MAX_FILE_BYTES => Secret::new(&text, &place),
            _ => Err(SecretError::NotText(place)),
        }
    }

    /// Reads the secret from `file` if given, else from [`VARIABLE`]; `None` if there is neither.
    ///
    /// # Errors
    /// Same as for [`read_file`](Secret::read_file).
    pub fn find(file: Option<&Path>) -> Result<Option<Secret>, SecretError> {
        match (file, std::env::var(VARIABLE)) {
            (Some(path), _) => Secret::read_file(path).map(Some),
            (None, Ok(text)) if !text.is_empty() => Secret::new(&text, VARIABLE).map(Some),
            (None, Ok(_) | Err(std::env::VarError::NotPresent)) => Ok(None),
            (None, Err(_)) => Err(SecretError::NotText(VARIABLE.into())),
        }
    }

    /// Returns whether the key for `salt` is already derived.
    pub fn has_key(&self, salt: &Salt) -> bool {
        self.keys
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .any(|(known, _)| known == salt)
    }

    /// Returns the key for `salt`, deriving it on first use. Concurrent callers wait, so that the
    /// memory is used only once.
    pub fn key(&self, salt: &Salt) -> Result<SecretKey, SecretError> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, key)) = keys.iter().find(|(known, _)| known == salt) {
            return Ok(key.clone());
        }
        let key = stretch(&self.text, salt).ok_or(SecretError::Memory)?;
        if keys.len() == MAX_KEYS {
            keys.remove(0);
        }
        keys.push((*salt, key.clone()));
        Ok(key)
    }
}

/// A server's key, and the salt its clients need to derive the same key.
#[derive(Debug, Clone)]
pub struct SaltedKey {
    pub salt: Salt,
    pub key: SecretKey,
}

impl SaltedKey {
    /// Derives a key with a new random salt.
    pub fn new(secret: &Secret) -> Result<SaltedKey, SecretError> {
        let salt = random().map_err(SecretError::Salt)?;
        Ok(SaltedKey { salt, key: secret.key(&salt)? })
    }
}

/// The secret from `--secret-file`. It is global because plans, which are saved, must not contain
/// it.
static PROCESS_SECRET: OnceLock<Secret> = OnceLock::new();

/// Sets the secret of this process from `file`; once set, it stays.
///
/// # Errors
/// Same as for [`Secret::read_file`].
pub fn set_process_secret(file: Option<&Path>) -> Result<(), SecretError> {
    if let Some(path) = file {
        let secret = Secret::read_file(path)?;
        PROCESS_SECRET.get_or_init(|| secret);
    }
    Ok(())
}

/// Returns the secret of this process.
pub fn process_secret() -> Result<Option<Secret>, SecretError> {
    PROCESS_SECRET.get().map_or_else(|| Secret::find(None), |secret| Ok(Some(secret.clone())))
}

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
pub struct SecretKey([u8; 32]);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Derives a key from the bytes of a secret; `None` if there is not enough memory.
pub fn stretch(secret: &[u8], salt: &Salt) -> Option<SecretKey> {
    let mut memory = allocate_blocks(PARAMS.block_count())?;
    let mut key = [0; 32];
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, PARAMS);
    // The lengths and parameters are valid constants, so the only possible failure is lack of
    // memory.
    argon2.hash_password_into_with_memory(secret, salt, &mut key, &mut memory).ok()?;
    Some(SecretKey(key))
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
pub enum ProofSide {
    Client,
    Server,
}

fn sign(key: Option<&SecretKey>, side: ProofSide, client: &Nonce, server: &Nonce) -> Hmac<Sha256> {
    let word: &[u8] = match side {
        ProofSide::Client => b"iotui client 2",
        ProofSide::Server => b"iotui server 2",
    };
    // Without a secret both ends sign with an empty key, so the frames are the same.
    let key = key.map_or(&[][..], |key| &key.0);
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key)
        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    [word, client, server].into_iter().for_each(|part| mac.update(part));
    mac
}

/// Creates the proof that this end knows the secret of `key`.
pub fn prove(key: Option<&SecretKey>, side: ProofSide, client: &Nonce, server: &Nonce) -> Proof {
    sign(key, side, client, server).finalize().into_bytes().into()
}

/// Returns whether the other end's proof is valid, in constant time.
pub fn verify_proof(
    proof: &Proof,
    key: Option<&SecretKey>,
    side: ProofSide,
    client: &Nonce,
    server: &Nonce,
) -> bool {
    sign(key, side, client, server).verify_slice(proof).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    const TEXT: &str = "a secret of many words";

    #[test]
    fn weak_secrets_are_refused_unprinted() {
        assert!(Secret::new(" sixteen letters!\n", "x").is_ok());
        let why = Secret::new("only fifteen ch", "x").unwrap_err().to_string();
        assert!(why.contains("fewer than 16") && !why.contains("fifteen"), "{why}");
        assert_eq!(format!("{:?}", Secret::new(TEXT, "x").unwrap()), "Secret(..)");
        for plain in ["aaaaaaaaaaaaaaaa", "abababababababababab", "1234512345123451234512345"] {
            let why = Secret::new(plain, "x").unwrap_err().to_string();
            assert!(why.contains("different characters") && !why.contains(plain), "{why}");
        }
    }

    #[test]
    fn unsuitable_secret_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            path
        };
        let seen = write("seen", TEXT.as_bytes());
        for mode in [0o640, 0o604, 0o620, 0o602, 0o666] {
            fs::set_permissions(&seen, fs::Permissions::from_mode(mode)).unwrap();
            let why = Secret::read_file(&seen).unwrap_err().to_string();
            assert!(why.contains(&format!("{mode:03o}")) && why.contains("chmod 600"), "{why}");
        }
        fs::set_permissions(&seen, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(Secret::read_file(&seen).is_ok());
        let good = Secret::read_file(&write("good", format!("{TEXT}\r\n").as_bytes())).unwrap();
        assert_eq!(good.text, TEXT.as_bytes());
        for (path, wanted) in [
            (write("short", b"short\n"), "fewer than 16"),
            (write("long", &[b'a'; 5000]), "at most 4096"),
            (write("bytes", &[0xff; 32]), "text"),
            (dir.path().join("none"), "No such file"),
            (dir.path().to_path_buf(), "not a text file"),
        ] {
            let why = Secret::read_file(&path).unwrap_err().to_string();
            assert!(why.contains(wanted), "{why}");
        }
    }

    #[test]
    fn clones_share_bounded_key_cache() {
        let secret = Secret::new(TEXT, "x").unwrap();
        let salts: Vec<Salt> = (0..=MAX_KEYS as u8).map(|n| [n; _]).collect();
        let kept =
            |known: &Secret| salts.iter().map(|salt| known.has_key(salt)).collect::<Vec<bool>>();
        secret.clone().key(&salts[0]).unwrap();
        assert!(secret.has_key(&salts[0]) && !secret.has_key(&salts[1]));
        let made = stretch(b"any", &salts[0]).unwrap();
        secret
            .keys
            .lock()
            .unwrap()
            .extend(salts[1..MAX_KEYS].iter().map(|salt| (*salt, made.clone())));
        secret.key(&salts[MAX_KEYS]).unwrap();
        assert_eq!(kept(&secret), (0..=MAX_KEYS).map(|at| at > 0).collect::<Vec<bool>>());
    }

    fn key(text: &str, salt: u8) -> SecretKey {
        Secret::new(text, "x").unwrap().key(&[salt; SALT]).unwrap()
    }

    #[test]
    fn keys_depend_on_secret_and_salt() {
        let text = TEXT;
        assert_eq!(key(text, 1), key(text, 1));
        assert_ne!(key(text, 1), key(text, 2));
        assert_ne!(key(text, 1), key("another secret of words", 1));
        assert_eq!(format!("{:?}", key(text, 1)), "Key(..)");
    }

    #[test]
    fn lack_of_memory_is_an_error() {
        assert!(allocate_blocks(isize::MAX as usize / size_of::<Block>()).is_none());
        assert!(SecretError::Memory.to_string().contains("32 MiB"));
    }

    #[test]
    fn proofs_bind_side_nonces_and_key() {
        let (known, other) = (SecretKey([1; 32]), SecretKey([2; 32]));
        let (one, two): (Nonce, Nonce) = (random().unwrap(), random().unwrap());
        assert_ne!(one, two);
        let proof = prove(Some(&known), ProofSide::Client, &one, &two);
        let holds = |key: Option<&SecretKey>, side, client: &Nonce, server: &Nonce| {
            verify_proof(&proof, key, side, client, server)
        };
        assert!(holds(Some(&known), ProofSide::Client, &one, &two));
        assert!(!holds(Some(&known), ProofSide::Server, &one, &two), "reflected");
        assert!(!holds(Some(&known), ProofSide::Client, &two, &one));
        assert!(!holds(Some(&known), ProofSide::Client, &one, &one), "replayed");
        assert!(!holds(None, ProofSide::Client, &one, &two));
        assert!(!holds(Some(&other), ProofSide::Client, &one, &two));
    }
}
