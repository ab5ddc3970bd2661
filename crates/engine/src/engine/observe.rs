//! Reads the kernel's counters around a timed window: when every lane is open, and again when all
//! have ended.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

use crate::facts::{BlockDevice, ResidencyMethod};
use crate::plan::{Job, Op};
use crate::record::{DeviceCounts, Evidence, Note, OtherProcess, Others};
use crate::stats::random::mix;
use crate::sys::clock::monotonic_nanos;
use crate::sys::disk::DiskStats;
use crate::sys::io_users::IoUsers;
use crate::sys::process_io::ProcessIo;
use crate::sys::{fd, residency, usage};
use crate::text::clean_text;

/// The counters at one moment; `None` if this kernel or container does not provide one.
#[derive(Debug, Default, Clone)]
pub(super) struct Counters {
    io: Option<ProcessIo>,
    disk: Option<DiskStats>,
    steal: Option<u64>,
    /// CLOCK_MONOTONIC.
    at: u64,
    stamp: Option<FileStamp>,
    /// The devices below, if the job commits.
    devices: Vec<(String, DiskStats)>,
}

/// The attributes that show that files were changed.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FileStamp {
    /// Of all together.
    size: u64,
    /// Depends on the size and the time of each.
    state: u64,
}

impl Counters {
    /// Reads the counters of this process, of the files together, of their `device`, and of the
    /// devices `below`.
    pub fn now(files: &[&File], device: Option<(u64, u64)>, below: &[BlockDevice]) -> Counters {
        Counters {
            io: ProcessIo::process().ok(),
            disk: device.and_then(|(major, minor)| DiskStats::read(major, minor).ok()),
            steal: usage::steal_nanos(),
            at: monotonic_nanos(),
            stamp: FileStamp::of(files),
            devices: below.iter().filter_map(read_device).collect(),
        }
    }

    /// Returns the bytes this process read from devices since `before`.
    pub fn device_bytes(&self, before: &Counters) -> Option<u64> {
        Some(self.io?.read_bytes.saturating_sub(before.io?.read_bytes))
    }

    /// Returns whether the disk moved more since `before` than this process was charged with.
    fn saw_others(&self, before: &Counters) -> bool {
        let pair = self.disk.zip(before.disk).zip(self.io.zip(before.io));
        pair.is_some_and(|((disk, old_disk), (io, old_io))| {
            let (disk, io) = (disk - old_disk, io - old_io);
            disk.read_bytes > io.read_bytes || disk.write_bytes > io.write_bytes
        })
    }

    /// Returns the counts of each device since `before`.
    fn device_counts(&self, before: &Counters) -> Vec<DeviceCounts> {
        let pairs = self.devices.iter().zip(&before.devices);
        let same = pairs.filter(|((now, _), (then, _))| now == then);
        same.map(|((device, now), (_, then))| {
            let counted = *now - *then;
            DeviceCounts {
                device: device.clone(),
                written: counted.write_bytes.into(),
                flushes: counted.flushes.into(),
                flush_nanos: counted.flush_ms.map(|ms| ms.saturating_mul(1_000_000)).into(),
            }
        })
        .collect()
    }

    /// Returns the size of the files together, bytes.
    pub fn size(&self) -> Option<u64> {
        self.stamp.map(|stamp| stamp.size)
    }

