//! The verdict on each of several ranks that measured a cell together.

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
    let of = |rank| judge_rank(&CellEvidence { job, ..*evidence }, rank, ranks as u64);
    (0..ranks).map(of).collect()
}

fn judge_rank(evidence: &CellEvidence, rank: usize, ranks: u64) -> RankVerdict {
    let own = |trial: &Trial| Some(Arc::new(alone(trial, trial.ranks.get(rank)?)));
    let trials: Vec<Arc<Trial>> = evidence.trials().filter_map(own).collect();
    let evidence = &CellEvidence { trials: &trials, ..*evidence };
    // Of blocks between those of others, one rank looks after the whole file.
    let strided = evidence.job.layout == Layout::Strided;
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
        resident_before: own.resident_before,
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
