//! `file-cache`: how much file data the kernel keeps, found out in bounds.

use std::os::fd::AsRawFd;

use super::files::{cold, filled, folder, ground, has_room};
use super::reader::{Part, Reader};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::{Estimate, Severity, Unit, Warning};
use crate::sys::fd::page_size;
use crate::sys::memory::Memory;
use crate::sys::memory_group::MemoryGroup;
use crate::sys::residency::residency;
use crate::sys::scratch::Scratch;
use crate::sys::usage::memory_pressure;
use crate::units::{show_bytes, show_nanos};

pub(super) struct FileCache;

static INFO: ProbeInfo = ProbeInfo {
    id: "file-cache",
    group: Group::Files,
    title: "size of the file cache",
    about: "how much of a file stays in memory when it is read, inside a control group where one can be made, else in bounds",
    doc: "Reads a file that is not cached, counts how much of it is cached then, and reads it again: what the cache has does not come \
          from the device a second time. All memory that nobody needs may become file cache, so filling it would drive the machine to \
          its limit, as in the report, where a file of 39 GB no longer fit into 40 GB of memory. Where this process was given control \
          groups of its own, a child reads inside one of 128 MiB, more than fits, so the edge is seen without touching the rest. \
          Elsewhere it reads at most 256 MiB and a quarter of what is free, ends early where memory gets scarce, and the value is what \
          the cache holds at least.",
    makes_files: true,
};

/// Memory of the control group.
const GROUP: u64 = 128 << 20;
/// The file where there is none.
const BOUND: u64 = 256 << 20;
const LEAST: u64 = 1 << 20;
/// Between two looks at the machine's memory.
const PIECE: u64 = 16 << 20;
const READ: usize = 256 << 10;
const TRIES: u32 = 3;
/// Microseconds in which anyone waited for memory, before it is called scarce.
const PRESSURE: u64 = 200_000;

/// The control group's memory where there can be one, and the size of the file.
fn bounds(site: &Site, group: bool) -> (Option<u64>, u64) {
    let page = page_size();
    let limit = group.then_some(GROUP).filter(|limit| limit / 4 * 5 <= site.memory);
    (limit, limit.map_or(BOUND.min(site.memory), |limit| limit / 4 * 5) / page * page)
}

impl Probe for FileCache {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        vec![ProbeCell::new(INFO.id, [])]
    }

    fn unit(&self, _: &ProbeCell) -> Unit {
        Unit::Bytes
    }

    fn check(&self, _: &ProbeCell, site: &Site) -> Result<(), String> {
        folder(site)?;
        let (_, bytes) = bounds(site, false);
        if bytes < LEAST {
            return Err(format!("a quarter of what is free is {} of memory only", show_bytes(site.memory)));
        }
        has_room(site, bytes)
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let (limit, bytes) = bounds(site, MemoryGroup::possible().is_ok());
        let free = site.memory.saturating_mul(4);
        let (low, high, reason) = match limit {
            Some(limit) => (limit / 2, limit, format!("all that a control group of {} leaves for files", show_bytes(limit))),
            None => {
                let reason = "all free memory may hold files".to_string();
                (bytes, free.max(bytes), format!("{reason}, {}; {} of it are tried", show_bytes(free), show_bytes(bytes)))
            }
        };
        cell.params.is_empty().then_some(Estimate { low: low as f64, high: high as f64, reason })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        if !cell.params.is_empty() {
            return Err(ProbeError::unknown(cell));
        }
        self.check(cell, site).map_err(ProbeError::Missing)?;
        let (limit, _) = bounds(site, true);
        let group = limit.ok_or_else(|| "there is too little memory for one".to_string()).and_then(MemoryGroup::create);
        let (_, bytes) = bounds(site, group.is_ok());
        let file = filled(site, bytes, 1)?;
        let joined = group.as_ref().ok().map(|group| group.processes.as_raw_fd());
        let reader = Reader::fork(file.file(), READ, joined, site)?;
        Ok(Box::new(Cache { reader, group, limit, file, bytes, seen: None, site: site.clone() }))
    }
}

