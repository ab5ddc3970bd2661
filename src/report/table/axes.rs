//! What tells the cells of one session apart: the columns of a table on its left, and the order of
//! its rows.

use std::collections::HashMap;

use crate::analysis;
use crate::analysis::CellResult;
use crate::plan::{Job, Op};
use crate::units;

/// One part of a job.
pub struct Axis {
    pub name: &'static str,
    pub value: fn(&Job) -> String,
    /// A number: to the right.
    pub number: bool,
    /// What is drawn over it, and what its rows are ordered by.
    along: Option<analysis::Axis>,
    /// A column even where it is the same for all, if there is room.
    pub always: bool,
    /// Whether a constant value is worth a word.
    tell: fn(&Job) -> bool,
    /// Rows are ordered by the axis with the lowest first, so the highest reads downwards as a
    /// curve.
    order: u8,
}

const fn axis(name: &'static str, order: u8, number: bool, value: fn(&Job) -> String) -> Axis {
    Axis { name, value, number, along: None, always: false, tell: |_| true, order }
}

/// Every axis, in the order of the columns.
pub const AXES: &[Axis] = &[
    Axis { always: true, ..axis("backend", 9, false, |j| j.backend.to_string()) },
    axis("op", 0, false, |j| j.action().to_string()),
    axis("pattern", 8, false, |j| j.pattern.to_string()),
    Axis {
        always: true,
        along: Some(analysis::Axis::Block),
        ..axis("block", 13, true, |j| units::show_bytes(j.block))
    },
    Axis { always: true, ..axis("cache", 1, false, |j| j.cache.to_string()) },
    Axis {
        tell: |j| j.span > 0,
        along: Some(analysis::Axis::Size),
        ..axis("span", 7, true, |j| if j.span > 0 { units::show_bytes(j.span) } else { "-".into() })
    },
    Axis {
        tell: |j| j.count.is_some(),
        along: Some(analysis::Axis::Count),
        ..axis("count", 10, true, |j| count(j.count))
    },
    Axis {
        along: Some(analysis::Axis::Threads),
        ..axis("threads", 12, true, |j| j.threads.to_string())
    },
    Axis { along: Some(analysis::Axis::Depth), ..axis("depth", 11, true, |j| j.depth.to_string()) },
    axis("direct", 5, false, |j| yes(j.direct)),
    Axis { tell: |j| j.op == Op::Write, ..axis("sync", 2, false, |j| j.sync.to_string()) },
    Axis {
        tell: |j| j.mix.is_some(),
        along: Some(analysis::Axis::Mix),
        ..axis("mix", 3, true, |j| j.mix.map_or("-".into(), |m| format!("{m} %")))
    },
    Axis { tell: |j| j.xor, ..axis("xor", 6, false, |j| yes(j.xor)) },
    Axis { tell: |_| false, ..axis("CPU cache", 4, false, |j| j.cpu_cache.to_string()) },
];

fn yes(on: bool) -> String {
    if on { "yes" } else { "no" }.into()
}

fn count(count: Option<u64>) -> String {
    match count {
        None => "calibrated".into(),
        Some(0) => "one pass".into(),
        Some(n) => n.to_string(),
    }
}

fn varies(axis: &Axis, rows: &[&CellResult]) -> bool {
    axis.varies(rows.iter().map(|row| &row.cell))
}

impl Axis {
    /// Whether these jobs have two values of it.
    pub fn varies<'a>(&self, mut jobs: impl Iterator<Item = &'a Job>) -> bool {
        let first = jobs.next().map(self.value);
        first.is_some_and(|first| jobs.any(|job| (self.value)(job) != first))
    }

    /// The number that the column shows; one pass is more than any count. `None` of words, and
    /// where there is none.
    pub fn figure(&self, job: &Job) -> Option<f64> {
        match self.along? {
            analysis::Axis::Count => {
                job.count.map(|count| if count == 0 { f64::INFINITY } else { count as f64 })
            }
            analysis::Axis::Mix => job.mix.map(f64::from),
            along => along.place(job).map(|place| place as f64),
        }
    }

    /// For each row, the how-manieth value of the axis it has: numbers from the smallest up, words
    /// as they appear.
    fn ranks(&self, rows: &[&Job]) -> Vec<usize> {
        if self.along.is_none() {
            return first_seen(self, rows);
        }
        let figures: Vec<f64> = rows.iter().map(|job| self.figure(job).unwrap_or(-1.0)).collect();
        let mut values = figures.clone();
        values.sort_by(f64::total_cmp);
        values.dedup();
        figures.iter().map(|figure| values.partition_point(|value| value < figure)).collect()
    }
}

/// The axes that get a column; in a `tight` table only those that vary.
pub fn shown(rows: &[&CellResult], tight: bool) -> Vec<&'static Axis> {
    AXES.iter().filter(|axis| (axis.always && !tight) || varies(axis, rows)).collect()
}

