//! A whole file opened, read block by block in order or not, and closed: of `file-read` and
//! `remote-read`.
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::chase::shuffled;
use super::files::{BLOCK, cold};
use super::known::{Known, has_only, number, text};
use super::{Gauge, ProbeError, Site, Took};
use crate::plan::{Param, ProbeCell};
use crate::sys::buffer::Buffer;
use crate::sys::clock::Clock;
use crate::sys::cold::{WARM, make_warm_until};
use crate::sys::fd;
use crate::sys::process_io::ProcessIo;
use crate::sys::raw;
use crate::sys::residency::{Residency, residency_if_known};
use crate::units::show_bytes;
use crate::with_fill;

/// Sizes of cached files: two of the report, then some that a cache of the CPU, and none, holds.
const WARM_SIZES: &[u64] = &[1890, 11390, 64 << 10, 1 << 20, 16 << 20, 64 << 20];
/// Sizes of files that are read from the device: in random order each block may wait for it.
const COLD_SIZES: &[u64] = &[64 << 10, 1 << 20, 4 << 20];
/// How often a batch is begun anew when the cache lost the file meanwhile.
const TRIES: u32 = 5;
/// No file of a cell is larger.
pub(super) const MOST: u64 = 1 << 30;

/// Nanoseconds of a block that is cached; both read the same blocks by the same calls.
const PATTERNS: &[Known<bool>] = &[
    Known {
        name: "seq",
        what: false,
        range: (250.0, 2500.0),
        why: "a system call and 4 KiB copied out of the page cache",
    },
    Known {
        name: "random",
        what: true,
        range: (250.0, 3500.0),
        why: "a system call and 4 KiB copied out of the page cache, on lines that no prefetcher guesses",
    },
];

/// Nanoseconds of opening and closing a file whose name is cached.
pub(super) const OPENED: (f64, f64) = (700.0, 10e3);

/// The parameters of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct What {
    pub random: bool,
    pub bytes: u64,
    pub cold: bool,
    /// Nanoseconds of a cached block, and why.
    pub block: (f64, f64),
    pub why: &'static str,
}

impl What {
    pub fn of(cell: &ProbeCell) -> Option<What> {
        let (pattern, bytes) = (Known::of(PATTERNS, cell, "pattern")?, number(cell, "bytes")?);
        let cold = match cell.params.get("cold") {
            None => has_only(cell, &["pattern", "bytes"]).then_some(false),
            Some(Param::Flag(true)) => {
                has_only(cell, &["pattern", "bytes", "cold"]).then_some(true)
            }
            Some(_) => None,
        }?;
        let what =
            What { random: pattern.what, bytes, cold, block: pattern.range, why: pattern.why };
        (1..=MOST).contains(&bytes).then_some(what)
    }

    pub fn blocks(&self) -> u64 {
        self.bytes.div_ceil(BLOCK as u64)
    }
}

/// Every pattern of every size up to `most`, cached and then cold; all of the file where it is
/// smaller than all of these. Sizes that were `chosen` take their place, whether there are so many
/// bytes or not.
pub(super) fn cells(probe: &'static str, most: u64, chosen: Option<&[u64]>) -> Vec<ProbeCell> {
    let within =
        |sizes: &[u64]| sizes.iter().copied().filter(|size| *size <= most).collect::<Vec<u64>>();
    let warm = chosen.map_or_else(|| within(WARM_SIZES), <[u64]>::to_vec);
    let warm = if warm.is_empty() { vec![most] } else { warm };
    let cold = chosen.map_or_else(|| within(COLD_SIZES), <[u64]>::to_vec);
    let sizes =
        warm.into_iter().map(|size| (size, false)).chain(cold.into_iter().map(|size| (size, true)));
    let cell = |pattern: &Known<bool>, bytes: u64, cold: bool| {
        let cell =
            ProbeCell::new(probe, [("pattern", pattern.name.into()), ("bytes", bytes.into())]);
        let params = cell.params.into_iter().chain(cold.then(|| ("cold".to_string(), true.into())));
        ProbeCell { params: params.collect(), probe: cell.probe }
    };
    sizes
        .flat_map(|(size, cold)| PATTERNS.iter().map(move |pattern| cell(pattern, size, cold)))
        .collect()
}

