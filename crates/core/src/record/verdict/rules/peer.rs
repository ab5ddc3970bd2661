//! Rules about figures that another program (fio, dd) does not report, or not precisely.

use super::circumstance::trials_with_note;
use crate::record::verdict::CellEvidence;
use crate::record::{Finding, Note, Severity, finding};
use crate::units::{show_nanos, show_share};

/// Relative error of the reported time up to which it is not misleading.
const MAX_CLOCK_ERROR: f64 = 0.05;

pub(super) fn unknown_calls(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| *note == Note::CallsUnknown)?;
    finding(
        Severity::Note,
        format!(
            "{} does not report its number of system calls, so their rate is unknown",
            evidence.job.backend
        ),
        trials,
        "count them with strace -cf",
    )
}

pub(super) fn coarse_clock(evidence: &CellEvidence) -> Option<Finding> {
    let trials = trials_with_note(evidence, |note| matches!(note, Note::CoarseClock(_)))?;
    let (nanos, step) = evidence
        .trials()
        .flat_map(|trial| trial.evidence.notes.iter().map(|note| (trial.nanos, note)))
        .filter_map(|(nanos, note)| match note {
            Note::CoarseClock(step) => Some((nanos, *step)),
            _ => None,
        })
        .min_by(|a, b| (a.0 as f64 / a.1 as f64).total_cmp(&(b.0 as f64 / b.1 as f64)))?;
    let error = step as f64 / nanos.max(1) as f64;
    finding(
        if error > MAX_CLOCK_ERROR { Severity::Misleading } else { Severity::Note },
        format!(
            "{} reported a time of {}, which may be off by {}",
            evidence.job.backend,
            show_nanos(nanos as f64),
            show_share(error.min(1.0))
        ),
        format!("its clock has a resolution of {}; {trials}", show_nanos(step as f64)),
        "use a longer {trial-time} or a larger {size}",
    )
}
