//! One lane, run as the engine runs it: on a thread with its own descriptor table and its own open
//! file.

use std::sync::atomic::AtomicBool;

use iotui::backend::access_pattern::Share;
use iotui::backend::meter::Timed;
use iotui::backend::pace::{Anchor, LanePace, PaceSpec, RateSpec};
use iotui::backend::work::{Assignment, Published};
use iotui::backend::{Backend, Lane, Target, Work, backend, drive};
use iotui::plan::{Arrival, Cache, Choice, Job, Op};
use iotui::sys::clock::{Clock, monotonic_nanos};
use iotui::sys::threads::unshare_files;
use iotui::sys::usage::Usage;

/// Builds a sequential warm read of the whole target at one block size.
pub fn job(backend: &str, target: &Target, block: u64) -> Job {
    Job {
        block,
        count: None,
        span: target.size,
        cache: Cache::Warm,
        ..Job::plain(
            Choice::parse(backend).expect("a backend"),
            if backend == "seek" { Op::Seek } else { Op::Read },
        )
    }
}

/// An open lane and everything needed to run it.
pub struct Open {
    lane: Box<dyn Lane>,
    backend: &'static dyn Backend,
    job: Job,
}

/// How one lane kept a rate.
pub struct KeptRate {
    pub operations: f64,
    /// From the first intended start to the one that would follow the last.
    pub seconds: f64,
    /// Shares of a CPU.
    pub cpu: f64,
    pub spun: f64,
    /// How late the mean operation started, nanoseconds, and the median wake.
    pub late: u64,
    pub woken: Option<u64>,
}

/// Returns the pace of a lane that is alone.
fn alone(rate: RateSpec, anchor: &Anchor) -> LanePace<'_> {
    LanePace { spec: PaceSpec::Rate(rate), anchor, lane: 0, lanes: 1, spins: true }
}

impl Open {
    pub fn new(target: &Target, job: &Job) -> Open {
        let backend = backend(&job.backend.id).expect("a backend");
        Open {
            lane: backend.open(target, job, 0).expect("open the target"),
            backend,
            job: job.clone(),
        }
    }

    /// Runs one trial until `stop` is set, in an order of `seed`; `seen` has its operations so far.
    pub fn run_until(&mut self, stop: &AtomicBool, seen: &Published, seed: u64) {
        let each = self.job.blocks();
        let mut work = Work::new(Assignment {
            passes: u64::MAX / each,
            ..self.backend.assignment(
                &self.job,
                Share::for_lane(&self.job, 0, each, seed),
                stop,
                seen,
            )
        });
        drive::run(self.lane.as_mut(), &mut work).expect("a trial without errors");
    }

    /// Runs one trial at a rate.
    pub fn run_at(&mut self, rate: RateSpec) -> KeptRate {
        let anchor = Anchor::default();
        let (stop, published) = (AtomicBool::new(false), Published::default());
        let each = self.job.blocks();
        let mut work = Work::new(Assignment {
            timed: Timed::Chained,
            passes: u64::MAX / each,
            pace: Some(alone(rate, &anchor)),
            ..self.assignment(each, &stop, &published)
        });
        let before = Usage::thread().expect("the usage of a thread");
        anchor.set(Clock::best(), 1_000_000);
        drive::run(self.lane.as_mut(), &mut work).expect("a trial without errors");
        let used = Usage::thread().expect("the usage of a thread") - before;
        let (from, to) = work.window().expect("a rate");
        let paced = work.tally().paced.expect("a rate");
        assert_eq!(paced.unstarted, 0, "the machine is too slow for this rate");
        let seconds = (to - from) as f64 / 1e9;
        KeptRate {
            operations: paced.started as f64,
            seconds,
            cpu: (used.user_nanos + used.system_nanos) as f64 / 1e9 / seconds,
            spun: paced.spin_nanos as f64 / 1e9 / seconds,
            late: (paced.start_lag + paced.held_nanos) / paced.started.max(1),
            woken: paced.wakes.quantile(0.5),
        }
    }

    /// Runs one trial of `count` operations at a rate that no lane reaches; returns nanoseconds per
    /// operation.
    pub fn run_late(&mut self, count: u64, arrival: Arrival) -> f64 {
        let anchor = Anchor::default();
        let nanos = 1_000_000_000;
        let rate = RateSpec { per_second: 1e9, arrival, nanos, by_work: true, seed: 1 };
        let (stop, published) = (AtomicBool::new(false), Published::default());
        let mut work = Work::new(Assignment {
            timed: Timed::Chained,
            pace: Some(alone(rate, &anchor)),
            ..self.assignment(count, &stop, &published)
        });
        anchor.set(Clock::best(), 0);
        let start = monotonic_nanos();
        drive::run(self.lane.as_mut(), &mut work).expect("a trial without errors");
        let nanos = monotonic_nanos() - start;
        assert_eq!(work.tally().ops, count);
        nanos as f64 / count as f64
    }

    /// Returns the assignment of one pass of `count` operations.
    fn assignment<'a>(
        &self,
        count: u64,
        stop: &'a AtomicBool,
        published: &'a Published,
    ) -> Assignment<'a> {
        let share = Share::for_lane(&self.job, 0, count, 1);
        self.backend.assignment(&self.job, share, stop, published)
    }

    /// Runs one trial of `count` operations, or of whole passes if they are more than one; returns
    /// nanoseconds per operation.
    pub fn run(&mut self, count: u64, timed: Timed) -> f64 {
        let passes = count.div_ceil(self.job.blocks());
        let each = count.min(self.job.blocks());
        let count = passes * each;
        let (stop, published) = (AtomicBool::new(false), Published::default());
        let mut work = Work::new(Assignment {
            timed,
            passes,
            ..self.backend.assignment(
                &self.job,
                Share::for_lane(&self.job, 0, each, 1),
                &stop,
                &published,
            )
        });
        let start = monotonic_nanos();
        drive::run(self.lane.as_mut(), &mut work).expect("a trial without errors");
        let nanos = monotonic_nanos() - start;
        let tally = work.tally();
        assert_eq!(tally.ops, count);
        if self.job.syncs_after_writes() {
            let commits = tally.commits.as_ref().map(|commits| commits.total.count());
            assert_eq!(commits, Some(self.job.commits_in(count as f64) as u64));
        }
        let wanted = count.checked_div(timed.every().into()).unwrap_or(0);
        assert!((wanted..=wanted + 1).contains(&tally.histogram.map_or(0, |h| h.count())));
        nanos as f64 / count as f64
    }
}

/// Runs `body` where a worker would run.
pub fn on_worker(body: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if let Err(error) = unshare_files() {
                eprintln!("the descriptor table stays shared: {error}");
            }
            body();
        });
    });
}
