//! Estimates the progress of a run and its remaining time, for users who wait.

use std::time::{Duration, Instant};

use crate::record::{Phase, Progress};

/// Counts steps (calibrations and trials) and the time they take, preparation included.
#[derive(Debug)]
pub(super) struct Pace {
    begin: Instant,
    deadline: Instant,
    /// Cells to calibrate, and trials per round.
    cells: u32,
    /// Planned rounds; a run without `--trials` may use all of its budget.
    rounds: Option<u32>,
    trials: u32,
    /// When calibration was complete for all cells, and the trials done by then: after that, the
    /// pace is that of trials alone.
    second_round: Option<(Instant, u32)>,
}

impl Pace {
    pub fn new(begin: Instant, deadline: Instant, cells: usize, rounds: Option<u32>) -> Pace {
        Pace { begin, deadline, cells: cells as u32, rounds, trials: 0, second_round: None }
    }

    /// Returns when the budget ends.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Ends the budget in `time`, if that is earlier.
    pub fn end_within(&mut self, time: Duration) {
        let end = Instant::now().checked_add(time);
        self.deadline = end.map_or(self.deadline, |end| end.min(self.deadline));
    }

    /// Moves everything so far later by this much, so that the time does not count.
    pub fn shift(&mut self, by: Duration) {
        let later = |at: Instant| at.checked_add(by).unwrap_or(at);
        (self.begin, self.deadline) = (later(self.begin), later(self.deadline));
        self.second_round = self.second_round.map(|(at, trials)| (later(at), trials));
    }

    pub fn count_trial(&mut self) {
        self.trials += 1;
        if self.trials == self.cells {
            self.second_round = Some((Instant::now(), self.trials));
        }
    }

    /// Returns whether the budget is used up.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Returns the progress of the run.
    pub fn progress(&self, phase: Phase, cell: Option<u32>, round: u32) -> Progress {
        let done = self.begin.elapsed();
        let left = self.remaining();
        let all = (done + left).as_secs_f64();
        let share = if all > 0.0 { (done.as_secs_f64() / all).clamp(0.0, 1.0) } else { 0.0 };
        Progress { phase, cell, probe: None, round, share, left: left.as_nanos() as u64 }
    }

    /// Returns the remaining budget.
    pub fn budget(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the remaining budget, or less where the requested trials end earlier.
    fn remaining(&self) -> Duration {
        let budget = self.budget();
        let Some(rounds) = self.rounds.filter(|_| self.trials > 0) else { return budget };
        // The first round includes calibration, so its pace is too slow an estimate for the others.
        let (began, before) = self
            .second_round
            .filter(|(_, before)| self.trials > *before)
            .unwrap_or((self.begin, 0));
        let each = began.elapsed() / (self.trials - before);
        let rest = (u64::from(rounds) * u64::from(self.cells)).saturating_sub(self.trials.into());
        budget.min(each.saturating_mul(u32::try_from(rest).unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_and_rest_stay_in_bounds() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin, begin + Duration::from_secs(9), 3, Some(2));
        for _ in 0..8 {
            let progress = pace.progress(Phase::Trial, Some(0), 1);
            assert!((0.0..=1.0).contains(&progress.share) && progress.left <= 9_000_000_000);
            pace.count_trial();
        }
        assert_eq!(pace.progress(Phase::Trial, None, 2).left, 0);
        let deadline = pace.deadline();
        pace.end_within(Duration::from_secs(3600));
        assert_eq!(pace.deadline(), deadline);
        pace.end_within(Duration::ZERO);
        assert!(pace.deadline() < deadline);
    }

    #[test]
    fn forgotten_time_moves_everything() {
        let begin = Instant::now();
        let (second, hour) = (Duration::from_secs(1), Duration::from_secs(3600));
        let mut pace = Pace::new(begin, begin + second, 1, Some(9));
        pace.count_trial();
        let started = pace.second_round.unwrap().0;
        pace.shift(hour);
        assert_eq!((pace.begin, pace.deadline()), (begin + hour, begin + hour + second));
        assert_eq!(pace.second_round, Some((started + hour, 1)));
        assert_eq!(pace.progress(Phase::Pause, Some(0), 1).share, 0.0);
    }
}
