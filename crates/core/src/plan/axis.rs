//! The axes of a job: what a label names, a chart is drawn over, a knee is found along, and rows
//! are ordered by.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use serde::Serialize;

use super::axes::{Number, ROWS, Row};
use super::{Job, JobOption};

#[cfg(test)]
mod tests;

macro_rules! axes {
    ($($name:ident),*) => {
        /// Properties in which jobs differ, in the order of a label.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Axis {
            $($name),*
        }

        impl Axis {
            pub const ALL: [Axis; ROWS.len()] = [$(Axis::$name),*];
        }
    };
}

axes!(
    Backend, Block, Cache, Op, Mix, Pattern, Threads, Depth, Direct, Sync, SyncEvery, FilePer,
    Opened, Xor, CpuCache, Size, Count, Target, Variant, Ranks, Layout, Rate, Arrival, Think
);

impl Axis {
    /// The numeric axes, over which a chart can be drawn: of equals the first is chosen.
    pub const NUMBERS: [Axis; 9] = {
        use Axis::*;
        [Rate, Block, Depth, Threads, Ranks, SyncEvery, Count, Size, Mix]
    };

    fn row(self) -> &'static Row {
        // The rows are in the order of the variants: a test compares their ids.
        &ROWS[self as usize]
    }

    fn number(self) -> Option<&'static Number> {
        self.row().number.as_ref()
    }

    /// Returns every axis in the order of the columns of a table.
    pub fn columns() -> Vec<Axis> {
        let mut axes = Axis::ALL.to_vec();
        axes.sort_by_key(|axis| axis.row().place);
        axes
    }

    /// Returns every axis: `first`, then the others, then `last`.
    pub fn arrange(first: &[Axis], last: Axis) -> Vec<Axis> {
        let mut axes = Axis::ALL.to_vec();
        axes.sort_by_key(|axis| match first.iter().position(|first| first == axis) {
            Some(place) => place,
            None if *axis == last => usize::MAX,
            None => first.len(),
        });
        axes
    }

    /// Returns the name as in reports and files: `block`.
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// Returns the name as above a chart: `block size`.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Returns the plural noun for several values: `block sizes`.
    pub fn many(self) -> &'static str {
        self.row().many
    }

    /// Returns the options that give a job its value.
    pub fn options(self) -> &'static [JobOption] {
        self.row().options
    }

    /// Returns the head of its column: `block`.
    pub fn column(self) -> &'static str {
        self.row().column
    }

    /// Returns whether it has a column even where it is the same for all.
    pub fn is_always_shown(self) -> bool {
        self.row().always
    }

    /// Returns its place among the axes by which rows are ordered, the grouping axis first.
    pub fn row_order(self) -> u8 {
        self.row().order
    }

    /// Returns whether its values are numbers.
    pub fn is_number(self) -> bool {
        self.number().is_some()
    }

    /// Returns whether the value is worth a word where all cells have it.
    pub fn is_worth_telling(self, job: &Job) -> bool {
        (self.row().tell)(job)
    }

    /// Returns a job's value in a column: `4 KiB`, `no`.
    pub fn value(self, job: &Job) -> String {
        (self.row().value)(job)
    }

    /// Returns a job's value in a label: `4 KiB`, `queue depth 32`; `None` where it goes without
    /// saying.
    pub fn phrase(self, job: &Job) -> Option<String> {
        (self.row().phrase)(job)
    }

    /// Returns whether it is part of the label of a single cell.
    pub fn is_brief(self) -> bool {
        self.row().brief
    }

    /// Returns [`Axis::phrase`] for a label next to others, which `differ` on the axis or do not.
    pub fn phrase_among(self, job: &Job, differ: bool) -> Option<String> {
        let Row { phrase, default, rare, .. } = self.row();
        if *rare && !differ {
            return None;
        }
        phrase(job).or_else(|| default.filter(|_| differ).map(String::from))
    }

    /// Returns whether these jobs differ on this axis.
    pub fn differs<'a>(self, mut jobs: impl Iterator<Item = &'a Job>) -> bool {
        let first = jobs.next().map(|job| self.value(job));
        first.is_some_and(|first| jobs.any(|job| self.value(job) != first))
    }

    /// Returns the value of a job on this axis: bytes, or a number; `None` where it has none.
    pub fn place(self, job: &Job) -> Option<u64> {
        self.number().and_then(|number| (number.at)(job))
    }

    /// Returns [`Axis::place`], or 0 without one; curves have no value of 0.
    pub fn value_of(self, job: &Job) -> u64 {
        self.place(job).unwrap_or(0)
    }

    /// Returns the job without its value on the axis: equal for all points of one curve.
    pub fn without(self, job: &Job) -> Job {
        let mut job = job.clone();
        (self.row().clear)(&mut job);
        job
    }

    /// Returns a value in a sentence: `4 threads`.
    pub fn show(self, value: u64) -> String {
        self.number().map_or_else(String::new, |number| (number.show)(value))
    }

    /// Returns a value below a chart: `4 KiB`.
    pub fn tick(self, value: f64) -> String {
        let value = value.round().max(0.0) as u64;
        self.number().map_or_else(String::new, |number| (number.tick)(value))
    }

    /// Returns a value where there is little room: `4k`.
    pub fn short(self, value: f64) -> String {
        let value = value.round().max(0.0) as u64;
        self.number().map_or_else(String::new, |number| (number.short)(value))
    }

    /// Returns whether a chart over it is logarithmic by default.
    pub fn is_log(self) -> bool {
        self.number().is_some_and(|number| number.doubles)
    }

    /// Returns whether these jobs can be drawn over it: each has a place, and there are two.
    pub fn is_drawable<'a>(self, mut jobs: impl Iterator<Item = &'a Job>) -> bool {
        let Some(first) = jobs.next().and_then(|job| self.place(job)) else { return false };
        let mut differs = false;
        for job in jobs {
            let Some(at) = self.place(job) else { return false };
            differs |= at != first;
        }
        differs
    }

    /// Returns the axes over which these jobs can be drawn, the most useful first: the one that
    /// leaves the fewest curves, for it says most; of equals the one whose values lie farthest
    /// apart, then the first listed.
    pub fn choices<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Vec<Axis> {
        let mut varying: Vec<Axis> =
            Axis::NUMBERS.into_iter().filter(|axis| axis.is_drawable(jobs.clone())).collect();
        if varying.len() > 1 {
            // A sort by cached key keeps the order of equal elements.
            varying.sort_by_cached_key(|axis| {
                (axis.curves(jobs.clone()), u64::MAX - axis.reach(jobs.clone()))
            });
        }
        varying
    }

    /// Returns the first of [`Axis::choices`].
    pub fn best<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> Option<Axis> {
        Axis::choices(jobs).first().copied()
    }

    /// Returns how many curves these jobs form over this axis.
    fn curves<'a>(self, jobs: impl Iterator<Item = &'a Job>) -> usize {
        let state = RandomState::new();
        jobs.map(|job| state.hash_one(self.without(job))).collect::<HashSet<u64>>().len()
    }

    /// Returns the ratio of the largest value to the smallest.
    fn reach<'a>(self, jobs: impl Iterator<Item = &'a Job>) -> u64 {
        let (low, high) = jobs
            .map(|job| self.value_of(job))
            .fold((u64::MAX, 1), |(low, high), at| (low.min(at), high.max(at)));
        high / low.max(1)
    }
}

impl JobOption {
    pub fn all() -> impl Iterator<Item = &'static JobOption> {
        ROWS.iter().flat_map(|row| row.options)
    }

    pub fn find(name: &str) -> Option<&'static JobOption> {
        JobOption::all().find(|option| option.name == name)
    }
}

impl Job {
    /// Describes the cell in one line, without implied values: `pread 4 KiB cold`.
    pub fn label(&self) -> String {
        let axes = Axis::ALL.into_iter().filter(|axis| axis.is_brief());
        self.describe(&axes.collect::<Vec<_>>())
    }

    /// Describes the job by these axes, without implied values: `uring 1 MiB queue depth 8`.
    pub fn describe(&self, axes: &[Axis]) -> String {
        let phrases = axes.iter().filter_map(|axis| axis.phrase_among(self, false));
        phrases.collect::<Vec<_>>().join(" ")
    }
}
