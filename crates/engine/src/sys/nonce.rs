//! Unpredictable bytes, for nonces, salts and names.
#![allow(unsafe_code)]

use std::io;

/// # Errors
/// The errno of getrandom(2), or an error if it returned too few bytes.
pub fn random<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    // SAFETY: the kernel writes at most the given number of bytes into the buffer.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), BYTES, 0) };
    match usize::try_from(got) {
        Ok(got) if got == BYTES => Ok(bytes),
        Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}
