//! The table of commits: how long one takes, of which the sync, and how many are made.

use super::extra::{Extra, distinguishing_columns, figures, numbers, words};
use super::grid::Column;
use crate::analysis::{CellResult, CommitsOf};
use crate::plan::Job;
use crate::record::{Durability, Reach};
use crate::session::Session;
use crate::units::Rates;
use crate::units::column::{PER_SECOND, TIME, align, unit};

/// Returns the table of a session whose writes are made durable; `None` for others.
pub fn build_commits(_: &Session, rows: &[&CellResult], _: Rates) -> Option<Extra> {
    let (committing, commits): (Vec<&CellResult>, Vec<CommitsOf>) =
        rows.iter().filter_map(|row| Some((*row, row.commits?))).unzip();
    if committing.is_empty() {
        return None;
    }
    let own = ["cache", "sync", "direct", "per sync"];
    let mut columns = distinguishing_columns(&committing, &own, true);
    columns.push(words("method", 0, &committing, |row| method(&row.cell)));
    columns.push(figures("commits", PER_SECOND, &commits, |of| of.per_second));
    columns.extend(percentiles(&commits));
    columns.extend(durable_columns(&committing));
    let sync = |of: &CommitsOf| of.sync.as_ref().and_then(|sync| sync.p50);
    if commits.iter().any(|of| sync(of).is_some()) {
        columns.push(Column { rank: 4, ..figures("sync p50", TIME, &commits, sync) });
    }
    let text = "a commit lasts from its first write until its sync has returned. p50 to max: of \
                every commit of all trials; - where there were too few for the percentile, or \
                where write and sync cannot be seen apart. Commits: per second, of all threads. Flushes: of the disk, per commit. \
                Written: bytes per byte committed. Both count those of all programs";
    let text = sentences(&committing).fold(text.to_string(), |all, one| format!("{all}. {one}"));
    let rows = committing.len();
    Some(Extra { id: "commits", title: "Commits", columns, rows, text })
}

/// Names how a job commits: `fdatasync`, `direct dsync`, `fdatasync of 8`.
fn method(job: &Job) -> String {
    let direct = if job.direct { "direct " } else { "" };
    match job.writes_per_commit() {
        1 => format!("{direct}{}", job.sync),
        writes => format!("{direct}{} of {writes}", job.sync),
    }
}

/// Returns the columns of how far the commits got; none where no session records it.
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

/// Returns what each word of the last column means here: the sentence of the first such row.
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
