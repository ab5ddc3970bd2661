//! `page-fault`: the cost of the first access to a page.

use std::fs::File;

use super::files::{create_filled, drop_pages, test_folder};
use super::map::{HUGE, Map, cached_file, page};
use super::{BatchTime, Gauge, ParamRow, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;
use crate::sys::clock::Clock;
use crate::sys::scratch::Scratch;
use crate::sys::usage::Usage;

pub(super) struct PageFault;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Anonymous,
    Zero,
    Huge,
    File,
    FileSingle,
    Major,
    Cow,
}

/// Expected nanoseconds of one fault.
const KINDS: &[ParamRow<Kind>] = &[
    ParamRow {
        name: "anonymous",
        value: Kind::Anonymous,
        range: (250.0, 2500.0),
        why: "an exception, a page allocated and cleared; more if the hypervisor has to back it",
    },
    ParamRow {
        name: "zero",
        value: Kind::Zero,
        range: (150.0, 1500.0),
        why: "an exception and one page-table entry, without clearing",
    },
    ParamRow {
        name: "huge",
        value: Kind::Huge,
        range: (50e3, 600e3),
        why: "an exception and 2 MiB cleared, at 5-30 GB/s",
    },
    ParamRow {
        name: "file",
        value: Kind::File,
        range: (400.0, 3500.0),
        why: "an exception and 16 page-table entries, each page looked up in the page cache",
    },
    ParamRow {
        name: "file-single",
        value: Kind::FileSingle,
        range: (250.0, 2500.0),
        why: "an exception and one page looked up in the page cache",
    },
    ParamRow {
        name: "major",
        value: Kind::Major,
        range: (20e3, 2e6),
        why: "one device read: 20-200 µs from an SSD, milliseconds from a rotational disk",
    },
    ParamRow {
        name: "cow",
        value: Kind::Cow,
        range: (350.0, 3000.0),
        why: "an exception, a page allocated and 4 KiB copied",
    },
];

/// Maximum memory touched by one batch.
const MAX_BYTES: u64 = 64 << 20;
/// Size of the file that is read from the device: one page per 64 KiB, so that no fault reads the
/// data of the next one.
const COLD_FILE_BYTES: usize = 8 << 20;
const FAULT_AROUND_BYTES: usize = 64 << 10;

impl ProbeKind for PageFault {
    const INFO: &'static ProbeInfo = &catalog::PAGE_FAULT;
    type Params = &'static ParamRow<Kind>;

    fn params(source: &mut ParamSource) -> Option<Self::Params> {
        source.row("kind", KINDS)
    }

    fn check(kind: &Self::Params, context: &ProbeContext) -> Result<(), String> {
        match kind.value {
            Kind::Major => test_folder(context).map(drop),
            _ => context.check_memory(MAX_BYTES),
        }
    }

    fn estimate(kind: &Self::Params, _: &ProbeContext) -> Option<Estimate> {
        kind.as_estimate()
    }

    fn open(kind: &Self::Params, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        let file = match kind.value {
            Kind::File | Kind::Cow => Some(Backing::Memory(cached_file(MAX_BYTES as usize)?)),
            // Each page is a separate mapping, and a process may have 65530 of them.
            Kind::FileSingle => Some(Backing::Memory(cached_file(4 << 20)?)),
            Kind::Major => Some(Backing::Disk(create_filled(context, COLD_FILE_BYTES as u64, 1)?)),
            Kind::Anonymous | Kind::Zero | Kind::Huge => None,
        };
        let kind = kind.value;
        Ok(Box::new(Faults { kind, file, faults: 0, touched: 0, context: context.clone() }))
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
    /// Faults counted by the kernel.
    faults: u64,
    touched: u64,
    context: ProbeContext,
}

impl Faults {
    /// Returns the distance in bytes between two touched addresses.
    fn step(&self) -> usize {
        match self.kind {
            Kind::Huge => HUGE,
            Kind::File | Kind::Major => FAULT_AROUND_BYTES.max(page()),
            _ => page(),
        }
    }

    /// Returns the number of addresses touched in one mapping.
    fn places_per_mapping(&self) -> usize {
        let len = match self.kind {
            Kind::FileSingle => 4 << 20,
            Kind::Major => COLD_FILE_BYTES,
            _ => MAX_BYTES as usize,
        };
        len / self.step()
    }

    /// Creates a mapping with `places` untouched addresses.
    fn map_untouched(&self, places: usize) -> Result<Map, ProbeError> {
        let len = places * self.step();
        let file = || {
            self.file
                .as_ref()
                .map(Backing::file)
                .ok_or_else(|| ProbeError::Missing("there is no file to map".into()))
        };
        match self.kind {
            Kind::Anonymous | Kind::Zero => Map::anonymous(len, false),
            Kind::Huge => Map::anonymous(len, true),
            Kind::File => Map::file(file()?, len, false),
            Kind::FileSingle => Map::scattered(file()?, len),
            Kind::Major => {
                drop_pages(file()?, COLD_FILE_BYTES as u64, &self.context)?;
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

    /// Touches `places` addresses of a fresh mapping; returns nanoseconds and faults.
    fn touch(&mut self, places: usize) -> Result<(u64, u64), ProbeError> {
        let (map, step, clock) = (self.map_untouched(places)?, self.step(), Clock::best());
        let writes = matches!(self.kind, Kind::Anonymous | Kind::Huge | Kind::Cow);
        let before = Usage::thread().map_err(ProbeError::in_call("getrusage"))?;
        let begin = clock.now();
        for place in 0..places {
            if writes {
                map.store(place * step, 1);
            } else {
                std::hint::black_box(map.load(place * step));
            }
        }
        let end = clock.now();
        let used = Usage::thread().map_err(ProbeError::in_call("getrusage"))? - before;
        let faults = if self.kind == Kind::Major { used.major_faults } else { used.minor_faults };
        self.touched += places as u64;
        self.faults += faults;
        Ok((clock.nanos(begin, end), faults))
    }
}

impl Gauge for Faults {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let (mut left, mut batch) = (count, BatchTime::default());
        while left > 0 {
            self.context.check_stop()?;
            let places = left.min(self.places_per_mapping() as u64);
            let (nanos, faults) = self.touch(places as usize)?;
            // Far fewer faults: the event was not measured. Far more: no huge page was available.
            if faults * 2 < places || (self.kind == Kind::Huge && faults > places * 8) {
                return Err(ProbeError::Missing(format!(
                    "{faults} page faults for {places} touched places: {}",
                    self.explain_mismatch()
                )));
            }
            batch = BatchTime {
                nanos: batch.nanos + nanos,
                amount: batch.amount + faults as f64,
                readings: batch.readings + 1,
                loops: batch.loops + places,
            };
            left -= places;
        }
        Ok(batch)
    }

    fn evidence(&self) -> Vec<String> {
        vec![format!(
            "the kernel counted {} page faults for {} touched places",
            self.faults, self.touched
        )]
    }

    fn max_batch(&self) -> u64 {
        1 << 20
    }
}

impl Faults {
    fn explain_mismatch(&self) -> &'static str {
        match self.kind {
            Kind::Huge => {
                "huge pages are unavailable (see /sys/kernel/mm/transparent_hugepage/enabled; \
                 memory may also be fragmented)"
            }
            Kind::Major => "the file cannot be dropped from the page cache here",
            _ => "this kernel maps more than one page per fault",
        }
    }
}
