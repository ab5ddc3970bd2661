//! Decides whether a cell is precise enough or needs more trials.

use crate::engine::cells::Cell;
use crate::plan::{Axis, Plan};
use crate::record::End;
use crate::units::{show_goal, show_share, show_trials};

/// Fewer trials do not predict the number that a goal takes.
const MIN_TRIALS: usize = 30;

/// The precision that cells of a run are to reach.
#[derive(Debug, Clone, Copy)]
pub(super) struct Precision {
    /// Half width of an interval, as a share of its median.
    goal: f64,
    /// The user requested it, so the run reports the cells that did not reach it.
    requested: bool,
}

/// The measure of a goal: the rate of a cell or, if it has twins in other variants of the machine,
/// their ratio.
#[derive(Clone, Copy)]
pub(super) struct GoalMeasure<'a> {
    pub cell: &'a Cell,
    /// The trials of the cell, or the pairs of trials.
    pub trials: usize,
    pub half_width: Option<f64>,
    /// It is a ratio.
    pub is_ratio: bool,
}

impl<'a> GoalMeasure<'a> {
    /// The rate of a cell.
    pub fn of_cell(cell: &'a Cell) -> Self {
        let (trials, half_width) = (cell.trials.len(), cell.half_width());
        GoalMeasure { cell, trials, half_width, is_ratio: false }
    }

    fn label(&self) -> String {
        if !self.is_ratio {
            return self.cell.job.label();
        }
        format!("the ratio of {}", Axis::Variant.without(&self.cell.job).label())
    }
}

impl Precision {
    /// Returns the precision of a plan; `None` if it fixes the number of trials.
    pub fn from_plan(plan: &Plan) -> Option<Self> {
        plan.trials.is_none().then_some(Self { goal: plan.goal, requested: plan.until })
    }

    fn is_reached_by(self, measured: &GoalMeasure) -> bool {
        measured.half_width.is_some_and(|width| width <= self.goal)
    }

    /// Returns whether a cell with a narrow interval skips its turn. It takes every third turn, so
    /// that its trials are spread over the whole run.
    pub fn lets_rest(self, measured: &GoalMeasure, turn: u32) -> bool {
        self.is_reached_by(measured) && !turn.is_multiple_of(3)
    }

