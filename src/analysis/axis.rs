//! The numbers that jobs differ in: what a chart is drawn over, a knee is found along, and rows are
//! ordered by.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use serde::Serialize;

use crate::plan::{Job, Op};
use crate::units;

/// A number that jobs differ in, in the order in which they are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    Block,
    Depth,
    Threads,
    Count,
    Size,
    Mix,
}

/// Everything that is known of an axis, in one row.
struct Row {
    /// As in reports and files.
    id: &'static str,
    /// As above a chart: `throughput by queue depth`.
    title: &'static str,
    /// A job's place; `None` where it has none, as the count of a calibrated job.
    at: fn(&Job) -> Option<u64>,
    /// Takes the place out of a job, so that all jobs of a curve are equal.
    clear: fn(&mut Job),
    /// In a sentence: `4 threads`.
    show: fn(u64) -> String,
    /// Below a chart: `4 KiB`.
    tick: fn(u64) -> String,
    /// Where there is little room: `4k`.
    short: fn(u64) -> String,
    /// Values double rather than grow by the same amount.
    doubles: bool,
}

static AXES: [Row; 6] = [
    Row {
        id: "block",
        title: "block size",
        at: |job| Some(job.block),
        clear: |job| job.block = 1,
        show: units::show_bytes,
        tick: units::show_bytes,
        short: units::short_bytes,
        doubles: true,
    },
    Row {
        id: "depth",
        title: "queue depth",
        at: |job| Some(job.depth.into()),
        clear: |job| job.depth = 1,
        show: |depth| format!("depth {depth}"),
        tick: |depth| depth.to_string(),
        short: |depth| depth.to_string(),
        doubles: true,
    },
    Row {
        id: "threads",
        title: "threads",
        at: |job| Some(job.threads.into()),
        clear: |job| job.threads = 1,
        show: |threads| if threads == 1 { "1 thread".into() } else { format!("{threads} threads") },
        tick: |threads| threads.to_string(),
        short: |threads| threads.to_string(),
        doubles: true,
    },
    Row {
        id: "count",
        title: "number of operations",
        at: |job| job.count.map(|count| if count == 0 { job.blocks() } else { count }),
        clear: |job| job.count = None,
        show: |count| if count == 1 { "1 operation".into() } else { format!("{count} operations") },
        tick: units::short_bytes,
        short: units::short_bytes,
        doubles: true,
    },
    Row {
        id: "size",
        title: "size of the file",
        at: |job| (job.span > 0).then_some(job.span),
        clear: |job| job.span = 0,
        show: |size| format!("{} of the file", units::show_bytes(size)),
        tick: units::show_bytes,
        short: short_size,
        doubles: true,
    },
    Row {
        id: "mix",
        title: "share of reads",
        // Where nothing is mixed it is one of the two.
        at: |job| Some(job.mix.map_or(if job.op == Op::Write { 0 } else { 100 }, u64::from)),
        clear: |job| job.mix = None,
        show: |percent| format!("{percent} % reads"),
        tick: |percent| format!("{percent} %"),
        short: |percent| percent.to_string(),
        doubles: false,
    },
];

/// Sizes of files are seldom whole powers: two to three digits.
fn short_size(bytes: u64) -> String {
    let exact = units::short_bytes(bytes);
    if exact.len() <= 5 {
        exact
    } else {
        units::show_bytes(bytes).replace("iB", "").replace(' ', "").to_lowercase()
    }
}

impl Axis {
    pub const ALL: [Axis; 6] =
        [Axis::Block, Axis::Depth, Axis::Threads, Axis::Count, Axis::Size, Axis::Mix];

