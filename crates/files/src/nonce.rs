//! Unpredictable bytes, for nonces, salts and names.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// # Errors
/// The errno of getrandom(2), or an error if it returned too few bytes.
pub fn random<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    match getrandom(&mut bytes, GetRandomFlags::empty())? {
        got if got == BYTES => Ok(bytes),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
