//! Which bytes of a file are stored: holes and preallocated extents read as zeros at memory speed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt;

pub use super::extent_list::Extents;
use super::{fd, fiemap, seek};
pub use crate::facts::ExtentMethod;

/// Returns the extents of the first `len` bytes of `file`, truncated at the end of the file. Writes
/// dirty pages back (FIEMAP_FLAG_SYNC).
///
/// # Errors
/// The errno of fstat(2), or of the ioctl if it failed for a reason other than missing support
/// (EIO: the device failed).
pub fn extents(file: &File, len: u64) -> io::Result<Extents> {
    let len = fd::clip(file, 0, len)?;
    if file.metadata()?.file_type().is_block_device() {
        return Ok(Extents::new(ExtentMethod::Assumed, len));
    }
    extents_by(file, len, ExtentMethod::Fiemap)
}

/// Tries `method` and the ones after it until one works.
fn extents_by(file: &File, len: u64, method: ExtentMethod) -> io::Result<Extents> {
    if method == ExtentMethod::Fiemap
        && let Some(found) = fiemap::walk(file, len)?
    {
        return Ok(found);
    }
    if method != ExtentMethod::Assumed
        && let Some(found) = seek::walk(file, len)
    {
        return Ok(found);
    }
    Ok(Extents::new(ExtentMethod::Assumed, len))
}

#[cfg(test)]
mod tests;
