//! The data model of a session.

use std::sync::Arc;

use crate::facts::Host;
use crate::plan::Plan;
use crate::record::{End, Grounds, Level, Pick, ProbeFindings, ProbeTrial, Trial, Verdict};

/// One run of one plan, as loaded or while it grows.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub id: String,
    pub name: String,
    /// UTC, RFC 3339: `2026-11-21T09:30:11Z`.
    pub created: String,
    pub host: Host,
    pub plan: Plan,
    /// The facts that verdicts are based on; `None` before the target was ready.
    pub grounds: Option<Grounds>,
    pub trials: Vec<Arc<Trial>>,
    /// Per cell, if a verdict was written or could be computed.
    pub verdicts: Vec<Option<Arc<Verdict>>>,
    /// Per cell, why it failed.
    pub errors: Vec<Option<String>>,
    /// The cells that the user took out of the run.
    pub skipped: Vec<u32>,
    pub probe_trials: Vec<ProbeTrial>,
    /// Per probe cell.
    pub probe_findings: Vec<ProbeFindings>,
    /// The cost of each cache-drop level; empty unless requested.
    pub levels: Vec<Level>,
    /// Which of several methods was picked, and why.
    pub picks: Vec<Pick>,
    pub notes: Vec<String>,
    /// Lines of its file that are damaged or missing.
    pub lost: u64,
    /// The machine of a reference, whose figures are as reported. `None` for a session of iotui.
    pub reference: Option<&'static str>,
    /// The machine was not set back to the first variant (`--between`).
    pub unrestored: bool,
    /// `None`: the file ends without its end line, so the run was interrupted.
    pub end: Option<End>,
    /// Duration of the run; `None` if its end is missing or does not record it.
    pub seconds: Option<f64>,
}
