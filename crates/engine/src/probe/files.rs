//! The files that probes create: where they are, how they are filled and dropped from the cache,
//! and the expected speed of their device.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::{ProbeContext, ProbeError};
use crate::facts::BlockDevice;
use crate::host::Below;
use crate::sys::cold::{Cold, make_cold_within};
use crate::sys::content::FileData;
use crate::sys::scratch::Scratch;
use crate::sys::threads::{Affinity, unshare_files};
use crate::sys::{fill, mounts};
use crate::units::show_bytes;

/// Block size of the file probes, the same as that of the page cache.
pub(super) const BLOCK: usize = 4096;

/// Returns the folder for files.
pub(super) fn test_folder(context: &ProbeContext) -> Result<&Path, String> {
    context
        .dir
        .as_deref()
        .ok_or_else(|| "no folder on a disk for test files: choose one with --dir".into())
}

/// Gives this thread its own descriptor table before anything is opened: system calls then skip
/// reference counting, as in a single-threaded program. If that is refused, each call takes 20-40
/// ns longer.
pub(super) fn unshare_descriptors() {
    let _ = unshare_files();
}

/// Lets this thread run on all CPUs of the process again. Where kernel threads do part of the work,
/// a pinned thread may wait a whole timer tick for them (seen with fsync: 4 ms instead of 0.2 ms on
/// one of two CPUs).
pub(super) fn unpin(context: &ProbeContext) {
    // The process started with this affinity. If it is refused, the evidence names the CPU.
    let _ = Affinity::from_cpus(&context.cpus).apply();
}

/// Checks that `bytes` take at most half of the free disk space.
pub(super) fn check_disk_space(context: &ProbeContext, bytes: u64) -> Result<(), String> {
    let dir = test_folder(context)?;
    let free = File::open(dir).and_then(|dir| mounts::space(&dir)).map(|space| space.available);
    match free {
        Ok(free) if free / 2 < bytes => Err(format!(
            "needs {} of disk space: more than half of the {} that are free",
            show_bytes(bytes),
            show_bytes(free)
        )),
        _ => Ok(()),
    }
}

/// Creates an unnamed file of random bytes and writes it out.
pub(super) fn create_filled(
    context: &ProbeContext,
    bytes: u64,
    seed: u64,
) -> Result<Scratch, ProbeError> {
    fill_scratch(Scratch::create, context, bytes, seed)
}

/// Creates a file of random bytes as syncs find it elsewhere, and writes it out.
pub(super) fn create_filled_to_commit(
    context: &ProbeContext,
    bytes: u64,
    seed: u64,
) -> Result<Scratch, ProbeError> {
    fill_scratch(Scratch::create_to_commit, context, bytes, seed)
}

fn fill_scratch(
    create: impl Fn(&Path) -> io::Result<Scratch>,
    context: &ProbeContext,
    bytes: u64,
    seed: u64,
) -> Result<Scratch, ProbeError> {
    check_disk_space(context, bytes).map_err(ProbeError::Missing)?;
    let dir = test_folder(context).map_err(ProbeError::Missing)?;
    let scratch = create(dir).map_err(ProbeError::in_call("a file on the disk"))?;
    fill_file(scratch.file(), bytes, seed, context)?;
    Ok(scratch)
}

/// Fills a new file with random bytes.
pub(super) fn fill_file(
    file: &File,
    bytes: u64,
    seed: u64,
    context: &ProbeContext,
) -> Result<(), ProbeError> {
    let mut go_on = |_| ControlFlow::Continue(());
    let done =
        fill::fill_file(file, bytes, FileData::random(seed), &|| context.is_stopping(), &mut go_on);
    context.check_stop()?;
    done.map_err(ProbeError::in_call("a file on the disk"))
}

/// Drops `file` from the page cache as far as that is possible; a stop ends it.
pub(super) fn drop_pages(
    file: &File,
    bytes: u64,
    context: &ProbeContext,
) -> Result<Cold, ProbeError> {
    let done = make_cold_within(file, 0..bytes, &|| context.is_stopping());
    context.check_stop()?;
    done.map_err(ProbeError::in_call("dropping the file from the page cache"))
}

/// Drops `file` from the page cache; an error if some of it stays cached, or may.
pub(super) fn drop_from_cache(
    file: &File,
    bytes: u64,
    context: &ProbeContext,
) -> Result<(), ProbeError> {
    match drop_pages(file, bytes, context)?.left {
        Some(left) if left.is_cold() => Ok(()),
        Some(left) => Err(ProbeError::Missing(format!(
            "cannot drop the file from the page cache here: {:.0} % stays cached",
            left.share() * 100.0
        ))),
        None => Err(ProbeError::Missing(
            "cannot determine whether the file is cached here, so a cold read cannot be verified"
                .into(),
        )),
    }
}

/// Describes the file system of `file`: `on ext4`, `on nfs4 from server:/home`.
pub(super) fn describe_file_system(file: &File) -> Option<String> {
    let mount = mounts::mount_of(file).ok()?;
    let far = (mount.is_network() || mount.is_fuse()).then_some(mount.source).flatten();
    Some(far.map_or_else(
        || format!("on {}", mount.fs),
        |source| format!("on {} from {source}", mount.fs),
    ))
}

/// Expected speed of a device, each as (minimum, maximum).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DeviceSpeed {
    /// Nanoseconds of one small request.
    pub request: (f64, f64),
    /// Nanoseconds per byte in long requests.
    pub byte: (f64, f64),
    /// Nanoseconds of a cache flush.
    pub flush: (f64, f64),
    pub why: &'static str,
}

const SOLID_STATE: DeviceSpeed = DeviceSpeed {
    request: (20e3, 1e6),
    byte: (0.1, 10.0),
    flush: (20e3, 10e6),
    why: "a non-rotational disk: 20-200 µs per request of an SSD, up to 1 ms where it is shared \
          or virtual",
};
const ROTATIONAL: DeviceSpeed = DeviceSpeed {
    request: (1e6, 25e6),
    byte: (3.0, 20.0),
    flush: (2e6, 50e6),
    why: "a rotational disk: 8 ms for half a revolution and a seek, less where its cache helps",
};
const VIRTUAL: DeviceSpeed = DeviceSpeed {
    request: (20e3, 20e6),
    byte: (0.05, 20.0),
    flush: (20e3, 30e6),
    why: "a virtual disk, whose rotational flag means nothing: 50-500 µs per request if the host \
          serves it from an SSD or from memory",
};
const UNKNOWN: DeviceSpeed = DeviceSpeed {
    request: (10e3, 25e6),
    byte: (0.1, 40.0),
    flush: (5e3, 50e6),
    why: "the type of device is unknown",
};

/// Returns the expected speed of the device below the folder for files, based on what the kernel
/// reports about it.
pub(super) fn test_device(context: &ProbeContext) -> DeviceSpeed {
    fn below(dir: &Path) -> Option<Vec<BlockDevice>> {
        File::open(dir).ok().map(|dir| Below::of(&dir).devices())
    }
    let turns: Vec<bool> = context
        .dir
        .as_deref()
        .and_then(below)
        .into_iter()
        .flatten()
        .filter_map(|device| device.rotational)
        .collect();
    classify(&turns, context.host.virtualisation.is_some())
}

/// Classifies a stack of devices by their rotational flags.
fn classify(turns: &[bool], guest: bool) -> DeviceSpeed {
    match turns {
        [] => UNKNOWN,
        all if !all.contains(&true) => SOLID_STATE,
        _ if guest => VIRTUAL,
        _ => ROTATIONAL,
    }
}

#[cfg(test)]
mod tests;
