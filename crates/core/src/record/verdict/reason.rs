//! The explanation of how the source of the bytes was determined, and of its uncertainty.

use super::CellEvidence;
use super::below::describe_below;
use super::facts::{share, size};
use super::source::{Parts, Visibility, bytes_on_device, visibility};
use crate::record::{BelowCounts, Medium, OptU64, Trial};
use crate::text::clean_text;
use crate::units::{show_share, three_digits};

/// Cached share from which a file counts as fully cached.
const MIN_CACHED_SHARE: f64 = 0.99;
/// Share of the bytes that is negligible: bounds closer than this are the same number.
const NEGLIGIBLE_SHARE: f64 = 0.01;
/// Bytes returned for each byte read from which data was surely compressed.
const MIN_RATIO: f64 = 1.02;
/// Caches below whose figures are given.
const MAX_NAMED: usize = 3;

/// Explains in one line how the source was determined, with caveats.
pub(super) fn reason(evidence: &CellEvidence, parts: &Parts) -> String {
    let mut text = Vec::new();
    if evidence.reads() {
        text.push(read_reason(evidence, parts));
    }
    if evidence.writes() {
        text.push(write_reason(evidence));
    }
    if evidence.reads() && parts.stored > 0 {
        text.extend(caveats(evidence, parts));
    }
    clean_text(&text.join("; "))
}

fn read_reason(evidence: &CellEvidence, parts: &Parts) -> String {
    let fs = evidence.fs();
    match visibility(evidence) {
        Visibility::Memory => name_memory(evidence),
        Visibility::Remote => format!(
            "{fs}: {} moves the bytes, so device reads are not visible here{}{}",
            name_server(evidence),
            cache_part(evidence),
            below_part(evidence, parts)
        ),
        Visibility::Uncounted => {
            format!("reads of {fs} are not charged to this process{}", cache_part(evidence))
        }
        Visibility::Counted if evidence.trials().any(|t| evidence.split_bytes(t).is_none()) => {
            "reads and writes were not counted separately".into()
        }
        Visibility::Counted if evidence.trials().all(|t| t.device_bytes.is_none()) => {
            "this kernel does not report what a process reads from the device".into()
        }
        Visibility::Counted => format!(
            "this process read {} from the device for {} of stored data{}",
            size(parts.fetched),
            size(parts.stored),
            below_part(evidence, parts)
        ),
    }
}

/// Names the memory that a target is: `zram0 is compressed memory`, `tmpfs is memory`.
pub(super) fn name_memory(evidence: &CellEvidence) -> String {
    let reason = evidence.target.ground.as_ref().map(|ground| clean_text(&ground.reason));
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    reason.unwrap_or_else(|| format!("{} is memory", evidence.fs()))
}

/// Returns why it is unknown what keeps the bytes.
fn unknown_ground<'a>(evidence: &'a CellEvidence) -> Option<&'a str> {
    let ground = evidence.target.ground.as_ref()?;
    (ground.medium == Medium::Unknown && !ground.reason.is_empty()).then_some(&ground.reason)
}

fn name_server(evidence: &CellEvidence) -> &'static str {
    match evidence.target.ground.as_ref().map(|ground| ground.medium) {
        Some(Medium::Program) => "a program",
        _ => "a server",
    }
}

/// Describes the layers below: how much they had, or why that is unknown.
fn below_part(evidence: &CellEvidence, parts: &Parts) -> String {
    let Some(ground) = evidence.target.ground.as_ref() else { return String::new() };
    if parts.elsewhere > 0 {
        let came = match describe_below(evidence) {
            from if from.is_empty() => "came from no disk".into(),
            from => format!("came from {from}"),
        };
        return format!("; {} {came}: {}", size(parts.elsewhere), outside_facts(evidence));
    }
    match ground.medium {
        Medium::Unknown => unknown_ground(evidence)
            .map_or_else(String::new, |why| format!("; whether a disk had them is unknown: {why}")),
        Medium::Program | Medium::Server if ground.has_images() => format!("; {}", ground.reason),
        Medium::Disk if parts.device == 0 && parts.unknown > 0 && ground.has_images() => {
            let caches = ground.name_caches().unwrap_or("a page cache".into());
            format!("; how much of it {caches} below served is unknown")
        }
        _ => String::new(),
    }
}

/// States what the disks and the network moved in all trials.
pub(super) fn outside_facts(evidence: &CellEvidence) -> String {
    let below = || evidence.trials().map(|t| t.evidence.below.as_deref());
    let sum = |of: fn(&BelowCounts) -> OptU64| {
        let all = below().map(|below| below.and_then(|below| of(below).get()).map(u128::from));
        all.sum::<Option<u128>>()
    };
    let mut facts = Vec::new();
    facts.extend(sum(|of| of.read_bytes).map(|read| format!("the disks read {}", size(read))));
    facts.extend(
        sum(|of| of.received_bytes).map(|got| format!("{} came over the network", size(got))),
    );
    let caches = below().flatten().next().map(|below| below.caches.as_slice()).unwrap_or(&[]);
    for (at, cache) in caches.iter().enumerate().take(MAX_NAMED) {
        let held = below().filter_map(|of| of?.caches.get(at)?.resident_before.get()).max();
        if let Some(held) = held {
            facts.push(format!("{} held up to {} before a trial", cache.name, size(held)));
        }
    }
    if facts.is_empty() { "nothing below was counted".into() } else { facts.join(", ") }
}

