//! Rules about other users of the machine or the disk during trials.

use crate::plan::Plan;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{share, size};
use crate::record::{Finding, MAX_LOST_SHARE, OtherProcess, Others, Severity, Trial, finding};
use crate::units::show_share;

/// Share by which others may change a figure before it becomes misleading.
const HARMLESS_SHARE: f64 = 0.05;
/// The same of a figure whose interval is not known.
const ROUGH_SHARE: f64 = 1.0 / 3.0;
/// Shortest time for which steal time is reported, nanoseconds: most kernels count it in ticks of
/// 10 ms.
const MIN_STEAL_WINDOW: u128 = 20_000_000;
/// Used share of a file system above which free space is fragmented.
const MAX_USED_SHARE: f64 = 0.95;

pub(super) fn unsteady_host(evidence: &CellEvidence) -> Option<Finding> {
    let window = evidence.sum(|t| t.nanos);
    let stolen = evidence.sum(|t| t.evidence.steal_nanos.get().unwrap_or(0));
    let stolen = if window >= MIN_STEAL_WINDOW { share(stolen, window) } else { 0.0 };
    let queued = queued_share(evidence);
    let mut findings = Vec::new();
    let on_battery = evidence.machine.on_battery == Some(true) && !evidence.trials.is_empty();
    let severity = if on_battery || stolen.max(queued) > harmless_share(evidence) {
        Severity::Misleading
    } else {
        Severity::Note
    };
    if stolen > MAX_LOST_SHARE {
        findings.push(format!("steal time was {}", show_share(stolen)));
    }
    if queued > MAX_LOST_SHARE {
        findings.push(if meets_cpu_quota(evidence) {
            format!("the CPU quota kept the threads waiting for {} of the time", show_share(queued))
        } else {
            format!("other tasks held the CPU for {} of the time", show_share(queued))
        });
    }
    if on_battery {
        findings.push("the machine runs on battery".into());
    }
    if evidence.machine.governor.as_deref() == Some("powersave") && !evidence.trials.is_empty() {
        findings.push("the CPU governor is powersave".into());
    }
    if findings.is_empty() {
        return None;
    }
    finding(
        severity,
        findings.join(", "),
        format!("over {}", evidence.trial_count()),
        if stolen > MAX_LOST_SHARE {
            "run on a less crowded host, or use more {trials}"
        } else if queued > MAX_LOST_SHARE {
            "stop other programs and run again"
        } else {
            "use mains power and the performance governor, or compare only results of the same \
             state"
        },
    )
}

/// Share of a CPU quota from which it was used up.
const MIN_QUOTA_SHARE: f64 = 0.85;

/// Returns whether the threads used all the CPU time that their control group allows.
fn meets_cpu_quota(evidence: &CellEvidence) -> bool {
    let used = share(
        evidence.sum(|t| t.user_nanos.saturating_add(t.system_nanos)),
        evidence.sum(|t| t.nanos),
    );
    evidence.machine.cpu_quota.is_some_and(|quota| used >= quota * MIN_QUOTA_SHARE)
}

/// Returns the share of the time that threads waited for a CPU that another task held; 0 if there
/// are more threads than CPUs, which wait for each other.
fn queued_share(evidence: &CellEvidence) -> f64 {
    let cpus = evidence.machine.ceilings.map_or(1, |ceilings| ceilings.threads);
    if evidence.job.threads > cpus.max(1) {
        return 0.0;
    }
    let window = evidence.sum(|t| t.nanos.saturating_mul(evidence.job.threads.into()));
    if window >= MIN_STEAL_WINDOW {
        share(evidence.sum(|t| t.evidence.queued_nanos.get().unwrap_or(0)), window)
    } else {
        0.0
    }
}

/// Returns the share by which a figure may change and remain valid: the half-width of its interval,
/// at least [`HARMLESS_SHARE`]. A figure of too few trials for an interval is a rough one.
fn harmless_share(evidence: &CellEvidence) -> f64 {
    let few = evidence.rated_trials().len() < Plan::ROUNDS as usize;
    let unknown = if few { ROUGH_SHARE } else { 0.0 };
    evidence.spread.half_width.unwrap_or(unknown).max(HARMLESS_SHARE)
}

