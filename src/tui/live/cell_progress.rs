//! Progress of a run, counted in cells.

use std::fmt;

use crate::engine::order;
use crate::plan::Plan;
use crate::record::Progress;

/// The position of the current trial or cell among all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellProgress {
    /// From 1; 0 before the first.
    pub position: u64,
    /// All trials if their number is fixed, else the cells of a round.
    pub total: u64,
    pub round: u32,
    rounds: Option<u32>,
    /// The position of each cell in the round.
    turns: Vec<u32>,
}

/// `17 of 54`; without a fixed number of trials the count restarts with each round.
impl fmt::Display for CellProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rounds.is_none() && self.round > 1 {
            write!(f, "round {}, ", self.round)?;
        }
        write!(f, "{} of {}", self.position, self.total)
    }
}

impl CellProgress {
    pub fn new(plan: &Plan) -> CellProgress {
        let cells = plan.cells.len() as u64;
        CellProgress {
            total: cells * u64::from(plan.trials.unwrap_or(1)),
            rounds: plan.trials,
            ..CellProgress::default()
        }
    }

    pub fn update(&mut self, plan: &Plan, progress: &Progress) {
        let Some(cell) =
            progress.cell.map(|cell| cell as usize).filter(|cell| *cell < plan.cells.len())
        else {
            return;
        };
        if self.round != progress.round || self.turns.is_empty() {
            self.round = progress.round;
            self.turns = vec![0; plan.cells.len()];
            for (turn, cell) in order(plan, progress.round).into_iter().enumerate() {
                if let Some(slot) = self.turns.get_mut(cell) {
                    *slot = turn as u32;
                }
            }
        }
        let before = self
            .rounds
            .map_or(0, |_| u64::from(self.round.saturating_sub(1)) * plan.cells.len() as u64);
        self.position = (before + u64::from(self.turns[cell]) + 1).min(self.total.max(1));
    }
}
