//! Whether commits reached stable storage: what the kernel counted while they were made, and what
//! it says of the devices below.
//!
//! Never more than that. A device that confirms a flush it did not make looks like one that made
//! it, so where a host or a server stands between this kernel and the medium, nothing is certain.

use serde::{Deserialize, Serialize};

use super::CellEvidence;
use super::evidence::{CommitDevice, CommitPath};
use super::facts::{falls_short, share, single_line, size};
use crate::plan::{Sync, Writes};
use crate::record::{CommitTimes, DeviceCounts, Trial};
use crate::units::show_nanos;

/// How far commits got before they returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Each emptied the device's cache.
    Flushed,
    /// Each was written through the device's cache (FUA).
    WrittenThrough,
    /// The device says that it has no volatile cache.
    NoCache,
    /// They returned before that.
    NotReached,
    /// It cannot be told.
    Unknown,
}

impl Reach {
    pub const ALL: [Reach; 5] =
        [Reach::Flushed, Reach::WrittenThrough, Reach::NoCache, Reach::NotReached, Reach::Unknown];

    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Reach::Flushed => "flushed",
            Reach::WrittenThrough => "written-through",
            Reach::NoCache => "no-cache",
            Reach::NotReached => "not-reached",
            Reach::Unknown => "unknown",
        }
    }

    /// Returns what it says of commits, as the start of a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Reach::Flushed => "each commit emptied the device's cache",
            Reach::WrittenThrough => "each commit was written through the device's cache (FUA)",
            Reach::NoCache => "the device says that it has no volatile cache",
            Reach::NotReached => "commits returned without reaching stable storage",
            Reach::Unknown => "whether commits are durable cannot be told",
        }
    }

    /// Returns whether the data is durable, as far as the device's own word goes.
    pub fn is_durable(self) -> bool {
        matches!(self, Reach::Flushed | Reach::WrittenThrough | Reach::NoCache)
    }
}

/// How far the commits of a cell got, and by which figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Durability {
    pub reach: Reach,
    pub reason: String,
    /// Flushes of the disk per commit, those of all programs; `None` where they are not counted.
    pub flushes: Option<f64>,
    /// How long one of them took on average, nanoseconds.
    pub flush_nanos: Option<f64>,
    /// Bytes that the disk wrote per byte committed, those of all programs: journal and metadata
    /// make it exceed 1.
    pub amplification: Option<f64>,
}

impl Durability {
    /// Returns verdict and reason as one sentence.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.reach.title(), self.reason)
    }
}

/// Fewer flushes per commit than this, and not each commit had one; counters are read while others
/// may be in flight.
const MIN_FLUSHES: f64 = 0.95;
/// A commit that took less than this share of the fastest write, or of a flush, did not wait for
/// one: figures of single moments scatter.
const MIN_SHARE: f64 = 0.5;

/// Judges the commits of a cell; `None` where it makes none, or the session does not record what
/// this rests on.
pub fn durability(evidence: &CellEvidence) -> Option<Durability> {
    let commits = evidence.commits.filter(|_| evidence.job.commits())?;
    let path = evidence.target.commit_path.as_ref()?;
    let counts = Counts::of(evidence, commits, path);
    let (reach, reason) = judge(evidence, commits, path, &counts);
    Some(Durability {
        reach,
        reason: single_line(&reason),
        flushes: counts.flushes,
        flush_nanos: counts.flush_nanos,
        amplification: counts.amplification,
    })
}

/// What the disks counted over all trials.
#[derive(Debug, Default)]
struct Counts {
    written: u64,
    /// Bytes that reached the disks; `None` = not counted.
    reached: Option<u64>,
    flushes: Option<f64>,
    flush_nanos: Option<f64>,
    amplification: Option<f64>,
    /// Flushes per commit of the first device that counts them, if that is above the disks.
    above: Option<(String, f64)>,
}

