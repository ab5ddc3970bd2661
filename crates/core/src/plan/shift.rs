//! Whose data a rank reads that reads what another machine wrote.

/// Returns whose data each rank reads, by the numbers of their machines: that of the rank as many
/// places further on as the largest machine has ranks. A machine with more than half of them reads
/// some of its own.
pub fn shifted(machines: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..machines.len() as u32).collect();
    order.sort_by_key(|rank| machines[*rank as usize]);
    let runs = order.chunk_by(|a, b| machines[*a as usize] == machines[*b as usize]);
    let most = runs.map(<[u32]>::len).max().unwrap_or(0);
    let mut sources = vec![0; machines.len()];
    for (place, rank) in order.iter().enumerate() {
        sources[*rank as usize] = order[(place + most) % order.len()];
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_read_once_and_by_another_machine_if_that_can_be() {
        let own = |machines: &[u32]| {
            let sources = shifted(machines);
            let mut once = sources.clone();
            once.sort_unstable();
            assert_eq!(once, (0..machines.len() as u32).collect::<Vec<u32>>());
            let is_own = |(rank, of): &(usize, &u32)| machines[*rank] == machines[**of as usize];
            sources.iter().enumerate().filter(is_own).count()
        };
        assert_eq!((own(&[0, 1]), own(&[0, 1, 0, 1, 2, 2]), own(&[])), (0, 0, 0));
        assert_eq!((own(&[0, 0, 1]), own(&[0, 0])), (1, 2));
    }
}
