//! Which bytes of a device are stored, where it is made of a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt;

use super::Below;
use crate::sys::extents::{self, Extents};

impl Below {
    /// Returns the extents of the first `len` bytes of the open target; those of a device are found
    /// in the file that it is made of, if each byte has its place there.
    ///
    /// # Errors
    /// As [`extents::extents`].
    pub fn extents(&self, target: &File, len: u64) -> io::Result<Extents> {
        let is_device =
            |file: &File| file.metadata().is_ok_and(|meta| meta.file_type().is_block_device());
        let mut images = self.files.iter().take_while(|below| below.fixed);
        let image = images.find_map(|below| {
            let file = below.file.as_ref().ok().filter(|file| !is_device(file))?;
            Some((file, below.part_of(0..len)))
        });
        match image.filter(|_| is_device(target)) {
            Some((file, part)) => Ok(extents::extents(file, part.end)?.of_part(part)),
            None => extents::extents(target, len),
        }
    }
}
