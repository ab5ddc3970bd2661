//! `file-cache`: how much file data the page cache holds, measured within safe bounds.

use super::cache_retention::{CacheRetention, REPORTED_BYTES, Value};
use super::files::{check_disk_space, test_device, test_folder};
use super::{Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog::{self, MIN_CACHED_BYTES};
use crate::plan::ProbeInfo;
use crate::record::{Estimate, Unit};
use crate::sys::fd::page_size;
use crate::sys::memory_group::MemoryGroup;
use crate::units::{short_bytes, show_bytes};

pub(super) struct FileCache;

/// Memory limit of the control group.
const GROUP_LIMIT: u64 = 128 << 20;
/// Size of the file without a control group.
const UNGROUPED_BYTES: u64 = 256 << 20;
/// Largest file that is read inside a group; a larger one explores the memory of the machine.
const MAX_GROUPED_BYTES: u64 = 1 << 30;
/// Typical readahead request of the kernel.
const READAHEAD_BYTES: u64 = 128 << 10;
/// Expected nanoseconds per cached 4 KiB in long reads.
const CACHED: (f64, f64) = (100.0, 1500.0);

/// Returns the memory limit of the control group, if one can be used, and the size of the file. The
/// largest requested size beyond [`MAX_GROUPED_BYTES`] overrides both.
fn bounds(context: &ProbeContext, group: bool) -> (Option<u64>, u64) {
    let page = page_size();
    let chosen = context
        .requested_values(&catalog::FILE_CACHE, "bytes")
        .into_iter()
        .flatten()
        .max()
        .filter(|bytes| *bytes > MAX_GROUPED_BYTES);
    let limit = group
        .then_some(GROUP_LIMIT)
        .filter(|limit| chosen.is_none() && limit / 4 * 5 <= context.memory);
    (
        limit,
        chosen.unwrap_or_else(|| {
            limit.map_or(UNGROUPED_BYTES.min(context.memory), |limit| limit / 4 * 5)
        }) / page
            * page,
    )
}

/// Returns the memory limit of the control group for a file of `bytes`.
fn limit(context: &ProbeContext, group: bool, bytes: u64) -> Option<u64> {
    bounds(context, group).0.filter(|_| bytes <= MAX_GROUPED_BYTES)
}

impl ProbeKind for FileCache {
    const INFO: &'static ProbeInfo = &catalog::FILE_CACHE;
    /// The size of the file that is read again; `None` measures the size of the cache.
    type Params = Option<u64>;

    fn params(source: &mut ParamSource) -> Option<Self::Params> {
        Some(if source.has("bytes")? { Some(source.number("bytes")?) } else { None })
    }

    fn unit(asked: &Self::Params) -> Unit {
        if asked.is_none() { Unit::Bytes } else { Unit::Nanos }
    }

    fn check(asked: &Self::Params, context: &ProbeContext) -> Result<(), String> {
        test_folder(context)?;
        let bytes = asked.unwrap_or(bounds(context, false).1);
        if bytes < MIN_CACHED_BYTES {
            return Err(format!(
                "only {} of memory may be used: a quarter of what is free",
                show_bytes(context.memory)
            ));
        }
        // Reading takes no memory from programs, but it evicts the cached data of other files: the
        // probe reads more than a quarter of free memory only on request.
        let beyond = |why| {
            format!("{why}; to read it anyway, use --set file-cache.bytes={}", short_bytes(bytes))
        };
        let asked = context.requested_values(&catalog::FILE_CACHE, "bytes").is_some();
        let fits = if asked { Ok(()) } else { context.check_memory(bytes).map_err(beyond) };
        fits.and_then(|()| check_disk_space(context, bytes))
    }

    fn estimate(asked: &Self::Params, context: &ProbeContext) -> Option<Estimate> {
        let group = MemoryGroup::check_available().is_ok();
        Some(match *asked {
            None => estimate_cache_size(context, group),
            Some(bytes) => estimate_reread(bytes, limit(context, group, bytes), context),
        })
    }

    fn open(asked: &Self::Params, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        let value = if asked.is_some() { Value::Again } else { Value::Cached };
        let bytes = |group| asked.unwrap_or(bounds(context, group).1);
        let why = if bytes(false) > MAX_GROUPED_BYTES {
            "it is larger than 1 GiB"
        } else {
            "there is too little memory for a group"
        };
        let limit = limit(context, true, bytes(true)).ok_or(why);
        Ok(Box::new(CacheRetention::open(value, limit, bytes, context)?))
    }
}

/// Estimates how much the cache holds.
fn estimate_cache_size(context: &ProbeContext, group: bool) -> Estimate {
    let (limit, bytes) = bounds(context, group);
    let free = context.memory.saturating_mul(4);
    let (low, high, reason) = match limit {
        Some(limit) => (
            limit / 2,
            limit,
            format!("what a control group of {} leaves for file data", show_bytes(limit)),
        ),
        None => {
            let reason = format!(
                "all free memory, {}, may hold file data; {} is tried",
                show_bytes(free),
                show_bytes(bytes)
            );
            (bytes.min(free / 4 * 3), free.min(bytes), reason)
        }
    };
    Estimate { low: low as f64, high: high as f64, reason }
}

/// Estimates the time of 4 KiB when a file of `bytes` is read again.
fn estimate_reread(bytes: u64, limit: Option<u64>, context: &ProbeContext) -> Estimate {
    let (device, file) = (test_device(context), show_bytes(bytes));
    let device_page = (
        device.byte.0 * REPORTED_BYTES as f64,
        device.byte.1 * REPORTED_BYTES as f64
            + device.request.1 * REPORTED_BYTES as f64 / READAHEAD_BYTES as f64,
    );
    let (holds, whose) = match limit {
        Some(limit) => (limit, format!("a control group of {}", show_bytes(limit))),
        None => (
            context.memory.saturating_mul(4),
            format!("{} of free memory", show_bytes(context.memory.saturating_mul(4))),
        ),
    };
    let (low, high, reason) = match bytes {
        _ if bytes > holds => (
            device_page.0,
            device_page.1,
            format!("{whose} cannot hold {file}: read from the device, {}", device.why),
        ),
        // The kernel itself needs some of the memory.
        _ if bytes > holds / 4 * 3 => {
            (CACHED.0, device_page.1, format!("{file} is close to the limit of {whose}"))
        }
        _ => (
            CACHED.0,
            CACHED.1,
            format!(
                "{file} stays cached: 4 KiB copied out of the page cache, and its share of a \
                 system call"
            ),
        ),
    };
    Estimate { low, high: high.max(low), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ProbeCell;
    use crate::probe::Probe;
    use crate::probe::testing::context;

    fn with(memory: u64) -> ProbeContext {
        let mut context = context();
        (context.memory, context.dir) = (memory, Some(".".into()));
        context
    }

    #[test]
    fn bounds_hold_for_any_amount_of_free_memory() {
        assert_eq!(bounds(&with(1 << 40), true), (Some(GROUP_LIMIT), GROUP_LIMIT / 4 * 5));
        assert_eq!(bounds(&with(1 << 40), false), (None, UNGROUPED_BYTES));
        // A group must not use more than a quarter of free memory either.
        assert_eq!(bounds(&with(100 << 20), true), (None, 100 << 20));
        assert_eq!(bounds(&with((10 << 20) + 5), false), (None, 10 << 20));
        assert!(
            FileCache
                .check(&ProbeCell::new("file-cache", []), &with(MIN_CACHED_BYTES - 1))
                .unwrap_err()
                .contains("a quarter")
        );
        let large = ProbeCell::new("file-cache", [("bytes", MAX_GROUPED_BYTES.into())]);
        let refused = FileCache.check(&large, &with(MAX_GROUPED_BYTES - 1)).unwrap_err();
        assert!(refused.contains("--set file-cache.bytes=1g"), "{refused}");
        let chosen =
            with(MAX_GROUPED_BYTES - 1).with_sets(Some(&["file-cache.bytes=1g".parse().unwrap()]));
        assert!(
            FileCache.check(&large, &chosen).is_ok()
                || check_disk_space(&chosen, MAX_GROUPED_BYTES).is_err()
        );
    }

    #[test]
    fn sizes_beyond_a_group_explore_the_memory_of_the_machine() {
        let context =
            with(2 << 30).with_sets(Some(&["file-cache.bytes=64m,4g,32g".parse().unwrap()]));
        assert_eq!(bounds(&context, true), (None, 32 << 30));
        let [within, edge, beyond] = [4u64 << 30, 7 << 30, 32 << 30]
            .map(|bytes| estimate_reread(bytes, limit(&context, true, bytes), &context));
        assert!(
            within.reason.contains("stays cached")
                && edge.reason.contains("close to the limit of 8"),
            "{within:?} {edge:?}"
        );
        assert!(beyond.reason.contains("8 GiB of free memory cannot hold 32 GiB"), "{beyond:?}");
        assert_eq!(estimate_cache_size(&context, false).high, (8u64 << 30) as f64);
    }

    #[test]
    fn what_a_group_cannot_hold_is_expected_from_the_device() {
        let context = with(1 << 40);
        let [holds, edge, beyond] = [64u64 << 20, 128 << 20, 192 << 20]
            .map(|bytes| estimate_reread(bytes, Some(GROUP_LIMIT), &context));
        assert!(
            holds.reason.contains("stays cached") && (holds.low, holds.high) == CACHED,
            "{holds:?}"
        );
        assert!(
            edge.reason.contains("close to the limit")
                && edge.low == holds.low
                && edge.high == beyond.high,
            "{edge:?}"
        );
        assert!(
            beyond.reason.contains("cannot hold 192 MiB") && beyond.high > holds.high,
            "{beyond:?}"
        );
        // Without a group, the whole file stays cached.
        assert_eq!(estimate_reread(192 << 20, None, &context).high, holds.high);
    }
}
