//! A file read twice by another process, inside a control group where there is one: what stayed
//! cached, what came from the device again.

use std::os::fd::AsRawFd;

use super::files::{cold, filled, ground};
use super::reader::{Part, Reader};
use super::{Gauge, ProbeError, Site, Took};
use crate::record::{Severity, Warning};
use crate::sys::fd::page_size;
use crate::sys::memory::Memory;
use crate::sys::memory_group::MemoryGroup;
use crate::sys::memory_limit::free_memory;
use crate::sys::residency::residency;
use crate::sys::scratch::Scratch;
use crate::sys::usage::memory_pressure;
use crate::units::{show_bytes, show_nanos};

/// Between two looks at the machine's memory.
const PIECE: u64 = 16 << 20;
const READ: usize = 256 << 10;
const TRIES: u32 = 3;
/// Microseconds in which anyone waited for memory, before it is called scarce.
const PRESSURE: u64 = 200_000;
/// What a time is told for.
pub(super) const PAGE: u64 = 4096;

/// What is taken as the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// Bytes that were cached after the first reading.
    Cached,
    /// Nanoseconds of 4 KiB when the file is read again.
    Again,
}

pub(super) struct Twice {
    /// Ends before its group is removed: fields are dropped in this order.
    reader: Reader,
    /// Or why there is none.
    group: Result<MemoryGroup, String>,
    limit: Option<u64>,
    file: Scratch,
    bytes: u64,
    value: Value,
    /// The machine's free memory, where no group bounds it and it is more than that.
    beyond: Option<u64>,
    seen: Option<Seen>,
    site: Site,
}

/// What the last batch saw.
#[derive(Debug, Clone, Copy)]
struct Seen {
    first: Part,
    second: Part,
    cached: u64,
    scarce: bool,
}

impl Twice {
    /// Makes the file, so large as `bytes` says of a group that there is or is not.
    /// `limit`: memory of the group, or why there is to be none.
    pub fn open(
        value: Value,
        limit: Result<u64, &str>,
        bytes: impl Fn(bool) -> u64,
        site: &Site,
    ) -> Result<Twice, ProbeError> {
        let group = limit.map_err(String::from).and_then(MemoryGroup::create);
        let limit = limit.ok();
        let bytes = bytes(group.is_ok());
        let beyond = free_memory().filter(|free| group.is_err() && bytes > *free);
        let file = filled(site, bytes, 1)?;
        let joined = group.as_ref().ok().map(|group| group.processes.as_raw_fd());
        let reader = Reader::fork(file.file(), READ, joined, site)?;
        Ok(Twice {
            reader,
            group,
            limit,
            file,
            bytes,
            value,
            beyond,
            seen: None,
            site: site.clone(),
        })
    }

    /// The file up to `bytes`, piece by piece; ends where memory gets scarce, and says so.
    fn read(&mut self, bytes: u64) -> Result<(Part, bool), ProbeError> {
        let guard = Guard::new(self.group.is_ok() || self.beyond.is_some());
        let (mut all, mut scarce) = (Part::default(), false);
        while all.bytes < bytes {
            scarce = guard.is_scarce();
            if scarce {
                break;
            }
            self.reader.ask(all.bytes, bytes.min(all.bytes + PIECE))?;
            let part = self.reader.answer(&self.site)?;
            if part.bytes == 0 {
                break;
            }
            all.nanos += part.nanos;
            all.bytes += part.bytes;
            all.device_bytes += part.device_bytes;
        }
        match all.bytes {
            0 => Err(ProbeError::Missing("memory is scarce: nothing was read".into())),
            _ => Ok((all, scarce)),
        }
    }

    fn once(&mut self) -> Result<Seen, ProbeError> {
        cold(self.file.file(), self.bytes)?;
        let (first, scarce) = self.read(self.bytes)?;
        let left = residency(self.file.file(), 0, self.bytes)
            .map_err(ProbeError::of("asking what is cached"))?;
        let (second, again) = self.read(first.bytes)?;
        Ok(Seen {
            first,
            second,
            cached: (left.cached * page_size()).min(self.bytes),
            scarce: scarce || again,
        })
    }
}

/// Watches the memory of the machine.
struct Guard {
    /// Bytes that must stay available.
    floor: u64,
    /// Not where the file alone makes it: beyond a control group of ours, or beyond free memory.
    pressure: Option<u64>,
}

