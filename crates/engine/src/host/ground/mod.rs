//! What lies below a file, down to what keeps its bytes: the layers, the files between them with a
//! page cache of their own, and the lowest disks.
//!
//! `walk` goes down, and `found` is what it found; `file_system` knows what a mount lies on,
//! `image` opens a file below, `overlay` finds the one that serves a file of an overlay.

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
    /// Returns what lies below an open file, folder or block device. Of a folder, what a new file
    /// in it lies on.
    pub fn of(file: &File) -> Below {
        World::here().below(file)
    }
}

#[cfg(test)]
mod tests;
