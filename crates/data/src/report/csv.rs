//! One row per cell with fixed columns, units in their names, for spreadsheets and data frames; of
//! a cell that several ranks measured, more rows for each of its machines and ranks.
//!
//! Quoted as in RFC 4180, one line per row, ended by LF. Unknown is empty. New columns go to
//! the end, so that existing positions stay.

mod column;

use std::io::{self, Write};

use self::column::{
    CsvColumn, CsvRow, Field, RankPart, Subject, column, integer, job, number, probe, text_field,
};
use super::table::runs::MAX_RUNS;
use super::{Format, Look};
use crate::analysis::{self, CellResult, LatencyOf, SummaryOf, VerifiedOf};
use crate::plan::{Axis, JobOption, Op, target_name};
use crate::record::{Durability, Trial};
use crate::session::Session;
use crate::stats::Summary;
use crate::stats::course::Kind;

pub const FORMAT: Format = Format {
    id: "csv",
    about: "one row per cell, units in the column names",
    extension: "csv",
    binary: false,
    write,
};

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let mut columns = columns();
    columns.extend(rank_columns().map(|column| CsvColumn { describes: true, ..column }));
    columns.push(job("source_below", |r| number(r.source.map(|s| s.below))));
    // Options that came later.
    let later: Vec<CsvColumn> = JobOption::all()
        .map(|option| CsvColumn { describes: true, ..job_column(option) })
        .filter(|new| columns.iter().all(|known| known.name != new.name))
        .collect();
    columns.extend(later);
    columns.extend(latency_columns("service", &LATENCY_PARTS, |r| r.service));
    writeln!(out, "{}", columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(","))?;
    let (results, probes) = (analysis::results(session), analysis::probes(session));
    for subject in results.iter().map(Subject::Job).chain(probes.iter().map(Subject::Probe)) {
        let parts = list_parts(&subject);
        for part in std::iter::once(None).chain(parts.into_iter().map(Some)) {
            let row = CsvRow { session, subject, part };
            let fields: Vec<String> = columns.iter().map(|c| row.field(c).into_quoted()).collect();
            writeln!(out, "{}", fields.join(","))?;
        }
    }
    Ok(())
}

/// Returns every column with its name and value.
fn columns() -> Vec<CsvColumn> {
    let mut columns = job_columns();
    columns.iter_mut().for_each(|column| column.describes = true);
    columns.extend([
        column("trials", |r| integer(r.trials() as u64)),
        column("short_trials", |r| integer(r.short_trials() as u64)),
        job("data_xor", data_xor),
    ]);
    columns.extend(summary_columns("throughput", "bytes_per_second", |r| r.throughput));
    columns.extend(summary_columns("operations", "per_second", |r| r.operations));
    columns.extend(summary_columns("syscalls", "per_second", |r| r.syscalls));
    columns.extend(latencies());
    columns.extend(source_columns());
    columns.extend([
        column("severity", |r| {
            let worst = r.warnings().iter().map(|w| w.severity).max();
            worst.map_or(Field::Empty, |worst| text_field(worst.name()))
        }),
        column("warnings", |r| join(r.warnings().iter().map(|w| w.id.to_string()))),
        column("error", |r| r.error().map_or(Field::Empty, text_field)),
    ]);
    columns.extend(probe_columns());
    columns.extend(written_columns());
    columns.extend([
        // The median trial: repeats x count operations, their bytes and seconds.
        job("repeats", |r| r.work().map_or(Field::Empty, |work| integer(work.repeats))),
        job("bytes", |r| number(r.work().map(|work| work.bytes))),
        job("seconds", |r| number(r.work().map(|work| work.nanos / 1e9))),
    ]);
    columns.extend(trial_columns());
    columns.extend(level_columns());
    columns.extend([
        job("writes", |r| {
            if r.cell.op == Op::Write { text_field(r.cell.writes) } else { Field::Empty }
        }),
        job("target", |r| r.cell.target.map_or(Field::Empty, |at| text_field(target_name(at)))),
        job("variant", |r| r.cell.variant.as_ref().map_or(Field::Empty, text_field)),
        job("file_per", |r| {
            if r.cell.op == Op::Write { text_field(r.cell.file_per) } else { Field::Empty }
        }),
        column("skipped", |r| text_field(r.is_skipped())),
    ]);
    columns.extend(verified_columns());
    columns
}