    /// Fills in the counts since `before`, during a trial of `nanos`.
    pub fn fill_evidence(&self, before: &Counters, job: &Job, nanos: u64, evidence: &mut Evidence) {
        let delta = |field: fn(&DiskStats) -> u64| {
            Some(field(&self.disk?).saturating_sub(field(&before.disk?)))
        };
        evidence.write_bytes = self
            .io
            .zip(before.io)
            .map(|(now, then)| now.write_bytes.saturating_sub(then.write_bytes))
            .into();
        evidence.disk_read_bytes = delta(|d| d.read_bytes);
        evidence.disk_write_bytes = delta(|d| d.write_bytes);
        evidence.devices = self.device_counts(before);
        evidence.disk_requests = delta(|d| d.reads.saturating_add(d.writes)).into();
        // Milliseconds that requests spent in the queue, divided by the time: their average number
        // (Little's law).
        evidence.disk_depth =
            delta(|d| d.queue_ms).filter(|_| nanos > 0).map(|ms| ms as f64 * 1e6 / nanos as f64);
        // The window of a peer includes its start; the trial gets its share of the steal time.
        let watched = self.at.saturating_sub(before.at);
        let trial_share = |(now, then): (u64, u64)| {
            (u128::from(now.saturating_sub(then)) * u128::from(nanos.min(watched))
                / u128::from(watched)) as u64
        };
        evidence.steal_nanos =
            self.steal.zip(before.steal).filter(|_| watched > 0).map(trial_share).into();
        if let (Some(now), Some(then)) = (self.stamp, before.stamp) {
            if now.size != then.size && !job.appends() {
                evidence.notes.push(Note::FileChanged(format!(
                    "its size changed from {} to {} bytes",
                    then.size, now.size
                )));
            } else if job.op != Op::Write && now.state != then.state {
                evidence.notes.push(Note::FileChanged("it was written to during the trial".into()));
            }
        }
    }
}

/// Lists who else used disks since `then`, if the disk moved something for others between the
/// counters.
pub(super) fn list_others(
    then: Option<IoUsers>,
    before: &Counters,
    after: &Counters,
) -> Option<Box<Others>> {
    let then = then.filter(|_| after.saw_others(before))?;
    Some(Box::new(name_others(&IoUsers::now(), &then)))
}

/// Returns who used disks between two readings.
pub(super) fn name_others(now: &IoUsers, then: &IoUsers) -> Others {
    let mut others = Others { hidden: now.hidden().max(then.hidden()), ..Others::default() };
    for user in now.since(then) {
        let name = clean_text(&user.name);
        match user.is_kernel {
            true => others.kernel.push(name),
            false => others.processes.push(OtherProcess {
                name,
                pid: user.pid,
                read: user.read,
                written: user.written,
            }),
        }
    }
    others.cut();
    others
}

/// Reads the counters of a device; without flushes if it does not count them.
fn read_device(device: &BlockDevice) -> Option<(String, DiskStats)> {
    let stats = match (device.major, device.minor) {
        (0, 0) => DiskStats::read_named(&device.name),
        (major, minor) => DiskStats::read(major, minor),
    };
    let stats = stats.ok()?;
    let uncounted = DiskStats { flushes: None, flush_ms: None, ..stats };
    Some((device.name.clone(), if device.counts_flushes { stats } else { uncounted }))
}

impl FileStamp {
    fn of(files: &[&File]) -> Option<FileStamp> {
        let empty = FileStamp { size: 0, state: 0 };
        let add = |all: FileStamp, file: &&File| {
            let meta = file.metadata().ok()?;
            let state = [meta.size(), meta.mtime() as u64, meta.mtime_nsec() as u64];
            Some(FileStamp {
                size: all.size.saturating_add(meta.size()),
                state: state.into_iter().fold(all.state, |all, one| mix(all ^ one)),
            })
        };
        files.first()?;
        files.iter().try_fold(empty, add)
    }
}

/// The bytes of the span that are cached, and dirty or under writeback.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cached {
    pub resident: u64,
    pub unwritten: Option<u64>,
    pub method: crate::record::Residency,
}

/// Measures the cached bytes of parts of files; `None` if no method works. Sampling may change the
/// cache, so it is done only if `may_disturb`.
pub(super) fn measure_cached(parts: &[(&File, Range<u64>)], may_disturb: bool) -> Option<Cached> {
    let cached = parts.iter().map(|(file, part)| {
        let len = part.end - part.start;
        let pages = residency::residency(file, part.start, len).ok()?;
        (may_disturb || pages.method != ResidencyMethod::Sampled).then(|| to_bytes(&pages, len))
    });
    Cached::sum(cached)
}

