//! Remarks that combine figures of probes: caches by their latency, the cost of an argument, how
//! many calls a system call equals, what a network adds to a file. Pure functions of the results.

use crate::analysis::ProbeResult;
use crate::facts::{CacheLevel, Host};
use crate::plan::{Param, ProbeCell};
use crate::record::Unit;
use crate::session::OTHER_EXPERIMENT;
use crate::stats::{Plateau, Ratio, Summary, plateaus};
use crate::units::{join_names, show_bytes, show_nanos};

/// A level stretch of a probe's curve, with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// `latency`, `tlb`.
    pub probe: &'static str,
    /// How much data it covers, and where that lies: `up to 32 KiB (L1d)`, `up to 64 pages`.
    pub name: String,
    /// The sizes of its first and last point: bytes, or pages of the TLB.
    pub from: u64,
    pub to: u64,
    /// Nanoseconds.
    pub nanos: f64,
}

/// Returns sentences in the order of the probes; none about what was not measured.
pub fn remarks(probes: &[ProbeResult], host: &Host) -> Vec<String> {
    let steps = steps(probes, host);
    let caches = staircase(&steps, "latency", "A load takes, by the size of the data");
    let reach = staircase(&steps, "tlb", "A load takes, by the number of pages touched");
    let said = [
        calls(probes),
        argument(probes),
        caches,
        reach,
        file_cache(probes).or_else(|| held(probes)),
    ];
    let said = said.into_iter().chain([waits(probes), crowd(probes), other(probes)]);
    said.flatten().chain(penalty(probes)).collect()
}

/// Returns the probes of that name whose times are usable: without errors, and without warnings
/// that they are wrong.
fn times<'a>(probes: &'a [ProbeResult], probe: &str) -> impl Iterator<Item = &'a ProbeResult> {
    probes
        .iter()
        .filter(move |of| of.cell.probe == probe && of.unit == Some(Unit::Nanos) && of.is_sound())
}

/// Returns whether a cell has these parameters, and this many others.
fn has(cell: &ProbeCell, params: &[(&str, Param)], others: usize) -> bool {
    cell.params.len() == params.len() + others
        && params.iter().all(|(name, value)| cell.params.get(*name) == Some(value))
}

/// Returns the time of the probe with the given parameters.
fn nanos(probes: &[ProbeResult], probe: &str, params: &[(&str, Param)]) -> Option<f64> {
    let found = times(probes, probe).find(|of| has(&of.cell, params, 0))?;
    found.value.map(|value| value.summary.median)
}

/// Returns the values along one numeric parameter, ascending; `fixed` are the other parameters.
fn along(
    probes: &[ProbeResult],
    probe: &str,
    axis: &str,
    fixed: &[(&str, Param)],
) -> Vec<(u64, Summary)> {
    let place = |of: &ProbeResult| match of.cell.params.get(axis) {
        Some(Param::Number(at)) => Some((*at, of.value?.summary)),
        _ => None,
    };
    let own = times(probes, probe).filter(|of| has(&of.cell, fixed, 1));
    let mut points: Vec<(u64, Summary)> = own.filter_map(place).collect();
    points.sort_by_key(|(at, _)| *at);
    points
}

/// Returns how many times as long one thing takes as another: `14.3 times [12.1-17.0]`, or without
/// an interval where there are too few batches.
fn times_as_long(of: &Summary, base: &Summary) -> Option<(String, bool)> {
    let ratio = Ratio::from_summaries(of, base)?;
    Some(match ratio.interval() {
        Some((low, high)) => (format!("{:.1} times [{low:.1}-{high:.1}]", ratio.ratio), true),
        None => (format!("{:.1} times", ratio.ratio), false),
    })
}

/// The figure that a question of the lab asks for.
pub(super) struct LabFigure<'a> {
    pub probe: &'a ProbeResult,
    /// `a system call takes`.
    pub title: String,
    /// Sentences next to it.
    pub beside: Vec<String>,
}

