//! Makes writes durable by a call after every N of them, and times these commits.

use std::io;
use std::os::fd::RawFd;

use super::drive::{Operation, run_operations};
use super::latencies::Latencies;
use super::work::Request;
use super::{BackendError, Commits, Work};
use crate::plan::{Job, Sync};
use crate::sys::clock::Clock;
use crate::sys::raw;

/// Counts the writes of a lane, and records its commits.
#[derive(Debug)]
pub(super) struct Committer {
    method: Sync,
    every: u32,
    /// Writes until the next sync.
    left: u32,
    clock: Clock,
    /// When the writes of the next commit began.
    began: u64,
    /// The errno of a failed sync.
    errno: Option<i32>,
    commits: Box<Commits>,
    /// The newest commits, not recorded yet: the first `pending`.
    newest: Box<[CommitTicks; NEWEST]>,
    pending: usize,
    /// The ticks at which the newest commits are recorded, however few; see [`Latencies`].
    boundary: u64,
}

/// Commits that are recorded together. After a system call the branches of the histograms are cold,
/// and three each cost as much as the readings of the clock.
const NEWEST: usize = 128;

/// The readings of the clock of a commit.
#[derive(Debug, Clone, Copy, Default)]
struct CommitTicks {
    began: u64,
    written: u64,
    ended: u64,
}

impl Committer {
    /// Returns the committer of a job whose sync method follows writes.
    pub fn for_job(job: &Job) -> Option<Committer> {
        let every = job.writes_per_commit();
        job.syncs_after_writes().then(|| Committer {
            method: job.sync,
            every,
            left: every,
            clock: Clock::best(),
            began: 0,
            errno: None,
            commits: Box::default(),
            newest: Box::new([CommitTicks::default(); NEWEST]),
            pending: 0,
            boundary: u64::MAX,
        })
    }

    pub fn method(&self) -> Sync {
        self.method
    }

    /// Runs every operation of a synchronous lane by `write`, which makes `calls` system calls and
    /// returns the bytes written or -errno, and after every N of them `sync`, which returns 0 or
    /// -errno and belongs to the last. `data` is the address of the block, for the fold.
    #[inline(always)]
    pub fn run(
        &mut self,
        work: &mut Work,
        data: *const u8,
        calls: u32,
        write: impl FnMut(Request) -> isize,
        sync: impl FnMut() -> isize,
    ) -> Result<(), BackendError> {
        let paced = work.is_paced();
        // At a pace, the wait for a start would be part of the commit after it.
        let alone = self.every == 1 && !paced;
        let mut latencies = if alone { work.time_by_commits() } else { None };
        self.boundary = latencies.as_ref().map_or(u64::MAX, Latencies::boundary);
        self.began = self.clock.now();
        let operation = Committing {
            committer: self,
            latencies: latencies.as_mut(),
            write,
            calls,
            sync,
            paced,
            begun: false,
        };
        let ended = run_operations(work, data, operation);
        self.finish(work, latencies, ended)
    }

    /// Counts a write; returns whether a sync is due.
    #[inline(always)]
    fn count(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = self.every;
        true
    }

    /// Records a commit whose writes began at `began`, and the last of them ended at `written`. Its
    /// time is also that of an operation where there are `latencies`.
    #[inline(always)]
    fn record(&mut self, began: u64, written: u64, latencies: Option<&mut Latencies>) {
        let ended = self.clock.now();
        self.began = ended;
        // An interrupted sync that was repeated has not failed.
        self.errno = None;
        if self.pending == NEWEST || ended >= self.boundary {
            self.empty_newest(ended, latencies);
            // The next write starts after that.
            self.began = self.clock.now();
        }
        self.newest[self.pending] = CommitTicks { began, written, ended };
        self.pending += 1;
    }

    /// Records the newest commits, and collects their latencies if that is due `now`.
    #[cold]
    #[inline(never)]
    fn empty_newest(&mut self, now: u64, mut latencies: Option<&mut Latencies>) {
        let (clock, commits) = (self.clock, &mut self.commits);
        for CommitTicks { began, written, ended } in self.newest.iter().take(self.pending).copied()
        {
            commits.write.record(clock.nanos(began, written));
            commits.sync.record(clock.nanos(written, ended));
            let total = clock.nanos(began, ended);
            match &mut latencies {
                Some(latencies) => latencies.record(total),
                None => commits.total.record(total),
            }
        }
        self.pending = 0;
        if let Some(latencies) = latencies.filter(|of| now >= of.boundary()) {
            latencies.collect(now);
            self.boundary = latencies.boundary();
        }
    }