/// What is read, and by which name.
pub(super) struct Source {
    /// For looking at it and for its preparation, never for timed reads.
    pub file: File,
    pub path: PathBuf,
    /// Words for the evidence: the file system.
    pub ground: Option<String>,
    /// On another machine, as far as we can tell.
    pub far: bool,
    /// Keeps a file of our own alive.
    pub _own: Option<Box<dyn Send>>,
}

pub(super) struct Reading {
    what: What,
    source: Source,
    /// How each pass opens it.
    options: OpenOptions,
    /// Numbers of blocks, in the order of their reads.
    order: Vec<u32>,
    block: Buffer,
    passes: u64,
    device_bytes: Option<u64>,
    /// Share that opening leaves in the cache, of a remote file: some file systems drop all then.
    kept: Option<f64>,
    site: Site,
}

impl Reading {
    /// Warms the file where it is to be warm.
    pub fn open(what: What, source: Source, site: &Site) -> Result<Reading, ProbeError> {
        let blocks = usize::try_from(what.blocks()).unwrap_or(usize::MAX);
        let order =
            if what.random { shuffled(blocks, what.bytes) } else { (0..blocks as u32).collect() };
        let (block, site) = (Buffer::new(BLOCK).map_err(ProbeError::of("a buffer"))?, site.clone());
        let options =
            fd::named_options(&source.path).map_err(ProbeError::of("opening the file"))?;
        let mut reading = Reading {
            what,
            source,
            options,
            order,
            block,
            passes: 0,
            device_bytes: Some(0),
            kept: None,
            site,
        };
        if !what.cold {
            reading.warm()?;
            reading.kept = if reading.source.far { reading.kept() } else { None };
        }
        Ok(reading)
    }

    fn warm(&self) -> Result<(), ProbeError> {
        let left = make_warm_until(&self.source.file, self.what.bytes, &|| self.site.stopping());
        self.site.go_on()?;
        stays(left.map_err(ProbeError::of("reading the file"))?, self.source.far)
            .map_err(ProbeError::Missing)
    }

    fn kept(&self) -> Option<f64> {
        let again = self.options.open(&self.source.path).ok()?;
        residency_if_known(&again, self.what.bytes, None).ok()?.map(|left| left.share())
    }

    /// Files that are idle may be thrown out, and anybody may empty the cache of all files.
    fn is_warm(&self) -> bool {
        residency_if_known(&self.source.file, self.what.bytes, None)
            .is_ok_and(|left| left.is_none_or(|left| left.share() >= WARM))
    }

    /// Once from open to close.
    fn pass(&self) -> Result<(), ProbeError> {
        let file =
            self.options.open(&self.source.path).map_err(ProbeError::of("opening the file"))?;
        with_fill!(FILL => self.blocks::<FILL>(&file))
    }

    fn blocks<const FILL: bool>(&self, file: &File) -> Result<(), ProbeError> {
        let (fd, to) = (file.as_raw_fd(), self.block.ptr());
        for number in &self.order {
            let at = u64::from(*number) * BLOCK as u64;
            let want = (self.what.bytes - at).min(BLOCK as u64) as usize;
            // SAFETY: `to` is writable for a block, and `want` is at most that.
            let got = unsafe { raw::pread::<FILL>(fd, to, want, at) };
            if got != want as isize {
                self.rest(file, at, want, got)?;
            }
            self.site.go_on()?;
        }
        Ok(())
    }

    /// Where a call gave less than the whole block: an error, a signal, a file that shrank.
    #[cold]
    fn rest(&self, file: &File, at: u64, want: usize, got: isize) -> Result<(), ProbeError> {
        if got < 0 && got != -(libc::EINTR as isize) {
            return Err(ProbeError::of("reading the file")(io::Error::from_raw_os_error(
                -got as i32,
            )));
        }
        let got = usize::try_from(got).unwrap_or(0);
        file.read_exact_at(&mut vec![0; want - got], at + got as u64)
            .map_err(ProbeError::of("reading the file"))
    }

