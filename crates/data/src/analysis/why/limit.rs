//! The limits of a cell: one line each, from its own figures, its curve and the ceilings.

use serde::Serialize;

use super::Bounds;
use super::device::{Device, Devices, MAX_HELD_SPREAD, in_any_state, throughput};
use crate::analysis::CellResult;
use crate::analysis::answer::keeps_rate;
use crate::catalog::{moves_data, only_loops};
use crate::plan::{Axis, Op, Pattern};
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
    /// How long the one operation in flight takes.
    Latency,
    Link,
    /// A rate limit, such as a control group's.
    RateLimit,
    /// The CPU time that a control group allows.
    CpuQuota,
    /// Other programs are served first.
    IoPriority,
    /// The rate that was asked for.
    AskedRate,
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
            Limit::Latency => "latency",
            Limit::Link => "link",
            Limit::RateLimit => "rate limit",
            Limit::CpuQuota => "CPU quota",
            Limit::IoPriority => "I/O priority",
            Limit::AskedRate => "asked rate",
        }
    }
}

/// The limit of a cell, with the figures that show it.
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

/// Minimum share of a ceiling at which a rate counts as limited by it.
const MIN_CEILING_SHARE: f64 = 0.85;
/// Minimum share of the highest rate of any cell at which the device is at its best.
const BEST: f64 = 0.85;
/// Minimum share of the time that makes a CPU busy.
const BUSY: f64 = 0.85;
/// Minimum share of an operation that makes one part decisive.
const MIN_DECISIVE_SHARE: f64 = 0.5;
/// Minimum share of a bare copy's rate that makes the copy decisive: the kernel also finds and
/// locks each page.
const COPYING: f64 = 0.55;

/// Maximum share of a ceiling that can have limited a cell: no loop over memory beats another by
/// more, nor does a device beat its link or rated speed.
const MAX_CEILING_SHARE: f64 = 1.15;
/// Minimum share of the time spent waiting for a CPU that is worth reporting.
const MIN_KEPT_SHARE: f64 = 0.1;
/// Warnings that decide what limits a cell.
const RATE_LIMITED: &str = "rate-limited";
const DISTURBED: &str = "disturbed";