    /// Returns whether no cell needs more trials. A cell that would need far more than the budget
    /// has room for is measured on nevertheless: the budget is what the user is ready to wait.
    pub fn is_reached<'a>(self, mut all: impl Iterator<Item = GoalMeasure<'a>>) -> bool {
        all.all(|measured| self.is_reached_by(&measured))
    }

    /// Describes the cells that did not reach the goal in a run that ended like this, where the
    /// user requested it.
    pub fn describe_missed<'a>(
        self,
        all: impl Iterator<Item = GoalMeasure<'a>>,
        end: End,
    ) -> Option<String> {
        let limit = match end {
            End::Budget => "the budget ended",
            End::Finished => "a run's limit of trials was reached",
            _ => return None,
        };
        let wide: Vec<GoalMeasure> = all.filter(|measured| !self.is_reached_by(measured)).collect();
        if self.requested { self.describe_unreached(limit, &wide) } else { None }
    }

    /// Estimates the trials that the goal takes: an interval narrows at best by the square root of
    /// their number. `None` while they are too few to estimate it from.
    fn needed_trials(self, measured: &GoalMeasure) -> Option<f64> {
        let width = measured.half_width.filter(|_| measured.trials >= MIN_TRIALS)?;
        Some((measured.trials as f64 * (width / self.goal).powi(2)).min(1e9))
    }

    /// Describes the cells that are wider than the goal at this limit: the first, and how many
    /// more, if any.
    fn describe_unreached(self, limit: &str, wide: &[GoalMeasure]) -> Option<String> {
        let first = wide.first()?;
        let mut state = show_trials(first.trials);
        if let Some(width) = first.half_width {
            state = format!("\u{b1}{} after {state}", show_share(width));
        }
        if let Some(needed) = self.needed_trials(first) {
            state += &format!(", which would take at least {needed:.0}");
        }
        let more = match wide.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some(format!(
            "{limit} before every interval was within \u{b1}{}: {} ({state}){more}; use a longer \
             --budget, fewer cells or a larger --until",
            show_goal(self.goal),
            first.label()
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::testing;
    use crate::plan::TargetSpec;
    use crate::record::Trial;

    /// A cell whose trials take these times.
    fn cell(nanos: &[u64]) -> Cell {
        let target = TargetSpec::File { path: "/".into(), size: 0 };
        let plan = Plan { cells: vec![testing::job()], ..Plan::plain("sweep", target) };
        let mut cell = Cell::from_plan(&plan).remove(0).unwrap();
        let trial = |nanos: &u64| Trial { bytes: 1 << 20, nanos: *nanos, ..Trial::default() };
        nanos.iter().for_each(|nanos| cell.keep(&Arc::new(trial(nanos))));
        cell
    }

    fn alone(cell: &Cell) -> GoalMeasure<'_> {
        GoalMeasure::of_cell(cell)
    }

    fn scattered(count: usize) -> Vec<u64> {
        (0..count as u64).map(|i| 1_000_000 + i * 7919 % count as u64 * 40_000).collect()
    }

    #[test]
    fn wide_cells_are_never_given_up() {
        let precision = Precision { goal: 0.02, requested: true };
        let is_reached = |nanos: &[u64]| precision.is_reached_by(&alone(&cell(nanos)));
        assert!(!is_reached(&[100; 4]), "too few");
        assert!(is_reached(&[100; 6]) && !is_reached(&scattered(20)));
        let (narrow, wide) = (cell(&[100; 6]), cell(&scattered(40)));
        let rests = |cell: &Cell, turn| precision.lets_rest(&alone(cell), turn);
        assert!((0..9).all(|turn| !rests(&wide, turn)));
        assert_eq!((0..9).filter(|turn| rests(&narrow, *turn)).count(), 6);
        let both = || [&narrow, &wide].into_iter().map(alone);
        assert!(precision.is_reached(both().take(1)) && !precision.is_reached(both()));
        let text = precision.describe_missed(both(), End::Budget).unwrap();
        assert!(text.contains(" after 40 trials, which would take at least "), "{text}");
    }

    /// Simulates a run of a cell whose true rate is 1 and whose trials scatter by `spread`; returns
    /// whether the final interval contains it.
    fn covers(precision: Precision, spread: f64, numbers: &mut impl Iterator<Item = f64>) -> bool {
        let mut cell = cell(&[]);
        while cell.trials.len() < 200 && !precision.is_reached_by(&alone(&cell)) {
            // A sum of twelve is close to normal.
            let normal = numbers.by_ref().take(12).sum::<f64>() - 6.0;
            let nanos = 1e9 * (spread * normal).exp();
            let trial = Trial { bytes: 1 << 20, nanos: nanos as u64, ..Trial::default() };
            cell.keep(&Arc::new(trial));
        }
        let rates: Vec<f64> = cell.trials.iter().map(|trial| trial.throughput()).collect();
        let summary = crate::stats::Summary::from_values(&rates).unwrap();
        let truth = f64::from(1 << 20);
        summary.low.unwrap() <= truth && truth <= summary.high.unwrap()
    }

    /// To stop when an interval is narrow prefers intervals that are narrow by chance: 91 to 94 %
    /// of them contain the truth, as docs/reference.md says, rather than 95 %. To wait for two or
    /// three narrow ones, or to look seldom, costs up to 40 % more trials and gains a point at
    /// most.
    #[test]
    fn goal_costs_little_coverage() {
        let mut state = 1u64;
        let mut numbers = std::iter::repeat_with(move || {
            state = crate::stats::random::mix(state.wrapping_add(1));
            (state >> 11) as f64 / (1u64 << 53) as f64
        });
        let precision = Precision { goal: 0.02, requested: true };
        for spread in [0.01, 0.02, 0.03] {
            let covered = (0..600).filter(|_| covers(precision, spread, &mut numbers)).count();
            assert!((530..=585).contains(&covered), "{covered} of 600 at {spread}");
        }
    }

    #[test]
    fn wide_cells_are_listed() {
        let precision = Precision { goal: 0.02, requested: true };
        let mut cells = vec![cell(&[100; 6]), cell(&scattered(20)), cell(&[1, 2])];
        let missed = |precision: Precision, cells: &[Cell], end| {
            precision.describe_missed(cells.iter().map(alone), end)
        };
        let text = missed(precision, &cells, End::Budget).unwrap();
        assert!(text.contains("within \u{b1}2 %") && text.contains(", and 1 more"), "{text}");
        assert_eq!(missed(Precision { requested: false, ..precision }, &cells, End::Budget), None);
        assert_eq!(missed(precision, &cells, End::Interrupted), None);
        cells.truncate(1);
        assert_eq!(missed(precision, &cells, End::Budget), None);
    }
}
