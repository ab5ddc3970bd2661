//! Runs the workers of one trial: one thread per lane, started together, gone when the trial is
//! over.
//!
//! A worker unshares its descriptor table and then opens its own file description, so no other
//! thread slows down its calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::control::Cut;
use super::error::Failure;
use super::legs::{self, Leg};
use super::pace_of_lanes::lanes_with_work;
pub(super) use super::spec::{Spec, cpus};
use crate::backend::access_pattern::Share;
use crate::backend::claims::Cursor;
use crate::backend::lane_log::{LaneLog, LogRing};
use crate::backend::meter::Timed;
use crate::backend::pace::{Anchor, LanePace};
use crate::backend::work::{Assignment, Published, Tally};
use crate::backend::{Backend, BackendError, Work, drive};
use crate::plan::{Job, Op, Sync};
use crate::record::{LaneSample, LatencyLog, LogEntry, Note, Rounds, Sample, SampleParts, Slept};
use crate::sys::clock::{Clock, monotonic_nanos, since_boot};
use crate::sys::process_io::ProcessIo;
use crate::sys::threads::{self, Affinity};
use crate::sys::usage::{RunQueue, Usage};

/// The work of one lane, and when it ran, in nanoseconds of CLOCK_MONOTONIC.
pub(super) struct LaneResult {
    pub lane: u32,
    pub share: Share,
    /// Its part of each file of a list, in order.
    pub legs: Vec<Leg>,
    pub tally: Tally,
    pub start: u64,
    /// When the last operation ended; `end` is after the fdatasync of `--sync end`.
    pub ran: u64,
    pub end: u64,
    pub usage: Usage,
    /// Nanoseconds that it was ready to run while another task had the CPU.
    pub queued: Option<u64>,
}

/// The results of all lanes.
#[derive(Default)]
pub(super) struct LaneResults {
    pub lanes: Vec<LaneResult>,
    pub samples: Vec<Sample>,
    /// The latencies over time; `None` where none were timed.
    pub log: Option<LatencyLog>,
    /// The limit ended it.
    pub timed_out: bool,
    /// If it looked for a steady state.
    pub rounds: Option<Rounds>,
    /// When the machine slept.
    pub notes: Vec<Note>,
}

/// The state that the workers and the waiting thread share.
struct TrialShared {
    spec: Spec,
    backend: &'static dyn Backend,
    stop: AtomicBool,
    published: Vec<Published>,
    /// The log of each lane; none where nothing is timed.
    logs: Vec<LogRing>,
    /// When the gate opened, in ticks.
    opened: AtomicU64,
    cursor: Option<Cursor>,
    started: AtomicU32,
    /// There is a CPU for every lane.
    spin: bool,
    /// When the pace begins.
    anchor: Anchor,
    gate: Mutex<StartGate>,
    changed: Condvar,
}

#[derive(Default)]
struct StartGate {
    ready: u32,
    open: Option<bool>,
}

type Done = Result<LaneResult, BackendError>;

/// How often the waiting thread checks its flags, and how often it takes a sample.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
const SAMPLE_INTERVAL: Duration = Duration::from_nanos(LatencyLog::WIDTH);
/// The same once the limit of the trial has passed.
const MIN_POLL_INTERVAL: Duration = Duration::from_micros(100);
/// A trial that ends by time ends after this many times its limit in any case.
const MOST_LATE: u32 = 100;
/// A system call that does not return this long after the stop is abandoned.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// Receives each sample, in total and its parts.
pub(super) type Watch<'a> = dyn FnMut(Sample, SampleParts) + 'a;

