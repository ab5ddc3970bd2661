//! Predicts the time of an operation from cells that differ only in block size, so that a
//! calibration need not start at one operation.

use super::cells::Cell;
use crate::plan::Job;

/// Returns the expected time per operation of `job`, nanoseconds: between two calibrated block
/// sizes by a power law, beside one at most what it allows. A smaller block takes no longer than a
/// larger one, and a larger one no longer than as many smaller ones as it holds. `None` without
/// such a cell.
pub(super) fn nanos_per_operation<'a>(
    job: &Job,
    cells: impl Iterator<Item = &'a Cell>,
) -> Option<f64> {
    let (mut below, mut above) = (None::<(u64, f64)>, None::<(u64, f64)>);
    let mut other = job.clone();
    for cell in cells {
        let Some(nanos) = measured_nanos(cell) else { continue };
        let block = cell.job.block;
        other.block = block;
        if other != cell.job {
            continue;
        }
        if block < job.block && below.is_none_or(|(known, _)| known < block) {
            below = Some((block, nanos));
        } else if block > job.block && above.is_none_or(|(known, _)| known > block) {
            above = Some((block, nanos));
        }
    }
    let block = job.block as f64;
    match (below, above) {
        (Some((low, at_low)), Some((high, at_high))) => {
            let part = (block / low as f64).ln() / (high as f64 / low as f64).ln();
            Some(at_low * (at_high / at_low).powf(part))
        }
        (Some((low, nanos)), None) => Some(nanos * block / low as f64),
        (None, Some((_, nanos))) => Some(nanos),
        (None, None) => None,
    }
}

/// Returns the time per operation of all lanes together, by the calibration.
fn measured_nanos(cell: &Cell) -> Option<f64> {
    let amount = cell.amount?;
    let operations = amount.count as f64 * amount.passes as f64 * amount.parts as f64;
    Some(amount.nanos as f64 / operations).filter(|nanos| nanos.is_finite() && *nanos > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;
    use crate::engine::cells::Amount;
    use crate::plan::{Cache, Plan, TargetSpec};

    /// Cells of these block sizes, each with its nanoseconds per operation.
    fn calibrated(known: &[(u64, f64)]) -> Vec<Cell> {
        let jobs: Vec<Job> =
            known.iter().map(|(block, _)| Job { block: *block, ..testing::job() }).collect();
        let target = TargetSpec::File { path: "/".into(), size: 0 };
        let plan = Plan { cells: jobs, ..Plan::plain("sweep", target) };
        let mut cells: Vec<Cell> =
            Cell::from_plan(&plan).into_iter().map(|cell| cell.unwrap()).collect();
        for (cell, (_, nanos)) in cells.iter_mut().zip(known) {
            let nanos = (nanos * 100.0 * 3.0 * 2.0) as u64;
            let amount = Amount { passes: 3, parts: 2, nanos, ..Amount::once(100) };
            cell.amount = Some(amount);
        }
        cells
    }

    fn expect(block: u64, known: &[(u64, f64)]) -> Option<f64> {
        nanos_per_operation(&Job { block, ..testing::job() }, calibrated(known).iter())
    }

    #[test]
    fn the_nearest_block_sizes_on_both_sides_count() {
        assert_eq!(expect(4096, &[]), None);
        assert_eq!(expect(4096, &[(512, 100.0)]), Some(800.0));
        assert_eq!(expect(4096, &[(65_536, 900.0)]), Some(900.0));
        let known = [(512, 50.0), (1024, 100.0), (16_384, 400.0), (65_536, 9000.0)];
        let between = expect(4096, &known).unwrap();
        assert!((between - 200.0).abs() < 1e-6, "{between}");
    }

    #[test]
    fn other_kinds_of_jobs_and_the_cell_itself_do_not_count() {
        let known = calibrated(&[(4096, 100.0), (512, 100.0)]);
        let cold = Job { cache: Cache::Cold, ..testing::job() };
        assert_eq!(nanos_per_operation(&Job { block: 4096, ..cold }, known.iter()), None);
        let itself = calibrated(&[(4096, 100.0)]);
        let job = Job { block: 4096, ..testing::job() };
        assert_eq!(nanos_per_operation(&job, itself.iter()), None);
        let mut unknown = calibrated(&[(512, 100.0)]);
        unknown[0].amount = None;
        assert_eq!(nanos_per_operation(&job, unknown.iter()), None);
    }
}
