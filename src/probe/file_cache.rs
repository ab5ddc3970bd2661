//! `file-cache`: how much file data the kernel keeps, found out in bounds.

use super::files::{device, folder, has_room};
use super::known::number;
use super::reread::{PAGE, Twice, Value};
use super::{Gauge, Probe, ProbeError, Site};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::{Estimate, Unit};
use crate::sys::fd::page_size;
use crate::sys::memory_group::MemoryGroup;
use crate::units::{short_bytes, show_bytes};

pub(super) struct FileCache;

static INFO: ProbeInfo = ProbeInfo {
    id: "file-cache",
    group: Group::Files,
    title: "size of the file cache",
    about: "how much of a file stays in memory once it was read, and what reading it again takes, by its size",
    doc: "Reads a file that is not cached, counts how much of it is cached then, and reads it again: what the cache has does not come \
          from the device a second time. All memory that nobody needs may become file cache, so filling it would drive the machine to \
          its limit, as in the report, where a file of 39 GB no longer fit into 40 GB of memory. Where this process was given control \
          groups of its own, a child reads inside one of 128 MiB, more than fits, so the edge is seen without touching the rest. \
          Elsewhere it reads at most 256 MiB and a quarter of what is free, ends early where memory gets scarce, and the value is what \
          the cache holds at least. With a size the value is the time of 4 KiB when a file of that size is read again: up to the size of \
          the cache they are copied from memory, beyond it they come from the device, and the curve has a step there. The edge of the \
          whole machine is found with sizes on both sides of its free memory, as --set file-cache.bytes=8g,16g,24g,32g: files of more \
          than 1 GiB are read outside of any group, and push out what the machine keeps of other files.",
    makes_files: true,
    params: &[ProbeParam {
        name: "bytes",
        about: "size of the file that is read again",
        of: RangeOf::Bytes,
        least: LEAST,
        most: MOST,
        step: 1 << 20,
        usual: "16m..192m",
    }],
};

/// Memory of the control group.
const GROUP: u64 = 128 << 20;
/// The file where there is none.
const BOUND: u64 = 256 << 20;
const LEAST: u64 = 1 << 20;
/// Sizes of files that are read a second time: some that the group holds, some that it does not.
const SIZES: &[u64] = &[16 << 20, 32 << 20, 64 << 20, 96 << 20, 128 << 20, 192 << 20];
/// No file of a cell is larger.
const MOST: u64 = 1 << 40;
/// A larger file is there to find the edge of the machine, not that of a group.
const GROUPED: u64 = 1 << 30;
/// What the kernel reads ahead at once, usually.
const REQUEST: u64 = 128 << 10;
/// Nanoseconds of 4 KiB that are cached, read by long requests.
const CACHED: (f64, f64) = (100.0, 1500.0);

/// The control group's memory where there can be one, and the size of the file. Where a size beyond
/// all groups was chosen, that is it.
fn bounds(site: &Site, group: bool) -> (Option<u64>, u64) {
    let page = page_size();
    let chosen =
        site.chosen(&INFO, "bytes").into_iter().flatten().max().filter(|bytes| *bytes > GROUPED);
    let limit =
        group.then_some(GROUP).filter(|limit| chosen.is_none() && limit / 4 * 5 <= site.memory);
    (
        limit,
        chosen.unwrap_or_else(|| limit.map_or(BOUND.min(site.memory), |limit| limit / 4 * 5))
            / page
            * page,
    )
}

/// The control group's memory for a file of that size.
fn limit(site: &Site, group: bool, bytes: u64) -> Option<u64> {
    bounds(site, group).0.filter(|_| bytes <= GROUPED)
}

impl Probe for FileCache {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        let sizes = site.chosen(&INFO, "bytes").unwrap_or_else(|| SIZES.into());
        let sized =
            sizes.into_iter().map(|bytes| ProbeCell::new(INFO.id, [("bytes", bytes.into())]));
        std::iter::once(ProbeCell::new(INFO.id, [])).chain(sized).collect()
    }

    fn unit(&self, cell: &ProbeCell) -> Unit {
        if cell.params.is_empty() { Unit::Bytes } else { Unit::Nanos }
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        folder(site)?;
        let bytes = match what(cell) {
            None => return Ok(()),
            Some(Some(bytes)) => bytes,
            Some(None) => bounds(site, false).1,
        };
        if bytes < LEAST {
            return Err(format!(
                "a quarter of what is free is {} of memory only",
                show_bytes(site.memory)
            ));
        }
        // Reading takes no memory from programs, but the cache from other files: more than a little
        // is read where that was asked for.
        let beyond = |why| {
            format!("{why}; --set file-cache.bytes={} reads it all the same", short_bytes(bytes))
        };
        let asked = site.chosen(&INFO, "bytes").is_some();
        let fits = if asked { Ok(()) } else { site.has_memory(bytes).map_err(beyond) };
        fits.and_then(|()| has_room(site, bytes))
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let group = MemoryGroup::check_available().is_ok();
        match what(cell)? {
            None => Some(size(site, group)),
            Some(bytes) => Some(again(bytes, limit(site, group, bytes), site)),
        }
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let asked = what(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        self.check(cell, site).map_err(ProbeError::Missing)?;
        let value = if asked.is_some() { Value::Again } else { Value::Cached };
        let bytes = |group| asked.unwrap_or(bounds(site, group).1);
        let why = if bytes(false) > GROUPED {
            "it is larger than 1 GiB"
        } else {
            "there is too little memory for one"
        };
        let limit = limit(site, true, bytes(true)).ok_or(why);
        Ok(Box::new(Twice::open(value, limit, bytes, site)?))
    }
}

