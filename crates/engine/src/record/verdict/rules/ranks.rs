//! Rules about ranks that measured together.

use super::rule::{Rule, rule};
use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::share;
use crate::record::verdict::ranks::{RankVerdict, judge_ranks};
use crate::record::{RankShare, Severity, Trial, Warning};
use crate::units::{counted, join_names, show_nanos, show_rank, show_share};

pub(super) const OWN_CACHE: Rule = rule(
    0,
    "own-cache",
    "a machine of several served itself from its own page cache",
    check_own_cache,
);

pub(super) const STRAGGLER: Rule =
    rule(0, "straggler", "one rank was done long after the first", check_straggler);

/// A rank is late if it ends this share of the trial after the first.
const MAX_TAIL: f64 = 0.1;

/// Ranks that are named; more are counted.
const MAX_NAMED: usize = 4;

fn check_own_cache(evidence: &CellEvidence) -> Option<Warning> {
    let all = judge_ranks(evidence);
    let cached: Vec<&RankVerdict> = all.iter().filter(|of| of.cached_trials > 0).collect();
    let most = cached.iter().filter_map(|of| of.cached_before).reduce(f64::max)?;
    let trials = cached.iter().map(|of| of.cached_trials).max()?;
    let named = cached.iter().take(MAX_NAMED).map(|of| name(evidence, of.rank));
    let named: Vec<String> = named.collect();
    // Without a preparation, the cache is as it was left, which may be what is asked.
    let severity = match evidence.job.cache {
        Cache::AsIs => Severity::Misleading,
        _ => Severity::Wrong,
    };
    OWN_CACHE.warn(
        severity,
        format!(
            "{} of {} found {} of their part in the page cache of their machine",
            cached.len(),
            counted(all.len(), "rank"),
            show_share(most)
        ),
        format!(
            "{}; {}",
            join_names(&named, cached.len(), ", "),
            evidence.in_trials(trials as usize)
        ),
        "use --cache cold, or --shift so that each machine reads what another one wrote",
    )
}

fn name(evidence: &CellEvidence, rank: u32) -> String {
    show_rank(rank, evidence.ranks.get(rank as usize).map_or("", String::as_str))
}

/// The end of a trial: how long the last rank ran after the first was done, and which that was.
struct Tail {
    nanos: u64,
    share: f64,
    last: u32,
}

impl Tail {
    fn of(trial: &Trial) -> Option<Tail> {
        let first = trial.ranks.iter().map(RankShare::end).min()?;
        let last = trial.ranks.iter().max_by_key(|rank| rank.end())?;
        let nanos = last.end() - first;
        Some(Tail { nanos, share: share(nanos, trial.nanos), last: last.rank })
    }
}

fn check_straggler(evidence: &CellEvidence) -> Option<Warning> {
    let late: Vec<Tail> =
        evidence.trials().filter_map(Tail::of).filter(|tail| tail.share > MAX_TAIL).collect();
    let longest = late.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
    STRAGGLER.warn(
        Severity::Note,
        format!(
            "{} was done {} after the first rank, {} of the trial",
            name(evidence, longest.last),
            show_nanos(longest.nanos as f64),
            show_share(longest.share)
        ),
        evidence.in_trials(late.len()),
        "find out what slows that machine; the session has the part of every rank",
    )
}
