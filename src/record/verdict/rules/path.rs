//! The bytes took another way than the one that was asked for.

use super::{Rule, rule};
use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{falls_short, size};
use crate::record::verdict::source::{Parts, parts};
use crate::record::{Note, Severity, Trial, Warning};
use crate::units::show_share;

pub(super) const NOT_DIRECT: Rule =
    rule(3, "not-direct", "direct I/O was asked for and the page cache was used", not_direct);

pub(super) const MEMORY: Rule = rule(4, "memory", "the target is memory, not a disk", memory);

pub(super) const OTHER_PATH: Rule = rule(
    28,
    "other-path",
    "the kernel refused a feature, and a plainer path was measured",
    other_path,
);

const REMEDY: &str = "use a file on a file system that supports direct I/O (iotui host shows it), or measure without --direct";

/// How much more of the file was cached after a trial than before.
fn growth(trial: &Trial) -> u64 {
    match (trial.resident_before, trial.resident_after) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => 0,
    }
}

fn not_direct(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.job.direct || !evidence.moves() {
        return None;
    }
    let wrong =
        |message: String, facts: String| NOT_DIRECT.warn(Severity::Wrong, message, facts, REMEDY);
    let parts = parts(evidence);
    if parts.page_cache > 0 && falls_short(parts.fetched.min(parts.wanted), parts.wanted) {
        let facts = format!(
            "{} from the device for {} of stored data",
            size(parts.fetched),
            size(parts.wanted)
        );
        let message = format!(
            "direct I/O was not direct: {} of the bytes came from memory",
            show_share(parts.of_stored(parts.page_cache))
        );
        return wrong(message, facts);
    }
    let grown = evidence.which(|t| growth(t) > evidence.slack(t));
    if let Some(most) = grown.iter().map(|t| growth(t)).max() {
        let facts = format!(
            "{} of {} {}",
            size(most),
            size(evidence.job.span),
            evidence.of_trials(grown.len())
        );
        return wrong(
            "direct I/O was not direct: the file entered the page cache meanwhile".into(),
            facts,
        );
    }
    let dirty = evidence.which(|t| t.evidence.unwritten_bytes.get().unwrap_or(0) > t.bytes / 50);
    if let Some(most) = dirty
        .iter()
        .filter_map(|t| t.evidence.unwritten_bytes.get())
        .max()
        .filter(|_| evidence.writes())
    {
        let facts = format!("{} not yet written {}", size(most), evidence.of_trials(dirty.len()));
        return wrong(
            "direct I/O was not direct: writes were left in the page cache".into(),
            facts,
        );
    }
    // What was seen outweighs what the file system states.
    let stated = evidence.target.direct == Some(false) || evidence.target.memory;
    if stated && !proved_direct(evidence, &parts) {
        return wrong(
            format!("direct I/O is not possible on {}, so memory was used", evidence.fs()),
            "as the file system states".into(),
        );
    }
    None
}

/// Device bytes and a page cache that did not grow show that reads were direct, whatever the file
/// system says.
fn proved_direct(evidence: &CellEvidence, parts: &Parts) -> bool {
    let seen = |t: &Trial| {
        t.resident_before.is_some() && t.resident_after.is_some() && t.device_bytes.is_some()
    };
    !evidence.target.memory
        && !evidence.writes()
        && parts.wanted > 0
        && parts.page_cache == 0
        && evidence.trials().all(seen)
}

fn memory(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.target.memory || !evidence.moves() {
        return None;
    }
    // A warm cell measures memory anyway; the others claim more.
    let severity = if evidence.is_warm() { Severity::Misleading } else { Severity::Wrong };
    let cold = if evidence.job.cache == Cache::Cold { " and cannot be cold" } else { "" };
    MEMORY.warn(
        severity,
        format!("{} is memory{cold}: no device was measured", evidence.fs()),
        format!("{} lies on {}", size(evidence.job.span), evidence.fs()),
        "choose a FILE on a disk, or --dir DIR on a disk for the scratch file",
    )
}

fn other_path(evidence: &CellEvidence) -> Option<Warning> {
    let plain = |t: &Trial| {
        t.evidence.notes.iter().find_map(|note| match note {
            Note::UringPlain(why) => Some(why.clone()),
            _ => None,
        })
    };
    let why = evidence.trials().find_map(plain)?;
    let count = evidence.which(|t| plain(t).is_some()).len();
    OTHER_PATH.warn(
        Severity::Note,
        "io_uring refused registered buffers or files: the plain path was measured".into(),
        format!("{why}; {}", evidence.of_trials(count)),
        "raise the limit of locked memory (ulimit -l) to measure with registered buffers",
    )
}
