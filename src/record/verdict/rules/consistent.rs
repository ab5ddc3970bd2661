//! The figures of a trial must agree with each other.

use super::{Rule, rule};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::size;
use crate::record::{Evidence, Severity, Trial, Warning};
use crate::units::{show_nanos, show_share};

pub(super) const INCONSISTENT: Rule = rule(
    24,
    "inconsistent",
    "bytes returned, bytes per thread and bytes planned do not agree",
    inconsistent,
);

pub(super) const INCONSISTENT_TIME: Rule = rule(
    24,
    "inconsistent-time",
    "latencies do not add up to the time that passed",
    inconsistent_time,
);

pub(super) const PREPARATION_TIMED: Rule =
    rule(30, "preparation-timed", "preparation ran inside the timed window", preparation_timed);

const REMEDY: &str = "do not use this number; run the cell again, and report it if it stays";

/// What does not agree in one trial.
fn mismatch(evidence: &CellEvidence, trial: &Trial) -> Option<String> {
    let facts = &trial.evidence;
    // A trial of an import has figures and no evidence to compare them with.
    if !evidence.moves() || *facts == Evidence::default() {
        return None;
    }
    let most = u128::from(trial.ops) * u128::from(evidence.job.block);
    if facts.lane_bytes != trial.bytes {
        Some(format!("the threads moved {} bytes, the total is {}", facts.lane_bytes, trial.bytes))
    } else if !trial.short && facts.planned_bytes != trial.bytes {
        Some(format!("{} bytes were planned, {} were moved", facts.planned_bytes, trial.bytes))
    } else if u128::from(trial.bytes) > most {
        Some(format!("{} operations cannot move {}", trial.ops, size(trial.bytes)))
    } else {
        None
    }
}

fn inconsistent(evidence: &CellEvidence) -> Option<Warning> {
    let bad = evidence.which(|t| mismatch(evidence, t).is_some());
    let first = bad.first()?;
    let what = mismatch(evidence, first)?;
    INCONSISTENT.warn(
        Severity::Wrong,
        format!("the bytes do not add up: {what}"),
        evidence.of_trials(bad.len()),
        REMEDY,
    )
}

/// How far latencies and time may be apart.
const APART: f64 = 0.05;

/// To begin and to end costs a lane up to a microsecond, which no latency holds: 5 % of this.
const BRIEF: u64 = 20_000;

/// Little's law over all trials: the sum of the latencies, with the cost of the loop and of the
/// XOR, is the achieved depth x the time that the lanes ran. Chained time stamps put loop and XOR
/// into the latency, separate ones do not, so both are right. Where only some operations were
/// timed, the depth was not counted or lanes ran only briefly, only "too much" can be told.
fn inconsistent_time(evidence: &CellEvidence) -> Option<Warning> {
    let (mut latency, mut extra, mut room) = (0.0, 0.0, 0.0);
    let mut exact = true;
    for trial in evidence.trials {
        let facts = &trial.evidence;
        if facts.timed_ops == 0 || facts.lane_nanos == 0 {
            continue;
        }
        let counted = facts.achieved_depth.filter(|d| d.is_finite() && *d > 0.0).or((evidence
            .job
            .depth
            <= 1)
            .then_some(1.0));
        exact &= facts.timed_ops >= trial.ops
            && counted.is_some()
            && (!evidence.job.xor || facts.xor_nanos.get().is_some());
        exact &= facts.lane_nanos >= trial.each_part(BRIEF * u64::from(evidence.job.threads));
        latency += facts.timed_nanos as f64;
        extra += evidence.harness_nanos.max(0.0) * trial.ops as f64
            + facts.xor_nanos.get().unwrap_or(0) as f64;
        room += counted.unwrap_or(evidence.job.depth.into()) * facts.lane_nanos as f64;
    }
    let (too_much, too_little) =
        (latency > room * (1.0 + APART), exact && latency + extra < room * (1.0 - APART));
    if !too_much && !too_little {
        return None;
    }
    let off = if too_much { latency / room - 1.0 } else { 1.0 - (latency + extra) / room };
    let more = if too_much { "more" } else { "less" };
    INCONSISTENT_TIME.warn(
        Severity::Misleading,
        format!("the latencies add up to {} {more} than the time that passed", show_share(off)),
        format!(
            "{} of latency and {} of loop and XOR in {} of depth x time",
            show_nanos(latency),
            show_nanos(extra),
            show_nanos(room)
        ),
        "trust the throughput rather than the latencies; measure again on a quiet machine",
    )
}

fn preparation_timed(evidence: &CellEvidence) -> Option<Warning> {
    let early = |t: &Trial| t.evidence.prepared.saturating_sub(t.evidence.started);
    let bad = evidence.which(|t| early(t) > 0);
    let most = bad.iter().map(|t| early(t)).max()?;
    PREPARATION_TIMED.warn(
        Severity::Wrong,
        format!("the timed window began {} before preparation ended", show_nanos(most as f64)),
        evidence.of_trials(bad.len()),
        REMEDY,
    )
}
