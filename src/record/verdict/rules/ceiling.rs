//! Results that something other than the device decides: a ceiling above it, a limit below it, a
//! layer on top of it.

use super::{Rule, rule};
use crate::plan::{Cache, Op};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{share, size};
use crate::record::{Severity, Trial, Warning};
use crate::stats;
use crate::units::{show_nanos, show_rate, show_share};

pub(super) const CPU_BOUND: Rule = rule(
    12,
    "cpu-bound",
    "folding the data took the CPU's time, so the device waited for it",
    cpu_bound,
);

pub(super) const BEYOND_MEMORY: Rule = rule(
    18,
    "beyond-memory",
    "the file does not fit in the memory that may be used",
    beyond_memory,
);

pub(super) const TIMING_DOMINATES: Rule = rule(
    22,
    "timing-dominates",
    "iotui's own loop is a large part of so short an operation",
    timing_dominates,
);

pub(super) const ABOVE_LINK: Rule =
    rule(25, "above-link", "more bytes came than the way to the disk can carry", above_link);

pub(super) const ABOVE_MEMORY: Rule = rule(
    25,
    "above-memory",
    "faster than memory: the bytes came from the CPU's caches",
    above_memory,
);

pub(super) const RATE_LIMITED: Rule =
    rule(17, "rate-limited", "a limit of the control group decides, not the disk", rate_limited);

pub(super) const LAYERS: Rule =
    rule(29, "layers", "something lies between the file and the disk", layers);

/// The middle of the rates that the result is made from, bytes per second.
fn median(evidence: &CellEvidence) -> Option<f64> {
    let rates: Vec<f64> = evidence.counted().into_iter().map(Trial::throughput).collect();
    stats::median(&rates)
}

/// A cell that says it measures the device: cold, or direct.
fn is_of_device(evidence: &CellEvidence) -> bool {
    evidence.moves()
        && !evidence.target.memory
        && (evidence.job.direct || evidence.job.cache == Cache::Cold)
}

/// Shares of the lanes' time: all of the CPU, of which so much in the XOR.
const BUSY: f64 = 0.9;
const IN_XOR: f64 = 0.25;

fn cpu_bound(evidence: &CellEvidence) -> Option<Warning> {
    if !evidence.job.xor || !is_of_device(evidence) {
        return None;
    }
    let lanes = evidence.sum(|t| t.evidence.lane_nanos);
    let busy = share(evidence.sum(|t| t.user_nanos.saturating_add(t.system_nanos)), lanes);
    let xor = share(evidence.sum(|t| t.evidence.xor_nanos.get().unwrap_or(0)), lanes);
    if busy < BUSY || xor < IN_XOR {
        return None;
    }
    CPU_BOUND.warn(
        Severity::Misleading,
        format!(
            "the CPU was busy for {} of the time, {} of it with the XOR: not the device's limit",
            show_share(busy.min(1.0)),
            show_share(xor.min(1.0))
        ),
        format!("CPU time of the workers over {}", evidence.count()),
        "leave out --xor, or use more --threads",
    )
}

/// Share of the memory that a file may fill: the rest of the machine needs some.
const FITS: f64 = 0.8;

fn beyond_memory(evidence: &CellEvidence) -> Option<Warning> {
    let memory = evidence.machine.memory.filter(|memory| *memory > 0)?;
    let of_cache = evidence.cacheable() && evidence.job.cache != Cache::Cold;
    if !of_cache || evidence.job.span as f64 <= memory as f64 * FITS {
        return None;
    }
    BEYOND_MEMORY.warn(
        Severity::Misleading,
        format!(
            "{} do not stay in the {} of memory: part is read from the device again and again",
            size(evidence.job.span),
            size(memory)
        ),
        "the memory of this machine, or of its control group".into(),
        "use a smaller --size to measure memory, --cache cold to measure the device",
    )
}

/// Share of an operation from which iotui's own loop is told.
const OWN: f64 = 0.1;

fn timing_dominates(evidence: &CellEvidence) -> Option<Warning> {
    // What makes no call is the measure of this loop itself.
    if !evidence.moves() && evidence.job.op != Op::Seek || evidence.trials.is_empty() {
        return None;
    }
    let (lanes, ops) = (evidence.sum(|t| t.evidence.lane_nanos), evidence.sum(|t| t.ops));
    let each = share(lanes, ops);
    let own = evidence.harness_nanos / each;
    if !(own.is_finite() && own >= OWN) {
        return None;
    }
    TIMING_DOMINATES.warn(
        Severity::Note,
        format!(
            "iotui's own loop is {} of an operation of {}",
            show_share(own.min(1.0)),
            show_nanos(each)
        ),
        format!("its loop alone takes {} per operation", show_nanos(evidence.harness_nanos)),
        "use a larger --block-size, or take that time off",
    )
}

/// What measurement and protocol may add: line coding is known, clocks are not exact.
const OVER: f64 = 1.03;

