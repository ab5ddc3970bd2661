//! `contention`: processes that read from the same device at the same time, each its own file.

use super::files::{BLOCK, cold, device, filled, folder, ground, has_room};
use super::known::{has_only, number};
use super::reader::{Part, Reader};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::Estimate;
use crate::sys::scratch::Scratch;
use crate::units::show_bytes;

pub(super) struct Contention;

static INFO: ProbeInfo = ProbeInfo {
    id: "contention",
    group: Group::Files,
    title: "contention",
    about: "1, 2, 4 ... processes that each read a file of their own from the device: the time of one block of 4 KiB",
    doc: "Each process reads its own file of 16 MiB in order, in blocks of 4 KiB, all starting at once; the value is the mean time of \
          one block in one process. All files are emptied from the page cache before each batch, proved and not in the time. The kernel \
          reads ahead, so a block costs its share of a longer request. Where it stays level the device had time left; where it doubles \
          with the number of processes, device or CPUs are shared out. The report did the same with 1 to 10 processes and 64 MiB each, \
          on ZFS.",
    makes_files: true,
    params: &[ProbeParam {
        name: "processes",
        about: "processes that read at the same time",
        of: RangeOf::Count,
        least: 1,
        most: MOST,
        step: 1,
        usual: "1,2,4 .. twice the CPUs",
    }],
};

/// Of each process.
const BYTES: u64 = 16 << 20;
/// 512 MiB in all.
const MOST: u64 = 32;

fn processes(cell: &ProbeCell) -> Option<u64> {
    number(cell, "processes")
        .filter(|count| has_only(cell, &["processes"]) && (1..=MOST).contains(count))
}

impl Probe for Contention {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    /// Unless chosen by doubling up to twice the CPUs, at least 4.
    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        let most = (site.cpus.len() as u64 * 2).clamp(4, MOST);
        let doubled =
            || (0..6).map(|power| 1u64 << power).take_while(|count| *count <= most).collect();
        let counts = site.chosen(&INFO, "processes").unwrap_or_else(doubled);
        counts
            .into_iter()
            .map(|count| ProbeCell::new(INFO.id, [("processes", count.into())]))
            .collect()
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        let Some(count) = processes(cell) else { return Ok(()) };
        folder(site)?;
        site.has_memory(count * BYTES).and_then(|()| has_room(site, count * BYTES))
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let (count, device) = (processes(cell)? as f64, device(site));
        // Alone it has the CPU and the device; at worst each waits for all others.
        let low = 300.0 + BLOCK as f64 * device.byte.0;
        let high = (2500.0 + BLOCK as f64 * device.byte.1) * count;
        let reason = format!(
            "a system call, a copy and 4 KiB at the speed of the device, shared by {count}: {}",
            device.why
        );
        Some(Estimate { low, high, reason })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let count = processes(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        self.check(cell, site).map_err(ProbeError::Missing)?;
        let files =
            (0..count).map(|seed| filled(site, BYTES, seed)).collect::<Result<Vec<_>, _>>()?;
        let readers = files
            .iter()
            .map(|file| Reader::fork(file.file(), BLOCK, None, site))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Box::new(Together { readers, files, all: Part::default(), site: site.clone() }))
    }
}

struct Together {
    readers: Vec<Reader>,
    files: Vec<Scratch>,
    /// Of all batches.
    all: Part,
    site: Site,
}

impl Gauge for Together {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let (mut nanos, mut blocks) = (0, 0);
        for _ in 0..count {
            for file in &self.files {
                self.site.go_on()?;
                cold(file.file(), BYTES)?;
            }
            self.readers.iter_mut().try_for_each(|reader| reader.ask(0, BYTES))?;
            for reader in &mut self.readers {
                let part = reader.answer(&self.site)?;
                (nanos, blocks) = (nanos + part.nanos, blocks + part.bytes.div_ceil(BLOCK as u64));
                self.all.bytes += part.bytes;
                self.all.device_bytes += part.device_bytes;
            }
        }
        // Both clocks of a process are within its own time, which is 4096 blocks long.
        Ok(Took { nanos, amount: blocks as f64, ..Took::default() })
    }

    fn evidence(&self) -> Vec<String> {
        let Part { bytes, device_bytes, .. } = self.all;
        let read = format!(
            "proved cold before each; the kernel charged the processes {} of the device for {} read, on any CPU",
            show_bytes(device_bytes),
            show_bytes(bytes)
        );
        self.files.first().and_then(|file| ground(file.file())).into_iter().chain([read]).collect()
    }

    fn most(&self) -> u64 {
        1
    }
}
