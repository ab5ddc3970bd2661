//! The order of a round: every cell once, cache state by cache state, shuffled within each.

use crate::backend::order::mix;
use crate::plan::{Cache, Job};

/// The order of round `round`, a function of the seed alone. Cache states come in the order in which the plan names
/// them: what ran before changes a cold read (freed memory goes back to the hypervisor), so they are kept apart.
pub fn order(cells: &[Job], seed: u64, round: u32) -> Vec<usize> {
    by_state(cells, seed, round).concat()
}

/// [`order`], each cache state by itself. States of the same jobs have the same order, so that where a budget ends
/// within each, the same jobs were reached.
pub(super) fn by_state(cells: &[Job], seed: u64, round: u32) -> Vec<Vec<usize>> {
    let mut states: Vec<Cache> = Vec::new();
    cells.iter().for_each(|c| {
        if !states.contains(&c.cache) {
            states.push(c.cache)
        }
    });
    let group = |state| {
        let mut group: Vec<usize> = (0..cells.len()).filter(|i| cells[*i].cache == state).collect();
        shuffle(&mut group, mix(seed ^ mix(u64::from(round))));
        group
    };
    states.into_iter().map(group).collect()
}

/// The order of `count` probes in round `round`.
pub(super) fn shuffled(count: usize, seed: u64, round: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    shuffle(&mut order, mix(seed ^ mix(u64::from(round))));
    order
}

/// Fisher-Yates with splitmix64; the bias of the remainder is below 2^-50 for any plan.
fn shuffle(items: &mut [usize], mut seed: u64) {
    for last in (1..items.len()).rev() {
        seed = mix(seed);
        items.swap(last, (seed % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing;

    fn cells() -> Vec<Job> {
        let states = [Cache::Cold, Cache::Warm];
        (0..20u64).map(|i| Job { block: 1 << i, cache: states[i as usize % 2], ..testing::job() }).collect()
    }

    #[test]
    fn every_cell_once_in_blocks_of_one_cache_state() {
        let cells = cells();
        let order = order(&cells, 7, 1);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        assert!(order[..10].iter().all(|i| cells[*i].cache == Cache::Cold));
    }

    #[test]
    fn cache_states_of_the_same_jobs_have_the_same_order() {
        let cells = cells();
        let [cold, warm] = by_state(&cells, 7, 1).try_into().unwrap();
        // Job 2 n is cold, its twin in the order of the plan 2 n + 1.
        assert_eq!(cold.iter().map(|i| i + 1).collect::<Vec<_>>(), warm);
    }

    #[test]
    fn the_order_follows_the_seed_and_differs_by_round() {
        let cells = cells();
        assert_eq!(order(&cells, 7, 1), order(&cells, 7, 1));
        assert_ne!(order(&cells, 7, 1), order(&cells, 7, 2));
        assert_ne!(order(&cells, 7, 1), order(&cells, 8, 1));
    }

    #[test]
    fn every_place_is_reached_by_every_cell() {
        let cells = vec![testing::job(); 5];
        let mut seen = [[0; 5]; 5];
        (0..500).for_each(|round| order(&cells, 3, round).iter().enumerate().for_each(|(at, cell)| seen[at][*cell] += 1));
        // 100 expected in each of 25 places, standard deviation 9.
        assert!(seen.iter().flatten().all(|n| (60..140).contains(n)), "{seen:?}");
    }
}
