//! Assigns curves to panels: a few can be distinguished, more need several panels side by side.

use std::collections::HashSet;

use crate::plan::{Cache, CpuCache, Job, Op, target_name};
use crate::units::{self, counted};

/// Jobs in one panel that differ in more than their cache; marks tell apart those of one colour.
const MAX_COLORS: usize = 8;
/// Curves in one panel; cold and warm share a colour.
const MAX_CURVES: usize = 16;
/// Panels of one figure.
const MAX_PANELS: usize = 24;

/// A property in which jobs differ.
pub struct Part {
    /// Its name in a legend or a title.
    pub word: fn(&Job) -> String,
    /// Gives the first job the second one's value of it.
    level: fn(&mut Job, &Job),
    /// How much worse a split by it reads than one by another part: backends are compared within a
    /// panel.
    cost: usize,
}

const fn part(cost: usize, word: fn(&Job) -> String, level: fn(&mut Job, &Job)) -> Part {
    Part { word, level, cost }
}

/// In the order of a name; the last is dropped first if a name does not need all.
pub static PARTS: [Part; 20] = [
    part(12, |j| j.backend.to_string(), |a, b| a.backend = b.backend.clone()),
    part(
        16,
        |j| if j.cache == Cache::AsIs { String::new() } else { j.cache.to_string() },
        |a, b| a.cache = b.cache,
    ),
    part(0, |j| units::show_bytes(j.block), |a, b| a.block = b.block),
    part(
        0,
        |j| if j.span == 0 { String::new() } else { units::show_bytes(j.span) },
        |a, b| a.span = b.span,
    ),
    part(
        0,
        |j| if j.threads == 1 { "1 thread".into() } else { format!("{} threads", j.threads) },
        |a, b| a.threads = b.threads,
    ),
    part(0, |j| format!("depth {}", j.depth), |a, b| a.depth = b.depth),
    part(0, |j| j.pattern.to_string(), |a, b| a.pattern = b.pattern),
    part(
        0,
        |j| j.mix.map_or_else(String::new, |mix| format!("{mix} % reads")),
        |a, b| a.mix = b.mix,
    ),
    part(0, |j| (if j.direct { "direct" } else { "buffered" }).into(), |a, b| a.direct = b.direct),
    part(
        0,
        |j| {
            format!(
                "CPU caches {}",
                if j.cpu_cache == CpuCache::Flush { "flushed" } else { "kept" }
            )
        },
        |a, b| a.cpu_cache = b.cpu_cache,
    ),
    part(0, |j| format!("sync {}", j.sync), |a, b| a.sync = b.sync),
    part(
        0,
        |j| match j.sync_every {
            0 | 1 => String::new(),
            every => format!("every {every} writes"),
        },
        |a, b| a.sync_every = b.sync_every,
    ),
    part(
        0,
        |j| if j.has_own_files() { "a file per thread".into() } else { String::new() },
        |a, b| a.file_per = b.file_per,
    ),
    part(0, |j| (if j.xor { "with XOR" } else { "without XOR" }).into(), |a, b| a.xor = b.xor),
    part(0, count, |a, b| a.count = b.count),
    part(
        0,
        |j| if j.op == Op::Read { String::new() } else { j.action().to_string() },
        |a, b| (a.op, a.writes) = (b.op, b.writes),
    ),
    // Targets are compared within a panel, as backends are.
    part(
        12,
        |j| j.target.map_or_else(String::new, |at| format!("on {}", target_name(at))),
        |a, b| a.target = b.target,
    ),
    part(
        12,
        |j| j.variant.as_ref().map_or_else(String::new, |of| format!("with {of}")),
        |a, b| a.variant.clone_from(&b.variant),
    ),
    part(0, |j| counted(j.processes() as usize, "rank"), |a, b| a.ranks = b.ranks),
    part(
        0,
        |j| if j.shares_its_file() { j.layout.to_string() } else { String::new() },
        |a, b| a.layout = b.layout,
    ),
];

/// The index of the page cache in [`PARTS`]; dashed lines show it.
const CACHE: usize = 1;
/// The index of the block size.
const BLOCK: usize = 2;

fn count(job: &Job) -> String {
    match job.count {
        None => "calibrated".into(),
        Some(0) => "one pass".into(),
        Some(count) => format!("{} operations", super::jobs::show_binary_count(count as f64)),
    }
}

