//! The highest rate at which a condition on response times holds (`--latency-target`).

use std::sync::Arc;

use super::paced::{keeps_rate, names_without_rates};
use crate::analysis::{CellNames, CellResult, Holds, SummaryOf, results};
use crate::experiment::{FoundRate, RateSearch, TriedRate};
use crate::plan::{Axis, Condition, Job};
use crate::record::{End, Latency, Trial};
use crate::session::Session;
use crate::units::show_nanos;

/// The result of the search on one curve.
pub struct FoundTarget {
    pub condition: Condition,
    /// The job without its rate.
    pub job: Job,
    /// The highest rate at which the condition holds, and the lowest at which it does not.
    pub holds: Option<Job>,
    pub fails: Option<Job>,
    /// The percentile at each.
    at: [Option<f64>; 2],
    /// Operations per second that the failing cell reached, if it missed its rate.
    missed: Option<f64>,
    /// The result that decides is wrong.
    is_wrong: bool,
    pub is_over: bool,
    /// Why it is not over.
    open: &'static str,
}

impl FoundTarget {
    /// Returns the results of a search; none in a session without a target.
    pub fn all(session: &Session, results: &[CellResult]) -> Vec<FoundTarget> {
        let plan = &session.plan;
        let (Some(search), Some(condition)) = (RateSearch::new(plan), &plan.latency_target) else {
            return Vec::new();
        };
        let found = search.found(&tried(session)).into_iter();
        found.filter_map(|found| FoundTarget::of(session, results, condition, found)).collect()
    }

    fn of(
        session: &Session,
        results: &[CellResult],
        condition: &Condition,
        found: FoundRate,
    ) -> Option<FoundTarget> {
        let cell = |at: Option<usize>| session.plan.cells.get(at?);
        let (holds, fails) = (cell(found.holds), cell(found.fails));
        let percentile = |at: Option<usize>| latency(session, at?)?.value_of(condition.metric);
        let result = |of: Option<&Job>| results.iter().find(|result| Some(&result.cell) == of);
        let missed = result(fails).filter(|result| keeps_rate(result) == Some(false));
        let missed = missed
            .and_then(|result| result.operations)
            .map(|SummaryOf { summary, .. }| summary.median);
        Some(FoundTarget {
            condition: condition.clone(),
            job: Axis::Rate.without(session.plan.cells.get(found.cell)?),
            holds: holds.cloned(),
            fails: fails.cloned(),
            at: [percentile(found.holds), percentile(found.fails)],
            missed,
            is_wrong: result(holds).is_some_and(|result| result.wrong().is_some()),
            is_over: found.is_over,
            open: match session.end {
                None => "",
                Some(End::Budget) => " (the budget ended the search)",
                Some(End::Goal | End::Finished) => {
                    " (too few operations to tell: use a longer --trial-time)"
                }
                Some(_) => " (the search was stopped)",
            },
        })
    }

    /// Returns whether the condition holds at some rate.
    pub fn outcome(&self) -> Holds {
        match (&self.holds, self.is_over) {
            (Some(_), _) if self.is_wrong => Holds::CannotTell,
            (Some(_), _) => Holds::Pass,
            (None, true) => Holds::Fail,
            (None, false) => Holds::CannotTell,
        }
    }

    /// Describes what lies above the highest rate: `at 13.1k/s it is 8 ms`.
    pub fn describe_end(&self) -> String {
        let wrong = if self.is_wrong { ", but that result is wrong" } else { "" };
        let open = if self.is_over { "" } else { self.open };
        let end = match (&self.fails, self.at[1], self.missed) {
            (None, ..) if self.is_over => "the highest rate tried".into(),
            (None, ..) if self.holds.is_none() => "no rate is judged yet".into(),
            (None, ..) => "no rate failed yet".into(),
            (Some(job), _, Some(reached)) => {
                let reached = crate::units::show_count(reached);
                format!("of {} only {reached}/s", Axis::Rate.value(job))
            }
            (Some(job), Some(value), None) => {
                let rate = Axis::Rate.value(job);
                format!("at {rate} it is {}", show_nanos(value))
            }
            (Some(job), None, None) => format!("at {} it fails", Axis::Rate.value(job)),
        };
        end + wrong + open
    }

    /// Returns the percentile at the highest rate: `p99 3.20 ms there`.
    pub fn describe_there(&self) -> Option<String> {
        Some(format!("{} {} there", self.condition.metric, show_nanos(self.at[0]?)))
    }

    /// Describes the result in a sentence.
    pub fn describe(&self, names: &CellNames) -> String {
        let (name, condition, end) = (names.full(&self.job), &self.condition, self.describe_end());
        match &self.holds {
            Some(job) => {
                let there = self.describe_there().map_or(String::new(), |there| there + "; ");
                let rate = Axis::Rate.value(job);
                format!("{name} keeps {condition} up to {rate}: {there}{end}.")
            }
            None if self.is_over => format!("{name} keeps {condition} at no rate: {end}."),
            None => format!("{name}, {condition}: {end}."),
        }
    }
}

/// Describes what a search found; `None` without one.
pub fn describe_found_targets(session: &Session, results: &[CellResult]) -> Option<String> {
    let names = names_without_rates(results);
    let found = FoundTarget::all(session, results);
    let said: Vec<String> = found.iter().map(|found| found.describe(&names)).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// Returns the worst outcome of a search; `None` without one.
pub fn target_outcome(session: &Session) -> Option<Holds> {
    session.plan.latency_target.as_ref()?;
    let found = FoundTarget::all(session, &results(session));
    // Nothing was measured at all.
    Some(found.iter().map(FoundTarget::outcome).max().unwrap_or(Holds::CannotTell))
}

fn latency(session: &Session, at: usize) -> Option<&Latency> {
    session.verdicts.get(at)?.as_deref()?.latency.as_ref()
}

/// Returns the trials of each cell of the plan; `None` for one that failed or was skipped.
fn tried(session: &Session) -> Vec<Option<TriedRate>> {
    let of = |(at, (job, trials)): (usize, (&Job, Vec<Arc<Trial>>))| {
        let failed = session.errors.get(at).is_some_and(Option::is_some);
        let is_out = failed || session.skipped.contains(&(at as u32));
        (!is_out).then(|| TriedRate::new(job, &trials, latency(session, at).cloned()))
    };
    session.plan.cells.iter().zip(session.trials_by_cell()).enumerate().map(of).collect()
}
