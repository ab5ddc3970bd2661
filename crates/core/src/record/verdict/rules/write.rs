//! Rules about writes that did not reach the device, or must not happen.

use crate::plan::{Sync, Writes};
use crate::record::verdict::durability::durability;
use crate::record::verdict::facts::{falls_short, share, size};
use crate::record::verdict::source::left_below;
use crate::record::verdict::{CellEvidence, Reach};
use crate::record::{BadBlocks, Finding, Severity, Trial, finding};
use crate::units::{counted, show_nanos};

pub(super) fn not_read_back(evidence: &CellEvidence) -> Option<Finding> {
    check_verified(evidence).or_else(|| check_xor(evidence))
}

/// Checks the blocks that were compared (`--verify`).
fn check_verified(evidence: &CellEvidence) -> Option<Finding> {
    let bad = evidence.trials_where(Trial::has_bad_blocks);
    let verified = bad.first()?.evidence.verified.as_ref()?;
    let first = verified.first.first()?;
    let mut all = BadBlocks::default();
    bad.iter().filter_map(|t| t.evidence.verified.as_ref()).for_each(|v| all.add(&v.bad));
    finding(
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
            verified.describe_reading()
        ),
        REMEDY,
    )
}

/// Checks the XOR of what was appended.
fn check_xor(evidence: &CellEvidence) -> Option<Finding> {
    let bad = evidence.trials_where(Trial::has_other_xor);
    let first = bad.first()?;
    let (written, read) = first.xor.zip(first.evidence.read_back)?;
    let how = match read.xor == written {
        true => "blocks differ".into(),
        false => format!("the XOR is {}, not {written}", read.xor),
    };
    finding(
        Severity::Wrong,
        format!("the data read back differs from the data written: {how}"),
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
pub(super) fn large_folios(evidence: &CellEvidence) -> Option<Finding> {
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
    finding(
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
        "add {writes} overwrite,append to compare with the same writes to a new file",
    )
}

const UNSYNCED: &str =
    "use {sync} end, {sync} fdatasync or {direct} to include the device in the timing";
const EARLY: &str =
    "use {count} 0 for one pass; the file system or drive may also report completion too early";

pub(super) fn not_on_device(evidence: &CellEvidence) -> Option<Finding> {
    let target = evidence.target;
    if !evidence.writes() || target.memory || evidence.trials.is_empty() {
        return None;
    }
    if evidence.job.direct {
        return check_left_below(evidence);
    }
    // Without a sync that is what was asked for, and what the figure is called.
    let to_page_cache = evidence.job.sync == Sync::None;
    let remedy = if to_page_cache { UNSYNCED } else { EARLY };
    let warn = |severity, message: String, facts: String| finding(severity, message, facts, remedy);
    let written = |t: &Trial| evidence.split_bytes(t).map_or(0, |(_, written)| written);

    let left = evidence.sum(|t| t.evidence.unwritten_bytes.get().unwrap_or(0));
    let all = evidence.sum(written);
    if falls_short(all.saturating_sub(left), all) {
        let left = format!(
            "{} of {} written bytes were still in memory at the end",
            size(left.min(all)),
            size(all)
        );
        let (severity, message) = match to_page_cache {
            true => (Severity::Note, format!("these are writes to the page cache: {left}")),
            false => (Severity::Wrong, left),
        };
        return warn(
            severity,
            message,
            format!("dirty or under writeback, with --sync {}", evidence.job.sync),
        );
    }
    if let Some(warning) = check_left_below(evidence) {
        return Some(warning);
    }
    // The counter of a disk proves nothing if the data is compressed or stored on another machine.
    let reached = evidence.sum(|t| t.evidence.disk_write_bytes.unwrap_or(0));
    let counted = evidence.trials().all(|t| t.evidence.disk_write_bytes.is_some());
    if counted && !target.remote && target.compresses.is_none() && falls_short(reached, all) {
        let facts = format!("all writes to it in the trials, with --sync {}", evidence.job.sync);
        let severity = if to_page_cache { Severity::Note } else { Severity::Wrong };
        let message =
            format!("only {} of {} written bytes reached the device", size(reached), size(all));
        return warn(severity, message, facts);
    }
    let is_unproved =
        !counted && evidence.trials().any(|t| t.evidence.unwritten_bytes.get().is_none());
    if is_unproved && to_page_cache && all > 0 {
        return warn(
            Severity::Note,
            "the trials did not wait for the device, and nothing proves that the bytes reached it"
                .into(),
            format!("{} written with --sync none; no counter is available", size(all)),
        );
    }
    None
}

/// Dirty bytes of a backing file that a file system on it may leave after a sync: its journal.
const MAX_OWN_WRITES: u64 = 1 << 20;

/// Detects written bytes that ended in a page cache below the device that took them.
fn check_left_below(evidence: &CellEvidence) -> Option<Finding> {
    let written = |t: &Trial| evidence.split_bytes(t).map_or(0, |(_, written)| written);
    let all = evidence.sum(written);
    let sync = format!("with --sync {}", evidence.job.sync);
    let remedy = "use {sync} end, or losetup --direct-io=on for the loop device";
    // After a sync, what file systems wrote for themselves is left at most.
    let own = if evidence.job.sync == Sync::None { 0 } else { MAX_OWN_WRITES };
    let of = |t: &Trial| left_below(t).map_or(0, |(left, _)| left.saturating_sub(own));
    let left = evidence.sum(of).min(all);
    let name = evidence.trials().filter_map(left_below).max().map_or("", |(_, name)| name);
    if falls_short(all - left, all) {
        let message = format!(
            "{} of {} written bytes were still in the page cache of {name} at the end",
            size(left),
            size(all)
        );
        let facts = format!("dirty or under writeback below the file, {sync}");
        return finding(Severity::Wrong, message, facts, remedy);
    }
    // Data that is overwritten above a disk reaches it once, so only what the first device took
    // counts.
    let taken = |t: &Trial| Some(u128::from(t.evidence.disk_write_bytes?.min(written(t))));
    let taken: u128 = evidence.trials().map(taken).sum::<Option<u128>>()?;
    let reached = |t: &Trial| evidence.written_to_disks(t).map(u128::from);
    let reached: u128 = evidence.trials().map(reached).sum::<Option<u128>>()?;
    if !falls_short(reached, taken) {
        return None;
    }
    finding(
        Severity::Wrong,
        format!("only {} of {} written bytes reached the disks", size(reached), size(taken)),
        format!("all writes to the disks below in the trials, {sync}"),
        remedy,
    )
}

pub(super) fn not_durable(evidence: &CellEvidence) -> Option<Finding> {
    // That the target is memory is another rule's finding.
    let found = durability(evidence).filter(|_| !evidence.target.memory)?;
    if found.reach != Reach::NotReached {
        return None;
    }
    finding(
        Severity::Wrong,
        found.reach.title(),
        found.reason,
        "do not rely on these commits; put the file on a device whose cache is emptied by a sync",
    )
}

/// Checks that a written file is ours. Never fires for a measured cell: the engine refuses such a
/// cell before it opens the file.
pub(super) fn not_ours(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.writes() || evidence.target.ours {
        return None;
    }
    finding(
        Severity::Wrong,
        "refused: this cell would write to a file that iotui did not create",
        format!("a write cell of {} on {}", size(evidence.job.span), evidence.fs()),
        "name a FILE that does not exist, or omit FILE to use a scratch file",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::verdict::testing::{Case, MIB, SPAN, committed, direct_write, write};
    use crate::record::{BelowCounts, CacheBelow, Ground, Layer, LayerKind, Medium};

    /// Puts a loop device below the file whose image had `left` bytes to write at the end of each
    /// trial, above disks that wrote `written`.
    fn on_image(mut case: Case, left: u64, written: Option<u64>) -> Case {
        let layer = |name: &str, kind, cached| Layer {
            name: name.into(),
            kind,
            cached,
            ..Layer::default()
        };
        let layers = vec![
            layer("loop0", LayerKind::Loop, false),
            layer("~/img", LayerKind::Image, true),
            layer("sda", LayerKind::Disk, false),
        ];
        case.target.ground = Some(Ground { medium: Medium::Disk, layers, ..Ground::default() });
        case.each(|trial| {
            let cache = CacheBelow {
                name: "~/img".into(),
                unwritten_bytes: left.into(),
                ..CacheBelow::default()
            };
            let counts = BelowCounts {
                write_bytes: written.into(),
                caches: vec![cache],
                ..BelowCounts::default()
            };
            trial.evidence.below = Some(Box::new(counts));
        });
        case
    }

    fn found(case: &Case) -> Option<String> {
        let warnings = case.warnings();
        let warning = warnings.iter().find(|warning| warning.id == "not-on-device")?;
        assert_eq!(warning.severity, Severity::Wrong);
        Some(warning.message.clone())
    }

    #[test]
    fn writes_left_in_image_caches_warn() {
        let case = on_image(direct_write(), SPAN / 2, Some(SPAN));
        let said = found(&case).unwrap();
        assert_eq!(
            said,
            "640 MiB of 1.25 GiB written bytes were still in the page cache of ~/img at the end"
        );
        let source = crate::record::judge(&case.evidence()).source.unwrap();
        assert!((source.device - 0.5).abs() < 0.01, "{source:?}");
        for case in [
            on_image(direct_write(), 0, Some(SPAN)),
            on_image(direct_write(), 4096, None),
            // The journal of the file system in the image.
            on_image(write(), MIB, Some(SPAN)),
            on_image(committed(), MIB, Some(SPAN)),
        ] {
            assert_eq!(found(&case), None, "{:?}", case.job);
        }
        assert!(found(&on_image(write(), SPAN / 2, None)).is_some());
    }

    #[test]
    fn writes_lost_below_the_device_warn() {
        let lost = || on_image(direct_write(), 0, Some(SPAN / 4));
        assert_eq!(
            found(&lost()).unwrap(),
            "only 320 MiB of 1.25 GiB written bytes reached the disks"
        );
        // Compressed below, or by the target itself: fewer bytes prove nothing.
        let mut below = lost();
        let ground = below.target.ground.as_mut().unwrap();
        ground.layers[1].transform = "compresses".into();
        let mut above = lost();
        above.target.compresses = Some("btrfs compress=zstd".into());
        // Where a program or server writes is unknown.
        let mut elsewhere = lost();
        elsewhere.target.ground.as_mut().unwrap().medium = Medium::Unknown;
        for case in [below, above, elsewhere] {
            assert_eq!(found(&case), None, "{:?}", case.target.ground);
        }
    }
}
