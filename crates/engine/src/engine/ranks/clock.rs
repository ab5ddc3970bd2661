//! The clocks of the machines, compared with that of rank 0.
//!
//! Each machine counts CLOCK_MONOTONIC from its own start. Rank 0 asks a rank for its time again
//! and again; the answer of the shortest way there and back is nearest to the truth, and off by at
//! most half of that way (Cristian, "Probabilistic clock synchronization", Distributed Computing 3,
//! 1989). Wall clocks are not used: they may be wrong, and may be set while a trial runs.

use serde::{Deserialize, Serialize};

use super::link::Link;

/// Questions to each machine.
const QUESTIONS: usize = 32;

/// One question, and the answer to it.
#[derive(Debug, Clone, Copy)]
struct ClockAnswer {
    asked: u64,
    theirs: u64,
    heard: u64,
}

/// The offset of a clock from that of rank 0, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClockOffset {
    pub ahead: i64,
    /// The largest error of `ahead`.
    pub error: u64,
}

impl ClockOffset {
    /// Returns the offset with the error that the clock may have gathered since `before`: what it
    /// moved by.
    pub fn since(self, before: Option<ClockOffset>) -> ClockOffset {
        let moved = before.map_or(0, |before| self.ahead.abs_diff(before.ahead));
        ClockOffset { error: self.error.saturating_add(moved), ..self }
    }
}

/// Returns the offset by the answer that took the shortest way; `None` without any.
fn estimate(answers: &[ClockAnswer]) -> Option<ClockOffset> {
    let way = |of: &ClockAnswer| of.heard.saturating_sub(of.asked);
    let best = answers.iter().min_by_key(|of| way(of))?;
    let middle = best.asked + way(best) / 2;
    let ahead = best.theirs.wrapping_sub(middle).cast_signed();
    Some(ClockOffset { ahead, error: way(best).div_ceil(2) })
}

/// Measures the clocks of all machines, in turn, each by its first rank, where `clock` returns the
/// time of this one. All ranks call it together. Returns the offset of each machine, at rank 0;
/// nothing elsewhere.
pub fn measure(link: &dyn Link, clock: &dyn Fn() -> u64, firsts: &[u32]) -> Vec<ClockOffset> {
    let asked = firsts.get(1..).unwrap_or_default();
    if link.rank() != 0 {
        for _ in asked.iter().filter(|rank| **rank == link.rank()).flat_map(|_| 0..QUESTIONS) {
            link.receive(0);
            link.send(0, clock());
        }
        return Vec::new();
    }
    let compare = |rank: &u32| {
        let ask = |_| {
            let asked = clock();
            link.send(*rank, asked);
            ClockAnswer { asked, theirs: link.receive(*rank), heard: clock() }
        };
        let answers: Vec<ClockAnswer> = (0..QUESTIONS).map(ask).collect();
        estimate(&answers).unwrap_or_default()
    };
    std::iter::once(ClockOffset::default()).chain(asked.iter().map(compare)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_counts() {
        let answer = |asked, theirs, heard| ClockAnswer { asked, theirs, heard };
        assert_eq!(estimate(&[]), None);
        let found = estimate(&[
            answer(1_000, 50_000, 9_000),
            answer(10_000, 15_110, 10_200),
            answer(20_000, 90_000, 99_000),
        ]);
        assert_eq!(found, Some(ClockOffset { ahead: 5_010, error: 100 }));
        let behind = estimate(&[answer(10_000, 4_000, 10_100)]);
        assert_eq!(behind, Some(ClockOffset { ahead: -6_050, error: 50 }));
        let moved = found.unwrap().since(Some(ClockOffset { ahead: 5_000, error: 9 }));
        assert_eq!(moved, ClockOffset { ahead: 5_010, error: 110 });
    }
}
