//! The result of a probe's cell as every report shows it, and what was not measured.

use serde::Serialize;

use crate::analysis::cell_result::{SKIPPED_BY_USER, SummaryOf, counted_trials, outliers};
use crate::analysis::probe_rules;
use crate::analysis::result::{describe_end, mark_reached};
use crate::plan::{ProbeCell, Skipped};
use crate::record::{Estimate, ProbeFindings, ProbeTrial, Severity, Unit, Warning};
use crate::session::{OTHER_EXPERIMENT, Reference, Session, references};
use crate::stats::Summary;

/// The figure that another machine reports for the same cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReferenceValue {
    /// The reference session it is from.
    pub session: String,
    /// Its median, in the unit of the value.
    pub value: f64,
}

/// One probe cell with its trials and their summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbeResult {
    pub cell: ProbeCell,
    pub trials: Vec<ProbeTrial>,
    #[serde(skip)]
    pub unit: Option<Unit>,
    pub value: Option<SummaryOf>,
    /// The median; `None` if a trial has none.
    pub cycles: Option<f64>,
    pub estimate: Option<Estimate>,
    pub reference: Vec<ReferenceValue>,
    pub warnings: Vec<Warning>,
    pub error: Option<String>,
    /// The user took it out of the rest of the run.
    pub skipped: bool,
    /// Subtracted overheads, and proof by counters.
    pub evidence: Vec<String>,
}

impl ProbeResult {
    /// Returns the first warning that the figure is not what it claims to be.
    pub fn wrong(&self) -> Option<&Warning> {
        self.warnings.iter().find(|w| w.severity == Severity::Wrong)
    }

    /// Returns the warning that a report measured something else under this name.
    pub fn other_experiment(&self) -> Option<&Warning> {
        let is_it = |warning: &&Warning| warning.id == OTHER_EXPERIMENT;
        self.warnings.iter().find(is_it).filter(|of| of.severity > Severity::Note)
    }

    /// Returns the warning that the value is a lower bound.
    pub fn lower_bound(&self) -> Option<&Warning> {
        self.warnings.iter().find(|warning| warning.id == "at-least")
    }

    /// Returns whether it has not failed and is not marked wrong.
    pub fn is_sound(&self) -> bool {
        self.error.is_none() && self.wrong().is_none()
    }

    /// Indexes of the trials that the summary is computed from: complete ones, or all if all were
    /// cut short.
    pub fn counted_trials(&self) -> Vec<usize> {
        counted_trials(self.trials.iter().map(|trial| trial.short))
    }

    /// Returns the trials that the summary is computed from.
    pub fn counted(&self) -> Vec<ProbeTrial> {
        self.counted_trials().into_iter().map(|index| self.trials[index]).collect()
    }

    /// Returns the values of the counted trials.
    pub fn values(&self) -> Vec<f64> {
        self.counted().iter().map(|trial| trial.value).collect()
    }

    /// Indexes of the counted trials that are outliers. They stay in the summary.
    pub fn outliers(&self) -> Vec<usize> {
        outliers(&self.counted_trials(), &self.values())
    }
}

/// Returns the result of one cell. Trials in another unit than the first do not measure the same
/// thing: they are skipped.
fn result(cell: &ProbeCell, mut trials: Vec<ProbeTrial>, findings: &ProbeFindings) -> ProbeResult {
    let unit = trials.first().map(|trial| trial.unit);
    trials.retain(|trial| Some(trial.unit) == unit);
    let ProbeFindings { estimate, warnings, error, skipped, evidence, far: _ } = findings.clone();
    let (value, cycles, reference) = (None, None, Vec::new());
    let mut result = ProbeResult {
        cell: cell.clone(),
        trials,
        unit,
        value,
        cycles,
        estimate,
        reference,
        warnings,
        error,
        skipped,
        evidence,
    };
    result.value = Summary::from_values(&result.values())
        .zip(unit)
        .map(|(summary, unit)| SummaryOf { summary, unit: unit.name() });
    let cycles: Option<Vec<f64>> = result.counted().iter().map(|trial| trial.cycles).collect();
    result.cycles =
        cycles.and_then(|cycles| Summary::from_values(&cycles)).map(|summary| summary.median);
    result
}

