//! How far a run is and how long it will take: for people who wait.

use std::time::{Duration, Instant};

use crate::record::{Phase, Progress};

/// Counts steps (calibrations and trials) and the time they take, preparation included.
#[derive(Debug)]
pub(super) struct Pace {
    begin: Instant,
    deadline: Instant,
    /// Cells to calibrate, and trials per round.
    cells: u32,
    /// Rounds that are planned; a run without `--trials` may go on to its budget.
    rounds: Option<u32>,
    calibrated: u32,
    trials: u32,
    trials_began: Option<Instant>,
}

impl Pace {
    pub fn new(begin: Instant, deadline: Instant, cells: usize, rounds: Option<u32>) -> Pace {
        Pace { begin, deadline, cells: cells as u32, rounds, calibrated: 0, trials: 0, trials_began: None }
    }

    pub fn calibrated(&mut self) {
        self.calibrated += 1;
    }

    pub fn tried(&mut self) {
        self.trials += 1;
    }

    pub fn trials_begin(&mut self) {
        self.trials_began.get_or_insert_with(Instant::now);
    }

    /// Where the run is now.
    pub fn at(&self, phase: Phase, cell: Option<u32>, round: u32) -> Progress {
        let done = self.begin.elapsed();
        let left = self.left();
        let all = (done + left).as_secs_f64();
        let share = if all > 0.0 { (done.as_secs_f64() / all).clamp(0.0, 1.0) } else { 0.0 };
        Progress { phase, cell, round, share, left: left.as_nanos() as u64 }
    }

    /// The rest of the budget, or less where the asked trials end before it.
    fn left(&self) -> Duration {
        let budget = self.deadline.saturating_duration_since(Instant::now());
        let (Some(rounds), Some(began)) = (self.rounds, self.trials_began) else { return budget };
        if self.trials == 0 {
            return budget;
        }
        let each = began.elapsed() / self.trials;
        let to_do = u64::from(rounds) * u64::from(self.cells);
        let rest = to_do.saturating_sub(self.trials.into());
        budget.min(each.saturating_mul(u32::try_from(rest).unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_stays_within_its_ends_and_the_rest_within_the_budget() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin, begin + Duration::from_secs(9), 3, Some(2));
        pace.trials_begin();
        for _ in 0..8 {
            let progress = pace.at(Phase::Trial, Some(0), 1);
            assert!((0.0..=1.0).contains(&progress.share) && progress.left <= 9_000_000_000);
            pace.tried();
        }
        assert_eq!(pace.at(Phase::Trial, None, 2).left, 0);
    }
}
