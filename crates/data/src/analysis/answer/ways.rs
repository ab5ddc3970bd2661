//! Speed ratios of calls and programs: the answer of presets that compare them.

use std::collections::BTreeMap;

use super::ratio::{Finding, times_as_fast, times_exactly};
use crate::analysis::groups::group_by_key;
use crate::analysis::{Axis, CellResult};
use crate::catalog::{info, infos, moves_data, only_calls};
use crate::plan::{Cache, Choice, DataPath, Info, Job, Op};
use crate::stats::{Ratio, Summary, median, paired};
use crate::units::{Precision, join_names, show_bytes};

/// A shorter trial measures its start-up as much as the calls.
const MIN_NANOS: u64 = 10_000_000;
/// Blocks up to this size cost no more than the call itself.
const SMALL: u64 = 64;

/// Compares calls with a read of the smallest block: `At 1 B, warm: read makes 3.02 M
/// calls/s; lseek is 2.1x [1.9-2.3] as fast as read; ...`. `None` without a call
/// or such a read.
pub fn compare_calls(results: &[CellResult]) -> Option<String> {
    let reads = || {
        results
            .iter()
            .filter(|result| result.wrong().is_none())
            .map(|result| &result.cell)
            .filter(|job| job.op == Op::Read && is_plain_call(job))
    };
    let least = reads().map(|job| job.block).min().filter(|block| *block <= SMALL)?;
    // The first in the registry, with the fewest options.
    fn place(backend: &Choice) -> Option<usize> {
        infos().iter().position(|info| info.id == backend.id)
    }
    let base = reads()
        .map(|job| &job.backend)
        .min_by_key(|backend| (place(backend), backend.options.len()))?;
    if !results.iter().any(|result| only_calls(&result.cell)) {
        return None;
    }
    fn kind(job: &Job) -> bool {
        is_plain_call(job) || calls_only(&job.backend).is_some()
    }
    let others = backends(results.iter().map(|result| &result.cell).filter(|job| kind(job)), base);
    sentences(results, base, &others, &[least])
}

/// Compares other programs with the first of iotui's backends, at the smallest and the largest
/// block.
pub fn compare_peers(results: &[CellResult]) -> Option<String> {
    let base = results.iter().map(|result| &result.cell.backend).find(|backend| !backend.peer)?;
    let others =
        backends(results.iter().map(|result| &result.cell).filter(|job| job.backend.peer), base);
    let own = results.iter().filter(|result| result.cell.backend == *base);
    let mut blocks: Vec<u64> = own.map(|result| result.cell.block).collect();
    blocks.sort_unstable();
    let ends = match blocks.as_slice() {
        [first, .., last] if first != last => vec![*first, *last],
        [first, ..] => vec![*first],
        [] => return None,
    };
    if others.is_empty() { None } else { sentences(results, base, &others, &ends) }
}

/// Ways of one sentence.
const MAX_WAYS: usize = 5;

/// Compares the ways to read with the plainest of them, at the smallest block size that all have,
/// warm if they were: `At 64 B, warm: stdio is 9.6x [9.1-10] as fast as read (7.0x fewer system
/// calls); no difference shows for pread.`
pub fn compare_ways(results: &[CellResult]) -> Option<String> {
    let reads = results.iter().filter(|of| of.cell.op == Op::Read && moves_data(&of.cell));
    let reads = reads.filter(|of| of.is_sound() && !of.cell.direct && of.cell.mix.is_none());
    let mut groups = group_by_key(reads, |result| Axis::Backend.without(&result.cell));
    let most = groups.iter().map(|(_, group)| group.len()).max().filter(|most| *most > 1)?;
    groups.retain(|(_, group)| group.len() == most);
    // The first of equals, in the order of the plan.
    let (job, mut group) =
        groups.into_iter().min_by_key(|(job, _)| (job.cache != Cache::Warm, job.block))?;
    let place = |result: &&CellResult| {
        let plain = is_plain_call(&result.cell);
        (!plain, infos().iter().position(|info| info.id == result.cell.backend.id))
    };
    let base = *group.iter().min_by_key(|result| place(result))?;
    group.retain(|result| result.cell != base.cell);
    let (mut clauses, mut same) = (Vec::new(), Vec::new());
    for other in group.iter().take(MAX_WAYS) {
        let ratio = other.ratio_to(base).filter(|ratio| ratio.interval().is_some())?;
        let (name, base_name) = (other.cell.backend.to_string(), base.cell.backend.to_string());
        match Finding::of(&ratio) {
            Finding::Differs => clauses.push(format!(
                "{}{}",
                times_as_fast((&name, &base_name), &ratio, ["is", "was"], true),
                describe_calls(&ratio, [calls_of(other), calls_of(base)])
            )),
            _ => same.push(name),
        }
    }
    if !same.is_empty() {
        same.insert(0, base.cell.backend.to_string());
        let names = join_names(&same, same.len(), ", ");
        clauses.push(format!("no difference shows between {names}"));
    }
    let state = if job.cache == Cache::AsIs { String::new() } else { format!(", {}", job.cache) };
    Some(format!("At {}{state}: {}.", show_bytes(job.block), clauses.join("; ")))
}

/// Returns the system calls of an operation; `None` if they were not counted.
fn calls_of(result: &CellResult) -> Option<f64> {
    let counted = result.counted();
    let calls: Option<Vec<u64>> = counted.iter().map(|trial| trial.syscalls.get()).collect();
    let operations: u64 = counted.iter().map(|trial| trial.ops).sum();
    Some(calls?.iter().sum::<u64>() as f64 / operations as f64).filter(|of| of.is_finite())
}

