//! Rules about results that something other than the device limits: the CPU, memory, a link, a
//! control group or a layer in between.

use crate::plan::{Cache, Op};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{share, size};
use crate::record::verdict::source::parts;
use crate::record::{Finding, Severity, Throttle, Trial, finding};
use crate::stats;
use crate::units::{counted, join_names, show_nanos, show_rate, show_share};

/// Returns the median throughput of the rated trials, bytes per second.
fn median_rate(evidence: &CellEvidence) -> Option<f64> {
    let rates: Vec<f64> = evidence.rated_trials().into_iter().map(Trial::throughput).collect();
    stats::median(&rates)
}

/// Returns true if the cell claims to measure the device: cold or direct.
fn claims_device(evidence: &CellEvidence) -> bool {
    evidence.moves()
        && !evidence.target.memory
        && (evidence.job.direct || evidence.job.cache == Cache::Cold)
}

/// CPU time as a share of the lanes' time from which the CPU is the limit.
const MIN_CPU_SHARE: f64 = 0.9;
/// Share of the lanes' time in the XOR from which it matters.
const MIN_XOR_SHARE: f64 = 0.25;

pub(super) fn cpu_bound(evidence: &CellEvidence) -> Option<Finding> {
    if !evidence.job.xor || !claims_device(evidence) {
        return None;
    }
    let lanes = evidence.sum(|t| t.evidence.lane_nanos);
    let spun = |t: &Trial| t.evidence.paced.as_deref().map_or(0, |paced| paced.spin_nanos);
    let busy = |t: &Trial| t.user_nanos.saturating_add(t.system_nanos).saturating_sub(spun(t));
    let busy = share(evidence.sum(busy), lanes);
    let xor = share(evidence.sum(|t| t.evidence.xor_nanos.get().unwrap_or(0)), lanes);
    if busy < MIN_CPU_SHARE || xor < MIN_XOR_SHARE {
        return None;
    }
    finding(
        Severity::Misleading,
        format!(
            "the CPU was busy {} of the time, with the XOR {} of the time: the device is not the \
             limit",
            show_share(busy.min(1.0)),
            show_share(xor.min(1.0))
        ),
        format!("CPU time of the workers over {}", evidence.trial_count()),
        "omit {xor}, or use more {threads}",
    )
}

/// Share of memory that a cached file may fill; everything else needs the rest.
const MAX_MEMORY_SHARE: f64 = 0.8;

pub(super) fn beyond_memory(evidence: &CellEvidence) -> Option<Finding> {
    let memory = evidence.machine.memory.filter(|memory| *memory > 0)?;
    let uses_cache = evidence.cacheable() && evidence.job.cache != Cache::Cold;
    if !uses_cache || evidence.job.span as f64 <= memory as f64 * MAX_MEMORY_SHARE {
        return None;
    }
    // Pages that others read are not charged to this process's control group.
    let parts = parts(evidence);
    if parts.page_cache + parts.hole == parts.all() && parts.all() > 0 {
        return None;
    }
    finding(
        Severity::Misleading,
        format!(
            "{} do not fit in {} of memory: part of the file is read from the device repeatedly",
            size(evidence.job.span),
            size(memory)
        ),
        "memory of this machine, or the limit of its control group",
        "use a smaller {size} to measure memory, or {cache} cold to measure the device",
    )
}

/// Loop overhead as a share of an operation from which it is reported.
const MIN_LOOP_SHARE: f64 = 0.1;

pub(super) fn timing_dominates(evidence: &CellEvidence) -> Option<Finding> {
    // A backend without calls or bytes measures the loop itself.
    if !evidence.moves() && evidence.job.op != Op::Seek || evidence.trials.is_empty() {
        return None;
    }
    let nanos = |t: &Trial| match evidence.job.is_paced() {
        true => t.evidence.timed_nanos,
        false => t.evidence.lane_nanos,
    };
    let op_nanos = share(evidence.sum(nanos), evidence.sum(|t| t.ops));
    let loop_share = evidence.harness_nanos / op_nanos;
    if !(loop_share.is_finite() && loop_share >= MIN_LOOP_SHARE) {
        return None;
    }
    finding(
        Severity::Note,
        format!(
            "iotui's loop overhead is {} of an operation of {}",
            show_share(loop_share.min(1.0)),
            show_nanos(op_nanos)
        ),
        format!("the empty loop takes {} per operation", show_nanos(evidence.harness_nanos)),
        "use a larger {block-size}, or subtract that time",
    )
}

