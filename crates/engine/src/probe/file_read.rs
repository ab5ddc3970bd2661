//! `file-read`: a local file read from open to close, sequentially and in random order.

use std::fs::File;

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use super::file_scan::{FileScan, OPEN_NANOS, ScanParams, Source};
use super::files::{
    Device, check_disk_space, create_filled, describe_file_system, fill_file, test_device,
    test_folder, unshare_descriptors,
};
use super::{Gauge, ParamSource, ProbeContext, ProbeError, ProbeKind};
use crate::catalog;
use crate::plan::ProbeInfo;
use crate::record::Estimate;
use crate::sys::fd;
use crate::sys::scratch_dir::ScratchDir;

pub(super) struct FileRead;

/// Maximum size of a file with a name: opening an unnamed file costs more, which matters for small
/// ones.
const MAX_NAMED_BYTES: u64 = 1 << 20;

impl ProbeKind for FileRead {
    const INFO: &'static ProbeInfo = &catalog::FILE_READ;
    type Params = ScanParams;

    fn params(source: &mut ParamSource) -> Option<ScanParams> {
        ScanParams::ask(source, |_| u64::MAX)
    }

    fn check(params: &ScanParams, context: &ProbeContext) -> Result<(), String> {
        test_folder(context)?;
        context.check_memory(params.bytes).and_then(|()| check_disk_space(context, params.bytes))
    }

    fn estimate(params: &ScanParams, context: &ProbeContext) -> Option<Estimate> {
        if params.cold {
            return Some(estimate_cold(params, &test_device(context)));
        }
        let blocks = params.blocks() as f64;
        let (low, high) =
            (OPEN_NANOS.0 + blocks * params.block.0, OPEN_NANOS.1 + blocks * params.block.1);
        Some(Estimate {
            low,
            high,
            reason: format!("opening, and for each of {} blocks: {}", params.blocks(), params.why),
        })
    }

    fn open(params: &ScanParams, context: &ProbeContext) -> Result<Box<dyn Gauge>, ProbeError> {
        unshare_descriptors();
        Ok(Box::new(FileScan::open(*params, create_source(params, context)?, context)?))
    }
}

/// Estimates a cold pass: sequential reads become long requests, random ones a request per block,
/// some of which readahead may save.
fn estimate_cold(params: &ScanParams, device: &Device) -> Estimate {
    let (bytes, blocks) = (params.bytes as f64, params.blocks() as f64);
    let low = OPEN_NANOS.0 + device.request.0 + bytes * device.byte.0;
    let high = OPEN_NANOS.1
        + if params.random {
            blocks * device.request.1
        } else {
            device.request.1 * 2.0 + bytes * device.byte.1
        };
    Estimate {
        low,
        high: high.max(low),
        reason: format!(
            "{} blocks {} from the device: {}",
            params.blocks(),
            params.order_phrase(),
            device.why
        ),
    }
}

fn create_source(params: &ScanParams, context: &ProbeContext) -> Result<Source, ProbeError> {
    if params.bytes > MAX_NAMED_BYTES {
        let scratch = create_filled(context, params.bytes, params.bytes)?;
        let file = scratch.file().try_clone().map_err(ProbeError::in_call("a file on the disk"))?;
        return Ok(Source {
            path: fd::own_path(&file),
            ground: describe_file_system(&file),
            file,
            far: false,
            _own: Some(Box::new(scratch)),
        });
    }
    let own = ScratchDir::create(test_folder(context).map_err(ProbeError::Missing)?)
        .map_err(ProbeError::in_call("a folder on the disk"))?;
    let path = own.path().join("f0");
    let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
    let made = openat(own.folder(), "f0", flags, Mode::S_IRUSR | Mode::S_IWUSR);
    let file = File::from(made.map_err(ProbeError::in_call("a file on the disk"))?);
    fill_file(&file, params.bytes, params.bytes, context)?;
    Ok(Source {
        path,
        ground: describe_file_system(&file),
        file,
        far: false,
        _own: Some(Box::new(own)),
    })
}
