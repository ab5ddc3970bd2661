//! Judges results by expectations (`--expect`): pass, fail, or unknown.

mod figure;
#[cfg(test)]
mod tests;

use serde::Serialize;

use self::figure::{Figure, figure};
use crate::analysis::{CellResult, list_skipped, results};
use crate::catalog::infos;
use crate::experiment::excluding_option;
use crate::plan::{Axis, Condition, Expectation, Job, Metric, Plan};
use crate::session::Session;
use crate::units::counted;

/// Cells that a line names.
const MAX_NAMED: usize = 3;

/// Whether something is as expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    Pass,
    CannotTell,
    Fail,
}

impl Holds {
    /// Returns the exit code of a command whose results hold so.
    pub fn exit_code(self) -> u8 {
        match self {
            Holds::Pass => 0,
            Holds::CannotTell => 1,
            Holds::Fail => 5,
        }
    }

    /// Returns the outcome in words.
    pub fn words(self) -> &'static str {
        match self {
            Holds::Pass => "pass",
            Holds::CannotTell => "cannot tell",
            Holds::Fail => "fail",
        }
    }
}

/// A condition on a cell, judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedCell {
    pub cell: Job,
    pub condition: Condition,
    pub outcome: Holds,
    /// The figure with the ends of its 95 % interval: nanoseconds, bytes per second or operations
    /// per second. An end is null where too little was measured to have one.
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Why the outcome is unknown; null if it is known.
    pub why: Option<String>,
}

/// An expectation, judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Expected {
    pub expectation: Expectation,
    /// Fails if one cell fails; passes if all pass.
    pub outcome: Holds,
    pub cells: Vec<JudgedCell>,
}

/// Why a plan cannot show whether something is as expected; each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ExpectError {
    #[error("{0}")]
    Profile(String),
    #[error("{profile} is about cells with {options}, and no cell is like that: {remedy}")]
    NoCell { profile: String, options: String, remedy: String },
    #[error("no cell has a figure for {0}: a commit is a write with --sync fdatasync")]
    NoCommit(String),
    #[error("no cell has a figure for {0}: it is about cells that read or write files")]
    NoFigure(String),
}

/// Checks before a run that each expectation is about some cell of the plan.
///
/// # Errors
/// One is about none, with the options that give it one.
pub fn check_expectations(plan: &Plan) -> Result<(), ExpectError> {
    for expectation in &plan.expect {
        let about = |job: &&Job| is_about(expectation, job);
        let planned: Vec<&Job> = plan.cells.iter().filter(about).collect();
        if let (Some(by), true) = (&expectation.by, planned.is_empty()) {
            let skipped = plan.skipped.iter().find(|skipped| about(&&skipped.cell));
            let remedy = match skipped {
                Some(skipped) => format!("{}: {}", skipped.cell.label(), skipped.reason),
                None => "give these options, or name no preset".into(),
            };
            let options = expectation.settings().argv().join(" ");
            return Err(ExpectError::NoCell { profile: by.profile.clone(), options, remedy });
        }
        let is_shown =
            |condition: &&Condition| planned.iter().any(|job| condition.metric.is_of(job));
        if let Some(condition) = expectation.conditions.iter().find(|one| !is_shown(one)) {
            let text = condition.to_string();
            return Err(match planned.is_empty() {
                false if condition.metric == Metric::Commits => ExpectError::NoCommit(text),
                _ => ExpectError::NoFigure(text),
            });
        }
    }
    Ok(())
}

/// Returns whether an expectation is about a cell.
fn is_about(expectation: &Expectation, job: &Job) -> bool {
    excluding_option(&expectation.settings(), &infos(), job).is_none()
}

/// Judges what the plan of a session expects; empty where it expects nothing.
pub fn expected(session: &Session) -> Vec<Expected> {
    if session.plan.expect.is_empty() {
        return Vec::new();
    }
    expected_with(session, &results(session))
}

/// Judges like [`expected`], with the results of the session.
pub fn expected_with(session: &Session, results: &[CellResult]) -> Vec<Expected> {
    session.plan.expect.iter().map(|one| judge(session, results, one)).collect()
}

fn judge(session: &Session, results: &[CellResult], expectation: &Expectation) -> Expected {
    let missed = if results.len() < session.plan.cells.len() || !session.plan.skipped.is_empty() {
        list_skipped(session)
    } else {
        Vec::new()
    };
    let mut cells = Vec::new();
    for (index, job) in session.plan.cells.iter().enumerate() {
        if !is_about(expectation, job) {
            continue;
        }
        let result = results.iter().find(|result| result.cell == *job);
        let verdict = session.verdicts.get(index).and_then(Option::as_deref);
        let commits = verdict.and_then(|verdict| verdict.commits.as_ref());
        // Under a rate, a commit waits from its intended start on.
        let latency = commits
            .map(|commits| &commits.total)
            .filter(|_| job.rate.is_none())
            .or_else(|| verdict.and_then(|verdict| verdict.latency.as_ref()));
        let reason = missed.iter().find(|skipped| skipped.cell == *job);
        let reason = reason.map_or("it was not measured", |skipped| skipped.reason.as_str());
        let target = session.grounds.as_ref().map(|grounds| grounds.target_of(job));
        for condition in expectation.conditions.iter().filter(|one| one.metric.is_of(job)) {
            let figure = match result {
                _ if asks_for_less(job, condition) => Err(asked_for_less(job)),
                Some(result) => figure(result, latency, target, condition.metric),
                None => Err(reason.into()),
            };
            cells.push(judge_cell(job, condition, figure));
        }
    }
    let outcome = cells.iter().map(|cell| cell.outcome).max().unwrap_or(Holds::CannotTell);
    Expected { expectation: expectation.clone(), outcome, cells }
}