/// Returns the bytes that the disk moved for other processes during a trial, if above the limit.
fn foreign_bytes(evidence: &CellEvidence, trial: &Trial) -> Option<u64> {
    let facts = &trial.evidence;
    let (_, written) = evidence.split_bytes(trial)?;
    let own_bytes = trial.device_bytes.unwrap_or(0).saturating_add(written);
    let foreign_reads = match (facts.disk_read_bytes, trial.device_bytes) {
        (Some(disk), Some(own)) => disk.saturating_sub(own),
        _ => 0,
    };
    // Each one may commit the journal, so the disk writes several times the bytes of this process.
    let foreign_writes = if evidence.job.commits() {
        0
    } else {
        facts.disk_write_bytes.unwrap_or(0).saturating_sub(written)
    };
    let foreign = match (&facts.neighbour, &facts.others) {
        // The work of a neighbour is intended, and its share of the disk not exactly known.
        (Some(_), Some(others)) => others.processes.iter().map(OtherProcess::bytes).sum(),
        (Some(_), None) => 0,
        (None, _) => foreign_reads.saturating_add(foreign_writes),
    };
    let limit = Others::limit(own_bytes, evidence.writes());
    Some(foreign).filter(|bytes| *bytes > limit)
}

pub(super) fn disturbed(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.moves() || evidence.target.memory || evidence.target.remote {
        return None;
    }
    let bad = evidence.trials_where(|t| foreign_bytes(evidence, t).is_some());
    if bad.is_empty() {
        return None;
    }
    let sum: u128 = bad.iter().filter_map(|t| foreign_bytes(evidence, t)).map(u128::from).sum();
    let own_bytes = evidence.sum(|t| {
        t.device_bytes
            .unwrap_or(0)
            .saturating_add(evidence.split_bytes(t).map_or(0, |(_, written)| written))
    });
    // A warm cell does not use the disk, so other processes only cost it some CPU time.
    let is_harmless = evidence.is_warm() || share(sum, own_bytes) <= harmless_share(evidence);
    let severity = if is_harmless { Severity::Note } else { Severity::Misleading };
    finding(
        severity,
        format!(
            "other processes moved {} on the same disk{}{}",
            size(sum),
            // The count means nothing for a single trial.
            if evidence.trials.len() > 1 {
                format!(" {}", evidence.in_trials(bad.len()))
            } else {
                String::new()
            },
            describe_others(&bad, sum)
        ),
        "the disk's counters minus this process's reads and writes; others by what the kernel \
         charges them with, on any disk",
        "stop other users of the disk and run again",
    )
}

/// Returns who moved `bytes` on the disk during these trials: `: rsync (4711) 540 MiB`; empty if
/// that was not looked for.
fn describe_others(trials: &[&Trial], bytes: u128) -> String {
    let mut seen = trials.iter().filter_map(|trial| trial.evidence.others.as_deref()).peekable();
    if seen.peek().is_none() {
        return String::new();
    }
    let mut all = Others::default();
    seen.for_each(|others| all.join(others));
    match all.describe(u64::try_from(bytes).unwrap_or(u64::MAX)) {
        text if text.is_empty() => text,
        text => format!(": {text}"),
    }
}

pub(super) fn nearly_full(evidence: &CellEvidence) -> Option<Finding> {
    let used = evidence.target.fs_used.filter(|used| *used > MAX_USED_SHARE)?;
    // An old file is not slower to read; a new file is placed in the remaining fragments.
    let is_new = evidence.writes() || evidence.target.ours;
    if !evidence.moves() || evidence.is_warm() || !is_new {
        return None;
    }
    finding(
        Severity::Misleading,
        format!("the file system is {} full, so new files are fragmented", show_share(used)),
        format!("above {}", show_share(MAX_USED_SHARE)),
        "free some space, or put --dir on another disk",
    )
}
