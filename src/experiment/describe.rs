//! Whether options describe given cells: who holds a run against a baseline may say its cells
//! again, but not others.

use super::sweep::sensible;
use super::{experiment, usual};
use crate::plan::{Backends, Choice, Info, Job, Preset, Range, Settings};
use crate::units::short_bytes;

/// How options differ from the cells they were to describe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OtherCells {
    #[error("--{option} leaves out cells of the baseline: {cells}")]
    LeftOut { option: &'static str, cells: String },
    #[error("the baseline has no cell with --{option} {value}")]
    Added { option: &'static str, value: String },
}

/// One value of an option, and how a cell gets it.
struct Value {
    text: String,
    put: Box<dyn Fn(&mut Job)>,
}

/// An option that was given, with its values.
type Said = (&'static str, Vec<Value>);

/// Whether every cell is one of those that `settings` and `presets` describe, and each value that
/// was given is one of some cell. What was not said is not compared; seed, trials, trial time and
/// budget are no part of a cell. `skipped` are the cells that the same options gave and that could
/// not be had.
pub fn describes(
    settings: &Settings,
    presets: &[Preset],
    infos: &[&'static Info],
    cells: &[Job],
    skipped: &[Job],
) -> Result<(), OtherCells> {
    // A preset says all its axes, those at their default too.
    let whole = |part: &Settings| usual(&settings.clone().or(part), infos);
    let described = |preset: &Preset| match experiment(&preset.experiment) {
        // Which of its cells there are is found out anew in every run.
        Ok(experiment) if experiment.picks() => vec![said(settings, infos)],
        _ => preset.parts().iter().map(|part| said(&whole(part), infos)).collect(),
    };
    let all: Vec<Vec<Said>> = match presets {
        [] => vec![said(settings, infos)],
        _ => presets.iter().flat_map(described).collect(),
    };
    let has = |cell: &Job, value: &Value| {
        let mut with = cell.clone();
        (value.put)(&mut with);
        let info = infos.iter().find(|info| info.id == with.backend.id);
        info.map_or(with.clone(), |info| sensible(info, with)) == *cell
    };
    let missed = |cell: &Job| {
        let wrong = |said: &Vec<Said>| {
            said.iter()
                .find(|(_, values)| !values.iter().any(|value| has(cell, value)))
                .map(|(name, _)| *name)
        };
        let options: Option<Vec<&'static str>> = all.iter().map(wrong).collect();
        options.and_then(|options| options.first().copied())
    };
    let mut out = cells.iter().filter_map(|cell| Some((missed(cell)?, cell)));
    if let Some((option, first)) = out.next() {
        let more = out.count();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        return Err(OtherCells::LeftOut { option, cells: first.label() + &more });
    }
    // What a value means nothing to (the cache, to a seek) is no cell of that value.
    let cares = |cell: &&Job, values: &[Value]| values.iter().any(|value| !has(cell, value));
    for (option, values) in all.iter().flatten() {
        let caring: Vec<&Job> =
            cells.iter().chain(skipped).filter(|cell| cares(cell, values)).collect();
        let known = |value: &Value| caring.is_empty() || caring.iter().any(|cell| has(cell, value));
        if let Some(value) = values.iter().find(|value| !known(value)) {
            return Err(OtherCells::Added { option, value: value.text.clone() });
        }
    }
    Ok(())
}

fn values<T: Clone + 'static>(
    of: impl IntoIterator<Item = T>,
    text: impl Fn(&T) -> String,
    put: fn(&mut Job, T),
) -> Vec<Value> {
    let value =
        |value: T| Value { text: text(&value), put: Box::new(move |job| put(job, value.clone())) };
    of.into_iter().map(value).collect()
}

/// The backends and peers that were named, as the registries know them.
fn ways(backends: &Backends, infos: &[&'static Info]) -> Vec<Choice> {
    let known = |choice: Choice| match infos.iter().find(|info| info.id == choice.id) {
        Some(info) => choice.known(info),
        None => choice,
    };
    backends.choices(infos).into_iter().map(known).collect()
}

/// The value of an option that takes one.
fn one<T: Copy + ToString + 'static>(value: Option<T>, put: fn(&mut Job, T)) -> Option<Vec<Value>> {
    value.map(|value| values([value], T::to_string, put))
}

/// The values of an option that takes a list.
fn list<T: Clone + ToString + 'static>(
    of: &Option<Vec<T>>,
    put: fn(&mut Job, T),
) -> Option<Vec<Value>> {
    of.clone().map(|list| values(list, T::to_string, put))
}

/// The values of an option that takes a range.
fn range(
    range: &Option<Range>,
    text: fn(&u64) -> String,
    put: fn(&mut Job, u64),
) -> Option<Vec<Value>> {
    range.as_ref().map(|range| values(range.values.clone(), text, put))
}

fn said(settings: &Settings, infos: &[&'static Info]) -> Vec<Said> {
    // Named one by one, so that a new setting is not forgotten here.
    let Settings {
        backend,
        block_size,
        count,
        op,
        pattern,
        threads,
        depth,
        cache,
        direct,
        xor,
        size,
        // What it is depends on the memory of then.
        memory_share: _,
        sync,
        mix,
        cpu_cache,
        writes,
        trials: _,
        budget: _,
        trial_time: _,
        seed: _,
        ceilings: _,
        rated: _,
        cold: _,
        // No part of a job.
        probe: _,
        sets: _,
        remote: _,
    } = settings;
    let backends = backend.as_ref().map(|backends| ways(backends, infos));
    let bytes: fn(&u64) -> String = |bytes| short_bytes(*bytes);
    let number: fn(&u64) -> String = u64::to_string;
    let said = [
        ("backend", list(&backends, |job, backend| job.backend = backend)),
        ("block-size", range(block_size, bytes, |job, block| job.block = block)),
        ("count", range(count, number, |job, count| job.count = Some(count))),
        ("op", one(*op, |job, op| job.op = op)),
        ("pattern", one(*pattern, |job, pattern| job.pattern = pattern)),
        ("threads", range(threads, number, |job, threads| job.threads = threads as u32)),
        ("depth", range(depth, number, |job, depth| job.depth = depth as u32)),
        ("cache", list(cache, |job, cache| job.cache = cache)),
        ("direct", one(*direct, |job, direct| job.direct = direct)),
        ("xor", one(*xor, |job, xor| job.xor = xor)),
        ("size", range(size, bytes, |job, span| job.span = span)),
        ("sync", one(*sync, |job, sync| job.sync = sync)),
        ("mix", range(mix, number, |job, mix| job.mix = Some(mix as u8))),
        ("cpu-cache", list(cpu_cache, |job, cache| job.cpu_cache = cache)),
        ("writes", list(writes, |job, writes| job.writes = writes)),
    ];
    said.into_iter().filter_map(|(name, values)| Some((name, values?))).collect()
}

#[cfg(test)]
mod tests;
