//! Rules about files that store less than they return.

use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{falls_short, share, size};
use crate::record::verdict::source::parts;
use crate::record::{Finding, Severity, finding};
use crate::units::{show_share, three_digits};

/// Share of holes below which three-digit figures do not change.
const NEGLIGIBLE_SHARE: f64 = 0.01;
/// Bits per byte from which data counts as random: 8 minus the bias of the estimate on a few
/// kilobytes.
const MIN_RANDOM_ENTROPY: f64 = 7.5;
/// Bits per byte below which a compressing or deduplicating drive stores next to nothing.
const MAX_CONSTANT_ENTROPY: f64 = 1.0;

pub(super) fn holes(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.reads() {
        return None;
    }
    let parts = parts(evidence);
    let (hole, all) = if evidence.trials.is_empty() {
        (evidence.target.hole_bytes?.into(), evidence.job.span.into())
    } else {
        (parts.hole, parts.all())
    };
    if hole == 0 || all == 0 {
        return None;
    }
    let hole_share = share(hole, all).min(1.0);
    let severity = match evidence.job.cache {
        _ if hole_share < NEGLIGIBLE_SHARE => Severity::Note,
        // Cached holes occupy pages like any data, so the rate is still that of memory.
        Cache::Warm => Severity::Misleading,
        _ => Severity::Wrong,
    };
    let method = match evidence.target.hole_method.as_str() {
        "" => String::new(),
        method => format!(", found by {method}"),
    };
    let message = if hole_share == 1.0 {
        "no stored data was read, only holes or unwritten extents".into()
    } else {
        format!(
            "only {} of the bytes are stored data; the rest are holes or unwritten extents",
            show_share(1.0 - hole_share)
        )
    };
    finding(
        severity,
        message,
        format!("{} of {} in holes or unwritten extents{method}", size(hole), size(all)),
        "measure a fully written file, or omit FILE to measure a scratch file of random data",
    )
}

pub(super) fn compressible(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.moves() || evidence.is_warm() || evidence.target.memory {
        return None;
    }
    let entropy = evidence.target.entropy.filter(|bits| bits.is_finite());
    // Data that iotui wrote is known, not sampled.
    if evidence.target.ours && entropy.is_none() {
        return check_own_data(evidence);
    }
    let parts = parts(evidence);
    let mut facts = entropy.map_or("data not sampled".into(), |bits| {
        format!("{} of 8 bits per byte", three_digits(bits))
    });
    if parts.stored > 0 {
        facts += &format!("; {} from the device for {}", size(parts.fetched), size(parts.stored));
    }
    // If the device read as many bytes as were returned, nothing was compressed.
    let is_uncompressed = parts.stored > 0
        && !falls_short(parts.fetched, parts.stored)
        && evidence.trials().all(|t| t.repeat_bytes() == 0);
    let remedy = "measure a scratch file (no FILE): its data is random and cannot be compressed";
    match (&evidence.target.compresses, entropy) {
        (Some(_), _) if is_uncompressed => None,
        (Some(_), Some(bits)) if bits >= MIN_RANDOM_ENTROPY => None,
        (Some(why), Some(_)) => {
            finding(Severity::Wrong, format!("the data is stored compressed: {why}"), facts, remedy)
        }
        // Without a sample, compression is only possible, not proved.
        (Some(why), None) => finding(
            Severity::Misleading,
            format!("the data may be stored compressed: {why}"),
            facts,
            remedy,
        ),
        (None, Some(bits)) if bits < MAX_CONSTANT_ENTROPY => finding(
            Severity::Note,
            "the data is nearly constant; a compressing drive stores next to nothing of it",
            facts,
            remedy,
        ),
        _ => None,
    }
}

/// Checks a file of iotui's on a file system that compresses.
fn check_own_data(evidence: &CellEvidence) -> Option<Finding> {
    let target = evidence.target;
    let why = target.compresses.as_ref()?;
    let percent = |asked: Option<u8>| asked.unwrap_or(0);
    match (percent(target.compressible), percent(target.dedupe)) {
        (0, 0) if !evidence.writes() || target.dedupe.or(target.compressible).is_some() => None,
        (0, 0) => finding(
            Severity::Misleading,
            format!("the same block is written again and again, which compresses: {why}"),
            "neither --compressible nor --dedupe was given",
            "use {compressible} 0: then each written block differs",
        ),
        (compressible, dedupe) => finding(
            Severity::Note,
            format!("fewer bytes are stored than written, as was asked: {why}"),
            format!("the data compresses by {compressible} %, {dedupe} % of it repeats"),
            "use {compressible} 0 {dedupe} 0 for the speed with random data",
        ),
    }
}
