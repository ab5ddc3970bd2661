//! Writes that did not arrive, or must not happen.

use super::{Rule, rule};
use crate::plan::{Sync, Writes};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{falls_short, share, size};
use crate::record::{Severity, Trial, Warning};
use crate::units::show_nanos;

pub(super) const NOT_ON_DEVICE: Rule = rule(
    9,
    "not-on-device",
    "written bytes were still in memory when the clock stopped",
    not_on_device,
);

pub(super) const NOT_OURS: Rule =
    rule(26, "not-ours", "a write cell's target was not made by iotui, so it is refused", not_ours);

pub(super) const NOT_READ_BACK: Rule =
    rule(0, "not-read-back", "what was read back is not what was written", not_read_back);

pub(super) const LARGE_FOLIOS: Rule =
    rule(0, "large-folios", "small writes paid for the large folios of the file", large_folios);

fn not_read_back(evidence: &CellEvidence) -> Option<Warning> {
    let other = |t: &Trial| {
        t.xor.zip(t.evidence.read_back).is_some_and(|(written, read)| !read.is(written))
    };
    let bad = evidence.which(other);
    let first = bad.first()?;
    let (written, read) = first.xor.zip(first.evidence.read_back)?;
    NOT_READ_BACK.warn(
        Severity::Wrong,
        format!("what was read back is not what was written: the XOR is {}, not {written}", read.xor),
        format!("{} blocks differ in the first, {}", read.other_blocks, evidence.of_trials(bad.len())),
        "trust no data on this file system until you know why: look into the kernel log, and run again",
    )
}

/// At 16 KiB and more a large folio costs no more than it saves.
const SMALL: u64 = 16 << 10;
/// A small write to a small folio takes 1 to 2 us.
const WALKED: f64 = 3_000.0;

/// The file was filled in pieces of megabytes, so the page cache has it in its largest folios.
fn large_folios(evidence: &CellEvidence) -> Option<Warning> {
    let (job, target) = (evidence.job, evidence.target);
    let who = target.walks_folios.as_ref()?;
    let overwrites = evidence.writes() && job.writes == Writes::Overwrite && evidence.info.appends;
    if !overwrites || job.direct || job.sync == Sync::Each || job.block >= SMALL || !target.ours {
        return None;
    }
    let all_cached =
        |t: &Trial| t.resident_before.is_some_and(|bytes| !falls_short(bytes, job.span));
    let (ops, nanos) = (evidence.sum(|t| t.ops), evidence.sum(|t| t.system_nanos));
    let each = share(nanos, ops);
    if each < WALKED || !evidence.trials().all(all_cached) {
        return None;
    }
    LARGE_FOLIOS.warn(
        Severity::Note,
        format!(
            "a write of {} took {} of system time: {who} may look at all blocks of its large folio",
            size(job.block),
            show_nanos(each)
        ),
        format!(
            "over {}; the file was filled in pieces of up to 4 MiB and is in the page cache",
            evidence.count()
        ),
        "add --writes overwrite,append to see what the same writes cost to a file that they make",
    )
}

fn not_on_device(evidence: &CellEvidence) -> Option<Warning> {
    let target = evidence.target;
    if !evidence.writes() || evidence.job.direct || target.memory || evidence.trials.is_empty() {
        return None;
    }
    let remedy = match evidence.job.sync {
        Sync::None => "use --sync end or --sync each, or --direct, to time the way to the device",
        Sync::End | Sync::Each => {
            "use --count 0 for one pass; the file system or drive may also answer before it has written"
        }
    };
    let warn = |severity, message: String, facts: String| {
        NOT_ON_DEVICE.warn(severity, message, facts, remedy)
    };
    let written = |t: &Trial| evidence.split(t).map_or(0, |(_, written)| written);

    let left = evidence.sum(|t| t.evidence.unwritten_bytes.get().unwrap_or(0));
    let all = evidence.sum(written);
    if falls_short(all.saturating_sub(left), all) {
        let message = format!(
            "{} of {} written were still in memory at the end",
            size(left.min(all)),
            size(all)
        );
        return warn(
            Severity::Wrong,
            message,
            format!("dirty or under writeback; sync {}", evidence.job.sync),
        );
    }
    // A disk that stores less than it was given (compression) or is elsewhere proves nothing.
    let reached = evidence.sum(|t| t.evidence.disk_write_bytes.unwrap_or(0));
    let counted = evidence.trials().all(|t| t.evidence.disk_write_bytes.is_some());
    if counted && !target.remote && target.compresses.is_none() && falls_short(reached, all) {
        let facts =
            format!("written by the disk meanwhile, others included; sync {}", evidence.job.sync);
        return warn(
            Severity::Wrong,
            format!("only {} of {} written reached the device", size(reached), size(all)),
            facts,
        );
    }
    let unproved =
        !counted && evidence.trials().any(|t| t.evidence.unwritten_bytes.get().is_none());
    if unproved && evidence.job.sync == Sync::None && all > 0 {
        let message =
            "nothing waited for the device, and nothing shows that the bytes reached it".into();
        return warn(
            Severity::Misleading,
            message,
            format!("{} written with sync none; no counter to prove it", size(all)),
        );
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
