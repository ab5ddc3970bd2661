//! Kernel facts and system calls: everything that reads /proc and /sys, calls libc, or needs
//! `unsafe` outside the hot loops.

pub use iotui_files::{
    atomic_file, fd, folder, held_file, leftovers, mountinfo, mounts, nonce, pause,
    read_text as text, scratch, scratch_dir, scratch_name, temporary, unnamed_file,
};

pub mod aio;
pub mod bandwidth;
pub mod block;
pub mod buffer;
pub mod calls;
pub mod cet;
pub mod child;
pub mod clock;
pub mod clone;
pub mod cold;
pub mod content;
pub mod cpu_cache;
pub mod direct;
pub mod disk;
mod extent_list;
pub mod extents;
mod fiemap;
pub mod fill;
pub mod io_priority;
pub mod link;
pub mod loop_device;
mod map_raw;
pub mod mappers;
pub mod memory;
pub mod memory_group;
pub mod memory_limit;
mod mincore;
pub mod network;
pub mod output;
pub mod process_io;
pub mod raw;
pub mod residency;
pub mod ring;
mod sample;
pub mod scsi;
mod seek;
pub mod sigbus;
pub mod signals;
pub mod space;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod threads;
pub mod usage;
