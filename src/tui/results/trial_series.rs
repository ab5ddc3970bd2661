//! The course of a cell's trials, interval by interval: a session in memory does not hold it, so it
//! is read when a cell is opened.

use std::path::{Path, PathBuf};

use crate::record::Sample;
use crate::session::Samples;

/// More intervals than this are not drawn: neighbours become one.
const MAX_INTERVALS: usize = 2000;

/// What was done of a result, trial by trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialSeries {
    pub result: usize,
    /// Of each trial that has any.
    pub trials: Vec<Vec<Sample>>,
}

impl TrialSeries {
    fn from_samples(result: usize, samples: Vec<Samples>) -> TrialSeries {
        let trials: Vec<Vec<Sample>> = samples
            .into_iter()
            .map(|(.., samples)| samples)
            .filter(|samples| !samples.is_empty())
            .collect();
        let each = (MAX_INTERVALS / trials.len().max(1)).max(1);
        let merge = |samples: Vec<Sample>| {
            let together = samples.len().div_ceil(each).max(1);
            samples
                .chunks(together)
                .filter_map(|some| some.iter().copied().reduce(|a, b| a.merge(&b)))
                .collect()
        };
        TrialSeries { result, trials: trials.into_iter().map(merge).collect() }
    }
}

/// The cell of a session's file, and the result that is of it.
#[derive(Debug)]
struct PendingRequest {
    path: PathBuf,
    cell: u32,
    result: usize,
}

/// What is known of the courses, and pending.
#[derive(Debug, Default)]
pub struct TrialSeriesCache {
    last: Option<TrialSeries>,
    /// What was asked for, until the answer comes.
    pending: Option<PendingRequest>,
}

impl TrialSeriesCache {
    pub fn get(&self, result: usize) -> Option<&TrialSeries> {
        self.last.as_ref().filter(|series| series.result == result)
    }

    /// Something was asked for, and its answer did not come yet.
    pub fn is_waiting(&self) -> bool {
        self.pending.is_some()
    }

    /// The cell of a session's file was asked for, which is that of a result.
    pub fn expect(&mut self, path: PathBuf, cell: u32, result: usize) {
        self.pending = Some(PendingRequest { path, cell, result });
    }

    /// Takes in what was asked for. Where it cannot be read nothing is shown: all else of the cell
    /// is there.
    pub fn take(&mut self, path: &Path, cell: u32, samples: Vec<Samples>) {
        // Another session may be shown by now.
        if let Some(pending) =
            self.pending.take_if(|pending| pending.path == path && pending.cell == cell)
        {
            self.last = Some(TrialSeries::from_samples(pending.result, samples));
        }
    }
}
