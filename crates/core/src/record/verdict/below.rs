//! The share of the bytes from below a target that came from a disk: by upper bounds for each
//! trial, none of which is ever too low.
//!
//! ```text
//! charged  what the first device moved for this process, where the kernel counts it
//! outside  what the lowest disks read and other machines sent, for any program. On a busy disk it
//!          bounds nothing, and none is known below a layer that compresses. What readahead had
//!          requested when the trial ended is charged and not yet read: one window of each lane
//! missing  what was not in the page cache of a backing file, or what entered it since if none of
//!          it was evicted. Unknown where pages were lost and read again during the trial. Layers
//!          next to each other serve different bytes, so only a chain of layers has this bound
//! ```
//! The least of them may have come from a disk. The rest came from a cache below if the caches held
//! as much; if not, it is unknown where it came from.

use super::CellEvidence;
use super::facts::share;
use crate::record::{BelowCounts, CacheBelow, Ground, Layer, LayerKind, Medium, Trial};
use crate::units::join_names;

/// Bytes that came from below a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Split {
    pub device: u64,
    /// From a page cache below, from memory, or from what a program keeps or makes up.
    pub below: u64,
    /// Never written to a backing file.
    pub hole: u64,
    pub unknown: u64,
    /// Bytes that no disk read and no other machine sent; all of `below`, and a part of `unknown`.
    pub elsewhere: u64,
}

/// Share of a backing file by which its residency may be off: folios straddle the ends of a range.
const TOLERANCE: f64 = 0.01;
/// Readahead of a device that reports none, bytes.
const USUAL_READ_AHEAD: u64 = 1 << 20;
/// Bits per byte from which data cannot be stored in fewer bytes.
const MIN_RANDOM_ENTROPY: f64 = 7.5;
/// Layers that are named; more are counted.
const MAX_NAMES: usize = 3;
/// Bytes that a program may unpack from each byte that it reads.
const MAX_UNPACKED: u64 = 20;

/// Splits `amount` bytes that a trial got from below its target by where they came from.
pub(super) fn split(evidence: &CellEvidence, trial: &Trial, amount: u64) -> Split {
    let device = Split { device: amount, ..Split::default() };
    let unknown = Split { unknown: amount, ..Split::default() };
    let Some(ground) = &evidence.target.ground else {
        return if evidence.target.remote { unknown } else { device };
    };
    match (ground.medium, trial.evidence.below.as_deref()) {
        (Medium::Memory, _) => Split { below: amount, elsewhere: amount, ..Split::default() },
        (Medium::Disk, _) if !ground.has_images() => device,
        (Medium::Unknown, _) | (_, None) => unknown,
        (_, Some(counts)) => split_by_bounds(evidence, trial, (ground, counts), amount),
    }
}

fn split_by_bounds(
    evidence: &CellEvidence,
    trial: &Trial,
    (ground, counts): (&Ground, &BelowCounts),
    amount: u64,
) -> Split {
    let hole = hole_part(evidence, trial, counts, amount);
    let stored = amount - hole;
    let visited = trial.over_parts(trial.evidence.unique_bytes).min(stored);
    let caches = counts.on_the_way(ground);
    let seen = || caches.iter().filter_map(|(_, cache)| *cache);
    let bounds = seen().filter_map(|cache| cache.missing(visited));
    let missing = bounds.min().filter(|_| is_chain(ground, &caches)).unwrap_or(u64::MAX);
    let outside = outside(evidence, trial, (ground, counts)).unwrap_or(u64::MAX);
    let cached = stored.saturating_sub(missing);
    let most = stored.min(missing).min(outside);
    let elsewhere = stored - most;
    // The most that the caches can have served, by the data they held or read for the first visit.
    let before = counts.caches.iter().map(|cache| cache.resident_before.get());
    let held = before.sum::<Option<u64>>().map(|all| all.saturating_add(trial.repeat_bytes()));
    let below = match ground.medium {
        Medium::Disk => elsewhere.min(held.unwrap_or(0).max(cached)),
        _ => elsewhere,
    };
    let all_seen = caches.iter().all(|(_, cache)| cache.is_some());
    let device = match ground.medium {
        Medium::Disk if all_seen && seen().all(|cache| cache.grown().is_some()) => most,
        Medium::Disk if all_seen => most.min(stored.saturating_sub(held.unwrap_or(u64::MAX))),
        _ => 0,
    };
    Split { device, below, hole, unknown: stored - below - device, elsewhere }
}

/// Returns the most bytes that came from outside this machine's memory; `None` if unknown.
fn outside(
    evidence: &CellEvidence,
    trial: &Trial,
    (ground, counts): (&Ground, &BelowCounts),
) -> Option<u64> {
    let read = counts.read_bytes.get()?;
    if ground.medium != Medium::Disk {
        let received = read.saturating_add(counts.received_bytes.get()?);
        // A program may unpack what it reads, but no random data.
        let factor = if stores_random_data(evidence) { 1 } else { MAX_UNPACKED };
        return Some(received.saturating_mul(factor));
    }
    let window = match evidence.job.direct {
        true => 0,
        false => evidence.target.read_ahead.unwrap_or(0).max(USUAL_READ_AHEAD),
    };
    let requested = trial.over_parts(window.saturating_mul(evidence.job.threads.into()));
    (!ground.compresses_below()).then(|| read.saturating_add(requested))
}

