//! `file-cache`: how much file data the page cache holds, measured within safe bounds. A child
//! process, in a control group if possible, reads a file twice: how much stayed cached, and how
//! much came from the device again?

use std::os::fd::AsRawFd;

use super::files::{
    check_disk_space, create_filled, describe_file_system, drop_from_cache, test_device,
    test_folder,
};
use super::read_worker::{ReadPart, ReadWorker};
use super::{BatchTime, Gauge, KnownCell, Opened, ParamSource, ProbeContext, ProbeError};
use crate::catalog::{self, MIN_CACHED_BYTES};
use crate::record::{Estimate, Severity, Unit, Warning};
use crate::sys::fd::page_size;
use crate::sys::memory::{Memory, free_memory};
use crate::sys::memory_group::MemoryGroup;
use crate::sys::residency::residency;
use crate::sys::scratch::Scratch;
use crate::sys::usage::memory_pressure;
use crate::units::{short_bytes, show_bytes, show_nanos};

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

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    let bytes = if source.has("bytes")? { Some(source.number("bytes")?) } else { None };
    Some(Box::new(FileCache { bytes }))
}

struct FileCache {
    /// The size of the file that is read again; `None` measures the size of the cache.
    bytes: Option<u64>,
}

impl KnownCell for FileCache {
    fn unit(&self) -> Unit {
        if self.bytes.is_none() { Unit::Bytes } else { Unit::Nanos }
    }

    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        test_folder(context)?;
        let bytes = self.bytes.unwrap_or(bounds(context, false).1);
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

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        let group = MemoryGroup::check_available().is_ok();
        Some(match self.bytes {
            None => estimate_cache_size(context, group),
            Some(bytes) => estimate_reread(bytes, limit(context, group, bytes), context),
        })
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let value = if self.bytes.is_some() { CacheValue::Again } else { CacheValue::Cached };
        let bytes = |group| self.bytes.unwrap_or(bounds(context, group).1);
        let why = if bytes(false) > MAX_GROUPED_BYTES {
            "it is larger than 1 GiB"
        } else {
            "there is too little memory for a group"
        };
        let limit = limit(context, true, bytes(true)).ok_or(why);
        Ok(Box::new(CacheRetention::open(value, limit, &bytes, context)?))
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

/// Bytes read between two checks of the machine's memory.
const PIECE_BYTES: u64 = 16 << 20;
const BLOCK_BYTES: usize = 256 << 10;
const MAX_ATTEMPTS: u32 = 3;
/// Microseconds of memory pressure stall from which memory counts as scarce.
const MAX_STALL_MICROS: u64 = 200_000;
/// Bytes to which a reported time refers.
const REPORTED_BYTES: u64 = 4096;

/// The quantity that is the value of the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CacheValue {
    /// Bytes cached after the first read.
    Cached,
    /// Nanoseconds per 4 KiB of the second read.
    Again,
}

struct CacheRetention {
    /// Dropped before its group is removed, so that the process has ended: fields drop in this
    /// order.
    reader: ReadWorker,
    /// The control group, or the reason for its absence.
    group: Result<MemoryGroup, String>,
    limit: Option<u64>,
    file: Scratch,
    bytes: u64,
    value: CacheValue,
    /// Free memory of the machine, if the file is larger and not limited by a group.
    exceeded_memory: Option<u64>,
    last: Option<Observation>,
    context: ProbeContext,
}

/// Results of the last batch.
#[derive(Debug, Clone, Copy)]
struct Observation {
    first: ReadPart,
    second: ReadPart,
    cached: u64,
    scarce: bool,
}

impl CacheRetention {
    /// Creates the file and starts the reading process. `limit` is the memory limit of the group,
    /// or the reason for not using one; `bytes` returns the file size with or without a group.
    fn open(
        value: CacheValue,
        limit: Result<u64, &str>,
        bytes: &dyn Fn(bool) -> u64,
        context: &ProbeContext,
    ) -> Result<CacheRetention, ProbeError> {
        let group = limit.map_err(String::from).and_then(MemoryGroup::create);
        let limit = limit.ok();
        let bytes = bytes(group.is_ok());
        let exceeded_memory = free_memory().filter(|free| group.is_err() && bytes > *free);
        let file = create_filled(context, bytes, 1)?;
        let joined = group.as_ref().ok().map(|group| group.processes.as_raw_fd());
        let reader = ReadWorker::fork(file.file(), BLOCK_BYTES, joined, context)?;
        Ok(CacheRetention {
            reader,
            group,
            limit,
            file,
            bytes,
            value,
            exceeded_memory,
            last: None,
            context: context.clone(),
        })
    }

