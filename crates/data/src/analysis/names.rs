//! Names of cells and of their curves: for sentences, charts and legends. A name has the
//! settings that distinguish a cell from the others, and every setting that is not the default.

use crate::catalog::moves_data;
use crate::plan::{Axis, Job};
use crate::text::unique;
use crate::units;

/// The names of cells among others.
pub struct CellNames {
    /// The axes in which the cells differ.
    differing: Vec<Axis>,
}

impl CellNames {
    pub fn from_jobs<'a>(jobs: impl Iterator<Item = &'a Job> + Clone) -> CellNames {
        let differs = |axis: &Axis| axis.differs(jobs.clone());
        CellNames { differing: Axis::ALL.into_iter().filter(differs).collect() }
    }

    /// Returns the name of a cell: `mmap at 2 MiB, warm, 4 threads`.
    pub fn full(&self, job: &Job) -> String {
        let mut text = job.way();
        if self.differ(Axis::Block) || moves_data(job) {
            text += &format!(" at {}", Axis::Block.value(job));
        }
        for phrase in self.phrases(job, &[Axis::Backend, Axis::Block]) {
            text += &format!(", {phrase}");
        }
        text
    }

    /// Returns what distinguishes a cell from the others: `pwrite append fdatasync`.
    pub fn own(&self, job: &Job) -> String {
        let others = self.differing.iter().filter(|axis| **axis != Axis::Backend);
        let phrases = others.filter_map(|axis| axis.phrase(job));
        std::iter::once(job.way()).chain(phrases).collect::<Vec<_>>().join(" ")
    }

    /// Returns the name of a curve along an axis in a legend: `read warm`. A `whole` name also
    /// has the settings that all curves share.
    pub fn series(&self, job: &Job, along: Axis, whole: bool) -> String {
        let mut words = vec![job.way()];
        for axis in Axis::ALL.into_iter().filter(|axis| ![Axis::Backend, along].contains(axis)) {
            if whole || self.differ(axis) {
                words.extend(axis.phrase_among(job, self.differ(axis)));
            }
        }
        words.join(" ")
    }

    /// Returns the settings that all curves share, which their names leave out: `warm random`.
    pub fn shared(&self, job: &Job, along: Axis) -> String {
        let but = |axis: &Axis| *axis == Axis::Backend || *axis == along || self.differ(*axis);
        let axes: Vec<Axis> = Axis::ALL.into_iter().filter(|axis| !but(axis)).collect();
        job.describe(&axes)
    }

    /// Returns the name of a curve in a sentence, without its cache state and its place on the
    /// axis: `read`, or `read (4 threads)`.
    pub fn curve(&self, job: &Job, axis: Axis) -> String {
        let mut but = vec![Axis::Backend, Axis::Cache, axis];
        if !self.differ(Axis::Block) {
            but.push(Axis::Block);
        }
        in_brackets(job.way(), &self.phrases(job, &but))
    }

    /// Names a curve over the block size, with its cache state: `read cold (CPU caches flushed)`.
    pub fn curve_of_blocks(&self, job: &Job) -> String {
        let name = job.describe(&[Axis::Backend, Axis::Cache]);
        in_brackets(name, &self.phrases(job, &[Axis::Backend, Axis::Block, Axis::Cache]))
    }

    /// Names several cells by their settings: ` with read and mmap, warm, whatever the block size`;
    /// `None` where they are not all combinations of these settings. A setting goes without values
    /// where `others` have no further ones.
    pub fn combined<'a>(
        &self,
        cells: &[&Job],
        others: impl Iterator<Item = &'a Job> + Clone,
    ) -> Option<String> {
        let (mut words, mut free, mut combinations) = (Vec::new(), Vec::new(), 1);
        let has_blocks = self.differ(Axis::Block) || cells.iter().any(|job| moves_data(job));
        for axis in Axis::ALL.into_iter().filter(|axis| has_blocks || *axis != Axis::Block) {
            let values = distinct(axis, cells.iter().copied());
            combinations *= values.len();
            if values.len() > 1 && values.len() == distinct(axis, others.clone()).len() {
                free.push(axis.title());
            } else if self.differ(axis) {
                let mut own = cells.to_vec();
                own.sort_by_key(|job| axis.value_of(job));
                let phrases = own.iter().filter_map(|job| axis.phrase_among(job, true));
                words.push(join_values(phrases));
            } else {
                words.extend(cells.first().and_then(|job| axis.phrase_among(job, false)));
            }
        }
        if combinations != cells.len() {
            return None;
        }
        words.retain(|values| !values.is_empty());
        let with = if words.is_empty() { "" } else { " with " };
        let free = match free.as_slice() {
            [] => String::new(),
            free => format!(", whatever the {}", units::join_names(free, free.len(), ", ")),
        };
        Some(format!("{with}{}{free}", words.join(", ")))
    }

    fn differ(&self, axis: Axis) -> bool {
        self.differing.contains(&axis)
    }

    /// Lists the settings that differ from the default or between cells, except for some axes.
    fn phrases(&self, job: &Job, but: &[Axis]) -> Vec<String> {
        let axes = Axis::ALL.into_iter().filter(|axis| !but.contains(axis));
        axes.filter_map(|axis| axis.phrase_among(job, self.differ(axis))).collect()
    }
}

/// Names cells of a plan, by their indexes, by what distinguishes them from the others.
pub fn name_cells(plan: &[Job], cells: &[usize]) -> Vec<String> {
    let names = CellNames::from_jobs(plan.iter());
    cells.iter().filter_map(|at| plan.get(*at)).map(|job| names.full(job)).collect()
}

/// Returns each value of an axis once.
fn distinct<'a>(axis: Axis, jobs: impl Iterator<Item = &'a Job>) -> Vec<String> {
    unique(jobs.map(|job| axis.value(job)))
}

/// Joins values of one axis, each once: `4 and 8 threads`.
fn join_values(phrases: impl Iterator<Item = String>) -> String {
    let values = unique(phrases);
    let split: Vec<Option<(&str, &str)>> = values.iter().map(|of| of.split_once(' ')).collect();
    if let Some(Some((_, unit))) = split.first()
        && split.iter().all(|of| of.is_some_and(|(_, other)| other == *unit))
    {
        let numbers: Vec<&str> = split.iter().flatten().map(|(number, _)| *number).collect();
        return format!("{} {unit}", units::join_names(&numbers, numbers.len(), ", "));
    }
    units::join_names(&values, values.len(), ", ")
}

fn in_brackets(name: String, parts: &[String]) -> String {
    if parts.is_empty() { name } else { format!("{name} ({})", parts.join(", ")) }
}
