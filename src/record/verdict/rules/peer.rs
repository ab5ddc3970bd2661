//! What another program does not tell of its work.

use super::circumstance::noted;
use super::{Rule, rule};
use crate::record::verdict::CellEvidence;
use crate::record::{CALLS_UNKNOWN, Note, Severity, Warning};
use crate::units::{show_nanos, show_share};

pub(super) const UNKNOWN_CALLS: Rule = rule(
    0,
    CALLS_UNKNOWN,
    "another program made the system calls, and nobody counted them",
    unknown_calls,
);

pub(super) const COARSE_CLOCK: Rule = rule(
    0,
    "coarse-clock",
    "another program told a time that is only a few steps of its clock",
    coarse_clock,
);

/// Its time may be so far off without being misleading.
const FINE: f64 = 0.05;

fn unknown_calls(evidence: &CellEvidence) -> Option<Warning> {
    let trials = noted(evidence, |note| *note == Note::CallsUnknown)?;
    UNKNOWN_CALLS.warn(
        Severity::Note,
        format!(
            "{} does not tell how many system calls it made: there is no rate of them",
            evidence.job.backend
        ),
        trials,
        "strace -cf counts them",
    )
}

fn coarse_clock(evidence: &CellEvidence) -> Option<Warning> {
    let trials = noted(evidence, |note| matches!(note, Note::CoarseClock(_)))?;
    let off = evidence
        .trials()
        .flat_map(|trial| trial.evidence.notes.iter().map(|note| (trial.nanos, note)));
    let (nanos, step) = off
        .filter_map(|(nanos, note)| match note {
            Note::CoarseClock(step) => Some((nanos, *step)),
            _ => None,
        })
        .min_by(|one, other| {
            (one.0 as f64 / one.1 as f64).total_cmp(&(other.0 as f64 / other.1 as f64))
        })?;
    let off = step as f64 / nanos.max(1) as f64;
    COARSE_CLOCK.warn(
        if off > FINE { Severity::Misleading } else { Severity::Note },
        format!(
            "{} told a time of {}, which may be {} off",
            evidence.job.backend,
            show_nanos(nanos as f64),
            show_share(off.min(1.0))
        ),
        format!("its clock counts in steps of {}; {trials}", show_nanos(step as f64)),
        "use a longer --trial-time or a larger --size",
    )
}