impl Cached {
    /// Brings parts of files into a state by `make`, which returns their residency, and returns the
    /// sum; `None` if one is unknown.
    pub(super) fn of_each(
        parts: &[(&File, Range<u64>)],
        make: impl Fn(&File, Range<u64>) -> io::Result<Option<residency::Residency>>,
    ) -> io::Result<Option<Cached>> {
        let each = parts.iter().map(|(file, part)| {
            let pages = make(file, part.clone())?;
            Ok(pages.map(|pages| to_bytes(&pages, part.end - part.start)))
        });
        Ok(Cached::sum(each.collect::<io::Result<Vec<_>>>()?.into_iter()))
    }

    /// Sums the cached bytes of several files; `None` if one is unknown.
    fn sum(of_files: impl Iterator<Item = Option<Cached>>) -> Option<Cached> {
        of_files.reduce(|all, one| {
            let (all, one) = (all?, one?);
            let unwritten = all.unwritten.zip(one.unwritten).map(|(a, b)| a.saturating_add(b));
            let resident = all.resident.saturating_add(one.resident);
            Some(Cached { resident, unwritten, method: one.method })
        })?
    }
}

pub(super) fn to_bytes(pages: &residency::Residency, span: u64) -> Cached {
    let bytes = |pages: u64| pages.saturating_mul(fd::page_size()).min(span);
    Cached {
        resident: bytes(pages.cached),
        unwritten: pages
            .dirty
            .zip(pages.writeback)
            .map(|(dirty, writeback)| bytes(dirty + writeback)),
        method: match pages.method {
            ResidencyMethod::Cachestat => crate::record::Residency::Cachestat,
            ResidencyMethod::Sampled => crate::record::Residency::Sampled,
            ResidencyMethod::Mincore => crate::record::Residency::Mincore,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::job;

    #[test]
    fn disk_counters_become_bytes_and_depth() {
        let at = |reads, writes, read_bytes, write_bytes, queue_ms| Counters {
            disk: Some(DiskStats {
                reads,
                writes,
                read_bytes,
                write_bytes,
                queue_ms,
                ..DiskStats::default()
            }),
            ..Counters::default()
        };
        let mut evidence = Evidence::default();
        at(30, 12, 5 << 20, 3 << 20, 400).fill_evidence(
            &at(10, 7, 1 << 20, 1 << 20, 100),
            &job(),
            100_000_000,
            &mut evidence,
        );
        assert_eq!(
            (evidence.disk_read_bytes, evidence.disk_write_bytes),
            (Some(4 << 20), Some(2 << 20))
        );
        assert_eq!((evidence.disk_requests.get(), evidence.disk_depth), (Some(25), Some(3.0)));
        assert_eq!(evidence.steal_nanos.get(), None);
        let mut unknown = Evidence::default();
        Counters::default().fill_evidence(&at(1, 1, 1, 1, 1), &job(), 1, &mut unknown);
        assert_eq!((unknown.disk_requests.get(), unknown.disk_depth), (None, None));
    }

    #[test]
    fn steal_time_is_scaled_to_trial() {
        let at = |at, steal| Counters { at, steal: Some(steal), ..Counters::default() };
        let stolen = |watched: u64, nanos: u64| {
            let mut evidence = Evidence::default();
            at(5 + watched, 60_000_000).fill_evidence(
                &at(5, 10_000_000),
                &job(),
                nanos,
                &mut evidence,
            );
            evidence.steal_nanos.get()
        };
        assert_eq!(stolen(500_000_000, 500_000_000), Some(50_000_000));
        // fio starts for 498 ms and runs for 2.
        assert_eq!(stolen(500_000_000, 2_000_000), Some(200_000));
        assert_eq!((stolen(2_000_000, 2_000_000), stolen(0, 0)), (Some(50_000_000), None));
    }
}
