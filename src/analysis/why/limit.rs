//! What limits a cell: one line each, from its own figures, its curve and the ceilings.

use std::collections::HashMap;

use serde::Serialize;

use super::{Bounds, from_device, from_memory};
use crate::analysis::CellResult;
use crate::engine::{moves_data, only_loops};
use crate::plan::{Cache, Job, Op, Pattern};
use crate::record::Trial;
use crate::stats::Cost;
use crate::units::{show_bytes, show_nanos, show_rate, show_share, three_digits};

/// The resource that limits a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Entering and leaving the kernel, and its work for every operation whatever its size.
    SystemCall,
    CopyBandwidth,
    MemoryBandwidth,
    /// The data stays in the CPU caches, which are faster than memory.
    CpuCache,
    /// Something else that keeps the CPU busy: page faults, the XOR, file system code.
    OneCpu,
    Device,
    /// The device would reach more with more operations in flight.
    DeviceQueue,
    Link,
    /// A rate limit, such as a control group's.
    RateLimit,
}

impl Limit {
    pub fn name(self) -> &'static str {
        match self {
            Limit::SystemCall => "system-call cost",
            Limit::CopyBandwidth => "copy bandwidth",
            Limit::MemoryBandwidth => "memory bandwidth",
            Limit::CpuCache => "CPU caches",
            Limit::OneCpu => "CPU",
            Limit::Device => "device",
            Limit::DeviceQueue => "device queue",
            Limit::Link => "link",
            Limit::RateLimit => "rate limit",
        }
    }
}

/// What limits a cell, with the figures that show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitCause {
    pub by: Limit,
    /// `system-call cost: 310 ns of 356 ns are the same for every size`.
    pub text: String,
}

impl LimitCause {
    fn new(by: Limit, why: String) -> Option<LimitCause> {
        Some(LimitCause { by, text: format!("{}: {why}", by.name()) })
    }
}

/// From this share on, a rate is at a ceiling.
const MIN_CEILING_SHARE: f64 = 0.85;
/// From this share of the highest rate of any cell on, the device is at its best.
const BEST: f64 = 0.85;
/// From this share of the time on, a CPU is busy.
const BUSY: f64 = 0.85;
/// From this share on, a part of an operation is decisive.
const MIN_DECISIVE_SHARE: f64 = 0.5;
/// From this share of a bare copy's rate on, the copy is decisive: the kernel also finds and locks
/// each page.
const COPYING: f64 = 0.55;

/// From this share of a ceiling on, a cell was not limited by it: no loop over memory is that much
/// faster than another.
const MAX_CEILING_SHARE: f64 = 1.15;

/// The highest rates of the device in this session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Device {
    reads: Peak,
    writes: Peak,
    /// Bytes per second at which several block sizes are capped, reads and writes.
    held: [Option<f64>; 2],
    /// Cells whose data came from the device or went to it, reads and writes.
    cells: [usize; 2],
    /// What the same jobs reach with the data in memory, bytes per second.
    memory: HashMap<Job, f64>,
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
struct Peak {
    rate: f64,
    low: f64,
}

/// Returns the job, regardless of the state of the page cache.
fn in_any_state(job: &Job) -> Job {
    Job { cache: Cache::AsIs, ..job.clone() }
}

/// Under a rate limit, this many block sizes agree within this spread.
const MIN_HELD_SIZES: usize = 3;
const MAX_HELD_SPREAD: f64 = 0.015;
/// A throttled operation waits many times as long as an unthrottled one.
const MIN_THROTTLED_RATIO: f64 = 10.0;

