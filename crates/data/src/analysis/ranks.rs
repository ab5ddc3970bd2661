//! The ranks of a run in a cell: the time that all measured at once, and the slowest rank.

use std::collections::HashMap;
use std::sync::Arc;

use crate::analysis::cell_result::{NodeOf, RankOf, RanksOf, mean_source};
use crate::record::{RankShare, RankVerdict, Trial};
use crate::stats::median;

/// The windows of one trial.
struct Windows {
    active: Option<f64>,
    own: f64,
    first_done: f64,
    last_done: f64,
    tail: f64,
}

/// Returns what the trials show; `None` where one process measured, or no rank moved anything. What
/// each rank is judged by, and the names of the machines, are added by [`RanksOf::judge`].
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
    let done_of = |rank: usize| {
        let shares = complete.iter().filter_map(|trial| trial.ranks.get(rank));
        median(&shares.map(|share| share.end() as f64).collect::<Vec<_>>())
    };
    let each = rates.iter().enumerate().map(|(rank, rate)| RankOf {
        rank: rank as u32,
        node: String::new(),
        rate: *rate,
        done: done_of(rank).unwrap_or(0.0),
        source: None,
        cached_trials: 0,
    });
    let each = each.collect();
    let clocks = complete.iter().flat_map(|trial| trial.ranks.iter().map(|rank| rank.clock_error));
    let (slowest, least) = (0..).zip(&rates).min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some(RanksOf {
        ranks,
        by_time: complete.iter().any(|trial| trial.evidence.ended_by_time),
        clock_error: clocks.max().unwrap_or(0),
        active: of(|windows| windows.active),
        own: of(|windows| Some(windows.own))?,
        first_done: of(|windows| Some(windows.first_done))?,
        last_done: of(|windows| Some(windows.last_done))?,
        tail: of(|windows| Some(windows.tail))?,
        slowest,
        slowness: least / median(&rates).filter(|rate| *rate > 0.0)?,
        each,
        nodes: Vec::new(),
    })
}

impl RanksOf {
    /// Adds the verdict on each rank and the name of its machine, and sums up what each machine
    /// did.
    pub fn judge(&mut self, verdicts: &[RankVerdict], names: &[String]) {
        self.nodes.clear();
        let mut places: HashMap<String, usize> = HashMap::new();
        for rank in &mut self.each {
            if let Some(verdict) = verdicts.get(rank.rank as usize) {
                (rank.source, rank.cached_trials) = (verdict.source, verdict.cached_trials);
            }
            rank.node = names.get(rank.rank as usize).cloned().unwrap_or_default();
            let place = *places.entry(rank.node.clone()).or_insert(self.nodes.len());
            match self.nodes.get_mut(place) {
                Some(node) => node.add(rank),
                None => self.nodes.push(NodeOf::of(rank)),
            }
        }
    }

    /// Returns at most `most` ranks, the slowest first.
    pub fn slowest(&self, most: usize) -> Vec<&RankOf> {
        let mut all: Vec<&RankOf> = self.each.iter().collect();
        all.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        all.truncate(most);
        all
    }
}

impl NodeOf {
    fn of(rank: &RankOf) -> NodeOf {
        let RankOf { node, rate, source, cached_trials, .. } = rank.clone();
        NodeOf { node, ranks: 1, rate, source, cached_trials }
    }

    fn add(&mut self, rank: &RankOf) {
        let both = self.source.zip(rank.source);
        self.source = match both {
            // Neither has moved anything: they do not differ.
            Some((all, _)) if self.rate + rank.rate <= 0.0 => Some(all),
            Some((all, own)) => Some(mean_source(&[(all, self.rate), (own, rank.rate)])),
            None => None,
        };
        self.cached_trials = self.cached_trials.max(rank.cached_trials);
        self.rate += rank.rate;
        self.ranks += 1;
    }
}

fn rate(share: &RankShare, amount: &impl Fn(&RankShare) -> f64) -> f64 {
    if share.nanos == 0 { 0.0 } else { amount(share) * 1e9 / share.nanos as f64 }
}

fn measure(
    trial: &Trial,
    amount: &impl Fn(&RankShare) -> f64,
    active: &impl Fn(&RankShare) -> f64,
) -> Option<Windows> {
    let last_start = trial.ranks.iter().map(|rank| rank.start).max()?;
    let ends = || trial.ranks.iter().map(RankShare::end);
    let (first_end, last_end) = (ends().min()?, ends().max()?);
    let own = trial.ranks.iter().map(|rank| rate(rank, amount)).sum();
    let together = first_end.saturating_sub(last_start);
    let done: f64 = trial.ranks.iter().map(active).sum();
    let active = (together > 0).then(|| done * 1e9 / together as f64);
    let tail = if last_end == 0 { 0.0 } else { 1.0 - together as f64 / last_end as f64 };
    let (first_done, last_done) = (first_end as f64, last_end as f64);
    Some(Windows { active, own, first_done, last_done, tail })
}
