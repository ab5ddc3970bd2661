//! What a session is.

use std::sync::Arc;

use crate::host::Host;
use crate::plan::Plan;
use crate::record::{End, Grounds, Level, Pick, ProbeFindings, ProbeTrial, Trial, Verdict};

/// One run of one plan, as loaded or as it grows.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub id: String,
    pub name: String,
    /// UTC, RFC 3339: `2026-11-21T09:30:11Z`.
    pub created: String,
    pub host: Host,
    pub plan: Plan,
    /// What verdicts are judged by; `None` before the target was ready.
    pub grounds: Option<Grounds>,
    pub trials: Vec<Arc<Trial>>,
    /// Per cell, where one was written or could be computed.
    pub verdicts: Vec<Option<Arc<Verdict>>>,
    /// Per cell, why it failed.
    pub errors: Vec<Option<String>>,
    pub probe_trials: Vec<ProbeTrial>,
    /// Per probe cell.
    pub probe_findings: Vec<ProbeFindings>,
    /// What each cache-drop level costs; empty where it was not asked for.
    pub levels: Vec<Level>,
    /// Where one of several ways was picked: which, and why.
    pub picks: Vec<Pick>,
    pub notes: Vec<String>,
    /// Lines of its file that are damaged or missing.
    pub lost: u64,
    /// The machine of a reference: its figures are as reported. `None` for a session of iotui's.
    pub reference: Option<&'static str>,
    /// `None`: the file ends without its end line, so the run was interrupted.
    pub end: Option<End>,
}