    /// Records that a sync failed.
    #[cold]
    fn fail(&mut self, errno: i32) {
        self.errno = Some(errno);
        // Where the write is repeated, so is the sync.
        self.left = 1;
    }

    /// Hands the commits to the lane's result, and returns how the work ended; a failed sync is not
    /// a failed write. The next trial begins with a new group.
    fn finish<'a>(
        &mut self,
        work: &mut Work<'a>,
        mut latencies: Option<Latencies<'a>>,
        ended: Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        self.empty_newest(0, latencies.as_mut());
        self.boundary = u64::MAX;
        work.set_commits(std::mem::take(&mut self.commits), latencies);
        self.left = self.every;
        match self.errno.take() {
            Some(errno) if ended.is_err() => Err(self.error(work, errno)),
            _ => ended,
        }
    }

    /// Returns the error of a sync.
    fn error(&self, work: &Work, errno: i32) -> BackendError {
        let call = match self.method {
            Sync::Fsync => "fsync(2)",
            Sync::Msync => "msync(2)",
            _ => "fdatasync(2)",
        };
        let error = io::Error::from_raw_os_error(errno);
        BackendError::Sync { call, written: work.reach(), error }
    }
}

/// Calls fsync(2) or fdatasync(2); returns 0 or -errno.
#[inline(always)]
pub(super) fn sync_file<const FILL: bool>(method: Sync, fd: RawFd) -> isize {
    if method == Sync::Fsync { raw::fsync::<FILL>(fd) } else { raw::fdatasync::<FILL>(fd) }
}

/// The operation of [`Committer::run`].
struct Committing<'a, 'b, W, S> {
    committer: &'a mut Committer,
    /// Where the times of the operations are recorded, if each is a commit.
    latencies: Option<&'a mut Latencies<'b>>,
    write: W,
    calls: u32,
    sync: S,
    /// Writes wait for their start, so each commit begins with a reading of the clock.
    paced: bool,
    /// The first write of the next commit has begun.
    begun: bool,
}

impl<W: FnMut(Request) -> isize, S: FnMut() -> isize> Operation for Committing<'_, '_, W, S> {
    #[inline(always)]
    fn make(&mut self, request: Request) -> (isize, u32) {
        if self.paced && !self.begun {
            self.committer.began = self.committer.clock.now();
            self.begun = true;
        }
        let result = (self.write)(request);
        if result != request.len as isize || !self.committer.count() {
            return (result, self.calls);
        }
        let written = self.committer.clock.now();
        let synced = (self.sync)();
        if synced < 0 {
            self.committer.fail(-synced as i32);
            return (synced, self.calls + 1);
        }
        let latencies = self.latencies.as_deref_mut();
        self.committer.record(self.committer.began, written, latencies);
        self.begun = false;
        (result, self.calls + 1)
    }
}

/// The commits of a lane with several operations in flight: a sync begins when the last of its N
/// writes is complete, and holds the slot of that write.
#[derive(Debug)]
pub(super) struct QueuedCommits {
    committer: Committer,
    slots: Vec<Pending>,
    /// Start of the first complete write since the last sync; `u64::MAX` without one.
    began: u64,
}

/// A write, and the sync that follows it.
#[derive(Debug, Clone, Copy, Default)]
struct Pending {
    began: u64,
    len: u32,
    /// The result of the write whose sync is in flight.
    result: isize,
    syncing: bool,
    /// The result of a write or of its linked sync, whichever was seen first.
    linked: Option<isize>,
    /// When the first write of the commit began, and the last one ended.
    commit: (u64, u64),
}

impl QueuedCommits {
    pub fn for_job(job: &Job) -> Option<QueuedCommits> {
        let slots = vec![Pending::default(); job.depth.max(1) as usize];
        let committer = Committer::for_job(job)?;
        Some(QueuedCommits { committer, slots, began: u64::MAX })
    }

    pub fn is_single(&self) -> bool {
        self.committer.every == 1
    }

    /// Returns whether fsync is the sync, not fdatasync.
    pub fn is_whole(&self) -> bool {
        self.committer.method == Sync::Fsync
    }

    /// Notes that a write begins.
    pub fn begin(&mut self, request: Request) {
        let now = self.committer.clock.now();
        let slot = &mut self.slots[request.slot as usize];
        (slot.began, slot.len, slot.linked) = (now, request.len, None);
    }