/// Returns words with spaces between them.
fn join(words: impl Iterator<Item = String>) -> Field {
    text_field(words.collect::<Vec<_>>().join(" "))
}

/// Returns the columns of when the writes of a trial were in memory, and when on the device.
fn written_columns() -> [CsvColumn; 3] {
    let median = |of: Option<SummaryOf>| number(of.map(|of| of.summary.median));
    [
        job("write_page_cache_median_nanoseconds", move |r| {
            median(r.written.and_then(|w| w.page_cache))
        }),
        job("write_device_median_nanoseconds", move |r| median(r.written.and_then(|w| w.device))),
        job("write_left_median_bytes", |r| number(r.written.and_then(|w| w.left))),
    ]
}

/// Returns the columns of a rate that changed over time.
fn level_columns() -> Vec<CsvColumn> {
    fn medians(r: &CellResult) -> Option<(f64, f64)> {
        let (first, last) = r.level_change.as_ref()?.first_and_last();
        Some((first.summary.median, last.summary.median))
    }
    vec![
        job("level_change", |r| {
            r.level_change.as_ref().map_or(Field::Empty, |c| {
                text_field(if c.kind == Kind::Step { "step" } else { "drift" })
            })
        }),
        job("level_first_median", |r| number(medians(r).map(|(first, _)| first))),
        job("level_last_median", |r| number(medians(r).map(|(_, last)| last))),
    ]
}

/// Returns the columns of the single trials: their times, then their rates.
fn trial_columns() -> Vec<CsvColumn> {
    let seconds = |round| {
        move |r: &CellResult| number(trial_of_round(r, round).map(|t| t.nanos as f64 / 1e9))
    };
    let rate = |round| {
        move |r: &CellResult| {
            number(trial_of_round(r, round).filter(|t| t.bytes > 0).map(Trial::throughput))
        }
    };
    let took = (1..=MAX_RUNS).map(|round| job(&format!("trial_{round}_seconds"), seconds(round)));
    let rates =
        (1..=MAX_RUNS).map(|round| job(&format!("trial_{round}_bytes_per_second"), rate(round)));
    took.chain(rates).collect()
}

/// Returns the trial of a round, if there are few enough for each to have a column.
fn trial_of_round(result: &CellResult, round: u32) -> Option<&Trial> {
    let few = result.trials.iter().all(|trial| trial.round <= MAX_RUNS);
    let mut own = result.trials.iter().filter(|trial| few && trial.round == round);
    own.find(|trial| trial.counts()).map(|trial| &**trial)
}

fn job_columns() -> Vec<CsvColumn> {
    let mut columns = vec![column("session", |r| text_field(&r.session.id))];
    columns.extend(FIRST.iter().filter_map(|axis| axis.options().first()).map(job_column));
    columns
}

/// The axes of jobs whose columns are the first.
const FIRST: [Axis; 15] = {
    use Axis::*;
    [
        Backend, Op, Pattern, Block, Count, Size, Threads, Depth, Cache, Direct, Xor, Sync,
        SyncEvery, Mix, CpuCache,
    ]
};

/// Returns the column of an option.
fn job_column(option: &'static JobOption) -> CsvColumn {
    let name = option_column(option.name);
    match option.name {
        // 0 is one pass, as requested; else the calibrated count.
        "count" => job(&name, |r| {
            r.cell.count.or(r.work().map(|work| work.count)).map_or(Field::Empty, integer)
        }),
        "block-size" => job(&name, |r| integer(r.cell.block)),
        "size" => job(&name, |r| integer(r.cell.span)),
        _ => job(&name, |r| option.text(&r.cell).map_or(Field::Empty, text_field)),
    }
}