/// Returns the figure of the first of these that was measured: a system call, a load from memory,
/// a round trip, a write that waits for the device.
pub(super) fn lab_figure<'a>(probes: &'a [ProbeResult], host: &Host) -> Option<LabFigure<'a>> {
    fn bytes(of: &ProbeResult) -> u64 {
        if let Some(Param::Number(bytes)) = of.cell.params.get("bytes") { *bytes } else { 0 }
    }
    let of = |probe, title: String, beside| Some(LabFigure { probe, title, beside });
    if let Some(probe) = system_call(probes) {
        let calls = in_function_calls(probes);
        let said = calls
            .map(|(count, each)| format!("{count:.0} function calls ({} each)", show_nanos(each)));
        return of(probe, "a system call takes".into(), said.into_iter().collect());
    }
    let loads = times(probes, "latency").filter(|of| of.cell.params.len() == 1);
    if let Some(probe) = loads.max_by_key(|of| bytes(of)) {
        let within = show_bytes(bytes(probe));
        let steps = steps(probes, host).into_iter().filter(|step| step.probe == "latency");
        let steps = steps.map(|step| format!("{} {}", show_nanos(step.nanos), step.name));
        return of(probe, format!("a load takes, anywhere in {within}"), steps.take(3).collect());
    }
    if let Some(probe) = times(probes, "rtt").next() {
        let how = probe.cell.short_parameters();
        return of(probe, format!("a round trip takes, {how}"), Vec::new());
    }
    let flushes = times(probes, "fsync");
    let probe = flushes.min_by_key(|of| bytes(of).abs_diff(USUAL_WRITE))?;
    let what = show_bytes(bytes(probe));
    let said = waits(probes).into_iter().collect();
    of(probe, format!("a write of {what} takes until the device has it"), said)
}

/// The bytes of a small write.
const USUAL_WRITE: u64 = 4096;

/// Returns the time of the cheapest system call.
fn system_call(probes: &[ProbeResult]) -> Option<&ProbeResult> {
    let getpid = [("call", "getpid".into()), ("path", "inline".into())];
    times(probes, "syscall").find(|of| has(&of.cell, &getpid, 0))
}

/// Returns how many function calls a system call costs, and what one takes.
fn in_function_calls(probes: &[ProbeResult]) -> Option<(f64, f64)> {
    let syscall = system_call(probes)?.value?.summary.median;
    let call = nanos(probes, "call", &[("arguments", 0.into())])?;
    (call > 0.0).then_some((syscall / call, call))
}

fn calls(probes: &[ProbeResult]) -> Option<String> {
    let (count, call) = in_function_calls(probes)?;
    Some(format!(
        "A system call ({}) costs as much as {count:.0} function calls ({}).",
        show_nanos(count * call),
        show_nanos(call)
    ))
}

/// Describes the least-squares slope over the number of arguments; it is measurable only above
/// twice its standard error.
fn argument(probes: &[ProbeResult]) -> Option<String> {
    let points = along(probes, "call", "arguments", &[]);
    let points = points.iter().map(|(at, summary)| (*at as f64, summary.median));
    let points: Vec<(f64, f64)> = points.collect();
    let count = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let (sxy, sxx) = (mean(&|p| (p.0 - x) * (p.1 - y)), mean(&|p| (p.0 - x).powi(2)));
    let slope = sxy / sxx;
    let rest = mean(&|p| (p.1 - y - slope * (p.0 - x)).powi(2));
    // The standard error of a slope (any text on linear regression).
    let error = (rest * count / (count - 2.0) / (sxx * count)).sqrt();
    let sure = slope.is_finite() && slope > 2.0 * error;
    Some(match sure {
        true => format!("Each argument adds {} to a call.", show_nanos(slope)),
        false => "Another argument adds no measurable time to a call.".into(),
    })
}

