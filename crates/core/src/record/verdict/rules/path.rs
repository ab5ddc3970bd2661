//! Rules about bytes that took another path than the requested one.

use crate::plan::{Cache, Op};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::below::describe_below;
use crate::record::verdict::facts::{falls_short, size};
use crate::record::verdict::reason::{name_memory, outside_facts};
use crate::record::verdict::source::{Parts, parts};
use crate::record::{
    Finding, FirstVisits, Layer, LayerKind, Medium, Note, Severity, Trial, finding,
};
use crate::units::show_share;

const REMEDY: &str =
    "use a file system that supports direct I/O (iotui host shows it), or omit {direct}";

/// Returns the bytes of the file that entered the page cache during a trial.
fn cache_growth(trial: &Trial) -> u64 {
    match (trial.resident_before, trial.resident_after) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => 0,
    }
}

pub(super) fn not_direct(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.job.direct || !evidence.moves() {
        return None;
    }
    let wrong = |message: String, facts: String| finding(Severity::Wrong, message, facts, REMEDY);
    let parts = parts(evidence);
    if parts.page_cache > 0 && falls_short(parts.fetched.min(parts.stored), parts.stored) {
        let facts = format!(
            "{} from the device for {} of stored data",
            size(parts.fetched),
            size(parts.stored)
        );
        let message = format!(
            "direct I/O was not direct: {} of the bytes came from memory",
            show_share(parts.share_of_stored(parts.page_cache))
        );
        return wrong(message, facts);
    }
    let grown = evidence.trials_where(|t| cache_growth(t) > evidence.tolerance(t));
    if let Some(most) = grown.iter().map(|t| cache_growth(t)).max() {
        let facts = format!(
            "{} of {} {}",
            size(most),
            size(evidence.job.span),
            evidence.in_trials(grown.len())
        );
        return wrong(
            "direct I/O was not direct: the file entered the page cache during the trial".into(),
            facts,
        );
    }
    let dirty =
        evidence.trials_where(|t| t.evidence.unwritten_bytes.get().unwrap_or(0) > t.bytes / 50);
    let most_dirty = dirty.iter().filter_map(|t| t.evidence.unwritten_bytes.get()).max();
    if let Some(most) = most_dirty
        && evidence.writes()
    {
        let facts = format!("{} not yet written {}", size(most), evidence.in_trials(dirty.len()));
        return wrong(
            "direct I/O was not direct: written data stayed in the page cache".into(),
            facts,
        );
    }
    // Measurements outweigh what the file system reports.
    // A file system on a device in memory passes direct I/O on; tmpfs has none.
    let is_tmpfs = evidence.target.memory && evidence.target.ground.is_none();
    let is_unsupported = evidence.target.direct == Some(false) || is_tmpfs;
    if is_unsupported && !proved_direct(evidence, &parts) {
        return wrong(
            format!("{} does not support direct I/O, so memory was used", evidence.fs()),
            "reported by the file system".into(),
        );
    }
    None
}

/// Returns true if device bytes and a page cache that did not grow prove that reads were direct,
/// whatever the file system reports.
fn proved_direct(evidence: &CellEvidence, parts: &Parts) -> bool {
    fn has_figures(t: &Trial) -> bool {
        t.resident_before.is_some() && t.resident_after.is_some() && t.device_bytes.is_some()
    }
    !evidence.target.memory
        && !evidence.writes()
        && parts.stored > 0
        && parts.page_cache == 0
        && evidence.trials().all(has_figures)
}

pub(super) fn memory(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.target.memory || !evidence.moves() {
        return None;
    }
    // A warm cell claims to measure memory anyway; the others claim to measure a device.
    let severity = if evidence.is_warm() { Severity::Misleading } else { Severity::Wrong };
    let cold = if evidence.job.cache == Cache::Cold { " and cannot be cold" } else { "" };
    finding(
        severity,
        format!("{}{cold}: no device was measured", name_memory(evidence)),
        format!("a file of {} on {}", size(evidence.job.span), evidence.fs()),
        "choose a FILE on a disk, or put the scratch file on one with --dir DIR",
    )
}

