//! Rules about writes that did not reach the device, or must not happen.

use super::rule::{Rule, rule};
use crate::plan::{Sync, Writes};
use crate::record::verdict::durability::durability;
use crate::record::verdict::facts::{falls_short, share, size};
use crate::record::verdict::{CellEvidence, Reach};
use crate::record::{BadBlocks, Severity, Trial, Warning};
use crate::units::{counted, show_nanos};

pub(super) const NOT_ON_DEVICE: Rule = rule(
    9,
    "not-on-device",
    "written bytes were still in memory when the timing ended",
    check_not_on_device,
);

pub(super) const NOT_DURABLE: Rule = rule(
    0,
    "not-durable",
    "commits returned before their data was on stable storage",
    check_not_durable,
);

pub(super) const NOT_OURS: Rule = rule(
    26,
    "not-ours",
    "a write cell is refused because iotui did not create its target",
    check_not_ours,
);

pub(super) const NOT_READ_BACK: Rule = rule(
    0,
    "not-read-back",
    "the data read back differs from the data written",
    check_not_read_back,
);

pub(super) const LARGE_FOLIOS: Rule = rule(
    0,
    "large-folios",
    "large folios of the file slowed down small writes",
    check_large_folios,
);

fn check_not_read_back(evidence: &CellEvidence) -> Option<Warning> {
    check_verified(evidence).or_else(|| check_xor(evidence))
}

/// Checks the blocks that were compared (`--verify`).
fn check_verified(evidence: &CellEvidence) -> Option<Warning> {
    let is_bad = |t: &&Trial| t.evidence.verified.as_ref().is_some_and(|v| v.bad.total() > 0);
    let bad: Vec<&Trial> = evidence.trials().filter(is_bad).collect();
    let verified = bad.first()?.evidence.verified.as_ref()?;
    let first = verified.first.first()?;
    let mut all = BadBlocks::default();
    bad.iter().filter_map(|t| t.evidence.verified.as_ref()).for_each(|v| all.add(&v.bad));
    NOT_READ_BACK.warn(
        Severity::Wrong,
        format!(
            "the data read back differs from the data written in {}: {}",
            counted(usize::try_from(all.total()).unwrap_or(usize::MAX), "block"),
            all.describe()
        ),
        format!(
            "the first is at {} and holds {}; {}; {}",
            first.place(),
            first.describe(),
            evidence.in_trials(bad.len()),
            verified.read_from().describe()
        ),
        REMEDY,
    )
}

/// Checks the XOR of what was appended.
fn check_xor(evidence: &CellEvidence) -> Option<Warning> {
    let bad = evidence.trials_where(|t| {
        t.xor.zip(t.evidence.read_back).is_some_and(|(written, read)| !read.matches(written))
    });
    let first = bad.first()?;
    let (written, read) = first.xor.zip(first.evidence.read_back)?;
    NOT_READ_BACK.warn(
        Severity::Wrong,
        format!(
            "the data read back differs from the data written: the XOR is {}, not {written}",
            read.xor
        ),
        format!(
            "{} blocks differ in the first such trial; {}",
            read.other_blocks,
            evidence.in_trials(bad.len())
        ),
        REMEDY,
    )
}

const REMEDY: &str =
    "do not trust this file system until the cause is known; check the kernel log and run again";

/// Block size from which a large folio saves as much as it costs.
const MIN_LARGE_WRITE: u64 = 16 << 10;
/// System time of a small write from which it is suspicious, nanoseconds; with small folios it
/// takes 1 to 2 us.
const MIN_SLOW_WRITE: f64 = 3_000.0;

