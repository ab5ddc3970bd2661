//! The result of a probe's cell as every report shows it, and what was not measured.

use serde::Serialize;

use crate::analysis::cell_result::SummaryOf;
use crate::analysis::counted;
use crate::analysis::probe_rules;
use crate::analysis::result::ended;
use crate::plan::{ProbeCell, Skipped};
use crate::record::{Estimate, ProbeFindings, ProbeTrial, Severity, Unit, Warning};
use crate::session::{Reference, Session, references};
use crate::stats::Summary;

/// What another machine reaches in the same cell, as reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReferenceValue {
    /// The reference session it is from.
    pub session: String,
    /// Its median, in the unit of the value.
    pub value: f64,
}

/// One probe cell with its trials and what they say.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeResult {
    pub cell: ProbeCell,
    pub trials: Vec<ProbeTrial>,
    pub unit: Option<Unit>,
    pub value: Option<SummaryOf>,
    /// The median; `None` where a trial has none.
    pub cycles: Option<f64>,
    pub estimate: Option<Estimate>,
    pub reference: Vec<ReferenceValue>,
    pub warnings: Vec<Warning>,
    pub error: Option<String>,
    /// What was taken out and what counters prove.
    pub evidence: Vec<String>,
}

impl ProbeResult {
    /// The first warning that says the figure is not what it says it is.
    pub fn wrong(&self) -> Option<&Warning> {
        self.warnings.iter().find(|w| w.severity == Severity::Wrong)
    }

    /// Indexes of the trials that the summary is made from: whole ones, or all where all were cut.
    pub fn counted(&self) -> Vec<usize> {
        counted::counted(self.trials.iter().map(|trial| trial.short))
    }

    /// Indexes of the counted trials that stand apart. They stay in the summary.
    pub fn outliers(&self) -> Vec<usize> {
        let counted = self.counted();
        let values: Vec<f64> = counted.iter().map(|index| self.trials[*index].value).collect();
        counted::outliers(&counted, &values)
    }
}

/// The result of one cell. Trials in another unit than the first are no figures of the same thing:
/// they are left out.
fn result(cell: &ProbeCell, mut trials: Vec<ProbeTrial>, findings: &ProbeFindings) -> ProbeResult {
    let unit = trials.first().map(|trial| trial.unit);
    trials.retain(|trial| Some(trial.unit) == unit);
    let ProbeFindings { estimate, warnings, error, evidence, far: _ } = findings.clone();
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
        evidence,
    };
    let counted: Vec<ProbeTrial> =
        result.counted().iter().map(|index| result.trials[*index]).collect();
    let values: Vec<f64> = counted.iter().map(|trial| trial.value).collect();
    result.value = Summary::of(&values)
        .zip(unit)
        .map(|(summary, unit)| SummaryOf { summary, unit: unit.name() });
    let cycles: Option<Vec<f64>> = counted.iter().map(|trial| trial.cycles).collect();
    result.cycles = cycles.and_then(|cycles| Summary::of(&cycles)).map(|summary| summary.median);
    result
}

/// The results of the probe cells that were reached, in the plan's order.
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
        result.reference = reported(&result.cell, result.unit, session);
        // A report's figures come as they are.
        if session.reference.is_none() {
            let found = probe_rules::warnings(&result);
            result.warnings.extend(found);
        }
        result
    };
    reached.map(|((cell, trials), findings)| known(result(cell, trials, findings))).collect()
}

/// The result of one cell, without what others reach.
fn measured(session: &Session, cell: &ProbeCell) -> Option<ProbeResult> {
    let at = session.plan.probes.iter().position(|own| own == cell)?;
    let trials =
        session.probe_trials.iter().filter(|trial| trial.cell as usize == at).copied().collect();
    Some(result(cell, trials, session.probe_findings.get(at)?))
}

/// What the references report of a probe's cell, but for the session that asks.
fn reported(cell: &ProbeCell, unit: Option<Unit>, asking: &Session) -> Vec<ReferenceValue> {
    let others = references()
        .iter()
        .filter(|reference| asking.reference.is_none_or(|own| own != reference.machine));
    let value = |reference: &Reference| {
        let found = measured(reference.session(), cell)?;
        let value = found.value.filter(|_| unit.is_none_or(|unit| found.unit == Some(unit)))?;
        Some(ReferenceValue { session: reference.id.into(), value: value.summary.median })
    };
    others.filter_map(value).collect()
}

/// Probes that were not measured and why: left out of the plan, or never reached.
pub fn skipped_probes(session: &Session) -> Vec<Skipped<ProbeCell>> {
    let mut reached: Vec<bool> =
        session.probe_findings.iter().map(|findings| findings.error.is_some()).collect();
    for trial in &session.probe_trials {
        if let Some(reached) = reached.get_mut(trial.cell as usize) {
            *reached = true;
        }
    }
    let missed = session.plan.probes.iter().zip(reached).filter(|(_, reached)| !reached);
    let missed =
        missed.map(|(cell, _)| Skipped { cell: cell.clone(), reason: ended(session).into() });
    session.plan.skipped_probes.iter().cloned().chain(missed).collect()
}

#[cfg(test)]
mod tests;
