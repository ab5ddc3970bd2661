//! Assigns curves to panels: a few can be distinguished, more need several panels side by side.

use std::collections::HashSet;

use crate::analysis::Axis;
use crate::plan::{Cache, Job, Op};
use crate::report::text::join_nonempty;

/// Jobs in one panel that differ in more than their cache; marks tell apart those of one colour.
const MAX_COLORS: usize = 8;
/// Curves in one panel; cold and warm share a colour.
const MAX_CURVES: usize = 16;
/// Panels of one figure.
const MAX_PANELS: usize = 24;

/// The axes that a name begins with; the operation, which a backend often implies, ends it. The
/// last is dropped first if a name does not need all.
const FIRST: [Axis; 7] = {
    use Axis::*;
    [Backend, Cache, Block, Size, Threads, Depth, Pattern]
};

/// Returns a job's value in a legend or a title; empty where it goes without saying.
fn word(axis: Axis, job: &Job) -> String {
    match axis {
        Axis::Threads | Axis::Depth => axis.show(axis.value_of(job)),
        Axis::Pattern => axis.value(job),
        // Names are short: a phrase would say that these are of the file.
        Axis::Size if job.span > 0 => axis.value(job),
        // Reads go without saying.
        Axis::Op if job.op == Op::Read => String::new(),
        Axis::Op => job.action().into(),
        _ => axis.phrase_among(job, true).unwrap_or_default(),
    }
}

/// Returns how much worse panels of it read than panels of another axis: backends, targets and
/// variants are compared within a panel.
fn cost(axis: Axis) -> usize {
    match axis {
        Axis::Cache => 16,
        Axis::Backend | Axis::Target | Axis::Variant => 12,
        _ => 0,
    }
}

/// Returns the axes on which these jobs differ.
fn varying_axes(jobs: &[Job]) -> Vec<Axis> {
    let differ =
        |axis: &Axis| jobs.windows(2).any(|two| word(*axis, &two[0]) != word(*axis, &two[1]));
    Axis::arrange(&FIRST, Axis::Op).into_iter().filter(differ).collect()
}

fn words(job: &Job, axes: &[Axis]) -> String {
    let words = axes.iter().map(|axis| word(*axis, job)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the name of each job: the backend, and whatever distinguishes it from the others.
pub fn names(jobs: &[Job]) -> Vec<String> {
    build_names(jobs, &[])
}

/// Returns names with the block size, for cells on no axis.
pub fn full_names(jobs: &[Job]) -> Vec<String> {
    build_names(jobs, &[Axis::Block])
}

fn build_names(jobs: &[Job], always: &[Axis]) -> Vec<String> {
    let varying = varying_axes(jobs);
    let all = Axis::arrange(&FIRST, Axis::Op);
    let mut axes = all.clone();
    axes.retain(|axis| varying.contains(axis) || always.contains(axis));
    let count =
        |axes: &[Axis]| jobs.iter().map(|job| words(job, axes)).collect::<HashSet<_>>().len();
    let needed = count(&axes);
    // Drop what others imply, such as the operation of a backend that has only one.
    for axis in all[2..].iter().rev().filter(|axis| !always.contains(axis)) {
        let without: Vec<Axis> = axes.iter().copied().filter(|other| other != axis).collect();
        if count(&without) == needed {
            axes = without;
        }
    }
    let has_cache = axes.contains(&Axis::Cache);
    axes.retain(|axis| !matches!(axis, Axis::Backend | Axis::Cache));
    let name = |job: &Job| {
        let cache = Some(word(Axis::Cache, job)).filter(|word| has_cache && !word.is_empty());
        let backend = job.backend.to_string();
        let first = cache.map_or(backend.clone(), |cache| format!("{backend} {cache}"));
        join_nonempty([first, words(job, &axes)])
    };
    jobs.iter().map(name).collect()
}

/// Copies the values on these axes from `like` to the job.
fn equalize(job: &Job, axes: &[Axis], like: &Job) -> Job {
    let mut job = axes.iter().fold(job.clone(), |job, axis| axis.without(&job));
    // Names, colours and lines show these two.
    if axes.contains(&Axis::Backend) {
        job.backend = like.backend.clone();
    }
    if axes.contains(&Axis::Cache) {
        job.cache = like.cache;
    }
    job
}

/// The panel of each curve, the titles of the panels, and the curves' jobs as compared across
/// panels.
pub struct Split {
    pub panel: Vec<usize>,
    pub titles: Vec<String>,
    pub jobs: Vec<Job>,
}

/// Returns the distinct panels of the curves with these jobs.
pub fn split(jobs: &[Job]) -> Split {
    if fits(jobs) {
        return Split {
            panel: vec![0; jobs.len()],
            titles: vec![String::new()],
            jobs: jobs.to_vec(),
        };
    }
    let best = subsets(&varying_axes(jobs))
        .into_iter()
        .filter_map(|axes| Some((count_panels(jobs, &axes)?, axes)))
        .min_by_key(|(count, axes)| {
            count + axes.iter().map(|axis| cost(*axis)).sum::<usize>() + axes.len()
        });
    let Some((_, axes)) = best else { return split_in_order(jobs) };
    let mut titles: Vec<String> = Vec::new();
    let panel = jobs.iter().map(|job| index_or_insert(&mut titles, words(job, &axes))).collect();
    Split { panel, titles, jobs: jobs.iter().map(|job| equalize(job, &axes, &jobs[0])).collect() }
}

/// Splits in order, with a few curves per panel.
fn split_in_order(jobs: &[Job]) -> Split {
    let panel: Vec<usize> = (0..jobs.len()).map(|at| at / MAX_COLORS).collect();
    let count = panel.last().map_or(0, |last| last + 1);
    Split {
        panel,
        titles: (1..=count).map(|at| format!("{at} of {count}")).collect(),
        jobs: jobs.to_vec(),
    }
}

/// Returns the index of a text in a list, after adding it if it is new.
pub fn index_or_insert<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

fn fits(jobs: &[Job]) -> bool {
    let ways: HashSet<Job> =
        jobs.iter().map(|job| Job { cache: Cache::AsIs, ..job.clone() }).collect();
    ways.len() <= MAX_COLORS && jobs.len() <= MAX_CURVES
}

/// Returns all subsets of one to three axes.
fn subsets(axes: &[Axis]) -> Vec<Vec<Axis>> {
    let mut all: Vec<Vec<Axis>> = Vec::new();
    for (at, first) in axes.iter().enumerate() {
        all.push(vec![*first]);
        for (next, second) in axes.iter().enumerate().skip(at + 1) {
            all.push(vec![*first, *second]);
            all.extend(axes.iter().skip(next + 1).map(|third| vec![*first, *second, *third]));
        }
    }
    all
}

/// Returns the number of panels of a split by these axes; `None` if one would be too full, or
/// there would be too many.
fn count_panels(jobs: &[Job], axes: &[Axis]) -> Option<usize> {
    let mut titles: Vec<String> = Vec::new();
    let mut on: Vec<Vec<Job>> = Vec::new();
    for job in jobs {
        let at = index_or_insert(&mut titles, words(job, axes));
        on.resize_with(titles.len(), Vec::new);
        on[at].push(job.clone());
    }
    (on.len() <= MAX_PANELS && on.iter().all(|jobs| fits(jobs))).then_some(on.len())
}
