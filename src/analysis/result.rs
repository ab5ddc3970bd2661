//! The result of a cell as every report shows it: every key always present, unknown
//! is null.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::analysis::picked;
use crate::analysis::written::{Written, written};
use crate::engine::moves_data;
use crate::plan::{Job, Skipped};
use crate::record::{
    CALLS_UNKNOWN, End, Latency, LevelChange, Severity, Source, Trial, Verdict, Warning,
};
use crate::session::Session;
use crate::stats::{self, Summary};

/// A summary with its unit: `B/s` or `1/s`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SummaryOf {
    #[serde(flatten)]
    pub summary: Summary,
    pub unit: &'static str,
}

/// Latency in nanoseconds, as the result shows it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyOf {
    pub mean: f64,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: f64,
    /// One operation in so many was timed.
    pub every: u32,
    pub unit: &'static str,
}

/// One cell with its trials and what they say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellResult {
    pub cell: Job,
    pub trials: Vec<Arc<Trial>>,
    /// `None` where nothing was measured, or where no bytes are moved.
    pub throughput: Option<SummaryOf>,
    pub operations: Option<SummaryOf>,
    pub syscalls: Option<SummaryOf>,
    pub latency: Option<LatencyOf>,
    /// `None` where one level held, as far as the trials show.
    pub level_change: Option<LevelChange>,
    /// `None` where nothing was written.
    pub written: Option<Written>,
    pub source: Option<Source>,
    /// Empty where it is not known: null in JSON.
    #[serde(serialize_with = "null_when_empty")]
    pub source_reason: String,
    pub amplification: Option<f64>,
    pub warnings: Vec<Warning>,
    pub error: Option<String>,
}

fn null_when_empty<S: Serializer>(text: &str, out: S) -> Result<S::Ok, S::Error> {
    if text.is_empty() { out.serialize_none() } else { out.serialize_str(text) }
}

/// What one trial of a cell does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialWork {
    /// Operations as `-n` would ask for them: as asked, or as calibration found them.
    pub count: u64,
    /// How often a trial makes so many: several passes over a small file.
    pub repeats: u64,
    /// Medians over the trials that were not cut short, bytes and nanoseconds.
    pub bytes: f64,
    pub nanos: f64,
}

impl TrialWork {
    /// Operations of a whole trial.
    pub fn operations(&self) -> u64 {
        self.count.saturating_mul(self.repeats)
    }

    /// The same of one pass.
    pub fn of_a_pass(self) -> TrialWork {
        let repeats = self.repeats as f64;
        TrialWork { repeats: 1, bytes: self.bytes / repeats, nanos: self.nanos / repeats, ..self }
    }
}

impl CellResult {
    /// What its trials do; `None` where none came to its end.
    pub fn work(&self) -> Option<TrialWork> {
        let whole: Vec<&Trial> = self
            .trials
            .iter()
            .map(|trial| &**trial)
            .filter(|trial| !trial.short && trial.ops > 0)
            .collect();
        let (first, of) = (whole.first()?, |get: fn(&Trial) -> u64| -> Vec<f64> {
            whole.iter().map(|trial| get(trial) as f64).collect()
        });
        let repeats = first.passes.max(1);
        let (bytes, nanos) =
            (stats::median(&of(|trial| trial.bytes))?, stats::median(&of(|trial| trial.nanos))?);
        Some(TrialWork { count: first.ops / repeats, repeats, bytes, nanos })
    }

    /// Indexes of the trials that the summaries are made from: those that were not cut short, or
    /// all where all were.
    pub fn counted(&self) -> Vec<usize> {
        let whole: Vec<usize> =
            (0..self.trials.len()).filter(|index| !self.trials[*index].short).collect();
        if whole.is_empty() { (0..self.trials.len()).collect() } else { whole }
    }

    /// Indexes of the counted trials whose speed stands apart from the others. They stay in every
    /// summary.
    pub fn outliers(&self) -> Vec<usize> {
        let counted = self.counted();
        stats::outliers(&self.speeds())
            .into_iter()
            .filter_map(|at| counted.get(at).copied())
            .collect()
    }