/// The size of the file that is read a second time, or none where the cache's own size is asked
/// for; `None`: no cell of this probe.
fn what(cell: &ProbeCell) -> Option<Option<u64>> {
    match (cell.params.len(), number(cell, "bytes")) {
        (0, _) => Some(None),
        (1, Some(bytes))
            if (LEAST..=MOST).contains(&bytes) && bytes.is_multiple_of(page_size()) =>
        {
            Some(Some(bytes))
        }
        _ => None,
    }
}

/// How much the cache holds.
fn size(site: &Site, group: bool) -> Estimate {
    let (limit, bytes) = bounds(site, group);
    let free = site.memory.saturating_mul(4);
    let (low, high, reason) = match limit {
        Some(limit) => (
            limit / 2,
            limit,
            format!("all that a control group of {} leaves for files", show_bytes(limit)),
        ),
        None => {
            let reason = format!(
                "all free memory may hold files, {}; {} are tried",
                show_bytes(free),
                show_bytes(bytes)
            );
            (bytes.min(free / 4 * 3), free.min(bytes), reason)
        }
    };
    Estimate { low: low as f64, high: high as f64, reason }
}

/// 4 KiB of a file that was read before.
fn again(bytes: u64, limit: Option<u64>, site: &Site) -> Estimate {
    let (device, file) = (device(site), show_bytes(bytes));
    let device_page = (
        device.byte.0 * PAGE as f64,
        device.byte.1 * PAGE as f64 + device.request.1 * PAGE as f64 / REQUEST as f64,
    );
    let (holds, whose) = match limit {
        Some(limit) => (limit, format!("a control group of {}", show_bytes(limit))),
        None => (
            site.memory.saturating_mul(4),
            format!("free memory of {}", show_bytes(site.memory.saturating_mul(4))),
        ),
    };
    let (low, high, reason) = match bytes {
        _ if bytes > holds => (
            device_page.0,
            device_page.1,
            format!("{whose} cannot hold {file}: from the device, {}", device.why),
        ),
        // The kernel keeps some of the memory for itself.
        _ if bytes > holds / 4 * 3 => {
            (CACHED.0, device_page.1, format!("{file} are at the edge of {whose}"))
        }
        _ => (
            CACHED.0,
            CACHED.1,
            format!(
                "{file} stay cached: 4 KiB copied out of the page cache, and their share of a system call"
            ),
        ),
    };
    Estimate { low, high: high.max(low), reason }
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
        assert!(
            FileCache
                .check(&ProbeCell::new("file-cache", []), &with(LEAST - 1))
                .unwrap_err()
                .contains("a quarter")
        );
        let large = ProbeCell::new("file-cache", [("bytes", GROUPED.into())]);
        let refused = FileCache.check(&large, &with(GROUPED - 1)).unwrap_err();
        assert!(refused.contains("--set file-cache.bytes=1g"), "{refused}");
        let chosen = with(GROUPED - 1).choosing(Some(&["file-cache.bytes=1g".parse().unwrap()]));
        assert!(FileCache.check(&large, &chosen).is_ok() || has_room(&chosen, GROUPED).is_err());
    }

    #[test]
    fn sizes_beyond_all_groups_look_for_the_edge_of_the_machine() {
        let site = with(2 << 30).choosing(Some(&["file-cache.bytes=64m,4g,32g".parse().unwrap()]));
        assert_eq!(bounds(&site, true), (None, 32 << 30));
        let [within, edge, beyond] = [4u64 << 30, 7 << 30, 32 << 30]
            .map(|bytes| again(bytes, limit(&site, true, bytes), &site));
        assert!(
            within.reason.contains("stay cached")
                && edge.reason.contains("at the edge of free memory of 8"),
            "{within:?} {edge:?}"
        );
        assert!(beyond.reason.contains("free memory of 8 GiB cannot hold 32 GiB"), "{beyond:?}");
        assert_eq!(size(&site, false).high, (8u64 << 30) as f64);
    }

    #[test]
    fn what_a_group_cannot_hold_is_expected_from_the_device() {
        let site = with(1 << 40);
        let [holds, edge, beyond] =
            [64u64 << 20, 128 << 20, 192 << 20].map(|bytes| again(bytes, Some(GROUP), &site));
        assert!(
            holds.reason.contains("stay cached") && (holds.low, holds.high) == CACHED,
            "{holds:?}"
        );
        assert!(
            edge.reason.contains("at the edge")
                && edge.low == holds.low
                && edge.high == beyond.high,
            "{edge:?}"
        );
        assert!(
            beyond.reason.contains("cannot hold 192 MiB") && beyond.high > holds.high,
            "{beyond:?}"
        );
        // No group bounds it: all of it stays.
        assert_eq!(again(192 << 20, None, &site).high, holds.high);
    }
}