/// Runs the trial. `at_go` is called when every lane is open and none has begun, and returns
/// whether to begin; `cut` returns when and how to end it.
pub(super) fn run(
    spec: &Spec,
    backend: &'static dyn Backend,
    at_go: &mut dyn FnMut() -> bool,
    cut: &dyn Fn() -> Option<Cut>,
    sample: &mut Watch,
) -> Result<LaneResults, Failure> {
    let threads = spec.job.threads;
    let shared = Arc::new(TrialShared::new(spec, backend));
    let (sender, receiver) = channel();
    let mut waiter = Waiter {
        shared: &shared,
        receiver,
        workers: Vec::new(),
        cut,
        lanes: Vec::new(),
        log: LatencyLog::new(spec.timed.every()),
        fresh: LatencyLog::new(spec.timed.every()),
        logged: vec![0; threads as usize],
        taken: 0,
        error: None,
        stopped: false,
        stopped_at: None,
        timed_out: false,
        steadiness: spec.steady.map(Steadiness::new),
        notes: Vec::new(),
    };
    let spawned = (0..threads).try_for_each(|lane| {
        let refused = |error| {
            Failure::Cell(format!(
                "cannot start thread {} of {threads}: {error}; use fewer --threads",
                lane + 1
            ))
        };
        waiter.workers.push(spawn(&shared, lane, sender.clone()).map_err(refused)?);
        Ok(())
    });
    drop(sender);
    if spawned.is_err() || !waiter.wait_ready()? || !at_go() {
        waiter.stop();
        shared.open_gate(false);
        let done = waiter.wait_done(&mut |_, _| {});
        spawned.and(done)?;
        return Err(waiter.failure());
    }
    shared.open_gate(true);
    let mut samples = Vec::new();
    waiter.wait_done(&mut |s, parts| {
        samples.push(s);
        crate::stats::merge_neighbours(&mut samples, Sample::MAX_PER_TRIAL - 1, Sample::merge);
        sample(s, parts);
    })?;
    if waiter.error.is_some() {
        return Err(waiter.failure());
    }
    let Waiter { lanes, log, timed_out, steadiness, notes, .. } = waiter;
    let log = Some(log).filter(|log| !log.is_empty());
    let rounds = steadiness.map(|state| state.rounds);
    Ok(LaneResults { lanes, samples, log, timed_out, rounds, notes })
}

impl TrialShared {
    fn new(spec: &Spec, backend: &'static dyn Backend) -> TrialShared {
        let threads = spec.job.threads;
        TrialShared {
            spec: spec.clone(),
            backend,
            stop: AtomicBool::new(false),
            published: (0..threads).map(|_| Published::default()).collect(),
            logs: match spec.timed {
                Timed::None => Vec::new(),
                _ => (0..threads).map(|_| LogRing::new(threads)).collect(),
            },
            opened: AtomicU64::new(0),
            cursor: spec.claims().map(Cursor::new),
            started: AtomicU32::new(0),
            spin: u64::from(threads) <= spec.cpus(),
            anchor: Anchor::default(),
            gate: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn open_gate(&self, go: bool) {
        self.opened.store(Clock::best().now(), Relaxed);
        // Until then all threads are awake.
        let lead = Duration::from_millis(1) + Duration::from_micros(50) * self.spec.job.threads;
        self.anchor.set(Clock::best(), lead.as_nanos() as u64);
        self.gate.lock().unwrap_or_else(PoisonError::into_inner).open = Some(go);
        self.changed.notify_all();
    }

    /// Returns the pace as a lane keeps it.
    fn pace_of(&self, lane: u32) -> Option<LanePace<'_>> {
        let lanes = lanes_with_work(&self.spec.job, self.spec.count) as u32;
        let (anchor, spins) = (&self.anchor, self.spin);
        self.spec.pace.map(|spec| LanePace { spec, anchor, lane, lanes, spins })
    }

    /// Waits for the gate, in a worker whose lane is open. Returns whether to run.
    fn pass_gate(&self) -> bool {
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        gate.ready += 1;
        self.changed.notify_all();
        while gate.open.is_none() {
            gate = self.changed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        let go = gate.open == Some(true);
        drop(gate);
        // Threads wake one after the other; a short spin lines them up where each has a CPU.
        let threads = self.spec.job.threads;
        let lines_up = go && self.spin && !self.spec.has_rate();
        if lines_up && self.started.fetch_add(1, Relaxed) + 1 < threads {
            let begin = Instant::now();
            while self.started.load(Relaxed) < threads && begin.elapsed() < Duration::from_millis(2)
            {
                std::hint::spin_loop();
            }
        }
        go
    }
}

fn spawn(
    shared: &Arc<TrialShared>,
    lane: u32,
    sender: Sender<Done>,
) -> std::io::Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    let body = move || {
        let done = catch_unwind(AssertUnwindSafe(|| run_lane(&shared, lane)));
        let done = done.unwrap_or(Err(BackendError::Panicked));
        // Ignore send errors: the waiting thread may have abandoned this one.
        let _ = sender.send(done);
    };
    std::thread::Builder::new().name(format!("lane {lane}")).stack_size(256 << 10).spawn(body)
}

/// Returns the work of a lane.
fn make_work<'a>(shared: &'a TrialShared, lane: u32, job: &Job, share: Share) -> Work<'a> {
    let Spec { passes, timed, .. } = &shared.spec;
    let published = &shared.published[lane as usize];
    let mut work = Work::new(Assignment {
        passes: *passes,
        timed: *timed,
        cursor: shared.cursor.as_ref(),
        log: shared.logs.get(lane as usize).map(|ring| LaneLog { ring, opened: &shared.opened }),
        pace: shared.pace_of(lane),
        ..shared.backend.assignment(job, share, &shared.stop, published)
    });
    if !Clock::best().tsc && *timed != Timed::None {
        work.note(Note::SlowClock);
    }
    work
}

