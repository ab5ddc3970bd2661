//! What connects the ranks.

use std::sync::Arc;

use crate::engine::roll::Roll;
use crate::sys::memory;

/// How many ranks were started, and how many of them on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    pub ranks: u32,
    pub here: u32,
}

impl Started {
    /// Returns how many ranks make a file where at most this many measure.
    pub(in crate::engine) fn at_most(self, most: Option<u64>) -> Started {
        let most = most.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX);
        Started { ranks: self.ranks.min(most), here: self.here.min(most) }
    }
}

/// Messages between the ranks of one run. All ranks call the same methods in the same order, each
/// on one thread; a method returns when the others have called it too. Numbers and texts only: data
/// that is measured never passes through it.
///
/// An implementation waits asleep, and ends the process if a rank is lost.
pub trait Link {
    /// Returns the number of this rank, from 0.
    fn rank(&self) -> u32;

    /// Returns how many ranks there are, at least 1.
    fn size(&self) -> u32;

    /// Returns how many of them are on this machine, this one too.
    fn here(&self) -> u32 {
        1
    }

    /// Returns the name of the machine of this rank.
    fn node(&self) -> String;

    /// Returns what tells the machine from all others: two of one name are kept apart, and
    /// containers of one machine, which share its clock, are not.
    fn machine(&self) -> String {
        boot_id()
    }

    /// Returns the roll that rank 0 keeps of those who have come to a message of all.
    fn roll(&self) -> Arc<Roll> {
        Arc::default()
    }

    /// Returns the name and version of the library that passes the messages; empty for none.
    fn library(&self) -> String {
        String::new()
    }

    /// Returns the message of rank 0; those of the others are ignored.
    fn broadcast(&self, message: Vec<u8>) -> Vec<u8>;

    /// Returns the messages of all ranks in their order, at rank 0; nothing elsewhere.
    fn gather(&self, message: Vec<u8>) -> Vec<Vec<u8>>;

    /// Sends a number to another rank, which [receives](Link::receive) it; for measuring clocks, so
    /// neither end sleeps.
    fn send(&self, to: u32, value: u64);

    /// Waits for a number of another rank, without sleeping.
    fn receive(&self, from: u32) -> u64;
}

/// Returns what differs on each machine and after each start of it.
pub fn boot_id() -> String {
    memory::boot_id().unwrap_or_default()
}
