//! The list of a file's holes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Maximum number of holes (24 MiB of memory); a file with more is [`Extents::truncated`].
pub(super) const MAX_HOLES: usize = 1 << 20;

/// How the extents were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExtentMethod {
    /// FIEMAP: correct in every cache state.
    Fiemap,
    /// SEEK_DATA and SEEK_HOLE: counts preallocated extents as data while their pages are cached,
    /// so it is reliable only on a cold file.
    SeekData,
    /// No method worked: everything counts as stored.
    Assumed,
}

/// The stored parts of `[0, len)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extents {
    pub method: ExtentMethod,
    /// Bytes examined.
    pub len: u64,
    /// Number of extents (or data ranges).
    pub count: u64,
    /// Bytes of extents that are allocated but were never written. 0 if the method cannot tell them
    /// from holes.
    pub unwritten: u64,
    /// Some extent is compressed or otherwise encoded: the device transfers a different number of
    /// bytes.
    pub encoded: bool,
    /// Some extent lies inside metadata, without its own block.
    pub inline: bool,
    /// Some extent is shared with another file (reflink, snapshot).
    pub shared: bool,
    /// The file is too fragmented to list: everything after the last hole counts as stored.
    pub truncated: bool,
    /// Sorted, not empty, not adjacent.
    holes: Vec<Range<u64>>,
    /// Total bytes of the holes before the one with the same index.
    before: Vec<u64>,
}

impl Extents {
    pub(super) fn new(method: ExtentMethod, len: u64) -> Self {
        Self {
            method,
            len,
            count: 0,
            unwritten: 0,
            encoded: false,
            inline: false,
            shared: false,
            truncated: false,
            holes: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Appends a hole that starts at or after the end of the last one; returns false if the list is
    /// full.
    pub(super) fn add_hole(&mut self, hole: Range<u64>) -> bool {
        let hole = hole.start.min(self.len)..hole.end.min(self.len);
        if hole.is_empty() {
            return true;
        }
        if let Some(last) = self.holes.last_mut()
            && last.end >= hole.start
        {
            last.end = last.end.max(hole.end);
            return true;
        }
        if self.holes.len() == MAX_HOLES {
            self.truncated = true;
            return false;
        }
        self.before.push(self.hole_bytes());
        self.holes.push(hole);
        true
    }

    /// Returns the byte ranges that are holes or were never written: sorted, merged, within `[0,
    /// len)`.
    pub fn holes(&self) -> &[Range<u64>] {
        &self.holes
    }

    /// Returns the bytes in all holes.
    pub fn hole_bytes(&self) -> u64 {
        match (self.before.last(), self.holes.last()) {
            (Some(before), Some(last)) => before + (last.end - last.start),
            _ => 0,
        }
    }

    /// Returns the bytes of `[0, len)` that are stored.
    pub fn stored_bytes(&self) -> u64 {
        self.len - self.hole_bytes()
    }

    /// Returns the bytes of `range` that lie in holes, by binary search; bytes past `len` count as
    /// stored.
    pub fn hole_bytes_in(&self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            0
        } else {
            self.hole_bytes_below(range.end) - self.hole_bytes_below(range.start)
        }
    }

    fn hole_bytes_below(&self, at: u64) -> u64 {
        let next = self.holes.partition_point(|hole| hole.start < at);
        match next.checked_sub(1) {
            Some(i) => self.before[i] + (self.holes[i].end.min(at) - self.holes[i].start),
            None => 0,
        }
    }
}