fn above_link(evidence: &CellEvidence) -> Option<Warning> {
    let link = evidence
        .target
        .link
        .as_ref()
        .filter(|link| link.bytes_per_second > 0.0 && is_of_device(evidence))?;
    let rate = median(evidence).filter(|rate| *rate > link.bytes_per_second * OVER)?;
    ABOVE_LINK.warn(
        Severity::Misleading,
        format!("{} is more than {} carries: not all of it came from the disk", show_rate(rate), link.name),
        format!("the link carries {} at most", show_rate(link.bytes_per_second)),
        "look at the source of the bytes; measure stored data, cold, over more than the disk's own cache",
    )
}

/// How far above the best bare loop a rate must be: bare loops are disturbed too.
const FASTER: f64 = 1.2;

fn above_memory(evidence: &CellEvidence) -> Option<Warning> {
    // What the loops went over does not stay in those caches, so no larger span does: then the
    // loops were disturbed.
    let ceilings = evidence
        .machine
        .ceilings
        .as_ref()
        .filter(|of| evidence.moves() && (of.over == 0 || evidence.job.span <= of.over))?;
    let threads = evidence.job.threads;
    let most = ceilings
        .copy_by(threads)
        .into_iter()
        .chain(ceilings.read_by(threads))
        .max_by(f64::total_cmp)
        .filter(|most| *most > 0.0)?;
    let rate = median(evidence).filter(|rate| *rate > most * FASTER)?;
    ABOVE_MEMORY.warn(
        Severity::Note,
        format!(
            "{} is more than memory gives: the bytes came from the CPU's caches",
            show_rate(rate)
        ),
        format!("bare loops over memory reach {} here", show_rate(most)),
        "use a larger --size to measure memory",
    )
}

/// A rate is at its limit from this share on.
const LIMITED: f64 = 0.9;

/// The limit that a cell of the device is at. Without one to be seen, a plateau of several cells
/// tells (see `analysis::why`).
fn rate_limited(evidence: &CellEvidence) -> Option<Warning> {
    let throttle = evidence
        .target
        .throttle
        .as_ref()
        .filter(|_| is_of_device(evidence) || evidence.writes())?;
    let (rate, written) = (median(evidence)?, written(evidence)?);
    let at = |limit: Option<u64>, rate: f64| limit.filter(|limit| rate >= *limit as f64 * LIMITED);
    // Reads and writes have limits of their own.
    let held = |(writes, rate): (bool, f64)| {
        let (bytes, operations) = throttle.of(writes);
        // A buffered request is of any size, so that operations are the disk's only with direct
        // I/O.
        let each = rate / evidence.job.block.max(1) as f64;
        let granted = match (at(bytes, rate), at(operations, each).filter(|_| evidence.job.direct))
        {
            (Some(bytes), _) => show_rate(bytes as f64),
            (None, Some(operations)) => format!("{operations} operations per second"),
            (None, None) => return None,
        };
        let of = evidence.job.mix.map_or("", |_| if writes { " of writes" } else { " of reads" });
        Some((format!("{}{of}", show_rate(rate)), granted))
    };
    let parts = [(false, rate * (1.0 - written)), (true, rate * written)];
    let (rate, granted) = parts.into_iter().filter(|(_, rate)| *rate > 0.0).find_map(held)?;
    RATE_LIMITED.warn(
        Severity::Misleading,
        format!("{rate} is what the control group lets through: not the disk's limit"),
        format!("{} of this process's control group grants {granted}", throttle.by),
        "run outside of the container or slice, or raise its limit",
    )
}

/// Share of the bytes that were written; `None` where a mixed trial does not tell them apart.
fn written(evidence: &CellEvidence) -> Option<f64> {
    let splits: Vec<(u64, u64)> =
        evidence.trials().map(|trial| evidence.split(trial)).collect::<Option<_>>()?;
    let sum =
        |of: fn(&(u64, u64)) -> u64| splits.iter().map(|split| u128::from(of(split))).sum::<u128>();
    Some(share(sum(|split| split.1), sum(|split| split.0.saturating_add(split.1))))
}

/// File systems that do more with the data than to find it.
const WORKING: [&str; 8] =
    ["btrfs", "zfs", "bcachefs", "overlay", "ecryptfs", "f2fs", "ntfs3", "erofs"];

/// Devices that are made of others, or of a file or another machine.
const STACKED: [&str; 7] = ["dm-", "md", "loop", "nbd", "rbd", "bcache", "drbd"];

fn layers(evidence: &CellEvidence) -> Option<Warning> {
    if !is_of_device(evidence) {
        return None;
    }
    let target = evidence.target;
    let stacked = target
        .device
        .split(" on ")
        .any(|device| STACKED.iter().any(|layer| device.starts_with(layer)));
    let what = match () {
        () if target.remote => format!("{} brings the bytes from elsewhere", evidence.fs()),
        () if WORKING.contains(&target.fs.as_str()) => {
            format!("{} works on the data between file and disk", target.fs)
        }
        () if stacked => {
            format!("layers between file and disk are in the figures: {}", target.device)
        }
        () => return None,
    };
    let below = if target.device.is_empty() {
        "no disk is seen below it".into()
    } else {
        format!("below it: {}", target.device)
    };
    LAYERS.warn(
        Severity::Note,
        what,
        format!("file system {}; {below}; 1 page cache is seen, this machine's", evidence.fs()),
        "to know the disk alone, measure it itself: iotui reads a block device like a file",
    )
}
