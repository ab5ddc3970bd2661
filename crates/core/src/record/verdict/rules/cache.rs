//! Rules about a page cache that was not in the state that the cell claims.

use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{falls_short, share, size};
use crate::record::verdict::source::{Parts, Visibility, parts, visibility};
use crate::record::{CacheBelow, Finding, Layer, LayerKind, Preparation, Severity, Trial, finding};
use crate::units::{join_names, show_share, three_digits};

/// Share from the page cache above which it is not just scatter.
const MIN_CACHED_SHARE: f64 = 0.02;

pub(super) fn from_cache(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.cacheable() {
        return None;
    }
    let parts = parts(evidence);
    let cached = parts.share_of_stored(parts.page_cache);
    // Holes could not have been cached.
    let bytes = if parts.hole > 0 { "stored bytes" } else { "bytes" };
    let facts = format!(
        "{} from the device for {} of stored data",
        size(parts.fetched),
        size(parts.stored)
    );
    match evidence.job.cache {
        Cache::Cold if falls_short(parts.first - parts.first_cached, parts.first) => {
            let cached = show_share(share(parts.first_cached, parts.first));
            finding(
                Severity::Wrong,
                format!("{cached} of the {bytes} of a cold cell came from the page cache"),
                facts,
                "stop other readers of the file, or use {direct}; as root, {cold} all drops the \
                 whole cache",
            )
        }
        // As it was asked to: blocks come again.
        Cache::Cold if evidence.job.pattern.is_drawn() && cached > MIN_CACHED_SHARE => finding(
            Severity::Note,
            format!(
                "{} of the {bytes} came from the page cache, which filled up during the trial: a \
                 longer one gets more from it",
                show_share(cached)
            ),
            format!("{facts}; {} repeats blocks", evidence.job.pattern),
            "use {cache} asis for a cache that lasts, or {direct} for none",
        ),
        Cache::AsIs if cached > MIN_CACHED_SHARE => {
            let effect = if cached < 1.0 - MIN_CACHED_SHARE {
                "so the rate averages device and memory"
            } else {
                "so memory was measured, not the device"
            };
            finding(
                // The as-is state was requested; `previous-trial` reports trials that differ in it.
                Severity::Note,
                format!("{} of the {bytes} came from the page cache, {effect}", show_share(cached)),
                facts,
                "use {cache} cold to measure the device, {cache} warm to measure the page cache",
            )
        }
        _ => None,
    }
}

/// Returns the bytes that were cached after the drop, according to the preparation or to the trial.
fn left_cached(trial: &Trial) -> u64 {
    let left = match &trial.evidence.preparation {
        Some(Preparation::Cold { left, .. }) => *left,
        _ => 0,
    };
    left.max(trial.resident_before.unwrap_or(0))
}

fn was_prepared(trial: &Trial) -> bool {
    matches!(trial.evidence.preparation, Some(Preparation::Cold { .. }))
}

/// Processes that are named; more are counted.
const MAX_MAPPERS: usize = 3;

pub(super) fn not_cold(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.cacheable() || evidence.job.cache != Cache::Cold {
        return None;
    }
    let bad = evidence.trials_where(|t| was_prepared(t) && left_cached(t) > evidence.tolerance(t));
    let Some(most) = bad.iter().max_by_key(|t| left_cached(t)) else {
        return not_cold_below(evidence);
    };
    let mut facts = format!(
        "{} of {} {}",
        size(left_cached(most)),
        size(evidence.job.span),
        evidence.in_trials(bad.len())
    );
    if most.is_sampled() {
        facts += ", sampled";
    }
    let mapped_by = match &most.evidence.preparation {
        Some(Preparation::Cold { mapped_by, .. }) => mapped_by.as_slice(),
        _ => &[],
    };
    let (why, remedy) = if mapped_by.is_empty() {
        (
            "stayed cached after the cache drop",
            "measure with {direct}; as root, {cold} all drops the whole cache",
        )
    } else {
        let named = &mapped_by[..mapped_by.len().min(MAX_MAPPERS)];
        facts += &format!("; mapped by {}", join_names(named, mapped_by.len(), ", "));
        (
            "stayed cached because another process maps it",
            "stop the process that maps the file, or measure with {direct}",
        )
    };
    let message = format!(
        "{} of the file {why}",
        show_share(share(left_cached(most), evidence.job.span).min(1.0))
    );
    finding(Severity::Wrong, message, facts, remedy)
}

