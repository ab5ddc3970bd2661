//! Files of a probe's own: where they lie, how they are filled and proved to be cold, what their
//! device should do.

use std::fs::File;
use std::path::Path;

use super::{ProbeError, Site};
use crate::sys::cold::make_cold;
use crate::sys::fill::fill_random;
use crate::sys::scratch::Scratch;
use crate::sys::threads::{Affinity, unshare_files};
use crate::sys::{block, disk, mounts};
use crate::units::show_bytes;

/// A block of the file probes: the report's, and that of the page cache.
pub(super) const BLOCK: usize = 4096;

/// The folder for files, for [`Probe::check`](super::Probe::check) too.
pub(super) fn folder(site: &Site) -> Result<&Path, String> {
    site.dir.as_deref().ok_or_else(|| "no folder on a disk for a file: name one with --dir".into())
}

/// Gives this thread a descriptor table of its own, before anything is opened: a call that takes a
/// descriptor then does not count its users, as in a program with one thread. Refused, the value is
/// 20-40 ns per call higher.
pub(super) fn alone() {
    let _ = unshare_files();
}

/// Lets this thread run on all CPUs of the process again. Where kernel threads do part of the work,
/// one that may not leave its CPU can wait for them for a whole tick of the clock (seen with fsync:
/// 4 ms instead of 0.2 on one of two CPUs).
pub(super) fn unpin(site: &Site) {
    // It was allowed when the process began; refused, the evidence names the CPU.
    let _ = Affinity::of(&site.cpus).apply();
}

/// Whether `bytes` fit on the disk with as much to spare.
pub(super) fn has_room(site: &Site, bytes: u64) -> Result<(), String> {
    let dir = folder(site)?;
    let free = File::open(dir).and_then(|dir| mounts::space(&dir)).map(|space| space.available);
    match free {
        Ok(free) if free / 2 < bytes => Err(format!(
            "{} of disk: more than half of what is free, {}",
            show_bytes(bytes),
            show_bytes(free)
        )),
        _ => Ok(()),
    }
}

/// An unnamed file of random bytes, all of them stored.
pub(super) fn filled(site: &Site, bytes: u64, seed: u64) -> Result<Scratch, ProbeError> {
    has_room(site, bytes).map_err(ProbeError::Missing)?;
    let dir = folder(site).map_err(ProbeError::Missing)?;
    let scratch = Scratch::create(dir).map_err(ProbeError::of("a file on the disk"))?;
    fill(scratch.file(), bytes, seed, site)?;
    Ok(scratch)
}

/// Fills a new file.
pub(super) fn fill(file: &File, bytes: u64, seed: u64, site: &Site) -> Result<(), ProbeError> {
    let done = fill_random(file, bytes, seed, &|| site.stopping(), &mut |_| {});
    site.go_on()?;
    done.map_err(ProbeError::of("a file on the disk"))
}

/// Empties the page cache of `file`.
///
/// # Errors
/// It cannot be proved that nothing is left.
pub(super) fn cold(file: &File, bytes: u64) -> Result<(), ProbeError> {
    let done = make_cold(file, bytes).map_err(ProbeError::of("making the file cold"))?;
    match done.left {
        Some(left) if left.is_cold() => Ok(()),
        Some(left) => Err(ProbeError::Missing(format!(
            "the file cannot be made cold here: {:.0} % stays cached",
            left.share() * 100.0
        ))),
        None => Err(ProbeError::Missing(
            "nothing tells here whether the file is cached, so cold cannot be proved".into(),
        )),
    }
}

/// The file system of `file`, by name: `on ext4`, `on nfs4 from server:/home`.
pub(super) fn ground(file: &File) -> Option<String> {
    let mount = mounts::mount_of(file).ok()?;
    let far = (mount.is_network() || mount.is_fuse()).then_some(mount.source).flatten();
    Some(far.map_or_else(
        || format!("on {}", mount.fs),
        |source| format!("on {} from {source}", mount.fs),
    ))
}

/// What a device should do, least and most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Device {
    /// Nanoseconds of one small request.
    pub request: (f64, f64),
    /// Nanoseconds of one byte, in long requests.
    pub byte: (f64, f64),
    /// Nanoseconds until it says that data is safe.
    pub flush: (f64, f64),
    pub why: &'static str,
}

const SOLID: Device = Device {
    request: (20e3, 1e6),
    byte: (0.1, 10.0),
    flush: (20e3, 10e6),
    why: "no part of the disk turns: 20-200 µs for a request of an SSD, to 1 ms where it is shared or virtual",
};
const TURNING: Device = Device {
    request: (1e6, 25e6),
    byte: (3.0, 20.0),
    flush: (2e6, 50e6),
    why: "a disk that turns: 8 ms for half a turn and a move of its arm, less where its own cache helps",
};
const VIRTUAL: Device = Device {
    request: (20e3, 20e6),
    byte: (0.05, 20.0),
    flush: (20e3, 30e6),
    why: "a virtual disk, whose word that it turns means nothing: 50-500 µs for a request that an SSD or the memory of its host serves",
};
const UNKNOWN: Device = Device {
    request: (10e3, 25e6),
    byte: (0.1, 40.0),
    flush: (5e3, 50e6),
    why: "nothing tells what sort of device it is",
};

/// That of the folder for files, by what the kernel says of it.
pub(super) fn device(site: &Site) -> Device {
    let below = |dir: &Path| {
        File::open(dir)
            .ok()
            .and_then(|dir| disk::device_of(&dir))
            .map(|(major, minor)| block::stack(major, minor))
    };
    let turns: Vec<bool> = site
        .dir
        .as_deref()
        .and_then(below)
        .into_iter()
        .flatten()
        .filter_map(|device| device.rotational)
        .collect();
    sort(&turns, site.host.virtualisation.is_some())
}

/// By what each device says of itself: whether it turns.
fn sort(turns: &[bool], guest: bool) -> Device {
    match turns {
        [] => UNKNOWN,
        all if !all.contains(&true) => SOLID,
        _ if guest => VIRTUAL,
        _ => TURNING,
    }
}

#[cfg(test)]
mod tests;