    /// Reads the file up to `bytes` in pieces; stops if memory gets scarce, and returns whether it
    /// did.
    fn read(&mut self, bytes: u64) -> Result<(ReadPart, bool), ProbeError> {
        let guard = MemoryGuard::new(self.group.is_ok() || self.exceeded_memory.is_some());
        let (mut all, mut scarce) = (ReadPart::default(), false);
        while all.bytes < bytes {
            scarce = guard.is_scarce();
            if scarce {
                break;
            }
            self.reader.request(all.bytes, bytes.min(all.bytes + PIECE_BYTES))?;
            let part = self.reader.wait(&self.context)?;
            if part.bytes == 0 {
                break;
            }
            all.nanos += part.nanos;
            all.bytes += part.bytes;
            all.device_bytes += part.device_bytes;
        }
        match all.bytes {
            0 => Err(ProbeError::Missing("memory is scarce, so nothing was read".into())),
            _ => Ok((all, scarce)),
        }
    }

    fn read_twice(&mut self) -> Result<Observation, ProbeError> {
        drop_from_cache(self.file.file(), self.bytes, &self.context)?;
        let (first, scarce) = self.read(self.bytes)?;
        let left = residency(self.file.file(), 0, self.bytes)
            .map_err(ProbeError::in_call("querying what is cached"))?;
        let (second, again) = self.read(first.bytes)?;
        Ok(Observation {
            first,
            second,
            cached: (left.cached * page_size()).min(self.bytes),
            scarce: scarce || again,
        })
    }
}

/// Watches the memory of the machine for scarcity.
struct MemoryGuard {
    /// Bytes that must stay available.
    floor: u64,
    /// Stall counter at the start; `None` if the file itself causes the pressure, in a control
    /// group or beyond free memory.
    pressure: Option<u64>,
}

impl MemoryGuard {
    fn new(own_pressure: bool) -> MemoryGuard {
        let floor = Memory::now().map_or(0, |memory| memory.available / 2);
        MemoryGuard { floor, pressure: if own_pressure { None } else { memory_pressure() } }
    }

    fn is_scarce(&self) -> bool {
        let pressed = self
            .pressure
            .zip(memory_pressure())
            .is_some_and(|(before, now)| now.saturating_sub(before) > MAX_STALL_MICROS);
        pressed || Memory::now().is_ok_and(|memory| memory.available < self.floor)
    }
}

impl Gauge for CacheRetention {
    /// Reads the file twice, whatever the count. Retries if other programs evicted the file: within
    /// these bounds nothing else evicts it.
    fn run(&mut self, _: u64) -> Result<BatchTime, ProbeError> {
        let mut best = self.read_twice()?;
        for _ in 1..MAX_ATTEMPTS {
            if self.group.is_ok()
                || self.exceeded_memory.is_some()
                || best.scarce
                || (best.cached == self.bytes && best.second.device_bytes == 0)
            {
                break;
            }
            let next = self.read_twice()?;
            // More stayed cached, or the same amount with less read again.
            if (next.cached, best.second.device_bytes) > (best.cached, next.second.device_bytes) {
                best = next;
            }
        }
        self.last = Some(best);
        Ok(match self.value {
            CacheValue::Cached => BatchTime {
                nanos: best.first.nanos + best.second.nanos,
                amount: best.cached as f64,
                ..BatchTime::default()
            },
            CacheValue::Again => BatchTime {
                nanos: best.second.nanos,
                amount: best.second.bytes as f64 / REPORTED_BYTES as f64,
                ..BatchTime::default()
            },
        })
    }