/// Checks the page caches below the target: one that kept its pages, or that could not be dropped.
fn not_cold_below(evidence: &CellEvidence) -> Option<Finding> {
    fn kept(t: &Trial) -> Option<(u64, &str)> {
        let caches = t.evidence.below.iter().flat_map(|below| &below.caches);
        let left = caches.filter_map(|cache| Some((cache.left.get()?, cache.name.as_str())));
        left.max()
    }
    let remedy = "use {cold} all as root, or losetup --direct-io=on for the loop device";
    let ground = evidence.target.ground.as_ref().filter(|_| !evidence.target.memory)?;
    let prepared = evidence.trials_where(was_prepared);
    let is_kept = |t: &&Trial| kept(t).is_some_and(|(left, _)| left > evidence.tolerance(t));
    let bad = prepared.iter().filter(|t| is_kept(t)).count();
    if let Some((left, name)) = prepared.iter().filter(|t| is_kept(t)).filter_map(|t| kept(t)).max()
    {
        return finding(
            Severity::Wrong,
            format!("{} of {name}, below the file, stayed cached after the cache drop", size(left)),
            evidence.in_trials(bad),
            remedy,
        );
    }
    let undropped = |t: &Trial| {
        let dropped = |layer: &Layer| {
            let mut caches = t.evidence.below.iter().flat_map(|below| &below.caches);
            let is_dropped = |cache: &CacheBelow| cache.direct || cache.left.get().is_some();
            caches.any(|cache| cache.name == layer.name && is_dropped(cache))
        };
        ground.layers_to_drop().find(|layer| !dropped(layer))
    };
    let bad: Vec<&Layer> = prepared.iter().filter_map(|t| undropped(t)).collect();
    let layer = bad.first()?;
    let file = if layer.kind == LayerKind::Loop { "the file of " } else { "" };
    finding(
        Severity::Wrong,
        format!("{file}{} may have been cached: its page cache could not be dropped", layer.name),
        evidence.in_trials(bad.len()),
        remedy,
    )
}

pub(super) fn previous_trial(evidence: &CellEvidence) -> Option<Finding> {
    match evidence.job.cache {
        _ if !evidence.cacheable() => None,
        Cache::Cold => unprepared(evidence),
        Cache::AsIs => uneven_residency(evidence),
        Cache::Warm => None,
    }
}

fn unprepared(evidence: &CellEvidence) -> Option<Finding> {
    let bad = evidence.trials_where(|t| !was_prepared(t) && left_cached(t) > evidence.tolerance(t));
    let most = bad.iter().map(|t| left_cached(t)).max()?;
    finding(
        Severity::Wrong,
        format!("a cold trial began with {} of the file cached by earlier work", size(most)),
        format!("no cache drop {}", evidence.in_trials(bad.len())),
        "run the cell again: every cold trial needs its own cache drop",
    )
}

/// Share of the span by which residency may differ between trials: reading a tenth from the device
/// instead of memory doubles a trial's time.
const MAX_SPREAD: f64 = 0.1;
/// Two samples of 256 pages differ by up to 13 % by chance (three standard errors).
const MAX_SAMPLED_SPREAD: f64 = 0.2;

fn uneven_residency(evidence: &CellEvidence) -> Option<Finding> {
    let least = evidence.trials().filter_map(|t| t.resident_before).min()?;
    let most = evidence.trials().filter_map(|t| t.resident_before).max()?;
    let is_sampled = evidence.trials().any(Trial::is_sampled);
    let limit = if is_sampled { MAX_SAMPLED_SPREAD } else { MAX_SPREAD };
    if share(most - least, evidence.job.span) <= limit {
        return None;
    }
    finding(
        Severity::Misleading,
        "the trials began with different parts of the file cached by earlier work",
        format!("between {} and {} of {}", size(least), size(most), size(evidence.job.span)),
        "use {cache} cold or {cache} warm, which prepare every trial the same way",
    )
}

pub(super) fn not_warm(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.cacheable() || evidence.job.cache != Cache::Warm {
        return None;
    }
    let parts = parts(evidence);
    let remedy = "use a smaller {size} or free memory; more {trials} show whether it persists";
    // Device bytes are proof, but up to 0.1 % may be metadata.
    let fetched = share(parts.fetched, parts.stored);
    if fetched > 0.001 {
        // The device is 10 to 30 times slower than memory, so 1 % of the bytes takes a tenth of the
        // time or more.
        let severity = if fetched > 0.01 { Severity::Wrong } else { Severity::Misleading };
        let facts = format!("{} for {} of stored data", size(parts.fetched), size(parts.stored));
        return finding(
            severity,
            format!("a warm cell read {} of its bytes from the device", show_share(fetched)),
            facts,
            remedy,
        );
    }
    let counts = visibility(evidence) == Visibility::Counted;
    let is_counted = |t: &Trial| counts && t.device_bytes.is_some();
    let bad = evidence.trials_where(|t| {
        let missing = t.resident_before.map(|r| evidence.job.span.saturating_sub(r));
        !is_counted(t) && missing.is_some_and(|m| m > evidence.tolerance(t))
    });
    let least = bad.iter().filter_map(|t| t.resident_before).min()?;
    let message = format!(
        "only {} of the file was cached before a warm trial",
        show_share(share(least, evidence.job.span))
    );
    finding(Severity::Misleading, message, evidence.in_trials(bad.len()), remedy)
}

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
    let asked_to = evidence.job.pattern.is_drawn();
    if !evidence.cacheable() || evidence.job.cache == Cache::Warm || asked_to {
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
