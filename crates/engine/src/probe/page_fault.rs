//! `page-fault` and `mprotect`: the cost of the first access to a page, and of changing the
//! protection of pages.

use std::fs::File;

use super::files::{create_filled, drop_pages, test_folder};
use super::map::{HUGE, Map, cached_file, page};
use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamRow, ParamSource, ProbeContext, ProbeError,
    param_rows,
};
use crate::record::Estimate;
use crate::sys::clock::Clock;
use crate::sys::scratch::Scratch;
use crate::sys::usage::Usage;

param_rows! {
    /// Expected nanoseconds of one fault.
    KINDS: PageKind;
    "anonymous" => Anonymous, (250.0, 2500.0),
        "an exception, a page allocated and cleared; more if the hypervisor has to back it";
    "zero" => Zero, (150.0, 1500.0), "an exception and one page-table entry, without clearing";
    "huge" => Huge, (50e3, 600e3), "an exception and 2 MiB cleared, at 5-30 GB/s";
    "file" => File, (400.0, 3500.0),
        "an exception and 16 page-table entries, each page looked up in the page cache";
    "file-single" => FileSingle, (250.0, 2500.0),
        "an exception and one page looked up in the page cache";
    "major" => Major, (20e3, 2e6),
        "one device read: 20-200 µs from an SSD, milliseconds from a rotational disk";
    "cow" => Cow, (350.0, 3000.0), "an exception, a page allocated and 4 KiB copied";
}

/// Maximum memory touched by one batch.
const MAX_BYTES: u64 = 64 << 20;
/// Size of the file that is read from the device: one page per 64 KiB, so that no fault reads the
/// data of the next one.
const COLD_FILE_BYTES: usize = 8 << 20;
const FAULT_AROUND_BYTES: usize = 64 << 10;

pub(super) fn ask(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    Some(Box::new(source.row("kind", KINDS)?))
}

impl KnownCell for &'static ParamRow<PageKind> {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        match self.value {
            PageKind::Major => test_folder(context).map(drop),
            _ => context.check_memory(MAX_BYTES),
        }
    }

    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        self.as_estimate()
    }

    fn open(&self, context: &ProbeContext) -> Opened {
        let file = match self.value {
            PageKind::File | PageKind::Cow => {
                Some(FaultBacking::Memory(cached_file(MAX_BYTES as usize)?))
            }
            // Each page is a separate mapping, and a process may have 65530.
            PageKind::FileSingle => Some(FaultBacking::Memory(cached_file(4 << 20)?)),
            PageKind::Major => {
                Some(FaultBacking::Disk(create_filled(context, COLD_FILE_BYTES as u64, 1)?))
            }
            PageKind::Anonymous | PageKind::Zero | PageKind::Huge => None,
        };
        let kind = self.value;
        Ok(Box::new(Faults { kind, file, faults: 0, touched: 0, context: context.clone() }))
    }
}

enum FaultBacking {
    Memory(File),
    Disk(Scratch),
}

impl FaultBacking {
    fn file(&self) -> &File {
        match self {
            FaultBacking::Memory(file) => file,
            FaultBacking::Disk(scratch) => scratch.file(),
        }
    }
}

struct Faults {
    kind: PageKind,
    file: Option<FaultBacking>,
    /// Faults counted by the kernel.
    faults: u64,
    touched: u64,
    context: ProbeContext,
}

impl Faults {
    /// Returns the distance in bytes between two touched addresses.
    fn step(&self) -> usize {
        match self.kind {
            PageKind::Huge => HUGE,
            PageKind::File | PageKind::Major => FAULT_AROUND_BYTES.max(page()),
            _ => page(),
        }
    }

    /// Returns the number of addresses touched in one mapping.
    fn places_per_mapping(&self) -> usize {
        let len = match self.kind {
            PageKind::FileSingle => 4 << 20,
            PageKind::Major => COLD_FILE_BYTES,
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
                .map(FaultBacking::file)
                .ok_or_else(|| ProbeError::Missing("there is no file to map".into()))
        };
        match self.kind {
            PageKind::Anonymous | PageKind::Zero => Map::anonymous(len, false),
            PageKind::Huge => Map::anonymous(len, true),
            PageKind::File => Map::file(file()?, len, false),
            PageKind::FileSingle => Map::scattered(file()?, len),
            PageKind::Major => {
                drop_pages(file()?, COLD_FILE_BYTES as u64, &self.context)?;
                let map = Map::file(file()?, len, false)?;
                map.advise(libc::MADV_RANDOM);
                Ok(map)
            }
            PageKind::Cow => {
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
        let writes = matches!(self.kind, PageKind::Anonymous | PageKind::Huge | PageKind::Cow);
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
        let faults =
            if self.kind == PageKind::Major { used.major_faults } else { used.minor_faults };
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
            if faults * 2 < places || (self.kind == PageKind::Huge && faults > places * 8) {
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
            PageKind::Huge => {
                "huge pages are unavailable (see /sys/kernel/mm/transparent_hugepage/enabled; \
                 memory may also be fragmented)"
            }
            PageKind::Major => "the file cannot be dropped from the page cache here",
            _ => "this kernel maps more than one page per fault",
        }
    }
}

pub(super) fn ask_mprotect(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    Some(Box::new(ProtectedPages(usize::try_from(source.number("pages")?).ok()?)))
}

/// The number of pages whose protection is changed.
struct ProtectedPages(usize);

impl KnownCell for ProtectedPages {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        context.check_memory((self.0 * page()) as u64)
    }

    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        let pages = self.0 as f64;
        let reason = format!(
            "a system call, a lock, {pages} page-table entries at 5-15 ns, and a TLB flush"
        );
        Some(Estimate { low: 300.0 + 5.0 * pages, high: 2500.0 + 15.0 * pages, reason })
    }

    fn open(&self, _: &ProbeContext) -> Opened {
        // The whole mapping is changed, so the kernel neither merges nor splits other mappings.
        let map = Map::anonymous(self.0 * page(), false)?;
        map.touch();
        let mut writable = true;
        Ok(Box::new(move |count| {
            let mut good = true;
            let batch = BatchTime::of_loop(count, || {
                for _ in 0..count {
                    writable = !writable;
                    good &= map.protect(map.len(), writable);
                }
            });
            if good { Ok(batch) } else { Err(ProbeError::last_os_error("mprotect")) }
        }))
    }
}