    /// Returns whether the slot's sync is in flight.
    pub fn is_syncing(&self, slot: u32) -> bool {
        self.slots[slot as usize].syncing
    }

    /// Takes the result of a write; returns whether its sync is due.
    pub fn end_write(&mut self, slot: u32, result: isize) -> bool {
        let entry = &mut self.slots[slot as usize];
        if result != entry.len as isize {
            return false;
        }
        self.began = self.began.min(entry.began);
        if !self.committer.count() {
            return false;
        }
        entry.syncing = true;
        entry.result = result;
        entry.commit = (std::mem::replace(&mut self.began, u64::MAX), self.committer.clock.now());
        true
    }

    /// Takes the result of a sync; returns that of the write, or -errno of the sync.
    pub fn end_sync(&mut self, slot: u32, result: isize) -> isize {
        let entry = &mut self.slots[slot as usize];
        entry.syncing = false;
        let (Pending { result: written, .. }, (began, ended)) = (*entry, entry.commit);
        if result < 0 {
            self.committer.fail(-result as i32);
            return result;
        }
        self.committer.record(began, ended, None);
        written
    }

    /// Takes the result of a write or of the `sync` linked to it, which may be seen first. Once
    /// both are there, returns that of the write, or -errno of the sync.
    pub fn end_linked(&mut self, slot: u32, sync: bool, result: isize) -> Option<isize> {
        let entry = &mut self.slots[slot as usize];
        let first = entry.linked.replace(result)?;
        let (written, synced) = if sync { (first, result) } else { (result, first) };
        // A write that failed or was short cancels its sync: its result counts.
        if written != entry.len as isize {
            return Some(written);
        }
        if synced < 0 {
            self.committer.fail(-synced as i32);
            return Some(synced);
        }
        let (began, committer) = (entry.began, &mut self.committer);
        let now = committer.clock.now();
        committer.commits.total.record(committer.clock.nanos(began, now));
        committer.errno = None;
        Some(written)
    }

