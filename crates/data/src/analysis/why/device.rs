//! The best of a device in a session: the highest rates of any cell, which others are held
//! against.

use std::collections::{BTreeSet, HashMap};

use crate::analysis::CellResult;
use crate::catalog::moves_data;
use crate::plan::{Cache, Job, Op};

/// The highest rates of the device in this session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Device {
    reads: Peak,
    writes: Peak,
    /// Bytes per second at which several block sizes are capped, reads and writes.
    pub(super) held: [Option<f64>; 2],
    /// Cells whose data came from the device or went to it, reads and writes.
    cells: [usize; 2],
    /// Rates of the same jobs with the data in memory, bytes per second.
    pub(super) memory: HashMap<Job, f64>,
}

/// The devices of a session, by target.
pub struct Devices(HashMap<Option<u8>, Device>);

impl Devices {
    pub fn from_results(results: &[CellResult]) -> Devices {
        let mut by_target: HashMap<Option<u8>, Vec<&CellResult>> = HashMap::new();
        for result in results {
            by_target.entry(result.cell.target).or_default().push(result);
        }
        let device = |(target, results): (_, Vec<_>)| (target, Device::from_results(&results));
        Devices(by_target.into_iter().map(device).collect())
    }

    /// Returns the device of a job that is among the results.
    pub fn of(&self, job: &Job) -> &Device {
        &self.0[&job.target]
    }
}

/// The highest rate of any cell from a device, bytes per second, and the low end of its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Peak {
    pub(super) rate: f64,
    pub(super) low: f64,
}

/// Returns the job, regardless of the state of the page cache.
pub(super) fn in_any_state(job: &Job) -> Job {
    Job { cache: Cache::AsIs, ..job.clone() }
}

/// Under a rate limit, this many block sizes agree within this spread.
const MIN_HELD_SIZES: usize = 3;
pub(super) const MAX_HELD_SPREAD: f64 = 0.015;
/// A throttled operation waits many times as long as an unthrottled one.
const MIN_THROTTLED_RATIO: f64 = 10.0;

impl Device {
    pub fn from_results(results: &[&CellResult]) -> Device {
        let cells = |op: Op| {
            let own = results.iter().copied().filter(move |r| r.cell.op == op);
            let own = own.filter(|r| !r.cell.is_paced() && moves_data(&r.cell));
            own.filter(|r| r.is_from_device() && r.wrong().is_none())
        };
        fn ends(r: &CellResult) -> Option<Peak> {
            r.throughput.map(|of| Peak {
                rate: of.summary.median,
                low: of.summary.low.unwrap_or(of.summary.median),
            })
        }
        let peak = |op| {
            cells(op).filter_map(ends).max_by(|a, b| a.rate.total_cmp(&b.rate)).unwrap_or_default()
        };
        let held = |op| find_held_rate(&cells(op).collect::<Vec<_>>());
        let memory = results
            .iter()
            .filter(|r| moves_data(&r.cell) && r.is_from_memory() && r.wrong().is_none());
        let memory = memory.filter_map(|r| Some((in_any_state(&r.cell), throughput(r)?))).collect();
        let ops = [Op::Read, Op::Write];
        let [reads, writes] = ops.map(peak);
        Device {
            reads,
            writes,
            held: ops.map(held),
            cells: ops.map(|op| cells(op).count()),
            memory,
        }
    }

    pub(super) fn peak(&self, op: Op) -> Peak {
        if op == Op::Write { self.writes } else { self.reads }
    }

    /// Returns whether more than one cell used it.
    pub(super) fn has_others(&self, op: Op) -> bool {
        self.cells[usize::from(op == Op::Write)] > 1
    }
}

/// Returns the rate at which three or more block sizes are capped: they agree, hardly scatter, and
/// single operations wait long while most do not. A device at its own best scatters, or makes all
/// of them wait alike.
fn find_held_rate(cells: &[&CellResult]) -> Option<f64> {
    let steady = |result: &&&CellResult| {
        let summary = result.throughput.map(|of| of.summary);
        let waits = result
            .latency
            .and_then(|l| Some(l.p99? > l.p50? * MIN_THROTTLED_RATIO))
            .unwrap_or(false);
        waits && summary.is_some_and(|s| s.stddev <= s.median * MAX_HELD_SPREAD)
    };
    let mut rates: Vec<(u64, f64)> =
        cells.iter().filter(steady).filter_map(|r| Some((r.cell.block, throughput(r)?))).collect();
    rates.sort_by(|a, b| a.1.total_cmp(&b.1));
    let groups = rates
        .windows(MIN_HELD_SIZES)
        .filter(|group| group[MIN_HELD_SIZES - 1].1 <= group[0].1 * (1.0 + MAX_HELD_SPREAD));
    let mut groups = groups.filter(|group| {
        group.iter().map(|(block, _)| block).collect::<BTreeSet<_>>().len() == MIN_HELD_SIZES
    });
    groups.next().map(|group| group[MIN_HELD_SIZES / 2].1)
}

pub(super) fn throughput(result: &CellResult) -> Option<f64> {
    result.throughput.map(|of| of.summary.median).filter(|rate| rate.is_finite() && *rate > 0.0)
}
