//! The connection between the ranks, and which of them rank 0 waits for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::sys::memory;
use crate::units::{join_names, show_rank};

/// The number of started ranks, in all and on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    pub ranks: u32,
    pub here: u32,
}

impl Started {
    /// Returns how many ranks make a file where at most this many measure.
    pub(in crate::engine) fn at_most(self, most: Option<u64>) -> Started {
        let most = most.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX);
        Started { ranks: self.ranks.min(most), here: self.here.min(most) }
    }
}

/// Messages between the ranks of one run. All ranks call the same methods in the same order, each
/// on one thread; a method returns when the others have called it too. Numbers and texts only: data
/// that is measured never passes through it.
///
/// An implementation waits asleep, and ends the process if a rank is lost.
pub trait Link {
    /// Returns the number of this rank, from 0.
    fn rank(&self) -> u32;

    /// Returns the number of ranks, at least 1.
    fn size(&self) -> u32;

    /// Returns the number of ranks on this machine, with this one.
    fn here(&self) -> u32 {
        1
    }

    /// Returns the name of the machine of this rank.
    fn node(&self) -> String;

    /// Identifies the machine: two machines of one name differ, and containers of one machine,
    /// which share its clock, do not.
    fn machine(&self) -> String {
        boot_id()
    }

    /// Returns the list of ranks that have arrived at a message of all; rank 0 keeps it.
    fn roll(&self) -> Arc<Roll> {
        Arc::default()
    }

    /// Returns the name and version of the library that passes the messages; empty for none.
    fn library(&self) -> String {
        String::new()
    }

    /// Returns the message of rank 0; messages of the others are ignored.
    fn broadcast(&self, message: Vec<u8>) -> Vec<u8>;

    /// Returns the messages of all ranks in their order, at rank 0; nothing elsewhere.
    fn gather(&self, message: Vec<u8>) -> Vec<Vec<u8>>;

    /// Sends a number to another rank, which [receives](Link::receive) it; for measuring clocks, so
    /// neither end sleeps.
    fn send(&self, to: u32, value: u64);

    /// Waits for a number of another rank, without sleeping.
    fn receive(&self, from: u32) -> u64;
}

/// Identifies the machine and its last start.
pub fn boot_id() -> String {
    memory::boot_id().unwrap_or_default()
}

/// Counts how often each rank has arrived at a message of all, as rank 0 knows.
#[derive(Debug, Default)]
pub struct Roll(Mutex<Arrivals>);

#[derive(Debug, Default)]
struct Arrivals {
    came: Vec<u64>,
    /// The one rank whose message rank 0 waits for, if any.
    expected: Option<u32>,
    /// When rank 0 began to wait.
    since: Option<Instant>,
    /// By rank: its machine, once that is known.
    nodes: Vec<String>,
}

/// Ranks that are named; more are counted.
const MAX_NAMED: usize = 4;

impl Roll {
    /// Returns a roll of this many ranks, before any of them arrived.
    pub fn new(ranks: u32) -> Roll {
        Roll(Mutex::new(Arrivals { came: vec![0; ranks as usize], ..Arrivals::default() }))
    }

    fn state(&self) -> MutexGuard<'_, Arrivals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the machine of each rank.
    pub(in crate::engine) fn name(&self, nodes: &[String]) {
        self.state().nodes = nodes.to_vec();
    }

    /// Notes that a rank has arrived once more.
    pub fn come(&self, rank: u32) {
        let mut state = self.state();
        if let Some(times) = state.came.get_mut(rank as usize) {
            *times += 1;
        }
        if rank == 0 {
            state.since = Some(Instant::now());
        }
    }

    /// Notes the one rank whose message rank 0 waits for, if any.
    pub fn expect(&self, rank: Option<u32>) {
        let mut state = self.state();
        (state.expected, state.since) = (rank, Some(Instant::now()));
    }

    /// Returns whether each rank has arrived as often as rank 0.
    pub fn is_complete(&self) -> bool {
        self.state().missing().next().is_none()
    }

    /// Describes the ranks that rank 0 waits for, if any: `rank 2 on node7 has not answered for
    /// 7.0 s`.
    pub(in crate::engine) fn describe_missing(&self) -> Option<String> {
        let state = self.state();
        let mut missing: Vec<usize> = state.missing().collect();
        if let Some(expected) = state.expected {
            missing = vec![expected as usize];
        }
        let node = |rank: usize| state.nodes.get(rank).map_or("", String::as_str);
        let named = missing.iter().take(MAX_NAMED).map(|rank| show_rank(*rank as u32, node(*rank)));
        let named: Vec<String> = named.collect();
        let verb = match missing.len() {
            0 => return None,
            1 => "has",
            _ => "have",
        };
        Some(format!(
            "{} {verb} not answered for {:.1} s",
            join_names(&named, missing.len(), ", "),
            state.since.map_or(0.0, |since| since.elapsed().as_secs_f64())
        ))
    }
}

impl Arrivals {
    fn missing(&self) -> impl Iterator<Item = usize> {
        let first = self.came.first().copied().unwrap_or(0);
        self.came.iter().enumerate().filter(move |(_, times)| **times < first).map(|(rank, _)| rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_ranks_are_missing() {
        let roll = Roll::new(7);
        assert_eq!((roll.describe_missing(), roll.is_complete()), (None, true));
        (0..7).for_each(|rank| roll.come(rank));
        roll.come(3);
        assert!(roll.is_complete(), "rank 3 waits for the others");
        roll.come(0);
        (4..7).for_each(|rank| roll.come(rank));
        let missing = roll.describe_missing().unwrap();
        assert!(missing.starts_with("rank 1 and rank 2 have not answered for "), "{missing}");
        roll.name(&["a".into(), "b".into(), "c".into()]);
        roll.come(1);
        let missing = roll.describe_missing().unwrap();
        assert!(missing.starts_with("rank 2 on c has not answered for "), "{missing}");
        roll.come(2);
        assert!(roll.is_complete());
        roll.expect(Some(1));
        let missing = roll.describe_missing().unwrap();
        assert!(missing.starts_with("rank 1 on b has not answered for "), "{missing}");
        roll.expect(None);
        assert_eq!(roll.describe_missing(), None);
        roll.come(0);
        let missing = roll.describe_missing().unwrap();
        assert!(missing.contains("rank 4 and 2 more"), "{missing}");
    }
}