/// Describes the page cache's part as residency shows it, for targets whose device reads are not
/// counted.
fn cache_part(evidence: &CellEvidence) -> String {
    if evidence.job.direct || !evidence.info.cached {
        return String::new();
    }
    let before = median_resident_share(evidence, |t| t.resident_before);
    let after = median_resident_share(evidence, |t| t.resident_after);
    let (Some(before), Some(after)) = (before, after) else {
        return "; whether the page cache took part is unknown".into();
    };
    let part = if before >= MIN_CACHED_SHARE {
        "the page cache could serve all of it"
    } else if before >= NEGLIGIBLE_SHARE {
        "the page cache could serve part of it"
    } else if after >= NEGLIGIBLE_SHARE {
        "the page cache was empty at first and then filled"
    } else {
        "the page cache took no part"
    };
    format!(
        "; {part}: it held {} before a trial and {} after",
        show_share(before),
        show_share(after)
    )
}

/// Returns the median share of the span that `resident` reports as cached.
fn median_resident_share(
    evidence: &CellEvidence,
    resident: fn(&Trial) -> Option<u64>,
) -> Option<f64> {
    let shares: Vec<f64> = evidence
        .trials()
        .filter_map(resident)
        .map(|bytes| share(bytes, evidence.job.span).min(1.0))
        .collect();
    crate::stats::median(&shares)
}

fn write_reason(evidence: &CellEvidence) -> String {
    let fs = evidence.fs();
    let reached = |t: &Trial| {
        evidence.split_bytes(t).and_then(|(_, written)| bytes_on_device(evidence, t, written))
    };
    if evidence.target.memory {
        name_memory(evidence)
    } else if evidence.target.remote {
        format!("{fs}: {} moves the bytes", name_server(evidence))
    } else if !evidence.waits_for_device() {
        "buffered writes are charged when dirtied, so their device bytes are unknown".into()
    } else if let Some(why) = unknown_ground(evidence) {
        format!("whether a disk has them is unknown: {why}")
    } else if !evidence.trials().all(|t| reached(t).is_some()) {
        format!("no counter shows which {} reached the disk", writes(evidence))
    } else {
        let disk = evidence.sum(|t| reached(t).unwrap_or(0));
        format!("{} of {} reached the disk", size(disk), writes(evidence))
    }
}

/// Names writes that wait for the device.
fn writes(evidence: &CellEvidence) -> &'static str {
    if evidence.job.commits() { "committed writes" } else { "direct writes" }
}

/// Returns `compressed 3.1:1 (squashfs)` where every byte had to be read from the device, each
/// once.
fn describe_compression(evidence: &CellEvidence, parts: &Parts, why: &str) -> String {
    let whole = |t: &Trial| t.resident_before == Some(0) && t.repeat_bytes() == 0;
    let is_whole = evidence.job.direct || evidence.trials().all(whole);
    match parts.stored as f64 / parts.fetched as f64 {
        ratio if is_whole && ratio.is_finite() && ratio >= MIN_RATIO => {
            format!("compressed {}:1 ({why})", three_digits(ratio))
        }
        _ => format!("the data may be stored compressed ({why})"),
    }
}

/// Lists what makes the shares of reads less exact than they look.
fn caveats(evidence: &CellEvidence, parts: &Parts) -> Vec<String> {
    let mut text = Vec::new();
    let any = |holds: &dyn Fn(&Trial) -> bool| evidence.trials().any(holds);
    let is_loose = any(&|t| t.repeat_bytes() > 0) || parts.fetched > parts.stored;
    let least = share(parts.device_at_least, parts.all());
    let most = share(parts.device, parts.all());
    if is_loose && most - least > NEGLIGIBLE_SHARE {
        text.push(format!(
            "with repeated or readahead bytes the device share is an upper bound, between {} and \
             {}",
            show_share(least),
            show_share(most)
        ));
    }
    if any(&|t| t.device_bytes.is_none()) {
        text.push("some trials have no device byte count".into());
    }
    if evidence.target.hole_bytes.is_none() && any(&|t| t.hole_bytes.is_none()) {
        text.push("holes could not be detected".into());
    } else if evidence.target.hole_bytes != Some(0) && any(&|t| t.hole_bytes.is_none()) {
        text.push("holes are assumed to be spread evenly".into());
    }
    if let Some(why) = &evidence.target.compresses {
        text.push(describe_compression(evidence, parts, why));
    }
    if any(&Trial::is_sampled) {
        text.push("residency was sampled, not counted".into());
    }
    text
}
