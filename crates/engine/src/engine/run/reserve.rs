//! The part of the budget that is left to cells of short trials until each of them has as many as
//! an interval needs: one long trial may take longer than all of theirs together.

use std::time::Duration;

use crate::engine::cells::Cell;

/// Trials this many times as long as those of other cells wait for them: of cells of about the same
/// length none waits.
const MIN_FACTOR: u32 = 8;

/// How long the cells that lack trials take for them.
#[derive(Default)]
pub(super) struct Reserve {
    /// The time of a trial of each, ascending, and the time for all trials that it and those before
    /// it lack.
    needs: Vec<(Duration, Duration)>,
}

impl Reserve {
    /// Returns what cells of fewer than `trials` trials need.
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
    use crate::plan::{Plan, TargetSpec};
    use crate::record::Trial;

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
    fn a_long_trial_waits_until_the_short_ones_have_theirs() {
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