impl Guard {
    fn new(own_pressure: bool) -> Guard {
        let floor = Memory::now().map_or(0, |memory| memory.available / 2);
        Guard { floor, pressure: if own_pressure { None } else { memory_pressure() } }
    }

    fn is_scarce(&self) -> bool {
        let pressed = self
            .pressure
            .zip(memory_pressure())
            .is_some_and(|(before, now)| now.saturating_sub(before) > PRESSURE);
        pressed || Memory::now().is_ok_and(|memory| memory.available < self.floor)
    }
}

impl Gauge for Twice {
    /// One at a time, whatever is asked; again where others emptied the cache meanwhile, as nothing
    /// else does within these bounds.
    fn run(&mut self, _: u64) -> Result<Took, ProbeError> {
        let mut best = self.once()?;
        for _ in 1..TRIES {
            if self.group.is_ok()
                || self.beyond.is_some()
                || best.scarce
                || (best.cached == self.bytes && best.second.device_bytes == 0)
            {
                break;
            }
            let next = self.once()?;
            // More stayed, or as much and less came again.
            if (next.cached, best.second.device_bytes) > (best.cached, next.second.device_bytes) {
                best = next;
            }
        }
        self.seen = Some(best);
        Ok(match self.value {
            Value::Cached => Took {
                nanos: best.first.nanos + best.second.nanos,
                amount: best.cached as f64,
                ..Took::default()
            },
            Value::Again => Took {
                nanos: best.second.nanos,
                amount: best.second.bytes as f64 / PAGE as f64,
                ..Took::default()
            },
        })
    }

    fn evidence(&self) -> Vec<String> {
        let Some(seen) = self.seen else { return Vec::new() };
        let bounds = match (&self.group, self.limit, self.beyond) {
            (_, _, Some(free)) => format!("more than {} of free memory can hold", show_bytes(free)),
            (Ok(_), Some(limit), _) => format!("inside a control group of {}", show_bytes(limit)),
            (Err(why), ..) if self.value == Value::Again => {
                format!("bounded by no control group ({why}): all free memory may hold it")
            }
            (Err(why), ..) => format!(
                "at least, as no control group bounds it ({why}) and only {} were tried",
                show_bytes(self.bytes)
            ),
            _ => "in bounds".into(),
        };
        let each =
            |part: Part| show_nanos(part.nanos as f64 / (part.bytes.max(1) as f64 / PAGE as f64));
        let (first, second) = (seen.first, seen.second);
        let read = format!(
            "{} read, {} of them from the device, {} for 4 KiB; then {} were cached; read again, {} came from the device, {} for 4 KiB",
            show_bytes(first.bytes),
            show_bytes(first.device_bytes),
            each(first),
            show_bytes(seen.cached),
            show_bytes(second.device_bytes),
            each(second)
        );
        let scarce = seen.scarce.then(|| "ended early, as memory got scarce: at least".to_string());
        [bounds].into_iter().chain(scarce).chain([read]).chain(ground(self.file.file())).collect()
    }

    fn warnings(&self) -> Vec<Warning> {
        let scarce = self
            .seen
            .filter(|seen| seen.scarce)
            .map(|_| "memory got scarce before the file ended".to_string());
        let tried = |why: &String| {
            format!("{} were tried, and no control group bounds it: {why}", show_bytes(self.bytes))
        };
        // Where not all of it stayed, the edge was reached.
        let whole = self.seen.is_some_and(|seen| seen.cached >= self.bytes);
        let bounded =
            self.group.as_ref().err().filter(|_| self.value == Value::Cached && whole).map(tried);
        let evidence = scarce.or(bounded);
        let warning = |evidence| {
            Warning {
            id: "at-least".into(),
            severity: Severity::Misleading,
            message: match self.value {
                Value::Cached => "the file cache holds so much at least: its size was not reached",
                Value::Again => "the time is of a part of the file only",
            }
            .into(),
            evidence,
            remedy: "run it where this process may make a control group of memory (systemd: Delegate=memory)".into(),
        }
        };
        evidence.map(warning).into_iter().collect()
    }

    fn most(&self) -> u64 {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_scarce_only_when_it_is() {
        assert!(!Guard { floor: 0, pressure: None }.is_scarce());
        assert!(Guard { floor: u64::MAX, pressure: None }.is_scarce());
    }
}
