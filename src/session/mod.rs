//! The session: the log of one run of one plan, and what can be read from it.

mod result;

pub use result::{CellResult, LatencyOf, SummaryOf};

use crate::host::Host;
use crate::plan::Plan;
use crate::record::{End, Trial, Verdict};

/// One run of one plan, as loaded or as it grows.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub id: String,
    pub name: String,
    /// UTC, RFC 3339: `2026-11-21T09:30:11Z`.
    pub created: String,
    pub host: Host,
    pub plan: Plan,
    pub trials: Vec<Trial>,
    /// Per cell, where one was written or could be computed.
    pub verdicts: Vec<Option<Verdict>>,
    /// Per cell, why it failed.
    pub errors: Vec<Option<String>>,
    pub notes: Vec<String>,
    /// `None`: the file ends without its end line, so the run was interrupted.
    pub end: Option<End>,
}