/// From this factor on, fewer system calls are a reason.
const FEWER: f64 = 1.3;
/// From this factor on, there are hardly any.
const HARDLY: f64 = 1000.0;

/// Returns ` (7.0x fewer system calls)` where the faster of two ways makes fewer.
fn describe_calls(ratio: &Ratio, [own, base]: [Option<f64>; 2]) -> String {
    let Some((own, base)) = own.zip(base) else { return String::new() };
    let (fast, slow) = if ratio.ratio > 1.0 { (own, base) } else { (base, own) };
    match slow / fast {
        _ if slow <= 0.0 => String::new(),
        by if by >= HARDLY => " (hardly a system call)".into(),
        by if by >= FEWER => format!(" ({} fewer system calls)", times_exactly(by)),
        _ => String::new(),
    }
}

/// Returns each backend once, in the order of the plan.
fn backends<'a>(jobs: impl Iterator<Item = &'a Job>, base: &Choice) -> Vec<&'a Choice> {
    let others = jobs.filter(|job| job.backend != *base);
    group_by_key(others, |job| &job.backend).into_iter().map(|(backend, _)| backend).collect()
}

fn sentences(
    results: &[CellResult],
    base: &Choice,
    others: &[&Choice],
    blocks: &[u64],
) -> Option<String> {
    let all = blocks.iter().flat_map(|block| Cache::ALL.iter().map(|state| (*block, *state)));
    let said = all.filter_map(|cells| sentence(results, base, others, cells));
    Some(said.collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

fn sentence(
    results: &[CellResult],
    base: &Choice,
    others: &[&Choice],
    (block, state): (u64, Cache),
) -> Option<String> {
    let of = rates(results, base, block, &[state])?;
    let clauses: Vec<String> = others
        .iter()
        // The cache state does not matter to a call that reads nothing.
        .filter_map(|other| Some((*other, rates(results, other, block, &[state, Cache::AsIs])?)))
        .filter_map(|(other, rates)| {
            let (other, base, ratio) = (name(other), name(base), rates.ratio(&of)?);
            let said = times_as_fast((&other, &base), &ratio, ["is", "was"], true);
            let why = match Finding::of(&ratio) {
                Finding::Differs => describe_calls(&ratio, [rates.calls, of.calls]),
                _ => String::new(),
            };
            Some(said + &why)
        })
        .collect();
    let state = if state == Cache::AsIs { String::new() } else { format!(", {state}") };
    let calls = Precision::of(of.all.half_width()).count(of.all.median);
    let calls = format!("{} makes {calls} calls/s", name(base));
    (!clauses.is_empty())
        .then(|| format!("At {}{state}: {calls}; {}.", show_bytes(block), clauses.join("; ")))
}

/// Operations per second over all trials that are long enough, whatever their count: the rate does
/// not depend on it.
struct Rates {
    all: Summary,
    /// The median of each round.
    rounds: BTreeMap<u32, f64>,
    /// System calls of an operation, if they were counted.
    calls: Option<f64>,
}

impl Rates {
    /// Returns the ratio to `base`, by the rules of [`CellResult::ratio_to`].
    fn ratio(&self, base: &Rates) -> Option<Ratio> {
        let rounds = |rates: &Rates| rates.rounds.clone();
        let pairs = paired::pairs_of_rounds(rounds(base), rounds(self));
        paired::from_pairs(&pairs).or_else(|| Ratio::from_summaries(&self.all, &base.all))
    }
}

fn rates(results: &[CellResult], backend: &Choice, block: u64, states: &[Cache]) -> Option<Rates> {
    let same = |job: &Job| {
        job.backend == *backend
            && job.block == block
            && states.contains(&job.cache)
            && job.op != Op::Write
    };
    fn plain(job: &Job) -> bool {
        job.threads == 1 && job.depth == 1
    }
    let cells = results
        .iter()
        .filter(|result| same(&result.cell) && plain(&result.cell) && result.wrong().is_none());
    let cells: Vec<&CellResult> = cells.collect();
    let trials = cells.iter().flat_map(|result| &result.trials);
    let mut of_round: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for trial in trials.filter(|trial| trial.nanos >= MIN_NANOS && !trial.short) {
        of_round.entry(trial.round).or_default().push(trial.operations());
    }
    let all: Vec<f64> = of_round.values().flatten().copied().collect();
    let rounds = of_round.iter().filter_map(|(round, rates)| Some((*round, median(rates)?)));
    let (rounds, calls) = (rounds.collect(), cells.first().and_then(|cell| calls_of(cell)));
    Some(Rates { all: Summary::from_values(&all)?, rounds, calls })
}

fn is_plain_call(job: &Job) -> bool {
    info(&job.backend).is_some_and(|info| info.plain_call)
}

/// Returns the registry entry of a backend that only makes calls and moves no data.
fn calls_only(backend: &Choice) -> Option<&'static Info> {
    info(backend).filter(|info| info.data_path == DataPath::CallOnly)
}

/// Returns the name of a call as in the manual, without the section: `lseek`, `mmap with munmap`.
fn name(backend: &Choice) -> String {
    match calls_only(backend).filter(|_| backend.options.is_empty()) {
        Some(info) => {
            let calls = info.title.split(" + ").map(|call| call.split('(').next().unwrap_or(call));
            calls.collect::<Vec<_>>().join(" with ")
        }
        None => backend.to_string(),
    }
}
