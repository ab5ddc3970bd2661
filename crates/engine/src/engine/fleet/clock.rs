//! How far the clocks of the ranks are apart.
//!
//! Each machine counts CLOCK_MONOTONIC from its own start. Rank 0 asks a rank for its time again
//! and again; the answer of the shortest way there and back is nearest to the truth, and off by at
//! most half of that way (Cristian, "Probabilistic clock synchronization", Distributed Computing 3,
//! 1989). Wall clocks are not used: they may be wrong, and may be set while a trial runs.

use super::link::Link;

/// Questions to each rank.
const QUESTIONS: usize = 32;

/// One question, and the answer to it.
#[derive(Debug, Clone, Copy)]
struct Answer {
    asked: u64,
    theirs: u64,
    heard: u64,
}

/// Returns how far the clock is ahead, nanoseconds, by the answer that took the shortest way;
/// `None` without any.
fn estimate(answers: &[Answer]) -> Option<i64> {
    let way = |of: &Answer| of.heard.saturating_sub(of.asked);
    let best = answers.iter().min_by_key(|of| way(of))?;
    let middle = best.asked + way(best) / 2;
    Some(best.theirs.wrapping_sub(middle).cast_signed())
}

/// Measures the clocks of all ranks on other machines, in turn, where `clock` returns the time of
/// this one. All ranks call it together. Returns by how many nanoseconds each is ahead of that of
/// rank 0, at rank 0; nothing elsewhere.
pub fn measure(link: &dyn Link, clock: &dyn Fn() -> u64, is_elsewhere: &[bool]) -> Vec<i64> {
    let others = (1..link.size()).zip(is_elsewhere.iter().skip(1));
    let asked = others.filter_map(|(rank, elsewhere)| elsewhere.then_some(rank));
    if link.rank() != 0 {
        for _ in asked.filter(|rank| *rank == link.rank()).flat_map(|_| 0..QUESTIONS) {
            link.receive(0);
            link.send(0, clock());
        }
        return Vec::new();
    }
    let mut offsets = vec![0; link.size() as usize];
    for rank in asked {
        let ask = |_| {
            let asked = clock();
            link.send(rank, asked);
            Answer { asked, theirs: link.receive(rank), heard: clock() }
        };
        let answers: Vec<Answer> = (0..QUESTIONS).map(ask).collect();
        offsets[rank as usize] = estimate(&answers).unwrap_or_default();
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_counts() {
        let answer = |asked, theirs, heard| Answer { asked, theirs, heard };
        assert_eq!(estimate(&[]), None);
        let found = estimate(&[
            answer(1_000, 50_000, 9_000),
            answer(10_000, 15_110, 10_200),
            answer(20_000, 90_000, 99_000),
        ]);
        assert_eq!(found, Some(5_010));
        let behind = estimate(&[answer(10_000, 4_000, 10_100)]);
        assert_eq!(behind, Some(-6_050));
    }
}
