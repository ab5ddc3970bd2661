//! Kernel facts and system calls: everything that reads /proc and /sys, calls libc, or needs
//! `unsafe` outside the hot loops.

pub use iotui_files::{
    atomic_file, fd, folder, mounts, names, pause, read_text as text, scratch, unnamed_file,
};

/// Implements the difference of two readings of counters, some of which may be unknown.
macro_rules! difference {
    ($type:ident: $($counter:ident),+ $(; unsure: $($unsure:ident),+)?) => {
        /// Returns the difference since `earlier`; never below 0.
        impl std::ops::Sub for $type {
            type Output = Self;

            fn sub(self, earlier: Self) -> Self {
                Self {
                    $($counter: self.$counter.saturating_sub(earlier.$counter),)+
                    $($($unsure: since(self.$unsure, earlier.$unsure),)+)?
                }
            }
        }
    };
}

pub mod aio;
pub mod block;
pub mod buffer;
pub mod calls;
pub mod child;
pub mod clock;
pub mod cold;
pub mod content;
pub mod cpu_cache;
pub mod direct;
pub mod disk;
pub mod extents;
pub mod fill;
pub mod io_users;
pub mod link;
pub mod loop_device;
pub mod mappers;
pub mod memory;
pub mod memory_group;
pub mod network;
pub mod nvme;
pub mod output;
pub mod process_io;
pub mod raw;
pub mod residency;
pub mod ring;
pub mod scsi;
pub mod sigbus;
pub mod signals;
pub mod space;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod threads;
pub mod usage;
pub mod wait;
