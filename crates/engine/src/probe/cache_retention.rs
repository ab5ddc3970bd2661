//! Reading a file twice in a child process, inside a control group if possible, to measure how much
//! stayed cached and how much came from the device again.

use std::os::fd::AsRawFd;

use super::files::{create_filled, describe_file_system, drop_from_cache};
use super::read_worker::{ReadPart, ReadWorker};
use super::{BatchTime, Gauge, ProbeContext, ProbeError};
use crate::record::{Severity, Warning};
use crate::sys::fd::page_size;
use crate::sys::memory::Memory;
use crate::sys::memory_group::MemoryGroup;
use crate::sys::memory_limit::free_memory;
use crate::sys::residency::residency;
use crate::sys::scratch::Scratch;
use crate::sys::usage::memory_pressure;
use crate::units::{show_bytes, show_nanos};

/// Bytes read between two checks of the machine's memory.
const PIECE_BYTES: u64 = 16 << 20;
const BLOCK_BYTES: usize = 256 << 10;
const MAX_ATTEMPTS: u32 = 3;
/// Microseconds of memory pressure stall from which memory counts as scarce.
const MAX_STALL_MICROS: u64 = 200_000;
/// Bytes to which a reported time refers.
pub(super) const REPORTED_BYTES: u64 = 4096;

/// The quantity that is the value of the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// Bytes cached after the first read.
    Cached,
    /// Nanoseconds per 4 KiB of the second read.
    Again,
}

pub(super) struct CacheRetention {
    /// Dropped before its group is removed, so that the process has ended: fields drop in this
    /// order.
    reader: ReadWorker,
    /// The control group, or the reason why there is none.
    group: Result<MemoryGroup, String>,
    limit: Option<u64>,
    file: Scratch,
    bytes: u64,
    value: Value,
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
    pub fn open(
        value: Value,
        limit: Result<u64, &str>,
        bytes: impl Fn(bool) -> u64,
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
            Value::Cached => BatchTime {
                nanos: best.first.nanos + best.second.nanos,
                amount: best.cached as f64,
                ..BatchTime::default()
            },
            Value::Again => BatchTime {
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
            (Err(why), ..) if self.value == Value::Again => {
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
        let bounded =
            self.group.as_ref().err().filter(|_| self.value == Value::Cached && whole).map(tried);
        let evidence = scarce.or(bounded);
        let warning = |evidence| Warning {
            id: "at-least".into(),
            severity: Severity::Misleading,
            message: match self.value {
                Value::Cached => {
                    "the value is a lower bound: the limit of the page cache was not \
                                  reached"
                }
                Value::Again => "the time covers only part of the file",
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

    #[test]
    fn memory_is_scarce_only_when_it_is() {
        assert!(!MemoryGuard { floor: 0, pressure: None }.is_scarce());
        assert!(MemoryGuard { floor: u64::MAX, pressure: None }.is_scarce());
    }
}