/// Returns whether a cell was asked for a lower rate than a condition demands.
fn asks_for_less(job: &Job, condition: &Condition) -> bool {
    let Some(rate) = job.operations_per_second() else { return false };
    let asked = match condition.metric {
        Metric::Throughput => rate * job.block as f64,
        Metric::Iops => rate,
        Metric::Commits => job.commits_in(rate),
        _ => return false,
    };
    !condition.holds(asked)
}

fn asked_for_less(job: &Job) -> String {
    format!("only {} were asked for: use a higher --rate", Axis::Rate.value(job))
}

fn judge_cell(job: &Job, condition: &Condition, figure: Result<Figure, String>) -> JudgedCell {
    let (figure, untrusted) = match figure {
        Ok(figure) => (figure, None),
        Err(why) => (Figure::default(), Some(why)),
    };
    let Figure { value, low, high, few } = figure;
    let ends = [low, high].map(|end| end.map(|end| condition.holds(end)));
    // The end that decides: a latency passes by its upper end, a rate by its lower one.
    let [passes, fails] = if condition.metric.is_latency() { [ends[1], ends[0]] } else { ends };
    let (outcome, why) = match (untrusted, passes, fails) {
        (Some(why), ..) => (Holds::CannotTell, Some(why)),
        (None, Some(true), _) => (Holds::Pass, None),
        (None, _, Some(false)) => (Holds::Fail, None),
        (None, Some(_), Some(_)) => {
            let why = "the bound lies within the 95 % interval: measure for longer";
            (Holds::CannotTell, Some(why.into()))
        }
        _ => (Holds::CannotTell, Some(few.unwrap_or_else(|| "it has no interval".into()))),
    };
    JudgedCell { cell: job.clone(), condition: condition.clone(), outcome, value, low, high, why }
}

impl Expected {
    /// Returns `etcd (p99<10ms): pass: pwrite 2.25 KiB append p99 1.2 ms [1.1 ms to 1.3 ms].`
    pub fn text(&self) -> String {
        let name = self.expectation.describe();
        let outcome = self.outcome.words();
        if self.cells.is_empty() {
            return format!("{name}: {outcome}: no cell is one that it is about.");
        }
        // The deciding cells come first, and stand alone where all pass.
        let mut parts = vec![self.name_cells(self.outcome)];
        if self.outcome == Holds::Fail {
            parts.push(self.name_cells(Holds::CannotTell));
        }
        let passed = self.count(Holds::Pass);
        if self.outcome != Holds::Pass && passed > 0 {
            parts.push(format!("{passed} of {} pass", counted(self.cells.len(), "figure")));
        }
        parts.retain(|part| !part.is_empty());
        format!("{name}: {outcome}: {}.", parts.join(". "))
    }

    fn count(&self, outcome: Holds) -> usize {
        self.cells.iter().filter(|cell| cell.outcome == outcome).count()
    }

    /// Names the first cells with an outcome, which is named too unless it is that of all.
    pub(super) fn name_cells(&self, outcome: Holds) -> String {
        let cells = self.cells.iter().filter(|cell| cell.outcome == outcome);
        let mut named: Vec<String> = cells.take(MAX_NAMED).map(describe).collect();
        let more = self.count(outcome) - named.len();
        named.extend((more > 0).then(|| format!("{more} more")));
        match named.is_empty() || outcome == self.outcome {
            true => named.join("; "),
            false => format!("Cannot tell: {}", named.join("; ")),
        }
    }
}

/// Returns `pread 4 KiB p99 12 ms [11 ms to 13 ms]`, and why the outcome is unknown.
fn describe(cell: &JudgedCell) -> String {
    let metric = cell.condition.metric;
    let show = |value: f64| metric.show(value);
    let figure = match (cell.value, cell.low, cell.high) {
        (Some(value), Some(low), Some(high)) if low < high => {
            format!(" {} {} [{} to {}]", metric.name(), show(value), show(low), show(high))
        }
        (Some(value), ..) => format!(" {} {}", metric.name(), show(value)),
        (None, Some(low), _) => format!(" {} at least {}", metric.name(), show(low)),
        (None, None, _) => String::new(),
    };
    let why = cell.why.as_deref().map(|why| format!(": {}", why.trim_end_matches('.')));
    format!("{}{figure}{}", cell.cell.label(), why.unwrap_or_default())
}
