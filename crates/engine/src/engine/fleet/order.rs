//! What rank 0 asks of the others, and what they report.

use serde::{Deserialize, Serialize};

use super::clock::Offset;
use crate::engine::cells::Amount;
use crate::engine::error::Failure;
use crate::engine::trial_outcome::TrialOutcome;
use crate::plan::{Job, Plan};

/// The next thing to do.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Say which machine and which version this is.
    Meet,
    /// Open the target of this plan, while the budget lasts: so many nanoseconds.
    Open { plan: Box<Plan>, left: u64 },
    /// Compare the clocks.
    CompareClocks,
    /// Run a part of a trial.
    Part(Box<Part>),
    /// The run is over.
    End,
}

/// A part of a trial, as each rank runs it on its own file or part of one.
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
    /// It is complete when the limit is over.
    pub ends_by_time: bool,
    /// Nanoseconds until the budget ends.
    pub left: u64,
    /// The start of the run, on the clock of rank 0.
    pub origin: u64,
    /// Of the clock of each machine.
    pub offsets: Vec<Offset>,
}

/// Why a rank cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub why: String,
    /// The signal that stopped it, if one did.
    pub signal: Option<i32>,
}

impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal { why, signal: None }
    }
}

/// What a rank says after a part of a trial.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    pub report: Report,
    /// The signal that it has received, if any.
    pub signal: Option<i32>,
}

/// What a rank measured, or why it did not.
#[derive(Debug, Serialize, Deserialize)]
pub enum Report {
    Measured(Box<TrialOutcome>),
    Failed(String),
    Stopped,
    Abandoned,
    /// The cell is for fewer ranks.
    Idle,
}

impl From<Result<TrialOutcome, Failure>> for Report {
    fn from(result: Result<TrialOutcome, Failure>) -> Report {
        match result {
            Ok(outcome) => Report::Measured(Box::new(outcome)),
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
