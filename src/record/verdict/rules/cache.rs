//! The page cache was not in the state that the cell names.

use super::{Rule, rule};
use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{falls_short, share, size};
use crate::record::verdict::source::parts;
use crate::record::{Prepared, Severity, Trial, Warning};
use crate::units::show_share;

pub(super) const FROM_CACHE: Rule =
    rule(1, "from-cache", "bytes came from the page cache where the device was meant", from_cache);

pub(super) const NOT_COLD: Rule =
    rule(7, "not-cold", "the file was still cached after preparation for a cold trial", not_cold);

pub(super) const PREVIOUS_TRIAL: Rule = rule(
    8,
    "previous-trial",
    "what ran before decided how much of the file was cached",
    previous_trial,
);

pub(super) const NOT_WARM: Rule =
    rule(0, "not-warm", "a warm trial read from the device", not_warm);

/// A share of the page cache that no longer is scatter.
const SOME: f64 = 0.02;

fn from_cache(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.cacheable() {
        return None;
    }
    let parts = parts(evidence);
    let cached = parts.of_stored(parts.page_cache);
    let facts = format!(
        "{} from the device for {} of stored data",
        size(parts.fetched),
        size(parts.wanted)
    );
    match evidence.job.cache {
        Cache::Cold if falls_short(parts.first - parts.first_cached, parts.first) => FROM_CACHE.warn(
            Severity::Wrong,
            format!("{} of the bytes of a cold cell came from the page cache", show_share(share(parts.first_cached, parts.first))),
            facts,
            "close what else reads the file, or measure with --direct; as root, --cold all drops the whole cache",
        ),
        Cache::AsIs if cached > SOME => {
            let mixed = cached < 1.0 - SOME;
            let what = if mixed { "so device and memory are averaged" } else { "so memory was measured, not the device" };
            FROM_CACHE.warn(
                // As it is, is what was asked for; trials that found it differently are told by
                // `previous-trial`.
                Severity::Note,
                format!("{} of the bytes came from the page cache, {what}", show_share(cached)),
                facts,
                "use --cache cold for the device, --cache warm for the page cache",
            )
        }
        _ => None,
    }
}

/// Bytes that preparation left cached, as it says or as the trial found them.
fn left_cached(trial: &Trial) -> u64 {
    let left = match &trial.evidence.preparation {
        Some(Prepared::Cold { left, .. }) => *left,
        _ => 0,
    };
    left.max(trial.resident_before.unwrap_or(0))
}

fn was_prepared(trial: &Trial) -> bool {
    matches!(trial.evidence.preparation, Some(Prepared::Cold { .. }))
}

fn not_cold(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.cacheable() || evidence.job.cache != Cache::Cold {
        return None;
    }
    let bad = evidence.which(|t| was_prepared(t) && left_cached(t) > evidence.slack(t));
    let most = bad.iter().max_by_key(|t| left_cached(t))?;
    let mut facts = format!(
        "{} of {} {}",
        size(left_cached(most)),
        size(evidence.job.span),
        evidence.of_trials(bad.len())
    );
    if most.is_sampled() {
        facts += ", sampled";
    }
    let mapped_by = match &most.evidence.preparation {
        Some(Prepared::Cold { mapped_by, .. }) => mapped_by.as_slice(),
        _ => &[],
    };
    let (why, remedy) = if mapped_by.is_empty() {
        (
            "stayed cached after the drop",
            "measure with --direct; as root, --cold all drops the whole cache",
        )
    } else {
        facts += &format!("; mapped by {}", some_names(mapped_by));
        (
            "stayed cached: another process maps it",
            "end the process that maps the file, or measure with --direct",
        )
    };
    let message = format!(
        "{} of the file {why}",
        show_share(share(left_cached(most), evidence.job.span).min(1.0))
    );
    NOT_COLD.warn(Severity::Wrong, message, facts, remedy)
}

fn some_names(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}

fn previous_trial(evidence: &CellEvidence) -> Option<Warning> {
    match evidence.job.cache {
        _ if !evidence.cacheable() => None,
        Cache::Cold => unprepared(evidence),
        Cache::AsIs => unlike(evidence),
        Cache::Warm => None,
    }
}

fn unprepared(evidence: &CellEvidence) -> Option<Warning> {
    let bad = evidence.which(|t| !was_prepared(t) && left_cached(t) > evidence.slack(t));
    let most = bad.iter().map(|t| left_cached(t)).max()?;
    PREVIOUS_TRIAL.warn(
        Severity::Wrong,
        format!("a cold trial began with {} of the file cached by what ran before", size(most)),
        format!("not prepared {}", evidence.of_trials(bad.len())),
        "run the cell again: each cold trial must be prepared by itself",
    )
}

/// Residency may differ by so much of the span: a tenth read from the device instead of memory
/// doubles a trial's time.
const UNLIKE: f64 = 0.1;
/// Two samples of 256 pages differ by up to 13 % by chance (three standard errors).
const UNLIKE_SAMPLED: f64 = 0.2;

fn unlike(evidence: &CellEvidence) -> Option<Warning> {
    let found = || evidence.trials().filter_map(|t| t.resident_before);
    let (least, most) = (found().min()?, found().max()?);
    let sampled = evidence.trials().any(Trial::is_sampled);
    if share(most - least, evidence.job.span) <= if sampled { UNLIKE_SAMPLED } else { UNLIKE } {
        return None;
    }
    PREVIOUS_TRIAL.warn(
        Severity::Misleading,
        "the trials found different parts of the file cached by what ran before".into(),
        format!("between {} and {} of {}", size(least), size(most), size(evidence.job.span)),
        "use --cache cold or --cache warm, which prepare every trial alike",
    )
}

fn not_warm(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.cacheable() || evidence.job.cache != Cache::Warm {
        return None;
    }
    let parts = parts(evidence);
    let remedy =
        "use a smaller --size or end what takes memory; more --trials show whether it lasts";
    // Device bytes are the proof: up to 0.1 % is none.
    let fetched = share(parts.fetched, parts.wanted);
    if fetched > 0.001 {
        // The device is 10 to 30 times slower than memory, so 1 % of the bytes is a tenth of the
        // time and more.
        let severity = if fetched > 0.01 { Severity::Wrong } else { Severity::Misleading };
        let facts = format!("{} for {} of stored data", size(parts.fetched), size(parts.wanted));
        return NOT_WARM.warn(
            severity,
            format!("a warm cell read {} of its bytes from the device", show_share(fetched)),
            facts,
            remedy,
        );
    }
    let cold = |t: &Trial| {
        let missing = t.resident_before.map(|r| evidence.job.span.saturating_sub(r));
        t.device_bytes.is_none() && missing.is_some_and(|m| m > evidence.slack(t))
    };
    let bad = evidence.which(cold);
    let least = bad.iter().filter_map(|t| t.resident_before).min()?;
    let message = format!(
        "only {} of the file was cached before a warm trial",
        show_share(share(least, evidence.job.span))
    );
    NOT_WARM.warn(Severity::Misleading, message, evidence.of_trials(bad.len()), remedy)
}