/// Determines what limits this cell; `None` if the figures do not show it.
pub fn limit(
    result: &CellResult,
    cost: Option<&Cost>,
    device: &Device,
    bounds: &Bounds,
) -> Option<LimitCause> {
    // A pause limits by itself, and is named in the cell.
    if only_loops(&result.cell)
        || result.cell.think > 0
        || result.trials.is_empty()
        || result.error.is_some()
        || result.wrong().is_some()
    {
        return None;
    }
    if keeps_rate(result) == Some(true) {
        let kept = format!("it keeps the {} that were asked for", Axis::Rate.value(&result.cell));
        return LimitCause::new(Limit::AskedRate, kept);
    }
    let cell = Cell::from_result(result)?;
    if let Some(quota) = cell.of_the_quota(bounds) {
        return Some(quota);
    }
    if !moves_data(&result.cell) {
        cell.of_calls(bounds)
    } else if result.is_from_device() {
        cell.of_device(device, bounds)
    } else if result.is_from_memory() {
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
    /// Share of the workers' time in which they were ready but others were running.
    kept: f64,
    /// CPUs kept busy.
    used: f64,
}

impl<'a> Cell<'a> {
    fn from_result(result: &'a CellResult) -> Option<Cell<'a>> {
        let threads = f64::from(result.cell.all_threads());
        let operations = result
            .operations
            .map(|of| of.summary.median)
            .filter(|rate| rate.is_finite() && *rate > 0.0)?;
        let counted = result.counted();
        let sum = |of: fn(&Trial) -> u64| counted.iter().map(|trial| of(trial) as f64).sum::<f64>();
        let used = sum(|t| t.user_nanos) + sum(|t| t.system_nanos);
        let (time, kept) = (sum(|t| t.nanos), sum(|t| t.evidence.queued_nanos.get().unwrap_or(0)));
        fn share(part: f64, whole: f64) -> f64 {
            if whole > 0.0 { part / whole } else { 0.0 }
        }
        Some(Cell {
            result,
            nanos: 1e9 * threads / operations,
            calls: result.syscalls.map_or(f64::NAN, |_| {
                share(sum(|t| t.syscalls.get().unwrap_or(0)), sum(|t| t.ops))
            }),
            busy: share(used, time * threads - kept),
            kept: share(kept, time * threads),
            used: share(used, time),
        })
    }

    /// Returns the CPU time that control groups allow, where the threads used it up.
    fn of_the_quota(&self, bounds: &Bounds) -> Option<LimitCause> {
        let quota = bounds.cpu_quota.filter(|quota| self.used >= BUSY * quota)?;
        let why = format!(
            "the threads kept {} CPUs busy of the {} that the control group allows",
            three_digits(self.used),
            three_digits(quota)
        );
        LimitCause::new(Limit::CpuQuota, why)
    }

    /// Describes the load of the CPU: `busy for 51 % of the time, while others held it for 45 %`.
    fn describe_busy(&self, bounds: &Bounds) -> String {
        let kept = self.kept.min(1.0);
        if kept < MIN_KEPT_SHARE {
            return format!("busy for {} of the time", show_share(self.busy.min(1.0)));
        }
        let (busy, kept) = (show_share((self.busy * (1.0 - kept)).min(1.0)), show_share(kept));
        let (threads, [allowed, online]) = (self.result.cell.threads, bounds.cpus);
        let who = if threads > allowed && allowed > 0 {
            let of =
                if allowed < online { format!(" of {online} (cpuset)") } else { String::new() };
            format!("{threads} threads waited for {allowed} CPUs{of} for another {kept}")
        } else {
            format!("others held it for another {kept}")
        };
        format!("busy for {busy} of the time; {who}")
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
            LimitCause::new(Limit::OneCpu, format!("{}{also}", self.describe_busy(bounds)))
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
            .or_else(|| self.of_the_cpu(rate, device, bounds))
            .or_else(|| self.of_others(bounds))
            .or_else(|| self.of_the_device(rate, device))
            .filter(|of| !(bounds.off_disk && matches!(of.by, Limit::Device | Limit::DeviceQueue)))
    }

    /// Returns a known rate that caps it: a rate limit, the link, or the disk's rated speed.
    fn of_a_known_rate(&self, rate: f64, device: &Device, bounds: &Bounds) -> Option<LimitCause> {
        let job = &self.result.cell;
        let given = show_rate(rate);
        let held = device.held[usize::from(job.op == Op::Write)]
            .filter(|held| (rate / held - 1.0).abs() <= MAX_HELD_SPREAD);
        // The verdict knows what passed the control group, and at which rate.
        let limited = self.result.warnings.iter().find(|of| of.id == RATE_LIMITED);
        let near = |most: &f64| (MIN_CEILING_SHARE..=MAX_CEILING_SHARE).contains(&(rate / most));
        let (by, why) = if let Some(held) = held.map(show_rate) {
            let why = format!(
                "several block sizes stop at the same {held}, and single operations are held back"
            );
            (Limit::RateLimit, why)
        } else if let Some(warning) = limited {
            (Limit::RateLimit, format!("{given}; {}", warning.evidence))
        } else if let Some(link) = bounds.link.filter(near).map(show_rate) {
            (Limit::Link, format!("{given} of the {link} that the link to the disk carries"))
        } else {
            let rated = bounds.rated.filter(near).map(show_rate)?;
            (Limit::Device, format!("{given} of the rated {rated}"))
        };
        LimitCause::new(by, why)
    }

    /// Returns whether it is near the device's highest rate, if there are other cells to compare
    /// with.
    fn is_best(&self, rate: f64, device: &Device) -> bool {
        let op = self.result.cell.op;
        let most = self.result.throughput.and_then(|of| of.summary.high).unwrap_or(rate);
        most >= BEST * device.peak(op).low && device.has_others(op)
    }

    /// Returns the CPU as the limit if it is too busy to use the device fully.
    fn of_the_cpu(&self, rate: f64, device: &Device, bounds: &Bounds) -> Option<LimitCause> {
        let busy = self.describe_busy(bounds);
        let memory = device.memory.get(&in_any_state(&self.result.cell));
        let why = if self.busy >= BUSY {
            // More threads would wait for the same CPUs.
            let more = if self.kept < MIN_KEPT_SHARE { "; more threads may be faster" } else { "" };
            format!("{busy}{more}")
        } else if let Some(memory) = memory.filter(|most| rate >= MIN_CEILING_SHARE * **most) {
            let (rate, memory) = (show_rate(rate), show_rate(*memory));
            format!("{rate} from the device, {memory} from memory: it does not wait for the device")
        } else if self.busy >= MIN_DECISIVE_SHARE && !self.is_best(rate, device) {
            format!("{busy}, longer than it waited for the device")
        } else {
            return None;
        };
        LimitCause::new(Limit::OneCpu, why)
    }

    /// Returns the priority as the limit, where others used the disk and are served first.
    fn of_others(&self, bounds: &Bounds) -> Option<LimitCause> {
        let yields = bounds.yields.as_ref()?;
        let others = self.result.warnings.iter().find(|warning| warning.id == DISTURBED)?;
        LimitCause::new(Limit::IoPriority, format!("{yields}, and {}", others.message))
    }

    /// Returns the device itself as the limit, or too few operations in flight.
    fn of_the_device(&self, rate: f64, device: &Device) -> Option<LimitCause> {
        let job = &self.result.cell;
        let peak = device.peak(job.op).rate;
        let best = self.is_best(rate, device);
        let (asked, each) = (
            job.depth.max(1).saturating_mul(job.all_threads()),
            show_nanos(self.nanos * f64::from(job.depth.max(1))),
        );
        // Readahead requests the next blocks early: an operation is not a request to the device.
        let ahead = !job.direct && job.pattern == Pattern::Seq && job.op == Op::Read;
        let (given, most) = (show_rate(rate), show_rate(peak));
        let highest = "the device's highest rate in this run";
        let why = if asked == 1 && !ahead {
            let other = (rate < BEST * peak).then(|| format!("; another cell reached {most}"));
            let why = format!("one operation at a time, {each} each{}", other.unwrap_or_default());
            return LimitCause::new(Limit::Latency, why);
        } else if best && rate >= peak {
            format!("{given}, {highest}")
        } else if best && rate >= BEST * peak {
            format!("{given}, near {highest}, {most}")
        } else if best {
            format!("{given}; no difference shows from {highest}, {most}")
        } else if !device.has_others(job.op) {
            let busy = show_share(self.busy);
            format!("{given}, and the CPU was busy for only {busy} of the time")
        } else if ahead {
            let waited = show_share((1.0 - self.busy).max(0.0));
            format!(
                "{given}, and the program waited for {waited} of the time; another cell reached {most}"
            )
        } else {
            let why =
                format!("{asked} operations at once, {each} each; another cell reached {most}");
            return LimitCause::new(Limit::DeviceQueue, why);
        };
        LimitCause::new(Limit::Device, why)
    }
}

fn show_threads(threads: u32) -> String {
    if threads > 1 { format!("{threads} threads") } else { "one thread".into() }
}
impl Devices {
    /// Returns whether the CPU limits one of the results, and not the device or memory: by its own
    /// figures and by the other results.
    pub fn is_cpu_limited(&self, result: &CellResult) -> bool {
        let limit = limit(result, None, self.of(&result.cell), &Bounds::default());
        limit.is_some_and(|of| of.by == Limit::OneCpu)
    }
}