/// Returns the parts in which these jobs differ.
fn varying_parts(jobs: &[Job]) -> Vec<usize> {
    let differ =
        |part: &Part| jobs.windows(2).any(|two| (part.word)(&two[0]) != (part.word)(&two[1]));
    (0..PARTS.len()).filter(|at| differ(&PARTS[*at])).collect()
}

fn part_words(job: &Job, parts: &[usize]) -> Vec<String> {
    parts.iter().map(|part| (PARTS[*part].word)(job)).filter(|word| !word.is_empty()).collect()
}

/// Returns the name of each job: the backend, and whatever distinguishes it from the others.
pub fn names(jobs: &[Job]) -> Vec<String> {
    build_names(jobs, &[])
}

/// Returns names with the block size, for cells on no axis.
pub fn full_names(jobs: &[Job]) -> Vec<String> {
    build_names(jobs, &[BLOCK])
}

fn build_names(jobs: &[Job], always: &[usize]) -> Vec<String> {
    let mut parts = varying_parts(jobs);
    parts.extend(always.iter().filter(|part| !parts.contains(part)).copied().collect::<Vec<_>>());
    parts.sort_unstable();
    let count = |parts: &[usize]| {
        jobs.iter().map(|job| part_words(job, parts)).collect::<HashSet<_>>().len()
    };
    let needed = count(&parts);
    // Drop what other parts imply, such as the operation of a backend that has only one.
    for part in (2..PARTS.len()).rev().filter(|part| !always.contains(part)) {
        let without: Vec<usize> = parts.iter().copied().filter(|other| *other != part).collect();
        if without.len() < parts.len() && count(&without) == needed {
            parts = without;
        }
    }
    if parts.first() != Some(&0) {
        parts.insert(0, 0);
    }
    let name = |job: &Job| {
        let cache = parts
            .contains(&CACHE)
            .then(|| (PARTS[CACHE].word)(job))
            .filter(|word| !word.is_empty());
        let first =
            [Some((PARTS[0].word)(job)), cache].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let rest: Vec<usize> = parts.iter().copied().filter(|part| *part > CACHE).collect();
        std::iter::once(first).chain(part_words(job, &rest)).collect::<Vec<_>>().join(", ")
    };
    jobs.iter().map(name).collect()
}

/// Copies these parts from `like` to the job.
fn equalize(job: &Job, parts: &[usize], like: &Job) -> Job {
    let mut job = job.clone();
    parts.iter().for_each(|part| (PARTS[*part].level)(&mut job, like));
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
    let parts = varying_parts(jobs);
    let best = subsets(&parts)
        .into_iter()
        .filter_map(|parts| Some((count_panels(jobs, &parts)?, parts)))
        .min_by_key(|(count, parts)| {
            count + parts.iter().map(|part| PARTS[*part].cost).sum::<usize>() + parts.len()
        });
    let Some((_, parts)) = best else { return split_in_order(jobs) };
    let mut titles: Vec<String> = Vec::new();
    let panel = jobs
        .iter()
        .map(|job| index_or_insert(&mut titles, part_words(job, &parts).join(", ")))
        .collect();
    Split { panel, titles, jobs: jobs.iter().map(|job| equalize(job, &parts, &jobs[0])).collect() }
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

/// Returns all subsets of one to three parts.
fn subsets(parts: &[usize]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for (at, first) in parts.iter().enumerate() {
        all.push(vec![*first]);
        for (next, second) in parts.iter().enumerate().skip(at + 1) {
            all.push(vec![*first, *second]);
            all.extend(parts.iter().skip(next + 1).map(|third| vec![*first, *second, *third]));
        }
    }
    all
}

/// Returns the number of panels of a split by these parts; `None` if one would be too full, or
/// there would be too many.
fn count_panels(jobs: &[Job], parts: &[usize]) -> Option<usize> {
    let mut titles: Vec<String> = Vec::new();
    let mut on: Vec<Vec<Job>> = Vec::new();
    for job in jobs {
        let at = index_or_insert(&mut titles, part_words(job, parts).join(", "));
        on.resize_with(titles.len(), Vec::new);
        on[at].push(job.clone());
    }
    (on.len() <= MAX_PANELS && on.iter().all(|jobs| fits(jobs))).then_some(on.len())
}
