//! The shared secret: where it is read, and how both ends prove that they know it without saying it.
//!
//! Challenge and response over HMAC-SHA256 (RFC 2104): each end signs both nonces with a word that says which end it is, so that
//! neither a recorded nor a reflected proof is worth anything. It keeps strangers out; what is measured with is not encrypted.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::sys::fd;
use crate::units::text::shown;

pub const NONCE: usize = 32;
pub type Nonce = [u8; NONCE];
pub const PROOF: usize = 32;
pub type Proof = [u8; PROOF];

/// The variable that holds the secret; not an option, as every user of a machine sees what others are called with.
pub const VARIABLE: &str = crate::sys::child::SECRET;
/// The fewest characters.
pub const LEAST: usize = 16;
/// The fewest different characters: `aaaaaaaaaaaaaaaa` is long, and the first one that is tried.
const LEAST_KINDS: usize = 6;
/// The most bytes of a file that holds one.
const MOST: u64 = 4096;

/// A shared secret. It is never shown: not by `{:?}`, not in errors.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the secret in {0} has fewer than {LEAST} characters")]
    Short(String),
    #[error("the secret in {0} has fewer than {LEAST_KINDS} different characters: it would soon be guessed")]
    Plain(String),
    #[error("the secret in {path} can be read or written by others (mode {mode:03o}): chmod 600 it")]
    Open { path: String, mode: u32 },
    #[error("cannot read the secret in {path}: {error}")]
    File { path: String, error: io::Error },
    #[error("the secret in {0} is no file of at most {MOST} bytes of text")]
    Odd(String),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Which end proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

impl Secret {
    /// Spaces and line ends around it are no part of it.
    ///
    /// # Errors
    /// It is shorter than [`LEAST`] characters, or of few different ones; `place` is told, not the secret.
    pub fn new(text: &str, place: &str) -> Result<Secret, SecretError> {
        let text = text.trim();
        let kinds: BTreeSet<char> = text.chars().collect();
        match text.chars().count() {
            ..LEAST => Err(SecretError::Short(place.into())),
            _ if kinds.len() < LEAST_KINDS => Err(SecretError::Plain(place.into())),
            _ => Ok(Secret(text.as_bytes().into())),
        }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// It cannot be read, others can read or write it too, it is no text, or too short or long.
    pub fn of_file(path: &Path) -> Result<Secret, SecretError> {
        let place = shown(path);
        let failed = |error| SecretError::File { path: place.clone(), error };
        // A pipe would be waited for, and so would some files of /proc that are called regular.
        let file = match fd::open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(SecretError::Odd(place)),
            file => file.map_err(failed)?,
        };
        // Of the file that is read, whatever the name means by now.
        let mode = file.metadata().map_err(failed)?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(SecretError::Open { path: place, mode });
        }
        let mut bytes = Vec::new();
        file.take(MOST + 1).read_to_end(&mut bytes).map_err(failed)?;
        match String::from_utf8(bytes) {
            Ok(text) if text.len() as u64 <= MOST => Secret::new(&text, &place),
            _ => Err(SecretError::Odd(place)),
        }
    }

    /// That of the file where one is named, else that of [`VARIABLE`]; `None` where there is neither.
    ///
    /// # Errors
    /// As [`of_file`](Secret::of_file).
    pub fn find(file: Option<&Path>) -> Result<Option<Secret>, SecretError> {
        match (file, std::env::var(VARIABLE)) {
            (Some(path), _) => Secret::of_file(path).map(Some),
            (None, Ok(text)) if !text.is_empty() => Secret::new(&text, VARIABLE).map(Some),
            (None, Ok(_) | Err(std::env::VarError::NotPresent)) => Ok(None),
            (None, Err(_)) => Err(SecretError::Odd(VARIABLE.into())),
        }
    }
}

/// What this process was given with `--secret-file`: a secret is in no plan, so no plan can bring it along.
static KEPT: OnceLock<Secret> = OnceLock::new();