impl Counts {
    fn of(evidence: &CellEvidence, commits: &CommitTimes, path: &CommitPath) -> Counts {
        let written = evidence.sum(|t| evidence.split_bytes(t).map_or(0, |(_, bytes)| bytes));
        let written = u64::try_from(written).unwrap_or(u64::MAX);
        let per_commit = |flushes: u64| share(flushes, commits.total.count);
        let flushes_of =
            |device: &CommitDevice| sum_of(evidence, &device.device, |counts| counts.flushes.get());
        let disks = || path.devices.iter().filter(|device| device.lowest);
        // Of several disks, each has to be flushed.
        let least = disks()
            .map(|disk| Some((flushes_of(disk)?, disk)))
            .reduce(|a, b| if b?.0 < a?.0 { b } else { a })
            .flatten();
        let nanos = least.and_then(|(_, disk)| {
            sum_of(evidence, &disk.device, |counts| counts.flush_nanos.get())
        });
        let reached =
            disks().map(|disk| sum_of(evidence, &disk.device, |counts| counts.written.get()));
        let reached = reached.reduce(|a, b| Some(a?.saturating_add(b?))).flatten();
        let above = path.devices.iter().filter(|device| !device.lowest);
        let above = above
            .filter_map(|device| Some((device.device.clone(), per_commit(flushes_of(device)?))));
        Counts {
            written,
            reached,
            flushes: least.map(|(flushes, _)| per_commit(flushes)),
            flush_nanos: least
                .zip(nanos)
                .filter(|((flushes, _), _)| *flushes > 0)
                .map(|((flushes, _), nanos)| share(nanos, flushes)),
            amplification: reached.filter(|_| written > 0).map(|bytes| share(bytes, written)),
            above: above.max_by(|a, b| a.1.total_cmp(&b.1)),
        }
    }
}

/// Sums a counter of a device over all trials; `None` where one has no value.
fn sum_of(
    evidence: &CellEvidence,
    device: &str,
    counter: impl Fn(&DeviceCounts) -> Option<u64>,
) -> Option<u64> {
    let of = |trial: &Trial| {
        counter(trial.evidence.devices.iter().find(|counts| counts.device == device)?)
    };
    evidence.trials().map(of).reduce(|a, b| Some(a?.saturating_add(b?)))?
}

fn judge(
    evidence: &CellEvidence,
    commits: &CommitTimes,
    path: &CommitPath,
    counts: &Counts,
) -> (Reach, String) {
    let outside = outside_of_this_kernel(evidence, path);
    let early = returned_early(evidence, commits, path, counts);
    if let Some(found) = outside.or(early) {
        return found;
    }
    let disks: Vec<&CommitDevice> = path.devices.iter().filter(|device| device.lowest).collect();
    let names = disks.iter().map(|disk| disk.device.as_str()).collect::<Vec<_>>().join(" and ");
    if let Some(disk) = disks.iter().find(|disk| disk.overridden) {
        return (
            Reach::Unknown,
            format!(
                "{} says that it has a volatile cache, but the kernel was told that it has none \
                 (queue/write_cache)",
                disk.device
            ),
        );
    }
    if disks.iter().all(|disk| disk.volatile_cache == Some(false)) {
        return (Reach::NoCache, format!("{names} is write through: {}", reached(counts)));
    }
    if let Some(disk) = disks.iter().find(|disk| disk.volatile_cache.is_none()) {
        return (
            Reach::Unknown,
            format!("{} does not say whether it has a volatile cache", disk.device),
        );
    }
    if let Some(option) = &path.no_barrier {
        return (
            Reach::NotReached,
            format!(
                "{} is mounted with {option}, so that no commit empties the cache of {names}",
                evidence.fs()
            ),
        );
    }
    with_volatile_cache(evidence, commits, (&disks, &names), counts)
}

/// Judges what is no disk of this kernel.
fn outside_of_this_kernel(evidence: &CellEvidence, path: &CommitPath) -> Option<(Reach, String)> {
    let fs = evidence.fs();
    if evidence.target.memory {
        return Some((Reach::NotReached, format!("{fs} is memory")));
    }
    if evidence.target.remote {
        let who = if fs.starts_with("fuse") { "a program" } else { "a server" };
        return Some((
            Reach::Unknown,
            format!("{fs}: {who} confirms each commit, and what it does is not visible here"),
        ));
    }
    let mut disks = path.devices.iter().filter(|device| device.lowest).peekable();
    if disks.peek().is_none() {
        return Some((Reach::Unknown, format!("the disk under {fs} is not known")));
    }
    disks.find_map(|disk| {
        let backing = disk.backing.as_ref()?;
        Some(match backing.memory {
            true => (Reach::NotReached, format!("the file of {} is in memory", disk.device)),
            false => (
                Reach::Unknown,
                format!(
                    "{} is {}, and what that does is not visible here",
                    disk.device, backing.what
                ),
            ),
        })
    })
}

