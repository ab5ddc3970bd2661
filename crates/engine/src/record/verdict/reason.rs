//! The explanation of how the source of the bytes was determined, and of its uncertainty.

use super::CellEvidence;
use super::facts::{share, single_line, size};
use super::source::{Parts, Visibility, bytes_on_device, visibility};
use crate::record::Trial;
use crate::units::show_share;

/// Cached share from which a file counts as fully cached.
const MIN_CACHED_SHARE: f64 = 0.99;
/// Share of the bytes that is negligible: bounds closer than this are the same number.
const NEGLIGIBLE_SHARE: f64 = 0.01;

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
    single_line(&text.join("; "))
}

fn read_reason(evidence: &CellEvidence, parts: &Parts) -> String {
    let fs = evidence.fs();
    match visibility(evidence) {
        Visibility::Memory => format!("{fs} is memory"),
        Visibility::Remote => format!(
            "{fs}: a server moves the bytes, so device reads are not visible here{}",
            cache_part(evidence)
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
            "this process read {} from the device for {} of stored data",
            size(parts.fetched),
            size(parts.stored)
        ),
    }
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
        format!("{fs} is memory")
    } else if evidence.target.remote {
        format!("{fs}: a server moves the bytes")
    } else if !evidence.waits_for_device() {
        "buffered writes are charged when dirtied, so their device bytes are unknown".into()
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
        text.push(format!("the data may be stored compressed ({why})"));
    }
    if any(&Trial::is_sampled) {
        text.push("residency was sampled, not counted".into());
    }
    text
}
