//! `file-read` and `remote-read`: a file read from open to close, block by block, sequentially and
//! in random order. The file is local, or the user's on a network or FUSE mount.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use super::files::{
    BLOCK, DeviceSpeed, check_disk_space, create_filled, describe_file_system, drop_from_cache,
    fill_file, test_device, test_folder, unshare_descriptors,
};
use super::loads::shuffled;
use super::{
    BatchTime, Gauge, KnownCell, Opened, ParamSource, ProbeContext, ProbeError, param_rows,
};
use crate::record::Estimate;
use crate::sys::buffer::Buffer;
use crate::sys::clock::Clock;
use crate::sys::cold::{WARM, make_warm_within};
use crate::sys::mounts::{self, Mount};
use crate::sys::process_io::ProcessIo;
use crate::sys::residency::{Residency, residency_if_known};
use crate::sys::scratch::ScratchDir;
use crate::sys::{fd, raw};
use crate::units::show_bytes;
use crate::with_fill;

/// Default sizes of cached files, from less than a block to more than most CPU caches.
const CACHED_SIZES: &[u64] = &[1890, 11390, 64 << 10, 1 << 20, 16 << 20, 64 << 20];
/// Default sizes of files read from the device: in random order each block may wait for it.
const COLD_SIZES: &[u64] = &[64 << 10, 1 << 20, 4 << 20];
/// Attempts at a batch if the file is evicted from the cache during it.
const MAX_ATTEMPTS: u32 = 5;

param_rows! {
    /// Expected nanoseconds of a cached block; both patterns read the same blocks by the same
    /// calls.
    PATTERNS: [bool];
    "seq" => false, (250.0, 2500.0), "a system call and 4 KiB copied out of the page cache";
    "random" => true, (250.0, 3500.0),
        "a system call and 4 KiB copied out of the page cache, unpredictable for prefetchers";
}

/// Expected nanoseconds to open and close a file whose name is cached.
const OPEN_NANOS: (f64, f64) = (700.0, 10e3);

/// The parameters of a cell.
#[derive(Debug, Clone, Copy)]
struct ScanParams {
    random: bool,
    bytes: u64,
    cold: bool,
    /// Expected nanoseconds of a cached block.
    block: (f64, f64),
    why: &'static str,
}

impl ScanParams {
    /// Asks for the parameters of a cell. `most` returns the largest size to list by default; it is
    /// the only one if all default sizes are larger.
    fn ask(source: &mut ParamSource, most: &dyn Fn(&ProbeContext) -> u64) -> Option<ScanParams> {
        let cold = source.mark("cold", true, true)?;
        let bytes = source.number_among("bytes", None, &|context, _| {
            let (usual, most) = (if cold { COLD_SIZES } else { CACHED_SIZES }, most(context));
            let fits = usual.iter().copied().filter(|size| *size <= most).collect::<Vec<u64>>();
            if fits.is_empty() && !cold { vec![most] } else { fits }
        })?;
        let pattern = source.row("pattern", PATTERNS)?;
        let (random, block, why) = (pattern.value, pattern.range, pattern.why);
        Some(ScanParams { random, bytes, cold, block, why })
    }

    fn blocks(&self) -> u64 {
        self.bytes.div_ceil(BLOCK as u64)
    }

    /// Describes the pattern, for estimates.
    fn order_phrase(&self) -> &'static str {
        if self.random { "in random order" } else { "in sequential order" }
    }
}

/// The file to read, and its path.
struct ScanSource {
    /// For inspection and preparation, never for timed reads.
    file: File,
    path: PathBuf,
    /// Description of the file system, for the evidence.
    ground: Option<String>,
    /// Whether it is on a network or FUSE mount.
    far: bool,
    /// Keeps a temporary file alive.
    _own: Option<Box<dyn Send>>,
}

struct FileScan {
    params: ScanParams,
    source: ScanSource,
    /// How each pass opens the file.
    options: OpenOptions,
    /// Block numbers in reading order.
    order: Vec<u32>,
    block: Buffer,
    passes: u64,
    device_bytes: Option<u64>,
    /// Share of a remote file that stays cached when it is opened: some file systems drop all of
    /// it then.
    cached_on_open: Option<f64>,
    context: ProbeContext,
}

impl FileScan {
    /// Prepares passes over `source`; reads the file into the cache unless the passes are cold.
    fn open(
        params: ScanParams,
        source: ScanSource,
        context: &ProbeContext,
    ) -> Result<FileScan, ProbeError> {
        let blocks = usize::try_from(params.blocks()).unwrap_or(usize::MAX);
        let order = if params.random {
            shuffled(blocks, params.bytes)
        } else {
            (0..blocks as u32).collect()
        };
        let (block, context) =
            (Buffer::new(BLOCK).map_err(ProbeError::in_call("a buffer"))?, context.clone());
        let options =
            fd::named_options(&source.path).map_err(ProbeError::in_call("opening the file"))?;
        let mut reading = FileScan {
            params,
            source,
            options,
            order,
            block,
            passes: 0,
            device_bytes: Some(0),
            cached_on_open: None,
            context,
        };
        if !params.cold {
            reading.warm()?;
            reading.cached_on_open = if reading.source.far { reading.cached_share() } else { None };
        }
        Ok(reading)
    }