/// Pins the calling thread to the CPU of its lane, if it has one.
fn pin(spec: &Spec, lane: u32) -> Result<(), BackendError> {
    let Some(cpu) = spec.cpus.as_ref().map(|cpus| cpus.of_lane(lane)) else { return Ok(()) };
    let pinned = Affinity::only(cpu as usize).apply();
    pinned.map_err(|error| BackendError::Pin { cpu, error })
}

/// Runs a lane from opening its file to its tally.
fn run_lane(shared: &TrialShared, lane: u32) -> Done {
    let (job, target) = (shared.spec.job_of_lane(), shared.spec.target.of_lane(lane));
    let (mut job, mut target) = (&*job, &*target);
    let legs = legs::of_lane(&shared.spec, lane);
    let first = legs::first(&shared.spec, &legs);
    if let Some((of_file, file)) = &first {
        (job, target) = (of_file, file);
    }
    let backend = shared.backend;
    // Before threads are started that inherit it.
    pin(&shared.spec, lane)?;
    let unshared = threads::unshare_files();
    let mut open = backend.open(target, job, lane)?;
    let syncing =
        if job.op == Op::Write && job.sync == Sync::End { Some(target.open(job)?) } else { None };
    let list = legs::open_all(&shared.spec, backend, &legs)?;
    let whole = list.as_ref().map(|_| legs::whole(&shared.spec, &legs));
    let share = whole.unwrap_or_else(|| shared.spec.share(lane));
    let mut work = make_work(shared, lane, job, share);
    if unshared.is_err() {
        work.note(Note::SharedDescriptors);
    }
    // Unknown means that the helper has not run yet.
    let helped = open.helper_nanos().unwrap_or(0);
    let queue = RunQueue::for_this_thread();
    if !shared.pass_gate() {
        return Err(BackendError::NotStarted);
    }
    let before = Usage::thread().unwrap_or_default();
    let queued = queue.nanos();
    let start = monotonic_nanos();
    match list {
        Some(files) => files.run(open.as_mut(), &mut work)?,
        None => {
            drive::run(open.as_mut(), &mut work).map_err(|error| error.with_current_size(target))?
        }
    }
    let ran = monotonic_nanos();
    // At a rate, the trial begins and ends with its intended starts.
    let (start, over) = work.window().unwrap_or((start, ran));
    if let Some(file) = syncing {
        file.sync_data().map_err(|error| BackendError::Sync {
            call: "fdatasync(2)",
            written: share.reach(),
            error,
        })?;
        work.add_syscalls(1);
    }
    let (ran, end) = (over, over + (monotonic_nanos() - ran));
    let queued = queue.since(queued);
    let mut usage = Usage::thread().unwrap_or_default() - before;
    match open.helper_nanos() {
        Some(nanos) => usage.system_nanos += nanos.saturating_sub(helped),
        None => work.note(Note::HelperUncounted),
    }
    Ok(LaneResult { lane, share, legs, tally: work.tally(), start, ran, end, usage, queued })
}

/// The waiting thread's state: it collects lanes, takes samples and raises the stop flag.
struct Waiter<'a> {
    shared: &'a TrialShared,
    receiver: Receiver<Done>,
    workers: Vec<JoinHandle<()>>,
    cut: &'a dyn Fn() -> Option<Cut>,
    lanes: Vec<LaneResult>,
    log: LatencyLog,
    /// The part of it since the last sample.
    fresh: LatencyLog,
    /// The last interval that each lane has logged in: it adds nothing before it.
    logged: Vec<u32>,
    /// Where the last piece of the log ended.
    taken: u32,
    error: Option<BackendError>,
    stopped: bool,
    /// When it was requested to end.
    stopped_at: Option<Instant>,
    /// Nothing but the limit ended it.
    timed_out: bool,
    steadiness: Option<Steadiness>,
    /// When the machine slept.
    notes: Vec<Note>,
}

