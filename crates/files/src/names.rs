//! Random bytes, and the names of iotui's own files, which nobody can guess.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::Path;

use rustix::rand::{GetRandomFlags, getrandom};

/// Returns unpredictable bytes.
///
/// # Errors
/// The errno of getrandom(2), or an error if it returned too few bytes.
pub fn random<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    match getrandom(&mut bytes, GetRandomFlags::empty())? {
        got if got == BYTES => Ok(bytes),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Returns sixteen random hexadecimal digits.
pub fn random_name() -> String {
    // If refused: the keys of std's hash maps are random too.
    let number =
        random().map_or_else(|_| RandomState::new().build_hasher().finish(), u64::from_ne_bytes);
    format!("{number:016x}")
}

/// Returns whether `text` has the form of [`random_name`].
pub fn is_random_name(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The start of the names of scratch files and folders.
pub const PREFIX: &str = ".iotui-scratch-";

/// Returns a random name that marks a file as iotui's.
pub fn next_name() -> String {
    format!("{PREFIX}{}", random_name())
}

/// Returns whether a scratch file of this name may be a leftover: a name from [`next_name`], or the
/// `.iotui-scratch-PID-N` of older versions if that process has ended.
pub fn is_leftover_name(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|rest| is_random_name(rest) || old_owner(rest).is_some_and(|pid| !alive(pid)))
}

fn old_owner(rest: &str) -> Option<u32> {
    let (pid, count) = rest.split_once('-')?;
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    number(count)?;
    number(pid)
}

fn alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Returns whether a temporary file may have this name.
pub fn is_temporary_name(name: &str) -> bool {
    name.strip_prefix(".iotui-")
        .and_then(|rest| rest.strip_suffix(".tmp"))
        .is_some_and(is_random_name)
}