/// Keeps the secret of `file` for every probe of this process; the first one stands.
///
/// # Errors
/// As [`Secret::of_file`].
pub fn keep(file: Option<&Path>) -> Result<(), SecretError> {
    if let Some(path) = file {
        let secret = Secret::of_file(path)?;
        KEPT.get_or_init(|| secret);
    }
    Ok(())
}

/// The secret of this process.
///
/// # Errors
/// That of the environment is none.
pub fn kept() -> Result<Option<Secret>, SecretError> {
    KEPT.get().map_or_else(|| Secret::find(None), |secret| Ok(Some(secret.clone())))
}

fn signed(secret: Option<&Secret>, side: Side, client: &Nonce, server: &Nonce) -> Hmac<Sha256> {
    let word: &[u8] = match side {
        Side::Client => b"iotui client 1",
        Side::Server => b"iotui server 1",
    };
    // Without a secret both ends sign with an empty one: the frames are the same.
    let key = secret.map_or(&[][..], |secret| &secret.0);
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    [word, client, server].into_iter().for_each(|part| mac.update(part));
    mac
}

/// Proves to the other end that this one knows `secret`.
pub fn prove(secret: Option<&Secret>, side: Side, client: &Nonce, server: &Nonce) -> Proof {
    signed(secret, side, client, server).finalize().into_bytes().into()
}

/// Whether a proof of the other end is one; in a time that does not depend on how much of it is right.
pub fn proves(proof: &Proof, secret: Option<&Secret>, side: Side, client: &Nonce, server: &Nonce) -> bool {
    signed(secret, side, client, server).verify_slice(proof).is_ok()
}

/// A number that nobody can foresee.
///
/// # Errors
/// The errno of getrandom(2).
pub fn nonce() -> io::Result<Nonce> {
    let mut nonce = [0; NONCE];
    // SAFETY: the kernel writes at most the given number of bytes into it.
    let got = unsafe { libc::getrandom(nonce.as_mut_ptr().cast(), NONCE, 0) };
    match usize::try_from(got) {
        Ok(NONCE) => Ok(nonce),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    const TEXT: &str = "a secret of many words";

    #[test]
    fn short_secrets_are_refused_without_telling_them() {
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
    fn a_file_is_read_without_its_line_end_and_odd_ones_are_refused() {
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
            let why = Secret::of_file(&seen).unwrap_err().to_string();
            assert!(why.contains(&format!("{mode:03o}")) && why.contains("chmod 600"), "{why}");
        }
        fs::set_permissions(&seen, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(Secret::of_file(&seen).is_ok());
        let good = Secret::of_file(&write("good", format!("{TEXT}\r\n").as_bytes())).unwrap();
        assert_eq!(good, Secret::new(TEXT, "x").unwrap());
        for (path, wanted) in [
            (write("short", b"short\n"), "fewer than 16"),
            (write("long", &[b'a'; 5000]), "at most 4096"),
            (write("bytes", &[0xff; 32]), "text"),
            (dir.path().join("none"), "No such file"),
            (dir.path().to_path_buf(), "no file"),
        ] {
            let why = Secret::of_file(&path).unwrap_err().to_string();
            assert!(why.contains(wanted), "{why}");
        }
    }

    #[test]
    fn a_proof_holds_for_its_side_its_nonces_and_its_secret_only() {
        let secret = Secret::new(TEXT, "x").unwrap();
        let (one, two) = (nonce().unwrap(), nonce().unwrap());
        assert_ne!(one, two);
        let proof = prove(Some(&secret), Side::Client, &one, &two);
        let holds = |secret: Option<&Secret>, side, client: &Nonce, server: &Nonce| proves(&proof, secret, side, client, server);
        assert!(holds(Some(&secret), Side::Client, &one, &two));
        assert!(!holds(Some(&secret), Side::Server, &one, &two), "reflected");
        assert!(!holds(Some(&secret), Side::Client, &two, &one));
        assert!(!holds(Some(&secret), Side::Client, &one, &one), "replayed");
        assert!(!holds(None, Side::Client, &one, &two));
        let other = Secret::new("another secret of words", "x").unwrap();
        assert!(!holds(Some(&other), Side::Client, &one, &two));
    }
}
