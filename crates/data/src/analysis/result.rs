//! Builds the results of cells from their trials, and lists what was not measured.

use std::sync::Arc;

use crate::analysis::cell_result::{CellResult, CommitsOf, LatencyOf, SKIPPED_BY_USER, SummaryOf};
use crate::analysis::picked;
use crate::analysis::ranks::ranks;
use crate::analysis::verified::verified;
use crate::analysis::written::write_times;
use crate::catalog::moves_data;
use crate::plan::{Job, Skipped};
use crate::record::{
    CALLS_UNKNOWN, CommitTimes, End, Latency, LevelChange, Trial, Verdict, judge_ranks_of_job,
};
use crate::session::Session;
use crate::stats::Summary;

/// Builds the result of one cell from its trials.
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
        service: verdict.service.as_ref().and_then(latency),
        commits: None,
        verified: None,
        ranks: None,
        durability: verdict.durability,
        level_change: None,
        written: None,
        source: verdict.source,
        source_reason: verdict.source_reason,
        amplification: verdict.amplification,
        warnings: verdict.warnings,
        error: error.map(String::from),
        skipped: false,
    };
    let counted = result.counted();
    let summary = |of: fn(&Trial) -> Vec<f64>, unit| {
        let values: Vec<f64> = counted.iter().flat_map(|trial| of(trial)).collect();
        Summary::from_values(&values).map(|summary| SummaryOf { summary, unit })
    };
    let bytes = moves_data(cell) && result.trials.iter().any(|trial| trial.bytes > 0);
    let throughput = summary(Trial::throughputs, "B/s").filter(|_| bytes);
    // Older sessions show it by the warning alone.
    let known = !result.warnings.iter().any(|warning| warning.id == CALLS_UNKNOWN)
        && result.trials.iter().all(|t| t.syscalls.get().is_some());
    let (operations, syscalls) = (
        summary(Trial::operation_rates, "1/s"),
        summary(|t| vec![t.syscall_rate().unwrap_or_default()], "1/s"),
    );
    (result.throughput, result.operations, result.syscalls) =
        (throughput, operations, syscalls.filter(|_| known));
    result.commits = verdict.commits.as_ref().and_then(|of| commits(&result, of));
    result.verified = verified(&result.trials);
    result.ranks = ranks(&result.trials);
    result.level_change = LevelChange::from_trials(&result.trials);
    result.written = write_times(&result);
    result
}

fn commits(result: &CellResult, of: &CommitTimes) -> Option<CommitsOf> {
    // Each operation is a write.
    let writes = result.operations.as_ref().map(|operations| operations.summary.median);
    Some(CommitsOf {
        per_second: writes.map(|writes| result.cell.commits_in(writes)),
        count: of.total.count,
        total: latency(&of.total)?,
        write: of.write.as_ref().and_then(latency),
        sync: of.sync.as_ref().and_then(latency),
    })
}

fn latency(of: &Latency) -> Option<LatencyOf> {
    let &Latency { count, every, mean, p50, p90, p99, p999, max, .. } = of;
    (count > 0).then_some(LatencyOf { mean, p50, p90, p99, p999, max, every, unit: "ns" })
}

/// Returns the results of the cells that were reached, in the plan's order.
pub fn results(session: &Session) -> Vec<CellResult> {
    let known = session.verdicts.iter().zip(&session.errors);
    let cells = session.plan.cells.iter().zip(session.trials_by_cell()).zip(known);
    (0..)
        .zip(cells)
        .filter(|(_, ((_, trials), (_, error)))| !trials.is_empty() || error.is_some())
        .map(|(index, ((cell, trials), (verdict, error)))| CellResult {
            skipped: session.skipped.contains(&index),
            ..result(cell, trials, verdict.as_deref(), error.as_deref())
        })
        .map(|mut result| {
            if let (Some(ranks), Some(grounds)) = (&mut result.ranks, &session.grounds) {
                let verdicts = judge_ranks_of_job(&result.cell, &result.trials, grounds);
                ranks.judge(&verdicts, &grounds.ranks);
            }
            result
        })
        .collect()
}

/// Returns why a cell has no trial.
pub fn describe_end(session: &Session) -> &'static str {
    match session.end {
        Some(End::Budget) => "the budget ended before its first trial",
        Some(End::Interrupted) | None => "the run was stopped before its first trial",
        Some(End::Failed) => "the run failed before its first trial",
        Some(End::Finished | End::Goal) => "it was skipped during the run",
    }
}

/// Returns what was not measured and why: excluded from the plan, or never reached.
pub fn list_skipped(session: &Session) -> Vec<Skipped> {
    list_unmeasured(session, describe_end(session))
}

/// Returns the same for a session that is still being recorded, without its end as a reason.
pub fn list_skipped_so_far(session: &Session) -> Vec<Skipped> {
    list_unmeasured(session, "not measured yet")
}

/// Returns which cells have failed or have a trial.
pub fn mark_reached(
    failed: impl Iterator<Item = bool>,
    trials: impl Iterator<Item = u32>,
) -> Vec<bool> {
    let mut reached: Vec<bool> = failed.collect();
    for cell in trials {
        if let Some(reached) = reached.get_mut(cell as usize) {
            *reached = true;
        }
    }
    reached
}

/// Lists the unmeasured cells; `reason`: why cells were not reached.
fn list_unmeasured(session: &Session, reason: &str) -> Vec<Skipped> {
    let failed = session.errors.iter().map(Option::is_some);
    let reached = mark_reached(failed, session.trials.iter().map(|trial| trial.cell));
    // A search tries few of the rates of its plan.
    let is_left_out = |job: &Job| session.plan.latency_target.is_some() && job.rate.is_some();
    let cells = (0..).zip(session.plan.cells.iter().zip(reached));
    let cells = cells.filter(|(_, (job, reached))| !reached && !is_left_out(job));
    let reason = |cell| match picked::reason_not_picked(session, cell) {
        Some(why) => why,
        None if session.skipped.contains(&cell) => format!("it was {SKIPPED_BY_USER}"),
        None => reason.into(),
    };
    let missed =
        cells.map(|(index, (cell, _))| Skipped { cell: cell.clone(), reason: reason(index) });
    session.plan.skipped.iter().cloned().chain(missed).collect()
}

#[cfg(test)]
mod tests;
