//! Whether a cell is precise enough, needs more trials, or is given up.

use crate::engine::cells::Cell;
use crate::plan::{Axis, Plan};
use crate::record::End;
use crate::units::{show_goal, show_share, show_trials};

/// Trials after which a cell may be given up: fewer predict too little.
const MIN_TRIALS: usize = 30;
/// A cell that needs more than this many times its trials is given up.
const MAX_FACTOR: f64 = 10.0;

/// The precision that cells of a run are to reach.
#[derive(Debug, Clone, Copy)]
pub(super) struct Precision {
    /// Half width of an interval, as a share of its median.
    goal: f64,
    /// The user requested it, and is told which cells did not reach it.
    requested: bool,
}

/// What the goal is about: the rate of a cell or, where it has twins in other variants of the
/// machine, their ratio.
#[derive(Clone, Copy)]
pub(super) struct Measured<'a> {
    pub cell: &'a Cell,
    /// The trials of the cell, or the pairs of trials.
    pub trials: usize,
    pub half_width: Option<f64>,
    /// It is a ratio.
    pub is_ratio: bool,
}

impl<'a> Measured<'a> {
    /// The rate of a cell.
    pub fn of_cell(cell: &'a Cell) -> Self {
        let (trials, half_width) = (cell.trials.len(), cell.half_width());
        Measured { cell, trials, half_width, is_ratio: false }
    }

    fn label(&self) -> String {
        if !self.is_ratio {
            return self.cell.job.label();
        }
        format!("the ratio of {}", Axis::Variant.without(&self.cell.job).label())
    }
}

/// The state of a cell on the way to the goal.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Progress {
    Reached,
    Running,
    /// More trials cannot be expected to reach the goal; with the half width so far.
    Hopeless(f64),
}

impl Precision {
    /// Returns the precision of a plan; `None` where it fixes the number of trials.
    pub fn from_plan(plan: &Plan) -> Option<Self> {
        plan.trials.is_none().then_some(Self { goal: plan.goal, requested: plan.until })
    }

    /// Judges a cell by its trials so far. An interval narrows at best by the square root of the
    /// number of trials. A hopeless cell gets no more of them, and so stays one.
    fn judge(self, measured: &Measured) -> Progress {
        let Some(width) = measured.half_width else { return Progress::Running };
        if width <= self.goal {
            Progress::Reached
        } else if measured.trials >= MIN_TRIALS && (width / self.goal).powi(2) > MAX_FACTOR {
            Progress::Hopeless(width)
        } else {
            Progress::Running
        }
    }

    /// Returns whether a cell leaves its turn to the others: it is given up, or its interval is
    /// narrow. A narrow one takes every third turn, so that its trials are spread over the run as
    /// those of the others are.
    pub fn lets_rest(self, measured: &Measured, turn: u32) -> bool {
        match self.judge(measured) {
            Progress::Running => false,
            Progress::Reached => !turn.is_multiple_of(3),
            Progress::Hopeless(_) => true,
        }
    }

