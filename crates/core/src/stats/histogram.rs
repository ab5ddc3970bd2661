//! Latency histogram of fixed size.

use serde::{Deserialize, Serialize};

/// Smallest value that is distinguished, in nanoseconds.
pub(super) const MIN_VALUE: u64 = 1;

/// Largest value that is distinguished: 100 s. Longer ones go into the last bucket.
pub const MAX_VALUE: u64 = 100_000_000_000;

/// 256 buckets for the first power of two, 128 for each further one: a bucket is at most 1/128 of
/// its value wide.
const DIGITS: u8 = 2;

/// Minimum number of values beyond a quantile.
const MIN_VALUES_BEYOND: f64 = 10.0;

/// Counts of durations in nanoseconds, from 1 ns to 100 s, with a resolution of 0.4 %.
///
/// Takes 32 KiB however much is recorded. `count`, `mean`, `min` and `max` are exact, even for
/// values outside the bounds (0 counts as 1 ns). Counts saturate at `u64::MAX`, the sum at 584
/// years.
///
/// Serialized as `{"pairs": [[value, count], ...], "sum", "min", "max"}`. Exact fields that
/// contradict the pairs are recomputed from the pairs, so any well-formed input loads.
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
    /// Creates an empty histogram.
    pub fn new() -> Self {
        let buckets = hdrhistogram::Histogram::new_with_bounds(MIN_VALUE, MAX_VALUE, DIGITS)
            .expect("constant bounds: 1 <= MIN_VALUE, 2 MIN_VALUE <= MAX_VALUE, DIGITS <= 5");
        Self { buckets, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Adds one duration in nanoseconds; allocates nothing.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.record_many(nanos, 1);
    }

    #[inline]
    fn record_many(&mut self, nanos: u64, count: u64) {
        let nanos = nanos.max(MIN_VALUE);
        if self.add_to_bucket(nanos, count) {
            self.add_extremes(nanos.saturating_mul(count), nanos, nanos);
        }
    }

    /// Adds the exact figures of values that [`Self::add_to_bucket`] added.
    #[inline]
    pub(super) fn add_extremes(&mut self, sum: u64, min: u64, max: u64) {
        self.sum = self.sum.saturating_add(sum);
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }

    /// Adds as much of `count` to the bucket as the total can hold, since the buckets must add up
    /// to the total.
    #[inline]
    pub(super) fn add_to_bucket(&mut self, nanos: u64, count: u64) -> bool {
        let count = count.min(u64::MAX - self.buckets.len());
        if count > 0 {
            self.buckets.saturating_record_n(nanos.min(MAX_VALUE), count);
        }
        count > 0
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        let fits = self.count().checked_add(other.count()).is_some();
        if !fits || self.buckets.add(&other.buckets).is_err() {
            for (nanos, count) in other.pairs() {
                self.add_to_bucket(nanos, count);
            }
        }
        self.add_extremes(other.sum, other.min, other.max);
    }

    /// Returns the number of recorded values.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// Returns the exact mean in nanoseconds; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count() == 0 {
            return 0.0;
        }
        // The bounds only matter if the sum has saturated.
        (self.sum as f64 / self.count() as f64).clamp(self.min as f64, self.max as f64)
    }

    /// Returns the exact largest value in nanoseconds; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns the exact smallest value in nanoseconds; 0 when empty, at least 1 otherwise.
    pub fn min(&self) -> u64 {
        if self.count() == 0 { 0 } else { self.min }
    }

    /// Returns the quantile `q` in nanoseconds, within 0.4 % (nearest rank).
    ///
    /// `None` if there are too few values: 10 must lie beyond the quantile on its nearer side, so
    /// p90 needs 100, p99 1,000, p99.9 10,000, and p10 100 again. The median (`q` = 0.5) needs one.
    /// `None` also for NaN and outside (0, 1): the ends are [`Self::min`] and [`Self::max`].
    pub fn quantile(&self, q: f64) -> Option<u64> {
        self.quantile_with(q, 0)
    }

    /// Returns the quantile as [`Self::quantile`] does, where another `endless` values are above
    /// all others, unbounded; `None` also if it is one of them.
    pub fn quantile_with(&self, q: f64, endless: u64) -> Option<u64> {
        let count = self.count().saturating_add(endless);
        let beyond = count as f64 * q.min(1.0 - q);
        // 1 - 0.9 is a little less than 0.1: tolerate the rounding, here and in the rank.
        let enough = if q == 0.5 { count > 0 } else { beyond >= MIN_VALUES_BEYOND * (1.0 - 1e-9) };
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

    /// Returns the value in nanoseconds and the count of every non-empty bucket, ascending.
    pub fn pairs(&self) -> Vec<(u64, u64)> {
        self.iter().collect()
    }

    /// Represents each bucket by its middle, clamped to the recorded range, so a single value is
    /// exact.
    fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter_recorded().map(|bucket| {
            let middle = self.buckets.median_equivalent(bucket.value_iterated_to()).min(MAX_VALUE);
            (middle.max(self.min).min(self.max), bucket.count_at_value())
        })
    }

    /// Creates a histogram from (nanoseconds, count) pairs in any order, with or without repeated
    /// values.
    ///
    /// Accepts any input: values and counts saturate as in [`Self::record`], and pairs with count 0
    /// are skipped. `sum`, `min` and `max` are computed from the pairs.
    pub fn from_pairs(pairs: &[(u64, u64)]) -> Self {
        let mut histogram = Self::new();
        for &(nanos, count) in pairs {
            histogram.record_many(nanos, count);
        }
        histogram
    }

    /// Returns whether two values fall into the same bucket.
    fn same_bucket(&self, a: u64, b: u64) -> bool {
        fn inside(nanos: u64) -> u64 {
            nanos.clamp(MIN_VALUE, MAX_VALUE)
        }
        self.buckets.equivalent(inside(a), inside(b))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// The serialized form.
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
            && MIN_VALUE <= wire.min
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