    fn row(self) -> &'static Row {
        // The rows stand in the order of the variants: a test compares their ids.
        &AXES[self as usize]
    }

    /// As in reports and files: `block`.
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// As above a chart: `block size`.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// A job's place on it: bytes, or a number; `None` where it has none.
    pub fn place(self, job: &Job) -> Option<u64> {
        (self.row().at)(job)
    }

    /// [`Axis::place`]; 0 where it has none, which no axis along which jobs are drawn has.
    pub fn of(self, job: &Job) -> u64 {
        self.place(job).unwrap_or(0)
    }

    /// The job without its place on the axis: equal for all points of one curve.
    pub fn without(self, job: &Job) -> Job {
        let mut job = job.clone();
        (self.row().clear)(&mut job);
        job
    }

    /// A value in a sentence: `4 threads`.
    pub fn show(self, value: u64) -> String {
        (self.row().show)(value)
    }

    /// A value below a chart: `4 KiB`.
    pub fn tick(self, value: f64) -> String {
        (self.row().tick)(value.round().max(0.0) as u64)
    }

    /// A value where there is little room: `4k`.
    pub fn short(self, value: f64) -> String {
        (self.row().short)(value.round().max(0.0) as u64)
    }

    /// Whether a chart over it is logarithmic unless something else is asked for.
    pub fn is_log(self) -> bool {
        self.row().doubles
    }

    /// Whether these jobs can be drawn over it: each has a place, and there are two.
    pub fn varies<'a>(self, mut jobs: impl Iterator<Item = &'a Job>) -> bool {
        let Some(first) = jobs.next().and_then(|job| self.place(job)) else { return false };
        let mut differs = false;
        for job in jobs {
            let Some(at) = self.place(job) else { return false };
            differs |= at != first;
        }
        differs
    }

    /// The axes over which these jobs can be drawn, the most useful first: the one that leaves the
    /// fewest curves, for it says most; of equals the one whose values lie farthest apart, then the
    /// one that is named first.
    pub fn choices<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Vec<Axis> {
        let mut varying: Vec<Axis> =
            Axis::ALL.into_iter().filter(|axis| axis.varies(jobs.clone())).collect();
        if varying.len() > 1 {
            // A sort by a key that is cached keeps the order of what is equal.
            varying.sort_by_cached_key(|axis| {
                (axis.curves(jobs.clone()), u64::MAX - axis.reach(jobs.clone()))
            });
        }
        varying
    }

    /// The first of [`Axis::choices`].
    pub fn best<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Option<Axis> {
        Axis::choices(jobs).first().copied()
    }

    /// How many curves these jobs are along it.
    fn curves<'a>(self, jobs: impl Iterator<Item = &'a Job>) -> usize {
        let state = RandomState::new();
        jobs.map(|job| state.hash_one(self.without(job))).collect::<HashSet<u64>>().len()
    }

    /// How many times the smallest value the largest is.
    fn reach<'a>(self, jobs: impl Iterator<Item = &'a Job>) -> u64 {
        let (low, high) = jobs
            .map(|job| self.of(job))
            .fold((u64::MAX, 1), |(low, high), at| (low.min(at), high.max(at)));
        high / low.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Cache, Choice};
    use crate::session::testing::job;

    fn best(jobs: &[Job]) -> Option<Axis> {
        Axis::best(jobs.iter())
    }

    /// Every combination of these values.
    fn grid(blocks: &[u64], counts: &[Option<u64>], threads: &[u32]) -> Vec<Job> {
        let mut jobs = Vec::new();
        for block in blocks {
            for count in counts {
                jobs.extend(threads.iter().map(|n| Job {
                    count: *count,
                    threads: *n,
                    ..job("read", *block, Cache::Warm)
                }));
            }
        }
        jobs
    }

    #[test]
    fn the_rows_stand_in_the_order_of_the_axes_and_clear_what_they_read() {
        let jobs = [
            Job {
                block: 8,
                depth: 3,
                threads: 5,
                count: Some(7),
                span: 100,
                mix: Some(30),
                ..Job::plain(Choice::plain("pread"), Op::Write)
            },
            Job {
                block: 4,
                depth: 2,
                threads: 9,
                count: Some(0),
                span: 99,
                mix: None,
                ..Job::plain(Choice::plain("pread"), Op::Write)
            },
        ];
        for axis in Axis::ALL {
            assert_eq!(serde_json::to_string(&axis).unwrap(), format!("\"{}\"", axis.id()));
            assert!(axis.varies(jobs.iter()), "{axis:?}");
            let cleared = jobs.each_ref().map(|job| axis.without(job));
            assert!(!axis.varies(cleared.iter()), "{axis:?} is still there");
        }
        assert_eq!(Axis::ALL.map(|axis| axis.of(&jobs[0])), [8, 3, 5, 7, 100, 30]);
        assert_eq!(
            (Axis::Count.of(&jobs[1]), Axis::Mix.of(&jobs[1])),
            (25, 0),
            "one pass has as many operations as blocks"
        );
    }

    #[test]
    fn the_axis_that_leaves_the_fewest_curves_is_drawn() {
        assert_eq!(best(&grid(&[1], &[None], &[1])), None);
        assert_eq!(best(&grid(&[1, 2, 4, 8], &[Some(1024), Some(8192)], &[1])), Some(Axis::Block));
        assert_eq!(
            best(&grid(&[1, 2], &[Some(1024), Some(8192), Some(65536)], &[1])),
            Some(Axis::Count)
        );
        assert_eq!(best(&grid(&[4096, 65536], &[None], &[1, 2, 4])), Some(Axis::Threads));
        let equal = grid(&[1, 2, 4, 8], &[1 << 10, 1 << 13, 1 << 16, 1 << 19].map(Some), &[1]);
        assert_eq!(best(&equal), Some(Axis::Count), "of equals the one with the wider range");
        assert_eq!(Axis::choices(equal.iter()), [Axis::Count, Axis::Block]);
    }

    #[test]
    fn an_axis_on_which_a_job_has_no_place_is_not_drawn() {
        let mixed = grid(&[4096], &[None, Some(8), Some(16)], &[1]);
        assert_eq!(best(&mixed), None);
        assert_eq!(best(&mixed[1..]), Some(Axis::Count));
        let spans =
            [1 << 20, 3 << 20, 0].map(|span| Job { span, ..job("read", 4096, Cache::Warm) });
        assert_eq!((best(&spans), best(&spans[..2])), (None, Some(Axis::Size)));
    }

    #[test]
    fn values_are_told_in_their_own_words() {
        let told = |axis: Axis, value: u64| {
            [axis.show(value), axis.tick(value as f64), axis.short(value as f64)]
        };
        assert_eq!(told(Axis::Block, 4096), ["4 KiB", "4 KiB", "4k"]);
        assert_eq!(told(Axis::Count, 8 << 20), ["8388608 operations", "8m", "8m"]);
        assert_eq!(told(Axis::Size, 8 << 20), ["8 MiB of the file", "8 MiB", "8m"]);
        assert_eq!(told(Axis::Size, 33_285_996_544), ["31 GiB of the file", "31 GiB", "31g"]);
        assert_eq!(told(Axis::Size, 1_234_567_890), ["1.15 GiB of the file", "1.15 GiB", "1.15g"]);
        assert_eq!(told(Axis::Mix, 30), ["30 % reads", "30 %", "30"]);
        assert_eq!(told(Axis::Threads, 1), ["1 thread", "1", "1"]);
    }
}
