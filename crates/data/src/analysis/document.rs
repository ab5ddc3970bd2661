//! The whole JSON of a session.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::analysis::answer::Answer;
use crate::analysis::session_answer::answer_with;
use crate::analysis::why::{Bounds, CurveCost, LimitCause, Why, explain_limits};
use crate::analysis::{
    CellResult, Comparison, Expected, MeasuredTime, ProbeResult, compare_variants, expected_with,
    list_skipped, measured_time, probes, results, skipped_probes,
};
use crate::facts::Host;
use crate::plan::{Job, Plan, ProbeCell, Skipped};
use crate::record::{HostSummary, Level};
use crate::session::Session;

/// The name and version of the JSON; keys may be added without a new one.
pub const SCHEMA: &str = "iotui/1";

/// A session as one JSON value: every key present, unknown is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document<'a> {
    pub schema: &'static str,
    /// The id; null if the session is not saved.
    pub session: Option<&'a str>,
    pub host: &'a Host,
    /// The programs that measured, each with its version: iotui, then others.
    pub programs: &'a [String],
    /// The other machine of the network probes, as it reported itself; null without one.
    pub far: Option<&'a HostSummary>,
    pub plan: &'a Plan,
    pub results: Vec<ResultRow>,
    pub skipped: Vec<SkippedCell>,
    /// The cost of each cache-drop level, if requested.
    pub levels: &'a [Level],
    /// The most that this machine can reach, by name, with the unit in the name.
    pub ceilings: BTreeMap<String, f64>,
    pub answer: Answer,
    /// The cost of an operation on each curve over the block size.
    pub costs: Vec<CurveCost>,
    /// Lines of the session's file that are damaged or missing.
    pub lost_lines: u64,
    /// The measured share of the run's time; null if unknown.
    pub time: Option<MeasuredTime>,
    /// The comparison of the machine's variants; omitted if the plan has no variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variants: Option<Comparison>,
    /// Whether the results are as expected; omitted where nothing was expected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Expected>,
}

/// One result: jobs first, then probes. Each has the keys of both; the keys of the
/// other kind are null.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ResultRow {
    Job(Box<JobRow>),
    Probe(Box<ProbeRow>),
}

/// The kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CellOf<'a> {
    Job(&'a Job),
    Probe(&'a ProbeCell),
}

/// One cell that was not measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SkippedCell {
    Job(Skipped),
    Probe(Skipped<ProbeCell>),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobRow {
    #[serde(flatten)]
    result: CellResult,
    /// Indexes of outlier trials.
    outliers: Vec<usize>,
    /// The limit of the cell; null if the figures do not show it.
    limit: Option<LimitCause>,
    #[serde(flatten)]
    of_probes: OfProbes,
}

/// The keys of probes alone, which are null in the row of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
struct OfProbes {
    value: (),
    cycles: (),
    estimate: (),
    reference: (),
    evidence: (),
}

/// Collects the measured ceilings of the machine, the rate of the link to the disk, and the disk's
/// rated speed.
fn ceilings(session: &Session) -> BTreeMap<String, f64> {
    let grounds = session.grounds.as_ref();
    let measured = grounds.and_then(|grounds| grounds.machine.ceilings.as_ref());
    let mut all: BTreeMap<String, f64> = measured
        .into_iter()
        .flat_map(|c| c.figures())
        .map(|(name, value)| (name.into(), value))
        .collect();
    let link =
        grounds.and_then(|grounds| grounds.target.link.as_ref()).map(|link| link.bytes_per_second);
    let also = [
        ("link_bytes_per_second", link),
        ("rated_bytes_per_second", session.plan.rated.map(|rate| rate as f64)),
    ];
    all.extend(also.into_iter().filter_map(|(name, value)| Some((name.into(), value?))));
    all
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbeRow {
    #[serde(flatten)]
    result: ProbeResult,
    /// Indexes of outlier trials.
    outliers: Vec<usize>,
    #[serde(flatten)]
    of_jobs: OfJobs,
}

/// The keys of jobs alone, which are null in the row of a probe.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
struct OfJobs {
    limit: (),
    throughput: (),
    operations: (),
    syscalls: (),
    latency: (),
    level_change: (),
    written: (),
    source: (),
    source_reason: (),
    amplification: (),
}

impl ResultRow {
    pub fn cell(&self) -> CellOf<'_> {
        match self {
            ResultRow::Job(row) => CellOf::Job(&row.result.cell),
            ResultRow::Probe(row) => CellOf::Probe(&row.result.cell),
        }
    }
}

impl SkippedCell {
    pub fn cell(&self) -> CellOf<'_> {
        match self {
            SkippedCell::Job(skipped) => CellOf::Job(&skipped.cell),
            SkippedCell::Probe(skipped) => CellOf::Probe(&skipped.cell),
        }
    }
}

fn job_row((result, limit): (CellResult, Option<LimitCause>)) -> ResultRow {
    let outliers = result.outliers();
    ResultRow::Job(Box::new(JobRow { result, outliers, limit, of_probes: OfProbes::default() }))
}

fn probe_row(result: ProbeResult) -> ResultRow {
    let outliers = result.outliers();
    ResultRow::Probe(Box::new(ProbeRow { result, outliers, of_jobs: OfJobs::default() }))
}

/// Returns the JSON of a session, to be serialized as it is written.
pub fn document(session: &Session) -> Document<'_> {
    let (results, probes) = (results(session), probes(session));
    let answer = answer_with(session, &results, &probes);
    let expected = expected_with(session, &results);
    let Why { costs, limits } = explain_limits(&results, |job| Bounds::of_job(session, job));
    Document {
        schema: SCHEMA,
        session: Some(session.id.as_str()).filter(|id| !id.is_empty()),
        host: &session.host,
        programs: session.programs(),
        far: session.far(),
        plan: &session.plan,
        results: results
            .into_iter()
            .zip(limits)
            .map(job_row)
            .chain(probes.into_iter().map(probe_row))
            .collect(),
        skipped: list_skipped(session)
            .into_iter()
            .map(SkippedCell::Job)
            .chain(skipped_probes(session).into_iter().map(SkippedCell::Probe))
            .collect(),
        levels: &session.levels,
        ceilings: ceilings(session),
        answer,
        costs,
        lost_lines: session.lost,
        time: measured_time(session),
        variants: compare_variants(session),
        expected,
    }
}
