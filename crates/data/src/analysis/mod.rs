//! The meaning of a session: results of cells and probes, the answer in sentences, limits,
//! comparisons, the gate, and whether figures are as expected.
//!
//! Pure: nothing here reads a file, asks the kernel or starts anything. [`results`] and [`probes`]
//! come first; [`answer`], [`explain_limits`], [`compare`] and [`judge_run`] build on them, and
//! [`document`] holds all of it for reports.

mod answer;
mod cause;
mod cell_result;
mod compare;
mod curves;
mod disk_speed;
mod document;
mod expected;
mod first_look;
mod forecast;
mod gate;
mod glance;
mod groups;
mod heat_map;
mod measured_time;
mod names;
mod neighbours;
mod network;
mod outrun;
mod over_time;
mod picked;
mod probe;
mod probe_curves;
mod probe_rules;
mod ranks;
mod rated;
mod remarks;
mod result;
mod session_answer;
mod signs;
mod stalls;
mod verified;
mod warning_range;
mod warning_words;
mod watched;
mod why;
mod written;

pub use crate::plan::Axis;
pub use answer::{
    Answer, Best, ColdCost, Effect, FileNeeded, Knee, answer, capitalize, end_sentence,
    file_needed, target_outcome,
};
pub use cell_result::{
    CellResult, CommitsOf, FirstBad, LatencyOf, NodeOf, RankOf, RanksOf, SKIPPED_BY_USER,
    SummaryOf, TrialWork, VerifiedOf, WriteTimes,
};
pub use compare::{
    Comparison, Difference, Drift, DriftBasis, LoneCell, Outcome, Pair, ProbePair, SavedRuns, Side,
    SideBySide, Versus, change, compare, compare_variants, compare_with, is_same_machine,
    is_same_setup, letter, machine_differences, times,
};
pub use curves::{Curve, CurvePoint, Metric, axis_of_curves, curves, leave_out_singles};
pub use disk_speed::{disk_speed, was_on_disk};
pub use document::{CellOf, Document, document};
pub use expected::{
    ExpectError, Expected, Holds, JudgedCell, check_expectations, expected, expected_with,
};
pub use first_look::{
    Aim, FirstLook, Refinement, first_look, is_refinable, refine_cell, refinements,
};
pub use forecast::{Noise, describe_forecast};
pub use gate::{MIN_TRIALS, Ruling, UnjudgedCell, judge_run, judge_variants, judgeable};
pub use glance::{
    Access, Board, BoardCell, BoardColumn, Conditions, Glance, GlanceBar, GlanceColumn,
    GlanceFigure, GlanceRow, Grade, Statement, Workload, align_figures, glance, growing_board,
    lab_board, workloads,
};
pub use groups::group_by_key;
pub use heat_map::{HeatCell, HeatColumn, HeatLog, HeatMap};
pub use measured_time::{MeasuredTime, measured_time};
pub use names::{CellNames, name_cells};
pub use network::{Network, NetworkShare, RoundTrips, network};
pub use picked::{MethodRate, PickedMethod, picked_methods};
pub use probe::{ProbeResult, ReferenceValue, missed_probes, probes, skipped_probes};
pub use probe_curves::{ProbeCurve, ProbeCurves};
pub use remarks::{Step, steps};
pub use result::{describe_end, list_skipped, list_skipped_so_far, result, results};
pub use session_answer::answer_with;
pub use signs::{Sign, Signs};
pub use warning_range::{describe_range, differ_in_figures_only};
pub use warning_words::{brief_words, kind_words};
pub use why::{
    Basis, Bounds, CurveCost, Estimate, EstimateLine, Limit, LimitCause, Model, Why,
    describe_estimates, describe_expected, describe_lines, estimate, estimate_lines,
    explain_limits,
};
