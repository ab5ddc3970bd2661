//! The JSON of Google Benchmark, as read by its `compare.py` and by the trackers of continuous
//! integration.
//!
//! One entry per counted trial and, from two on, their mean, median and standard deviation; times
//! are per operation, over all threads. A cell that failed or was not measured is listed
//! in the context only: trackers would read an entry of 0 ns, as Google Benchmark writes for a
//! failed one, as the fastest ever, and `compare.py` would omit the overall mean.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::pretty::pretty;
use super::{Format, Look, text};
use crate::analysis::{self, CellResult, ProbeResult};
use crate::facts::{CacheLevel, Host, cpu_list};
use crate::plan::{Axis, CpuCache, Job, ProbeCell, Rate, Sync, target_name};
use crate::record::{Severity, Trial, Unit, Warning};
use crate::session::Session;
use crate::stats::Summary;

pub const FORMAT: Format = Format {
    id: "gbench",
    about: "Google Benchmark JSON, for compare.py and benchmark trackers",
    extension: "gbench.json",
    binary: false,
    write,
};

fn write(session: &Session, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let results = analysis::results(session);
    let names = BenchmarkNames::for_cells(&session.plan.cells);
    let (mut benchmarks, mut failed) = (Vec::new(), Vec::new());
    for (family, result) in results.iter().enumerate() {
        match counted_trials(result) {
            Ok(trials) => push_entries(&mut benchmarks, family, result, &trials, &names),
            Err(why) => failed.push(format!("{}: {}", names.name(&result.cell), text::clean(why))),
        }
    }
    let probes = analysis::probes(session);
    for (index, probe) in probes.iter().enumerate() {
        push_probe_entries(&mut benchmarks, &mut failed, results.len() + index, probe);
    }
    let document = json!({ "context": build_context(session, &probes, &names, &failed), "benchmarks": benchmarks });
    pretty(&document, out)?;
    writeln!(out)
}

/// The axes in the order of a name, which must not change; others follow, and threads are last.
const ORDER: [Axis; 19] = {
    use Axis::*;
    [
        Backend, Op, Pattern, Block, Cache, Depth, Direct, Xor, Sync, Mix, Size, Count, Target,
        Variant, SyncEvery, FilePer, CpuCache, Ranks, Layout,
    ]
};

/// The optional parts of a name that are needed to make the names of all cells unique.
pub(super) struct BenchmarkNames {
    span: bool,
    count: bool,
}

impl BenchmarkNames {
    pub(super) fn for_cells(cells: &[Job]) -> BenchmarkNames {
        let varies = |part: fn(&Job) -> u64| cells.iter().any(|cell| part(cell) != part(&cells[0]));
        BenchmarkNames {
            span: varies(|job| job.span),
            count: varies(|job| job.count.unwrap_or(u64::MAX)),
        }
    }

    /// Returns `mmap/read/seq/block:4096/cold/threads:4`: the same job has the same name in every
    /// session.
    pub(super) fn name(&self, job: &Job) -> String {
        let axes = Axis::arrange(&ORDER, Axis::Threads).into_iter();
        let parts: Vec<String> = axes.filter_map(|axis| self.part(axis, job)).collect();
        text::clean(&parts.join("/"))
    }

    /// Returns the part of a name for an axis.
    fn part(&self, axis: Axis, job: &Job) -> Option<String> {
        Some(match axis {
            Axis::Backend => job.backend.to_string(),
            Axis::Op => job.action().into(),
            Axis::Pattern => job.pattern.to_string().replace(':', "").replace('/', "-"),
            Axis::Block => format!("block:{}", job.block),
            Axis::Depth if job.depth > 1 => format!("depth:{}", job.depth),
            Axis::Xor if job.xor => "xor".into(),
            Axis::Sync if job.sync != Sync::None => format!("sync_{}", job.sync),
            Axis::Mix => format!("mix:{}", job.mix?),
            Axis::Size if self.span => format!("span:{}", job.span),
            Axis::Count if self.count => format!("count:{}", job.count?),
            Axis::Size | Axis::Count => return None,
            Axis::Target => format!("target:{}", target_name(job.target?)),
            Axis::Variant => format!("variant:{}", job.variant.as_ref()?),
            Axis::SyncEvery if job.sync_every > 1 => format!("every:{}", job.sync_every),
            Axis::FilePer if job.has_own_files() => "file_per_thread".into(),
            Axis::CpuCache if job.cpu_cache == CpuCache::Flush => "cpu_flushed".into(),
            Axis::Ranks => format!("ranks:{}", job.ranks?),
            Axis::Threads if job.threads > 1 => format!("threads:{}", job.threads),
            Axis::Rate => match job.rate? {
                Rate::Operations(operations) => format!("rate:{operations}"),
                Rate::Bytes(bytes) => format!("bytes_per_second:{bytes}"),
            },
            Axis::Arrival if !job.arrival.is_steady() => job.arrival.to_string(),
            Axis::Think if job.think > 0 => format!("think:{}ns", job.think),
            _ => axis.phrase(job)?.replace(' ', "_"),
        })
    }
}