/// Returns the steps of all staircases: of the memory latency, named by the caches of this machine,
/// and of the TLB's reach.
pub fn steps(probes: &[ProbeResult], host: &Host) -> Vec<Step> {
    let mut caches: Vec<&CacheLevel> =
        host.caches.iter().filter(|cache| cache.kind != "instruction").collect();
    caches.sort_by_key(|cache| cache.size);
    // By its middle: a step that begins just within a cache and extends far beyond it does not
    // belong to that cache.
    fn middle(from: u64, to: u64) -> u64 {
        (from as f64 * to as f64).sqrt() as u64
    }
    let holds = |size: u64| caches.iter().find(|cache| cache.size >= size);
    fn name(cache: Option<&&CacheLevel>) -> String {
        cache.map_or("memory".into(), |cache| cache.name())
    }
    let cache = |from: u64, to: u64| {
        let own = holds(middle(from, to));
        // Twice a cache's size is no longer that cache: the two cannot be distinguished here.
        let both = own
            .filter(|own| to >= own.size.saturating_mul(2))
            .map(|_| format!(" and {}", name(holds(to))));
        format!("up to {} ({}{})", show_bytes(to), name(own), both.unwrap_or_default())
    };
    let mut all = name_steps("latency", &along(probes, "latency", "bytes", &[]), cache);
    all.extend(name_steps("tlb", &along(probes, "tlb", "pages", &[]), |_, to| {
        format!("up to {to} pages")
    }));
    all
}

fn name_steps(
    probe: &'static str,
    points: &[(u64, Summary)],
    name: impl Fn(u64, u64) -> String,
) -> Vec<Step> {
    let values: Vec<f64> = points.iter().map(|(_, summary)| summary.median).collect();
    let step = |plateau: Plateau| {
        let (from, to) = (points.get(plateau.first)?.0, points.get(plateau.last)?.0);
        Some(Step { probe, name: name(from, to), from, to, nanos: plateau.level })
    };
    plateaus(&values).into_iter().filter_map(step).collect()
}

/// Describes the steps of one curve in one sentence.
fn staircase(steps: &[Step], probe: &str, begin: &str) -> Option<String> {
    fn describe_step(step: &Step) -> String {
        format!("{} {}", show_nanos(step.nanos), step.name)
    }
    let own: Vec<String> =
        steps.iter().filter(|step| step.probe == probe).map(describe_step).collect();
    (own.len() > 1).then(|| format!("{begin}: {}.", own.join(", ")))
}

/// Compares an uncached file, read in order and in random order, with a cached one, at the largest
/// size that all have.
fn waits(probes: &[ProbeResult]) -> Option<String> {
    let of = |pattern: &'static str, cold: bool| {
        let pattern = [("pattern", pattern.into()), ("cold", true.into())];
        along(probes, "file-read", "bytes", &pattern[..if cold { 2 } else { 1 }])
    };
    let (warm, cold, random) = (of("seq", false), of("seq", true), of("random", true));
    let longer = |points: &[(u64, Summary)], size, warm: &Summary| {
        let (_, summary) = points.iter().find(|(bytes, _)| *bytes == size)?;
        times_as_long(summary, warm)
    };
    warm.iter().rev().find_map(|(size, warm)| {
        let (cold, is_sure) = longer(&cold, *size, warm)?;
        let (random, both) = longer(&random, *size, warm)?;
        let size = show_bytes(*size);
        let (begin, takes) = match is_sure && both {
            true => ("Reading", "takes"),
            false => ("In these few batches, reading", "took"),
        };
        Some(format!("{begin} a {size} file from the device {takes} {cold} as long as from the cache, and {random} in random order."))
    })
}

/// States how much file data the page cache held: of the file that was read, or of the largest that
/// was read again without a wait.
fn file_cache(probes: &[ProbeResult]) -> Option<String> {
    let all = probes.iter().filter(|of| of.cell.probe == "file-cache" && of.is_sound());
    let found = all.clone().find(|of| of.unit == Some(Unit::Bytes))?;
    let size = show_bytes(found.value?.summary.median as u64);
    let why = found.estimate.as_ref().map(|of| format!(" ({})", of.reason)).unwrap_or_default();
    Some(match found.lower_bound().is_some() {
        true => format!("The page cache holds at least {size}, all that was tried{why}."),
        false => format!("The page cache holds {size}{why}."),
    })
}

