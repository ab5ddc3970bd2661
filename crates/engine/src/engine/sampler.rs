//! Samples what the lanes of a running trial have done.

use std::sync::atomic::Ordering::Relaxed;

use crate::backend::work::Published;
use crate::record::{LaneSample, Sample};

/// The counters at the previous sample.
#[derive(Default)]
pub(super) struct Sampler {
    at: u64,
    lanes: Vec<LaneSample>,
}

impl Sampler {
    /// Returns what was done since the previous sample, in total and by each lane. `at` is in
    /// nanoseconds since the start.
    pub fn delta(&mut self, at: u64, published: &[Published]) -> (Sample, Vec<LaneSample>) {
        self.lanes.resize(published.len(), LaneSample::default());
        let mut all = Sample { at, nanos: at - self.at, ..Sample::default() };
        let lane_delta = |(last, lane): (&mut LaneSample, &Published)| {
            let now = LaneSample {
                bytes: lane.bytes.load(Relaxed),
                ops: lane.ops.load(Relaxed),
                syscalls: lane.syscalls.load(Relaxed),
            };
            let then = std::mem::replace(last, now);
            let done = LaneSample {
                bytes: now.bytes - then.bytes,
                ops: now.ops - then.ops,
                syscalls: now.syscalls - then.syscalls,
            };
            all.bytes += done.bytes;
            all.ops += done.ops;
            all.syscalls += done.syscalls;
            done
        };
        let lanes = self.lanes.iter_mut().zip(published).map(lane_delta).collect();
        self.at = at;
        (all, lanes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_add_up_to_the_sample() {
        let lanes: Vec<Published> = (0..3).map(|_| Published::default()).collect();
        let mut sampler = Sampler::default();
        for at in 1..4u64 {
            for (lane, n) in lanes.iter().zip(at..) {
                lane.bytes.fetch_add(4096 * n, Relaxed);
                lane.ops.fetch_add(n, Relaxed);
                lane.syscalls.fetch_add(2 * n, Relaxed);
            }
            let (all, each) = sampler.delta(at * 100, &lanes);
            let ops = 3 * at + 3;
            assert_eq!(
                all,
                Sample { at: at * 100, nanos: 100, bytes: 4096 * ops, ops, syscalls: 2 * ops }
            );
            let expected: Vec<_> = (at..at + 3)
                .map(|n| LaneSample { bytes: 4096 * n, ops: n, syscalls: 2 * n })
                .collect();
            assert_eq!(each, expected);
        }
    }
}
