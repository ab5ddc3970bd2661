//! How long operations took: a latency histogram of fixed size.

use serde::{Deserialize, Serialize};

/// Smallest value that is told apart, in nanoseconds.
const LOWEST: u64 = 1;

/// Largest value that is told apart: 100 s. Longer ones share the last bucket.
const HIGHEST: u64 = 100_000_000_000;

/// 256 buckets per first power of two, 128 per further one: a bucket is at most 1/128 of its value
/// wide.
const DIGITS: u8 = 2;

/// A quantile needs this many values beyond it.
const BEYOND: f64 = 10.0;

/// Counts of durations in nanoseconds, 1 ns to 100 s, each known within 0.4 %.
///
/// Uses 32 KiB however much is recorded. `count`, `mean`, `min` and `max` are exact, also for
/// values outside the bounds (0 counts as 1 ns). Counts saturate at `u64::MAX`, the sum at 584
/// years.
///
/// Serialized as `{"pairs": [[value, count], ...], "sum", "min", "max"}`. Exact fields that
/// contradict the pairs are replaced by what the pairs say, so any well-formed input loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Wire", into = "Wire")]
pub struct Histogram {
    buckets: hdrhistogram::Histogram<u64>,
    sum: u64,
    /// `u64::MAX` while empty.
    min: u64,
    max: u64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        let buckets = hdrhistogram::Histogram::new_with_bounds(LOWEST, HIGHEST, DIGITS)
            .expect("constant bounds: 1 <= LOWEST, 2 LOWEST <= HIGHEST, DIGITS <= 5");
        Self { buckets, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Adds one duration in nanoseconds. Takes no memory.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.record_many(nanos, 1);
    }

    #[inline]
    fn record_many(&mut self, nanos: u64, count: u64) {
        let nanos = nanos.max(LOWEST);
        if self.add_to_bucket(nanos, count) {
            self.sum = self.sum.saturating_add(nanos.saturating_mul(count));
            self.min = self.min.min(nanos);
            self.max = self.max.max(nanos);
        }
    }

    /// Adds to the bucket as much of `count` as the total can take: the buckets must add up to the
    /// total.
    #[inline]
    fn add_to_bucket(&mut self, nanos: u64, count: u64) -> bool {
        let count = count.min(u64::MAX - self.buckets.len());
        if count > 0 {
            self.buckets.saturating_record_n(nanos.min(HIGHEST), count);
        }
        count > 0
    }

    /// Adds everything that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        let fits = self.count().checked_add(other.count()).is_some();
        if !fits || self.buckets.add(&other.buckets).is_err() {
            for (nanos, count) in other.pairs() {
                self.add_to_bucket(nanos, count);
            }
        }
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many values were recorded.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// Exact mean in nanoseconds; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count() == 0 {
            return 0.0;
        }
        // The bounds matter only where the sum has saturated.
        (self.sum as f64 / self.count() as f64).clamp(self.min as f64, self.max as f64)
    }

    /// Exact largest value in nanoseconds; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Exact smallest value in nanoseconds; 0 when empty, at least 1 otherwise.
    pub fn min(&self) -> u64 {
        if self.count() == 0 { 0 } else { self.min }
    }

    /// The value in nanoseconds, within 0.4 %, that a share `q` of the values does not exceed
    /// (nearest rank).
    ///
    /// `None` when the values cannot carry it: 10 of them must lie beyond it on its nearer side, so
    /// p90 needs 100, p99 1,000, p99.9 10,000, and p10 100 again. The median (`q` = 0.5) needs one.
    /// `None` also for NaN and outside (0, 1): the ends are [`Self::min`] and [`Self::max`].
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let count = self.count();
        let beyond = count as f64 * q.min(1.0 - q);
        // 1 - 0.9 is a little less than 0.1: forgive the rounding, here and in the rank.
        let enough = if q == 0.5 { count > 0 } else { beyond >= BEYOND * (1.0 - 1e-9) };
        if !enough || q.is_nan() {
            return None;
        }
        let rank = (q * count as f64 * (1.0 - 1e-12)).ceil() as u64;
        let mut seen = 0u64;
        self.iter().find_map(|(nanos, count)| {
            seen = seen.saturating_add(count);
            (seen >= rank).then_some(nanos)
        })
    }

    /// Value in nanoseconds and count of every bucket that is not empty, ascending.
    pub fn pairs(&self) -> Vec<(u64, u64)> {
        self.iter().collect()
    }

    /// A bucket stands for its middle, drawn into what was really seen: a single value is exact.
    fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter_recorded().map(|bucket| {
            let middle = self.buckets.median_equivalent(bucket.value_iterated_to()).min(HIGHEST);
            (middle.max(self.min).min(self.max), bucket.count_at_value())
        })
    }

    /// A histogram of (nanoseconds, count) pairs in any order, values repeated or not.
    ///
    /// Takes any input: values and counts saturate as in [`Self::record`], pairs with count 0 are
    /// left out. `sum`, `min` and `max` are those of the pairs.
    pub fn from_pairs(pairs: &[(u64, u64)]) -> Self {
        let mut histogram = Self::new();
        for &(nanos, count) in pairs {
            histogram.record_many(nanos, count);
        }
        histogram
    }

    /// Whether two values fall into the same bucket.
    fn same_bucket(&self, a: u64, b: u64) -> bool {
        let inside = |nanos: u64| nanos.clamp(LOWEST, HIGHEST);
        self.buckets.equivalent(inside(a), inside(b))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The form in a file.
#[derive(Serialize, Deserialize)]
struct Wire {
    pairs: Vec<(u64, u64)>,
    sum: u64,
    min: u64,
    max: u64,
}

impl From<Histogram> for Wire {
    fn from(histogram: Histogram) -> Self {
        Self {
            pairs: histogram.pairs(),
            sum: histogram.sum,
            min: histogram.min(),
            max: histogram.max,
        }
    }
}

impl From<Wire> for Histogram {
    fn from(wire: Wire) -> Self {
        let mut histogram = Self::from_pairs(&wire.pairs);
        let count = histogram.count();
        let sums = wire.min.saturating_mul(count)..=wire.max.saturating_mul(count);
        let agrees = histogram.same_bucket(wire.min, histogram.min)
            && histogram.same_bucket(wire.max, histogram.max)
            && LOWEST <= wire.min
            && wire.min <= wire.max
            && sums.contains(&wire.sum);
        if count > 0 && agrees {
            (histogram.sum, histogram.min, histogram.max) = (wire.sum, wire.min, wire.max);
        }
        histogram
    }
}

#[cfg(test)]
mod tests;
