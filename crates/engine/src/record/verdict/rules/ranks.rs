//! Rules about ranks that measured together.

use super::rule::{Rule, rule};
use crate::plan::Cache;
use crate::record::verdict::CellEvidence;
use crate::record::verdict::ranks::{RankVerdict, judge_ranks};
use crate::record::{Severity, Warning};
use crate::units::{counted, join_names, show_share};

pub(super) const OWN_CACHE: Rule = rule(
    0,
    "own-cache",
    "a machine of several served itself from its own page cache",
    check_own_cache,
);

/// Ranks that are named; more are counted.
const MAX_NAMED: usize = 4;

fn check_own_cache(evidence: &CellEvidence) -> Option<Warning> {
    let all = judge_ranks(evidence);
    let cached: Vec<&RankVerdict> = all.iter().filter(|of| of.cached_trials > 0).collect();
    let most = cached.iter().filter_map(|of| of.cached_before).reduce(f64::max)?;
    let trials = cached.iter().map(|of| of.cached_trials).max()?;
    let name = |of: &&&RankVerdict| match evidence.ranks.get(of.rank as usize) {
        Some(node) => format!("rank {} on {node}", of.rank),
        None => format!("rank {}", of.rank),
    };
    let named: Vec<String> = cached.iter().take(MAX_NAMED).map(|of| name(&of)).collect();
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
