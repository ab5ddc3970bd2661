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
    /// Entering and leaving the kernel, and what it does for every operation whatever its size.
    SystemCall,
    CopyBandwidth,
    MemoryBandwidth,
    /// The data stays in the CPUs' own caches, which give more than memory does.
    CpuCache,
    /// Something else that keeps the CPU busy: page faults, the XOR, file system code.
    OneCpu,
    Device,
    /// The device would do more with more operations in flight.
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

/// A rate is at a ceiling from this share on.
const AT: f64 = 0.85;
/// The device is at its best from this share of the highest rate of any cell.
const BEST: f64 = 0.85;
/// A CPU is busy from this share of the time on.
const BUSY: f64 = 0.85;
/// A part of an operation decides from this share on.
const MOST: f64 = 0.5;
/// A copy decides at this share of what a bare copy reaches: the kernel also finds and locks each
/// page.
const COPYING: f64 = 0.55;

/// From this share of a ceiling on a cell was not held by it, as no loop over memory is so much
/// faster than another.
const BEYOND: f64 = 1.15;

/// The highest rates of the device in this session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Device {
    reads: Peak,
    writes: Peak,
    /// Bytes per second at which several block sizes are held, reads and writes.
    held: [Option<f64>; 2],
    /// Cells that it gave to, reads and writes.
    cells: [usize; 2],
    /// What the same jobs reach with the data in memory, bytes per second.
    memory: HashMap<Job, f64>,
}

/// The most that any cell got from a device, bytes per second, and the low end of its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Peak {
    rate: f64,
    low: f64,
}

/// The job whatever state the page cache is in.
fn in_any_state(job: &Job) -> Job {
    Job { cache: Cache::AsIs, ..job.clone() }
}

/// Rates of so many block sizes agree within so much, where something holds them.
const HELD: usize = 3;
const AGREE: f64 = 0.015;
/// A throttled operation waits many times as long as one that is not.
const TURNS: f64 = 10.0;

impl Device {
    pub fn of(results: &[CellResult]) -> Device {
        let cells = |op: Op| {
            results.iter().filter(move |r| {
                r.cell.op == op
                    && moves_data(&r.cell)
                    && from_device(r.source)
                    && r.wrong().is_none()
            })
        };
        let ends = |r: &CellResult| {
            r.throughput.map(|of| Peak {
                rate: of.summary.median,
                low: of.summary.low.unwrap_or(of.summary.median),
            })
        };
        let peak = |op| {
            cells(op).filter_map(ends).max_by(|a, b| a.rate.total_cmp(&b.rate)).unwrap_or_default()
        };
        let held = |op| held(&cells(op).collect::<Vec<_>>());
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

    /// Whether it gave to more than one cell.
    fn has_others(&self, op: Op) -> bool {
        self.cells[usize::from(op == Op::Write)] > 1
    }
}

/// The rate that three block sizes or more are held at: they agree, hardly scatter, and single
/// operations wait long while most do not. A device at its own best scatters, or keeps all of them
/// waiting alike.
fn held(cells: &[&CellResult]) -> Option<f64> {
    let steady = |result: &&&CellResult| {
        let summary = result.throughput.map(|of| of.summary);
        let waits = result.latency.and_then(|l| Some(l.p99? > l.p50? * TURNS)).unwrap_or(false);
        waits && summary.is_some_and(|s| s.stddev <= s.median * AGREE)
    };
    let mut rates: Vec<(u64, f64)> =
        cells.iter().filter(steady).filter_map(|r| Some((r.cell.block, throughput(r)?))).collect();
    rates.sort_by(|a, b| a.1.total_cmp(&b.1));
    let groups =
        rates.windows(HELD).filter(|group| group[HELD - 1].1 <= group[0].1 * (1.0 + AGREE));
    let mut groups = groups.filter(|group| {
        group.iter().map(|(block, _)| block).collect::<std::collections::BTreeSet<_>>().len()
            == HELD
    });
    groups.next().map(|group| group[HELD / 2].1)
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
    let cell = Cell::of(result)?;
    match () {
        () if !moves_data(&result.cell) => cell.of_calls(bounds),
        () if from_device(result.source) => cell.of_device(device, bounds),
        () if from_memory(result.source) => cell.of_memory(cost, bounds),
        () => None,
    }
}

/// One cell's figures per operation.
struct Cell<'a> {
    result: &'a CellResult,
    /// Wall time of one operation of one thread, nanoseconds.
    nanos: f64,
    /// System calls per operation; not a number where they are not known, which is neither few nor
    /// many.
    calls: f64,
    /// Share of the workers' time on a CPU, without the time in which they were ready and others
    /// had it.
    busy: f64,
}

