//! The same bytes were read more than once.

use super::{Rule, rule};
use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{share, size};
use crate::record::verdict::source::{Parts, parts};
use crate::record::{Severity, Trial, Warning};
use crate::units::{show_share, three_digits};

pub(super) const SHARED_OFFSETS: Rule = rule(
    5,
    "shared-offsets",
    "threads moved the same bytes, so one read the device and the others the cache",
    shared_offsets,
);

pub(super) const WRAPPED: Rule = rule(
    6,
    "wrapped",
    "a trial went round the file: first pass from the device, the rest from the cache",
    wrapped,
);

const REMEDY: &str = "measure with --threads 1, or a --size of at least one block per thread";

fn shared_offsets(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.moves() || evidence.job.threads < 2 {
        return None;
    }
    let overlap = evidence.trials().map(|t| t.evidence.overlap_bytes).max()?;
    if overlap > 0 {
        let facts = format!(
            "{} of {} {}",
            size(overlap),
            size(evidence.job.span),
            evidence.of_trials(evidence.which(|t| t.evidence.overlap_bytes > 0).len())
        );
        return SHARED_OFFSETS.warn(
            Severity::Wrong,
            format!("threads moved the same bytes: {} belong to more than one", size(overlap)),
            facts,
            REMEDY,
        );
    }
    let parts = parts(evidence);
    if !read_twice(evidence, &parts) {
        return None;
    }
    SHARED_OFFSETS.warn(
        Severity::Wrong,
        format!(
            "each byte from the device was returned {} times: threads read the same bytes",
            three_digits(share(parts.wanted, parts.fetched))
        ),
        format!(
            "{} from the device for {}, with nothing cached before and one pass",
            size(parts.fetched),
            size(parts.wanted)
        ),
        REMEDY,
    )
}

/// One pass over a file that was proved cold, and yet at least half of the bytes did not come from
/// the device: a second reader must have found what the first one fetched. A reader that is not
/// ours shows in the disk's counter.
fn read_twice(evidence: &CellEvidence, parts: &Parts) -> bool {
    let proved = |t: &Trial| {
        let cold = t.resident_before.is_some_and(|r| r <= evidence.slack(t));
        let others =
            t.evidence.disk_read_bytes.unwrap_or(0).saturating_sub(t.device_bytes.unwrap_or(0));
        cold && t.repeats() == 0 && t.device_bytes.is_some() && others < t.bytes / 4
    };
    evidence.cacheable()
        && evidence.job.cache == Cache::Cold
        && parts.page_cache > 0
        && parts.fetched > 0
        && parts.fetched.saturating_mul(2) <= parts.wanted + parts.wanted / 10
        && evidence.trials().all(proved)
}

fn wrapped(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.cacheable() || evidence.job.cache == Cache::Warm {
        return None;
    }
    let bad = evidence.which(|t| t.repeats() > 0);
    let most = bad.iter().map(|t| share(t.bytes, t.evidence.unique_bytes)).fold(0.0, f64::max);
    let parts = parts(evidence);
    let cached = parts.of_stored(parts.page_cache);
    let cold = evidence.job.cache == Cache::Cold;
    // As-is, a trial that found all of the file cached, or none of it throughout, averages nothing.
    if bad.is_empty() || !(cold || (0.02..0.98).contains(&cached)) {
        return None;
    }
    WRAPPED.warn(
        if cold { Severity::Wrong } else { Severity::Misleading },
        format!(
            "trials went {} times round the file: the first pass and re-reads are averaged",
            three_digits(most)
        ),
        format!(
            "{} of the bytes from the page cache; {}",
            show_share(cached),
            evidence.of_trials(bad.len())
        ),
        "use --count 0 for exactly one pass, or a larger --size",
    )
}
