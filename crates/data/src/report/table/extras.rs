//! The small tables that only some sessions have.

use super::column_parts::{distinguishing_columns, figures, numbers, words};
use super::grid::Column;
use super::grid::Table;
use super::{runs, tried, writes};
use crate::analysis::{CellResult, RanksOf, file_needed};
use crate::experiment::MEASURE;
use crate::record::{DropLevel, Level, Reading};
use crate::report::Look;
use crate::session::Session;
use crate::stats::median;
use crate::text::clean_text;
use crate::units::column::{self, TIME, align_with, four_digits, unit};
use crate::units::{Rates, short_bytes, short_time, show_bytes, show_nanos, show_rank, show_share};

type BuildTable = fn(&Session, &[&CellResult], Rates) -> Option<Table>;

/// The small tables in the order of reports.
const BUILDERS: &[BuildTable] = &[
    build_counts,
    runs::build_runs,
    runs::build_call_runs,
    writes::build_commits,
    writes::build_writes,
    writes::build_verified,
    build_levels,
    build_ranks,
    tried::build_tried,
];

/// Returns the small tables of this session.
pub fn extras(session: &Session, rows: &[&CellResult], look: &Look) -> Vec<Table> {
    let mut built: Vec<Table> =
        BUILDERS.iter().filter_map(|build| build(session, rows, look.unit)).collect();
    for column in built.iter_mut().flat_map(|table| &mut table.columns) {
        column.make_safe(look);
    }
    built
}

/// The result of calibration for a cell.
struct CalibratedCell<'a> {
    row: &'a CellResult,
    /// Operations of one pass over the data.
    count: u64,
    bytes: u64,
    nanos: f64,
}

/// Returns the table of a session of that experiment; `None` for others, and if nothing was
/// measured.
fn build_counts(session: &Session, rows: &[&CellResult], _: Rates) -> Option<Table> {
    let calibrations: Vec<CalibratedCell> = rows
        .iter()
        .filter(|_| session.plan.experiment == MEASURE)
        .filter_map(|row| calibration_of(row))
        .collect();
    let last = calibrations.iter().max_by_key(|found| found.count)?;
    let counted_rows: Vec<&CellResult> = calibrations.iter().map(|found| found.row).collect();
    let mut columns = distinguishing_columns(&counted_rows, &["block"], true);
    columns.push(numbers("block", 0, &calibrations, |found| show_bytes(found.row.cell.block)));
    columns.push(numbers("count", 0, &calibrations, |found| found.count.to_string()));
    columns.push(numbers("size", 0, &calibrations, |found| show_bytes(found.bytes)));
    let times: Vec<Option<f64>> = calibrations.iter().map(|found| Some(found.nanos)).collect();
    let (factor, name) = unit(times.iter().flatten().copied(), TIME);
    columns.push(Column::numbers("time", name, 0, align_with(&times, factor, four_digits)));
    let mut text = format!(
        "each row is one trial; to repeat one, use its block size and count, as in -s {} -n {}: it takes the time in its row",
        short_bytes(last.row.cell.block),
        last.count
    );
    if let Some(needed) = file_needed(&session.plan, counted_rows.iter().copied()) {
        let whose = if needed.cells == calibrations.len() {
            "every row".into()
        } else {
            format!("{} of {} rows", needed.cells, calibrations.len())
        };
        text += &format!(
            ". In {whose} the file ended first: its {} take less than {}; a file of {} would last that long",
            show_bytes(session.plan.target.size()),
            short_time(session.plan.trial_time.low),
            show_bytes(needed.bytes)
        );
    }
    Some(Table { id: "counts", title: "Counts", columns, text, ..Table::default() })
}

fn calibration_of(row: &CellResult) -> Option<CalibratedCell<'_>> {
    let work = row.work()?.of_a_pass();
    Some(CalibratedCell { row, count: work.count, bytes: work.bytes as u64, nanos: work.nanos })
}

/// Returns the table of a session that measured levels; `None` for others.
fn build_levels(session: &Session, _: &[&CellResult], rates: Rates) -> Option<Table> {
    let known: Vec<&Level> =
        session.levels.iter().filter(|level| !level.readings.is_empty()).collect();
    if session.levels.is_empty() {
        return None;
    }
    fn middle(level: &Level, part: fn(&Reading) -> u64) -> Option<f64> {
        let values = level.readings.iter().map(|reading| part(reading) as f64);
        median(&values.collect::<Vec<f64>>())
    }
    let whole = |level: &&Level| middle(level, |reading| reading.whole);
    let rate = |level: &&Level| {
        Some(level.bytes as f64 * 1e9 / whole(level)?).filter(|rate| rate.is_finite())
    };
    let columns = vec![
        words("dropped", 0, &known, |level| level.dropped.name().into()),
        words("details", 1, &known, |level| describe_level(level.dropped).into()),
        figures("open", TIME, &known, |level| middle(level, |reading| reading.open)),
        figures("first read", TIME, &known, |level| middle(level, |reading| reading.first)),
        figures("whole read", TIME, &known, whole),
        figures("rate", rates.units(), &known, rate),
    ];
    Some(Table {
        id: "levels",
        title: "What each cache-drop level costs",
        columns,
        text: describe_levels(session, &known),
        ..Table::default()
    })
}

