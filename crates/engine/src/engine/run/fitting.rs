//! Fits the trials into the budget: shortens the trial time as cells are calibrated, and reserves
//! time for cells of short trials.

use std::time::Duration;

use crate::engine::cells::Cell;
use crate::experiment::{
    FIRST_ROUND, MIN_TRIAL_TIME, fit_trial_time, later_trials, verified_share,
};
use crate::plan::{Job, Plan, TrialTime};
use crate::units::{short_time, show_nanos};

/// The trial times of the first round.
pub(super) struct Fitting {
    planned: TrialTime,
    /// The planned time was chosen for the budget and may be shortened.
    fitted: bool,
    /// The cost of a first trial with its calibration, in trial times, before any was seen.
    first: f64,
    /// Trials of all cells after their first.
    later: f64,
    /// The time that one round takes to read the file into the page cache.
    reading: Duration,
    /// The time that all rounds take for that, and what is kept for cells that can still change the
    /// answer after them.
    aside: Duration,
    /// The remaining budget when calibration began.
    begun: Option<Duration>,
    /// Sum of the trial times that were granted since.
    granted: Duration,
    shortest: Duration,
}

impl Fitting {
    /// Fits the trials of `rounds` rounds, or of as many as an interval needs. In each the file is
    /// read into the page cache once, which takes `reading`.
    pub fn new(plan: &Plan, rounds: Option<u32>, reading: Duration) -> Self {
        let fixed = rounds.is_some();
        let rounds = rounds.unwrap_or(Plan::least_rounds(&plan.variants));
        let verified = verified_share(plan.verify, &plan.cells);
        Self {
            planned: plan.trial_time,
            fitted: plan.fitted,
            reading,
            aside: reading
                .saturating_mul(rounds)
                .saturating_add(Plan::kept_time(plan.settles(), plan.budget)),
            first: FIRST_ROUND + verified,
            later: later_trials(plan.cells.len(), rounds, fixed, verified),
            begun: None,
            granted: Duration::ZERO,
            shortest: plan.trial_time.low,
        }
    }

    /// Returns the trial time of a cell that is calibrated now, where `budget` remains for it and
    /// the others of `uncalibrated` cells. A requested time stays; one that was fitted to the
    /// budget becomes shorter where cells cost more than planned, so that the last ones have
    /// results too.
    pub fn next(&mut self, job: &Job, budget: Duration, uncalibrated: usize) -> TrialTime {
        let begun = *self.begun.get_or_insert(budget);
        if job.count.is_some() || !self.fitted {
            return self.planned;
        }
        let spent = begun.saturating_sub(budget).as_secs_f64();
        let first = if self.granted.is_zero() {
            self.first
        } else {
            (spent / self.granted.as_secs_f64()).max(self.first)
        };
        let without = |time: Duration| budget.saturating_sub(time).as_secs_f64();
        let (one, all) = (without(self.reading), without(self.aside));
        let fits = fit_trial_time(one, all, uncalibrated, first, self.later);
        let low = fits.clamp(MIN_TRIAL_TIME.min(self.planned.low), self.planned.low);
        self.granted += low;
        self.shortest = self.shortest.min(low);
        TrialTime::from_duration(low)
    }

    /// Returns a note on trial times that became much shorter than planned.
    pub fn note(&self, plan: &Plan) -> Option<String> {
        // A slightly shorter trial is not worth a note.
        (self.shortest < self.planned.low / 2).then(|| {
            format!(
                "cells took longer than planned: some trials were shortened to {} instead of {} so \
                 that the budget of {} covers more cells; use a longer --budget for full-length \
                 trials",
                show_nanos(self.shortest.as_nanos() as f64),
                show_nanos(self.planned.low.as_nanos() as f64),
                short_time(plan.budget)
            )
        })
    }
}

/// A trial waits for trials of other cells that take this many times less.
const MIN_FACTOR: u32 = 8;

/// The time that cells of short trials need until each has as many as an interval takes: one long
/// trial may take longer than all of theirs together.
#[derive(Default)]
pub(super) struct Reserve {
    /// The time of a trial of each, ascending, and the time for all trials that it and those before
    /// it lack.
    needs: Vec<(Duration, Duration)>,
}

