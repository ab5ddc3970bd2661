//! Expected rates of jobs, derived from facts known before they run, never from their own
//! measurements.

use std::collections::BTreeMap;

use super::Bounds;
use crate::analysis::groups::group_by_key;
use crate::analysis::{Axis, CellResult};
use crate::catalog::{info, moves_data};
use crate::plan::{Cache, DataPath, Job, Op, Plan, Sync};
use crate::record::Ceilings;
use crate::session::Session;
use crate::units::{join_range, show_nanos, show_rate};

/// The facts that an estimate is derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// A system call for each block, and the copy of its bytes.
    CallAndCopy,
    /// The copy alone: many blocks share a call, or none is made.
    Copy,
    /// The bytes are read in place.
    Memory,
    /// The bandwidth of the link to the disk.
    Link,
    /// The rated speed of the disk.
    Rated,
    /// The rate limit of the control group.
    Granted,
}

impl Basis {
    pub fn name(self) -> &'static str {
        match self {
            Basis::CallAndCopy => "call and copy",
            Basis::Copy => "copy",
            Basis::Memory => "memory",
            Basis::Link => "link",
            Basis::Rated => "rated speed",
            Basis::Granted => "rate limit",
        }
    }

    /// Returns whether it is the memory and the CPU that bound a rate.
    fn is_of_memory(self) -> bool {
        matches!(self, Basis::CallAndCopy | Basis::Copy | Basis::Memory)
    }

    /// Describes the basis, with the figures of one thread, and of this many if jobs have more.
    fn reason(self, bounds: &Bounds, threads: u32) -> String {
        fn rate(rate: Option<f64>) -> String {
            rate.map_or_else(|| "an unknown rate".into(), show_rate)
        }
        let threads = threads.min(bounds.ceilings.threads);
        let by = |one: Option<f64>, many: Option<f64>| match many
            .filter(|many| threads > 1 && show_rate(*many) != rate(one))
        {
            Some(many) => format!("{} by one thread, {} by {threads}", rate(one), show_rate(many)),
            None => rate(one),
        };
        let copy = by(bounds.ceilings.copy, bounds.ceilings.copy_rate(threads));
        let read = by(bounds.ceilings.read, bounds.ceilings.read_rate(threads));
        match self {
            Basis::CallAndCopy => {
                let call = bounds.ceilings.syscall_nanos.map(show_nanos).unwrap_or_default();
                format!("the cheapest system call, {call}, for each block, and copying at {copy}")
            }
            Basis::Copy => format!("copying at {copy}"),
            Basis::Memory => format!("reading memory at {read}"),
            Basis::Link => format!("the {} that the link to the disk carries", rate(bounds.link)),
            Basis::Granted => "the rate limit of the control group".into(),
            Basis::Rated => format!("the disk's rated {}", rate(bounds.rated)),
        }
    }
}

/// One job's expected rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Bytes per second.
    pub rate: f64,
    pub basis: Basis,
}