    /// `count` passes, each from an empty cache.
    fn cold_passes(&mut self, count: u64) -> Result<Took, ProbeError> {
        let (clock, mut took) =
            (Clock::best(), Took { amount: count as f64, readings: count, ..Took::default() });
        for _ in 0..count {
            cold(&self.source.file, self.what.bytes)?;
            let before = ProcessIo::thread().ok();
            let begin = clock.now();
            self.pass()?;
            took.nanos += clock.nanos(begin, clock.now());
            self.charge(moved_since(before));
        }
        Ok(took)
    }

    /// `count` passes through what is cached, and stays so; a remote file system may fetch it again
    /// all the same.
    fn warm_passes(&mut self, count: u64) -> Result<Took, ProbeError> {
        for _ in 0..TRIES {
            // What is gone as soon as it is opened need not be fetched before.
            if self.kept.is_none_or(|kept| kept >= WARM) && !self.is_warm() {
                self.warm()?;
            }
            let (before, mut done) = (ProcessIo::thread().ok(), Ok(()));
            let took =
                Took::whole(count as f64, || done = (0..count).try_for_each(|_| self.pass()));
            done?;
            let moved = moved_since(before);
            if self.source.far || moved.is_none_or(|moved| moved <= self.what.bytes * count / 1000)
            {
                self.charge(moved);
                return Ok(took);
            }
        }
        Err(ProbeError::Missing(
            "the file was thrown out of the page cache again and again while it was read".into(),
        ))
    }

    fn charge(&mut self, moved: Option<u64>) {
        self.device_bytes = self.device_bytes.zip(moved).map(|(all, more)| all + more);
    }
}

/// Whether a file that was read is as cached as it must be: one on another machine as far as its
/// file system keeps it, for what it takes without that is the network's price too.
fn stays(left: Option<Residency>, far: bool) -> Result<(), String> {
    match left {
        Some(left) if left.share() < WARM && left.pages > 0 && !far => {
            Err(format!("only {:.0} % of the file stays cached", left.share() * 100.0))
        }
        _ => Ok(()),
    }
}

/// Bytes from devices that the kernel charged this thread for.
fn moved_since(before: Option<ProcessIo>) -> Option<u64> {
    Some((ProcessIo::thread().ok()? - before?).read_bytes)
}

impl Gauge for Reading {
    fn run(&mut self, count: u64) -> Result<Took, ProbeError> {
        let took = if self.what.cold { self.cold_passes(count)? } else { self.warm_passes(count)? };
        self.passes += count;
        Ok(took)
    }

    fn evidence(&self) -> Vec<String> {
        let device = self.device_bytes.filter(|_| self.passes > 0).map(|bytes| {
            let state = match (self.what.cold, self.kept) {
                (true, _) => "proved cold before each".into(),
                (false, None) => "cached".into(),
                (false, Some(share)) => format!(
                    "read before; opening it again leaves {:.0} % of it cached",
                    share * 100.0
                ),
            };
            format!(
                "{state}; the kernel charged {} of the device for each file read",
                show_bytes(bytes / self.passes)
            )
        });
        self.source.ground.clone().into_iter().chain(device).collect()
    }
}

/// The word of a cell's pattern, for estimates.
pub(super) fn in_order(cell: &ProbeCell) -> &'static str {
    if text(cell, "pattern") == Some("random") { "in random order" } else { "in order" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::residency::Method;

    /// 9p and FUSE without a cache keep nothing: all that was not cold failed there.
    #[test]
    fn only_a_local_file_must_stay_cached() {
        let left = |cached| {
            Some(Residency {
                pages: 100,
                cached,
                dirty: None,
                writeback: None,
                evicted: None,
                method: Method::Mincore,
            })
        };
        assert!(stays(left(0), false).is_err_and(|why| why.contains("0 %")));
        assert_eq!(
            (stays(left(0), true), stays(left(100), false), stays(None, false)),
            (Ok(()), Ok(()), Ok(()))
        );
    }
}
