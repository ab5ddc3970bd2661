//! What the kernel counts around a timed window: taken when every lane is open, and again when all
//! have ended.

use std::fs::File;
use std::os::unix::fs::MetadataExt;

use crate::plan::{Job, Op};
use crate::record::{Evidence, Note};
use crate::sys::clock::monotonic_nanos;
use crate::sys::disk::DiskStats;
use crate::sys::process_io::ProcessIo;
use crate::sys::{fd, residency, usage};

/// The counters at one moment; `None` where this kernel or container does not tell.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counters {
    io: Option<ProcessIo>,
    disk: Option<DiskStats>,
    steal: Option<u64>,
    /// CLOCK_MONOTONIC.
    at: u64,
    shape: Option<Shape>,
}

/// What of a file changes when somebody changes it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    size: u64,
    modified: (i64, i64),
}

impl Counters {
    pub fn now(file: &File, device: Option<(u64, u64)>) -> Counters {
        let shape = file
            .metadata()
            .ok()
            .map(|m| Shape { size: m.size(), modified: (m.mtime(), m.mtime_nsec()) });
        Counters {
            io: ProcessIo::process().ok(),
            disk: device.and_then(|(major, minor)| DiskStats::of(major, minor).ok()),
            steal: usage::steal(),
            at: monotonic_nanos(),
            shape,
        }
    }

    /// Device bytes of this process from `before` to now.
    pub fn device_bytes(&self, before: &Counters) -> Option<u64> {
        Some(self.io?.read_bytes.saturating_sub(before.io?.read_bytes))
    }

    /// Bytes of the file.
    pub fn size(&self) -> Option<u64> {
        self.shape.map(|shape| shape.size)
    }

    /// Writes what was counted since `before` into the evidence of a trial of `nanos`.
    pub fn tell(&self, before: &Counters, job: &Job, nanos: u64, evidence: &mut Evidence) {
        let pair =
            |of: fn(&DiskStats) -> u64| Some(of(&self.disk?).saturating_sub(of(&before.disk?)));
        evidence.write_bytes = self
            .io
            .zip(before.io)
            .map(|(now, then)| now.write_bytes.saturating_sub(then.write_bytes))
            .into();
        evidence.disk_read_bytes = pair(|d| d.read_bytes);
        evidence.disk_write_bytes = pair(|d| d.write_bytes);
        evidence.disk_requests = pair(|d| d.reads.saturating_add(d.writes)).into();
        // Milliseconds that requests spent in the queue, over the time: their average number
        // (Little's law).
        evidence.disk_depth =
            pair(|d| d.queue_ms).filter(|_| nanos > 0).map(|ms| ms as f64 * 1e6 / nanos as f64);
        // Another program was watched while it started, too.
        let watched = self.at.saturating_sub(before.at);
        let share = |(now, then): (u64, u64)| {
            (u128::from(now.saturating_sub(then)) * u128::from(nanos.min(watched))
                / u128::from(watched)) as u64
        };
        evidence.steal_nanos =
            self.steal.zip(before.steal).filter(|_| watched > 0).map(share).into();
        if let (Some(now), Some(then)) = (self.shape, before.shape) {
            if now.size != then.size && !job.appends() {
                evidence.notes.push(Note::FileChanged(format!(
                    "its size went from {} to {} bytes",
                    then.size, now.size
                )));
            } else if job.op != Op::Write && now.modified != then.modified {
                evidence.notes.push(Note::FileChanged("it was written to meanwhile".into()));
            }
        }
    }
}

/// What of the span is cached, dirty or under writeback, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cached {
    pub resident: u64,
    pub unwritten: Option<u64>,
    pub method: crate::record::Residency,
}

/// `None` where no method works. A sample disturbs: only where `may_disturb`.
pub(super) fn cached(file: &File, span: u64, may_disturb: bool) -> Option<Cached> {
    let found = residency::residency(file, 0, span).ok()?;
    (may_disturb || found.method != residency::Method::Sampled).then(|| of_pages(&found, span))
}

pub(super) fn of_pages(found: &residency::Residency, span: u64) -> Cached {
    let bytes = |pages: u64| pages.saturating_mul(fd::page_size()).min(span);
    Cached {
        resident: bytes(found.cached),
        unwritten: found
            .dirty
            .zip(found.writeback)
            .map(|(dirty, writeback)| bytes(dirty + writeback)),
        method: match found.method {
            residency::Method::Cachestat => crate::record::Residency::Cachestat,
            residency::Method::Sampled => crate::record::Residency::Sampled,
            residency::Method::Mincore => crate::record::Residency::Mincore,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::job;

    #[test]
    fn the_disk_counts_bytes_the_requests_they_came_in_and_how_long_these_waited() {
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
        at(30, 12, 5 << 20, 3 << 20, 400).tell(
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
        Counters::default().tell(&at(1, 1, 1, 1, 1), &job(), 1, &mut unknown);
        assert_eq!((unknown.disk_requests.get(), unknown.disk_depth), (None, None));
    }

    #[test]
    fn stolen_time_is_that_of_the_trial() {
        let at = |at, steal| Counters { at, steal: Some(steal), ..Counters::default() };
        let stolen = |watched: u64, nanos: u64| {
            let mut evidence = Evidence::default();
            at(5 + watched, 60_000_000).tell(&at(5, 10_000_000), &job(), nanos, &mut evidence);
            evidence.steal_nanos.get()
        };
        assert_eq!(stolen(500_000_000, 500_000_000), Some(50_000_000));
        // fio starts for 498 ms and runs for 2.
        assert_eq!(stolen(500_000_000, 2_000_000), Some(200_000));
        assert_eq!((stolen(2_000_000, 2_000_000), stolen(0, 0)), (Some(50_000_000), None));
    }
}
