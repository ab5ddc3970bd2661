//! What the ranks of a run did in a cell: how long all of them measured at once, and which was
//! slowest.

use std::sync::Arc;

use crate::analysis::cell_result::RanksOf;
use crate::record::{RankShare, Trial};
use crate::stats::median;

/// The windows of one trial.
struct Windows {
    active: Option<f64>,
    own: f64,
    tail: f64,
}

/// Returns what the trials show; `None` where one process measured, or no rank moved anything.
pub fn ranks(trials: &[Arc<Trial>]) -> Option<RanksOf> {
    let complete: Vec<&Trial> =
        trials.iter().map(|trial| &**trial).filter(|trial| !trial.short).collect();
    let moves = complete.iter().any(|trial| trial.bytes > 0);
    let amount = |rank: &RankShare| if moves { rank.bytes } else { rank.ops } as f64;
    let ranks = complete.iter().map(|trial| trial.ranks.len()).max().filter(|ranks| *ranks > 1)?;
    let active = |rank: &RankShare| if moves { rank.active_bytes } else { rank.active_ops } as f64;
    let windows = complete.iter().filter_map(|trial| measure(trial, &amount, &active));
    let windows: Vec<Windows> = windows.collect();
    let of = |get: fn(&Windows) -> Option<f64>| {
        median(&windows.iter().filter_map(get).collect::<Vec<f64>>())
    };
    let rate_of = |rank: usize| {
        let shares = complete.iter().filter_map(|trial| trial.ranks.get(rank));
        median(&shares.map(|share| rate(share, &amount)).collect::<Vec<f64>>())
    };
    let rates: Vec<f64> = (0..ranks).map(|rank| rate_of(rank).unwrap_or(0.0)).collect();
    let (slowest, least) = (0..).zip(&rates).min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some(RanksOf {
        ranks,
        active: of(|windows| windows.active),
        own: of(|windows| Some(windows.own))?,
        tail: of(|windows| Some(windows.tail))?,
        slowest,
        slowness: least / median(&rates).filter(|rate| *rate > 0.0)?,
    })
}

fn rate(share: &RankShare, amount: &impl Fn(&RankShare) -> f64) -> f64 {
    if share.nanos == 0 { 0.0 } else { amount(share) * 1e9 / share.nanos as f64 }
}

fn measure(
    trial: &Trial,
    amount: &impl Fn(&RankShare) -> f64,
    active: &impl Fn(&RankShare) -> f64,
) -> Option<Windows> {
    let end = |rank: &RankShare| rank.start.saturating_add(rank.nanos);
    let last_start = trial.ranks.iter().map(|rank| rank.start).max()?;
    let (first_end, last_end) =
        (trial.ranks.iter().map(end).min()?, trial.ranks.iter().map(end).max()?);
    let own = trial.ranks.iter().map(|rank| rate(rank, amount)).sum();
    let together = first_end.saturating_sub(last_start);
    let done: f64 = trial.ranks.iter().map(active).sum();
    let active = (together > 0).then(|| done * 1e9 / together as f64);
    let tail = if last_end == 0 { 0.0 } else { 1.0 - together as f64 / last_end as f64 };
    Some(Windows { active, own, tail })
}
