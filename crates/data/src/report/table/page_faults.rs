//! Cells that are compared although one maps the file for each pass and the other for many: page
//! faults account for part of their difference.

use super::grid::Style;
use crate::analysis::CellResult;
use crate::plan::{Cache, CpuCache, Job};
use crate::record::Trial;
use crate::report::notes::Note;
use crate::stats::median;
use crate::units::show_count;

/// Medians over the trials of a cell.
struct Passes {
    /// Passes after each time the file was opened and mapped.
    per_mapping: f64,
    /// Minor page faults per pass.
    faults: f64,
}

impl Passes {
    /// Counts the faults of a row; `None` if trials end within the file: then no page is visited
    /// twice.
    fn from_row(row: &CellResult) -> Option<Self> {
        let middle = |of: fn(&Trial) -> f64| {
            let whole = row.trials.iter().filter(|trial| !trial.short && trial.passes > 0);
            median(&whole.map(|trial| of(trial)).collect::<Vec<f64>>())
        };
        Some(Self {
            per_mapping: middle(|t| t.passes as f64 / t.evidence.parts.max(1) as f64)?,
            faults: middle(|t| t.minor_faults as f64 / t.passes as f64)?,
        })
    }

    fn describe(&self, job: &Job) -> String {
        let times = match self.per_mapping {
            ..=1.0 => "one pass".into(),
            passes => format!("{passes:.0} passes"),
        };
        let (cell, faults) = (job.label(), show_count(self.faults));
        format!("{cell}: {times} per mapping, {} faults per pass", faults.trim())
    }
}

/// Fewer faults cost a few microseconds: starting a program causes about as many.
const MIN_FAULTS: f64 = 100.0;

/// Returns whether the difference in faults can affect a result.
fn differ(one: &Passes, other: &Passes) -> bool {
    let (least, most) = (one.faults.min(other.faults), one.faults.max(other.faults));
    one.per_mapping != other.per_mapping && most - least >= MIN_FAULTS && most > 1.1 * least
}

/// Returns the jobs that a job is compared with: the same job with empty caches.
fn twins(job: &Job) -> Vec<Job> {
    let cold = (job.cache == Cache::Warm).then(|| Job { cache: Cache::Cold, ..job.clone() });
    let flushed = (job.cpu_cache == CpuCache::Keep)
        .then(|| Job { cpu_cache: CpuCache::Flush, ..job.clone() });
    cold.into_iter().chain(flushed).collect()
}

/// Returns the first such pair with both counts, and the number of pairs.
pub fn page_faults(rows: &[&CellResult]) -> Option<Note> {
    let pairs: Vec<String> = rows
        .iter()
        .flat_map(|row| twins(&row.cell).into_iter().map(move |twin| (row, twin)))
        .filter_map(|(row, twin)| {
            let other = rows.iter().find(|other| other.cell == twin)?;
            let (one, two) = (Passes::from_row(row)?, Passes::from_row(other)?);
            differ(&one, &two)
                .then(|| format!("{}; {}", one.describe(&row.cell), two.describe(&other.cell)))
        })
        .collect();
    let first = pairs.first()?;
    let more = match pairs.len() {
        1 => String::new(),
        count => format!(" This holds for {count} pairs."),
    };
    let body = format!("{first}. These faults are part of the difference between the two.{more}");
    Some(Note::new("page faults: ", Style::Dim, body))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::report::sample;

    /// The note on cold and warm cells with these passes, parts and faults in each trial.
    fn note(cold: [u64; 3], warm: [u64; 3]) -> String {
        let mut session = sample::session(vec![
            sample::job("mmap", 4096, Cache::Cold),
            sample::job("mmap", 4096, Cache::Warm),
        ]);
        (0..2).for_each(|cell| {
            sample::measure(
                &mut session,
                cell,
                5,
                sample::Like { nanos_per_op: 450.0, calls_per_op: 0.0, from: None },
            );
        });
        for trial in session.trials.iter_mut().map(Arc::make_mut) {
            let [passes, parts, faults] = if trial.cell == 0 { cold } else { warm };
            (trial.passes, trial.evidence.parts, trial.minor_faults) =
                (passes, parts, faults * passes);
        }
        let results = crate::analysis::results(&session);
        let note = page_faults(&results.iter().collect::<Vec<_>>());
        note.map_or_else(String::new, |note| note.mark + &note.body)
    }

    #[test]
    fn mappings_that_serve_more_passes_on_one_side_are_told_with_both_counts() {
        assert_eq!(
            note([3, 3, 1600], [40, 1, 40 * 4]),
            "page faults: mmap 4 KiB warm: 40 passes per mapping, 160 faults per pass; \
             mmap 4 KiB cold: one pass per mapping, 1.60 k faults per pass. \
             These faults are part of the difference between the two."
        );
        assert_eq!(note([3, 3, 1600], [40, 40, 160]), "", "as many mappings for as many passes");
        assert_eq!(note([3, 3, 40], [40, 1, 1]), "", "few faults");
        assert_eq!(note([0, 1, 1600], [40, 1, 160]), "", "ends within the file");
        assert_eq!(
            note([1, 0, 1600], [40, 0, 160]).len(),
            note([1, 1, 1600], [40, 1, 160]).len(),
            "an older session"
        );
    }
}