/// Notices suspends: CLOCK_MONOTONIC stands still, the time since the machine started does not.
struct Suspends {
    /// How much the one is behind the other, nanoseconds.
    behind: u64,
}

impl Suspends {
    /// Less is the time between two readings.
    const LEAST: u64 = 1_000_000_000;
    /// Notes of a trial; a machine that sleeps more often is not one to measure on.
    const MOST: usize = 1000;

    fn behind() -> u64 {
        let monotonic = monotonic_nanos();
        u64::try_from(since_boot().as_nanos()).unwrap_or(u64::MAX).saturating_sub(monotonic)
    }

    /// Returns how long the machine slept since the call before, where one clock is now so far
    /// behind.
    fn add(&mut self, behind: u64) -> Option<u64> {
        let slept = behind.saturating_sub(self.behind);
        self.behind = behind;
        (slept >= Suspends::LEAST).then_some(slept)
    }
}

/// Watches for the steady state of a trial.
struct Steadiness {
    rounds: Rounds,
    /// Bytes and operations of the round that has not ended.
    own: [u64; 2],
    /// When it began, nanoseconds after the trial.
    began: u64,
}

impl Steadiness {
    fn new(round: Duration) -> Steadiness {
        let planned = u64::try_from(round.as_nanos()).unwrap_or(u64::MAX);
        Steadiness { rounds: Rounds { planned, ..Rounds::default() }, own: [0; 2], began: 0 }
    }

    /// Adds the work of a sample, and returns whether the trial is steady.
    fn add(&mut self, sample: &Sample) -> bool {
        self.own[0] += sample.bytes;
        self.own[1] += sample.ops;
        let nanos = sample.at.saturating_sub(self.began);
        // Samples are a little early or late; the nearest one ends the round.
        const HALF_INTERVAL: u64 = LatencyLog::WIDTH / 2;
        if nanos + HALF_INTERVAL < self.rounds.planned {
            return false;
        }
        let [bytes, ops] = std::mem::take(&mut self.own);
        self.rounds.push(nanos, bytes, ops);
        self.began = sample.at;
        self.rounds.are_steady()
    }
}

