//! Rules about bytes that were read more than once.

use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{share, size};
use crate::record::verdict::source::{Parts, parts};
use crate::record::{Finding, Severity, Trial, finding};
use crate::units::{show_share, three_digits};

const REMEDY: &str = "measure with {threads} 1, or a {size} of at least one block per thread";

pub(super) fn shared_offsets(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.moves() || evidence.job.threads < 2 {
        return None;
    }
    let overlap = evidence.trials().map(|t| t.evidence.overlap_bytes).max()?;
    if overlap > 0 {
        let facts = format!(
            "{} of {} {}",
            size(overlap),
            size(evidence.job.span),
            evidence.in_trials(evidence.trials_where(|t| t.evidence.overlap_bytes > 0).len())
        );
        return finding(
            Severity::Wrong,
            format!(
                "threads moved the same bytes: {} were assigned to more than one",
                size(overlap)
            ),
            facts,
            REMEDY,
        );
    }
    let parts = parts(evidence);
    if !read_twice(evidence, &parts) {
        return None;
    }
    finding(
        Severity::Wrong,
        format!(
            "each byte from the device was returned {} times: threads read the same bytes",
            three_digits(share(parts.stored, parts.fetched))
        ),
        format!(
            "{} from the device for {}, with nothing cached before and only one pass",
            size(parts.fetched),
            size(parts.stored)
        ),
        REMEDY,
    )
}

/// Returns true if, in one pass over a file that was cold, at least half of the bytes did not come
/// from the device: one thread must have read what another had fetched. The disk's counter shows
/// readers outside this process.
fn read_twice(evidence: &CellEvidence, parts: &Parts) -> bool {
    let is_proved = |t: &Trial| {
        let was_cold = t.resident_before.is_some_and(|r| r <= evidence.tolerance(t));
        let foreign =
            t.evidence.disk_read_bytes.unwrap_or(0).saturating_sub(t.device_bytes.unwrap_or(0));
        was_cold && t.repeat_bytes() == 0 && t.device_bytes.is_some() && foreign < t.bytes / 4
    };
    evidence.cacheable()
        && evidence.job.cache == Cache::Cold
        && parts.page_cache > 0
        && parts.fetched > 0
        && parts.fetched.saturating_mul(2) <= parts.stored + parts.stored / 10
        && evidence.trials().all(is_proved)
}

pub(super) fn wrapped(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.cacheable() || evidence.job.cache == Cache::Warm {
        return None;
    }
    let bad = evidence.trials_where(|t| t.repeat_bytes() > 0);
    let most = bad.iter().map(|t| share(t.bytes, t.evidence.unique_bytes)).fold(0.0, f64::max);
    let parts = parts(evidence);
    let cached = parts.share_of_stored(parts.page_cache);
    let is_cold = evidence.job.cache == Cache::Cold;
    // An as-is trial of a file that was always or never cached does not mix two rates.
    if bad.is_empty() || !(is_cold || (0.02..0.98).contains(&cached)) {
        return None;
    }
    finding(
        if is_cold { Severity::Wrong } else { Severity::Misleading },
        format!(
            "trials read the file {} times: the rate averages the first pass and rereads",
            three_digits(most)
        ),
        format!(
            "{} of the bytes from the page cache; {}",
            show_share(cached),
            evidence.in_trials(bad.len())
        ),
        "use {count} 0 for exactly one pass, or a larger {size}",
    )
}