/// Factor by which a rate may exceed the link's, for inexact clocks.
const LINK_TOLERANCE: f64 = 1.03;

pub(super) fn above_link(evidence: &CellEvidence) -> Option<Finding> {
    let link = evidence.target.link.as_ref().filter(|link| link.bytes_per_second > 0.0)?;
    if !claims_device(evidence) {
        return None;
    }
    let rate = median_rate(evidence)?;
    if rate <= link.bytes_per_second * LINK_TOLERANCE {
        return None;
    }
    finding(
        Severity::Misleading,
        format!(
            "{} exceeds the speed of {}: not all bytes came from the disk",
            show_rate(rate),
            link.name
        ),
        format!("the link carries at most {}", show_rate(link.bytes_per_second)),
        "check the source of the bytes; measure stored data, cold, with {size} above the disk's \
         own cache",
    )
}

/// Factor by which a rate must exceed the best bare loop, because bare loops are disturbed too.
const MEMORY_TOLERANCE: f64 = 1.2;

pub(super) fn above_memory(evidence: &CellEvidence) -> Option<Finding> {
    let ceilings = evidence.machine.ceilings.as_ref()?;
    // The loops' memory does not fit in the caches, so a larger span does not either: if the cell
    // is faster, the loops were disturbed.
    let may_be_cached = ceilings.over == 0 || evidence.job.span <= ceilings.over;
    if !evidence.moves() || !may_be_cached {
        return None;
    }
    let threads = evidence.job.threads;
    let most = ceilings
        .copy_rate(threads)
        .into_iter()
        .chain(ceilings.read_rate(threads))
        .max_by(f64::total_cmp)
        .filter(|most| *most > 0.0)?;
    let rate = median_rate(evidence)?;
    if rate <= most * MEMORY_TOLERANCE {
        return None;
    }
    finding(
        Severity::Note,
        format!(
            "{} exceeds the speed of memory: the bytes came from the CPU caches",
            show_rate(rate)
        ),
        format!("bare loops over memory reach {} here", show_rate(most)),
        "use a larger {size} to measure memory",
    )
}

/// Share of a limit from which a rate counts as limited by it, and up to which.
const MIN_LIMIT_SHARE: f64 = 0.9;
const MAX_LIMIT_SHARE: f64 = 1.1;
/// The kernel grants a limit for the rest of a period of 100 ms at once, seconds.
const THROTTLE_PERIOD: f64 = 0.1;

/// Detects a limit of the control group. Other limits show only as a plateau of several cells (see
/// `analysis::explain_limits`).
pub(super) fn rate_limited(evidence: &CellEvidence) -> Option<Finding> {
    let throttle = evidence.target.throttle.as_ref()?;
    let parts = parts(evidence);
    if !claims_device(evidence) && !evidence.writes() && parts.device * 2 < parts.all() {
        return None;
    }
    let rate = median_rate(evidence)?;
    let written = written_share(evidence)?;
    // Reads and writes have separate limits.
    let read_rate = rate * (1.0 - written);
    let write_rate = rate * written;
    let (rate, limit) = limit_reached(evidence, throttle, false, read_rate)
        .or_else(|| limit_reached(evidence, throttle, true, write_rate))?;
    finding(
        Severity::Misleading,
        format!("{rate} is the limit of the control group, not of the disk"),
        format!("{} of this process's control group allows {limit}", throttle.by),
        "run outside the container or slice, or raise its limit",
    )
}

