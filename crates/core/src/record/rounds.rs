//! The rounds of a trial that looks for a steady state.

use serde::{Deserialize, Serialize};

use crate::stats::{STEADY_ROUNDS, is_steady};

/// The work of each whole round; none of the round in which the trial ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Rounds {
    /// The shortest length of a round, nanoseconds.
    pub planned: u64,
    /// How long each took, nanoseconds: longer where the machine, or an operation, stood still.
    pub nanos: Vec<u64>,
    pub bytes: Vec<u64>,
    pub ops: Vec<u64>,
}

/// A round needs as many operations: with fewer, a rate jumps by whole operations.
const MIN_OPERATIONS: u64 = 20;

impl Rounds {
    /// Adds the work of a round.
    pub fn push(&mut self, nanos: u64, bytes: u64, ops: u64) {
        self.nanos.push(nanos);
        self.bytes.push(bytes);
        self.ops.push(ops);
    }

    /// Returns the bytes per second of each of the last rounds, up to five: what lasts. Empty if
    /// one of them has too few operations.
    pub fn last_throughputs(&self) -> Vec<f64> {
        self.last_rates(&self.bytes)
    }

    /// Returns the operations per second of each of the last rounds, up to five.
    pub fn last_operations(&self) -> Vec<f64> {
        self.last_rates(&self.ops)
    }

    fn last_rates(&self, work: &[u64]) -> Vec<f64> {
        let last = |of: &[u64]| of[of.len().saturating_sub(STEADY_ROUNDS)..].to_vec();
        if last(&self.ops).iter().any(|ops| *ops < MIN_OPERATIONS) {
            return Vec::new();
        }
        let rate = |(work, nanos): (u64, u64)| work as f64 * 1e9 / nanos.max(1) as f64;
        last(work).into_iter().zip(last(&self.nanos)).map(rate).collect()
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

    /// Returns rounds of these bytes, of half a second each.
    fn rounds(bytes: &[u64]) -> Rounds {
        let mut rounds = Rounds { planned: 500_000_000, ..Rounds::default() };
        bytes.iter().for_each(|bytes| rounds.push(500_000_000, *bytes, 50));
        rounds
    }

    #[test]
    fn last_rounds_stand_for_all() {
        let all = rounds(&[900, 100, 101, 99, 100, 102]);
        assert_eq!(all.last_throughputs(), [200.0, 202.0, 198.0, 200.0, 204.0]);
        assert_eq!(all.last_operations(), [100.0; 5]);
        assert!(all.are_steady());
        let two = rounds(&[5, 7]);
        assert_eq!(two.last_throughputs(), [10.0, 14.0]);
        assert!(!two.are_steady());
        assert!(Rounds::default().last_throughputs().is_empty());
    }

    #[test]
    fn late_rounds_have_their_own_time() {
        let mut all = rounds(&[100; 4]);
        all.push(5_000_000_000, 1000, 500);
        assert_eq!(all.last_throughputs(), [200.0; 5]);
        assert!(all.are_steady());
    }

    #[test]
    fn few_operations_decide_nothing() {
        let mut all = rounds(&[100; 5]);
        all.ops[3] = 1;
        assert!(all.last_throughputs().is_empty() && !all.are_steady());
    }

    #[test]
    fn calls_are_judged_by_operations() {
        assert!(rounds(&[0; 5]).are_steady());
    }
}