/// Returns the name of an option's column, with its unit.
pub(super) fn option_column(option: &str) -> String {
    match option {
        "block-size" => "block_bytes".into(),
        "size" => "span_bytes".into(),
        "mix" => "mix_read_percent".into(),
        name => name.replace('-', "_"),
    }
}

/// The end of a column's name, and its value in a `T`.
type CsvPart<T> = (&'static str, fn(&T) -> Option<f64>);

fn summary_columns(
    what: &str,
    unit: &str,
    of: fn(&CellResult) -> Option<SummaryOf>,
) -> Vec<CsvColumn> {
    let named_column = |(stat, get): CsvPart<Summary>| {
        job(&format!("{what}_{stat}_{unit}"), move |r| number(of(r).and_then(|s| get(&s.summary))))
    };
    stats().into_iter().map(named_column).collect()
}

fn stats() -> [CsvPart<Summary>; 7] {
    [
        ("median", |s| Some(s.median)),
        ("low", |s| s.low),
        ("high", |s| s.high),
        ("mean", |s| Some(s.mean)),
        ("stddev", |s| Some(s.stddev)),
        ("min", |s| Some(s.min)),
        ("max", |s| Some(s.max)),
    ]
}

fn source_columns() -> [CsvColumn; 6] {
    [
        job("source_device", |r| number(r.source.map(|s| s.device))),
        job("source_page_cache", |r| number(r.source.map(|s| s.page_cache))),
        job("source_hole", |r| number(r.source.map(|s| s.hole))),
        job("source_unknown", |r| number(r.source.map(|s| s.unknown))),
        job("source_reason", |r| text_field(&r.source_reason)),
        job("amplification", |r| number(r.amplification)),
    ]
}

const LATENCY_PARTS: [CsvPart<LatencyOf>; 6] = [
    ("mean", |l| Some(l.mean)),
    ("p50", |l| l.p50),
    ("p90", |l| l.p90),
    ("p99", |l| l.p99),
    ("p999", |l| l.p999),
    ("max", |l| Some(l.max)),
];

fn latency_columns(
    what: &'static str,
    parts: &[CsvPart<LatencyOf>],
    of: fn(&CellResult) -> Option<LatencyOf>,
) -> impl Iterator<Item = CsvColumn> {
    parts.iter().map(move |(part, get)| {
        let get = *get;
        job(&format!("{what}_{part}_nanoseconds"), move |r| {
            number(of(r).and_then(|latency| get(&latency)))
        })
    })
}

/// Returns the columns of the latencies of operations and of commits.
fn latencies() -> Vec<CsvColumn> {
    let of_operations = latency_columns("latency", &LATENCY_PARTS, |r| r.latency);
    let [_, percentiles @ ..] = &LATENCY_PARTS;
    of_operations
        .chain([
            job("commits_per_second", |r| number(r.commits.and_then(|of| of.per_second))),
            job("commits", |r| r.commits.map_or(Field::Empty, |of| integer(of.count))),
        ])
        .chain(latency_columns("commit", percentiles, |r| Some(r.commits?.total)))
        .chain(latency_columns("commit_write", percentiles, |r| r.commits?.write))
        .chain(latency_columns("commit_sync", percentiles, |r| r.commits?.sync))
        .chain(durability_columns())
        .collect()
}

/// Returns the columns of data that was read back.
fn verified_columns() -> Vec<CsvColumn> {
    let of = |name: &str, get: fn(&VerifiedOf) -> Field| {
        job(name, move |r| r.verified.as_ref().map_or(Field::Empty, get))
    };
    vec![
        of("verified_blocks", |of| integer(of.blocks)),
        of("verified_bad_blocks", |of| integer(of.bad.total())),
        of("verified_first_bad_offset", |of| {
            of.first.map_or(Field::Empty, |first| integer(first.block.offset))
        }),
        of("verified_read_from", |of| text_field(of.read_from.name())),
        of("verified_complete", |of| text_field(of.complete)),
    ]
}

/// Returns the columns of how far the commits got.
fn durability_columns() -> [CsvColumn; 4] {
    let figure = |name: &str, of: fn(&Durability) -> Option<f64>| {
        job(name, move |r| number(r.durability.as_ref().and_then(of)))
    };
    [
        job("commit_reach", |r| {
            r.durability.as_ref().map_or(Field::Empty, |of| text_field(of.reach.name()))
        }),
        figure("commit_flushes", |of| of.flushes),
        figure("commit_flush_mean_nanoseconds", |of| of.flush_nanos),
        figure("commit_amplification", |of| of.amplification),
    ]
}

/// Returns the columns of probes. A value is in its own unit, which has a column.
fn probe_columns() -> Vec<CsvColumn> {
    let mut columns = vec![
        probe("probe", |p| text_field(&p.cell.probe)),
        probe("parameters", |p| {
            join(p.cell.params.iter().map(|(name, value)| format!("{name}={value}")))
        }),
        probe("value_unit", |p| p.unit.map_or(Field::Empty, |unit| text_field(unit.name()))),
    ];
    let stats = stats().into_iter().map(|(stat, get)| {
        probe(&format!("value_{stat}"), move |p| {
            number(p.value.and_then(|value| get(&value.summary)))
        })
    });
    columns.extend(stats);
    columns.extend([
        probe("cycles", |p| number(p.cycles)),
        probe("estimate_low", |p| number(p.estimate.as_ref().map(|e| e.low))),
        probe("estimate_high", |p| number(p.estimate.as_ref().map(|e| e.high))),
        probe("estimate_reason", |p| {
            p.estimate.as_ref().map_or(Field::Empty, |e| text_field(&e.reason))
        }),
        probe("reference", |p| {
            join(p.reference.iter().map(|r| format!("{}={}", r.session, r.value)))
        }),
    ]);
    columns
}

/// Returns the XOR of the data if all trials that computed it agree.
fn data_xor(result: &CellResult) -> Field {
    let mut values = result.trials.iter().filter_map(|t| t.xor);
    match values.next() {
        Some(first) if values.all(|v| v == first) => text_field(first),
        _ => Field::Empty,
    }
}

#[cfg(test)]
mod tests;

/// Returns the machines and ranks of a cell, where there are several.
pub fn list_parts<'a>(subject: &Subject<'a>) -> Vec<RankPart<'a>> {
    let Subject::Job(CellResult { ranks: Some(ranks), .. }) = *subject else { return Vec::new() };
    let each = ranks.each.iter().map(RankPart::Rank);
    ranks.nodes.iter().map(RankPart::Node).chain(each).collect()
}

