//! Rules about requests that reached the disk with another depth or size than the cell's.

use crate::plan::{Cache, Depth, Pattern};
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::{share, size};
use crate::record::verdict::source::parts;
use crate::record::{Finding, Severity, Trial, finding};
use crate::units::{show_bytes, three_digits};

/// Average content of the disk's queue over all trials, weighted by their time.
struct Queue {
    requests: f64,
    /// The operations in the requests: the block layer merges neighbours, so one request may carry
    /// several.
    operations: f64,
    /// Mean bytes of a request, if known.
    request_size: Option<u64>,
}

impl Queue {
    /// Returns whether the disk's queue of this many requests was full.
    fn fills(&self, most: u64) -> bool {
        (FULL..=1.0).contains(&(self.requests / most.max(1) as f64))
    }
}

/// Share of the disk's queue from which it is full: it empties between submissions.
const FULL: f64 = 0.75;

/// Returns what brings more direct requests into the disk's queue.
fn unused_depth_remedy(evidence: &CellEvidence) -> &'static str {
    let cpus = evidence.machine.ceilings.map_or(1, |ceilings| ceilings.threads);
    match (evidence.job.threads < cpus.max(1), evidence.job.block > 4096) {
        (true, true) => "use more {threads} or a smaller {block-size}",
        (true, false) => "use more {threads}",
        (false, true) => "use a smaller {block-size}",
        (false, false) => "use a smaller {depth}: the CPUs cannot submit this many at once",
    }
}

/// Computes the average content of the disk's queue; `None` if no trial recorded it.
fn average_queue(evidence: &CellEvidence) -> Option<Queue> {
    let mut requests = 0.0;
    let mut operations = 0.0;
    let mut time = 0.0;
    for trial in evidence.trials() {
        let Some(depth) = trial.evidence.disk_depth.filter(|d| d.is_finite() && *d >= 0.0) else {
            continue;
        };
        // A large buffered request is readahead or writeback, not several operations in flight.
        let per_request = match request_bytes(std::iter::once(trial)) {
            Some(bytes) if evidence.job.direct => {
                (bytes as f64 / evidence.job.block.max(1) as f64).max(1.0)
            }
            _ => 1.0,
        };
        let nanos = trial.nanos as f64;
        requests += depth * nanos;
        operations += depth * per_request * nanos;
        time += nanos;
    }
    if time == 0.0 {
        return None;
    }
    Some(Queue {
        requests: requests / time,
        operations: operations / time,
        request_size: request_bytes(evidence.trials()),
    })
}

/// Returns the mean size of the requests that the disk served during these trials.
fn request_bytes<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<u64> {
    let (mut bytes, mut requests) = (0u128, 0u128);
    for facts in trials.map(|t| &t.evidence) {
        if let (Some(read), Some(written), Some(some)) =
            (facts.disk_read_bytes, facts.disk_write_bytes, facts.disk_requests.get())
        {
            bytes += u128::from(read) + u128::from(written);
            requests += u128::from(some);
        }
    }
    bytes.checked_div(requests).and_then(|bytes| u64::try_from(bytes).ok())
}

