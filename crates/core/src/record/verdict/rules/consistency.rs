//! Rules about figures of a trial that contradict each other.

use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::size;
use crate::record::{Evidence, Finding, Severity, Trial, finding};
use crate::units::{show_nanos, show_share};

const REMEDY: &str =
    "do not use this number; run the cell again, and report a bug if it happens again";

/// Describes the first contradiction in one trial.
fn mismatch(evidence: &CellEvidence, trial: &Trial) -> Option<String> {
    let facts = &trial.evidence;
    // An imported trial has figures but no evidence to compare them with.
    if !evidence.moves() || *facts == Evidence::default() {
        return None;
    }
    let most = u128::from(trial.ops) * u128::from(evidence.job.block);
    if facts.lane_bytes != trial.bytes {
        Some(format!(
            "the threads moved {} bytes, but the total is {}",
            facts.lane_bytes, trial.bytes
        ))
    } else if !trial.short && facts.planned_bytes != trial.bytes {
        Some(format!("{} bytes were planned, but {} were moved", facts.planned_bytes, trial.bytes))
    } else if let Some(sum) = sum_of_ranks(trial).filter(|sum| *sum != trial.bytes) {
        Some(format!("the ranks moved {sum} bytes, but the total is {}", trial.bytes))
    } else if u128::from(trial.bytes) > most {
        Some(format!("{} operations cannot move {}", trial.ops, size(trial.bytes)))
    } else {
        None
    }
}

/// Returns the bytes that all ranks moved, where there are several.
fn sum_of_ranks(trial: &Trial) -> Option<u64> {
    let bytes = trial.ranks.iter().map(|rank| rank.bytes);
    (!trial.ranks.is_empty()).then(|| bytes.sum())
}

pub(super) fn inconsistent(evidence: &CellEvidence) -> Option<Finding> {
    let bad = evidence.trials_where(|t| mismatch(evidence, t).is_some());
    let first = bad.first()?;
    let what = mismatch(evidence, first)?;
    finding(
        Severity::Wrong,
        format!("the bytes do not add up: {what}"),
        evidence.in_trials(bad.len()),
        REMEDY,
    )
}

/// Share by which the sum of latencies may differ from depth x time.
const MAX_MISMATCH: f64 = 0.05;

/// Running time of a lane from which its start and end, up to a microsecond that no latency covers,
/// are at most 5 %.
const MIN_LANE_NANOS: u64 = 20_000;

/// Checks Little's law over all trials: the sum of the latencies plus the cost of loop and XOR
/// equals the operations in flight times the running time of the lanes. Chained time stamps include
/// loop and XOR in the latency and separate ones do not, so both sums are accepted. If only some
/// operations were timed, lanes ran only briefly or a lane had several in flight (of which the
/// requested depth is only the bound), only an excess can be detected.
pub(super) fn inconsistent_time(evidence: &CellEvidence) -> Option<Finding> {
    // A lane that waits for a start has nothing in flight.
    if evidence.job.is_paced() {
        return None;
    }
    let mut latency = 0.0;
    let mut overhead = 0.0;
    let mut depth_time = 0.0;
    let mut is_exact = true;
    for trial in evidence.trials {
        let facts = &trial.evidence;
        if facts.timed_ops == 0 || facts.lane_nanos == 0 {
            continue;
        }
        let depth = evidence.job.depth.max(1);
        // Blocks are drawn before an operation is timed.
        is_exact &= !evidence.job.pattern.is_drawn()
            && facts.timed_ops >= trial.ops
            && depth == 1
            && (!evidence.job.xor || facts.xor_nanos.get().is_some());
        let threads = u64::from(evidence.job.threads);
        is_exact &= facts.lane_nanos >= trial.over_parts(MIN_LANE_NANOS * threads);
        latency += facts.timed_nanos as f64;
        overhead += evidence.harness_nanos.max(0.0) * trial.ops as f64
            + facts.xor_nanos.get().unwrap_or(0) as f64;
        let nanos = facts.lane_nanos.saturating_sub(facts.turn_nanos);
        depth_time += f64::from(depth) * nanos as f64;
    }
    let excess = if latency > depth_time * (1.0 + MAX_MISMATCH) {
        format!("{} more", show_share(latency / depth_time - 1.0))
    } else if is_exact && latency + overhead < depth_time * (1.0 - MAX_MISMATCH) {
        format!("{} less", show_share(1.0 - (latency + overhead) / depth_time))
    } else {
        return None;
    };
    finding(
        Severity::Misleading,
        format!("the latencies add up to {excess} than the elapsed time"),
        format!(
            "{} of latency plus {} of loop and XOR in {} of depth x time",
            show_nanos(latency),
            show_nanos(overhead),
            show_nanos(depth_time)
        ),
        "trust the throughput rather than the latencies; measure again on an idle machine",
    )
}

pub(super) fn preparation_timed(evidence: &CellEvidence) -> Option<Finding> {
    fn early(t: &Trial) -> u64 {
        t.evidence.prepared.saturating_sub(t.evidence.started)
    }
    let bad = evidence.trials_where(|t| early(t) > 0);
    let most = bad.iter().map(|t| early(t)).max()?;
    finding(
        Severity::Wrong,
        format!("the timed window began {} before the preparation ended", show_nanos(most as f64)),
        evidence.in_trials(bad.len()),
        REMEDY,
    )
}