    fn warm(&self) -> Result<(), ProbeError> {
        let stop = || self.context.is_stopping();
        let left = make_warm_within(&self.source.file, 0..self.params.bytes, &stop);
        self.context.check_stop()?;
        check_cached(left.map_err(ProbeError::in_call("reading the file"))?, self.source.far)
            .map_err(ProbeError::Missing)
    }

    fn cached_share(&self) -> Option<f64> {
        let again = self.options.open(&self.source.path).ok()?;
        residency_if_known(&again, 0..self.params.bytes, None).ok()?.map(|left| left.share())
    }

    /// Returns whether the file is cached: idle files may be evicted, and any program may drop all
    /// caches.
    fn is_warm(&self) -> bool {
        residency_if_known(&self.source.file, 0..self.params.bytes, None)
            .is_ok_and(|left| left.is_none_or(|left| left.share() >= WARM))
    }

    /// Reads the file once, from open to close.
    fn run_pass(&self) -> Result<(), ProbeError> {
        let file = self
            .options
            .open(&self.source.path)
            .map_err(ProbeError::in_call("opening the file"))?;
        with_fill!(FILL => self.read_blocks::<FILL>(&file))
    }

    fn read_blocks<const FILL: bool>(&self, file: &File) -> Result<(), ProbeError> {
        let (fd, to) = (file.as_raw_fd(), self.block.ptr());
        for number in &self.order {
            let at = u64::from(*number) * BLOCK as u64;
            let want = (self.params.bytes - at).min(BLOCK as u64) as usize;
            // SAFETY: `to` is writable for a block, and `want` is at most a block.
            let got = unsafe { raw::pread::<FILL>(fd, to, want, at) };
            if got != want as isize {
                self.read_rest(file, at, want, got)?;
            }
            self.context.check_stop()?;
        }
        Ok(())
    }

    /// Handles a call that did not return the whole block because of an error, a signal, or a file
    /// that shrank.
    #[cold]
    fn read_rest(&self, file: &File, at: u64, want: usize, got: isize) -> Result<(), ProbeError> {
        if got < 0 && got != -(libc::EINTR as isize) {
            return Err(ProbeError::in_call("reading the file")(io::Error::from_raw_os_error(
                -got as i32,
            )));
        }
        let got = usize::try_from(got).unwrap_or(0);
        file.read_exact_at(&mut vec![0; want - got], at + got as u64)
            .map_err(ProbeError::in_call("reading the file"))
    }

    /// Times `count` passes, each with the file dropped from the cache.
    fn cold_passes(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let (clock, mut batch) = (
            Clock::best(),
            BatchTime { amount: count as f64, readings: count, ..BatchTime::default() },
        );
        for _ in 0..count {
            drop_from_cache(&self.source.file, self.params.bytes, &self.context)?;
            let before = ProcessIo::thread().ok();
            let begin = clock.now();
            self.run_pass()?;
            batch.nanos += clock.nanos(begin, clock.now());
            self.charge(device_bytes_since(before));
        }
        Ok(batch)
    }

    /// Times `count` passes over a file that is and stays cached; a remote file system may still
    /// fetch it again.
    fn warm_passes(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        for _ in 0..MAX_ATTEMPTS {
            // If opening drops the file from the cache, warming it would be useless.
            if self.cached_on_open.is_none_or(|cached_on_open| cached_on_open >= WARM)
                && !self.is_warm()
            {
                self.warm()?;
            }
            let (before, mut done) = (ProcessIo::thread().ok(), Ok(()));
            let batch = BatchTime::of_block(count as f64, || {
                done = (0..count).try_for_each(|_| self.run_pass())
            });
            done?;
            let moved = device_bytes_since(before);
            if self.source.far
                || moved.is_none_or(|moved| moved <= self.params.bytes * count / 1000)
            {
                self.charge(moved);
                return Ok(batch);
            }
        }
        Err(ProbeError::Missing(
            "the file was repeatedly evicted from the page cache while it was read".into(),
        ))
    }

    fn charge(&mut self, moved: Option<u64>) {
        self.device_bytes = self.device_bytes.zip(moved).map(|(all, more)| all + more);
    }
}

/// Checks that a file just read is cached. A remote file need not be: fetching it again is part of
/// its cost.
fn check_cached(left: Option<Residency>, far: bool) -> Result<(), String> {
    match left {
        Some(left) if left.share() < WARM && left.pages > 0 && !far => {
            Err(format!("only {:.0} % of the file stays cached", left.share() * 100.0))
        }
        _ => Ok(()),
    }
}