    fn evidence(&self) -> Vec<String> {
        let Some(last) = self.last else { return Vec::new() };
        let bounds = match (&self.group, self.limit, self.exceeded_memory) {
            (_, _, Some(free)) => format!("larger than the {} of free memory", show_bytes(free)),
            (Ok(_), Some(limit), _) => format!("inside a control group of {}", show_bytes(limit)),
            (Err(why), ..) if self.value == CacheValue::Again => {
                format!("not limited by a control group ({why}): all free memory may hold it")
            }
            (Err(why), ..) => format!(
                "a lower bound: not limited by a control group ({why}), and only {} was tried",
                show_bytes(self.bytes)
            ),
            _ => "within bounds".into(),
        };
        fn each(part: ReadPart) -> String {
            show_nanos(part.nanos as f64 / (part.bytes.max(1) as f64 / REPORTED_BYTES as f64))
        }
        let (first, second) = (last.first, last.second);
        let read = format!(
            "first read: {}, {} of it from the device, {} per 4 KiB; then {} was cached; second \
             read: {} from the device, {} per 4 KiB",
            show_bytes(first.bytes),
            show_bytes(first.device_bytes),
            each(first),
            show_bytes(last.cached),
            show_bytes(second.device_bytes),
            each(second)
        );
        let scarce = last
            .scarce
            .then(|| "stopped early because memory got scarce: a lower bound".to_string());
        [bounds]
            .into_iter()
            .chain(scarce)
            .chain([read])
            .chain(describe_file_system(self.file.file()))
            .collect()
    }

    fn warnings(&self) -> Vec<Warning> {
        let scarce = self
            .last
            .filter(|last| last.scarce)
            .map(|_| "memory got scarce before the end of the file".to_string());
        let tried = |why: &String| {
            format!("{} was tried, and no control group limits it: {why}", show_bytes(self.bytes))
        };
        // If part of it did not stay cached, the limit was reached.
        let whole = self.last.is_some_and(|last| last.cached >= self.bytes);
        let bounded = self
            .group
            .as_ref()
            .err()
            .filter(|_| self.value == CacheValue::Cached && whole)
            .map(tried);
        let evidence = scarce.or(bounded);
        let warning = |evidence| Warning {
            id: "at-least".into(),
            severity: Severity::Misleading,
            message: match self.value {
                CacheValue::Cached => {
                    "the value is a lower bound: the limit of the page cache was not reached"
                }
                CacheValue::Again => "the time covers only part of the file",
            }
            .into(),
            evidence,
            remedy: "run it where this process may create a memory control group (systemd: \
                     Delegate=memory)"
                .into(),
        };
        evidence.map(warning).into_iter().collect()
    }

    fn max_batch(&self) -> u64 {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::testing::context;

    fn with(memory: u64) -> ProbeContext {
        let mut context = context();
        (context.memory, context.dir) = (memory, Some(".".into()));
        context
    }

    #[test]
    fn bounds_hold_for_any_memory() {
        assert_eq!(bounds(&with(1 << 40), true), (Some(GROUP_LIMIT), GROUP_LIMIT / 4 * 5));
        assert_eq!(bounds(&with(1 << 40), false), (None, UNGROUPED_BYTES));
        // A group must not use more than a quarter of free memory either.
        assert_eq!(bounds(&with(100 << 20), true), (None, 100 << 20));
        assert_eq!(bounds(&with((10 << 20) + 5), false), (None, 10 << 20));
        assert!(
            FileCache { bytes: None }
                .check(&with(MIN_CACHED_BYTES - 1))
                .unwrap_err()
                .contains("a quarter")
        );
        let large = FileCache { bytes: Some(MAX_GROUPED_BYTES) };
        let refused = large.check(&with(MAX_GROUPED_BYTES - 1)).unwrap_err();
        assert!(refused.contains("--set file-cache.bytes=1g"), "{refused}");
        let chosen =
            with(MAX_GROUPED_BYTES - 1).with_sets(Some(&["file-cache.bytes=1g".parse().unwrap()]));
        assert!(
            large.check(&chosen).is_ok() || check_disk_space(&chosen, MAX_GROUPED_BYTES).is_err()
        );
    }

    #[test]
    fn large_sizes_explore_all_memory() {
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
    fn oversized_files_come_from_the_device() {
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

    #[test]
    fn memory_scarcity_follows_the_floor() {
        assert!(!MemoryGuard { floor: 0, pressure: None }.is_scarce());
        assert!(MemoryGuard { floor: u64::MAX, pressure: None }.is_scarce());
    }
}