impl Waiter<'_> {
    /// Waits until all lanes are open; false if one fails to open, or the trial is cut before it
    /// begins.
    fn wait_ready(&mut self) -> Result<bool, Failure> {
        let threads = self.shared.spec.job.threads;
        loop {
            let gate = self.shared.gate.lock().unwrap_or_else(PoisonError::into_inner);
            let (gate, _) = self
                .shared
                .changed
                .wait_timeout_while(gate, Duration::from_millis(1), |gate| gate.ready < threads)
                .unwrap_or_else(PoisonError::into_inner);
            let ready = gate.ready == threads;
            drop(gate);
            if ready {
                self.check_cut()?;
                return Ok(!self.stopped);
            }
            match self.receiver.try_recv() {
                Ok(Err(error)) => {
                    self.error = Some(error);
                    return Ok(false);
                }
                _ => self.check_cut()?,
            }
            if self.stopped {
                return Ok(false);
            }
        }
    }

    /// Waits until all lanes have ended, and samples them.
    fn wait_done(&mut self, sample: &mut Watch) -> Result<(), Failure> {
        let begin = Instant::now();
        let mut sampler = Sampler::default();
        let mut suspends = Suspends { behind: Suspends::behind() };
        let mut device = DeviceBytes::new(!self.shared.logs.is_empty());
        let mut due = SAMPLE_INTERVAL;
        loop {
            let limit = self.shared.spec.limit;
            // The limit is kept more exactly than a flag is noticed.
            let ending = self.shared.stop.load(Relaxed);
            // So are the edges of samples, which are edges of the log, too.
            let next = limit.filter(|_| !ending).map_or(due, |limit| limit.min(due));
            let left = next.saturating_sub(begin.elapsed());
            match self.receiver.recv_timeout(left.clamp(MIN_POLL_INTERVAL, POLL_INTERVAL)) {
                Ok(Ok(lane)) => self.add_lane(lane),
                Ok(Err(BackendError::NotStarted)) => {}
                Ok(Err(error)) => {
                    self.error.get_or_insert(error);
                    // The result is lost: the other lanes need not finish.
                    self.stop();
                }
                Err(RecvTimeoutError::Disconnected) => {
                    // All workers have reported; panics were caught.
                    self.workers.drain(..).for_each(|worker| drop(worker.join()));
                    self.read_logs();
                    self.log_device(&mut device, due);
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) => self.check_cut()?,
            }
            // Not a stop of the run: no system call is abandoned for it.
            if limit.is_some_and(|limit| self.is_over(limit, begin.elapsed())) {
                self.end_in_time();
            }
            self.read_logs();
            if begin.elapsed() >= due {
                let at = begin.elapsed();
                let slept =
                    suspends.add(Suspends::behind()).filter(|_| self.notes.len() < Suspends::MOST);
                let at_sleep = at.as_nanos() as u64;
                self.notes.extend(slept.map(|nanos| Note::Slept(Slept { at: at_sleep, nanos })));
                let (now, lanes) = sampler.delta(at.as_nanos() as u64, &self.shared.published);
                // The end of the last operations, or a sync, is no rate.
                let runs = !self.shared.stop.load(Relaxed);
                if runs && self.steadiness.as_mut().is_some_and(|state| state.add(&now)) {
                    self.end_in_time();
                }
                let next = LatencyLog::new(self.fresh.every);
                let log = Some(std::mem::replace(&mut self.fresh, next));
                let log = log.filter(|log| !log.is_empty());
                let finished = self.take_piece(at);
                sample(now, SampleParts { lanes, log, finished });
                self.log_device(&mut device, due);
                while due <= at {
                    due += SAMPLE_INTERVAL;
                }
            }
        }
    }

    /// Ends the trial, which is complete.
    fn end_in_time(&mut self) {
        self.timed_out |= !self.stopped;
        self.shared.stop.store(true, Relaxed);
    }

    fn add_lane(&mut self, mut lane: LaneResult) {
        let paced = lane.tally.paced.as_mut().and_then(|paced| paced.log_end.take());
        lane.tally.log_end.take().into_iter().chain(paced).for_each(|end| self.add(end));
        self.logged.iter_mut().skip(lane.lane as usize).take(1).for_each(|last| *last = u32::MAX);
        self.lanes.push(lane);
    }

    /// Adds an entry, not before the pieces that were taken.
    fn add(&mut self, entry: LogEntry) {
        self.log.add(LogEntry { index: entry.index.max(self.taken), ..entry });
    }

    /// Adds what the lanes have logged.
    fn read_logs(&mut self) {
        for (lane, ring) in self.shared.logs.iter().enumerate() {
            while let Some(entry) = ring.take() {
                self.logged[lane] = self.logged[lane].max(entry.index);
                self.fresh.add(entry.clone());
                self.add(entry);
            }
        }
    }

    /// Takes the next piece of the log, if the trial reports them, each lane is past it, and
    /// something ended in it.
    fn take_piece(&mut self, at: Duration) -> Option<Box<LatencyLog>> {
        /// A lane logs two kinds of times, maybe not both at once.
        const MARGIN: u32 = 10;
        let piece = self.shared.spec.piece?;
        let now = u32::try_from(at.as_nanos() / SAMPLE_INTERVAL.as_nanos()).unwrap_or(u32::MAX);
        let past = self.logged.iter().copied().min()?.min(now).saturating_sub(MARGIN);
        let end = past / piece * piece;
        if end <= self.taken {
            return None;
        }
        self.taken = end;
        Some(self.log.take_before(end)).filter(|log| !log.is_empty()).map(Box::new)
    }

    /// Adds what was read from devices in the interval that ends at `due`.
    fn log_device(&mut self, device: &mut DeviceBytes, due: Duration) {
        let index = (due.as_nanos() / SAMPLE_INTERVAL.as_nanos()).saturating_sub(1);
        if let Some(bytes) = device.delta() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            self.add(LogEntry { index, device: Some(bytes), ..LogEntry::default() });
        }
    }

    /// Returns whether the limit ends the trial now. If trials end by time, a trial in which no
    /// lane has had a CPU waits for the first operation, since nothing would be measured.
    fn is_over(&self, limit: Duration, elapsed: Duration) -> bool {
        let waits = self.shared.spec.ends_by_time && elapsed < limit * MOST_LATE;
        let moved = || self.shared.published.iter().any(|lane| lane.ops.load(Relaxed) > 0);
        elapsed >= limit && (!waits || moved())
    }

    /// Stops all lanes; a lane that does not return in time is abandoned.
    fn stop(&mut self) {
        self.shared.stop.store(true, Relaxed);
        self.stopped = true;
        self.stopped_at.get_or_insert_with(Instant::now);
    }

    fn check_cut(&mut self) -> Result<(), Failure> {
        match (self.cut)() {
            Some(Cut::End) => self.stop(),
            Some(Cut::Pause) => {
                self.shared.stop.store(true, Relaxed);
                self.stopped = true;
            }
            None => {}
        }
        if self.stopped_at.is_none_or(|since| since.elapsed() <= STOP_TIMEOUT) {
            return Ok(());
        }
        Err(match self.error.take() {
            Some(error) => Failure::Cell(format!(
                "{error}; a system call of another thread did not return and was abandoned"
            )),
            None => Failure::Abandoned,
        })
    }

    fn failure(&mut self) -> Failure {
        match self.error.take() {
            Some(error) => Failure::Cell(error.to_string()),
            None => Failure::Stopped,
        }
    }
}

