//! The commands of rank 0 to the others, and their replies.

use serde::{Deserialize, Serialize};

use super::clock::ClockOffset;
use crate::engine::cells::Amount;
use crate::engine::error::Failure;
use crate::engine::trial_parts::TrialOutcome;
use crate::plan::{Job, Plan};

/// A command of rank 0.
#[derive(Debug, Serialize, Deserialize)]
pub enum Command {
    /// Name the machine and the version.
    Meet,
    /// Open the target of this plan, within the rest of the budget, nanoseconds.
    Open { plan: Box<Plan>, left: u64 },
    /// Compare the clocks.
    CompareClocks,
    /// Run a part of a trial.
    RunPart(Box<PartCommand>),
    /// The run is over.
    End,
}

/// A part of a trial, as each rank runs it on its own file or part of one.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartCommand {
    pub job: Job,
    /// Opens and maps again for each pass.
    pub fresh_each_pass: bool,
    pub amount: Amount,
    pub seed: u64,
    /// Collect its evidence.
    pub observed: bool,
    /// Ends it this long after its lanes began, nanoseconds.
    pub limit: Option<u64>,
    /// It is complete when the limit is over.
    pub ends_by_time: bool,
    /// Nanoseconds until the budget ends.
    pub left: u64,
    /// The start of the run, on the clock of rank 0.
    pub origin: u64,
    /// The clock of each machine.
    pub offsets: Vec<ClockOffset>,
}

/// Why a rank cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankRefusal {
    pub why: String,
    /// The signal that stopped it, if one did.
    pub signal: Option<i32>,
}

impl From<String> for RankRefusal {
    fn from(why: String) -> RankRefusal {
        RankRefusal { why, signal: None }
    }
}

/// The reply of a rank to a part of a trial.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartReply {
    /// `None` if the cell is for fewer ranks.
    pub result: Option<Result<Box<TrialOutcome>, Failure>>,
    /// The signal that the rank has received, if any.
    pub signal: Option<i32>,
}

/// Encodes a message.
pub fn pack<T: Serialize>(message: &T) -> Vec<u8> {
    // Maps with keys of text, and numbers that are finite: nothing that JSON cannot hold.
    serde_json::to_vec(message).unwrap_or_default()
}

/// Decodes a message; only another version sends one that cannot be decoded.
pub fn unpack<'a, T: Deserialize<'a>>(message: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(message).map_err(|error| format!("no message of this version: {error}"))
}
