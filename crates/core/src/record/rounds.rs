//! The rounds of a trial that looks for a steady state.

use serde::{Deserialize, Serialize};

use crate::stats::{STEADY_ROUNDS, is_steady};

/// The work of each whole round; none of the round in which the trial ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rounds {
    /// The length of a round, nanoseconds.
    pub nanos: u64,
    pub bytes: Vec<u64>,
    pub ops: Vec<u64>,
}

impl Rounds {
    /// Returns the bytes per second of each of the last rounds, up to five: what lasts.
    pub fn last_throughputs(&self) -> Vec<f64> {
        self.last_rates(&self.bytes)
    }

    /// Returns the operations per second of each of the last rounds, up to five.
    pub fn last_operations(&self) -> Vec<f64> {
        self.last_rates(&self.ops)
    }

    fn last_rates(&self, work: &[u64]) -> Vec<f64> {
        let rate = |work: &u64| *work as f64 * 1e9 / self.nanos.max(1) as f64;
        work[work.len().saturating_sub(STEADY_ROUNDS)..].iter().map(rate).collect()
    }

    /// Returns whether the last five are steady: bytes, or operations where none move.
    pub fn are_steady(&self) -> bool {
        let moves = self.bytes.iter().any(|bytes| *bytes > 0);
        is_steady(&if moves { self.last_throughputs() } else { self.last_operations() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_rounds_stand_for_all() {
        let bytes = vec![900, 100, 101, 99, 100, 102];
        let rounds = Rounds { nanos: 500_000_000, bytes, ops: vec![9, 1, 1, 1, 1, 1] };
        assert_eq!(rounds.last_throughputs(), [200.0, 202.0, 198.0, 200.0, 204.0]);
        assert_eq!(rounds.last_operations(), [2.0; 5]);
        assert!(rounds.are_steady());
        let two = Rounds { nanos: 1_000_000_000, bytes: vec![5, 7], ops: vec![1, 1] };
        assert_eq!(two.last_throughputs(), [5.0, 7.0]);
        assert!(!two.are_steady());
        assert!(Rounds::default().last_throughputs().is_empty());
    }

    #[test]
    fn calls_are_judged_by_operations() {
        let ops = vec![100, 101, 99, 100, 102];
        let rounds = Rounds { nanos: 1_000_000_000, bytes: vec![0; 5], ops };
        assert!(rounds.are_steady());
    }
}