    /// Bytes per second of each counted trial, operations where no bytes are moved.
    pub fn speeds(&self) -> Vec<f64> {
        let speed = if self.throughput.is_some() { Trial::throughput } else { Trial::operations };
        self.counted().into_iter().map(|index| speed(&self.trials[index])).collect()
    }

    /// The first warning that says the figure is not what it says it is.
    pub fn wrong(&self) -> Option<&Warning> {
        self.warnings.iter().find(|w| w.severity == Severity::Wrong)
    }
}

/// The result of one cell from its trials.
pub fn result(
    cell: &Job,
    trials: Vec<Arc<Trial>>,
    verdict: Option<&Verdict>,
    error: Option<&str>,
) -> CellResult {
    let verdict = verdict.cloned().unwrap_or_default();
    let mut result = CellResult {
        cell: cell.clone(),
        trials,
        throughput: None,
        operations: None,
        syscalls: None,
        latency: verdict.latency.as_ref().and_then(latency),
        level_change: None,
        written: None,
        source: verdict.source,
        source_reason: verdict.source_reason,
        amplification: verdict.amplification,
        warnings: verdict.warnings,
        error: error.map(String::from),
    };
    let counted = result.counted();
    let summary = |of: fn(&Trial) -> f64, unit| {
        let values: Vec<f64> = counted.iter().map(|index| of(&result.trials[*index])).collect();
        Summary::of(&values).map(|summary| SummaryOf { summary, unit })
    };
    let bytes = moves_data(cell) && result.trials.iter().any(|trial| trial.bytes > 0);
    let throughput = summary(Trial::throughput, "B/s").filter(|_| bytes);
    // Sessions of before say it by the warning alone.
    let known = !result.warnings.iter().any(|warning| warning.id == CALLS_UNKNOWN)
        && result.trials.iter().all(|t| t.syscalls.get().is_some());
    let (operations, syscalls) = (
        summary(Trial::operations, "1/s"),
        summary(|t| t.syscall_rate().unwrap_or_default(), "1/s"),
    );
    (result.throughput, result.operations, result.syscalls) =
        (throughput, operations, syscalls.filter(|_| known));
    result.level_change = LevelChange::from_trials(&result.trials);
    result.written = written(&result);
    result
}

fn latency(of: &Latency) -> Option<LatencyOf> {
    let &Latency { count, every, mean, p50, p90, p99, p999, max, .. } = of;
    (count > 0).then_some(LatencyOf { mean, p50, p90, p99, p999, max, every, unit: "ns" })
}

/// The results of the cells that were reached, in the plan's order.
pub fn results(session: &Session) -> Vec<CellResult> {
    let known = session.verdicts.iter().zip(&session.errors);
    let cells = session.plan.cells.iter().zip(session.trials_by_cell()).zip(known);
    cells
        .filter(|((_, trials), (_, error))| !trials.is_empty() || error.is_some())
        .map(|((cell, trials), (verdict, error))| {
            result(cell, trials, verdict.as_deref(), error.as_deref())
        })
        .collect()
}

/// Why a cell has no trial.
pub(super) fn ended(session: &Session) -> &'static str {
    match session.end {
        Some(End::Budget) => "the budget ended before its first trial",
        Some(End::Interrupted) | None => "the run was stopped before its first trial",
        Some(End::Failed) => "the run failed before its first trial",
        Some(End::Finished | End::Goal) => "it was skipped during the run",
    }
}

/// What was not measured and why: left out of the plan, or never reached.
pub fn skipped(session: &Session) -> Vec<Skipped> {
    let reason = ended(session);
    let mut reached: Vec<bool> = session.errors.iter().map(Option::is_some).collect();
    for trial in &session.trials {
        if let Some(reached) = reached.get_mut(trial.cell as usize) {
            *reached = true;
        }
    }
    let cells =
        (0..).zip(session.plan.cells.iter().zip(reached)).filter(|(_, (_, reached))| !reached);
    let reason = |cell| picked::passed_over(session, cell).unwrap_or_else(|| reason.into());
    let missed =
        cells.map(|(index, (cell, _))| Skipped { cell: cell.clone(), reason: reason(index) });
    session.plan.skipped.iter().cloned().chain(missed).collect()
}

#[cfg(test)]
mod tests;
