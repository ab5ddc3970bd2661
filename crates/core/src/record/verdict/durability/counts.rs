//! The counters of the disks while commits were made.

use crate::plan::{Job, Pattern};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::evidence::{CommitDevice, CommitPath};
use crate::record::verdict::facts::share;
use crate::record::{CommitTimes, DeviceCounts, Trial};

/// Maximum that each trial loses because flush times are counted in whole milliseconds.
const LOST_NANOS: u64 = 1_000_000;

/// Counts over all trials, of all programs.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Bytes that had to reach the disks, at least.
    pub due: u64,
    /// Bytes that reached the disks; `None` = not counted.
    pub reached: Option<u64>,
    /// Flushes per commit, of the disk that was flushed least.
    pub flushes: Option<f64>,
    /// How long one of them took on average, and at most on average: nanoseconds.
    pub flush_nanos: Option<f64>,
    pub flush_nanos_at_most: Option<f64>,
    pub amplification: Option<f64>,
    /// Flushes per commit of the device above the disks that counts the most.
    pub above: Option<(String, f64)>,
}

impl Counts {
    pub fn of(evidence: &CellEvidence, commits: &CommitTimes, path: &CommitPath) -> Counts {
        let written = evidence.sum(|t| evidence.split_bytes(t).map_or(0, |(_, bytes)| bytes));
        let written = u64::try_from(written).unwrap_or(u64::MAX);
        let per_commit = |flushes: &Flushes| share(flushes.count, commits.total.count);
        let disks = disks(path);
        // Each of several disks has to be flushed.
        let least = disks
            .iter()
            .map(|ways| Flushes::of_disk(evidence, path, ways))
            .reduce(|a, b| if b?.count < a?.count { b } else { a })
            .flatten();
        let each = least.filter(|flushes| flushes.count > 0);
        let lost = LOST_NANOS.saturating_mul(evidence.trials.len() as u64);
        let above = path.devices.iter().filter(|device| !device.lowest).filter_map(|device| {
            Some((device.device.clone(), per_commit(&Flushes::of(evidence, &[device])?)))
        });
        let reached = bytes_reached(evidence, path, &disks);
        Counts {
            due: least_bytes(evidence.job, commits.total.count).min(written),
            reached,
            flushes: least.as_ref().map(per_commit),
            flush_nanos: each.and_then(|of| Some(share(of.nanos?, of.count))),
            flush_nanos_at_most: each
                .and_then(|of| Some(share(of.nanos?.saturating_add(lost), of.count))),
            amplification: reached.filter(|_| written > 0).map(|bytes| share(bytes, written)),
            above: above.max_by(|a, b| a.1.total_cmp(&b.1)),
        }
    }
}

/// Flushes, and how long they took together.
#[derive(Debug, Clone, Copy)]
struct Flushes {
    count: u64,
    nanos: Option<u64>,
}

impl Flushes {
    fn of(evidence: &CellEvidence, devices: &[&CommitDevice]) -> Option<Flushes> {
        Some(Flushes {
            count: sum(evidence, devices, |counts| counts.flushes.get())?,
            nanos: sum(evidence, devices, |counts| counts.flush_nanos.get()),
        })
    }

    /// Returns the counts of a disk. Any of several paths to it may be flushed, and dm-multipath
    /// counts that itself.
    fn of_disk(
        evidence: &CellEvidence,
        path: &CommitPath,
        ways: &[&CommitDevice],
    ) -> Option<Flushes> {
        let over =
            path.devices.iter().find(|device| !device.lowest && device.device == ways[0].disk());
        let counted = [Some(ways), over.as_ref().map(std::slice::from_ref)];
        let counted = counted.into_iter().flatten();
        counted.filter_map(|devices| Flushes::of(evidence, devices)).max_by_key(|of| of.count)
    }
}

/// Returns the bytes that reached the disks; `None` where they are not counted. Where all goes
/// through one device after the other, no more can have reached the disk than any of them wrote,
/// whatever other programs wrote at the same time.
fn bytes_reached(
    evidence: &CellEvidence,
    path: &CommitPath,
    disks: &[Vec<&CommitDevice>],
) -> Option<u64> {
    let written = |devices: &[&CommitDevice]| sum(evidence, devices, |of| of.written.get());
    let reached = written(&disks.concat())?;
    let is_chain = disks.len() == 1 && disks[0].len() == 1;
    let above = path.devices.iter().filter(|device| is_chain && !device.lowest);
    above.filter_map(|device| written(&[device])).chain([reached]).min()
}

/// Returns the disks at the end of a path, each with the ways to it.
fn disks(path: &CommitPath) -> Vec<Vec<&CommitDevice>> {
    let mut disks: Vec<Vec<&CommitDevice>> = Vec::new();
    for device in path.devices.iter().filter(|device| device.lowest) {
        match disks.iter_mut().find(|paths| paths[0].disk() == device.disk()) {
            Some(paths) => paths.push(device),
            None => disks.push(vec![device]),
        }
    }
    disks
}

/// Returns the bytes that commits bring to the disks at least: what is written again before it is
/// synced reaches them once.
fn least_bytes(job: &Job, commits: u64) -> u64 {
    let group = u128::from(job.writes_per_commit()) * u128::from(job.block);
    let all = group.saturating_mul(commits.into());
    // The bytes that all writers write until each has committed.
    let writers = u128::from(job.threads.max(1)) * u128::from(job.depth.max(1));
    let round = group.saturating_mul(writers);
    let span = u128::from(job.span.max(job.block));
    let least = match job.pattern {
        _ if job.direct => all,
        // All writes until each writer has committed may be of one block.
        pattern if pattern.is_drawn() => all.saturating_mul(job.block.into()) / round.max(1),
        _ if round > span => all.saturating_mul(span) / round,
        // The end of one pass and the start of the next may be the same blocks.
        Pattern::Random if round > u128::from(job.block) => all / 2,
        _ => all,
    };
    u64::try_from(least).unwrap_or(u64::MAX)
}

/// Sums a counter of devices over all trials; `None` where one has no value.
fn sum(
    evidence: &CellEvidence,
    devices: &[&CommitDevice],
    counter: impl Fn(&DeviceCounts) -> Option<u64>,
) -> Option<u64> {
    let of = |trial: &Trial, device: &CommitDevice| {
        counter(trial.evidence.devices.iter().find(|counts| counts.device == device.device)?)
    };
    let all = evidence.trials().flat_map(|trial| devices.iter().map(move |d| of(trial, d)));
    all.reduce(|a, b| Some(a?.saturating_add(b?)))?
}
