//! The counts that take the wanted time, and the file that they need.

use crate::analysis::{CellResult, TrialWork};
use crate::plan::Plan;
use crate::units::{self, short_bytes, short_time, show_bytes};

/// A slightly shorter time is within chance.
const ENOUGH: f64 = 0.9;

/// Trials that the end of the file cut short, and the size that would not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileNeeded {
    /// Cells whose pass ended first.
    pub cells: usize,
    /// Bytes that take the least wanted time in all of these.
    pub bytes: u64,
}

impl FileNeeded {
    /// Returns the option that makes such a file: `--size 4g`, in whole GiB or, below one, MiB.
    pub fn option(&self) -> String {
        let unit: u64 = if self.bytes > 1 << 30 { 1 << 30 } else { 1 << 20 };
        format!("--size {}", short_bytes(self.bytes.div_ceil(unit).saturating_mul(unit)))
    }
}

/// Returns the cells whose file ended before the trial time; `None` if it never did.
pub fn file_needed<'a>(
    plan: &Plan,
    results: impl Iterator<Item = &'a CellResult>,
) -> Option<FileNeeded> {
    let low = plan.trial_time.low.as_nanos() as f64;
    let ended = results.filter_map(|result| {
        let work = result.work()?.of_a_pass();
        let ended = work.nanos < ENOUGH * low && work.bytes >= result.cell.span as f64;
        ended.then(|| (work.bytes * low / work.nanos.max(1.0)) as u64)
    });
    let needs: Vec<u64> = ended.collect();
    Some(FileNeeded { cells: needs.len(), bytes: needs.into_iter().max()? })
}

/// Returns `16777216 reads of 1 B take 5.91 s, 64 of 128 MiB take 5.20 s (table: counts).`, and the
/// size of the file that is needed where it ends before.
pub fn describe_counts(plan: &Plan, results: &[CellResult]) -> Option<String> {
    let mut found: Vec<(&CellResult, TrialWork)> =
        results.iter().filter_map(|result| Some((result, result.work()?.of_a_pass()))).collect();
    let all = found.len();
    let needed = file_needed(plan, found.iter().map(|(result, _)| *result));
    let low = plan.trial_time.low.as_nanos() as f64;
    found.retain(|(result, work)| {
        work.nanos >= ENOUGH * low || work.bytes < result.cell.span as f64
    });
    found.sort_by_key(|(result, _)| result.cell.block);
    let show = |(result, work): &(&CellResult, TrialWork)| {
        let (block, time) = (show_bytes(result.cell.block), units::show_nanos(work.nanos));
        format!("of {block} take {time}")
    };
    let operations = |(result, work): &(&CellResult, TrialWork)| {
        units::counted(work.count as usize, result.cell.op.name())
    };
    let counts = match found.as_slice() {
        [] => None,
        [one] => Some(format!("{} {}.", operations(one), show(one))),
        [least, .., most] => Some(format!(
            "{} {}, {} {} (table: counts).",
            operations(least),
            show(least),
            most.1.count,
            show(most)
        )),
    };
    let time = short_time(plan.trial_time.low);
    let short = needed.map(|needed| {
        let whose = match (needed.cells == all, all) {
            (true, 1) => String::new(),
            (true, _) => " at every block size".into(),
            _ => format!(" at {} of {all} block sizes", needed.cells),
        };
        format!(
            "The file's {} are read in less than {time}{whose}: a file of {} would last that long \
             ({} without a file makes one).",
            show_bytes(plan.target.size()),
            show_bytes(needed.bytes),
            needed.option()
        )
    });
    let fitted = plan.fitted.then(|| {
        format!("The budget has room for trials of {time} only; a longer --budget or --trial-time gives longer ones.")
    });
    let said: Vec<String> = [counts, short, fitted].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}