/// Judges commits that returned before their bytes could be on the disk.
fn returned_early(
    evidence: &CellEvidence,
    commits: &CommitTimes,
    path: &CommitPath,
    counts: &Counts,
) -> Option<(Reach, String)> {
    if let Some(reached) = counts.reached.filter(|bytes| falls_short(*bytes, counts.written)) {
        let text = format!("only {} of {} reached the disk", size(reached), size(counts.written));
        return Some(match &evidence.target.compresses {
            Some(why) => (Reach::Unknown, format!("{text}, but it may be compressed ({why})")),
            None => (Reach::NotReached, text),
        });
    }
    let (fastest, median) = (path.fastest_write_nanos?, commits.total.p50?);
    (median < fastest as f64 * MIN_SHARE).then(|| {
        (
            Reach::NotReached,
            format!(
                "half of them took less than {}, the fastest direct write here {}",
                show_nanos(median),
                show_nanos(fastest as f64)
            ),
        )
    })
}

/// Judges commits to disks of which at least one has a volatile cache.
fn with_volatile_cache(
    evidence: &CellEvidence,
    commits: &CommitTimes,
    (disks, names): (&[&CommitDevice], &str),
    counts: &Counts,
) -> (Reach, String) {
    let Some(flushes) = counts.flushes else {
        return (Reach::Unknown, format!("flushes of {names} are not counted here"));
    };
    let job = evidence.job;
    let writers = u64::from(job.threads.max(1)) * u64::from(job.depth.max(1));
    // One flush may serve the commits of all that wait.
    let needed = MIN_FLUSHES / writers as f64;
    let flushed = describe_flushes(names, counts);
    if flushes < needed {
        return too_few_flushes(evidence, disks, &flushed, (counts, needed));
    }
    let flush = counts.flush_nanos.unwrap_or(0.0);
    if let Some(median) = commits.total.p50.filter(|p50| *p50 < flush * MIN_SHARE) {
        return (
            Reach::Unknown,
            format!(
                "{flushed}, but half of the commits took less than {}: the flushes may be those of \
                 other programs",
                show_nanos(median)
            ),
        );
    }
    certain(evidence, Reach::Flushed, flushed)
}

fn too_few_flushes(
    evidence: &CellEvidence,
    disks: &[&CommitDevice],
    flushed: &str,
    (counts, needed): (&Counts, f64),
) -> (Reach, String) {
    if let Some((above, of_above)) = counts.above.as_ref().filter(|(_, of)| *of >= needed) {
        return (
            Reach::NotReached,
            format!(
                "{above} was flushed {} times per commit, but {flushed}",
                two_digits(*of_above)
            ),
        );
    }
    let job = evidence.job;
    let writes_through = disks.iter().all(|disk| disk.fua == Some(true));
    let waits = matches!(job.sync, Sync::Dsync | Sync::Osync | Sync::RwfDsync);
    if writes_through && waits && job.direct && job.writes == Writes::Overwrite {
        let text = format!(
            "{flushed}, and it can write through (FUA), as direct I/O with {} does",
            job.sync
        );
        return certain(evidence, Reach::WrittenThrough, text);
    }
    if writes_through {
        let text = format!("{flushed}; it can write through (FUA), which no counter shows");
        return (Reach::Unknown, text);
    }
    (Reach::NotReached, format!("{flushed}, and it has a volatile cache"))
}

/// Returns the verdict where this machine's disk is one: that of a virtual machine is its host's.
fn certain(evidence: &CellEvidence, reach: Reach, reason: String) -> (Reach, String) {
    match &evidence.machine.hypervisor {
        None => (reach, reason),
        Some(hypervisor) => (
            Reach::Unknown,
            format!(
                "{reason}; but this machine is virtual ({hypervisor}), and what its host does \
                     then is not visible here"
            ),
        ),
    }
}

/// Returns `vda was flushed 1.00 times per commit, 0.3 ms each`.
fn describe_flushes(names: &str, counts: &Counts) -> String {
    let times = two_digits(counts.flushes.unwrap_or(0.0));
    let each =
        counts.flush_nanos.map_or(String::new(), |nanos| format!(", {} each", show_nanos(nanos)));
    format!("{names} was flushed {times} times per commit{each}")
}

/// Returns `1.2 bytes reached it per byte committed`.
fn reached(counts: &Counts) -> String {
    match counts.amplification {
        Some(bytes) => format!("{} bytes reached it per byte committed", two_digits(bytes)),
        None => "what reached it is not counted".into(),
    }
}

fn two_digits(number: f64) -> String {
    format!("{number:.2}")
}

#[cfg(test)]
mod tests;