/// Returns the columns of machines and ranks, which distinguish their rows from that of the cell.
pub fn rank_columns() -> [CsvColumn; 7] {
    let part = |name: &str, get: fn(RankPart) -> Field| {
        column(name, move |row| row.part.map_or(Field::Empty, get))
    };
    [
        job("ranks", |r| r.cell.ranks.map_or(Field::Empty, integer)),
        job("layout", |r| {
            if r.cell.ranks.is_some() { text_field(r.cell.layout) } else { Field::Empty }
        }),
        part("node", |part| match part {
            RankPart::Node(node) => text_field(&node.node),
            RankPart::Rank(rank) => text_field(&rank.node),
        }),
        part("rank", |part| match part {
            RankPart::Node(_) => Field::Empty,
            RankPart::Rank(rank) => integer(rank.rank),
        }),
        // In bytes per second, or in operations where no bytes move.
        part("rank_rate_median_per_second", |part| match part {
            RankPart::Node(node) => number(Some(node.rate)),
            RankPart::Rank(rank) => number(Some(rank.rate)),
        }),
        part("rank_done_median_nanoseconds", |part| match part {
            RankPart::Node(_) => Field::Empty,
            RankPart::Rank(rank) => number(Some(rank.done)),
        }),
        part("rank_cached_trials", |part| match part {
            RankPart::Node(node) => integer(node.cached_trials),
            RankPart::Rank(rank) => integer(rank.cached_trials),
        }),
    ]
}
