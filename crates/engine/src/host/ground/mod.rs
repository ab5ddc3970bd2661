//! The layers below a file down to its medium, the files between them with their own page cache,
//! and the lowest disks.
//!
//! `walk` goes down, and `found` is its result; `file_system` knows the devices of a mount, `image`
//! opens a file below, `overlay` finds the file that serves a file of an overlay.

mod file_system;
mod found;
mod image;
mod overlay;
mod walk;

use std::fs::File;

pub(super) use file_system::compression;
#[cfg(test)]
pub(super) use file_system::is_without_barrier;
pub use found::{Below, FileBelow};
use walk::World;

impl Below {
    /// Returns the layers below an open file, folder or block device. For a folder, they are the
    /// layers of a new file in it.
    pub fn of(file: &File) -> Below {
        World::here().below(file)
    }
}

#[cfg(test)]
mod tests;