/// States of which probes a reference has figures of another experiment.
fn other(probes: &[ProbeResult]) -> Option<String> {
    let noted = |probe: &ProbeResult| {
        let mut all = probe.warnings.iter();
        let note = all.find(|warning| warning.id == OTHER_EXPERIMENT)?;
        Some((probe.cell.probe.clone(), note.message.clone()))
    };
    let mut all: Vec<_> = probes.iter().filter_map(noted).collect();
    all.dedup();
    let (_, message) = all.first()?;
    let names: Vec<&str> = all.iter().map(|(probe, _)| probe.as_str()).collect();
    Some(format!("Of {}, {message}.", join_names(&names, names.len(), ", ")))
}

/// A second read that takes this many times as long does not come from the cache.
const UNCACHED: f64 = 3.0;

/// States which of several files were still cached when they were read again.
fn held(probes: &[ProbeResult]) -> Option<String> {
    let points = along(probes, "file-cache", "bytes", &[]);
    let [(_, least), _, ..] = points.as_slice() else { return None };
    let is_held = |of: &Summary| of.median < UNCACHED * least.median;
    let cut = points.iter().position(|(_, of)| !is_held(of)).unwrap_or(points.len());
    let (most, of) = points[..cut].last()?;
    let (most, quick) = (show_bytes(*most), show_nanos(of.median));
    Some(match points.get(cut) {
        Some((size, slow)) => format!(
            "A file of {most} is read again in {quick} per 4 KiB, one of {size} in {}: the page cache holds between {most} and {size}.",
            show_nanos(slow.median),
            size = show_bytes(*size)
        ),
        None => format!(
            "A file of {most} is read again in {quick} per 4 KiB, as fast as smaller ones: the page cache holds at least {most}."
        ),
    })
}

/// Compares processes that read at the same time with a single one.
fn crowd(probes: &[ProbeResult]) -> Option<String> {
    let points = along(probes, "contention", "processes", &[]);
    let [(1, alone), .., (most, nanos)] = points.as_slice() else { return None };
    let (longer, is_sure) = times_as_long(nanos, alone)?;
    let (begin, takes) =
        if is_sure { ("With", "takes") } else { ("In these few batches, with", "took") };
    Some(format!(
        "{begin} {most} processes reading at once, a block {takes} {longer} as long as with one."
    ))
}

/// Describes the network penalty: a remote file compared with a local one of the same size, by the
/// same calls, at the largest size that both have.
fn penalty(probes: &[ProbeResult]) -> Vec<String> {
    let params: [Param; 2] = ["seq".into(), "random".into()];
    let one = |pattern: &Param, cold: bool| {
        let fixed = [("pattern", pattern.clone()), ("cold", true.into())];
        let fixed = &fixed[..if cold { 2 } else { 1 }];
        let [far, near] =
            ["remote-read", "file-read"].map(|probe| along(probes, probe, "bytes", fixed));
        let (size, far, near) = far.iter().rev().find_map(|(size, far)| {
            let (_, near) = near.iter().find(|(bytes, _)| bytes == size)?;
            Some((*size, far.median, near.median))
        })?;
        let order = if *pattern == params[0] { "in sequential order" } else { "in random order" };
        let state = if cold { "not cached here" } else { "read before" };
        let much = match far > near {
            true => format!("{} more, {:.1} times", show_nanos(far - near), far / near),
            false => "none".into(),
        };
        Some(format!(
            "The network penalty for {} {order}, {state}: {much} ({} remote, {} local).",
            show_bytes(size),
            show_nanos(far),
            show_nanos(near)
        ))
    };
    [false, true]
        .into_iter()
        .flat_map(|cold| params.iter().filter_map(move |pattern| one(pattern, cold)))
        .collect()
}

#[cfg(test)]
mod tests;
