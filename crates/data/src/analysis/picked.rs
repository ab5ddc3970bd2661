//! The method that was picked among several, what it reached, and what became of the others.

use serde::Serialize;

use crate::analysis::cell_result::MAIN_SHARE;
use crate::analysis::{Bounds, CellResult};
use crate::plan::Job;
use crate::record::{Pick, Trial, Xor, describe_cache_state, describe_method};
use crate::session::Session;
use crate::stats::{Summary, median};
use crate::units::{
    counted, join_names, show_bytes, show_nanos, show_rate, show_share, show_trials,
};

/// The method that was picked, and what it reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PickedMethod {
    pub cell: Job,
    /// The XOR of the whole file; `None` if no trial read the whole file.
    pub xor: Option<Xor>,
    /// Median time of a pass, nanoseconds.
    pub nanos: Option<f64>,
    /// Median, bytes per second.
    pub throughput: Option<f64>,
    /// Its upper bound: the memory bandwidth of all threads, or the link to the disk; `None` if
    /// that was not measured.
    pub ceiling: Option<PickedCeiling>,
    /// The rate of each method in its tries, the fastest first.
    pub tried: Vec<MethodRate>,
    pub why: String,
    /// All of this in sentences.
    #[serde(skip)]
    pub text: String,
}

/// An upper bound, and the share of it that was reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PickedCeiling {
    pub name: String,
    pub bytes_per_second: f64,
    pub share: f64,
}

/// A method and the rate of its tries, bytes per second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodRate {
    pub cell: Job,
    pub throughput: f64,
    pub tries: usize,
    /// Ends of the 95 % confidence interval of the median; `None` where there are too few tries, or
    /// where they read parts that differ in what is cached.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The slowest and the fastest try.
    pub min: f64,
    pub max: f64,
    /// It was not picked, but its tries show no difference from the method that was.
    pub no_difference: bool,
}

/// Tries that do not overlap show a difference only if there are as many of each: of three and
/// three that do not differ, one in ten pairs does not overlap.
const MIN_TELLING_TRIES: usize = 3;

impl MethodRate {
    /// Returns the ends of the interval, or else the slowest and fastest try.
    pub fn range(&self) -> (f64, f64) {
        self.low.zip(self.high).unwrap_or((self.min, self.max))
    }

    /// Returns whether the tries show which of the two is faster.
    fn differs(&self, other: &MethodRate) -> bool {
        let bounded = |method: &MethodRate| method.low.is_some();
        let (own, others) = if bounded(self) && bounded(other) {
            (self.range(), other.range())
        } else {
            ((self.min, self.max), (other.min, other.max))
        };
        self.tries.min(other.tries) >= MIN_TELLING_TRIES && (own.0 > others.1 || own.1 < others.0)
    }
}

/// Returns the picked methods that have a result, in the order they were picked.
pub fn picked_methods(session: &Session, results: &[&CellResult]) -> Vec<PickedMethod> {
    let of = |pick: &Pick| {
        let cell = session.plan.cells.get(pick.cell? as usize)?;
        let result = results.iter().find(|result| result.cell == *cell)?;
        Some(describe_pick(session, pick, result))
    };
    session.picks.iter().filter_map(of).collect()
}

fn describe_pick(session: &Session, pick: &Pick, result: &CellResult) -> PickedMethod {
    let throughput = result.throughput.as_ref().map(|of| of.summary.median);
    let times = result.counted().into_iter();
    let times = times.map(|trial| trial.nanos as f64 / trial.passes.max(1) as f64);
    fn xor_of_whole_passes(trial: &Trial) -> Option<Xor> {
        trial.xor.filter(|_| trial.passes > 0)
    }
    let mut picked = PickedMethod {
        cell: result.cell.clone(),
        xor: result.trials.iter().find_map(|trial| xor_of_whole_passes(trial)),
        nanos: median(&times.collect::<Vec<f64>>()),
        throughput,
        ceiling: throughput.and_then(|rate| ceiling(session, result, rate)),
        tried: tried_methods(session, pick),
        why: pick.why.clone(),
        text: String::new(),
    };
    picked.text = text(&picked, result);
    picked
}

fn tried_methods(session: &Session, pick: &Pick) -> Vec<MethodRate> {
    let mut cells: Vec<u32> = pick.tries.iter().map(|t| t.cell).collect();
    cells.sort_unstable();
    cells.dedup();
    let same = pick.conditions.is_cached() || pick.conditions.is_cold();
    let of = |cell: u32| {
        let rates = pick.rates_of_tries(cell);
        let summary = Summary::from_values(&rates)?;
        Some(MethodRate {
            cell: session.plan.cells.get(cell as usize)?.clone(),
            throughput: pick.rate(cell)?,
            tries: rates.len(),
            low: summary.low.filter(|_| same),
            high: summary.high.filter(|_| same),
            min: summary.min,
            max: summary.max,
            no_difference: false,
        })
    };
    let mut tried: Vec<MethodRate> = cells.into_iter().filter_map(of).collect();
    tried.sort_by(|a, b| b.throughput.total_cmp(&a.throughput));
    let own = pick.cell.and_then(|cell| session.plan.cells.get(cell as usize));
    if let Some(own) = tried.iter().find(|method| Some(&method.cell) == own).cloned() {
        let others = tried.iter_mut().filter(|method| method.cell != own.cell);
        others.for_each(|other| other.no_difference = !own.differs(other));
    }
    tried
}

