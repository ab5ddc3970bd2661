//! Checks whether options describe given cells: a run that is compared with a baseline may repeat
//! the options of the baseline's cells, but not change them.

use super::sweep::sensible;
use super::{experiment, usual};
use crate::plan::{Backends, Choice, Info, Job, Layout, Preset, Range, Settings};
use crate::units::short_bytes;

/// How options differ from the cells that they should describe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OtherCells {
    #[error("--{option} excludes cells of the baseline: {cells}")]
    LeftOut { option: &'static str, cells: String },
    #[error("the baseline has no cell with --{option} {value}")]
    Added { option: &'static str, value: String },
}

/// One value of an option, and a function that sets it in a job.
pub(super) struct Value {
    text: String,
    put: Box<dyn Fn(&mut Job)>,
}

impl Value {
    /// Returns the job with this value.
    pub fn put_in(&self, job: &Job) -> Job {
        let mut with = job.clone();
        (self.put)(&mut with);
        with
    }
}

/// An option of the user, with its values.
pub(super) type OptionValues = (&'static str, Vec<Value>);

/// Checks whether `settings` and `presets` describe every cell, and whether each given value occurs
/// in some cell. Options that are not given are not compared; seed, trials, trial time and budget
/// are not part of a cell. `skipped` are cells of the same options that were unavailable.
pub fn describes(
    settings: &Settings,
    presets: &[Preset],
    infos: &[&'static Info],
    cells: &[Job],
    skipped: &[Job],
) -> Result<(), OtherCells> {
    // A preset defines all its axes, including those at their defaults.
    let complete = |part: &Settings| usual(&settings.clone().or(part), infos);
    let described = |preset: &Preset| match experiment(&preset.experiment) {
        // Its cells are determined again in every run.
        Ok(experiment) if experiment.picks => vec![option_values(settings, infos)],
        _ => preset.parts().iter().map(|part| option_values(&complete(part), infos)).collect(),
    };
    let all: Vec<Vec<OptionValues>> = match presets {
        [] => vec![option_values(settings, infos)],
        _ => presets.iter().flat_map(described).collect(),
    };
    let has = |cell: &Job, value: &Value| has(cell, value, infos);
    // Finds the option that excludes the cell from the description that is nearest to it.
    let excluding_option = |cell: &Job| {
        let mismatches = |options: &Vec<OptionValues>| -> Vec<&'static str> {
            let lacks = |values: &[Value]| !values.iter().any(|value| has(cell, value));
            options.iter().filter(|(_, values)| lacks(values)).map(|(name, _)| *name).collect()
        };
        all.iter().map(mismatches).min_by_key(Vec::len)?.first().copied()
    };
    let mut excluded = cells.iter().filter_map(|cell| Some((excluding_option(cell)?, cell)));
    if let Some((option, first)) = excluded.next() {
        let more = excluded.count();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        return Err(OtherCells::LeftOut { option, cells: first.label() + &more });
    }
    // A cell on which the option has no effect (such as the cache, on a seek) does not count as
    // having one of several values.
    for (option, values) in all.iter().flatten() {
        let counts =
            |cell: &&Job| values.len() == 1 || values.iter().any(|value| !has(cell, value));
        let affected: Vec<&Job> = cells.iter().chain(skipped).filter(counts).collect();
        if affected.is_empty() {
            continue;
        }
        let unused = values.iter().find(|value| !affected.iter().any(|cell| has(cell, value)));
        if let Some(value) = unused {
            return Err(OtherCells::Added { option, value: value.text.clone() });
        }
    }
    Ok(())
}

/// Returns the first option of `settings` whose values exclude the cell; `None` if it has one of
/// the values of each.
pub fn excluding_option(
    settings: &Settings,
    infos: &[&'static Info],
    cell: &Job,
) -> Option<&'static str> {
    let mut options = option_values(settings, infos).into_iter();
    let is_without = |values: &[Value]| !values.iter().any(|value| has(cell, value, infos));
    options.find(|(_, values)| is_without(values)).map(|(name, _)| name)
}

/// Returns whether the cell has this value of an option.
pub(super) fn has(cell: &Job, value: &Value, infos: &[&'static Info]) -> bool {
    let with = value.put_in(cell);
    let info = infos.iter().find(|info| info.id == with.backend.id);
    info.map_or(with.clone(), |info| sensible(info.of(&with.backend), with)) == *cell
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

/// Returns the named backends and peers, as the registries define them.
fn choices(backends: &Backends, infos: &[&'static Info]) -> Vec<Choice> {
    let resolve = |choice: Choice| match infos.iter().find(|info| info.id == choice.id) {
        Some(info) => choice.normalize(info),
        None => choice,
    };
    backends.choices(infos).into_iter().map(resolve).collect()
}

/// Returns the value of an option that takes one.
fn single<T: Copy + ToString + 'static>(
    value: Option<T>,
    put: fn(&mut Job, T),
) -> Option<Vec<Value>> {
    value.map(|value| values([value], T::to_string, put))
}

/// Returns the values of an option that takes a list.
fn list<T: Clone + ToString + 'static>(
    of: &Option<Vec<T>>,
    put: fn(&mut Job, T),
) -> Option<Vec<Value>> {
    of.clone().map(|list| values(list, T::to_string, put))
}

/// Returns the values of an option that takes a range.
fn range(
    range: &Option<Range>,
    text: fn(&u64) -> String,
    put: fn(&mut Job, u64),
) -> Option<Vec<Value>> {
    range.as_ref().map(|range| values(range.values.clone(), text, put))
}

fn bytes(bytes: &u64) -> String {
    short_bytes(*bytes)
}

fn number(number: &u64) -> String {
    number.to_string()
}

/// Returns the targets of a plan as values.
pub(super) fn targets(count: u8) -> Vec<Value> {
    values(0..count, u8::to_string, |job, target| job.target = Some(target))
}

/// Sets the ranks of a cell; one of one process has none.
fn set_ranks(job: &mut Job, ranks: u64) {
    job.ranks = job.ranks.map(|_| ranks as u32);
}

/// Sets the layout of a cell of several ranks.
fn set_layout(job: &mut Job, layout: Layout) {
    if job.ranks.is_some() {
        job.layout = layout;
    }
}

/// Returns the values of each option that is part of a cell, but the share of the memory: its
/// meaning depends on the memory available at that time.
pub(super) fn option_values(of: &Settings, infos: &[&'static Info]) -> Vec<OptionValues> {
    let backends = of.backend.as_ref().map(|backends| choices(backends, infos));
    let options = [
        ("backend", list(&backends, |job, backend| job.backend = backend)),
        ("block-size", range(&of.block_size, bytes, |job, block| job.block = block)),
        ("count", range(&of.count, number, |job, count| job.count = Some(count))),
        ("op", single(of.op, |job, op| job.op = op)),
        ("pattern", single(of.pattern, |job, pattern| job.pattern = pattern)),
        ("threads", range(&of.threads, number, |job, threads| job.threads = threads as u32)),
        ("depth", range(&of.depth, number, |job, depth| job.depth = depth as u32)),
        ("cache", list(&of.cache, |job, cache| job.cache = cache)),
        ("direct", single(of.direct, |job, direct| job.direct = direct)),
        ("xor", single(of.xor, |job, xor| job.xor = xor)),
        ("size", range(&of.size, bytes, |job, span| job.span = span)),
        ("mix", range(&of.mix, number, |job, mix| job.mix = Some(mix as u8))),
        ("cpu-cache", list(&of.cpu_cache, |job, cache| job.cpu_cache = cache)),
        ("ranks", range(&of.ranks, number, set_ranks)),
        ("layout", single(of.layout, set_layout)),
        ("sync", list(&of.sync, |job, sync| job.sync = sync)),
        ("sync-every", range(&of.sync_every, number, |job, every| job.sync_every = every as u32)),
        ("writes", list(&of.writes, |job, writes| job.writes = writes)),
        ("file-per", list(&of.file_per, |job, file_per| job.file_per = file_per)),
    ];
    options.into_iter().filter_map(|(name, of)| Some((name, of?))).collect()
}

#[cfg(test)]
mod tests;