/// Returns the rate of the reads or writes and the limit that it has reached, as text.
fn limit_reached(
    evidence: &CellEvidence,
    throttle: &Throttle,
    writes: bool,
    rate: f64,
) -> Option<(String, String)> {
    if rate <= 0.0 {
        return None;
    }
    let (bytes, operations) = throttle.limits(writes);
    let times: Vec<f64> = evidence.rated_trials().iter().map(|t| t.nanos as f64 / 1e9).collect();
    let most = MAX_LIMIT_SHARE + THROTTLE_PERIOD / stats::median(&times)?.max(THROTTLE_PERIOD);
    // A rate far above a limit passed it by: its bytes went another way.
    let is_reached =
        |limit: u64, rate: f64| (MIN_LIMIT_SHARE..=most).contains(&(rate / limit.max(1) as f64));
    let operation_rate = rate / evidence.job.block.max(1) as f64;
    let limit = if let Some(bytes) = bytes.filter(|limit| is_reached(*limit, rate)) {
        show_rate(bytes as f64)
    } else {
        // Buffered requests have any size; only with direct I/O are operations requests of the
        // disk.
        let operations =
            operations.filter(|limit| evidence.job.direct && is_reached(*limit, operation_rate))?;
        format!("{operations} operations per second")
    };
    let direction = match (evidence.job.mix, writes) {
        (None, _) => "",
        (Some(_), true) => " of writes",
        (Some(_), false) => " of reads",
    };
    Some((format!("{}{direction}", show_rate(rate)), limit))
}

/// Returns the share of the bytes that were written; `None` if a mixed trial does not record it.
fn written_share(evidence: &CellEvidence) -> Option<f64> {
    let mut written_bytes = 0u128;
    let mut all_bytes = 0u128;
    for trial in evidence.trials() {
        let (read, written) = evidence.split_bytes(trial)?;
        written_bytes += u128::from(written);
        all_bytes += u128::from(read.saturating_add(written));
    }
    Some(share(written_bytes, all_bytes))
}

/// File systems that transform, checksum or relocate data.
const TRANSFORMING: [&str; 8] =
    ["btrfs", "zfs", "bcachefs", "overlay", "ecryptfs", "f2fs", "ntfs3", "erofs"];

/// Name prefixes of devices on top of other devices, of a file or of another machine.
const STACKED: [&str; 7] = ["dm-", "md", "loop", "nbd", "rbd", "bcache", "drbd"];

pub(super) fn layers(evidence: &CellEvidence) -> Option<Finding> {
    if !claims_device(evidence) {
        return None;
    }
    let target = evidence.target;
    let stacked = target
        .device
        .split(" on ")
        .any(|device| STACKED.iter().any(|layer| device.starts_with(layer)));
    let what = if target.remote {
        format!("{} fetches the bytes from elsewhere", evidence.fs())
    } else if TRANSFORMING.contains(&target.fs.as_str()) {
        format!("{} processes the data between file and disk", target.fs)
    } else if stacked {
        format!("the figures include layers between file and disk: {}", target.device)
    } else {
        return None;
    };
    let below = if target.device.is_empty() {
        "no disk is visible below it".into()
    } else {
        format!("below it: {}", target.device)
    };
    let what_is = match target.fs.as_str() {
        "" => "a device".into(),
        fs => format!("file system {fs}"),
    };
    finding(
        Severity::Note,
        what,
        format!("{what_is}; {below}; {}", count_caches(evidence)),
        "to measure the disk alone, name its block device as FILE; iotui reads it like a file",
    )
}

/// Names every page cache of this machine that the bytes may come from.
fn count_caches(evidence: &CellEvidence) -> String {
    let Some(ground) = &evidence.target.ground else {
        return "only 1 page cache is visible, this machine's".into();
    };
    let own = (!evidence.job.direct && evidence.info.cached).then(|| "the file".to_string());
    let named: Vec<String> =
        own.into_iter().chain(ground.caches().map(|layer| layer.name.clone())).collect();
    let count = counted(named.len(), "page cache");
    match named.is_empty() {
        true => "no page cache of this machine is in between".into(),
        false => format!("{count} of this machine: of {}", join_names(&named, named.len(), ", ")),
    }
}