impl Device {
    pub fn from_results(results: &[&CellResult]) -> Device {
        let cells = |op: Op| {
            results.iter().copied().filter(move |r| {
                r.cell.op == op
                    && moves_data(&r.cell)
                    && from_device(r.source)
                    && r.wrong().is_none()
            })
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
            .filter(|r| moves_data(&r.cell) && from_memory(r.source) && r.wrong().is_none());
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

    fn peak(&self, op: Op) -> Peak {
        if op == Op::Write { self.writes } else { self.reads }
    }

    /// Returns whether more than one cell used it.
    fn has_others(&self, op: Op) -> bool {
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
        group.iter().map(|(block, _)| block).collect::<std::collections::BTreeSet<_>>().len()
            == MIN_HELD_SIZES
    });
    groups.next().map(|group| group[MIN_HELD_SIZES / 2].1)
}

fn throughput(result: &CellResult) -> Option<f64> {
    result.throughput.map(|of| of.summary.median).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Determines what limits this cell; `None` if the figures do not show it.
pub fn limit(
    result: &CellResult,
    cost: Option<&Cost>,
    device: &Device,
    bounds: &Bounds,
) -> Option<LimitCause> {
    if only_loops(&result.cell)
        || result.trials.is_empty()
        || result.error.is_some()
        || result.wrong().is_some()
    {
        return None;
    }
    let cell = Cell::from_result(result)?;
    if !moves_data(&result.cell) {
        cell.of_calls(bounds)
    } else if from_device(result.source) {
        cell.of_device(device, bounds)
    } else if from_memory(result.source) {
        cell.of_memory(cost, bounds)
    } else {
        None
    }
}

/// One cell's figures per operation.
struct Cell<'a> {
    result: &'a CellResult,
    /// Wall time of one operation of one thread, nanoseconds.
    nanos: f64,
    /// System calls per operation; NaN if unknown, which is neither few nor many.
    calls: f64,
    /// Share of the workers' time on a CPU, excluding the time in which they were ready but others
    /// were running.
    busy: f64,
}

impl<'a> Cell<'a> {
    fn from_result(result: &'a CellResult) -> Option<Cell<'a>> {
        let threads = f64::from(result.cell.all_threads());
        let operations = result
            .operations
            .map(|of| of.summary.median)
            .filter(|rate| rate.is_finite() && *rate > 0.0)?;
        let counted: Vec<&Trial> =
            result.counted_trials().into_iter().map(|index| &*result.trials[index]).collect();
        let sum = |of: fn(&Trial) -> u64| counted.iter().map(|trial| of(trial) as f64).sum::<f64>();
        let unknown = result.syscalls.is_none();
        fn share(part: f64, whole: f64) -> f64 {
            if whole > 0.0 { part / whole } else { 0.0 }
        }
        Some(Cell {
            result,
            nanos: 1e9 * threads / operations,
            calls: if unknown {
                f64::NAN
            } else {
                share(sum(|t| t.syscalls.get().unwrap_or(0)), sum(|t| t.ops))
            },
            busy: share(
                sum(|t| t.user_nanos) + sum(|t| t.system_nanos),
                sum(|t| t.nanos) * threads - sum(|t| t.evidence.queued_nanos.get().unwrap_or(0)),
            ),
        })
    }

    /// Returns the limit of a call that moves no bytes.
    fn of_calls(&self, bounds: &Bounds) -> Option<LimitCause> {
        let bare = bounds
            .ceilings
            .syscall_nanos
            .map(|bare| format!("; the cheapest takes {}", show_nanos(bare)))
            .unwrap_or_default();
        LimitCause::new(Limit::SystemCall, format!("{} each{bare}", show_nanos(self.nanos)))
    }

    fn of_memory(&self, cost: Option<&Cost>, bounds: &Bounds) -> Option<LimitCause> {
        let rate = throughput(self.result)?;
        let (ceilings, job) = (&bounds.ceilings, &self.result.cell.of_all_ranks());
        let held = |by: Limit, most: f64, whose: &str, verb: &str| {
            let (given, memory) = (show_rate(rate), show_rate(most));
            if rate > MAX_CEILING_SHARE * most && bounds.fits_caches(job) {
                let why = format!(
                    "{given}, because {} fit in them; {whose} can {verb} {memory} beyond them",
                    show_bytes(job.span)
                );
                return LimitCause::new(Limit::CpuCache, why);
            }
            // A bare loop may have been disturbed when it was measured.
            let word = if rate > most { "above the" } else { "of the" };
            LimitCause::new(by, format!("{given} {word} {memory} that {whose} can {verb} here"))
        };
        let read = ceilings.read_rate(job.threads).filter(|most| rate >= MIN_CEILING_SHARE * most);
        if let Some(most) = read.filter(|_| job.threads > 1) {
            return held(Limit::MemoryBandwidth, most, "all threads", "read");
        }
        let fixed = self.fixed(cost, bounds);
        if fixed >= MIN_DECISIVE_SHARE * self.nanos && self.calls >= 0.5 {
            let (fixed, all) = (show_nanos(fixed.min(self.nanos)), show_nanos(self.nanos));
            return LimitCause::new(
                Limit::SystemCall,
                format!("{fixed} of {all} are the same for every block size"),
            );
        }
        if self.calls < 0.01 {
            if let Some(most) = read {
                return held(Limit::MemoryBandwidth, most, &show_threads(job.threads), "read");
            }
        } else if let Some(most) =
            ceilings.copy_rate(job.threads).filter(|most| rate >= COPYING * most)
        {
            return held(Limit::CopyBandwidth, most, &show_threads(job.threads), "copy");
        }
        let faults = self.faults();
        let also = if faults > 0.0 {
            format!(", {} page faults per MiB", three_digits(faults))
        } else {
            String::new()
        };
        (self.busy >= BUSY).then(|| {
            LimitCause::new(
                Limit::OneCpu,
                format!("busy for {} of the time{also}", show_share(self.busy.min(1.0))),
            )
        })?
    }

    /// Returns the part of an operation that does not depend on its size: from its curve if it can
    /// be determined there, at least its system calls. A bare call that took longer than the whole
    /// operation was measured while the machine was slower: it is ignored.
    fn fixed(&self, cost: Option<&Cost>, bounds: &Bounds) -> f64 {
        let calls = bounds.ceilings.syscall_nanos.unwrap_or(0.0) * self.calls;
        let calls = if calls <= self.nanos { calls } else { 0.0 };
        cost.map_or(calls, |cost| cost.fixed_share(self.result.cell.block as f64) * self.nanos)
            .max(calls)
    }

    /// Returns the page faults per MiB of data.
    fn faults(&self) -> f64 {
        let sum = |of: fn(&Trial) -> u64| {
            self.result.trials.iter().map(|trial| of(trial) as f64).sum::<f64>()
        };
        let bytes = sum(|t| t.bytes);
        if bytes > 0.0 {
            (sum(|t| t.minor_faults) + sum(|t| t.major_faults)) * 1_048_576.0 / bytes
        } else {
            0.0
        }
    }

    fn of_device(&self, device: &Device, bounds: &Bounds) -> Option<LimitCause> {
        let rate = throughput(self.result)?;
        self.of_a_known_rate(rate, device, bounds)
            .or_else(|| self.of_the_cpu(rate, device))
            .or_else(|| self.of_the_device(rate, device))
    }

    /// Returns a known rate that caps it: a rate limit, the link, or the disk's rated speed.
    fn of_a_known_rate(&self, rate: f64, device: &Device, bounds: &Bounds) -> Option<LimitCause> {
        let job = &self.result.cell;
        let of = |most: f64| format!("{} of the {}", show_rate(rate), show_rate(most));
        if let Some(held) = device.held[usize::from(job.op == Op::Write)]
            .filter(|held| (rate / held - 1.0).abs() <= MAX_HELD_SPREAD)
        {
            return LimitCause::new(
                Limit::RateLimit,
                format!(
                    "several block sizes stop at the same {}, and single operations are held back",
                    show_rate(held)
                ),
            );
        }
        if let Some(granted) =
            bounds.granted_to(job).filter(|granted| rate >= MIN_CEILING_SHARE * granted)
        {
            return LimitCause::new(
                Limit::RateLimit,
                format!("{} that the control group allows (io.max)", of(granted)),
            );
        }
        if let Some(link) = bounds.link.filter(|link| rate >= MIN_CEILING_SHARE * link) {
            return LimitCause::new(
                Limit::Link,
                format!("{} that the link to the disk carries", of(link)),
            );
        }
        if let Some(rated) = bounds.rated.filter(|rated| rate >= MIN_CEILING_SHARE * rated) {
            return LimitCause::new(
                Limit::Device,
                format!("{} of the rated {}", show_rate(rate), show_rate(rated)),
            );
        }
        None
    }

    /// Returns whether it is near the device's highest rate, if there are other cells to compare
    /// with.
    fn is_best(&self, rate: f64, device: &Device) -> bool {
        let op = self.result.cell.op;
        let most = self.result.throughput.and_then(|of| of.summary.high).unwrap_or(rate);
        most >= BEST * device.peak(op).low && device.has_others(op)
    }

    /// Returns the CPU as the limit if it is too busy to use the device fully.
    fn of_the_cpu(&self, rate: f64, device: &Device) -> Option<LimitCause> {
        if self.busy >= BUSY {
            return LimitCause::new(
                Limit::OneCpu,
                format!(
                    "busy for {} of the time; more threads may be faster",
                    show_share(self.busy.min(1.0))
                ),
            );
        }
        let memory = device.memory.get(&in_any_state(&self.result.cell));
        if let Some(memory) = memory.filter(|memory| rate >= MIN_CEILING_SHARE * **memory) {
            let why = format!(
                "{} from the device, {} from memory: it does not wait for the device",
                show_rate(rate),
                show_rate(*memory)
            );
            return LimitCause::new(Limit::OneCpu, why);
        }
        if self.busy >= MIN_DECISIVE_SHARE && !self.is_best(rate, device) {
            let why = format!(
                "busy for {} of the time, longer than it waited for the device",
                show_share(self.busy)
            );
            return LimitCause::new(Limit::OneCpu, why);
        }
        None
    }

    /// Returns the device itself as the limit, or too few operations in flight.
    fn of_the_device(&self, rate: f64, device: &Device) -> Option<LimitCause> {
        let job = &self.result.cell;
        let peak = device.peak(job.op).rate;
        let best = self.is_best(rate, device);
        if best && rate >= BEST * peak {
            let why = if rate < peak {
                format!(
                    "{}, near the device's highest rate in this run, {}",
                    show_rate(rate),
                    show_rate(peak)
                )
            } else {
                format!("{}, the device's highest rate in this run", show_rate(rate))
            };
            return LimitCause::new(Limit::Device, why);
        }
        if best {
            let why = format!(
                "{}; these trials cannot distinguish it from {}, the device's highest rate in this run",
                show_rate(rate),
                show_rate(peak)
            );
            return LimitCause::new(Limit::Device, why);
        }
        if !device.has_others(job.op) {
            let why = format!(
                "{}, and the CPU was busy for only {} of the time",
                show_rate(rate),
                show_share(self.busy)
            );
            return LimitCause::new(Limit::Device, why);
        }
        // Readahead requests the next blocks early: an operation is not a request to the device.
        if !job.direct && job.pattern == Pattern::Seq && job.op == Op::Read {
            let waited = show_share((1.0 - self.busy).max(0.0));
            let why = format!(
                "{}, and the program waited for {waited} of the time; another cell reached {}",
                show_rate(rate),
                show_rate(peak)
            );
            return LimitCause::new(Limit::Device, why);
        }
        let (asked, each) = (
            job.depth.max(1).saturating_mul(job.all_threads()),
            show_nanos(self.nanos * f64::from(job.depth.max(1))),
        );
        let at_once = if asked == 1 {
            "one operation at a time".into()
        } else {
            format!("{asked} operations at once")
        };
        LimitCause::new(
            Limit::DeviceQueue,
            format!("{at_once}, {each} each; another cell reached {}", show_rate(peak)),
        )
    }
}

fn show_threads(threads: u32) -> String {
    if threads > 1 { format!("{threads} threads") } else { "one thread".into() }
}