/// Returns the results of the probe cells that were reached, in the plan's order.
pub fn probes(session: &Session) -> Vec<ProbeResult> {
    let mut by_cell = vec![Vec::new(); session.plan.probes.len()];
    for trial in session.probe_trials.iter().filter(|trial| trial.is_sound()) {
        if let Some(trials) = by_cell.get_mut(trial.cell as usize) {
            trials.push(*trial);
        }
    }
    let cells = session.plan.probes.iter().zip(by_cell).zip(&session.probe_findings);
    let reached =
        cells.filter(|((_, trials), findings)| !trials.is_empty() || findings.error.is_some());
    let known = |mut result: ProbeResult| {
        let known = reported(&result.cell, result.unit, session);
        // Figures of a report are not judged.
        if session.reference.is_none() {
            result.warnings.extend(known.iter().filter_map(|(id, of)| note_other(id, of)));
            let found = probe_rules::warnings(&result);
            result.warnings.extend(found);
        }
        result.reference = known.iter().filter_map(|(id, of)| to_value(id, of)).collect();
        result
    };
    reached.map(|((cell, trials), findings)| known(result(cell, trials, findings))).collect()
}

/// Returns the result of one cell, without the figures of others.
fn own_result(session: &Session, cell: &ProbeCell) -> Option<ProbeResult> {
    let at = session.plan.probes.iter().position(|own| own == cell)?;
    let trials =
        session.probe_trials.iter().filter(|trial| trial.cell as usize == at).copied().collect();
    Some(result(cell, trials, session.probe_findings.get(at)?))
}

/// Returns what references have of a probe's cell, by their ids, without the requesting session.
fn reported(
    cell: &ProbeCell,
    unit: Option<Unit>,
    asking: &Session,
) -> Vec<(&'static str, ProbeResult)> {
    let others = references()
        .iter()
        .filter(|reference| asking.reference.is_none_or(|own| own != reference.machine));
    let value = |reference: &Reference| {
        let found = own_result(reference.session(), cell)?;
        unit.is_none_or(|unit| found.unit == Some(unit)).then_some((reference.id, found))
    };
    others.filter_map(value).collect()
}

fn to_value(id: &str, of: &ProbeResult) -> Option<ReferenceValue> {
    Some(ReferenceValue { session: id.into(), value: of.value?.summary.median })
}

/// Returns a note that the figure next to the result is one of another experiment.
fn note_other(id: &str, of: &ProbeResult) -> Option<Warning> {
    let other = of.other_experiment()?;
    let message = format!("{id} has {}", other.message);
    Some(Warning { severity: Severity::Note, message, ..other.clone() })
}

/// Lists the probes that were not measured and why: excluded from the plan, or never reached.
pub fn skipped_probes(session: &Session) -> Vec<Skipped<ProbeCell>> {
    session.plan.skipped_probes.iter().cloned().chain(missed_probes(session)).collect()
}

/// Lists the probes of the plan that were never reached, and why.
pub fn missed_probes(session: &Session) -> Vec<Skipped<ProbeCell>> {
    let failed = session.probe_findings.iter().map(|findings| findings.error.is_some());
    let reached = mark_reached(failed, session.probe_trials.iter().map(|trial| trial.cell));
    let cells = session.plan.probes.iter().zip(&session.probe_findings).zip(reached);
    let missed = cells.filter(|(_, reached)| !reached).map(|((cell, findings), _)| {
        let reason = match findings.skipped {
            true => format!("it was {SKIPPED_BY_USER}"),
            false => describe_end(session).into(),
        };
        Skipped { cell: cell.clone(), reason }
    });
    missed.collect()
}

#[cfg(test)]
mod tests;
