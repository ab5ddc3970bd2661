//! The kinds of access that a glance has a column for.

use crate::analysis::CellResult;
use crate::analysis::answer::is_durable;
use crate::catalog::moves_data;
use crate::plan::{Cache, Op, Sync};

/// Larger commits are judged by their bytes.
const MAX_COMMIT: u64 = 64 * 1024;

/// The kinds of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read(Cache),
    ToDevice,
    ToMemory,
    /// Writes that are committed one by one or in groups.
    Commits {
        /// Whether the data was on stable storage then; `None` if unknown.
        durable: Option<bool>,
        /// Made by several threads.
        several: bool,
    },
    Mix,
    Calls,
}

impl Access {
    pub fn is_read(self) -> bool {
        matches!(self, Access::Read(_))
    }

    pub fn is_write(self) -> bool {
        matches!(self, Access::ToDevice | Access::ToMemory)
    }

    pub fn is_commits(self) -> bool {
        matches!(self, Access::Commits { .. })
    }

    /// Returns what was done: `read`, `written`.
    pub fn name(self) -> &'static str {
        match self {
            Access::Read(_) => Op::Read.name(),
            Access::ToDevice | Access::ToMemory => "written",
            Access::Commits { durable: Some(true), .. } => "durable commits",
            Access::Commits { durable: None, .. } => "commits",
            Access::Commits { durable: Some(false), .. } => "non-durable commits",
            Access::Mix => "reads and writes",
            Access::Calls => "calls",
        }
    }
}

/// Assigns results to the kinds of access.
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    /// Writes that are committed count as commits, not as bytes.
    commits: bool,
    /// All results are such writes.
    pub all_commit: bool,
}

impl Kinds {
    /// Commits are counted if all are of one small block size: of larger ones, or of several sizes,
    /// the number says little.
    pub fn new(results: &[CellResult]) -> Kinds {
        let mut blocks = committing(results).map(|result| result.cell.block);
        let commits = blocks
            .next()
            .is_some_and(|first| first <= MAX_COMMIT && blocks.all(|block| block == first));
        Kinds { commits, all_commit: commits && results.iter().all(|of| of.commits.is_some()) }
    }

    pub fn of(&self, result: &CellResult) -> Access {
        let job = &result.cell;
        match job.op {
            _ if job.mix.is_some() => Access::Mix,
            _ if !moves_data(job) => Access::Calls,
            Op::Write if self.commits && result.commits.is_some() => {
                Access::Commits { durable: is_durable(result), several: job.threads > 1 }
            }
            Op::Write if job.direct || job.sync != Sync::None => Access::ToDevice,
            Op::Write => Access::ToMemory,
            _ => Access::Read(job.cache),
        }
    }
}

/// Returns the results whose writes are committed.
pub fn committing(results: &[CellResult]) -> impl Iterator<Item = &CellResult> {
    results.iter().filter(|result| result.commits.is_some())
}
