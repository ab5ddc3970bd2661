//! `remote-read`: the same as `file-read`, of the user's file on a network or FUSE mount.

use std::fs::File;
use std::path::Path;

use super::files::{alone, ground};
use super::reading::{self, MOST, OPENED, Reading, Source, What, in_order};
use super::{Gauge, Probe, ProbeError, Site};
use crate::plan::{Group, ProbeCell, ProbeInfo, ProbeParam, RangeOf};
use crate::record::Estimate;
use crate::sys::fd;
use crate::sys::mounts::{self, Mount};

pub(super) struct RemoteRead;

static INFO: ProbeInfo = ProbeInfo {
    id: "remote-read",
    group: Group::Files,
    title: "remote file read",
    about: "your file on a network or FUSE mount, read like a local one: the difference is the network penalty",
    doc: "Opens your file, reads its first bytes in blocks of 4 KiB in order or in random order, and closes it, as file-read does with a \
          local file of the same size; what it takes longer is the network penalty. It needs a file on a network or FUSE mount, named on \
          the command line, and only reads it. A file that was read lies in this machine's page cache too: then only opening asks the \
          server whether it changed, once per file; some file systems drop it when it is opened, and the evidence says so. With cold the \
          cache of this machine is emptied before each file; that of the server is not, so it is the network that is measured, and not \
          the server's disk.",
    makes_files: false,
    params: &[ProbeParam {
        name: "bytes",
        about: "first bytes of the file that are read, cached and cold",
        of: RangeOf::Bytes,
        least: 1,
        most: MOST,
        step: 1,
        usual: "1890,11390,64k,1m,16m,64m; cold 64k,1m,4m",
    }],
};

/// Nanoseconds of one question to the server: the same machine to another town.
const ROUND_TRIP: (f64, f64) = (20e3, 20e6);
/// Nanoseconds of one byte: 10 GB/s to 1 MB/s.
const BYTE: (f64, f64) = (0.1, 1000.0);
const NONE: &str = "no remote file: name one on a network or FUSE mount";

/// The user's file, where it is remote.
fn remote(site: &Site) -> Result<(&Path, File, u64), String> {
    let path = site.file.as_deref().ok_or(NONE)?;
    let file = fd::open_named(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mount = mounts::mount_of(&file).map_err(|error| format!("{}: {error}", path.display()))?;
    far(&mount).map_err(|fs| {
        format!("{} is local, on {fs}: name a file on a network or FUSE mount", path.display())
    })?;
    match file.metadata() {
        Ok(meta) if meta.is_file() && meta.len() > 0 => Ok((path, file, meta.len())),
        _ => Err(format!("{} is not a regular file with data", path.display())),
    }
}

/// # Errors
/// The name of the file system where its files are this machine's own.
fn far(mount: &Mount) -> Result<(), &str> {
    if mount.is_network() || mount.is_fuse() { Ok(()) } else { Err(&mount.fs) }
}

impl Probe for RemoteRead {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    /// Without a remote file one of each pattern, to say so.
    fn cells(&self, site: &Site) -> Vec<ProbeCell> {
        reading::cells(
            INFO.id,
            remote(site).map_or(1890, |(_, _, size)| size),
            site.chosen(&INFO, "bytes").as_deref(),
        )
    }

    fn check(&self, cell: &ProbeCell, site: &Site) -> Result<(), String> {
        let (_, _, size) = remote(site)?;
        match What::of(cell) {
            Some(what) if what.bytes > size => {
                Err(format!("the remote file has {size} bytes only"))
            }
            Some(what) => site.has_memory(what.bytes),
            None => Ok(()),
        }
    }

    fn estimate(&self, cell: &ProbeCell, _: &Site) -> Option<Estimate> {
        let what = What::of(cell)?;
        let (bytes, blocks) = (what.bytes as f64, what.blocks() as f64);
        // Cached, but some file systems ask the server for every block all the same.
        let low = OPENED.0
            + if what.cold { ROUND_TRIP.0 + bytes * BYTE.0 } else { blocks * what.block.0 };
        let high = OPENED.1
            + ROUND_TRIP.1 * if what.random || !what.cold { 2.0 + blocks } else { 4.0 }
            + bytes * BYTE.1;
        let asked = if what.cold {
            "a question to the server for every block or for many at once"
        } else {
            "a question to the server at open, and for each block where nothing is kept"
        };
        Some(Estimate {
            low,
            high,
            reason: format!(
                "{} blocks {}: {asked}, 20 µs to 20 ms by its distance",
                what.blocks(),
                in_order(cell)
            ),
        })
    }

    fn open(&self, cell: &ProbeCell, site: &Site) -> Result<Box<dyn Gauge>, ProbeError> {
        let what = What::of(cell).ok_or_else(|| ProbeError::unknown(cell))?;
        self.check(cell, site).map_err(ProbeError::Missing)?;
        alone();
        let (path, file, _) = remote(site).map_err(ProbeError::Missing)?;
        let source =
            Source { path: path.into(), ground: ground(&file), file, far: true, _own: None };
        Ok(Box::new(Reading::open(what, source, site)?))
    }
}

#[cfg(test)]
mod tests;