/// The bytes that the kernel had read from devices for this process; `None` where that is unknown
/// or not logged.
struct DeviceBytes(Option<u64>);

impl DeviceBytes {
    fn new(is_logged: bool) -> DeviceBytes {
        DeviceBytes(if is_logged { DeviceBytes::read() } else { None })
    }

    fn read() -> Option<u64> {
        ProcessIo::process().ok().map(|counters| counters.read_bytes)
    }

    /// Returns the bytes since the last call.
    fn delta(&mut self) -> Option<u64> {
        let last = self.0?;
        self.0 = DeviceBytes::read();
        Some(self.0?.saturating_sub(last))
    }
}

/// The counters at the previous sample.
#[derive(Default)]
struct Sampler {
    at: u64,
    lanes: Vec<LaneSample>,
}

impl Sampler {
    /// Returns the work since the previous sample, in total and by lane. `at` is in nanoseconds
    /// since the start.
    fn delta(&mut self, at: u64, published: &[Published]) -> (Sample, Vec<LaneSample>) {
        self.lanes.resize(published.len(), LaneSample::default());
        let mut all = Sample { at, nanos: at - self.at, ..Sample::default() };
        let lane_delta = |(last, lane): (&mut LaneSample, &Published)| {
            let now = LaneSample {
                bytes: lane.bytes.load(Relaxed),
                ops: lane.ops.load(Relaxed),
                syscalls: lane.syscalls.load(Relaxed),
            };
            let then = std::mem::replace(last, now);
            let done = LaneSample {
                bytes: now.bytes - then.bytes,
                ops: now.ops - then.ops,
                syscalls: now.syscalls - then.syscalls,
            };
            all.bytes += done.bytes;
            all.ops += done.ops;
            all.syscalls += done.syscalls;
            done
        };
        let lanes = self.lanes.iter_mut().zip(published).map(lane_delta).collect();
        self.at = at;
        (all, lanes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suspends_are_noticed_once() {
        const SECOND: u64 = 1_000_000_000;
        let mut suspends = Suspends { behind: 5 * SECOND };
        let hours = 7200 * SECOND;
        let all = [5 * SECOND + 999, hours, hours + 7, hours, hours + 3 * SECOND];
        let found: Vec<_> = all.into_iter().filter_map(|behind| suspends.add(behind)).collect();
        assert_eq!(found, [hours - 5 * SECOND - 999, 3 * SECOND]);
    }

    #[test]
    fn lanes_add_up_to_the_sample() {
        let lanes: Vec<Published> = (0..3).map(|_| Published::default()).collect();
        let mut sampler = Sampler::default();
        for at in 1..4u64 {
            for (lane, n) in lanes.iter().zip(at..) {
                lane.bytes.fetch_add(4096 * n, Relaxed);
                lane.ops.fetch_add(n, Relaxed);
                lane.syscalls.fetch_add(2 * n, Relaxed);
            }
            let (all, each) = sampler.delta(at * 100, &lanes);
            let ops = 3 * at + 3;
            assert_eq!(
                all,
                Sample { at: at * 100, nanos: 100, bytes: 4096 * ops, ops, syscalls: 2 * ops }
            );
            let expected: Vec<_> = (at..at + 3)
                .map(|n| LaneSample { bytes: 4096 * n, ops: n, syscalls: 2 * n })
                .collect();
            assert_eq!(each, expected);
        }
    }
}
