//! The latencies of a moment: cheaper to record than in a [`Histogram`], where they go from time to
//! time.

use super::buckets::Buckets;
use super::histogram::{Histogram, MAX_VALUE, MIN_VALUE};

/// The buckets of a [`Histogram`].
type Fine = Buckets<7>;

const BUCKETS: usize = Fine::of(MAX_VALUE) + 1;

/// Counts of fewer than 2^32 durations in nanoseconds, in the buckets of a [`Histogram`].
///
/// Takes 16 KiB. Sum, minimum and maximum are exact, as in a histogram.
#[derive(Debug)]
pub struct Recent {
    counts: Box<[u32; BUCKETS]>,
    sum: u64,
    /// `u64::MAX` while empty.
    min: u64,
    max: u64,
}

impl Default for Recent {
    fn default() -> Recent {
        Recent { counts: Box::new([0; BUCKETS]), sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Recent {
    /// Adds one duration in nanoseconds.
    #[inline(always)]
    pub fn record(&mut self, nanos: u64) {
        let nanos = nanos.max(MIN_VALUE);
        let count = &mut self.counts[Fine::of(nanos).min(BUCKETS - 1)];
        *count = count.wrapping_add(1);
        self.sum = self.sum.saturating_add(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
    }

    /// Returns the exact smallest value in nanoseconds; `None` when empty.
    pub fn min(&self) -> Option<u64> {
        (self.max > 0).then_some(self.min)
    }

    /// Moves all values to `all`, and hands out the smallest value and the count of each bucket
    /// that is not empty, ascending.
    pub fn drain(&mut self, all: &mut Histogram, mut out: impl FnMut(u64, u32)) {
        if self.max == 0 {
            return;
        }
        let [first, last] = [self.min, self.max].map(|nanos| Fine::of(nanos).min(BUCKETS - 1));
        for (bucket, count) in (first..).zip(&mut self.counts[first..=last]) {
            if *count > 0 {
                let lowest = Fine::lowest(bucket);
                all.add_to_bucket(lowest, (*count).into());
                out(lowest, std::mem::take(count));
            }
        }
        all.add_extremes(self.sum, self.min, self.max);
        (self.sum, self.min, self.max) = (0, u64::MAX, 0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Durations of every magnitude, also outside the bounds.
    fn durations() -> impl Strategy<Value = Vec<u64>> {
        let one = (0..65u32, any::<u64>())
            .prop_map(|(bits, raw)| raw & u64::MAX.checked_shr(64 - bits).unwrap_or(0));
        prop::collection::vec(one, 0..400)
    }

    proptest! {
        #[test]
        fn drained_values_equal_recorded_ones(moments in prop::collection::vec(durations(), 1..6)) {
            let (mut recent, mut drained) = (Recent::default(), Histogram::new());
            let mut recorded = Histogram::new();
            for moment in &moments {
                let mut own = Histogram::new();
                for nanos in moment {
                    recent.record(*nanos);
                    recorded.record(*nanos);
                    own.record(*nanos);
                }
                prop_assert_eq!(recent.min(), moment.iter().map(|nanos| (*nanos).max(1)).min());
                let mut handed = Vec::new();
                recent.drain(&mut drained, |lowest, count| handed.push((lowest, count.into())));
                // As text, since it has every exact figure.
                prop_assert_eq!(
                    serde_json::to_string(&drained).unwrap(),
                    serde_json::to_string(&recorded).unwrap()
                );
                prop_assert_eq!(&drained, &recorded);
                let counts = |pairs: &[(u64, u64)]| pairs.iter().map(|pair| pair.1).collect::<Vec<_>>();
                prop_assert_eq!(counts(&handed), counts(&own.pairs()));
                prop_assert!(handed.is_sorted_by(|a, b| a.0 < b.0));
            }
        }
    }

    #[test]
    fn nothing_is_handed_out_twice() {
        let (mut recent, mut all) = (Recent::default(), Histogram::new());
        [7, 7, 1_000_003].into_iter().for_each(|nanos| recent.record(nanos));
        let mut handed = Vec::new();
        for _ in 0..2 {
            recent.drain(&mut all, |lowest, count| handed.push((lowest, count)));
        }
        assert_eq!(handed, [(7, 2), (999_424, 1)]);
        assert_eq!((all.count(), recent.min()), (3, None));
    }
}