fn stores_random_data(evidence: &CellEvidence) -> bool {
    let target = evidence.target;
    match target.entropy {
        Some(bits) => bits >= MIN_RANDOM_ENTROPY,
        None => target.ours && target.compressible.or(target.dedupe).unwrap_or(0) == 0,
    }
}

/// Returns the part of `amount` in holes of the backing file, in proportion to the holes below
/// the span. A device's own file has the holes of the target.
fn hole_part(evidence: &CellEvidence, trial: &Trial, counts: &BelowCounts, amount: u64) -> u64 {
    let span = trial.over_parts(evidence.job.span);
    let is_whole = |cache: &&CacheBelow| cache.bytes <= span.saturating_add(span / 50);
    let of = counts.caches.iter().filter(is_whole).filter_map(|cache| {
        let holes = cache.hole_bytes.get().filter(|_| cache.bytes > 0)?;
        Some((share(holes, cache.bytes).min(1.0) * amount as f64) as u64)
    });
    if evidence.target.fs.is_empty() { 0 } else { of.max().unwrap_or(0).min(amount) }
}

impl Ground {
    /// Returns whether something between the target and its disks may have bytes that it does not
    /// read from them.
    pub(super) fn has_images(&self) -> bool {
        self.layers.iter().any(|layer| layer.cached || layer.kind == LayerKind::Loop)
    }

    /// Names the layers with a page cache: `the page cache of ~/img`.
    pub(super) fn name_caches(&self) -> Option<String> {
        let names: Vec<String> = self.caches().map(|layer| layer.name.clone()).collect();
        let plural = if names.len() > 1 { "caches" } else { "cache" };
        let named = join_names(&names[..names.len().min(MAX_NAMES)], names.len(), ", ");
        (!names.is_empty()).then(|| format!("the page {plural} of {named}"))
    }

    /// Returns whether a layer below the first reads fewer bytes than it returns.
    fn compresses_below(&self) -> bool {
        self.layers.iter().any(|layer| layer.depth > 0 && layer.transform.contains("compress"))
    }
}

/// Returns whether all bytes pass through each of these layers.
fn is_chain(ground: &Ground, caches: &[(&Layer, Option<&CacheBelow>)]) -> bool {
    let deepest = caches.iter().map(|(layer, _)| layer.depth).max().unwrap_or(0);
    let upper = ground.layers.iter().filter(|layer| layer.depth <= deepest);
    (0..).zip(upper).all(|(depth, layer)| layer.depth == depth)
}

impl BelowCounts {
    /// Returns the layers whose page cache the bytes passed through in this trial, with what is
    /// known of it: whether it is bypassed can be switched between trials.
    fn on_the_way<'a>(&'a self, ground: &'a Ground) -> Vec<(&'a Layer, Option<&'a CacheBelow>)> {
        let of = |layer: &'a Layer| {
            let cache = self.caches.iter().find(|cache| cache.name == layer.name);
            let known = cache.filter(|cache| cache.resident_before.get().is_some());
            cache.map_or(layer.cached, |cache| !cache.direct).then_some((layer, known))
        };
        ground.layers.iter().filter_map(of).collect()
    }
}

impl CacheBelow {
    /// Returns the most bytes that it had to read for a trial that got `visited` different bytes
    /// through it; `None` if it lost some during the trial.
    fn missing(&self, visited: u64) -> Option<u64> {
        let (before, after) = (self.resident_before.get()?, self.resident_after.get()?);
        let had = before.max(visited.min(self.bytes));
        let lost = had.saturating_sub(after);
        let missing = self.bytes.saturating_sub(before).min(self.grown().unwrap_or(u64::MAX));
        (lost as f64 <= self.bytes as f64 * TOLERANCE).then_some(missing)
    }

    /// Returns what it read; `None` if some of that may be gone again.
    fn grown(&self) -> Option<u64> {
        let (before, after) = (self.resident_before.get()?, self.resident_after.get()?);
        (self.evicted.get() == Some(0)).then(|| after.saturating_sub(before))
    }
}

/// Returns where the bytes of a cell came from that no disk read: `the page cache of ~/img`; empty
/// where that is not known.
pub(super) fn describe_below(evidence: &CellEvidence) -> String {
    let ground = evidence.target.ground.as_ref();
    match ground.map(|ground| (ground.medium, ground.name_caches())) {
        Some((Medium::Memory, _)) => "memory".into(),
        Some((_, Some(caches))) => caches,
        Some((Medium::Program, None)) => "the program's cache or were made up".into(),
        Some((Medium::Server, None)) => "memory of this machine".into(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