fn build_context(
    session: &Session,
    probes: &[ProbeResult],
    names: &BenchmarkNames,
    failed: &[String],
) -> Value {
    let host: &Host = &session.host;
    let skip = |name: String, why: &str| format!("{name}: {}", text::clean(why));
    let cells = analysis::list_skipped(session);
    let cells = cells.iter().map(|s| skip(names.name(&s.cell), &s.reason));
    let more = analysis::skipped_probes(session);
    let more = more.iter().map(|s| skip(probe_name(&s.cell), &s.reason));
    let sizes = probes.iter().filter(|probe| probe.unit == Some(Unit::Bytes)).filter_map(|probe| {
        let why = format!("{} bytes, a size and not a time", probe.value?.summary.median);
        Some(skip(probe_name(&probe.cell), &why))
    });
    let skipped: Vec<String> = cells.chain(more).chain(sizes).collect();
    json!({
        "date": text::clean(&session.created),
        "host_name": text::clean(&host.name),
        "executable": "iotui",
        "num_cpus": host.cpu.online.max(host.cpu.allowed),
        "mhz_per_cpu": host.cpu.mhz.unwrap_or(0.0).round(),
        "cpu_scaling_enabled": host.cpu.governor.as_ref().is_some_and(|governor| governor != "performance"),
        "caches": host.caches.iter().map(cache_json).collect::<Vec<_>>(),
        "load_avg": host.conditions.load.into_iter().collect::<Vec<f64>>(),
        "library_version": env!("CARGO_PKG_VERSION"),
        "library_build_type": if cfg!(debug_assertions) { "debug" } else { "release" },
        "json_schema_version": 1,
        "failed": failed,
        "skipped": skipped,
    })
}

fn cache_json(level: &CacheLevel) -> Value {
    json!({
        "type": text::clean(&level.kind),
        "level": level.level,
        "size": level.size,
        "num_sharing": cpu_list(&level.shared_with).len().max(1),
    })
}

/// One entry of the list.
#[derive(Serialize, Clone)]
struct BenchmarkEntry<'a> {
    name: String,
    family_index: usize,
    per_family_instance_index: u32,
    run_name: &'a str,
    run_type: &'static str,
    repetitions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition_index: Option<usize>,
    threads: u32,
    #[serde(flatten)]
    aggregate: Option<Aggregate>,
    iterations: u64,
    real_time: f64,
    cpu_time: f64,
    time_unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_second: Option<f64>,
    items_per_second: f64,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
}

impl<'a> BenchmarkEntry<'a> {
    /// Returns the common part of all entries of a cell, without their figures.
    fn plain(
        run_name: &'a str,
        family_index: usize,
        repetitions: usize,
        warnings: &[Warning],
    ) -> BenchmarkEntry<'a> {
        BenchmarkEntry {
            name: run_name.into(),
            family_index,
            per_family_instance_index: 0,
            run_name,
            run_type: "iteration",
            repetitions,
            repetition_index: None,
            threads: 1,
            aggregate: None,
            iterations: 0,
            real_time: 0.0,
            cpu_time: 0.0,
            time_unit: "ns",
            bytes_per_second: None,
            items_per_second: 0.0,
            label: severity_label(warnings),
        }
    }

    /// Returns a statistic over some trials, without its figures.
    fn aggregate(&self, name: &'static str, trials: usize) -> BenchmarkEntry<'a> {
        BenchmarkEntry {
            name: format!("{}_{name}", self.run_name),
            run_type: "aggregate",
            aggregate: Some(Aggregate { aggregate_name: name, aggregate_unit: "time" }),
            iterations: trials as u64,
            ..self.clone()
        }
    }
}

#[derive(Serialize, Clone)]
struct Aggregate {
    aggregate_name: &'static str,
    aggregate_unit: &'static str,
}

/// Returns the trials that count, or the reason why no trial does.
fn counted_trials(result: &CellResult) -> Result<Vec<&Trial>, &str> {
    let trials: Vec<&Trial> = result.counted().into_iter().filter(|trial| trial.ops > 0).collect();
    match result.error.as_deref() {
        Some(why) => Err(why),
        None if trials.is_empty() => Err("no operation completed"),
        None => Ok(trials),
    }
}

