//! The verdict on each of several ranks that measured a cell together.

use std::collections::HashMap;
use std::sync::Arc;

use super::facts::share;
use super::{CellEvidence, Source, source};
use crate::plan::{Job, Layout};
use crate::record::{Evidence, RankShare, Trial};

/// Where the bytes of one rank came from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RankVerdict {
    pub rank: u32,
    pub source: Option<Source>,
    /// The largest share of its part that was in its machine's page cache before a trial that was
    /// not to find it there; `None` if none was.
    pub cached_before: Option<f64>,
    /// The trials in which that was so.
    pub cached_trials: u32,
}

/// Judges each rank of a cell by itself; nothing where one process measured.
pub fn judge_ranks(evidence: &CellEvidence) -> Vec<RankVerdict> {
    let ranks = evidence.trials().map(|trial| trial.ranks.len()).max().unwrap_or(0);
    if ranks < 2 {
        return Vec::new();
    }
    let each = |all: u64| all / ranks as u64;
    let job = &Job {
        span: each(evidence.job.span),
        threads: (evidence.job.threads / ranks as u32).max(1),
        ..evidence.job.clone()
    };
    // With interleaved blocks, the first rank of a machine looks after the whole file.
    let strided = job.layout == Layout::Strided;
    let mut firsts: HashMap<&String, usize> = HashMap::new();
    let of = |rank| {
        let node = evidence.ranks.get(rank).filter(|_| strided);
        let keeper = node.map_or(rank, |node| *firsts.entry(node).or_insert(rank));
        judge_rank(&CellEvidence { job, ..*evidence }, (rank, keeper), ranks as u64)
    };
    (0..ranks).map(of).collect()
}

/// Judges a rank by its own part, and by what `keeper` saw of the page cache.
fn judge_rank(evidence: &CellEvidence, (rank, keeper): (usize, usize), ranks: u64) -> RankVerdict {
    let strided = evidence.job.layout == Layout::Strided;
    let own = |trial: &Trial| {
        let resident = trial.ranks.get(keeper)?.resident_before;
        Some(Arc::new(Trial { resident_before: resident, ..alone(trial, trial.ranks.get(rank)?) }))
    };
    let trials: Vec<Arc<Trial>> = evidence.trials().filter_map(own).collect();
    let evidence = &CellEvidence { trials: &trials, ..*evidence };
    let looked_at = evidence.job.span.saturating_mul(if strided { ranks } else { 1 });
    let watched = Job { span: looked_at, ..evidence.job.clone() };
    let watched = CellEvidence { job: &watched, ..*evidence };
    let found = |trial: &&Trial| trial.resident_before > Some(watched.tolerance(trial));
    let cached: Vec<&Trial> = match evidence.cacheable() && !evidence.is_warm() {
        true => evidence.trials().filter(found).collect(),
        false => Vec::new(),
    };
    let most = cached.iter().filter_map(|trial| trial.resident_before).max();
    RankVerdict {
        rank: rank as u32,
        source: source::origin(evidence).source,
        cached_before: most.map(|most| share(most, looked_at).min(1.0)),
        cached_trials: cached.len() as u32,
    }
}

/// Returns the part of one rank as a trial of its own.
fn alone(trial: &Trial, own: &RankShare) -> Trial {
    Trial {
        bytes: own.bytes,
        ops: own.ops,
        nanos: own.nanos,
        device_bytes: own.device_bytes,
        hole_bytes: own.hole_bytes,
        short: trial.short,
        evidence: Evidence {
            unique_bytes: own.unique_bytes,
            written: own.written,
            parts: trial.evidence.parts,
            residency: trial.evidence.residency,
            ..Evidence::default()
        },
        ..Trial::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Cache;
    use crate::record::verdict::testing::{Case, SPAN, cold};

    /// If the blocks of a file belong to the ranks in turn, only the first rank of a machine knows
    /// which are cached.
    #[test]
    fn strided_ranks_share_their_machines_cache() {
        let mut case = cold();
        (case.job.layout, case.job.cache) = (Layout::Strided, Cache::Warm);
        let share = |rank, resident_before| RankShare {
            rank,
            bytes: SPAN / 4,
            unique_bytes: SPAN / 4,
            device_bytes: Some(0),
            hole_bytes: Some(0),
            resident_before: Some(resident_before),
            ..RankShare::default()
        };
        case.each(|t| t.ranks = vec![share(0, SPAN), share(1, 0), share(2, SPAN), share(3, 0)]);
        case.target.device_counted = None;
        let nodes = ["a", "a", "b", "b"].map(String::from);
        let judge = |case: &Case| judge_ranks(&CellEvidence { ranks: &nodes, ..case.evidence() });
        for of in judge(&case) {
            assert_eq!(of.source.map(|source| source.page_cache), Some(1.0), "rank {}", of.rank);
            assert_eq!(of.cached_trials, 0, "as asked");
        }
        case.job.cache = Cache::Cold;
        assert!(
            judge(&case).iter().all(|of| of.cached_trials > 0 && of.cached_before == Some(1.0))
        );
    }
}
