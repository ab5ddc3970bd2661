//! What limits a cell: one line each, from its own figures, its curve and the ceilings.

use serde::Serialize;

use super::Bounds;
use super::device::{Device, MAX_HELD_SPREAD, from_device, from_memory, in_any_state, throughput};
use crate::analysis::CellResult;
use crate::engine::{moves_data, only_loops};
use crate::plan::{Op, Pattern};
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

    /// Returns the limit of operations that move no bytes.
    fn of_calls(&self, bounds: &Bounds) -> Option<LimitCause> {
        if self.calls < 0.5 {
            let shared = if self.calls > 0.001 {
                format!("; one system call for about {:.0}", 1.0 / self.calls)
            } else {
                String::new()
            };
            let why = format!("{} for each operation{shared}", show_nanos(self.nanos));
            return LimitCause::new(Limit::OneCpu, why);
        }
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