/// Detects slow small writes to a file that was filled in large pieces, so that the page cache
/// holds it in large folios.
fn check_large_folios(evidence: &CellEvidence) -> Option<Warning> {
    let job = evidence.job;
    let kernel = evidence.target.walks_folios.as_ref()?;
    let overwrites = evidence.writes() && job.writes == Writes::Overwrite && evidence.info.appends;
    let is_small = !job.direct && !job.commits() && job.block < MIN_LARGE_WRITE;
    if !overwrites || !is_small || !evidence.target.ours {
        return None;
    }
    let is_cached =
        |t: &Trial| t.resident_before.is_some_and(|bytes| !falls_short(bytes, job.span));
    let write_nanos = share(evidence.sum(|t| t.system_nanos), evidence.sum(|t| t.ops));
    if write_nanos < MIN_SLOW_WRITE || !evidence.trials().all(is_cached) {
        return None;
    }
    LARGE_FOLIOS.warn(
        Severity::Note,
        format!(
            "a write of {} took {} of system time: {kernel} may scan all blocks of its large folio",
            size(job.block),
            show_nanos(write_nanos)
        ),
        format!(
            "over {}; the file was filled in pieces of up to 4 MiB and is cached",
            evidence.trial_count()
        ),
        "add --writes overwrite,append to compare with the same writes to a new file",
    )
}

fn check_not_on_device(evidence: &CellEvidence) -> Option<Warning> {
    let target = evidence.target;
    if !evidence.writes() || evidence.job.direct || target.memory || evidence.trials.is_empty() {
        return None;
    }
    let remedy = match evidence.job.sync {
        Sync::None => {
            "use --sync end, --sync fdatasync or --direct to include the device in the timing"
        }
        _ => {
            "use --count 0 for one pass; the file system or drive may also report completion too \
             early"
        }
    };
    let warn = |severity, message: String, facts: String| {
        NOT_ON_DEVICE.warn(severity, message, facts, remedy)
    };
    let written = |t: &Trial| evidence.split_bytes(t).map_or(0, |(_, written)| written);

    let left = evidence.sum(|t| t.evidence.unwritten_bytes.get().unwrap_or(0));
    let all = evidence.sum(written);
    if falls_short(all.saturating_sub(left), all) {
        let message = format!(
            "{} of {} written bytes were still in memory at the end",
            size(left.min(all)),
            size(all)
        );
        return warn(
            Severity::Wrong,
            message,
            format!("dirty or under writeback, with --sync {}", evidence.job.sync),
        );
    }
    // The counter of a disk proves nothing if the data is compressed or stored on another machine.
    let reached = evidence.sum(|t| t.evidence.disk_write_bytes.unwrap_or(0));
    let counted = evidence.trials().all(|t| t.evidence.disk_write_bytes.is_some());
    if counted && !target.remote && target.compresses.is_none() && falls_short(reached, all) {
        let facts = format!("all writes of the disk meanwhile, with --sync {}", evidence.job.sync);
        return warn(
            Severity::Wrong,
            format!("only {} of {} written bytes reached the device", size(reached), size(all)),
            facts,
        );
    }
    let is_unproved =
        !counted && evidence.trials().any(|t| t.evidence.unwritten_bytes.get().is_none());
    if is_unproved && evidence.job.sync == Sync::None && all > 0 {
        return warn(
            Severity::Misleading,
            "the trials did not wait for the device, and nothing proves that the bytes reached it"
                .into(),
            format!("{} written with --sync none; no counter is available", size(all)),
        );
    }
    None
}

fn check_not_durable(evidence: &CellEvidence) -> Option<Warning> {
    // That the target is memory is another rule's finding.
    let found = durability(evidence).filter(|_| !evidence.target.memory)?;
    if found.reach != Reach::NotReached {
        return None;
    }
    NOT_DURABLE.warn(
        Severity::Misleading,
        found.reach.title().into(),
        found.reason,
        "do not rely on these commits; put the file on a device whose cache is emptied by a sync",
    )
}

/// Checks that a written file is ours. Never fires for a measured cell: the engine refuses such a
/// cell before it opens the file.
fn check_not_ours(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.writes() || evidence.target.ours {
        return None;
    }
    NOT_OURS.warn(
        Severity::Wrong,
        "refused: this cell would write to a file that iotui did not create".into(),
        format!("a write cell of {} on {}", size(evidence.job.span), evidence.fs()),
        "name a FILE that does not exist, or omit FILE to use a scratch file",
    )
}