/// Share of the bytes from below that is not just scatter.
const MIN_BELOW_SHARE: f64 = 0.02;

pub(super) fn below_cache(evidence: &CellEvidence) -> Option<Finding> {
    // `memory` reports a target that is nothing else.
    if !evidence.reads() || evidence.target.memory || evidence.is_warm() {
        return None;
    }
    let parts = parts(evidence);
    let below = parts.share_of_stored(parts.elsewhere);
    if below <= MIN_BELOW_SHARE {
        return None;
    }
    let (cell, severity) = match evidence.job.cache {
        _ if evidence.job.direct => ("a direct", Severity::Wrong),
        Cache::Cold => ("a cold", Severity::Wrong),
        _ => ("this", Severity::Note),
    };
    let ground = evidence.target.ground.as_ref();
    let served = ground.is_some_and(|ground| ground.layers.first().is_some_and(is_served));
    let remedy = match (served, evidence.job.direct) {
        (true, _) => {
            "measure where the program or server keeps the file, or use a {size} larger than its cache"
        }
        (_, true) => {
            "use losetup --direct-io=on for the loop device, or {cache} cold {cold} all instead of {direct}"
        }
        _ => "use {cold} all as root, or losetup --direct-io=on for the loop device",
    };
    let of = format!("{} of the bytes of {cell} cell", show_share(below.min(1.0)));
    finding(
        severity,
        match describe_below(evidence) {
            from if from.is_empty() => format!("{of} came from no disk"),
            from => format!("{of} came from {from}: no disk read them"),
        },
        outside_facts(evidence),
        remedy,
    )
}

/// Returns whether a program or another machine has what is in this layer.
fn is_served(layer: &Layer) -> bool {
    matches!(layer.kind, LayerKind::Program | LayerKind::Server)
}

pub(super) fn other_path(evidence: &CellEvidence) -> Option<Finding> {
    fn plain(t: &Trial) -> Option<String> {
        t.evidence.notes.iter().find_map(|note| match note {
            Note::UringPlain(why) => Some(why.clone()),
            _ => None,
        })
    }
    let why = evidence.trials().find_map(plain)?;
    let count = evidence.trials_where(|t| plain(t).is_some()).len();
    finding(
        Severity::Note,
        "io_uring refused registered buffers or files, so ordinary ones were measured",
        format!("{why}; {}", evidence.in_trials(count)),
        "raise the limit on locked memory (ulimit -l) to measure with registered buffers",
    )
}

/// Trials read the same blocks again and again, so a cache below this machine serves all of them
/// but the first. Where each block is read once, it serves none.
pub(super) fn first_visit(evidence: &CellEvidence) -> Option<Finding> {
    let job = evidence.job;
    let reads_the_device = job.op == Op::Read && (job.direct || job.cache == Cache::Cold);
    let is_repeated = |trial: &Trial| trial.evidence.visited.is_none();
    if !reads_the_device || evidence.target.memory || !evidence.trials().any(is_repeated) {
        return None;
    }
    let visits = evidence.target.first_visits.filter(FirstVisits::show_a_cache)?;
    let FirstVisits { pairs, slower, faster, .. } = visits;
    finding(
        Severity::Misleading,
        format!(
            "{} caches: a block's first read took {:.1}x as long as its next",
            name_what_is_below(evidence),
            visits.ratio()?
        ),
        format!(
            "of {pairs} blocks, {slower} took at least {}x as long at first, {faster} the other \
             way; chance alone does this in 1 of 10,000 runs",
            FirstVisits::FACTOR
        ),
        "use {fresh}, which reads only blocks that nothing has read since this machine started",
    )
}

fn name_what_is_below(evidence: &CellEvidence) -> &'static str {
    match evidence.target.ground.as_ref().map(|ground| ground.medium) {
        Some(Medium::Program) => "the program below the file, or something below it,",
        _ => "something below this machine",
    }
}