struct Cache {
    /// Ends before its group is removed: fields are dropped in this order.
    reader: Reader,
    /// Or why there is none.
    group: Result<MemoryGroup, String>,
    limit: Option<u64>,
    file: Scratch,
    bytes: u64,
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

impl Cache {
    /// The file up to `bytes`, piece by piece; ends where memory gets scarce, and says so.
    fn read(&mut self, bytes: u64) -> Result<(Part, bool), ProbeError> {
        let guard = Guard::new(self.group.is_ok());
        let mut all = Part::default();
        while all.bytes < bytes {
            if guard.is_scarce() {
                return Ok((all, true));
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
        Ok((all, false))
    }
}

impl Cache {
    fn once(&mut self) -> Result<Seen, ProbeError> {
        cold(self.file.file(), self.bytes)?;
        let (first, scarce) = self.read(self.bytes)?;
        let left = residency(self.file.file(), 0, self.bytes).map_err(ProbeError::of("asking what is cached"))?;
        let (second, _) = self.read(first.bytes)?;
        Ok(Seen { first, second, cached: (left.cached * page_size()).min(self.bytes), scarce })
    }
}

/// Watches the memory of the machine.
struct Guard {
    /// Bytes that must stay available.
    floor: u64,
    /// Not where a control group of ours makes its own pressure.
    pressure: Option<u64>,
}

impl Guard {
    fn new(own_group: bool) -> Guard {
        let floor = Memory::now().map_or(0, |memory| memory.available / 2);
        Guard { floor, pressure: if own_group { None } else { memory_pressure() } }
    }

    fn is_scarce(&self) -> bool {
        let pressed = self.pressure.zip(memory_pressure()).is_some_and(|(before, now)| now.saturating_sub(before) > PRESSURE);
        pressed || Memory::now().is_ok_and(|memory| memory.available < self.floor)
    }
}

impl Gauge for Cache {
    /// One at a time, whatever is asked; again where others emptied the cache meanwhile, as nothing else does within these bounds.
    fn run(&mut self, _: u64) -> Result<Took, ProbeError> {
        let mut best = self.once()?;
        for _ in 1..TRIES {
            if self.group.is_ok() || best.scarce || best.cached == self.bytes {
                break;
            }
            let next = self.once()?;
            if next.cached > best.cached {
                best = next;
            }
        }
        self.seen = Some(best);
        Ok(Took { nanos: best.first.nanos + best.second.nanos, amount: best.cached as f64, ..Took::default() })
    }

    fn evidence(&self) -> Vec<String> {
        let Some(seen) = self.seen else { return Vec::new() };
        let bounds = match (&self.group, self.limit) {
            (Ok(_), Some(limit)) => format!("inside a control group of {}", show_bytes(limit)),
            (Err(why), _) => format!("at least, as no control group bounds it ({why}) and only {} were tried", show_bytes(self.bytes)),
            _ => "in bounds".into(),
        };
        let each = |part: Part| show_nanos(part.nanos as f64 / (part.bytes.max(1) as f64 / 4096.0));
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
        let scarce = self.seen.filter(|seen| seen.scarce).map(|_| "memory got scarce before the file ended".to_string());
        let tried = |why: &String| format!("{} were tried, and no control group bounds it: {why}", show_bytes(self.bytes));
        let evidence = scarce.or_else(|| self.group.as_ref().err().map(tried));
        let warning = |evidence| Warning {
            id: "at-least".into(),
            severity: Severity::Misleading,
            message: "the file cache holds so much at least: its size was not reached".into(),
            evidence,
            remedy: "run it where this process may make a control group of memory (systemd: Delegate=memory)".into(),
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
    use crate::probe::testing::site;

    fn with(memory: u64) -> Site {
        let mut site = site();
        (site.memory, site.dir) = (memory, Some(".".into()));
        site
    }

    #[test]
    fn bounds_are_kept_whatever_is_free() {
        assert_eq!(bounds(&with(1 << 40), true), (Some(GROUP), GROUP / 4 * 5));
        assert_eq!(bounds(&with(1 << 40), false), (None, BOUND));
        // A group must not be given more than a quarter of what is free either.
        assert_eq!(bounds(&with(100 << 20), true), (None, 100 << 20));
        assert_eq!(bounds(&with((10 << 20) + 5), false), (None, 10 << 20));
        assert!(FileCache.check(&ProbeCell::new("file-cache", []), &with(LEAST - 1)).unwrap_err().contains("a quarter"));
    }

    #[test]
    fn memory_is_scarce_only_when_it_is() {
        assert!(!Guard { floor: 0, pressure: None }.is_scarce());
        assert!(Guard { floor: u64::MAX, pressure: None }.is_scarce());
    }
}
