//! What a session shows: results of cells and probes, the answer in words, limits, comparisons and
//! the gate.
//!
//! Pure: nothing here reads a file, asks the kernel or starts anything. [`results`] and [`probes`]
//! come first; [`answer`], [`why`], [`compare`] and [`rule`] are made of them, and [`document`]
//! holds all of it for reports.

mod answer;
mod cell_result;
mod compare;
mod document;
mod gate;
mod network;
mod picked;
mod probe;
mod probe_curves;
mod probe_rules;
mod rated;
mod remarks;
mod result;
mod session_answer;
mod why;
mod written;

pub use crate::plan::Axis;
pub use answer::{Answer, Best, ColdCost, Knee, answer};
pub use cell_result::{CellResult, LatencyOf, SummaryOf, TrialWork, Written};
pub use compare::{
    Alone, Beside, Comparison, Difference, Drift, DriftBasis, Kept, Outcome, Pair, ProbePair, Side,
    Versus, alike, compare, compare_with, machines, times,
};
pub use document::{CellOf, Document, document};
pub use gate::{MIN_TRIALS, Open, Ruling, judgeable, rule};
pub use network::{Network, NetworkShare, RoundTrips, network};
pub use picked::Picked;
pub use probe::{Known, ProbeResult, probes, skipped_probes};
pub use probe_curves::{ProbeCurve, ProbeCurves};
pub use remarks::{Step, steps};
pub use result::{result, results, skipped};
pub use session_answer::answer_with;
pub use why::{
    Basis, Bounds, CurveCost, Estimate, Estimated, Limit, Limited, Model, Why, estimate, estimated,
    expected, foreseen, reasons as estimate_reasons, why,
};
