//! The options that give jobs their values.

use std::collections::BTreeMap;

use super::{Backends, Choice, Info, Job, Range, Settings};

/// An option that gives jobs their values on an axis.
pub struct JobOption {
    pub name: &'static str,
    /// Its turn in a sweep, from the option that varies slowest; `None` if sweeps do not cross it.
    pub turn: Option<u8>,
    /// The value of jobs in a sweep that does not set it; `None` if there is no such constant.
    pub usual: Option<&'static str>,
    pub(super) values: fn(&Settings, &[&'static Info]) -> Option<Vec<JobValue>>,
    pub(super) text: fn(&Job) -> Option<String>,
}

impl JobOption {
    /// Returns the values that settings give it; `None` if they give it none.
    pub fn values(&self, of: &Settings, infos: &[&'static Info]) -> Option<Vec<JobValue>> {
        (self.values)(of, infos)
    }

    /// Returns the text of each setting that is part of cells.
    pub fn texts(of: &Settings) -> BTreeMap<String, String> {
        let text = |option: &JobOption| Some((option.name.to_string(), of.text(option.name)?));
        JobOption::all().filter_map(text).collect()
    }

    /// Returns the value that a job has, as it is given.
    pub fn text(&self, job: &Job) -> Option<String> {
        (self.text)(job)
    }
}

/// One value of an option.
pub struct JobValue(Box<dyn Fn(&mut Job)>);

impl JobValue {
    /// Returns the job with this value.
    pub fn put_in(&self, job: &Job) -> Job {
        let mut with = job.clone();
        (self.0)(&mut with);
        with
    }
}

/// Returns the targets of a plan as values.
pub fn target_values(count: u8) -> Vec<JobValue> {
    values(0..count, |job, target| job.target = Some(target))
}

fn values<T: Clone + 'static>(
    of: impl IntoIterator<Item = T>,
    put: fn(&mut Job, T),
) -> Vec<JobValue> {
    let value = |value: T| JobValue(Box::new(move |job| put(job, value.clone())));
    of.into_iter().map(value).collect()
}

/// Returns the value of an option that takes one.
pub(super) fn one<T: Copy + 'static>(
    of: &Option<T>,
    put: fn(&mut Job, T),
) -> Option<Vec<JobValue>> {
    of.map(|value| values([value], put))
}

/// Returns the values of an option that takes a list.
pub(super) fn list<T: Clone + 'static>(
    of: &Option<Vec<T>>,
    put: fn(&mut Job, T),
) -> Option<Vec<JobValue>> {
    of.clone().map(|list| values(list, put))
}

/// Returns the values of an option that takes a range.
pub(super) fn range(of: &Option<Range>, put: fn(&mut Job, u64)) -> Option<Vec<JobValue>> {
    of.as_ref().map(|range| values(range.values.clone(), put))
}

/// Returns the named backends and peers, as the registries define them.
pub(super) fn backends(of: &Settings, infos: &[&'static Info]) -> Option<Vec<JobValue>> {
    let resolve = |choice: Choice| match infos.iter().find(|info| info.id == choice.id) {
        Some(info) => choice.normalize(info),
        None => choice,
    };
    let choices = of.backend.as_ref().map(|of: &Backends| of.choices(infos));
    let choices = choices.map(|all| all.into_iter().map(resolve).collect());
    list(&choices, |job, backend| job.backend = backend)
}

/// Builds the option of a field, by the kind of its values.
macro_rules! option {
    ($name:literal, $turn:literal, $usual:expr, $kind:ident $from:ident => $field:ident) => {
        option!($name, $turn, $usual, $kind $from => $field,
            |job: &Job| Some(job.$field.to_string()), |value| value)
    };
    ($name:literal, $turn:literal, $usual:expr, range $from:ident => $field:ident as $type:ty) => {
        option!($name, $turn, $usual, range $from => $field,
            |job: &Job| Some(job.$field.to_string()), |value| value as $type)
    };
    ($name:literal, $turn:literal, bytes $from:ident => $field:ident) => {
        option!($name, $turn, None, range $from => $field,
            |job: &Job| Some(units::short_bytes(job.$field)), |value| value)
    };
    ($name:literal, $turn:literal, some $from:ident => $field:ident as $type:ty) => {
        option!($name, $turn, None, range $from => $field,
            |job: &Job| job.$field.map(|value| value.to_string()), |value| Some(value as $type))
    };
    (
        $name:literal, $turn:literal, $usual:expr, $kind:ident $from:ident => $field:ident,
        $text:expr, |$value:ident| $put:expr
    ) => {
        JobOption {
            name: $name,
            turn: Some($turn),
            usual: $usual,
            values: |of, _| crate::plan::job_option::$kind(&of.$from, |job, $value| job.$field = $put),
            text: $text,
        }
    };
}

pub(super) use option;
