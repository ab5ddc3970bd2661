//! `page-fault`: the kernel finds the page for an address that was touched.

use std::fs::File;

use super::files::{filled, folder};
use super::known::{Known, has_only};
use super::map::{HUGE, Map, cached_file, page};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo};
use crate::record::Estimate;
use crate::sys::clock::Clock;
use crate::sys::cold::make_cold;
use crate::sys::scratch::Scratch;
use crate::sys::usage::Usage;

pub(super) struct PageFault;

static INFO: ProbeInfo = ProbeInfo {
    id: "page-fault",
    group: Group::Memory,
    title: "page fault",
    about: "a page found for an address: new memory, the zero page, a huge page, a cached file, the device, copy on write",
    doc: "Touches pages that are not mapped yet, and divides by the faults that the kernel counted. anonymous writes to new memory, which has \
          to be cleared; zero only reads it and gets the shared page of zeros; huge gets 2 MiB at once. file reads a mapped file whose \
          pages are cached: around one fault the kernel maps the neighbours too (16 pages), file-single has none it could map. major reads \
          a file that is not cached, so each fault waits for the device; cow writes to pages of a private mapping, and each is copied. \
          Mapping and unmapping are not in the time. mmap's cost in the file experiments is this one, per 4 KiB or per 64 KiB.",
    makes_files: true,
    params: &[],
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Anonymous,
    Zero,
    Huge,
    File,
    FileSingle,
    Major,
    Cow,
}

/// Nanoseconds of one fault.
const KINDS: &[Known<Kind>] = &[
    Known {
        name: "anonymous",
        what: Kind::Anonymous,
        range: (250.0, 2500.0),
        why: "an exception, a page taken and cleared; more where the hypervisor has to back it",
    },
    Known {
        name: "zero",
        what: Kind::Zero,
        range: (150.0, 1500.0),
        why: "an exception and one entry: nothing is cleared",
    },
    Known {
        name: "huge",
        what: Kind::Huge,
        range: (50e3, 600e3),
        why: "an exception and 2 MiB cleared, at 5-30 GB/s",
    },
    Known {
        name: "file",
        what: Kind::File,
        range: (400.0, 3500.0),
        why: "an exception and 16 entries, each page looked up in the page cache",
    },
    Known {
        name: "file-single",
        what: Kind::FileSingle,
        range: (250.0, 2500.0),
        why: "an exception, one page looked up in the page cache",
    },
    Known {
        name: "major",
        what: Kind::Major,
        range: (20e3, 2e6),
        why: "one read of the device: 20-200 µs of an SSD, milliseconds of a disk that turns",
    },
    Known {
        name: "cow",
        what: Kind::Cow,
        range: (350.0, 3000.0),
        why: "an exception, a page taken and 4 KiB copied",
    },
];

fn kind(cell: &ProbeCell) -> Option<&'static Known<Kind>> {
    Known::of(KINDS, cell, "kind").filter(|_| has_only(cell, &["kind"]))
}

/// Memory that one batch goes through at most.
const MOST: u64 = 64 << 20;
/// The file that is read from the device; every other page of 64 KiB, so that no fault brings the
/// next one's data.
const COLD: usize = 8 << 20;
const AROUND: usize = 64 << 10;

impl Probe for PageFault {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, _: &Site) -> Vec<ProbeCell> {
        KINDS.iter().map(|kind| ProbeCell::new(INFO.id, [("kind", kind.name.into())])).collect()
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        match kind(cell).map(|kind| kind.what) {
            Some(Kind::Major) => folder(site).map(drop),
            _ => site.has_memory(MOST),
        }
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        kind(cell)?.as_it_is()
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let kind = kind(cell).ok_or_else(|| ProbeError::unknown(cell))?.what;
        self.check(cell, site).map_err(ProbeError::Missing)?;
        let file = match kind {
            Kind::File | Kind::Cow => Some(Backing::Memory(cached_file(MOST as usize)?)),
            // Each page is a mapping, of which a process may have 65530.
            Kind::FileSingle => Some(Backing::Memory(cached_file(4 << 20)?)),
            Kind::Major => Some(Backing::Disk(filled(site, COLD as u64, 1)?)),
            Kind::Anonymous | Kind::Zero | Kind::Huge => None,
        };
        Ok(Box::new(Faults { kind, file, faults: 0, touched: 0, site: site.clone() }))
    }
}

