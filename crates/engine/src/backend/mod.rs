//! The backends: methods of I/O, one file each, listed once in [`BACKENDS`].
//!
//! [`Backend`] describes a backend and opens its lanes; [`Lane`] is one worker's open handle, whose
//! `run` is the timed loop; [`Work`] hands that loop its requests and takes the results.

pub mod access_pattern;
pub mod claims;
mod draw;
pub mod drive;
pub mod fold;
pub mod lane_log;
pub mod meter;
pub mod pace;
pub mod work;

mod advice;
mod aio;
mod block_call;
mod buffers;
mod commit;
mod copy_range;
mod error;
mod kind;
mod latencies;
mod map_unmap;
mod mmap;
mod no_data;
mod pread;
mod preadv2;
mod published;
mod read;
mod readv;
mod sendfile;
mod simd_copy;
mod splice;
mod stamps;
mod stdio;
mod target;
#[cfg(test)]
pub mod testing;
mod tokio;
mod uring;
mod verifier;
mod written;

pub use buffers::written_block;
pub use error::{BackendError, IoFault, Unsupported};
pub use kind::{Backend, Lane};
pub use meter::Commits;
pub use stamps::{PIECE, Stamps};
pub use target::{OwnFile, Target};
pub use verifier::Verifier;
pub use work::Work;

use crate::plan::{Unknown, nearest};

/// Every backend, in the order of lists.
pub static BACKENDS: &[&dyn Backend] = &[
    &no_data::Null,
    &read::Read,
    &pread::Pread,
    &stdio::Stdio,
    &mmap::Mmap,
    &mmap::MmapCopy,
    &uring::Uring,
    &no_data::Seek,
    &readv::Readv,
    &preadv2::Preadv2,
    &simd_copy::SimdCopy,
    &aio::Aio,
    &sendfile::Sendfile,
    &splice::Splice,
    &copy_range::CopyRange,
    &tokio::Tokio,
    &map_unmap::MapUnmap,
    &no_data::Getpid,
];

/// Returns the backend of that name.
///
/// # Errors
/// No backend has that name; the error suggests the nearest one.
pub fn backend(id: &str) -> Result<&'static dyn Backend, Unknown> {
    let found = BACKENDS.iter().find(|b| b.info().id == id);
    found.copied().ok_or_else(|| nearest("backend", id, BACKENDS.iter().map(|b| b.info().id)))
}

/// Returns the backend that does nothing, so that only the measuring loop runs.
pub fn bare_loop() -> &'static dyn Backend {
    &no_data::Null
}
