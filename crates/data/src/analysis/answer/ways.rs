//! Speed ratios of calls and programs: the answer of presets that compare them.

use std::collections::BTreeMap;

use super::ratio::times_as_fast;
use crate::analysis::CellResult;
use crate::analysis::groups::group_by_key;
use crate::catalog::{info, infos, only_calls};
use crate::plan::{Cache, Choice, DataPath, Info, Job, Op};
use crate::stats::{Ratio, Summary, median, paired};
use crate::units::{show_bytes, show_count};

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
            let (other, base) = (name(other), name(base));
            Some(times_as_fast((&other, &base), &rates.ratio(&of)?, ["is", "was"], true))
        })
        .collect();
    let state = if state == Cache::AsIs { String::new() } else { format!(", {state}") };
    let calls = format!("{} makes {} calls/s", name(base), show_count(of.all.median).trim_end());
    (!clauses.is_empty())
        .then(|| format!("At {}{state}: {calls}; {}.", show_bytes(block), clauses.join("; ")))
}

/// Operations per second over all trials that are long enough, whatever their count: the rate does
/// not depend on it.
struct Rates {
    all: Summary,
    /// The median of each round.
    rounds: BTreeMap<u32, f64>,
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
    let trials = cells.flat_map(|result| &result.trials);
    let mut of_round: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for trial in trials.filter(|trial| trial.nanos >= MIN_NANOS && !trial.short) {
        of_round.entry(trial.round).or_default().push(trial.operations());
    }
    let all: Vec<f64> = of_round.values().flatten().copied().collect();
    let rounds = of_round.iter().filter_map(|(round, rates)| Some((*round, median(rates)?)));
    Some(Rates { all: Summary::from_values(&all)?, rounds: rounds.collect() })
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
