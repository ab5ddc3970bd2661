//! The buckets of latencies.

/// Buckets of values from 0: one for each value below 2^`BITS`, and 2^`BITS` for each power of two
/// from there on, so that none is wider than 2^-`BITS` of its values.
pub struct Buckets<const BITS: u32>;

impl<const BITS: u32> Buckets<BITS> {
    /// Returns the bucket of a value; a larger value never has a smaller one.
    #[inline(always)]
    pub const fn of(value: u64) -> usize {
        let shift = Self::shift_of(value);
        ((shift as usize) << BITS) + (value >> shift) as usize
    }

    /// Returns the smallest value of a bucket; `u64::MAX` for one that no value has.
    pub const fn lowest(bucket: usize) -> u64 {
        let whole = bucket >> BITS;
        if whole > (64 - BITS) as usize {
            return u64::MAX;
        }
        // The first two groups of buckets are 1 wide.
        let shift = whole.saturating_sub(1);
        ((bucket - (shift << BITS)) as u64) << shift
    }

    /// Returns a value in the middle of a bucket.
    pub const fn middle(bucket: usize) -> u64 {
        let low = Self::lowest(bucket);
        low + Self::lowest(bucket.saturating_add(1)).saturating_sub(low) / 2
    }

    /// Returns by how many bits the values of a bucket are shortened.
    #[inline(always)]
    const fn shift_of(value: u64) -> u32 {
        // Never above, as the low bits are set.
        63 - BITS - (value | ((2 << BITS) - 1)).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        fn check<const BITS: u32>() {
            let last = Buckets::<BITS>::of(u64::MAX);
            assert_eq!(Buckets::<BITS>::of(0), 0);
            for bucket in 1..=last {
                let lowest = Buckets::<BITS>::lowest(bucket);
                assert_eq!(Buckets::<BITS>::of(lowest), bucket, "{BITS}: {lowest}");
                assert_eq!(Buckets::<BITS>::of(lowest - 1), bucket - 1, "{BITS}: {lowest}");
            }
            for beyond in [last + 1, last + 1000, 1 << 40, usize::MAX] {
                assert_eq!(Buckets::<BITS>::lowest(beyond), u64::MAX, "{BITS}");
            }
        }
        check::<5>();
        check::<7>();
    }

    #[test]
    fn buckets_are_as_narrow_as_stated() {
        for bucket in 64..Buckets::<5>::of(u64::MAX) {
            let (low, next) = (Buckets::<5>::lowest(bucket), Buckets::<5>::lowest(bucket + 1));
            assert!((next - low) * 32 <= low, "{low}..{next}");
        }
    }
}
