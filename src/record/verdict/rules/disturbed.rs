//! Others used the machine or the disk meanwhile.

use super::{Rule, rule};
use crate::plan::Sync;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{share, size};
use crate::record::{Severity, Trial, Warning};
use crate::units::show_share;

pub(super) const UNSTEADY_HOST: Rule =
    rule(20, "unsteady-host", "the CPU was taken away or may change its speed", unsteady_host);

pub(super) const DISTURBED: Rule =
    rule(21, "disturbed", "others used the disk during trials", disturbed);

pub(super) const NEARLY_FULL: Rule = rule(
    21,
    "nearly-full",
    "a file system with little free space scatters what is written",
    nearly_full,
);

/// Share of one CPU's time that the hypervisor, over all CPUs, or the scheduler may give to others.
const STEAL: f64 = 0.02;
/// What others take moves a figure by about that share: up to here, or up to its interval, the
/// figure stands.
const HARMLESS: f64 = 0.05;
/// The least time over which stolen time is told, nanoseconds: most kernels count it in ticks of 10
/// ms.
const TICKS: u128 = 20_000_000;
/// Share of a file system above which free space is scattered.
const FULL: f64 = 0.95;
/// What others may read and write beside us: this much, or this share of our own bytes.
const OTHERS: u64 = 1 << 20;
const OTHERS_SHARE: f64 = 0.02;
/// The journal of a file system writes on our behalf and is not charged to us.
const JOURNAL_SHARE: f64 = 0.1;

fn unsteady_host(evidence: &CellEvidence) -> Option<Warning> {
    let (stolen, over) =
        (evidence.sum(|t| t.evidence.steal_nanos.get().unwrap_or(0)), evidence.sum(|t| t.nanos));
    let stolen = if over >= TICKS { share(stolen, over) } else { 0.0 };
    let queued = queued(evidence);
    let mut found = Vec::new();
    let on_battery = evidence.machine.on_battery == Some(true) && !evidence.trials.is_empty();
    let severity = if on_battery || stolen.max(queued) > stands(evidence) {
        Severity::Misleading
    } else {
        Severity::Note
    };
    if stolen > STEAL {
        found.push(format!("the hypervisor gave {} of a CPU's time to others", show_share(stolen)));
    }
    if queued > STEAL {
        found.push(format!("other tasks had the CPU for {} of the time", show_share(queued)));
    }
    if on_battery {
        found.push("the machine runs on battery".into());
    }
    if evidence.machine.governor.as_deref() == Some("powersave") && !evidence.trials.is_empty() {
        found.push("the CPU governor is powersave".into());
    }
    if found.is_empty() {
        return None;
    }
    UNSTEADY_HOST.warn(
        severity,
        found.join(", "),
        format!("over {}", evidence.count()),
        if stolen > STEAL {
            "run where fewer machines share the CPUs, or with more --trials"
        } else if queued > STEAL {
            "stop what else runs and run again"
        } else {
            "use mains power and the governor performance, or compare only with results of the same state"
        },
    )
}

/// Share of the time in which threads were ready and other tasks had their CPU. More threads than
/// CPUs wait for each other.
fn queued(evidence: &CellEvidence) -> f64 {
    let cpus = evidence.machine.ceilings.map_or(1, |ceilings| ceilings.threads);
    if evidence.job.threads > cpus.max(1) {
        return 0.0;
    }
    let over = evidence.sum(|t| t.nanos.saturating_mul(evidence.job.threads.into()));
    if over >= TICKS {
        share(evidence.sum(|t| t.evidence.queued_nanos.get().unwrap_or(0)), over)
    } else {
        0.0
    }
}

/// By what share a figure may be moved and still stands: its interval, or [`HARMLESS`] where that
/// is narrower.
fn stands(evidence: &CellEvidence) -> f64 {
    evidence.spread.half_width.unwrap_or(0.0).max(HARMLESS)
}

/// Bytes that the disk moved for others during a trial, where it was more than may be.
fn others(evidence: &CellEvidence, trial: &Trial) -> Option<u64> {
    let facts = &trial.evidence;
    let (_, written) = evidence.split(trial)?;
    let own = trial.device_bytes.unwrap_or(0).saturating_add(written);
    let read = match (facts.disk_read_bytes, trial.device_bytes) {
        (Some(disk), Some(ours)) => disk.saturating_sub(ours),
        _ => 0,
    };
    // With O_DSYNC each operation may commit the journal: the disk writes a multiple, all of it
    // ours.
    let wrote = match (evidence.writes(), evidence.job.sync) {
        (true, Sync::Each) => 0,
        _ => facts.disk_write_bytes.unwrap_or(0).saturating_sub(written),
    };
    let share = if evidence.writes() { JOURNAL_SHARE } else { OTHERS_SHARE };
    let limit = OTHERS.max((own as f64 * share) as u64);
    Some(read.saturating_add(wrote)).filter(|others| *others > limit)
}

fn disturbed(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.moves() || evidence.target.memory || evidence.target.remote {
        return None;
    }
    let bad = evidence.which(|t| others(evidence, t).is_some());
    if bad.is_empty() {
        return None;
    }
    let sum: u128 = bad.iter().filter_map(|t| others(evidence, t)).map(u128::from).sum();
    // A warm cell does not use the disk, so others only take some CPU time from it.
    let own = evidence.sum(|t| {
        t.device_bytes
            .unwrap_or(0)
            .saturating_add(evidence.split(t).map_or(0, |(_, written)| written))
    });
    let small = share(sum, own) <= stands(evidence);
    let severity = if evidence.is_warm() || small { Severity::Note } else { Severity::Misleading };
    DISTURBED.warn(
        severity,
        format!("others moved {} on the same disk {}", size(sum), evidence.of_trials(bad.len())),
        "the disk's counters less what this process read and wrote".into(),
        "stop what else uses the disk and run again",
    )
}

fn nearly_full(evidence: &CellEvidence) -> Option<Warning> {
    let used = evidence.target.fs_used.filter(|used| *used > FULL)?;
    if !evidence.moves() || evidence.is_warm() {
        return None;
    }
    // Reading an old file is not slower for it; a new file gets the pieces that are left.
    let severity = if evidence.writes() || evidence.target.ours {
        Severity::Misleading
    } else {
        Severity::Note
    };
    NEARLY_FULL.warn(
        severity,
        format!("the file system is {} full, so new files lie in pieces", show_share(used)),
        format!("above {}", show_share(FULL)),
        "free some space, or use --dir on another disk",
    )
}