    /// Returns how the run ends now if no cell needs more trials.
    pub fn find_end<'a>(self, all: impl Iterator<Item = Measured<'a>>) -> Option<End> {
        let mut end = End::Goal;
        for measured in all {
            match self.judge(&measured) {
                Progress::Running => return None,
                Progress::Reached => {}
                Progress::Hopeless(_) => end = End::Finished,
            }
        }
        Some(end)
    }

    /// Describes what did not reach the goal in a run that ended like this: each that was given up
    /// and, where the user requested the goal, those that the budget left wide.
    pub fn describe_missed<'a>(
        self,
        all: impl Iterator<Item = Measured<'a>>,
        end: End,
    ) -> Vec<String> {
        let (mut notes, mut wide) = (Vec::new(), Vec::new());
        for measured in all {
            match self.judge(&measured) {
                Progress::Reached => {}
                Progress::Running => wide.push(measured),
                Progress::Hopeless(width) => notes.push(self.describe_hopeless(&measured, width)),
            }
        }
        let limit = match end {
            End::Budget => Some("the budget ended"),
            End::Finished => Some("a run's limit of trials was reached"),
            _ => None,
        };
        if let Some(limit) = limit.filter(|_| self.requested) {
            notes.extend(self.describe_unreached(limit, &wide));
        }
        notes
    }

    /// Describes why a cell is given up.
    fn describe_hopeless(self, measured: &Measured, width: f64) -> String {
        let trials = measured.trials;
        let needed = (trials as f64 * (width / self.goal).powi(2)).min(1e9);
        format!(
            "{}: given up at \u{b1}{} after {trials} trials; \u{b1}{} would take at least {needed:.0}",
            measured.label(),
            show_share(width),
            show_goal(self.goal),
        )
    }

    /// Describes the cells that are wider than the goal at this limit: the first, and how many
    /// more; `None` where there are none.
    fn describe_unreached(self, limit: &str, wide: &[Measured]) -> Option<String> {
        let first = wide.first()?;
        let width = match first.half_width {
            Some(width) => format!("\u{b1}{}", show_share(width)),
            None => show_trials(first.trials),
        };
        let more = match wide.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some(format!(
            "{limit} before every interval was within \u{b1}{}: {} ({width}){more}; use a longer \
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
        cell.trials = nanos.iter().map(|nanos| Arc::new(trial(nanos))).collect();
        cell
    }

    fn alone(cell: &Cell) -> Measured<'_> {
        Measured::of_cell(cell)
    }

    fn scattered(count: usize) -> Vec<u64> {
        (0..count as u64).map(|i| 1_000_000 + i * 7919 % count as u64 * 40_000).collect()
    }

    #[test]
    fn a_narrow_cell_has_reached_the_goal_and_a_hopeless_one_is_told_apart() {
        let precision = Precision { goal: 0.02, requested: true };
        assert_eq!(precision.judge(&alone(&cell(&[100; 4]))), Progress::Running, "too few");
        assert_eq!(precision.judge(&alone(&cell(&[100; 6]))), Progress::Reached);
        assert_eq!(precision.judge(&alone(&cell(&scattered(20)))), Progress::Running);
        let hopeless = cell(&scattered(40));
        let Progress::Hopeless(width) = precision.judge(&alone(&hopeless)) else {
            panic!("not given up")
        };
        let text = precision.describe_hopeless(&alone(&hopeless), width);
        assert!(text.contains("given up at \u{b1}") && text.contains("after 40 trials"), "{text}");
        // Ten times as many trials are within reach.
        assert_eq!(
            Precision { goal: width / 3.0, ..precision }.judge(&alone(&hopeless)),
            Progress::Running
        );
    }

    /// Simulates a run of a cell whose true rate is 1 and whose trials scatter by `spread`; returns
    /// whether the final interval contains it.
    fn covers(precision: Precision, spread: f64, numbers: &mut impl Iterator<Item = f64>) -> bool {
        let mut cell = cell(&[]);
        while cell.trials.len() < 200 && precision.judge(&alone(&cell)) != Progress::Reached {
            // A sum of twelve is close to normal.
            let normal = numbers.by_ref().take(12).sum::<f64>() - 6.0;
            let nanos = 1e9 * (spread * normal).exp();
            let trial = Trial { bytes: 1 << 20, nanos: nanos as u64, ..Trial::default() };
            cell.trials.push(Arc::new(trial));
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
    fn a_goal_costs_a_few_points_of_coverage() {
        let mut state = 1u64;
        let mut numbers = std::iter::repeat_with(move || {
            state = crate::backend::access_pattern::mix(state.wrapping_add(1));
            (state >> 11) as f64 / (1u64 << 53) as f64
        });
        let precision = Precision { goal: 0.02, requested: true };
        for spread in [0.01, 0.02, 0.03] {
            let covered = (0..600).filter(|_| covers(precision, spread, &mut numbers)).count();
            assert!((530..=585).contains(&covered), "{covered} of 600 at {spread}");
        }
    }

    #[test]
    fn what_the_budget_left_wide_is_listed() {
        let precision = Precision { goal: 0.02, requested: true };
        let mut cells = vec![cell(&[100; 6]), cell(&scattered(20)), cell(&[1, 2])];
        let [text] = &precision.describe_missed(cells.iter().map(alone), End::Budget)[..] else {
            panic!("not one note")
        };
        assert!(text.contains("within \u{b1}2 %") && text.contains(", and 1 more"), "{text}");
        let unrequested = Precision { requested: false, ..precision };
        assert!(unrequested.describe_missed(cells.iter().map(alone), End::Budget).is_empty());
        assert!(precision.describe_missed(cells.iter().map(alone), End::Interrupted).is_empty());
        cells.truncate(1);
        assert!(precision.describe_missed(cells.iter().map(alone), End::Budget).is_empty());
    }
}
