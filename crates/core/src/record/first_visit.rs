//! Whether something below this machine caches: the time of the first read of blocks against that
//! of the second, a moment later and past the page cache.

use serde::{Deserialize, Serialize};

use crate::stats::sign_test;

/// Pairs of reads of the same blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FirstVisits {
    pub pairs: u32,
    /// Pairs whose first read took at least [`FirstVisits::FACTOR`] times as long as the second,
    /// and pairs whose second read took that much longer.
    pub slower: u32,
    pub faster: u32,
    /// The time of all first and of all second reads, nanoseconds.
    pub first_nanos: u64,
    pub again_nanos: u64,
}

impl FirstVisits {
    /// Reads whose times differ by less count for neither: the scatter of a disk that caches
    /// nothing.
    pub const FACTOR: u64 = 3;
    /// Pairs that differ by chance are as often slower as faster. This is how rarely chance alone
    /// is called a cache.
    pub const FALSE_ALARMS: f64 = 1e-4;

    /// Share of the pairs that has to be slower at first: the first reads of all also wake up a
    /// program or a drive.
    const MIN_SHARE: f64 = 1.0 / 16.0;

    /// Adds a block that took `first` and then `again` nanoseconds.
    pub fn add(&mut self, first: u64, again: u64) {
        self.pairs += 1;
        self.slower += u32::from(first >= again.saturating_mul(Self::FACTOR));
        self.faster += u32::from(again >= first.saturating_mul(Self::FACTOR));
        self.first_nanos = self.first_nanos.saturating_add(first);
        self.again_nanos = self.again_nanos.saturating_add(again);
    }

    /// Returns how many times as long the first reads took; `None` if a time is missing.
    pub fn ratio(&self) -> Option<f64> {
        let known = self.first_nanos > 0 && self.again_nanos > 0;
        known.then(|| self.first_nanos as f64 / self.again_nanos as f64)
    }

    /// Returns whether something below this machine caches. If not, nothing does, or it has held
    /// the blocks before.
    pub fn show_a_cache(&self) -> bool {
        let more = f64::from(self.slower) - f64::from(self.faster);
        self.ratio().is_some_and(|ratio| ratio >= 1.5)
            && more >= f64::from(self.pairs) * Self::MIN_SHARE
            && sign_test(self.slower, self.faster) < Self::FALSE_ALARMS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(slower: u32, faster: u32, equal: u32) -> FirstVisits {
        let mut all = FirstVisits::default();
        (0..slower).for_each(|_| all.add(9_000, 100));
        (0..faster).for_each(|_| all.add(100, 9_000));
        (0..equal).for_each(|_| all.add(120, 100));
        all
    }

    #[test]
    fn caches_are_reported_beyond_chance() {
        assert!(pairs(50, 6, 450).show_a_cache());
        assert!(pairs(14, 0, 50).show_a_cache());
        for near in [
            (13, 0, 51),
            (4, 2, 500),
            (30, 0, 480),
            (45, 20, 447),
            (0, 50, 450),
            (0, 0, 500),
            (0, 0, 0),
        ] {
            assert!(!pairs(near.0, near.1, near.2).show_a_cache(), "{near:?}");
        }
    }

    #[test]
    fn cheap_first_reads_are_not_reported() {
        let mut all = FirstVisits::default();
        (0..20).for_each(|_| all.add(300, 100));
        (0..480).for_each(|_| all.add(10_000, 10_000));
        assert!(!all.show_a_cache());
    }
}
