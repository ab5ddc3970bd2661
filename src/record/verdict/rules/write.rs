//! Writes that did not arrive, or must not happen.

use super::{Rule, rule};
use crate::plan::Sync;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{falls_short, size};
use crate::record::{Severity, Trial, Warning};

pub(super) const NOT_ON_DEVICE: Rule = rule(9, "not-on-device", "written bytes were still in memory when the clock stopped", not_on_device);

pub(super) const NOT_OURS: Rule = rule(26, "not-ours", "a write cell's target was not made by iotui, so it is refused", not_ours);

fn not_on_device(evidence: &CellEvidence) -> Option<Warning> {
    let target = evidence.target;
    if !evidence.writes() || evidence.job.direct || target.memory || evidence.trials.is_empty() {
        return None;
    }
    let remedy = match evidence.job.sync {
        Sync::None => "use --sync end or --sync each, or --direct, to time the way to the device",
        Sync::End | Sync::Each => "use --count 0 for one pass; the file system or drive may also answer before it has written",
    };
    let warn = |severity, message: String, facts: String| NOT_ON_DEVICE.warn(severity, message, facts, remedy);
    let written = |t: &Trial| evidence.split(t).map_or(0, |(_, written)| written);

    let left = evidence.sum(|t| t.evidence.unwritten_bytes.get().unwrap_or(0));
    let all = evidence.sum(written);
    if falls_short(all.saturating_sub(left), all) {
        let message = format!("{} of {} written were still in memory at the end", size(left.min(all)), size(all));
        return warn(Severity::Wrong, message, format!("dirty or under writeback; sync {}", evidence.job.sync));
    }
    // A disk that stores less than it was given (compression) or is elsewhere proves nothing.
    let reached = evidence.sum(|t| t.evidence.disk_write_bytes.unwrap_or(0));
    let counted = evidence.trials().all(|t| t.evidence.disk_write_bytes.is_some());
    if counted && !target.remote && target.compresses.is_none() && falls_short(reached, all) {
        let facts = format!("written by the disk meanwhile, others included; sync {}", evidence.job.sync);
        return warn(Severity::Wrong, format!("only {} of {} written reached the device", size(reached), size(all)), facts);
    }
    let unproved = !counted && evidence.trials().any(|t| t.evidence.unwritten_bytes.get().is_none());
    if unproved && evidence.job.sync == Sync::None && all > 0 {
        let message = "nothing waited for the device, and nothing shows that the bytes reached it".into();
        return warn(Severity::Misleading, message, format!("{} written with sync none; no counter to prove it", size(all)));
    }
    None
}

/// Structural: the engine refuses such a cell before it opens the file.
fn not_ours(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.writes() || evidence.target.ours {
        return None;
    }
    NOT_OURS.warn(
        Severity::Wrong,
        "refused: this cell would write a file that iotui did not make".into(),
        format!("a write cell of {} on {}", size(evidence.job.span), evidence.fs()),
        "name a FILE that does not exist, or leave FILE out for a scratch file",
    )
}