/// Number of methods without a difference that the text names.
const MAX_NAMED: usize = 3;

/// Returns ` The tries show no difference from mmap 2 MiB and pread 2 MiB.`; empty if all differ.
pub(super) fn describe_ties(tried: &[MethodRate]) -> String {
    let equals: Vec<String> =
        tried.iter().filter(|m| m.no_difference).map(|m| describe_method(&m.cell)).collect();
    if equals.is_empty() {
        return String::new();
    }
    let names = join_names(&equals[..equals.len().min(MAX_NAMED)], equals.len(), ", ");
    format!(" The tries show no difference from {names}.")
}

/// Returns the upper bound of a read from memory or from a device; `None` if the data came from
/// both.
fn ceiling(session: &Session, result: &CellResult, rate: f64) -> Option<PickedCeiling> {
    let (bounds, source) = (Bounds::from_session(session), result.source?);
    let (name, bound) = if source.page_cache + source.below + source.hole >= MAIN_SHARE {
        let threads = result.cell.threads.min(bounds.ceilings.threads).max(1);
        let name = format!("{} can read from memory", counted(threads as usize, "thread"));
        (name, bounds.ceilings.read_rate(threads)?)
    } else if source.device >= MAIN_SHARE {
        let names = [
            ("the link to the disk carries", bounds.link),
            ("the disk is rated for", bounds.rated),
        ];
        let (name, bound) = names
            .into_iter()
            .filter_map(|(name, bound)| Some((name, bound?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        (name.to_string(), bound)
    } else {
        return None;
    };
    (bound > 0.0).then(|| PickedCeiling { name, bytes_per_second: bound, share: rate / bound })
}

/// Returns `XOR 1a2b3c4d of 512 MiB in 25.3 ms: 19.8 GiB/s, 94 % of the 21.0 GiB/s that 2 threads
/// can read from memory. mmap+shared ... was picked ...`
fn text(picked: &PickedMethod, result: &CellResult) -> String {
    let job = &picked.cell;
    let state = describe_cache_state(job);
    let what = match picked.xor {
        Some(xor) => format!("XOR {xor} of {}{state}", show_bytes(job.span)),
        None => format!("{} of {}{state}", describe_method(job), show_bytes(job.span)),
    };
    let time = picked.nanos.map_or(String::new(), |nanos| format!(" in {}", show_nanos(nanos)));
    let rate = picked.throughput.map_or(String::new(), |rate| format!(": {}", show_rate(rate)));
    let share = match &picked.ceiling {
        Some(ceiling) => format!(
            ", {} of the {} that {}",
            show_share(ceiling.share),
            show_rate(ceiling.bytes_per_second),
            ceiling.name
        ),
        None if result.is_from_device() => {
            " (the disk's rated speed is unknown; set it with --rated SPEED)".into()
        }
        None => String::new(),
    };
    let trials = describe_trials(result);
    let is_short = result.trials.iter().any(|trial| trial.short);
    let short = if is_short { " It was cut short before the end of the file." } else { "" };
    let clause = |begin: &str, why: Option<&String>| {
        why.map_or(String::new(), |why| format!(" {begin}: {}.", why.trim_end_matches('.')))
    };
    let failed = clause("It failed", result.error.as_ref());
    let wrong = clause("But this figure is wrong", result.wrong().map(|why| &why.message));
    let (method, why, ties) = (describe_method(job), &picked.why, describe_ties(&picked.tried));
    format!(
        "{what}{time}{rate}{share}{trials}.{short}{failed}{wrong} Picked: {method}; {why}.{ties}"
    )
}

/// Returns ` (median of 5 trials, 95 % interval 19.8 GiB/s to 20.3 GiB/s)`; empty for one trial.
fn describe_trials(result: &CellResult) -> String {
    let trials = result.counted_trials().len();
    let summary = result.throughput.as_ref().map(|of| of.summary);
    let interval = summary.and_then(|summary| summary.low.zip(summary.high));
    let interval = interval.map_or(String::new(), |(low, high)| {
        format!(", 95 % interval {} to {}", show_rate(low), show_rate(high))
    });
    match trials {
        1 => String::new(),
        _ => format!(" (median of {}{interval})", show_trials(trials)),
    }
}

/// Returns why a cell was not measured if that is because another was picked, else `None`.
pub(super) fn reason_not_picked(session: &Session, cell: u32) -> Option<String> {
    let pick = session
        .picks
        .iter()
        .find(|pick| pick.cell != Some(cell) && pick.cells().any(|of| of == cell))?;
    if let Some(out) = pick.left_out.iter().find(|out| out.cell == cell) {
        return Some(out.why.clone());
    }
    let (job, rate) = (session.plan.cells.get(cell as usize)?, show_rate(pick.rate(cell)?));
    let tried = tried_methods(session, pick);
    Some(if tried.iter().any(|method| method.no_difference && method.cell == *job) {
        format!("short tries reached {rate}, no difference from the picked method")
    } else {
        format!("a short try reached {rate}, less than the picked method")
    })
}

#[cfg(test)]
mod tests;
