//! The progress of a lane, as other threads see it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The progress of a lane, for the sampler; on its own cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Published {
    pub bytes: AtomicU64,
    pub ops: AtomicU64,
    pub syscalls: AtomicU64,
}

impl Published {
    /// Returns the operations, bytes and system calls.
    pub fn counts(&self) -> [u64; 3] {
        [&self.ops, &self.bytes, &self.syscalls].map(|count| count.load(Relaxed))
    }
}
