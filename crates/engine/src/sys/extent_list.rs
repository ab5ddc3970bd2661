//! The list of a file's holes.

use crate::facts::ExtentMethod;
use std::ops::Range;

/// Maximum number of holes (24 MiB of memory); a file with more is [`Extents::truncated`].
pub(super) const MAX_HOLES: usize = 1 << 20;

/// Maximum number of places that are listed.
const MAX_PLACES: usize = 1 << 12;

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
    /// Where the stored bytes lie on the device of the file system: the offset in the file, and the
    /// bytes there; `None` where one has no place of its own, or there are too many.
    pub(super) places: Option<Vec<(u64, Range<u64>)>>,
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
            places: None,
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

    /// Adds the place of an extent, adjacent ones as one.
    pub(super) fn add_place(&mut self, logical: u64, place: Range<u64>) {
        let Some(places) = &mut self.places else { return };
        let is_full = places.len() == MAX_PLACES;
        let continued = places.last_mut().filter(|(at, last)| {
            last.end == place.start && *at + (last.end - last.start) == logical
        });
        match continued {
            Some((_, last)) => last.end = place.end,
            None if is_full => self.places = None,
            None => places.push((logical, place)),
        }
    }

    /// Returns where the stored bytes of a part lie on the device of the file system; `None` where
    /// that is not known.
    pub fn places_of(&self, part: &Range<u64>) -> Option<Vec<Range<u64>>> {
        let within = |(logical, place): &(u64, Range<u64>)| {
            let end = logical.saturating_add(place.end - place.start);
            let (from, to) = (part.start.max(*logical), part.end.min(end));
            (from < to).then(|| place.start + (from - logical)..place.start + (to - logical))
        };
        Some(self.places.as_ref()?.iter().filter_map(within).collect())
    }

    /// Returns the extents of a part, as those of a file of its own.
    pub fn of_part(&self, part: Range<u64>) -> Extents {
        let len = self.len.min(part.end).saturating_sub(part.start);
        let mut own = Extents { count: self.count, ..Extents::new(self.method, len) };
        for hole in &self.holes {
            let at = |n: u64| n.max(part.start) - part.start;
            own.add_hole(at(hole.start)..at(hole.end));
        }
        own
    }

    /// Returns the byte ranges that are holes or were never written: sorted, merged, within `[0,
    /// len)`.
    #[cfg(test)]
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
