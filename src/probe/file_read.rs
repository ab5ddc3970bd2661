//! `file-read`: a local file from open to close, in order and in random order.

use std::fs::File;

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use super::files::{Device, alone, device, fill, filled, folder, ground, has_room};
use super::reading::{self, MOST, OPENED, Reading, Source, What, in_order};
use super::{Gauge, Probe, ProbeError, Site};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::Estimate;
use crate::sys::fd;
use crate::sys::scratch_dir::ScratchDir;

pub(super) struct FileRead;

static INFO: ProbeInfo = ProbeInfo {
    id: "file-read",
    group: Group::Files,
    title: "file read",
    about: "a whole local file opened, read in blocks of 4 KiB in order and in random order, and closed",
    doc: "Opens a file, reads all of it in blocks of 4 KiB, and closes it; the value is the time of the whole file. Both patterns do the \
          same calls (pread), so in a cached file they differ only by what the CPU's prefetchers guess. With cold the page cache is \
          emptied before each file, proved, and not in the time: read in order, the kernel reads ahead and one request brings many \
          blocks; in random order nearly every block waits for the device. The bytes that came from the device are counted. The report's \
          files were cached, and its random program searched a line of text from the start of the file each time, so its figures grow \
          with the square of the size.",
    makes_files: true,
    params: &[ProbeParam {
        name: "bytes",
        about: "size of the file, cached and cold",
        of: RangeOf::Bytes,
        least: 1,
        most: MOST,
        step: 1,
        usual: "1890,11390,64k,1m,16m,64m; cold 64k,1m,4m",
    }],
};

/// Up to here a file has a name, as opening one without costs more, which shows in the time of a
/// small file.
const NAMED: u64 = 1 << 20;

impl Probe for FileRead {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        reading::cells(INFO.id, u64::MAX, site.chosen(&INFO, "bytes").as_deref())
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        let Some(what) = What::of(cell) else { return Ok(()) };
        folder(site)?;
        site.has_memory(what.bytes).and_then(|()| has_room(site, what.bytes))
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let what = What::of(cell)?;
        if what.cold {
            return Some(from_device(cell, &what, &device(site)));
        }
        let blocks = what.blocks() as f64;
        let (low, high) = (OPENED.0 + blocks * what.block.0, OPENED.1 + blocks * what.block.1);
        Some(Estimate {
            low,
            high,
            reason: format!("opening, and for each of {} blocks {}", what.blocks(), what.why),
        })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let what = What::of(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        self.check(cell, site).map_err(ProbeError::Missing)?;
        alone();
        Ok(Box::new(Reading::open(what, source(&what, site)?, site)?))
    }
}

/// In order the device moves long requests, in random order one for each block, of which read-ahead
/// may save some.
fn from_device(cell: &ProbeCell, what: &What, device: &Device) -> Estimate {
    let (bytes, blocks) = (what.bytes as f64, what.blocks() as f64);
    let low = OPENED.0 + device.request.0 + bytes * device.byte.0;
    let high = OPENED.1
        + if what.random {
            blocks * device.request.1
        } else {
            device.request.1 * 2.0 + bytes * device.byte.1
        };
    Estimate {
        low,
        high: high.max(low),
        reason: format!(
            "{} blocks {} from the device: {}",
            what.blocks(),
            in_order(cell),
            device.why
        ),
    }
}

fn source(what: &What, site: &Site) -> Result<Source, ProbeError> {
    if what.bytes > NAMED {
        let scratch = filled(site, what.bytes, what.bytes)?;
        let file = scratch.file().try_clone().map_err(ProbeError::of("a file on the disk"))?;
        return Ok(Source {
            path: fd::own_path(&file),
            ground: ground(&file),
            file,
            far: false,
            _own: Some(Box::new(scratch)),
        });
    }
    let own = ScratchDir::create(folder(site).map_err(ProbeError::Missing)?)
        .map_err(ProbeError::of("a folder on the disk"))?;
    let path = own.path().join("f0");
    let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
    let made = openat(own.folder(), "f0", flags, Mode::S_IRUSR | Mode::S_IWUSR);
    let file = File::from(made.map_err(ProbeError::of("a file on the disk"))?);
    fill(&file, what.bytes, what.bytes, site)?;
    Ok(Source { path, ground: ground(&file), file, far: false, _own: Some(Box::new(own)) })
}
