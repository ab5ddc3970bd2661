//! The shared secret: where it is read, and the keys that were made of it.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::key::{self, Key, MEMORY_MIB, Salt};
use crate::sys::fd;
use crate::text::shown;

/// The variable that holds the secret; not an option, as every user of a machine sees what others
/// are called with.
pub const VARIABLE: &str = crate::sys::child::SECRET;
/// The fewest characters.
pub const LEAST: usize = 16;
/// The fewest different characters: `aaaaaaaaaaaaaaaa` is long, and the first one that is tried.
const LEAST_KINDS: usize = 6;
/// The most bytes of a file that holds one.
const MOST: u64 = 4096;

/// The most keys that are kept: a run has one peer, which is one server, or one for each kind of
/// address.
const MOST_KEYS: usize = 8;

/// A shared secret. It is never shown: not by `{:?}`, not in errors.
#[derive(Clone)]
pub struct Secret {
    text: Vec<u8>,
    /// Made once for each salt, for all clones; the newest last.
    keys: Arc<Mutex<Vec<(Salt, Key)>>>,
}

#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the secret in {0} has fewer than {LEAST} characters")]
    Short(String),
    #[error(
        "the secret in {0} has fewer than {LEAST_KINDS} different characters: it would soon be guessed"
    )]
    Plain(String),
    #[error(
        "the secret in {path} can be read or written by others (mode {mode:03o}): chmod 600 it"
    )]
    Open { path: String, mode: u32 },
    #[error("cannot read the secret in {path}: {error}")]
    File { path: String, error: io::Error },
    #[error("the secret in {0} is no file of at most {MOST} bytes of text")]
    Odd(String),
    #[error("the secret cannot be stretched: {MEMORY_MIB} MiB of memory are refused")]
    Memory,
    #[error("random numbers: {0}")]
    Salt(io::Error),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// Spaces and line ends around it are no part of it.
    ///
    /// # Errors
    /// It is shorter than [`LEAST`] characters, or of few different ones; `place` is told, not the
    /// secret.
    pub fn new(text: &str, place: &str) -> Result<Secret, SecretError> {
        let text = text.trim();
        let kinds: BTreeSet<char> = text.chars().collect();
        match text.chars().count() {
            ..LEAST => Err(SecretError::Short(place.into())),
            _ if kinds.len() < LEAST_KINDS => Err(SecretError::Plain(place.into())),
            _ => Ok(Secret { text: text.as_bytes().into(), keys: Arc::default() }),
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
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(SecretError::Odd(place));
            }
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

    /// That of the file where one is named, else that of [`VARIABLE`]; `None` where there is
    /// neither.
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

    /// Whether the key for `salt` is made already.
    pub fn has_key(&self, salt: &Salt) -> bool {
        self.keys
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .any(|(known, _)| known == salt)
    }

    /// The key for `salt`, made where it is not yet. Who wants one meanwhile waits, so that the
    /// memory is taken once.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn key(&self, salt: &Salt) -> Result<Key, SecretError> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, key)) = keys.iter().find(|(known, _)| known == salt) {
            return Ok(key.clone());
        }
        let key = key::stretch(&self.text, salt)?;
        if keys.len() == MOST_KEYS {
            keys.remove(0);
        }
        keys.push((*salt, key.clone()));
        Ok(key)
    }
}

/// What this process was given with `--secret-file`: a secret is in no plan, so no plan can bring
/// it along.
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
        assert_eq!(good.text, TEXT.as_bytes());
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
    fn keys_are_kept_for_all_clones_and_are_not_many() {
        let secret = Secret::new(TEXT, "x").unwrap();
        let salts: Vec<Salt> = (0..=MOST_KEYS as u8).map(|n| [n; _]).collect();
        let kept =
            |known: &Secret| salts.iter().map(|salt| known.has_key(salt)).collect::<Vec<bool>>();
        secret.clone().key(&salts[0]).unwrap();
        assert!(secret.has_key(&salts[0]) && !secret.has_key(&salts[1]));
        let made = key::stretch(b"any", &salts[0]).unwrap();
        secret
            .keys
            .lock()
            .unwrap()
            .extend(salts[1..MOST_KEYS].iter().map(|salt| (*salt, made.clone())));
        secret.key(&salts[MOST_KEYS]).unwrap();
        assert_eq!(kept(&secret), (0..=MOST_KEYS).map(|at| at > 0).collect::<Vec<bool>>());
    }
}
