//! The rule about few operations that take most of the time.

use crate::plan::{Cache, Pattern};
use crate::record::verdict::CellEvidence;
use crate::record::{Finding, Severity, finding};
use crate::units::{counted, show_nanos, show_share};

/// An operation that takes this many times the median is a stall.
const MIN_STALL: f64 = 10.0;
/// Share of the time that stalls must hold, and share of the operations up to which they are few.
const MIN_HELD_SHARE: f64 = 0.5;
const MAX_STALLED_SHARE: f64 = 0.1;

pub(super) fn stalls(evidence: &CellEvidence) -> Option<Finding> {
    let job = evidence.job;
    // Others read ahead, or end in the page cache: most operations wait for nothing.
    let waits = job.direct
        || job.commits()
        || evidence.reads() && job.cache == Cache::Cold && job.pattern == Pattern::Random;
    let latency = evidence.latency.filter(|_| evidence.moves() && waits)?;
    let p50 = latency.p50?;
    let (mut stalls, mut held, mut all) = (0, 0.0, 0.0);
    for &(nanos, count) in &latency.buckets {
        let time = nanos as f64 * count as f64;
        all += time;
        if nanos as f64 >= MIN_STALL * p50 {
            stalls += count;
            held += time;
        }
    }
    let (share, few) = (held / all, stalls as f64 <= latency.count as f64 * MAX_STALLED_SHARE);
    if !few || share.is_nan() || share < MIN_HELD_SHARE {
        return None;
    }
    let verb = if stalls == 1 { "holds" } else { "hold" };
    finding(
        Severity::Misleading,
        format!("{} {verb} {} of the time", counted(stalls as usize, "stall"), show_share(share)),
        format!(
            "{} of {} took at least {}; half of all took up to {}, the mean is {}",
            stalls,
            counted(latency.count as usize, "timed operation"),
            show_nanos(MIN_STALL * p50),
            show_nanos(p50),
            show_nanos(latency.mean)
        ),
        "read the mean, p99 and maximum beside the median; look for what holds the device up at \
         these times",
    )
}
