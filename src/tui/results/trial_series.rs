//! The samples of a cell's trials over time. A session in memory does not hold them: they are read
//! when a cell is opened.

use std::path::{Path, PathBuf};

use crate::record::Sample;
use crate::session::Samples;

/// Limit on drawn intervals; beyond it neighbours are merged.
const MAX_INTERVALS: usize = 2000;

/// The samples of a result, trial by trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialSeries {
    pub result: usize,
    /// Samples of each trial that has any.
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

/// A requested cell of a session file, and its result.
#[derive(Debug)]
struct PendingRequest {
    path: PathBuf,
    cell: u32,
    result: usize,
}

/// The last series read, and the pending request.
#[derive(Debug, Default)]
pub struct TrialSeriesCache {
    last: Option<TrialSeries>,
    /// The request without a reply yet.
    pending: Option<PendingRequest>,
}

impl TrialSeriesCache {
    pub fn get(&self, result: usize) -> Option<&TrialSeries> {
        self.last.as_ref().filter(|series| series.result == result)
    }

    /// Returns whether a request is pending.
    pub fn is_waiting(&self) -> bool {
        self.pending.is_some()
    }

    /// Notes that the cell of a session file was requested for a result.
    pub fn expect(&mut self, path: PathBuf, cell: u32, result: usize) {
        self.pending = Some(PendingRequest { path, cell, result });
    }

    /// Takes the reply to the pending request. Unreadable samples are not shown, the rest of the
    /// cell is.
    pub fn take(&mut self, path: &Path, cell: u32, samples: Vec<Samples>) {
        // Another session may be shown by now.
        if let Some(pending) =
            self.pending.take_if(|pending| pending.path == path && pending.cell == cell)
        {
            self.last = Some(TrialSeries::from_samples(pending.result, samples));
        }
    }
}