fn push_entries(
    list: &mut Vec<Value>,
    family: usize,
    result: &CellResult,
    trials: &[&Trial],
    names: &BenchmarkNames,
) {
    let run_name = names.name(&result.cell);
    let plain = BenchmarkEntry {
        threads: result.cell.threads,
        ..BenchmarkEntry::plain(&run_name, family, trials.len(), &result.warnings)
    };
    for (index, trial) in trials.iter().enumerate() {
        let entry = BenchmarkEntry {
            repetition_index: Some(index),
            iterations: trial.ops,
            real_time: real_time(trial),
            cpu_time: cpu_time(trial),
            bytes_per_second: result.throughput.map(|_| trial.throughput()),
            items_per_second: trial.operations(),
            ..plain.clone()
        };
        list.extend(serde_json::to_value(entry));
    }
    if trials.len() > 1 {
        list.extend(
            AGGREGATES.iter().filter_map(|of| build_aggregate(&plain, trials, result, *of)),
        );
    }
}

/// Lists the warnings that are more severe than a note.
fn severity_label(warnings: &[Warning]) -> String {
    let grave = warnings.iter().filter(|w| w.severity > Severity::Note);
    text::clean(
        &grave.map(|w| format!("{}: {}", w.severity.name(), w.id)).collect::<Vec<_>>().join(", "),
    )
}

/// Returns the nanoseconds per operation.
fn real_time(trial: &Trial) -> f64 {
    trial.nanos as f64 / trial.ops as f64
}

fn cpu_time(trial: &Trial) -> f64 {
    (trial.user_nanos as f64 + trial.system_nanos as f64) / trial.ops as f64
}

type Statistic = (&'static str, fn(&Summary) -> f64);
const AGGREGATES: [Statistic; 3] =
    [("mean", |s| s.mean), ("median", |s| s.median), ("stddev", |s| s.stddev)];

fn build_aggregate(
    plain: &BenchmarkEntry,
    trials: &[&Trial],
    result: &CellResult,
    (name, get): Statistic,
) -> Option<Value> {
    let of = |value: fn(&Trial) -> f64| {
        Summary::from_values(&trials.iter().map(|t| value(t)).collect::<Vec<_>>()).map(|s| get(&s))
    };
    let entry = BenchmarkEntry {
        real_time: of(real_time)?,
        cpu_time: of(cpu_time)?,
        bytes_per_second: result.throughput.and_then(|_| of(Trial::throughput)),
        items_per_second: of(Trial::operations)?,
        ..plain.aggregate(name, trials.len())
    };
    serde_json::to_value(entry).ok()
}

/// Returns `probe:call/arguments:3`.
fn probe_name(cell: &ProbeCell) -> String {
    let params = cell.params.iter().map(|(name, value)| format!("/{name}:{value}"));
    text::clean(&format!("probe:{}{}", cell.probe, params.collect::<String>()))
}

/// Adds the entries of a probe, or its error to `failed`. A rate is converted to the time of one
/// byte or operation; a size is not a time and has no entry.
fn push_probe_entries(
    list: &mut Vec<Value>,
    failed: &mut Vec<String>,
    family: usize,
    probe: &ProbeResult,
) {
    let run_name = probe_name(&probe.cell);
    let unit = probe.unit.unwrap_or(Unit::Nanos);
    let nanos = |value: f64| if unit == Unit::Nanos { value } else { 1e9 / value };
    let values: Vec<f64> = probe.values().into_iter().filter(|value| *value > 0.0).collect();
    let plain = BenchmarkEntry::plain(&run_name, family, values.len().max(1), &probe.warnings);
    let failure = probe.error.as_deref().or(values.is_empty().then_some("nothing was measured"));
    if let Some(why) = failure {
        return failed.push(format!("{run_name}: {}", text::clean(why)));
    }
    if unit == Unit::Bytes {
        return;
    }
    for (index, value) in values.iter().enumerate() {
        let entry =
            BenchmarkEntry { repetition_index: Some(index), iterations: 1, ..plain.clone() };
        list.extend(serde_json::to_value(with_time(entry, nanos(*value), unit)));
    }
    let times: Vec<f64> = values.iter().map(|value| nanos(*value)).collect();
    if let Some(summary) = Summary::from_values(&times).filter(|_| times.len() > 1) {
        for (name, get) in AGGREGATES {
            let (entry, time) = (plain.aggregate(name, times.len()), get(&summary));
            // A spread of times has no rate.
            list.extend(serde_json::to_value(match name {
                "stddev" => BenchmarkEntry { real_time: time, cpu_time: time, ..entry },
                _ => with_time(entry, time, unit),
            }));
        }
    }
}

/// Sets the elapsed time; the CPU time is unknown and set to the same.
fn with_time(entry: BenchmarkEntry, time: f64, unit: Unit) -> BenchmarkEntry {
    let bytes_per_second = (unit == Unit::BytesPerSecond).then_some(1e9 / time);
    BenchmarkEntry {
        real_time: time,
        cpu_time: time,
        bytes_per_second,
        items_per_second: 1e9 / time,
        ..entry
    }
}

#[cfg(test)]
mod tests;
