//! The disk saw other requests than the cell names.

use super::{Rule, rule};
use crate::plan::{Cache, Depth, Pattern};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{share, size};
use crate::record::verdict::source::parts;
use crate::record::{Severity, Warning};
use crate::units::{show_bytes, three_digits};

pub(super) const DEPTH_UNUSED: Rule = rule(11, "depth-unused", "fewer requests were under way than the depth asks for", depth_unused);

pub(super) const READ_AHEAD: Rule = rule(19, "read-ahead", "read-ahead decided what the device read", read_ahead);

/// The queue of the disk over all trials, weighted by their time.
fn disk_depth(evidence: &CellEvidence) -> Option<f64> {
    let (mut queue, mut time) = (0.0, 0.0);
    for trial in evidence.trials {
        if let Some(depth) = trial.evidence.disk_depth.filter(|d| d.is_finite() && *d >= 0.0) {
            queue += depth * trial.nanos as f64;
            time += trial.nanos as f64;
        }
    }
    (time > 0.0).then(|| queue / time)
}

fn depth_unused(evidence: &CellEvidence) -> Option<Warning> {
    let job = evidence.job;
    if !evidence.moves() || job.depth < 2 || evidence.is_warm() || evidence.target.memory {
        return None;
    }
    let warn = |message: String, facts: String, remedy: &str| DEPTH_UNUSED.warn(Severity::Misleading, message, facts, remedy);
    if evidence.info.depth == Depth::Synchronous {
        let message = format!("depth {} was asked for, but {} does one operation at a time", job.depth, job.backend);
        return warn(message, "a synchronous call".into(), "use --backend uring, or more --threads");
    }
    let asked = f64::from(job.depth) * f64::from(job.threads.max(1));
    let buffered = !job.direct;
    let remedy =
        if buffered { "add --direct: buffered requests wait for each other" } else { "use more --threads or a smaller --block-size" };
    match disk_depth(evidence) {
        Some(seen) if seen < asked / 2.0 => {
            let message = format!("{asked:.0} operations were meant to be under way, the disk had {}", three_digits(seen));
            let kind = if buffered { "buffered" } else { "direct" };
            warn(message, format!("queue of the disk averaged over {}; {kind}", evidence.count()), remedy)
        }
        None if buffered && job.cache == Cache::Cold => {
            let message = format!("buffered requests may wait for each other: depth {} is not certain", job.depth);
            warn(message, "the queue of the disk is not known".into(), remedy)
        }
        _ => None,
    }
}

/// Below these, more device bytes than asked for are metadata and page rounding.
const OVERSHOOT: f64 = 1.1;
const OVERSHOOT_BYTES: u128 = 64 << 10;

fn read_ahead(evidence: &CellEvidence) -> Option<Warning> {
    let job = evidence.job;
    if !evidence.cacheable() || job.cache == Cache::Warm {
        return None;
    }
    let parts = parts(evidence);
    let times = share(parts.fetched, parts.wanted);
    if times >= OVERSHOOT && parts.fetched >= parts.wanted + OVERSHOOT_BYTES {
        return READ_AHEAD.warn(
            Severity::Misleading,
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
        format!("the disk was read ahead in pieces of up to {}, not in blocks of {}", show_bytes(ahead), show_bytes(job.block)),
        "sequential buffered reads; read_ahead_kb of the disk".into(),
        "add --direct to give the disk requests of this block size",
    )
}
