//! The tables of what was written: when the page cache had the bytes and when the device did, how
//! long a commit takes, and the outcome of reading back.

use super::column_parts::{distinguishing_columns, figures, numbers, words};
use super::columns::half_width;
use super::grid::Column;
use super::grid::Table;
use crate::analysis::{CellResult, CommitsOf, SummaryOf, VerifiedOf, WriteTimes};
use crate::plan::Job;
use crate::record::{BadBlock, Durability, Reach, ReadFrom};
use crate::session::Session;
use crate::units::column::{PER_SECOND, TIME, align, unit};
use crate::units::{Rates, show_bytes, show_percent, show_share};

/// Returns the table of a session that writes; `None` for others.
pub fn build_writes(_: &Session, rows: &[&CellResult], rates: Rates) -> Option<Table> {
    let (writing, times): (Vec<&CellResult>, Vec<WriteTimes>) =
        rows.iter().filter_map(|row| Some((*row, row.written?))).unzip();
    if writing.is_empty() {
        return None;
    }
    fn median(of: Option<SummaryOf>) -> Option<f64> {
        of.map(|of| of.summary.median)
    }
    let left = |of: &WriteTimes| of.left.map_or("-".into(), |left| show_bytes(left as u64));
    let mut columns = distinguishing_columns(&writing, &["cache"], false);
    columns.extend([
        figures("page cache", TIME, &times, |of| median(of.page_cache)),
        figures("rate", rates.units(), &times, |of| of.page_cache_rate),
        figures("device", TIME, &times, |of| median(of.device)),
        figures("rate", rates.units(), &times, |of| of.device_rate),
        numbers("still dirty", 0, &times, left),
    ]);
    let text = "time until the page cache had all data (the last write returned), and until the device reported that it had all \
                (fdatasync, O_DSYNC or direct I/O); - where nothing waited for the device, or the page cache was bypassed. Still \
                dirty: what was not yet written back when the clock stopped. Medians of the trials";
    // Writes that bypass the page cache have one time, that of the results.
    // So has a commit, at whose end the device has the data.
    let repeats = times.iter().all(|of| of.page_cache.is_none())
        || rows.iter().all(|row| row.commits.is_some());
    let text = text.into();
    Some(Table { id: "writes", title: "Writes", columns, text, repeats, ..Table::default() })
}

/// Returns the table of a session whose writes are made durable; `None` for others.
pub fn build_commits(_: &Session, rows: &[&CellResult], _: Rates) -> Option<Table> {
    let (committing, commits): (Vec<&CellResult>, Vec<CommitsOf>) =
        rows.iter().filter_map(|row| Some((*row, row.commits?))).unzip();
    if committing.is_empty() {
        return None;
    }
    let own = ["cache", "sync", "direct", "per sync"];
    let mut columns = distinguishing_columns(&committing, &own, true);
    columns.push(words("method", 0, &committing, |row| method(&row.cell)));
    columns.push(figures("commits", PER_SECOND, &commits, |of| of.per_second));
    let halves: Vec<Option<f64>> = committing.iter().map(|row| half_width(row)).collect();
    columns.push(Column::exact("±", "%", 0, &halves, show_percent));
    columns.extend(percentiles(&commits));
    columns.extend(durable_columns(&committing));
    let sync = |of: &CommitsOf| of.sync.as_ref().and_then(|sync| sync.p50);
    if commits.iter().any(|of| sync(of).is_some()) {
        columns.push(Column { rank: 4, ..figures("sync p50", TIME, &commits, sync) });
    }
    let text = "a commit lasts from its first write until its sync has returned. p50 to max: of \
                every commit of all trials; - where there were too few for the percentile, or \
                where write and sync cannot be seen apart. Commits: per second, of all threads. Flushes: of the disk, per commit. \
                Written: bytes per byte committed. Both include other programs";
    let text = sentences(&committing).fold(text.to_string(), |all, one| format!("{all}. {one}"));
    let has_all_rows = committing.len() == rows.len();
    Some(Table { id: "commits", title: "Commits", columns, text, has_all_rows, ..Table::default() })
}