/// Returns the expected rate of `job`; `None` if no known fact determines it.
///
/// From memory an operation takes a system call and a copy of its bytes, `1 / (call / block + 1 /
/// bandwidth)`, with the kernel at its best: any other work is added to that. From the device the
/// rate is that of the link, or the one rated by its vendor. The copy is of memory beyond the CPU
/// caches; a file that fits into them may be faster.
pub fn estimate(job: &Job, bounds: &Bounds) -> Option<Estimate> {
    if !moves_data(job) {
        return None;
    }
    let flushed = job.op == Op::Write && job.sync != Sync::None;
    if job.direct || flushed || job.cache == Cache::Cold {
        let facts = [
            (bounds.link, Basis::Link),
            (bounds.rated, Basis::Rated),
            (bounds.granted_to(job), Basis::Granted),
        ];
        let least =
            facts.into_iter().filter_map(|(rate, basis)| Some(Estimate { rate: rate?, basis }));
        return least.min_by(|a, b| a.rate.total_cmp(&b.rate));
    }
    // Writing to a file that changes its blocks costs more than its call and copy.
    if job.starts_fresh() {
        return None;
    }
    let (read, copy) = (
        bounds.ceilings.read_rate(job.all_threads()),
        bounds.ceilings.copy_rate(job.all_threads()),
    );
    let (basis, bandwidth) = match info(&job.backend)?.data_path {
        DataPath::InPlace => (Basis::Memory, read?),
        DataPath::Copied => (Basis::Copy, copy?),
        // Submissions made by a kernel thread are not calls.
        DataPath::CopiedByCall if job.backend.has("sqpoll") => (Basis::Copy, copy?),
        DataPath::CopiedByCall => (Basis::CallAndCopy, copy?),
        DataPath::InKernel | DataPath::InPeer | DataPath::CallOnly | DataPath::LoopOnly => {
            return None;
        }
    };
    let call = if basis == Basis::CallAndCopy { bounds.ceilings.syscall_nanos? } else { 0.0 };
    // Each thread makes its own calls, and one call may submit everything in flight; the threads
    // share the memory.
    let at_once = f64::from(job.all_threads().clamp(1, bounds.ceilings.threads.max(1)))
        * f64::from(job.depth.max(1));
    let nanos = call / at_once + job.block as f64 * 1e9 / bandwidth;
    let rate = job.block as f64 * 1e9 / nanos;
    (rate.is_finite() && rate > 0.0).then_some(Estimate { rate, basis })
}

/// A dotted line on a chart: the expected rate of jobs that are alike in all that matters.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateLine {
    /// `estimate: call and copy`.
    pub name: String,
    /// `the cheapest system call, 95.0 ns, for each block, and copying at 11.2 GiB/s`.
    pub reason: String,
    /// Place on the axis and bytes per second, ascending.
    pub points: Vec<(f64, f64)>,
}

/// Returns the estimates of these jobs along an axis: jobs with the same facts share a line.
pub fn estimate_lines<'a>(
    jobs: impl Iterator<Item = &'a Job>,
    axis: Axis,
    bounds: &Bounds,
) -> Vec<EstimateLine> {
    type Key = (Basis, [u64; 3]);
    const OTHERS: [Axis; 3] = [Axis::Block, Axis::Threads, Axis::Depth];
    let mut lines: BTreeMap<Key, (BTreeMap<u64, f64>, u32)> = BTreeMap::new();
    for job in jobs {
        let Some(Estimate { rate, basis }) = estimate(job, bounds) else { continue };
        // A rate that depends on neither block nor threads is one line, however the jobs differ.
        let own = axis.without(job);
        let key = OTHERS.map(|of| match of {
            Axis::Threads if basis.is_of_memory() => of.value_of(&own),
            Axis::Block | Axis::Depth if basis == Basis::CallAndCopy => of.value_of(&own),
            _ => 0,
        });
        let (points, most) = lines.entry((basis, key)).or_default();
        points.insert(axis.value_of(job), rate);
        *most = job.all_threads().max(*most);
    }
    let name = |(basis, values): &Key| {
        let mut name = format!("estimate: {}", basis.name());
        for (at, of) in OTHERS.into_iter().enumerate() {
            let mut twins = lines.keys().filter(|key| key.0 == *basis);
            let differs = twins.any(|(_, others)| others[at] != values[at]);
            if differs && of != axis && values[at] > 0 {
                name += &format!(", {}", of.show(values[at]));
            }
        }
        name
    };
    let line = |(key, (points, threads)): (&Key, &(BTreeMap<u64, f64>, u32))| EstimateLine {
        name: name(key),
        reason: key.0.reason(bounds, *threads),
        points: points.iter().map(|(at, rate)| (*at as f64, *rate)).collect(),
    };
    lines.iter().map(line).collect()
}

