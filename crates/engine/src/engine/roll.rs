//! Which ranks have come to the place at which all of them meet.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::units::{join_names, show_rank};

/// How often each rank has come, as rank 0 has heard.
#[derive(Debug, Default)]
pub struct Roll(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    came: Vec<u64>,
    /// The one rank whose message rank 0 waits for, if there is one.
    expected: Option<u32>,
    /// Since when rank 0 waits.
    since: Option<Instant>,
    /// By rank: its machine, once that is known.
    nodes: Vec<String>,
}

/// Ranks that are named; more are counted.
const MAX_NAMED: usize = 4;

impl Roll {
    /// Returns a roll of this many ranks, before any of them arrived.
    pub fn new(ranks: u32) -> Roll {
        Roll(Mutex::new(State { came: vec![0; ranks as usize], ..State::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the machine of each rank.
    pub(super) fn name(&self, nodes: &[String]) {
        self.state().nodes = nodes.to_vec();
    }

    /// Notes that a rank has come once more.
    pub fn come(&self, rank: u32) {
        let mut state = self.state();
        if let Some(times) = state.came.get_mut(rank as usize) {
            *times += 1;
        }
        if rank == 0 {
            state.since = Some(Instant::now());
        }
    }

    /// Notes whose message rank 0 waits for, or that it waits for none.
    pub fn expect(&self, rank: Option<u32>) {
        let mut state = self.state();
        (state.expected, state.since) = (rank, Some(Instant::now()));
    }

    /// Returns whether each rank has come as often as rank 0.
    pub fn is_complete(&self) -> bool {
        self.state().missing().next().is_none()
    }

    /// Describes the ranks that rank 0 waits for: `rank 2 on node7 has not answered for 7.0 s`;
    /// `None` if it waits for none.
    pub(super) fn describe_missing(&self) -> Option<String> {
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

impl State {
    fn missing(&self) -> impl Iterator<Item = usize> {
        let first = self.came.first().copied().unwrap_or(0);
        self.came.iter().enumerate().filter(move |(_, times)| **times < first).map(|(rank, _)| rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_have_come_less_often_than_the_first_are_missing() {
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
