//! The axes that distinguish the cells of a session: the left columns of a table, and the order
//! of its rows.

use std::collections::HashMap;

use crate::analysis::CellResult;
use crate::plan::{Axis, Job};

/// Returns the number that the column shows; one pass is more than any count. `None` for words and
/// unknown values.
pub fn axis_number(axis: Axis, job: &Job) -> Option<f64> {
    match axis {
        Axis::Count => job.count.map(|count| if count == 0 { f64::INFINITY } else { count as f64 }),
        Axis::Mix => job.mix.map(f64::from),
        _ => axis.place(job).map(|place| place as f64),
    }
}

/// Returns the index of each row's value: numbers from the smallest up, words in order of first
/// appearance.
fn ranks(axis: Axis, rows: &[&Job]) -> Vec<usize> {
    if !axis.is_number() {
        return first_seen(axis, rows);
    }
    let figures: Vec<f64> = rows.iter().map(|job| axis_number(axis, job).unwrap_or(-1.0)).collect();
    let mut values = figures.clone();
    values.sort_by(f64::total_cmp);
    values.dedup();
    figures.iter().map(|figure| values.partition_point(|value| value < figure)).collect()
}

/// Returns the axes that get a column; in a `tight` table only varying axes.
pub fn column_axes(rows: &[&CellResult], tight: bool) -> Vec<Axis> {
    let mut axes = Axis::columns();
    let jobs = jobs(rows);
    axes.retain(|axis| axis.is_always_shown() && !tight || differs(*axis, &jobs));
    axes
}

/// Returns whether these jobs differ on an axis. A single thread has one file in any case, so that
/// the files are compared for several.
fn differs(axis: Axis, jobs: &[&Job]) -> bool {
    let several = |job: &&&Job| axis != Axis::FilePer || job.threads > 1;
    axis.differs(jobs.iter().filter(several).copied())
}

/// Returns the properties that all rows share and no column shows: `op read, pattern seq, threads
/// 1`.
pub fn constants(rows: &[&CellResult], tight: bool) -> String {
    constants_of(&jobs(rows), tight)
}

/// Works like [`constants`], on these jobs.
pub fn constants_of(jobs: &[&Job], tight: bool) -> String {
    describe_shared(jobs, |axis, job| {
        let is_shown = (tight || !axis.is_always_shown()) && axis.is_worth_telling(job);
        is_shown.then(|| format!("{} {}", axis.column(), axis.value(job)))
    })
}

/// Returns [`constants`] without the usual values: `random, 4 threads`.
pub fn unusual_constants(rows: &[&CellResult]) -> String {
    describe_shared(&jobs(rows), |axis, job| axis.phrase_among(job, false))
}

/// Describes the axes on which these jobs do not differ.
fn describe_shared(jobs: &[&Job], describe: impl Fn(Axis, &Job) -> Option<String>) -> String {
    // The job with the most threads shows the number of their files.
    let Some(first) = jobs.iter().rev().max_by_key(|job| job.threads) else {
        return String::new();
    };
    let shared = Axis::columns().into_iter().filter(|axis| !differs(*axis, jobs));
    shared.filter_map(|axis| describe(axis, first)).collect::<Vec<_>>().join(", ")
}

fn jobs<'a>(rows: &[&'a CellResult]) -> Vec<&'a Job> {
    rows.iter().map(|row| &row.cell).collect()
}

/// Sorts the rows so that the axis of a chart reads downwards, numbers ascending and words in the
/// order of the plan; also returns which of them follow a gap.
pub fn sort_rows(results: &[CellResult]) -> (Vec<&CellResult>, Vec<bool>) {
    let (order, breaks) = sort_order(results);
    (order.into_iter().map(|index| &results[index]).collect(), breaks)
}

/// Sorts like [`sort_rows`]; returns indexes into the results.
pub fn sort_order(results: &[CellResult]) -> (Vec<usize>, Vec<bool>) {
    sort_order_of(&results.iter().map(|result| &result.cell).collect::<Vec<_>>())
}

/// Sorts like [`sort_order`], on these jobs.
pub fn sort_order_of(rows: &[&Job]) -> (Vec<usize>, Vec<bool>) {
    let mut axes: Vec<Axis> =
        Axis::columns().into_iter().filter(|axis| axis.differs(rows.iter().copied())).collect();
    let drawn = Axis::best(rows.iter().copied());
    axes.sort_by_key(|axis| (drawn == Some(*axis), axis.row_order()));
    let ranks: Vec<Vec<usize>> = axes.iter().map(|axis| ranks(*axis, rows)).collect();
    let mut keyed: Vec<(Vec<usize>, usize)> =
        (0..rows.len()).map(|i| (ranks.iter().map(|rank| rank[i]).collect(), i)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    // A curve of two points is not a group: then only the first axis separates.
    let curve = ranks.last().and_then(|rank| rank.iter().max()).map_or(0, |last| last + 1);
    let depth =
        if curve >= 3 { axes.len().saturating_sub(1) } else { 1.min(axes.len().saturating_sub(1)) };
    let mut breaks: Vec<bool> =
        (0..keyed.len()).map(|i| i > 0 && keyed[i].0[..depth] != keyed[i - 1].0[..depth]).collect();
    // Single rows are not groups.
    if breaks.iter().filter(|gap| **gap).count() * 2 > rows.len() {
        breaks.fill(false);
    }
    (keyed.into_iter().map(|(_, index)| index).collect(), breaks)
}

/// Returns, for each row, the index of its value in order of first appearance.
fn first_seen(axis: Axis, rows: &[&Job]) -> Vec<usize> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut ranks = Vec::with_capacity(rows.len());
    for row in rows {
        let next = seen.len();
        ranks.push(*seen.entry(axis.value(row)).or_insert(next));
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Cache;
    use crate::session::testing::job;

    /// Values of the ordered rows, with `|` before a group.
    fn show_values(jobs: &[Job], value: fn(&Job) -> String) -> String {
        let (order, breaks) = sort_order_of(&jobs.iter().collect::<Vec<_>>());
        let row = |(index, gap): (&usize, &bool)| {
            format!("{}{}", if *gap { "| " } else { "" }, value(&jobs[*index]))
        };
        order.iter().zip(&breaks).map(row).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn skipped_cells_keep_the_order() {
        let cold = [1, 4, 8].map(|block| job("read", block, Cache::Cold));
        let warm = [1, 2, 4, 8].map(|block| job("read", block, Cache::Warm));
        let all: Vec<Job> = cold.into_iter().chain(warm).collect();
        assert_eq!(show_values(&all, |job| job.block.to_string()), "1 4 8 | 1 2 4 8");
        let counts = [1024, 8_388_608, 4096, 65536]
            .map(|count| Job { count: Some(count), ..job("seek", 1, Cache::AsIs) });
        assert_eq!(show_values(&counts, |job| Axis::Count.value(job)), "1024 4096 65536 8388608");
        let odd =
            [Some(0), None, Some(9)].map(|count| Job { count, ..job("read", 1, Cache::AsIs) });
        assert_eq!(show_values(&odd, |job| Axis::Count.value(job)), "calibrated 9 one pass");
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
            show_values(&jobs, |job| format!("{}x{}", job.block >> 10, job.threads)),
            "4x1 4x2 4x4 | 64x1 64x2 64x4"
        );
    }
}
