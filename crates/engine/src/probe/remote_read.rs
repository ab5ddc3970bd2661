//! `remote-read`: like `file-read`, for the user's file on a network or FUSE mount.

use std::fs::File;
use std::path::Path;

use super::file_scan::{FileScan, OPEN_NANOS, ScanParams, Source};
use super::files::{describe_file_system, unshare_descriptors};
use super::{Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;
use crate::sys::fd;
use crate::sys::mounts::{self, Mount};

pub(super) struct RemoteRead;

/// Nanoseconds of one request to the server, which may be on the same machine or in another city.
const ROUND_TRIP: (f64, f64) = (20e3, 20e6);
/// Nanoseconds per byte: 10 GB/s to 1 MB/s.
const BYTE: (f64, f64) = (0.1, 1000.0);
const NONE: &str = "no remote file given: name a file on a network or FUSE mount";

/// Opens the user's file.
///
/// # Errors
/// If there is none, or if it is not a regular file with data on a network or FUSE mount.
fn remote(context: &ProbeContext) -> Result<(&Path, File, u64), String> {
    let path = context.file.as_deref().ok_or(NONE)?;
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

/// Checks that the files of `mount` are remote.
///
/// # Errors
/// If they are local; the error is the name of the file system.
fn far(mount: &Mount) -> Result<(), &str> {
    if mount.is_network() || mount.is_fuse() { Ok(()) } else { Err(&mount.fs) }
}

impl ProbeKind for RemoteRead {
    const INFO: &'static ProbeInfo = &catalog::REMOTE_READ;
    type Params = ScanParams;

    /// Lists one cell per pattern if there is no remote file; its check reports what is missing.
    fn params(source: &mut ParamSource) -> Option<ScanParams> {
        ScanParams::ask(source, |context| remote(context).map_or(1890, |(_, _, size)| size))
    }

    fn check(params: &ScanParams, context: &ProbeContext) -> Result<(), String> {
        let (_, _, size) = remote(context)?;
        if params.bytes > size {
            return Err(format!("the remote file has only {size} bytes"));
        }
        context.check_memory(params.bytes)
    }

    fn estimate(params: &ScanParams, _: &ProbeContext) -> Option<Estimate> {
        let (bytes, blocks) = (params.bytes as f64, params.blocks() as f64);
        // Even for a cached file, some file systems ask the server for every block.
        let low = OPEN_NANOS.0
            + if params.cold { ROUND_TRIP.0 + bytes * BYTE.0 } else { blocks * params.block.0 };
        let high = OPEN_NANOS.1
            + ROUND_TRIP.1 * if params.random || !params.cold { 2.0 + blocks } else { 4.0 }
            + bytes * BYTE.1;
        let asked = if params.cold {
            "a request to the server per block, or for many blocks at once"
        } else {
            "a request to the server on open, and per block where nothing stays cached"
        };
        Some(Estimate {
            low,
            high,
            reason: format!(
                "{} blocks {}: {asked}, 20 µs to 20 ms depending on the distance",
                params.blocks(),
                params.order_phrase()
            ),
        })
    }

    fn open(params: &ScanParams, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        unshare_descriptors();
        let (path, file, _) = remote(context).map_err(ProbeError::Missing)?;
        let source = Source {
            path: path.into(),
            ground: describe_file_system(&file),
            file,
            far: true,
            _own: None,
        };
        Ok(Box::new(FileScan::open(*params, source, context)?))
    }
}

#[cfg(test)]
mod tests;
