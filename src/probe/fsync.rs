//! `fsync`: data written and waited for until the device has it.

use std::os::unix::fs::FileExt;

use nix::unistd::{fdatasync, fsync};

use super::files::{Device, device, filled, folder, ground, has_room, unpin};
use super::known::{Known, has_only, number};
use super::{Gauge, Probe, ProbeError, Site, Took};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::Estimate;
use crate::sys::buffer::Aligned;
use crate::sys::disk::{DiskStats, device_of};
use crate::sys::scratch::Scratch;
use crate::units::show_bytes;

pub(super) struct Fsync;

static INFO: ProbeInfo = ProbeInfo {
    id: "fsync",
    group: Group::Files,
    title: "fsync",
    about: "0 B, 4 KiB and 1 MiB written and waited for by fsync and fdatasync",
    doc: "Writes into a file whose blocks are there already, and waits until the device says that it has the data; the value is both \
          together. fsync also writes when the file was changed, which takes a commit of the journal; fdatasync leaves that out where \
          the size did not change. With 0 bytes nothing was written: that is what the call costs by itself. A device that keeps the data \
          in a memory without a battery has to empty it, and one that says so at once does not do that: both shows here. What the device \
          wrote is counted by the kernel. The thread is not pinned, as kernel threads do part of the work.",
    makes_files: true,
    params: &[ProbeParam {
        name: "bytes",
        about: "bytes that are written before each call",
        of: RangeOf::Bytes,
        least: 0,
        most: FILE,
        step: 1,
        usual: "0,4k,1m",
    }],
};

/// Whether only the data is waited for.
const CALLS: &[Known<bool>] = &[
    Known {
        name: "fsync",
        what: false,
        range: (1.0, 3.0),
        why: "data, then a commit of the journal, each with its flush",
    },
    Known { name: "fdatasync", what: true, range: (1.0, 2.0), why: "data and one flush" },
];
const SIZES: [u64; 3] = [0, 4096, 1 << 20];
/// The file; writes go through it, so that none waits for the one before.
const FILE: u64 = 4 << 20;

fn parts(cell: &ProbeCell) -> Option<(&'static Known<bool>, u64)> {
    let bytes = number(cell, "bytes").filter(|bytes| *bytes <= FILE)?;
    Some((Known::of(CALLS, cell, "call")?, bytes)).filter(|_| has_only(cell, &["call", "bytes"]))
}

impl Probe for Fsync {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        let sizes = site.chosen(&INFO, "bytes").unwrap_or_else(|| SIZES.into());
        let cell = |bytes: u64, call: &'static str| {
            ProbeCell::new(INFO.id, [("call", call.into()), ("bytes", bytes.into())])
        };
        sizes
            .into_iter()
            .flat_map(|bytes| CALLS.iter().map(move |call| cell(bytes, call.name)))
            .collect()
    }

    fn check(&self, _: &ProbeCell, site: &Site) -> Result<(), String> {
        folder(site)?;
        has_room(site, FILE)
    }

    fn estimate(&self, cell: &ProbeCell, site: &Site) -> Option<Estimate> {
        let ((call, bytes), Device { byte, flush, why, .. }) = (parts(cell)?, device(site));
        if bytes == 0 {
            return Some(Estimate {
                low: 100.0,
                high: flush.1,
                reason: "a system call that finds nothing to write; some file systems flush all the same".into(),
            });
        }
        let (low, high) = (
            flush.0 * call.range.0 + bytes as f64 * byte.0,
            flush.1 * call.range.1 + bytes as f64 * byte.1,
        );
        Some(Estimate { low, high, reason: format!("{}; {why}", call.why) })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let (call, bytes) = parts(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        unpin(site);
        let file = filled(site, FILE, bytes)?;
        let data =
            Aligned::filled(bytes as usize, 0xa5).map_err(ProbeError::of("memory for the data"))?;
        Ok(Box::new(Syncs {
            only_data: call.what,
            data,
            at: 0,
            file,
            done: 0,
            device_bytes: Some(0),
            site: site.clone(),
        }))
    }
}

struct Syncs {
    only_data: bool,
    data: Aligned,
    /// Where the next write goes.
    at: u64,
    file: Scratch,
    done: u64,
    /// Written by the device meanwhile, by anyone.
    device_bytes: Option<u64>,
    site: Site,
}

impl Syncs {
    fn one(&mut self) -> Result<(), ProbeError> {
        self.site.go_on()?;
        let (file, len) = (self.file.file(), self.data.len() as u64);
        if len > 0 {
            if self.at + len > FILE {
                self.at = 0;
            }
            file.write_all_at(&self.data, self.at).map_err(ProbeError::of("write"))?;
            self.at += len;
        }
        if self.only_data {
            fdatasync(file).map_err(ProbeError::of("fdatasync"))
        } else {
            fsync(file).map_err(ProbeError::of("fsync"))
        }
    }

    fn written(&self) -> Option<u64> {
        let (major, minor) = device_of(self.file.file())?;
        DiskStats::read(major, minor).ok().map(|stats| stats.write_bytes)
    }
}

impl Gauge for Syncs {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let (before, mut done) = (self.written(), Ok(()));
        let took = Took::whole(count as f64, || done = (0..count).try_for_each(|_| self.one()));
        done?;
        let moved = before.and_then(|before| Some(self.written()?.saturating_sub(before)));
        self.device_bytes = self.device_bytes.zip(moved).map(|(all, more)| all + more);
        self.done += count;
        Ok(took)
    }

    fn evidence(&self) -> Vec<String> {
        let each = self.device_bytes.filter(|_| self.done > 0).map(|bytes| {
            format!(
                "the device wrote {} for each call meanwhile, what others wrote included",
                show_bytes(bytes / self.done)
            )
        });
        ground(self.file.file()).into_iter().chain(each).collect()
    }

    fn most(&self) -> u64 {
        1 << 16
    }
}