/// Names the method of a job's commits: `fdatasync`, `direct dsync`, `fdatasync of 8`.
fn method(job: &Job) -> String {
    let direct = if job.direct { "direct " } else { "" };
    match job.writes_per_commit() {
        1 => format!("{direct}{}", job.sync),
        writes => format!("{direct}{} of {writes}", job.sync),
    }
}

/// Returns the columns on durability; empty for sessions that did not record it.
fn durable_columns(rows: &[&CellResult]) -> Vec<Column> {
    let known: Vec<Option<&Durability>> = rows.iter().map(|row| row.durability.as_ref()).collect();
    if known.iter().all(Option::is_none) {
        return Vec::new();
    }
    fn show(figure: Option<f64>) -> String {
        figure.map_or("-".into(), |figure| format!("{figure:.2}"))
    }
    vec![
        numbers("flushes", 1, &known, |of| show(of.and_then(|of| of.flushes))),
        numbers("written", 2, &known, |of| show(of.and_then(|of| of.amplification))),
        words("durable", 1, &known, |of| of.map_or("-", |of| of.reach.name()).to_string()),
    ]
}

/// Returns the meaning of each word in the last column: the sentence of the first such row.
fn sentences<'a>(rows: &'a [&CellResult]) -> impl Iterator<Item = String> + 'a {
    Reach::ALL.into_iter().filter_map(|reach| {
        let mut found = rows.iter().filter_map(|row| row.durability.as_ref());
        let first = found.find(|of| of.reach == reach)?;
        Some(format!("Durable {}: {}", reach.name(), first.sentence()))
    })
}

/// Returns the percentiles in one unit, so that they can be compared along the row.
fn percentiles(commits: &[CommitsOf]) -> Vec<Column> {
    let rows: Vec<_> = commits.iter().map(|of| of.total.percentiles()).collect();
    let (factor, name) = unit(commits.iter().filter_map(|of| of.total.p50), TIME);
    let titles = rows.first().into_iter().flatten().map(|(title, _)| *title);
    titles
        .enumerate()
        .map(|(at, title)| {
            let values: Vec<Option<f64>> = rows.iter().map(|row| row[at].1).collect();
            let rank = if matches!(title, "p50" | "p99") { 0 } else { 3 };
            Column::numbers(title, name, rank, align(&values, factor))
        })
        .collect()
}

/// Returns the table of a session whose writes were read back; `None` for others.
pub fn build_verified(_: &Session, rows: &[&CellResult], _: Rates) -> Option<Table> {
    let (cells, verified): (Vec<&CellResult>, Vec<VerifiedOf>) =
        rows.iter().filter_map(|row| Some((*row, row.verified.clone()?))).unzip();
    let from = verified.iter().max_by_key(|of| of.read_from)?;
    let mut columns = distinguishing_columns(&cells, &["cache"], false);
    columns.extend([
        numbers("blocks", 0, &verified, |of| of.blocks.to_string()),
        numbers("bad", 0, &verified, |of| of.bad.total().to_string()),
        numbers("first at", 0, &verified, |of| first_bad(of, |bad| bad.offset.to_string())),
        words("holds", 0, &verified, |of| first_bad(of, |bad| bad.found.name().into())),
        words("read from", 1, &verified, |of| name_place(of.read_from).into()),
        numbers("stamps", 2, &verified, |of| show_share(of.stamp_share)),
    ]);
    let ended = if verified.iter().all(|of| of.complete) {
        ""
    } else {
        ". Not all blocks were compared: the run ended before"
    };
    let text = format!(
        "after each trial every written block was {}, and each byte compared. First at: the offset \
         of the first bad block in the first trial that has one, and what it holds. Stamps: about the share of the \
         timed work that marking the blocks took{ended}",
        from.describe_reading()
    );
    Some(Table { id: "verified", title: "Verified", columns, text, ..Table::default() })
}

/// Returns a part of the first bad block; `-` if none is bad.
fn first_bad(of: &VerifiedOf, part: fn(&BadBlock) -> String) -> String {
    of.first.map_or("-".into(), |first| part(&first.block))
}

fn name_place(from: ReadFrom) -> &'static str {
    match from {
        ReadFrom::Device => "device",
        ReadFrom::Storage => "file system",
        ReadFrom::Cache => "page cache",
        ReadFrom::Memory => "memory",
    }
}
