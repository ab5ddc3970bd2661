//! The options that are part of a cell: the values that settings give each, and how a job gets one.

use std::collections::BTreeMap;

use crate::plan::{Backends, Choice, Info, Job, Layout, Range, Settings};
use crate::units::short_bytes;

/// One value of an option, and a function that sets it in a job.
pub(super) struct Value {
    pub text: String,
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

/// Returns the text of each setting that is part of cells.
pub(super) fn settings_of_cells(of: &Settings) -> BTreeMap<String, String> {
    let names = option_values(of, &[]).into_iter().map(|(name, _)| name);
    names.filter_map(|name| Some((name.to_string(), of.text(name)?))).collect()
}
