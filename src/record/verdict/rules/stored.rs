//! The file stores less than it returns.

use super::{Rule, rule};
use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{falls_short, share, size};
use crate::record::verdict::source::parts;
use crate::record::{Severity, Warning};
use crate::units::{show_share, three_digits};

pub(super) const HOLES: Rule = rule(
    2,
    "holes",
    "part of the file is holes or unwritten extents: nothing is stored there",
    holes,
);

pub(super) const COMPRESSIBLE: Rule =
    rule(10, "compressible", "the data is stored smaller than it is read", compressible);

/// Holes below this share change no figure that has three digits.
const NO_MATTER: f64 = 0.01;
/// Bits per byte from which data is taken as random: 8 less the bias of the estimate on a few
/// kilobytes.
const RANDOM: f64 = 7.5;
/// Bits per byte below which a drive that compresses or drops repeats has next to nothing to store.
const REGULAR: f64 = 1.0;

fn holes(evidence: &CellEvidence) -> Option<Warning> {
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
    let gone = share(hole, all).min(1.0);
    let severity = match evidence.job.cache {
        _ if gone < NO_MATTER => Severity::Note,
        // Holes occupy pages of the cache like any data, so the speed of memory is still that.
        Cache::Warm => Severity::Misleading,
        _ => Severity::Wrong,
    };
    let method = &evidence.target.hole_method;
    let by = if method.is_empty() { String::new() } else { format!(", found by {method}") };
    let message = match gone {
        1.0 => "no stored data was read, only holes or unwritten extents".into(),
        _ => format!(
            "only {} of the bytes are stored data; the rest are holes or unwritten extents",
            show_share(1.0 - gone)
        ),
    };
    HOLES.warn(
        severity,
        message,
        format!("{} of {} in holes or unwritten extents{by}", size(hole), size(all)),
        "measure a file that was written in full, or without FILE the scratch file, which is random data",
    )
}

fn compressible(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.moves() || evidence.is_warm() || evidence.target.memory {
        return None;
    }
    let entropy = evidence.target.entropy.filter(|bits| bits.is_finite());
    let parts = parts(evidence);
    let mut facts = entropy.map_or("data not sampled".into(), |bits| {
        format!("{} of 8 bits per byte", three_digits(bits))
    });
    if parts.wanted > 0 {
        facts += &format!("; {} from the device for {}", size(parts.fetched), size(parts.wanted));
    }
    // Where the device gave as many bytes as were read, nothing was compressed.
    let whole = parts.wanted > 0
        && !falls_short(parts.fetched, parts.wanted)
        && evidence.trials().all(|t| t.repeats() == 0);
    let remedy = "measure a scratch file (no FILE): its data is random and cannot be compressed";
    match (&evidence.target.compresses, entropy) {
        (Some(_), _) if whole => None,
        (Some(_), Some(bits)) if bits >= RANDOM => None,
        (Some(why), entropy) => {
            // Without a sample it is only possible that the data shrank.
            let (severity, may) = if entropy.is_some() {
                (Severity::Wrong, "is stored")
            } else {
                (Severity::Misleading, "may be stored")
            };
            COMPRESSIBLE.warn(
                severity,
                format!("the data {may} smaller than it is read: {why}"),
                facts,
                remedy,
            )
        }
        (None, Some(bits)) if bits < REGULAR => COMPRESSIBLE.warn(
            Severity::Note,
            "the data is nearly constant; a drive that compresses stores next to nothing of it"
                .into(),
            facts,
            remedy,
        ),
        _ => None,
    }
}
