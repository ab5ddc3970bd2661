//! Probes as entries of Google Benchmark.

use serde_json::Value;

use super::{AGGREGATES, Entry};
use crate::analysis::ProbeResult;
use crate::plan::ProbeCell;
use crate::record::Unit;
use crate::report::text;
use crate::stats::Summary;

/// Returns `probe:call/arguments:3`.
pub fn name(cell: &ProbeCell) -> String {
    let params = cell.params.iter().map(|(name, value)| format!("/{name}:{value}"));
    text::clean(&format!("probe:{}{}", cell.probe, params.collect::<String>()))
}

/// Adds the entries of a probe, or its error to `failed`. A rate is converted to the time of one
/// byte or operation; a size is not a time and has no entry.
pub fn push_entries(
    list: &mut Vec<Value>,
    failed: &mut Vec<String>,
    family: usize,
    probe: &ProbeResult,
) {
    let run_name = name(&probe.cell);
    let unit = probe.unit.unwrap_or(Unit::Nanos);
    let nanos = |value: f64| if unit == Unit::Nanos { value } else { 1e9 / value };
    let values: Vec<f64> = probe.values().into_iter().filter(|value| *value > 0.0).collect();
    let plain = Entry::plain(&run_name, family, values.len().max(1), &probe.warnings);
    let failure = probe.error.as_deref().or(values.is_empty().then_some("nothing was measured"));
    if let Some(why) = failure {
        return failed.push(format!("{run_name}: {}", text::clean(why)));
    }
    if unit == Unit::Bytes {
        return;
    }
    for (index, value) in values.iter().enumerate() {
        let entry = Entry { repetition_index: Some(index), iterations: 1, ..plain.clone() };
        list.extend(serde_json::to_value(with_time(entry, nanos(*value), unit)));
    }
    let times: Vec<f64> = values.iter().map(|value| nanos(*value)).collect();
    if let Some(summary) = Summary::from_values(&times).filter(|_| times.len() > 1) {
        for (name, get) in AGGREGATES {
            let (entry, time) = (plain.aggregate(name, times.len()), get(&summary));
            // A spread of times has no rate.
            list.extend(serde_json::to_value(match name {
                "stddev" => Entry { real_time: time, cpu_time: time, ..entry },
                _ => with_time(entry, time, unit),
            }));
        }
    }
}

/// Sets the elapsed time; the CPU time is unknown and set to the same.
fn with_time(entry: Entry, time: f64, unit: Unit) -> Entry {
    let bytes_per_second = (unit == Unit::BytesPerSecond).then_some(1e9 / time);
    Entry {
        real_time: time,
        cpu_time: time,
        bytes_per_second,
        items_per_second: 1e9 / time,
        ..entry
    }
}
