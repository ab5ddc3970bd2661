//! Assigns curves to panels: a few can be distinguished, more need several panels side by side.

use std::collections::HashSet;

use crate::analysis::Axis;
use crate::plan::{Cache, Job};
use crate::report::text::join_nonempty;

/// Jobs in one panel that differ in more than their cache; marks distinguish equal colours.
const MAX_COLORS: usize = 8;
/// Curves in one panel; cold and warm share a colour.
const MAX_CURVES: usize = 16;
/// Panels of one figure.
const MAX_PANELS: usize = 24;

/// Returns a job's value in the title of a panel; empty where it goes without saying.
fn word(axis: Axis, job: &Job) -> String {
    axis.phrase_among(job, true).unwrap_or_default()
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
    Axis::ALL.into_iter().filter(differ).collect()
}

fn words(job: &Job, axes: &[Axis]) -> String {
    join_nonempty(axes.iter().map(|axis| word(*axis, job)))
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
pub struct PanelSplit {
    pub panel: Vec<usize>,
    pub titles: Vec<String>,
    pub jobs: Vec<Job>,
}

/// Returns the distinct panels of the curves with these jobs.
pub fn split(jobs: &[Job]) -> PanelSplit {
    if fits(jobs) {
        return PanelSplit {
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
    PanelSplit {
        panel,
        titles,
        jobs: jobs.iter().map(|job| equalize(job, &axes, &jobs[0])).collect(),
    }
}

/// Splits in order, with a few curves per panel.
fn split_in_order(jobs: &[Job]) -> PanelSplit {
    let panel: Vec<usize> = (0..jobs.len()).map(|at| at / MAX_COLORS).collect();
    let count = panel.last().map_or(0, |last| last + 1);
    PanelSplit {
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
