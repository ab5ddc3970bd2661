//! The disk saw other requests than the cell names.

use super::{Rule, rule};
use crate::plan::{Cache, Depth, Pattern};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{share, size};
use crate::record::verdict::source::parts;
use crate::record::{Severity, Trial, Warning};
use crate::units::{show_bytes, three_digits};

pub(super) const DEPTH_UNUSED: Rule =
    rule(11, "depth-unused", "fewer requests were under way than the depth asks for", depth_unused);

pub(super) const READ_AHEAD: Rule =
    rule(19, "read-ahead", "read-ahead decided what the device read", read_ahead);

pub(super) const POPULATED_MORE: Rule =
    rule(0, "populated-more", "+populate mapped more than was visited", populated_more);

/// What the disk had in its queue, averaged over all trials, weighted by their time.
struct Queue {
    requests: f64,
    /// The operations in them: the block layer merges neighbours, so that one request may carry
    /// several.
    operations: f64,
    /// Bytes of one request, where they are known.
    request: Option<u64>,
}

fn queue(evidence: &CellEvidence) -> Option<Queue> {
    let (mut requests, mut operations, mut time) = (0.0, 0.0, 0.0);
    for trial in evidence.trials() {
        if let Some(depth) = trial.evidence.disk_depth.filter(|d| d.is_finite() && *d >= 0.0) {
            let each = request_bytes(std::iter::once(trial))
                .map_or(1.0, |bytes| bytes as f64 / evidence.job.block.max(1) as f64);
            // Buffered, a large request is read-ahead or write-back, not operations that were under
            // way together.
            let each = if evidence.job.direct { each.max(1.0) } else { 1.0 };
            let nanos = trial.nanos as f64;
            (requests, operations, time) =
                (requests + depth * nanos, operations + depth * each * nanos, time + nanos);
        }
    }
    let request = request_bytes(evidence.trials());
    (time > 0.0).then(|| Queue {
        requests: requests / time,
        operations: operations / time,
        request,
    })
}

/// Mean size of the requests that the disk served during these trials.
fn request_bytes<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<u64> {
    let (mut bytes, mut requests) = (0u128, 0u128);
    for facts in trials.map(|t| &t.evidence) {
        if let (Some(read), Some(written), Some(some)) =
            (facts.disk_read_bytes, facts.disk_write_bytes, facts.disk_requests.get())
        {
            bytes += u128::from(read) + u128::from(written);
            requests += u128::from(some);
        }
    }
    bytes.checked_div(requests).and_then(|bytes| u64::try_from(bytes).ok())
}

fn depth_unused(evidence: &CellEvidence) -> Option<Warning> {
    let job = evidence.job;
    if !evidence.moves() || job.depth < 2 || evidence.is_warm() || evidence.target.memory {
        return None;
    }
    let warn = |message: String, facts: String, remedy: &str| {
        DEPTH_UNUSED.warn(Severity::Misleading, message, facts, remedy)
    };
    if evidence.info.depth == Depth::Synchronous {
        let message = format!(
            "depth {} was asked for, but {} does one operation at a time",
            job.depth, job.backend
        );
        return warn(
            message,
            "a synchronous call".into(),
            "use --backend uring, or more --threads",
        );
    }
    let asked = f64::from(job.depth) * f64::from(job.threads.max(1));
    let buffered = !job.direct;
    let remedy = if buffered {
        "add --direct: buffered requests wait for each other"
    } else {
        "use more --threads or a smaller --block-size"
    };
    match queue(evidence) {
        Some(seen) if seen.operations < asked / 2.0 => {
            let message = format!(
                "{asked:.0} operations were meant to be under way, the disk had {}",
                three_digits(seen.operations)
            );
            let kind = if buffered { "buffered" } else { "direct" };
            let size =
                seen.request.map_or(String::new(), |bytes| format!(" of {}", show_bytes(bytes)));
            let facts = format!(
                "{} requests{size} in the queue of the disk over {}; {kind}",
                three_digits(seen.requests),
                evidence.count()
            );
            warn(message, facts, remedy)
        }
        None if buffered && job.cache == Cache::Cold => {
            let message = format!(
                "buffered requests may wait for each other: depth {} is not certain",
                job.depth
            );
            warn(message, "the queue of the disk is not known".into(), remedy)
        }
        _ => None,
    }
}

/// Below these, more device bytes than asked for are metadata and page rounding.
const OVERSHOOT: f64 = 1.1;
const OVERSHOOT_BYTES: u128 = 64 << 10;
/// From here on most of what the device did was not asked for.
const WASTED: f64 = 2.0;

fn read_ahead(evidence: &CellEvidence) -> Option<Warning> {
    let job = evidence.job;
    if !evidence.cacheable() || job.cache == Cache::Warm {
        return None;
    }
    let parts = parts(evidence);
    let times = share(parts.fetched, parts.wanted);
    if times >= OVERSHOOT && parts.fetched >= parts.wanted + OVERSHOOT_BYTES {
        return READ_AHEAD.warn(
            if times >= WASTED { Severity::Misleading } else { Severity::Note },
            format!("the device read {} times the bytes that were asked for", three_digits(times)),
            format!("{} for {} of stored data", size(parts.fetched), size(parts.wanted)),
            "add --direct to read exactly the blocks, or use a larger --block-size",
        );
    }
    let ahead = evidence.target.read_ahead.filter(|ahead| *ahead > job.block)?;
    if job.cache != Cache::Cold || job.pattern != Pattern::Seq {
        return None;
    }
    READ_AHEAD.warn(
        Severity::Note,
        format!(
            "the disk was read ahead in pieces of up to {}, not in blocks of {}",
            show_bytes(ahead),
            show_bytes(job.block)
        ),
        "sequential buffered reads; read_ahead_kb of the disk".into(),
        "add --direct to give the disk requests of this block size",
    )
}

/// Where a count ends an order that jumps, what will be visited lies anywhere in a lane's part, and
/// all of it is mapped.
fn populated_more(evidence: &CellEvidence) -> Option<Warning> {
    let job = evidence.job;
    if !job.backend.has("populate") || matches!(job.pattern, Pattern::Seq | Pattern::Reverse) {
        return None;
    }
    let bad = evidence
        .which(|t| !t.short && t.evidence.unique_bytes > 0 && t.evidence.unique_bytes < job.span);
    let least = bad.iter().map(|t| t.evidence.unique_bytes).min()?;
    POPULATED_MORE.warn(
        Severity::Misleading,
        format!(
            "all {} were mapped in the timed work for {} that were visited",
            size(job.span),
            size(least)
        ),
        format!("+populate, pattern {}, {}", job.pattern, evidence.of_trials(bad.len())),
        "use --count 0 for whole passes, or leave out +populate",
    )
}