pub(super) fn depth_unused(evidence: &CellEvidence) -> Option<Finding> {
    let job = evidence.job;
    let fits = job.depth >= 2 && !job.is_paced();
    if !evidence.moves() || !fits || evidence.is_warm() || evidence.target.memory {
        return None;
    }
    fn warn(message: String, facts: String, remedy: &str) -> Option<Finding> {
        finding(Severity::Misleading, message, facts, remedy)
    }
    if evidence.info.depth == Depth::Synchronous {
        let message = format!(
            "queue depth {} was requested, but {} runs one operation at a time",
            job.depth, job.backend
        );
        return warn(
            message,
            "a synchronous system call".into(),
            "use {backend} uring, or more {threads}",
        );
    }
    let requested = f64::from(job.depth) * f64::from(job.threads.max(1));
    let is_buffered = !job.direct;
    let remedy = if is_buffered {
        "add {direct}: buffered requests wait for each other"
    } else {
        unused_depth_remedy(evidence)
    };
    match average_queue(evidence) {
        Some(queue) if queue.operations < requested / 2.0 => {
            let full = evidence.target.queue.filter(|most| queue.fills(*most));
            let remedy =
                if full.is_some() { "use a smaller {depth} or fewer {threads}" } else { remedy };
            let most = full.map_or(String::new(), |most| format!("; its queue holds {most}"));
            let message = format!(
                "the queue of {requested:.0} was never full: the disk had {} at once on \
                 average{most}",
                three_digits(queue.operations)
            );
            let kind = if is_buffered { "buffered" } else { "direct" };
            let size = match queue.request_size {
                Some(bytes) => format!(" of {}", show_bytes(bytes)),
                None => String::new(),
            };
            let facts = format!(
                "{} {kind} requests{size} in the disk's queue over {}",
                three_digits(queue.requests),
                evidence.trial_count()
            );
            warn(message, facts, remedy)
        }
        None if is_buffered && job.cache == Cache::Cold => {
            let message = format!(
                "queue depth {} is uncertain: buffered requests may wait for each other",
                job.depth
            );
            warn(message, "the disk's queue is unknown".into(), remedy)
        }
        _ => None,
    }
}

/// Ratio of device bytes to requested bytes up to which the excess is metadata and page rounding.
const MIN_OVERSHOOT: f64 = 1.1;
/// Excess bytes up to which it is metadata and page rounding.
const MIN_OVERSHOOT_BYTES: u128 = 64 << 10;
/// Ratio from which most device reads were not requested.
const LARGE_OVERSHOOT: f64 = 2.0;

/// Share of the stored bytes that the device must have read.
const MIN_FETCHED: f64 = 0.5;

pub(super) fn read_ahead(evidence: &CellEvidence) -> Option<Finding> {
    let job = evidence.job;
    if !evidence.cacheable() || job.cache == Cache::Warm {
        return None;
    }
    let parts = parts(evidence);
    // Cached bytes were not fetched.
    if parts.page_cache * 2 > parts.all() {
        return None;
    }
    let times = share(parts.fetched, parts.stored);
    if times >= MIN_OVERSHOOT && parts.fetched >= parts.stored + MIN_OVERSHOOT_BYTES {
        return finding(
            if times >= LARGE_OVERSHOOT { Severity::Misleading } else { Severity::Note },
            format!("the device read {} times the requested bytes", three_digits(times)),
            format!("{} for {} of stored data", size(parts.fetched), size(parts.stored)),
            "add {direct} to read only the requested blocks, or use a larger {block-size}",
        );
    }
    let ahead = evidence.target.read_ahead.filter(|ahead| *ahead > job.block)?;
    // Bytes that the page cache still had were not fetched.
    let is_fetched = parts.stored == 0 || times >= MIN_FETCHED;
    if job.cache != Cache::Cold || job.pattern != Pattern::Seq || !is_fetched {
        return None;
    }
    finding(
        Severity::Note,
        format!(
            "readahead fetched the data in requests of up to {}, not in blocks of {}",
            show_bytes(ahead),
            show_bytes(job.block)
        ),
        "sequential buffered reads; read_ahead_kb of the disk",
        "add {direct} to send the disk requests of this block size",
    )
}

/// Checks `+populate` in a non-sequential pattern: the blocks up to a count lie anywhere in a
/// lane's part, so all of it is mapped.
pub(super) fn populated_more(evidence: &CellEvidence) -> Option<Finding> {
    let job = evidence.job;
    if !job.backend.has("populate") || matches!(job.pattern, Pattern::Seq | Pattern::Reverse) {
        return None;
    }
    let bad = evidence.trials_where(|t| {
        !t.short && t.evidence.unique_bytes > 0 && t.evidence.unique_bytes < job.span
    });
    let least = bad.iter().map(|t| t.evidence.unique_bytes).min()?;
    finding(
        Severity::Misleading,
        format!(
            "the trial mapped {} inside the timed window but read only {}",
            size(job.span),
            size(least)
        ),
        format!("+populate, pattern {}, {}", job.pattern, evidence.in_trials(bad.len())),
        match job.pattern.is_drawn() {
            true => "omit +populate",
            false => "use {count} 0 for complete passes, or omit +populate",
        },
    )
}
