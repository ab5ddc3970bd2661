//! The order of a round: every cell once, grouped by cache state and shuffled within each. The
//! first round takes small counts first, and a coarse grid over the axes before a fine one.

use std::collections::HashMap;

use crate::plan::{Axis, Cache, Job, Plan};
use crate::stats::random::{mix, shuffle};

/// Returns the index of the variant of the machine that a job is measured in.
pub fn variant_index(plan: &Plan, job: &Job) -> Option<usize> {
    let name = job.variant.as_ref()?;
    plan.variants.iter().position(|variant| variant.name == *name)
}

/// Returns the order of a round of `plan`, a function of the seed alone, as lists, one per variant
/// and cache state. Cache states come in the order of the plan and stay apart, because what ran
/// before changes a cold read (freed memory goes back to the hypervisor). The variants come in one
/// order and then in the other, `A B`, `B A`: what drifts steadily is the same for both on average,
/// and each command runs once a round.
pub fn order_of_round(plan: &Plan, round: u32) -> Vec<Vec<usize>> {
    let states = order_by_state(&plan.cells, plan.seed, round);
    if plan.variants.is_empty() {
        return states;
    }
    let variants = order_of_variants(plan, round.into());
    let of_variant = |variant: usize| {
        let states = &states;
        states.iter().map(move |state| {
            let is_in = |at: &&usize| variant_index(plan, &plan.cells[**at]) == Some(variant);
            state.iter().filter(is_in).copied().collect()
        })
    };
    variants.into_iter().flat_map(of_variant).collect()
}

/// Returns the order of a round as one list per cache state, in which each cell is followed by the
/// same cell in the next variant: `A B`, then another one `B A`. The trials of a pair are as close
/// as can be, and a command runs once a cell.
pub fn order_of_pairs(plan: &Plan, round: u32) -> Vec<Vec<usize>> {
    let (groups, group_of) = twins(plan);
    let mut waiting: Vec<Option<Vec<usize>>> = groups.into_iter().map(Some).collect();
    let mut turn = u64::from(round);
    let mut in_pairs = |state: Vec<usize>| -> Vec<usize> {
        let mut order = Vec::with_capacity(state.len());
        for index in state {
            let Some(cells) = waiting[group_of[index]].take() else { continue };
            let in_variant = |variant: usize| {
                let is_in = |at: &&usize| variant_index(plan, &plan.cells[**at]) == Some(variant);
                cells.iter().find(is_in).copied()
            };
            order.extend(order_of_variants(plan, turn).into_iter().filter_map(in_variant));
            turn += 1;
        }
        order
    };
    order_by_state(&plan.cells, plan.seed, round).into_iter().map(&mut in_pairs).collect()
}