/// Describes the expected rate of a plan in one sentence; empty if nothing is known about the
/// machine.
pub fn describe_estimates(plan: &Plan, ceilings: Option<Ceilings>, link: Option<f64>) -> String {
    let ceilings = ceilings.unwrap_or_default();
    describe_within(plan, &Bounds::new(ceilings, link, plan.rated))
}

/// Describes the estimate made before the run, and the result that contradicts it.
pub fn describe_expected<'a>(
    session: &Session,
    results: impl Iterator<Item = &'a CellResult>,
) -> String {
    let bounds = Bounds::from_session(session);
    let said = describe_within(&session.plan, &bounds);
    match contradiction(results, &bounds) {
        Some(but) if !said.is_empty() => format!("{said}. {but}"),
        _ => said,
    }
}

/// A result above this multiple is not explained by the scatter of the bare loops.
const MIN_EXCESS: f64 = 1.25;

/// Returns the result that is furthest above the limit set by the bare loops although no CPU cache
/// holds its file.
fn contradiction<'a>(
    results: impl Iterator<Item = &'a CellResult>,
    bounds: &Bounds,
) -> Option<String> {
    let above = |result: &'a CellResult| {
        let job = &result.cell;
        let estimate = estimate(job, bounds).filter(|of| {
            of.basis.is_of_memory() && job.op == Op::Read && !bounds.fits_caches(job)
        })?;
        let times =
            result.throughput.filter(|_| result.wrong().is_none())?.summary.median / estimate.rate;
        (times.is_finite() && times >= MIN_EXCESS).then(|| (times, job.label()))
    };
    let (times, label) = results.filter_map(above).max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "{label} reached {times:.1} times as much: the machine was slower when the bare loops ran, so the estimate is too low"
    ))
}

pub fn describe_within(plan: &Plan, bounds: &Bounds) -> String {
    let mut told: BTreeMap<Basis, RateRange> = BTreeMap::new();
    for (job, Estimate { rate, basis }) in
        plan.cells.iter().filter_map(|job| Some((job, estimate(job, bounds)?)))
    {
        let none = RateRange { low: rate, high: rate, threads: 1, known: false };
        let told = told.entry(basis).or_insert(none);
        (told.low, told.high, told.threads) =
            (told.low.min(rate), told.high.max(rate), told.threads.max(job.all_threads()));
        told.known |= job.cache != Cache::AsIs || job.op == Op::Write;
    }
    let granted = told.iter().all(|(basis, told)| basis.is_of_memory() && !told.known);
    let part = |(basis, told): (Basis, RateRange)| {
        let (low, high) = (show_rate(told.low), show_rate(told.high));
        let rates = join_range(&low, &high);
        let assumes = basis.is_of_memory() && !told.known && !granted;
        let where_cached = if assumes { IN_MEMORY } else { "" };
        format!("{where_cached}{rates} ({})", basis.reason(bounds, told.threads))
    };
    let parts: Vec<String> = told.into_iter().map(part).collect();
    let all = if granted { IN_MEMORY } else { "" };
    if parts.is_empty() { String::new() } else { format!("expected: {all}{}", parts.join("; ")) }
}

/// The assumption about a file whose cache state is left as is.
const IN_MEMORY: &str = "if the file is in memory, ";

/// The range of rates expected of the jobs with one basis.
struct RateRange {
    low: f64,
    high: f64,
    /// The highest thread count of any job.
    threads: u32,
    /// For some jobs, iotui ensures that the bytes are where the estimate assumes them.
    known: bool,
}

/// Describes in one sentence what the dotted lines are derived from; empty without lines.
pub fn describe_lines<'a>(lines: impl IntoIterator<Item = &'a EstimateLine>) -> String {
    let told = group_by_key(lines, |line| line.reason.as_str()).into_iter();
    match told.map(|(reason, _)| reason).collect::<Vec<_>>().join("; from ") {
        none if none.is_empty() => none,
        reasons => format!("Dotted: estimates from {reasons}, made before the run."),
    }
}