/// What is the same for all rows and no column: `op read, pattern seq, threads 1`.
pub fn constants(rows: &[&CellResult], tight: bool) -> String {
    constants_of(&jobs(rows), tight)
}

/// [`constants`] of these jobs.
pub fn constants_of(jobs: &[&Job], tight: bool) -> String {
    let Some(first) = jobs.first() else { return String::new() };
    let told = AXES.iter().filter(|axis| {
        (tight || !axis.always) && (axis.tell)(first) && !axis.varies(jobs.iter().copied())
    });
    told.map(|axis| format!("{} {}", axis.name, (axis.value)(first))).collect::<Vec<_>>().join(", ")
}

fn jobs<'a>(rows: &[&'a CellResult]) -> Vec<&'a Job> {
    rows.iter().map(|row| &row.cell).collect()
}

/// The rows so that what a chart is drawn over reads downwards, numbers from the smallest up and
/// words in the order of the plan; and before which of them a gap helps.
pub fn ordered(results: &[CellResult]) -> (Vec<&CellResult>, Vec<bool>) {
    let (order, breaks) = order(results);
    (order.into_iter().map(|index| &results[index]).collect(), breaks)
}

/// [`ordered`], as places in the results.
pub fn order(results: &[CellResult]) -> (Vec<usize>, Vec<bool>) {
    order_of(&results.iter().map(|result| &result.cell).collect::<Vec<_>>())
}

/// [`order`] of these jobs.
pub fn order_of(rows: &[&Job]) -> (Vec<usize>, Vec<bool>) {
    let mut by_order: Vec<&Axis> =
        AXES.iter().filter(|axis| axis.varies(rows.iter().copied())).collect();
    let drawn = analysis::Axis::best(rows.iter().copied());
    by_order.sort_by_key(|axis| (drawn.is_some() && axis.along == drawn, axis.order));
    let ranks: Vec<Vec<usize>> = by_order.iter().map(|axis| axis.ranks(rows)).collect();
    let mut keyed: Vec<(Vec<usize>, usize)> =
        (0..rows.len()).map(|i| (ranks.iter().map(|rank| rank[i]).collect(), i)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    // A curve of two points is no group of its own: then only the first axis separates.
    let curve = ranks.last().and_then(|rank| rank.iter().max()).map_or(0, |last| last + 1);
    let depth = if curve >= 3 {
        by_order.len().saturating_sub(1)
    } else {
        1.min(by_order.len().saturating_sub(1))
    };
    let mut breaks: Vec<bool> =
        (0..keyed.len()).map(|i| i > 0 && keyed[i].0[..depth] != keyed[i - 1].0[..depth]).collect();
    // Groups of one row are none.
    if breaks.iter().skip(1).all(|gap| *gap) {
        breaks.fill(false);
    }
    (keyed.into_iter().map(|(_, index)| index).collect(), breaks)
}

/// For each row, the how-manieth value of the axis it has, counted as they appear.
fn first_seen(axis: &Axis, rows: &[&Job]) -> Vec<usize> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut ranks = Vec::with_capacity(rows.len());
    for row in rows {
        let next = seen.len();
        ranks.push(*seen.entry((axis.value)(row)).or_insert(next));
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Cache;
    use crate::session::testing::job;

    /// Values of the ordered rows, with `|` before a group.
    fn told(jobs: &[Job], value: fn(&Job) -> String) -> String {
        let (order, breaks) = order_of(&jobs.iter().collect::<Vec<_>>());
        let row = |(index, gap): (&usize, &bool)| {
            format!("{}{}", if *gap { "| " } else { "" }, value(&jobs[*index]))
        };
        order.iter().zip(&breaks).map(row).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_cell_that_was_skipped_does_not_turn_the_order() {
        let cold = [1, 4, 8].map(|block| job("read", block, Cache::Cold));
        let warm = [1, 2, 4, 8].map(|block| job("read", block, Cache::Warm));
        let all: Vec<Job> = cold.into_iter().chain(warm).collect();
        assert_eq!(told(&all, |job| job.block.to_string()), "1 4 8 | 1 2 4 8");
        let counts = [1024, 8_388_608, 4096, 65536]
            .map(|count| Job { count: Some(count), ..job("seek", 1, Cache::AsIs) });
        assert_eq!(told(&counts, |job| count(job.count)), "1024 4096 65536 8388608");
        let odd =
            [Some(0), None, Some(9)].map(|count| Job { count, ..job("read", 1, Cache::AsIs) });
        assert_eq!(told(&odd, |job| count(job.count)), "calibrated 9 one pass");
    }

    #[test]
    fn what_is_drawn_over_reads_downwards() {
        let mut jobs = Vec::new();
        for threads in [1, 2, 4] {
            jobs.extend(
                [4096, 65536].map(|block| Job { threads, ..job("read", block, Cache::Warm) }),
            );
        }
        assert_eq!(
            told(&jobs, |job| format!("{}x{}", job.block >> 10, job.threads)),
            "4x1 4x2 4x4 | 64x1 64x2 64x4"
        );
    }
}