impl Reserve {
    /// Returns the needs of cells with fewer than `trials` trials.
    pub fn new<'a>(cells: impl Iterator<Item = &'a Cell>, trials: u32) -> Reserve {
        let lacking = |cell: &Cell| {
            let missing = trials.saturating_sub(cell.trials.len() as u32);
            (cell.cost, cell.cost.saturating_mul(missing))
        };
        let mut needs: Vec<(Duration, Duration)> =
            cells.filter(|cell| !cell.out).map(lacking).filter(|need| !need.1.is_zero()).collect();
        needs.sort_unstable();
        let mut sum = Duration::ZERO;
        needs.iter_mut().for_each(|(_, need)| {
            sum = sum.saturating_add(*need);
            *need = sum;
        });
        Reserve { needs }
    }

    /// Returns whether a trial that takes `cost` would leave too little of the `budget` to cells of
    /// far shorter ones.
    pub fn is_needed(&self, cost: Duration, budget: Duration) -> bool {
        let shorter = self.needs.partition_point(|(own, _)| own.saturating_mul(MIN_FACTOR) <= cost);
        let need = shorter.checked_sub(1).map(|last| self.needs[last].1);
        need.is_some_and(|need| cost.saturating_add(need) > budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::plan::{Op, TargetSpec};
    use crate::record::Trial;

    fn plan(cells: usize) -> Plan {
        let target = TargetSpec::File { path: "/".into(), size: 0 };
        Plan {
            cells: vec![testing::job(); cells],
            trial_time: TrialTime::from_duration(Duration::from_millis(300)),
            fitted: true,
            budget: Duration::from_secs(50),
            ..Plan::plain("sweep", target)
        }
    }

    fn low(fitting: &mut Fitting, budget: f64, uncalibrated: usize) -> u128 {
        let budget = Duration::from_secs_f64(budget);
        let job = Job { count: None, ..testing::job() };
        fitting.next(&job, budget, uncalibrated).low.as_millis()
    }

    #[test]
    fn five_trials_per_cell_fit() {
        let plan = plan(24);
        let mut fitting = Fitting::new(&plan, None, Duration::ZERO);
        let time = low(&mut fitting, 47.0, 24);
        // 24 calibrations of twice the time, and 96 trials with a third for their preparation, each
        // a third slower.
        assert!((205..225).contains(&time), "{time}");
        assert_eq!(fitting.note(&plan), None);
        let time = low(&mut Fitting::new(&plan, Some(5), Duration::ZERO), 47.0, 24);
        assert!((250..280).contains(&time), "{time}: what is left over would not be used");
    }

    #[test]
    fn verification_counts_as_a_trial() {
        let writes = Job { op: Op::Write, ..testing::job() };
        let plan = Plan { cells: vec![writes; 24], verify: true, ..plan(24) };
        let time = low(&mut Fitting::new(&plan, None, Duration::ZERO), 47.0, 24);
        // 24 calibrations of three times the time, and 96 trials of 2.35 times, a third slower.
        assert!((120..135).contains(&time), "{time}");
    }

    #[test]
    fn warming_time_is_left_free() {
        let mut fitting = Fitting::new(&plan(24), None, Duration::from_secs(2));
        let time = low(&mut fitting, 47.0, 24);
        assert!((160..185).contains(&time), "{time}");
        let mut fitting = Fitting::new(&plan(24), None, Duration::from_secs(20));
        assert_eq!(low(&mut fitting, 47.0, 24), 50, "fewer trials, but none too short");
    }

    #[test]
    fn costly_cells_shorten_other_trials() {
        let plan = plan(24);
        let mut fitting = Fitting::new(&plan, None, Duration::ZERO);
        let first = low(&mut fitting, 47.0, 24);
        // The first cell took 17 s.
        let second = low(&mut fitting, 30.0, 23);
        assert!(second < first / 3, "{second}");
        assert!(fitting.note(&plan).unwrap().contains("shortened to"));
    }

    #[test]
    fn requested_times_and_counts_stay() {
        let mut fitting = Fitting::new(&Plan { fitted: false, ..plan(24) }, None, Duration::ZERO);
        assert_eq!(low(&mut fitting, 0.001, 24), 300);
        let mut fitting = Fitting::new(&plan(24), None, Duration::ZERO);
        let counted = Job { count: Some(7), ..testing::job() };
        assert_eq!(fitting.next(&counted, Duration::ZERO, 24).low.as_millis(), 300);
    }

    #[test]
    fn many_cells_get_one_longer_trial() {
        let mut fitting = Fitting::new(&plan(400), None, Duration::ZERO);
        assert_eq!(low(&mut fitting, 48.0, 400), 50);
        let mut fitting = Fitting::new(&plan(4000), None, Duration::ZERO);
        assert_eq!(low(&mut fitting, 48.0, 4000), 6);
    }

    fn cell(cost: u64, trials: usize) -> Cell {
        let plan = Plan { cells: vec![testing::job()], ..Plan::plain("sweep", TargetSpec::None) };
        let mut cell = Cell::from_plan(&plan).remove(0).unwrap();
        cell.cost = seconds(cost);
        cell.trials = (0..trials).map(|_| Trial::default().into()).collect();
        cell
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn long_trials_wait_for_short_ones() {
        let cells = [cell(1, 2), cell(2, 1), cell(40, 1), cell(30, 5)];
        // 3 trials of 1 s and 4 of 2 s are lacking.
        let reserve = Reserve::new(cells.iter(), 5);
        assert!(!reserve.is_needed(seconds(40), seconds(51)));
        assert!(reserve.is_needed(seconds(40), seconds(50)));
        // Cells of 2 s need not wait for cells of 1 s, however little is left.
        assert!(!reserve.is_needed(seconds(2), seconds(1)));
        assert!(
            reserve.is_needed(seconds(8), seconds(10))
                && !reserve.is_needed(seconds(8), seconds(11))
        );
        let all_have = Reserve::new([cell(1, 5), cell(40, 1)].iter(), 5);
        assert!(!all_have.is_needed(seconds(40), seconds(1)));
        let mut out = cell(1, 1);
        out.out = true;
        assert!(!Reserve::new([out].iter(), 5).is_needed(seconds(40), seconds(1)));
    }
}