    /// See [`Committer::finish`].
    pub fn finish(
        &mut self,
        work: &mut Work,
        ended: Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        self.began = u64::MAX;
        self.committer.finish(work, None, ended)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::backend::access_pattern::Share;
    use crate::backend::kind::Backend;
    use crate::backend::meter::Timed;
    use crate::backend::pread::Pread;
    use crate::backend::work::{Assignment, Published};
    use crate::backend::{backend, drive, testing};
    use crate::catalog::infos;
    use crate::plan::{Cache, Choice, Info, Op};
    use crate::stats::Histogram;

    /// Runs 8 writes; `sync` gets the number of syncs before it. Returns how it ended and what was
    /// recorded.
    fn write_eight(
        method: Sync,
        every: u32,
        sync: impl FnMut(u64) -> isize,
    ) -> (Result<(), BackendError>, Box<Commits>) {
        run_eight(method, every, |request| request.len as isize, sync)
    }

    fn run_eight(
        method: Sync,
        every: u32,
        write: impl FnMut(Request) -> isize,
        sync: impl FnMut(u64) -> isize,
    ) -> (Result<(), BackendError>, Box<Commits>) {
        run_writes(8, method, every, write, sync)
    }

    fn run_writes(
        count: u64,
        method: Sync,
        every: u32,
        write: impl FnMut(Request) -> isize,
        mut sync: impl FnMut(u64) -> isize,
    ) -> (Result<(), BackendError>, Box<Commits>) {
        let job = Job {
            sync: method,
            sync_every: every,
            span: count * 4096,
            ..Job::plain(Choice::plain("pread"), Op::Write)
        };
        let (stop, published) = (AtomicBool::new(false), Published::default());
        let share = Share::for_lane(&job, 0, u64::MAX, 0);
        let mut work = Work::new(Pread.assignment(&job, share, &stop, &published));
        let mut committer = Committer::for_job(&job).unwrap();
        let mut calls = 0;
        let sync = || {
            calls += 1;
            sync(calls - 1)
        };
        let ended = committer.run(&mut work, std::ptr::null(), 1, write, sync);
        (ended, work.tally().commits.unwrap())
    }

    #[test]
    fn every_commit_is_recorded() {
        for count in [NEWEST as u64 - 1, NEWEST as u64, 3 * NEWEST as u64 + 5] {
            let (ended, commits) =
                run_writes(count, Sync::Fsync, 1, |request| request.len as isize, |_| 0);
            ended.unwrap();
            let counts = [&commits.total, &commits.write, &commits.sync].map(Histogram::count);
            assert_eq!(counts, [count; 3]);
            let [total, write, sync] =
                [&commits.total, &commits.write, &commits.sync].map(|of| of.mean() * count as f64);
            // Each time is rounded down, a time below 1 ns up.
            assert!((write + sync - total).abs() <= 3.0 * count as f64, "{write} {sync} {total}");
        }
    }

    #[test]
    fn a_boundary_records_commits_at_once() {
        let job = Job { sync: Sync::Fsync, ..Job::plain(Choice::plain("pread"), Op::Write) };
        let mut committer = Committer::for_job(&job).unwrap();
        let mut latencies = Latencies::new(committer.clock);
        latencies.begin(0);
        let now = committer.clock.now();
        committer.record(now, now, Some(&mut latencies));
        assert_eq!((committer.pending, committer.commits.sync.count()), (1, 0));
        // Long over.
        committer.boundary = latencies.boundary();
        committer.record(now, now, Some(&mut latencies));
        // The second one ended after it.
        assert_eq!((committer.pending, committer.commits.sync.count()), (1, 1));
        assert_eq!((committer.commits.total.count(), latencies.min()), (0, None));
        assert!(committer.boundary > now && committer.began > now);
        assert_eq!(latencies.finish().0.count(), 1);
    }

    #[test]
    fn every_n_writes_are_a_commit() {
        for every in [1, 2, 3, 8, 9] {
            let (ended, commits) = write_eight(Sync::Fsync, every, |_| 0);
            ended.unwrap();
            let groups = u64::from(8 / every);
            for of in [&commits.total, &commits.write, &commits.sync] {
                assert_eq!(of.count(), groups, "{every}");
            }
        }
    }

    #[test]
    fn a_lane_commits_in_each_trial() {
        let (_file, _, target) = testing::file(65536, 3);
        let mut tried = 0;
        let commits = |of: &&Info| of.syncs.contains(&Sync::Fdatasync);
        for info in infos().iter().copied().filter(commits) {
            let backend = backend(info.id).unwrap();
            let job = Job {
                op: Op::Write,
                sync: Sync::Fdatasync,
                cache: Cache::AsIs,
                xor: false,
                backend: Choice::plain(info.id),
                ..testing::job()
            };
            let Ok(mut lane) = backend.open(&target, &job, 0) else { continue };
            for trial in 1..=3 {
                let (stop, published) = (AtomicBool::new(false), Published::default());
                let share = Share::for_lane(&job, 0, u64::MAX, 0);
                let assignment = Assignment {
                    timed: Timed::Chained,
                    ..backend.assignment(&job, share, &stop, &published)
                };
                let mut work = Work::new(assignment);
                drive::run(lane.as_mut(), &mut work).unwrap();
                let tally = work.tally();
                let timed = [tally.commits.map(|commits| commits.total), tally.histogram];
                let counts = timed.map(|of| of.map(|times| times.count()));
                assert_eq!(counts, [Some(16); 2], "{} in trial {trial}", job.backend);
            }
            tried += 1;
        }
        assert!(tried >= 3, "{tried} backends");
    }

    #[test]
    fn a_failed_sync_is_named() {
        for (method, call) in [
            (Sync::Fdatasync, "fdatasync(2)"),
            (Sync::Fsync, "fsync(2)"),
            (Sync::Msync, "msync(2)"),
        ] {
            let third = |before| if before == 2 { -(libc::EIO as isize) } else { 0 };
            let (ended, commits) = write_eight(method, 1, third);
            let text = ended.unwrap_err().to_string();
            assert!(text.starts_with(&format!("{call} of the data from offset 0")), "{text}");
            assert_eq!(commits.total.count(), 2);
        }
    }

    #[test]
    fn an_interrupted_sync_is_repeated() {
        let once = |before| if before == 2 { -(libc::EINTR as isize) } else { 0 };
        let (ended, commits) = write_eight(Sync::Fdatasync, 2, once);
        ended.unwrap();
        assert_eq!(commits.total.count(), 4);
    }

    #[test]
    fn failed_writes_are_not_syncs() {
        let once = |before| if before == 2 { -(libc::EINTR as isize) } else { 0 };
        let write = |request: Request| match request.offset {
            0x6000 => -(libc::EIO as isize),
            _ => request.len as isize,
        };
        let (ended, commits) = run_eight(Sync::Fdatasync, 1, write, once);
        let text = ended.unwrap_err().to_string();
        assert!(text.starts_with("pwrite(2) of 4096 bytes at offset 24576: "), "{text}");
        assert_eq!(commits.total.count(), 6);
    }
}
