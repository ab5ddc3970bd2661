//! The session: the log of one run of one plan, and what can be read from it.
//!
//! A run is written line by line by a [`Recorder`], found by [`find`], listed by [`list`] and read back by [`load`].
//! [`results`], [`answer`] and [`document`] say what it shows.

mod again;
mod answer;
mod axis;
mod baseline;
mod ceilings;
mod clean;
mod compare;
mod damage;
mod document;
mod edit;
mod error;
mod fio;
mod gate;
mod head;
mod home;
mod kept;
mod line;
mod list;
mod load;
mod log;
mod network;
mod open;
mod picked;
mod presets;
mod probe;
mod probe_curves;
mod probe_rules;
mod publish;
mod rated;
mod reader;
mod references;
mod remarks;
mod result;
mod run;
mod seal;
mod sink;
mod store;
mod time;
mod why;
mod write;
mod written;

#[cfg(test)]
pub(crate) mod testing;

pub use again::{AgainError, again};
use answer::of_experiment;
pub use answer::{Answer, Best, ColdCost, Knee, answer};
pub use axis::Axis;
pub use baseline::{BaselineError, FEWEST, baseline};
pub use clean::text as clean_text;
pub use compare::{
    Alone, Beside, Comparison, Difference, Drift, DriftBasis, Kept, Outcome, Pair, ProbePair, Side, Versus, compare, compare_with,
    machines, times,
};
pub use document::{CellOf, Document, document};
pub use edit::{Imported, delete, import, rename};
pub use error::SessionError;
pub use gate::{Open, Ruling, rule};
pub use home::Home;
pub use kept::kept;
pub use line::Worst;
pub use list::{Listed, State, list};
pub use load::{Samples, load, samples};
pub use network::{Network, NetworkShare, RoundTrips, network};
pub use open::open;
pub use picked::Picked;
pub use presets::{KeepError, keep_preset, presets_folder};
pub use probe::{Known, ProbeResult, answer_with, probes, skipped_probes};
pub use probe_curves::{ProbeCurve, ProbeCurves};
pub use references::{Reference, reference, references};
pub use remarks::{Step, steps};
use result::{CALLS_UNKNOWN, ended};
pub use result::{CellResult, LatencyOf, SummaryOf, TrialWork, moves_data, result, results, skipped};
pub use run::{BUG, Told, recorder, start};
pub use store::{NAME_LENGTH, find, folder, folder_of_ours, name as checked_name, slug};
pub use time::{parse_utc, utc};
pub use why::{
    Basis, Bounds, CurveCost, Estimate, Estimated, Limit, Limited, Model, Why, estimate, estimated, expected, foreseen,
    reasons as estimate_reasons, why,
};
pub use write::Recorder;
pub use written::Written;

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
    pub verdicts: Vec<Option<Verdict>>,
    /// Per cell, why it failed.
    pub errors: Vec<Option<String>>,
    pub probe_trials: Vec<ProbeTrial>,
    /// Per probe cell.
    pub probe_findings: Vec<ProbeFindings>,
    /// What each level of cold buys; empty where it was not asked for.
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