fn describe_level(dropped: DropLevel) -> &'static str {
    match dropped {
        DropLevel::Nothing => "the file is in memory",
        DropLevel::Data => "the file's pages (posix_fadvise)",
        DropLevel::Meta => "and all dentries and inodes (drop_caches 2)",
        DropLevel::All => "and the pages of all files (drop_caches 3)",
    }
}

fn describe_levels(session: &Session, known: &[&Level]) -> String {
    let bytes = known.iter().map(|level| level.bytes).max().unwrap_or(0);
    let count = known.iter().map(|level| level.readings.len()).max().unwrap_or(0);
    let mut text = format!(
        "medians of {count} readings of {} per level, taken in turn: open(2), the first read of 4 KiB with its readahead, and \
         the whole file including open(2), in reads of 1 MiB. drop_caches 1 drops the page cache of all files, 2 dentries and inodes, \
         3 both; after 2 the blocks that hold the inodes may still be cached, after 3 they come from the disk too. Dirty pages survive \
         all three, since they are the only copy of the data: sync(2) runs first",
        show_bytes(bytes)
    );
    for level in &session.levels {
        if let Some(reason) = &level.reason {
            let what = if level.readings.is_empty() { "Skipped" } else { "Not read again" };
            text +=
                &format!(". {what}: {}: {}", level.dropped.name(), reason.trim_end_matches('.'));
        }
    }
    text
}

/// Returns the table of a run of several ranks; `None` for others.
fn build_ranks(_: &Session, rows: &[&CellResult], rates: Rates) -> Option<Table> {
    let (cells, ranks): (Vec<&CellResult>, Vec<&RanksOf>) =
        rows.iter().filter_map(|row| Some((*row, row.ranks.as_ref()?))).unzip();
    let moves = cells.iter().any(|cell| cell.throughput.is_some());
    let units = if moves { rates.units() } else { column::PER_SECOND };
    let whole = |cell: &&CellResult| {
        let figure = if moves { cell.throughput } else { cell.operations };
        figure.map(|of| of.summary.median)
    };
    let count = ranks.iter().map(|of| of.ranks).max()?;
    let mut columns = distinguishing_columns(&cells, &[], false);
    columns.extend([
        figures("whole", units, &cells, whole),
        figures("active", units, &ranks, |of| of.active),
        figures("own", units, &ranks, |of| Some(of.own)),
        numbers("done", 0, &ranks, |of| show_done(of)),
        numbers("tail", 0, &ranks, |of| show_share(of.tail)),
        numbers("slowest", 0, &ranks, |of| name_slowest(of)),
        numbers("by", 1, &ranks, |of| format!("{:.2}x", of.slowness)),
    ]);
    let mut text = format!(
        "the {count} ranks together. Whole: from the first start to the last end. Active: while all \
         were at work. Own: the sum of what each reached from its own start to its own end. Done: \
         when the first and the last had ended. Tail: \
         the share of the time in which some were late or done. Slowest: the rank with the lowest \
         rate of its own, by that of the median rank. {}",
        describe_ends(&ranks)
    );
    if let Some(error) = ranks.iter().map(|of| of.clock_error).max().filter(|error| *error > 0) {
        text += &format!(
            ". The clocks of the machines are known to \u{b1}{}",
            show_nanos(error as f64)
        );
    }
    Some(Table { id: "ranks", title: "Ranks", columns, text, ..Table::default() })
}

/// Returns when the first and the last rank were done: `0.28-0.31 s`.
fn show_done(of: &RanksOf) -> String {
    let (first, last) = (show_nanos(of.first_done), show_nanos(of.last_done));
    match (first.split_once(' '), last.split_once(' ')) {
        (Some((number, unit)), Some((_, of_last))) if unit == of_last => format!("{number}-{last}"),
        _ => format!("{first}-{last}"),
    }
}

/// Returns `rank 3 on node7`.
fn name_slowest(of: &RanksOf) -> String {
    let node = of.each.get(of.slowest as usize).map_or("", |rank| rank.node.as_str());
    show_rank(of.slowest, &clean_text(node))
}

/// Describes the end of the trials.
fn describe_ends(ranks: &[&RanksOf]) -> &'static str {
    let by_time = ranks.iter().filter(|of| of.by_time).count();
    match by_time {
        0 => "Each rank does the same amount",
        all if all == ranks.len() => "Trials end for all ranks at the same time",
        _ => {
            "Trials end for all ranks at the same time, but trials of one pass over a small file end when \
             each rank is done"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::grid::row_count;
    use crate::report::testing;

    #[test]
    fn every_level_with_readings_is_shown() {
        let level = |dropped, readings| Level {
            dropped,
            readings,
            bytes: 4096,
            reason: Some("EIO.".into()),
        };
        let reading = Reading { open: 1, first: 1, whole: 4 };
        let mut session = testing::quick();
        session.levels =
            vec![level(DropLevel::Data, vec![reading]), level(DropLevel::Meta, Vec::new())];
        let table = build_levels(&session, &[], Rates::default()).unwrap();
        assert!(
            row_count(&table.columns) == 1
                && table.text.ends_with("Not read again: data: EIO. Skipped: meta: EIO"),
            "{}",
            table.text
        );
    }
}