impl<'a> Cell<'a> {
    fn of(result: &'a CellResult) -> Option<Cell<'a>> {
        let threads = f64::from(result.cell.threads.max(1));
        let operations = result
            .operations
            .map(|of| of.summary.median)
            .filter(|rate| rate.is_finite() && *rate > 0.0)?;
        let counted: Vec<&Trial> =
            result.counted().into_iter().map(|index| &*result.trials[index]).collect();
        let sum = |of: fn(&Trial) -> u64| counted.iter().map(|trial| of(trial) as f64).sum::<f64>();
        let unknown = result.syscalls.is_none();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
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

    /// A call that moves no bytes.
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
        let (ceilings, job) = (&bounds.ceilings, &self.result.cell);
        let held = |by: Limit, most: f64, whose: &str, verb: &str| {
            let (given, memory) = (show_rate(rate), show_rate(most));
            if rate > BEYOND * most && bounds.fits_caches(job) {
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
        let read = ceilings.read_rate(job.threads).filter(|most| rate >= AT * most);
        if let Some(most) = read.filter(|_| job.threads > 1) {
            return held(Limit::MemoryBandwidth, most, "all threads", "read");
        }
        let fixed = self.fixed(cost, bounds);
        if fixed >= MOST * self.nanos && self.calls >= 0.5 {
            let (fixed, all) = (show_nanos(fixed.min(self.nanos)), show_nanos(self.nanos));
            return LimitCause::new(
                Limit::SystemCall,
                format!("{fixed} of {all} are the same for every block size"),
            );
        }
        if self.calls < 0.01 {
            if let Some(most) = read {
                return held(Limit::MemoryBandwidth, most, &by(job.threads), "read");
            }
        } else if let Some(most) =
            ceilings.copy_rate(job.threads).filter(|most| rate >= COPYING * most)
        {
            return held(Limit::CopyBandwidth, most, &by(job.threads), "copy");
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

    /// The part of an operation that does not depend on its size: as its curve says where it can be
    /// told, at least its system calls. A bare call that took longer than the whole operation was
    /// measured while the machine was slower: it says nothing.
    fn fixed(&self, cost: Option<&Cost>, bounds: &Bounds) -> f64 {
        let calls = bounds.ceilings.syscall_nanos.unwrap_or(0.0) * self.calls;
        let calls = if calls <= self.nanos { calls } else { 0.0 };
        cost.map_or(calls, |cost| cost.fixed_share(self.result.cell.block as f64) * self.nanos)
            .max(calls)
    }

    /// Page faults per MiB of data.
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

    /// A known rate that caps it: a rate limit, the link or the disk's rated speed.
    fn of_a_known_rate(&self, rate: f64, device: &Device, bounds: &Bounds) -> Option<LimitCause> {
        let job = &self.result.cell;
        let of = |most: f64| format!("{} of the {}", show_rate(rate), show_rate(most));
        if let Some(held) = device.held[usize::from(job.op == Op::Write)]
            .filter(|held| (rate / held - 1.0).abs() <= AGREE)
        {
            return LimitCause::new(
                Limit::RateLimit,
                format!(
                    "several block sizes stop at the same {}, and single operations are held back",
                    show_rate(held)
                ),
            );
        }
        if let Some(granted) = bounds.granted_to(job).filter(|granted| rate >= AT * granted) {
            return LimitCause::new(
                Limit::RateLimit,
                format!("{} that the control group allows (io.max)", of(granted)),
            );
        }
        if let Some(link) = bounds.link.filter(|link| rate >= AT * link) {
            return LimitCause::new(
                Limit::Link,
                format!("{} that the link to the disk carries", of(link)),
            );
        }
        if let Some(rated) = bounds.rated.filter(|rated| rate >= AT * rated) {
            return LimitCause::new(
                Limit::Device,
                format!("{} of the rated {}", show_rate(rate), show_rate(rated)),
            );
        }
        None
    }

    /// Whether it is near the device's highest rate, with other cells to compare with.
    fn is_best(&self, rate: f64, device: &Device) -> bool {
        let op = self.result.cell.op;
        let most = self.result.throughput.and_then(|of| of.summary.high).unwrap_or(rate);
        most >= BEST * device.peak(op).low && device.has_others(op)
    }

    /// A CPU that is too busy to use the device fully.
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
        if let Some(memory) = memory.filter(|memory| rate >= AT * **memory) {
            let why = format!(
                "{} from the device, {} from memory: it does not wait for the device",
                show_rate(rate),
                show_rate(*memory)
            );
            return LimitCause::new(Limit::OneCpu, why);
        }
        if self.busy >= MOST && !self.is_best(rate, device) {
            let why = format!(
                "busy for {} of the time, longer than it waited for the device",
                show_share(self.busy)
            );
            return LimitCause::new(Limit::OneCpu, why);
        }
        None
    }

    /// The device itself, or too few operations in flight.
    fn of_the_device(&self, rate: f64, device: &Device) -> Option<LimitCause> {
        let job = &self.result.cell;
        let peak = device.peak(job.op).rate;
        let best = self.is_best(rate, device);
        if best && rate >= BEST * peak {
            return LimitCause::new(
                Limit::Device,
                format!("{}, the highest rate of any cell", show_rate(rate)),
            );
        }
        if best {
            let why = format!(
                "{}; these trials cannot distinguish it from {}, the highest rate of any cell",
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
                "{}, waiting for it {waited} of the time; another cell reached {}",
                show_rate(rate),
                show_rate(peak)
            );
            return LimitCause::new(Limit::Device, why);
        }
        let (asked, each) = (
            job.depth.max(1) * job.threads.max(1),
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

fn by(threads: u32) -> String {
    if threads > 1 { format!("{threads} threads") } else { "one thread".into() }
}
