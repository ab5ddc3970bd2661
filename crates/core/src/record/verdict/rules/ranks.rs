//! Rules about ranks that measured together.

use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::facts::share;
use crate::record::verdict::ranks::{RankVerdict, judge_ranks};
use crate::record::{Finding, Severity, Trial, finding};
use crate::units::{counted, join_names, show_nanos, show_rank, show_share};

/// A rank is late if it takes this share of the trial longer than the quickest.
const MAX_LAG: f64 = 0.1;

/// Ranks that are named; more are counted.
const MAX_NAMED: usize = 4;

pub(super) fn own_cache(evidence: &CellEvidence) -> Option<Finding> {
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
    finding(
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
        "use {cache} cold, or {shift} so that each machine reads what another one wrote",
    )
}

fn name(evidence: &CellEvidence, rank: u32) -> String {
    show_rank(rank, evidence.ranks.get(rank as usize).map_or("", String::as_str))
}

/// How much longer than the quickest rank the slowest one took, each from its own start.
struct Lag {
    nanos: u64,
    share: f64,
    slowest: u32,
}

impl Lag {
    fn of(trial: &Trial) -> Option<Lag> {
        let quickest = trial.ranks.iter().map(|rank| rank.nanos).min()?;
        let slowest = trial.ranks.iter().max_by_key(|rank| rank.nanos)?;
        let nanos = slowest.nanos - quickest;
        Some(Lag { nanos, share: share(nanos, trial.nanos), slowest: slowest.rank })
    }
}

pub(super) fn straggler(evidence: &CellEvidence) -> Option<Finding> {
    let late: Vec<Lag> =
        evidence.trials().filter_map(Lag::of).filter(|lag| lag.share > MAX_LAG).collect();
    let longest = late.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
    finding(
        Severity::Note,
        format!(
            "{} took {} longer than the quickest rank, {} of the trial",
            name(evidence, longest.slowest),
            show_nanos(longest.nanos as f64),
            show_share(longest.share)
        ),
        evidence.in_trials(late.len()),
        "find out what slows that machine; the session has the part of every rank",
    )
}

pub(super) fn bound(evidence: &CellEvidence) -> Option<Finding> {
    let cpus = evidence.machine.rank_cpus?;
    let ranks = evidence.trials().map(|trial| trial.ranks.len() as u32).max()?;
    let threads = evidence.job.threads.checked_div(ranks)?;
    if threads <= cpus {
        return None;
    }
    let own = counted(cpus as usize, "CPU");
    finding(
        Severity::Note,
        format!("{threads} threads of a rank share {own}, which the launcher bound it to"),
        format!("the machine has more for a rank that is not bound; {}", evidence.trial_count()),
        "have the launcher bind no rank, or leave each as many CPUs as it has threads",
    )
}
