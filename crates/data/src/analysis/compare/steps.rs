//! Steps of the whole machine: cells of one kind that all moved together between two runs.
//!
//! Other programs on the host, a clock rate or a throttled disk change all of them at once, by up
//! to a factor of 2 within minutes on shared machines, and no scatter of trials shows that before.
//! A change of the kernel or of a setting may do the same, so two runs apart cannot tell the two:
//! only trials that alternate can.

use std::collections::HashMap;

use super::drift::{SavedRuns, sound_level};
use crate::analysis::CellResult;
use crate::plan::{Cache, Job, Op};
use crate::stats::drift::common_move;

/// The largest factor that a machine is taken to move by when no saved runs show it.
const MAX_MOVE: f64 = 2.0;

/// How much further than most of them a cell may have moved, as a factor of the logarithm: not all
/// depend on what changed by the same share.
const FURTHER: f64 = 1.5;

/// Minimum number of saved runs to show how far the machine moves.
const MIN_RUNS: usize = 5;

/// What cells have in common that move together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    op: Op,
    cache: Cache,
    direct: bool,
}

impl Kind {
    fn of(job: &Job) -> Kind {
        Kind { op: job.op, cache: job.cache, direct: job.direct }
    }
}

/// By how much all cells of each kind moved together, as a logarithm, as far as the machine may
/// have done that by itself.
#[derive(Debug, Default)]
pub struct Steps(HashMap<Kind, f64>);

impl Steps {
    /// Computes them from the cells of two runs on one machine and file.
    pub fn from_pairs(pairs: &[(&CellResult, &CellResult)], kept: &SavedRuns) -> Steps {
        let mut moves: HashMap<Kind, Vec<f64>> = HashMap::new();
        for (base, other) in pairs {
            if let Some((a, b)) = sound_level(base).zip(sound_level(other)) {
                moves.entry(Kind::of(&base.cell)).or_default().push(b - a);
            }
        }
        let step = |(kind, moves): (Kind, Vec<f64>)| {
            let moved = common_move(&moves)?;
            let seen = kept.largest_move(MIN_RUNS, |job| Kind::of(job) == kind);
            let believed = match seen {
                Some(most) => moved.clamp(-most, most),
                None if moved.abs() <= MAX_MOVE.ln() => moved,
                None => return None,
            };
            Some((kind, FURTHER * believed))
        };
        Steps(moves.into_iter().filter_map(step).collect())
    }

    /// Returns the step of the cells like this one, as a logarithm.
    pub fn of(&self, job: &Job) -> Option<f64> {
        self.0.get(&Kind::of(job)).copied()
    }
}