/// Returns the indexes of the cells that are the same in each variant, in the order of the
/// variants; and the index of each cell's group.
pub fn twins(plan: &Plan) -> (Vec<Vec<usize>>, Vec<usize>) {
    let (mut groups, mut group_of) = (Vec::<Vec<usize>>::new(), Vec::new());
    let mut known: HashMap<Job, usize> = HashMap::new();
    for (index, job) in plan.cells.iter().enumerate() {
        let of = *known.entry(Axis::Variant.without(job)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[of].push(index);
        group_of.push(of);
    }
    let in_order = |index: &usize| variant_index(plan, &plan.cells[*index]);
    groups.iter_mut().for_each(|group| group.sort_by_key(in_order));
    (groups, group_of)
}

/// Returns the indexes of the variants, in one order for even turns and in the other for odd ones.
fn order_of_variants(plan: &Plan, turn: u64) -> Vec<usize> {
    let mut variants: Vec<usize> = (0..plan.variants.len()).collect();
    if !(plan.seed ^ turn).is_multiple_of(2) {
        variants.reverse();
    }
    variants
}

/// Returns the order of a round as one list per cache state. States of the same jobs have the same
/// order, so that a budget that ends within each reaches the same jobs.
fn order_by_state(cells: &[Job], seed: u64, round: u32) -> Vec<Vec<usize>> {
    let mut states: Vec<Cache> = Vec::new();
    cells.iter().for_each(|c| {
        if !states.contains(&c.cache) {
            states.push(c.cache)
        }
    });
    let group = |state| {
        let mut group: Vec<usize> = (0..cells.len()).filter(|i| cells[*i].cache == state).collect();
        shuffle(&mut group, mix(seed ^ mix(u64::from(round))));
        if round > 1 {
            return group;
        }
        let state: Vec<&Job> = group.iter().map(|index| &cells[*index]).collect();
        let mut levels: Vec<(u32, usize)> = grid_levels(&state).into_iter().zip(group).collect();
        // The largest count takes longer than all others together; if it came first, none of them
        // would have a result. The sort is stable, so the order within a level stays random.
        levels.sort_by_key(|(level, index)| (cells[*index].count, *level));
        levels.into_iter().map(|(_, index)| index).collect()
    };
    states.into_iter().map(group).collect()
}

/// Returns how fine a grid over the axes must be to contain each cell: 0 for the ends of all axes,
/// 1 for their middles too, and so on. A budget that ends within the first round then thins out
/// each curve instead of cutting off an end.
fn grid_levels(cells: &[&Job]) -> Vec<u32> {
    let axes: [fn(&Job) -> u64; 4] =
        [|job| job.block, |job| job.threads.into(), |job| job.depth.into(), |job| job.span];
    let mut levels = vec![0; cells.len()];
    for axis in axes {
        let mut values: Vec<u64> = cells.iter().map(|cell| axis(cell)).collect();
        values.sort_unstable();
        values.dedup();
        for (cell, level) in cells.iter().zip(&mut levels) {
            let place = values.partition_point(|value| *value < axis(cell));
            *level = (*level).max(fineness(place, values.len()));
        }
    }
    levels
}

/// Returns how often `0..count` must be halved until `place` is an end of a part.
fn fineness(place: usize, count: usize) -> u32 {
    let (mut low, mut high, mut halved) = (0, count.saturating_sub(1), 0);
    while place != low && place != high {
        let middle = low.midpoint(high);
        halved += 1;
        match place.cmp(&middle) {
            std::cmp::Ordering::Equal => break,
            std::cmp::Ordering::Less => high = middle,
            std::cmp::Ordering::Greater => low = middle,
        }
    }
    halved
}

/// Returns the order of `count` probes in round `round`.
pub fn shuffled_indexes(count: usize, seed: u64, round: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    shuffle(&mut order, mix(seed ^ mix(u64::from(round))));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing;

    /// Plans the cells in two variants.
    fn plan_of_variants() -> Plan {
        let mut plan = Plan::plain("sweep", crate::plan::TargetSpec::None);
        plan.variants = ["A:true", "B:true"].map(|text| text.parse().unwrap()).to_vec();
        let in_each = |job: Job| {
            let of =
                |v: &crate::plan::Variant| Job { variant: Some(v.name.clone()), ..job.clone() };
            plan.variants.iter().map(of).collect::<Vec<_>>()
        };
        plan.cells = cells().into_iter().flat_map(in_each).collect();
        plan
    }

    #[test]
    fn pairs_are_adjacent_and_alternate() {
        let plan = plan_of_variants();
        for round in 1..5 {
            let order = order_of_pairs(&plan, round);
            assert_eq!(order.iter().map(Vec::len).collect::<Vec<_>>(), [20, 20]);
            let order = order.concat();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..40).collect::<Vec<_>>());
            for (turn, pair) in order.chunks(2).enumerate() {
                assert_eq!(pair[0] / 2, pair[1] / 2, "cells 2 n and 2 n + 1 are twins");
                assert_eq!(pair[0] % 2, (turn + round as usize) % 2, "{round} {turn}");
            }
        }
    }

    #[test]
    fn variants_alternate_in_blocks() {
        let plan = plan_of_variants();
        let variants = |round| -> Vec<usize> {
            let order = order_of_round(&plan, round);
            let mut sorted = order.concat();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..40).collect::<Vec<_>>());
            assert_eq!(order.len(), 4, "two variants of two cache states");
            order
                .concat()
                .chunk_by(|a, b| a % 2 == b % 2)
                .map(|block| variant_index(&plan, &plan.cells[block[0]]).unwrap())
                .collect()
        };
        for round in 1..9 {
            let (now, next) = (variants(round), variants(round + 1));
            assert_eq!(
                (now.len(), now[1]),
                (2, next[0]),
                "the last of a round continues in the next"
            );
        }
    }

    fn order(cells: &[Job], seed: u64, round: u32) -> Vec<usize> {
        order_by_state(cells, seed, round).concat()
    }

    fn cells() -> Vec<Job> {
        let states = [Cache::Cold, Cache::Warm];
        (0..20u64)
            .map(|i| Job { block: 1 << i, cache: states[i as usize % 2], ..testing::job() })
            .collect()
    }

    #[test]
    fn rounds_group_cells_by_cache_state() {
        let cells = cells();
        let order = order(&cells, 7, 1);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        assert!(order[..10].iter().all(|i| cells[*i].cache == Cache::Cold));
    }

    #[test]
    fn cache_states_share_one_order() {
        let cells = cells();
        let [cold, warm] = order_by_state(&cells, 7, 1).try_into().unwrap();
        // Job 2 n is cold, its twin in the order of the plan 2 n + 1.
        assert_eq!(cold.iter().map(|i| i + 1).collect::<Vec<_>>(), warm);
    }

    #[test]
    fn a_cut_first_round_spans_curves() {
        let cells: Vec<Job> = (0..28u64).map(|i| Job { block: 1 << i, ..testing::job() }).collect();
        for (seed, reached) in [(1, 8), (2, 15), (3, 20)] {
            let mut places = order(&cells, seed, 1)[..reached].to_vec();
            places.sort_unstable();
            assert_eq!((places.first(), places.last()), (Some(&0), Some(&27)));
            let gap = places.windows(2).map(|two| two[1] - two[0]).max().unwrap();
            assert!(gap <= 2 * 28 / reached + 1, "{seed}: {places:?}");
        }
        // Beyond it chance alone decides.
        assert!((2..50).any(|round| {
            order(&cells, 1, round)[..8].iter().all(|place| ![0, 27].contains(place))
        }));
    }

    #[test]
    fn first_round_begins_with_small_counts() {
        let job = |count: u64| Job { count: Some(1 << count), ..testing::job() };
        let cells: Vec<Job> = (0..20).rev().map(job).collect();
        assert_eq!(order(&cells, 7, 1), (0..20).rev().collect::<Vec<_>>());
        assert_ne!(order(&cells, 7, 2), order(&cells, 7, 1));
    }

    #[test]
    fn order_depends_on_seed_and_round() {
        let cells = cells();
        assert_eq!(order(&cells, 7, 1), order(&cells, 7, 1));
        assert_ne!(order(&cells, 7, 1), order(&cells, 7, 2));
        assert_ne!(order(&cells, 7, 1), order(&cells, 8, 1));
    }

    #[test]
    fn every_cell_reaches_every_place() {
        let cells = vec![testing::job(); 5];
        let mut seen = [[0; 5]; 5];
        (0..500).for_each(|round| {
            order(&cells, 3, round).iter().enumerate().for_each(|(at, cell)| seen[at][*cell] += 1)
        });
        // 100 expected in each of 25 places, standard deviation 9.
        assert!(seen.iter().flatten().all(|n| (60..140).contains(n)), "{seen:?}");
    }
}