enum Backing {
    Memory(File),
    Disk(Scratch),
}

impl Backing {
    fn file(&self) -> &File {
        match self {
            Backing::Memory(file) => file,
            Backing::Disk(scratch) => scratch.file(),
        }
    }
}

struct Faults {
    kind: Kind,
    file: Option<Backing>,
    /// Counted by the kernel, and places touched.
    faults: u64,
    touched: u64,
    site: Site,
}

impl Faults {
    /// Bytes between two places that are touched.
    fn step(&self) -> usize {
        match self.kind {
            Kind::Huge => HUGE,
            Kind::File | Kind::Major => AROUND.max(page()),
            _ => page(),
        }
    }

    /// Places that one mapping has.
    fn room(&self) -> usize {
        let len = match self.kind {
            Kind::FileSingle => 4 << 20,
            Kind::Major => COLD,
            _ => MOST as usize,
        };
        len / self.step()
    }

    /// A mapping with so many places that were not touched.
    fn fresh(&self, places: usize) -> Result<Map, ProbeError> {
        let len = places * self.step();
        let file = || {
            self.file
                .as_ref()
                .map(Backing::file)
                .ok_or_else(|| ProbeError::Missing("there is no file".into()))
        };
        match self.kind {
            Kind::Anonymous | Kind::Zero => Map::anonymous(len, false),
            Kind::Huge => Map::anonymous(len, true),
            Kind::File => Map::file(file()?, len, false),
            Kind::FileSingle => Map::scattered(file()?, len),
            Kind::Major => {
                make_cold(file()?, COLD as u64).map_err(ProbeError::of("making the file cold"))?;
                let map = Map::file(file()?, len, false)?;
                map.advise(libc::MADV_RANDOM);
                Ok(map)
            }
            Kind::Cow => {
                let map = Map::file(file()?, len, true)?;
                let read = |at| u64::from(map.load(at));
                std::hint::black_box((0..len).step_by(page()).map(read).sum::<u64>());
                Ok(map)
            }
        }
    }

    /// Touches `places` places of a fresh mapping; nanoseconds and faults.
    fn touch(&mut self, places: usize) -> Result<(u64, u64), ProbeError> {
        let (map, step, clock) = (self.fresh(places)?, self.step(), Clock::best());
        let writes = matches!(self.kind, Kind::Anonymous | Kind::Huge | Kind::Cow);
        let before = Usage::thread().map_err(ProbeError::of("getrusage"))?;
        let begin = clock.now();
        for place in 0..places {
            if writes {
                map.store(place * step, 1);
            } else {
                std::hint::black_box(map.load(place * step));
            }
        }
        let end = clock.now();
        let used = Usage::thread().map_err(ProbeError::of("getrusage"))? - before;
        let faults = if self.kind == Kind::Major { used.major_faults } else { used.minor_faults };
        self.touched += places as u64;
        self.faults += faults;
        Ok((clock.nanos(begin, end), faults))
    }
}

impl Gauge for Faults {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let (mut left, mut took) = (count, Took::default());
        while left > 0 {
            self.site.go_on()?;
            let places = left.min(self.room() as u64);
            let (nanos, faults) = self.touch(places as usize)?;
            // Far fewer: what was to be measured did not happen. Far more: a huge page was not to
            // be had.
            if faults * 2 < places || (self.kind == Kind::Huge && faults > places * 8) {
                return Err(ProbeError::Missing(format!(
                    "{faults} faults where {places} places were touched: {}",
                    self.why()
                )));
            }
            took = Took {
                nanos: took.nanos + nanos,
                amount: took.amount + faults as f64,
                readings: took.readings + 1,
                loops: took.loops + places,
            };
            left -= places;
        }
        Ok(took)
    }

    fn evidence(&self) -> Vec<String> {
        vec![format!(
            "{} faults counted by the kernel for {} places touched",
            self.faults, self.touched
        )]
    }

    fn most(&self) -> u64 {
        1 << 20
    }
}

impl Faults {
    fn why(&self) -> &'static str {
        match self.kind {
            Kind::Huge => {
                "no huge pages are given out here (/sys/kernel/mm/transparent_hugepage/enabled, or memory is in pieces)"
            }
            Kind::Major => "the file cannot be made cold here",
            _ => "the kernel maps more than one page per fault here",
        }
    }
}