/// Returns the bytes the kernel accounted to this thread as device reads since `before`.
fn device_bytes_since(before: Option<ProcessIo>) -> Option<u64> {
    Some((ProcessIo::thread().ok()? - before?).read_bytes)
}

impl Gauge for FileScan {
    fn run(&mut self, count: u64) -> Result<BatchTime, ProbeError> {
        let batch =
            if self.params.cold { self.cold_passes(count)? } else { self.warm_passes(count)? };
        self.passes += count;
        Ok(batch)
    }

    fn evidence(&self) -> Vec<String> {
        let device = self.device_bytes.filter(|_| self.passes > 0).map(|bytes| {
            let state = match (self.params.cold, self.cached_on_open) {
                (true, _) => "verified cold before each pass".into(),
                (false, None) => "cached".into(),
                (false, Some(share)) => format!(
                    "read before; {:.0} % of it stays cached when it is opened again",
                    share * 100.0
                ),
            };
            format!(
                "{state}; the kernel accounted {} of device reads per pass",
                show_bytes(bytes / self.passes)
            )
        });
        self.source.ground.clone().into_iter().chain(device).collect()
    }
}

pub(super) fn ask_local(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    Some(Box::new(LocalRead(ScanParams::ask(source, &|_| u64::MAX)?)))
}

/// Maximum size of a file with a name: opening an unnamed file costs more, which matters for small
/// ones.
const MAX_NAMED_BYTES: u64 = 1 << 20;

struct LocalRead(ScanParams);

impl KnownCell for LocalRead {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        test_folder(context)?;
        context.check_memory(self.0.bytes)?;
        check_disk_space(context, self.0.bytes)
    }

    fn estimate(&self, context: &ProbeContext) -> Option<Estimate> {
        let params = &self.0;
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

    fn open(&self, context: &ProbeContext) -> Opened {
        unshare_descriptors();
        Ok(Box::new(FileScan::open(self.0, create_source(&self.0, context)?, context)?))
    }
}

/// Estimates a cold pass: sequential reads become long requests, random ones a request per block,
/// some of which readahead may save.
fn estimate_cold(params: &ScanParams, device: &DeviceSpeed) -> Estimate {
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

fn create_source(params: &ScanParams, context: &ProbeContext) -> Result<ScanSource, ProbeError> {
    if params.bytes > MAX_NAMED_BYTES {
        let scratch = create_filled(context, params.bytes, params.bytes)?;
        let file = scratch.file().try_clone().map_err(ProbeError::in_call("a file on the disk"))?;
        return Ok(ScanSource {
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
    Ok(ScanSource {
        path,
        ground: describe_file_system(&file),
        file,
        far: false,
        _own: Some(Box::new(own)),
    })
}

pub(super) fn ask_remote(source: &mut ParamSource) -> Option<Box<dyn KnownCell>> {
    // One cell per pattern if there is no remote file; its check reports what is missing.
    let most = |context: &ProbeContext| remote(context).map_or(1890, |(_, _, size)| size);
    Some(Box::new(RemoteRead(ScanParams::ask(source, &most)?)))
}

/// Nanoseconds of one request to the server, which may be on the same machine or in another city.
const ROUND_TRIP: (f64, f64) = (20e3, 20e6);
/// Nanoseconds per byte: 10 GB/s to 1 MB/s.
const BYTE: (f64, f64) = (0.1, 1000.0);
const NONE: &str = "no remote file given: name a file on a network or FUSE mount";

/// Opens the user's file: a regular file with data on a network or FUSE mount.
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

/// Checks that the files of `mount` are remote; the error is the name of the file system.
fn far(mount: &Mount) -> Result<(), &str> {
    if mount.is_network() || mount.is_fuse() { Ok(()) } else { Err(&mount.fs) }
}

struct RemoteRead(ScanParams);

impl KnownCell for RemoteRead {
    fn check(&self, context: &ProbeContext) -> Result<(), String> {
        let (_, _, size) = remote(context)?;
        if self.0.bytes > size {
            return Err(format!("the remote file has only {size} bytes"));
        }
        context.check_memory(self.0.bytes)
    }

    fn estimate(&self, _: &ProbeContext) -> Option<Estimate> {
        let params = &self.0;
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

    fn open(&self, context: &ProbeContext) -> Opened {
        unshare_descriptors();
        let (path, file, _) = remote(context).map_err(ProbeError::Missing)?;
        let ground = describe_file_system(&file);
        let source = ScanSource { path: path.into(), ground, file, far: true, _own: None };
        Ok(Box::new(FileScan::open(self.0, source, context)?))
    }
}

#[cfg(test)]
mod tests;
