//! Kernel facts and calls.

pub mod aio;
pub mod bandwidth;
pub mod block;
pub mod buffer;
pub mod calls;
pub mod cet;
pub mod clock;
pub mod clone;
pub mod cold;
pub mod cpu_cache;
pub mod direct;
pub mod disk;
pub mod extents;
pub mod fd;
mod fiemap;
pub mod fill;
pub mod guard;
pub mod link;
mod map_raw;
pub mod mappers;
pub mod memory;
mod mincore;
mod mountinfo;
pub mod mounts;
pub mod process_io;
pub mod random;
pub mod raw;
pub mod residency;
mod sample;
pub mod scratch;
mod seek;
pub mod signals;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod threads;
pub mod usage;
