//! What rank 0 asks of the others, and what they report.

use serde::{Deserialize, Serialize};

use crate::backend::Commits;
use crate::engine::cells::Amount;
use crate::engine::error::Failure;
use crate::engine::trial_outcome::TrialOutcome;
use crate::plan::{Job, Plan};
use crate::record::{Sample, Trial};
use crate::stats::Histogram;

/// The next thing to do.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Say which machine and which version this is.
    Meet,
    /// Open the target of this plan.
    Open(Box<Plan>),
    /// Compare the clocks.
    CompareClocks,
    /// Run a part of a trial.
    Part(Box<Part>),
    /// The run is over.
    End,
}

/// A part of a trial, as each rank runs it on its own file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Part {
    pub job: Job,
    /// Opens and maps again for each pass.
    pub fresh_each_pass: bool,
    pub amount: Amount,
    pub seed: u64,
    /// With its evidence.
    pub observed: bool,
    /// Ends it this long after its lanes began, nanoseconds.
    pub limit: Option<u64>,
    /// Nanoseconds until the budget ends.
    pub left: u64,
    /// The start of the run, on the clock of rank 0.
    pub origin: u64,
    /// How far the clock of each rank is ahead of that of rank 0, nanoseconds.
    pub offsets: Vec<i64>,
}

/// What a rank measured, or why it did not.
#[derive(Debug, Serialize, Deserialize)]
pub enum Report {
    Measured(Box<Measured>),
    Failed(String),
    Stopped,
    Abandoned,
}

/// What one rank measured in a part of a trial.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    pub trial: Trial,
    pub histogram: Histogram,
    pub commits: Option<[Histogram; 3]>,
    pub samples: Vec<Sample>,
    pub per_op: f64,
    pub busy: u64,
}

impl From<TrialOutcome> for Measured {
    fn from(of: TrialOutcome) -> Measured {
        let TrialOutcome { trial, histogram, commits, samples, per_op, busy } = of;
        let commits = commits.map(|Commits { total, write, sync }| [total, write, sync]);
        Measured { trial, histogram, commits, samples, per_op, busy }
    }
}

impl From<Measured> for TrialOutcome {
    fn from(of: Measured) -> TrialOutcome {
        let Measured { trial, histogram, commits, samples, per_op, busy } = of;
        let commits = commits.map(|[total, write, sync]| Commits { total, write, sync });
        TrialOutcome { trial, histogram, commits, samples, per_op, busy }
    }
}

impl From<Result<TrialOutcome, Failure>> for Report {
    fn from(result: Result<TrialOutcome, Failure>) -> Report {
        match result {
            Ok(outcome) => Report::Measured(Box::new(outcome.into())),
            Err(Failure::Cell(why)) => Report::Failed(why),
            Err(Failure::Stopped) => Report::Stopped,
            Err(Failure::Abandoned) => Report::Abandoned,
        }
    }
}

/// Returns a message as it is sent.
pub fn pack<T: Serialize>(message: &T) -> Vec<u8> {
    // Maps with keys of text, and numbers that are finite: nothing that JSON cannot hold.
    serde_json::to_vec(message).unwrap_or_default()
}

/// Reads a message; the error says that it is none, which only another version would send.
pub fn unpack<'a, T: Deserialize<'a>>(message: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(message).map_err(|error| format!("no message of this version: {error}"))
}
