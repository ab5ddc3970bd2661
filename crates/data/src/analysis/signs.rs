//! The signs of the series of a plan: the look of the backend, the state of the page cache, and a
//! number where both are equal.

use std::collections::HashMap;

use crate::catalog::{Identity, identity};
use crate::plan::{Axis, Cache, Job};

/// The look of one series, the same on every screen and in every report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sign {
    pub identity: Identity,
    /// Filled is cold, hollow is warm, asis is a third form.
    pub cache: Cache,
    /// 0, or a number if another series has the same backend and cache state: `uring` with two
    /// depths.
    pub extra: usize,
}

impl Sign {
    /// Returns the sign of a job, as if no other had the same backend and cache state.
    pub fn of(job: &Job) -> Sign {
        Sign { identity: identity(&job.backend.id), cache: job.cache, extra: 0 }
    }

    pub fn hue(&self) -> usize {
        self.identity.hue
    }
}

/// The signs of all series of a plan; no two are equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Signs {
    axis: Axis,
    of: HashMap<Job, Sign>,
}

impl Signs {
    /// Returns the signs of all series over `axis`, measured or not: they must not change while
    /// results come in.
    pub fn new<'a>(cells: impl IntoIterator<Item = &'a Job>, axis: Axis) -> Signs {
        let mut known: HashMap<Job, usize> = HashMap::new();
        let mut series: Vec<Job> = Vec::new();
        for cell in cells {
            let job = axis.without(cell);
            if !known.contains_key(&job) {
                known.insert(job.clone(), series.len());
                series.push(job);
            }
        }
        // Without options first: they have the plain sign wherever they stand.
        let mut order: Vec<&Job> = series.iter().collect();
        order.sort_by_key(|job| !job.backend.options.is_empty());
        // No two backends have the same letter, except names that this version does not know.
        let look = |sign: Sign| (sign.identity.letter, sign.cache);
        let mut taken: HashMap<(char, Cache), usize> = HashMap::new();
        for job in order {
            taken.entry(look(Sign::of(job))).or_insert(known[job]);
        }
        let mut extra = 0;
        let signs = series.iter().enumerate().map(|(at, job)| {
            let plain = Sign::of(job);
            let is_first = taken[&look(plain)] == at;
            extra += usize::from(!is_first);
            (job.clone(), Sign { extra: if is_first { 0 } else { extra }, ..plain })
        });
        Signs { axis, of: signs.collect() }
    }

    /// Returns the sign of the series that a cell is on.
    pub fn of(&self, cell: &Job) -> Sign {
        self.of.get(&self.axis.without(cell)).copied().unwrap_or_else(|| Sign::of(cell))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::plan::{Choice, Op};

    fn job(backend: &str, cache: Cache, block: u64, depth: u32) -> Job {
        let plain = Job::plain(Choice::parse(backend).unwrap(), Op::Read);
        Job { cache, block, depth, ..plain }
    }

    fn jobs() -> Vec<Job> {
        let mut all = Vec::new();
        for backend in ["uring+sqpoll", "uring", "read"] {
            for cache in [Cache::Cold, Cache::Warm] {
                for depth in [1, 8] {
                    all.extend([4096, 8192].map(|block| job(backend, cache, block, depth)));
                }
            }
        }
        all
    }

    #[test]
    fn each_series_has_its_own_sign() {
        let all = jobs();
        let signs = Signs::new(&all, Axis::Block);
        let different: HashSet<Sign> = all.iter().map(|job| signs.of(job)).collect();
        assert_eq!(different.len(), 12);
        for pair in all.chunks(2) {
            assert_eq!(signs.of(&pair[0]), signs.of(&pair[1]));
        }
    }

    #[test]
    fn plain_backends_keep_their_sign() {
        let signs = Signs::new(&jobs(), Axis::Block);
        let plain = job("uring", Cache::Warm, 4096, 1);
        assert_eq!(signs.of(&plain), Sign::of(&plain));
        assert_ne!(signs.of(&job("uring+sqpoll", Cache::Warm, 4096, 1)).extra, 0);
    }

    #[test]
    fn signs_do_not_depend_on_others() {
        let read = job("read", Cache::Cold, 4096, 1);
        let alone = Signs::new([&read], Axis::Block).of(&read);
        assert_eq!(alone, Signs::new(&jobs(), Axis::Block).of(&read));
        let warm = job("read", Cache::Warm, 4096, 1);
        assert_eq!(Sign { cache: Cache::Warm, ..alone }, Sign::of(&warm));
    }
}
