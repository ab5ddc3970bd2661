//! The choice of one of several methods for the whole file, as a pure function of brief tries.

use serde::{Deserialize, Serialize};

use crate::plan::{Axis, Job, Plan};
use crate::stats;
use crate::units::{counted, show_bytes, show_rate, show_share};

/// One try of a method on a part of the file, or on all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Try {
    /// Index into the plan's cells.
    pub cell: u32,
    /// Where the part begins, and the number of bytes read.
    pub offset: u64,
    pub bytes: u64,
    pub nanos: u64,
    pub device_bytes: Option<u64>,
    pub minor_faults: u64,
}

impl Try {
    /// Returns the throughput in bytes per second.
    pub fn rate(&self) -> f64 {
        if self.nanos == 0 { 0.0 } else { self.bytes as f64 * 1e9 / self.nanos as f64 }
    }
}

/// A method that was not tried, or whose try failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedMethod {
    pub cell: u32,
    pub why: String,
}

/// The state of the file and the machine before the tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PickConditions {
    /// Bytes to read, and how many of them are in the page cache; `None` = not reported by this
    /// kernel.
    pub span: u64,
    pub resident: Option<u64>,
    /// CPUs that this process may use.
    pub cpus: u32,
}

impl PickConditions {
    /// Cached share from which a file counts as cached.
    const MIN_CACHED_SHARE: f64 = 0.9;
    /// Cached share from which every read of a file finds the same, as in the cache state warm.
    const MIN_WARM_SHARE: f64 = 0.99;
    /// Cached share below which a file counts as cold.
    const MAX_COLD_SHARE: f64 = 0.01;

    /// Returns the share of the span that is cached; 1 if unknown.
    pub fn cached_share(&self) -> f64 {
        self.resident.map_or(1.0, |resident| resident as f64 / self.span.max(1) as f64)
    }

    pub fn is_cached(&self) -> bool {
        self.cached_share() >= PickConditions::MIN_CACHED_SHARE
    }

    /// Returns whether the whole span is known to be cached, so that every further read of it finds
    /// the same.
    pub fn is_warm(&self) -> bool {
        self.resident.is_some() && self.cached_share() >= PickConditions::MIN_WARM_SHARE
    }

    pub fn is_cold(&self) -> bool {
        self.cached_share() < PickConditions::MAX_COLD_SHARE
    }
}

/// The method that was picked among several, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pick {
    /// Index of the picked cell; `None`: no method works here.
    pub cell: Option<u32>,
    #[serde(flatten)]
    pub conditions: PickConditions,
    pub tries: Vec<Try>,
    pub left_out: Vec<SkippedMethod>,
    /// Whether the pages that the tries brought into the page cache were dropped afterwards.
    pub restored: bool,
    /// The reason as a sentence without a full stop.
    pub why: String,
}

/// Number of slower methods that the reason names.
const MAX_NAMED: usize = 3;

impl Pick {
    /// Picks the fastest of the `ways` (indexes into `cells`) by their tries. Without tries it
    /// picks the first one that suits the conditions; the caller lists the usually fastest first.
    /// `faults` returns true for jobs that touch a mapping page by page.
    pub fn choose(
        cells: &[Job],
        ways: &[u32],
        conditions: PickConditions,
        tries: Vec<Try>,
        left_out: Vec<SkippedMethod>,
        restored: bool,
        faults: impl Fn(&Job) -> bool,
    ) -> Pick {
        let mut pick =
            Pick { cell: None, conditions, tries, left_out, restored, why: String::new() };
        let mut rates: Vec<(u32, f64)> =
            ways.iter().filter_map(|way| Some((*way, pick.rate(*way)?))).collect();
        // The sort is stable: the first of equal rates wins.
        rates.sort_by(|a, b| b.1.total_cmp(&a.1));
        let job = |way: u32| cells.get(way as usize);
        let usable: Vec<u32> = ways
            .iter()
            .copied()
            .filter(|way| !pick.left_out.iter().any(|out| out.cell == *way))
            .collect();
        pick.cell = match rates.first() {
            Some((fastest, _)) => Some(*fastest),
            None => usable
                .iter()
                .find(|way| job(**way).is_some_and(|job| job.direct != conditions.is_cached()))
                .or(usable.first())
                .copied(),
        };
        let reason = pick.describe_choice(cells, &rates, usable.len());
        pick.why = format!(
            "{}: {reason}{}",
            pick.describe_conditions(cells, faults),
            pick.describe_side_effects()
        );
        pick
    }

    /// Returns why the picked method was chosen: `rates` holds the rates of the tries, fastest
    /// first; `usable` methods could be picked.
    fn describe_choice(&self, cells: &[Job], rates: &[(u32, f64)], usable: usize) -> String {
        let job = |way: u32| cells.get(way as usize);
        let describe = |&(way, rate): &(u32, f64)| {
            Some(format!("{} {}", describe_method(job(way)?), show_rate(rate)))
        };
        match (rates, self.cell.and_then(job)) {
            ([], None) => "no method works".into(),
            ([], Some(job)) if usable == 1 => {
                format!("{} is the only method available", describe_method(job))
            }
            ([], Some(job)) => {
                format!(
                    "too little data to compare methods, and {} is usually best",
                    describe_method(job)
                )
            }
            ([only], _) => {
                format!("{} was the only method tried", describe(only).unwrap_or_default())
            }
            ([best, others @ ..], _) => {
                let rest = others.len().saturating_sub(MAX_NAMED);
                let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
                let named: Vec<String> =
                    others.iter().take(MAX_NAMED).filter_map(describe).collect();
                format!(
                    "in brief tries {} was the fastest, ahead of {}{rest}",
                    describe(best).unwrap_or_default(),
                    named.join(", ")
                )
            }
        }
    }

    /// Returns the cells that the pick mentions, some more than once.
    pub fn cells(&self) -> impl Iterator<Item = u32> + '_ {
        let tried = self.tries.iter().map(|t| t.cell);
        self.cell.into_iter().chain(tried).chain(self.left_out.iter().map(|out| out.cell))
    }

    /// Returns whether one trial of the picked cell is what was requested. A further one of a file
    /// that was not in memory would read the device again, or find the file in memory and so
    /// measure something else.
    pub fn is_once(&self, plan: &Plan) -> bool {
        let job = self.cell.and_then(|cell| plan.cells.get(cell as usize));
        let uncached = !self.conditions.is_warm() || job.is_some_and(|job| job.direct);
        plan.trials == Some(1) || plan.once_uncached && uncached
    }

    /// Returns the rates of the tries of a method that read anything, in bytes per second.
    pub fn rates_of_tries(&self, way: u32) -> Vec<f64> {
        self.useful_tries(way).map(Try::rate).collect()
    }

    fn useful_tries(&self, way: u32) -> impl Iterator<Item = &Try> {
        self.tries.iter().filter(move |t| t.cell == way && t.bytes > 0 && t.nanos > 0)
    }

    /// Returns the rate of a method in bytes per second: the median of its tries or, if the parts
    /// of the file differ in what is cached, the rate of all tries together.
    pub fn rate(&self, way: u32) -> Option<f64> {
        if !self.conditions.is_cached() && !self.conditions.is_cold() {
            let (bytes, nanos) = self.useful_tries(way).fold((0u64, 0u64), |(bytes, nanos), t| {
                (bytes.saturating_add(t.bytes), nanos.saturating_add(t.nanos))
            });
            return (nanos > 0).then(|| bytes as f64 * 1e9 / nanos as f64);
        }
        stats::median(&self.rates_of_tries(way))
    }

    /// Describes what the tries read from the device; empty if they read nothing.
    fn describe_side_effects(&self) -> String {
        let (all, device) = self.tries.iter().fold((0u64, 0u64), |(all, device), t| {
            (all.saturating_add(t.bytes), device.saturating_add(t.device_bytes.unwrap_or(0)))
        });
        if device == 0 || self.conditions.is_cached() {
            return String::new();
        }
        let cleanup = if self.restored { "; those pages were dropped again" } else { "" };
        format!(
            "; the tries read {}, {} of it from the device{cleanup}",
            show_bytes(all),
            show_bytes(device)
        )
    }

    /// Describes the state before the tries: `98.0 % of 1 GiB in the page cache, 64 KiB mapped per
    /// page fault, 2 CPUs`.
    fn describe_conditions(&self, cells: &[Job], faults: impl Fn(&Job) -> bool) -> String {
        let PickConditions { span, resident, cpus } = self.conditions;
        let cached = match resident {
            Some(_) if span == 0 => String::new(),
            Some(_) => format!(
                "{} of {} in the page cache, ",
                show_share(self.conditions.cached_share().min(1.0)),
                show_bytes(span)
            ),
            None => "residency unknown, ".into(),
        };
        let mapped = match self.bytes_per_fault(cells, faults) {
            Some(bytes) => format!("{} mapped per page fault, ", show_bytes(bytes)),
            None => String::new(),
        };
        format!("{cached}{mapped}{}", counted(cpus as usize, "CPU"))
    }

    /// Returns the bytes that one page fault of a plain mapping covers; `None` if the file is not
    /// cached or no mapping was tried.
    fn bytes_per_fault(&self, cells: &[Job], faults: impl Fn(&Job) -> bool) -> Option<u64> {
        if !self.conditions.is_cached() {
            return None;
        }
        let mapping =
            self.tries.iter().find(|t| cells.get(t.cell as usize).is_some_and(&faults))?;
        mapping.bytes.checked_div(mapping.minor_faults)
    }
}

/// Describes a method without the settings that all methods share: `mmap+shared 2 MiB 2 threads`,
/// `uring 1 MiB queue depth 8 direct`.
pub fn describe_method(job: &Job) -> String {
    job.describe(&[Axis::Backend, Axis::Block, Axis::Threads, Axis::Depth, Axis::Direct])
}

/// Describes the cache state that a job prepares: `, cold`; empty for a file taken as is.
pub fn describe_cache_state(job: &Job) -> String {
    Axis::Cache.phrase(job).map_or_else(String::new, |state| format!(", {state}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Choice, Op};

    /// A mapping read by 2 threads, pread, and direct I/O with io_uring.
    fn cells() -> Vec<Job> {
        let job = |text: &str| Job {
            block: 2 << 20,
            ..Job::plain(Choice::parse(text).unwrap(), Op::Read)
        };
        vec![
            Job { threads: 2, ..job("mmap+shared") },
            job("pread"),
            Job { direct: true, depth: 8, ..job("uring") },
        ]
    }

    /// A try that read 1 MiB in `millis`.
    fn try_of(cell: u32, millis: u64) -> Try {
        Try {
            cell,
            offset: 0,
            bytes: 1 << 20,
            nanos: millis * 1_000_000,
            device_bytes: Some(0),
            minor_faults: 16,
        }
    }

    fn pick(cached: u64, tries: Vec<Try>, out: &[u32]) -> Pick {
        let left_out =
            out.iter().map(|cell| SkippedMethod { cell: *cell, why: "no".into() }).collect();
        let conditions = PickConditions { span: 100, resident: Some(cached), cpus: 2 };
        fn faults(job: &Job) -> bool {
            job.backend.id == "mmap"
        }
        Pick::choose(&cells(), &[0, 1, 2], conditions, tries, left_out, true, faults)
    }

    #[test]
    fn picks_the_fastest_median() {
        let tries = [(0, 5), (1, 4), (2, 9), (0, 5), (1, 40), (2, 9), (0, 6), (1, 50), (2, 9)]
            .map(|(cell, ms)| try_of(cell, ms));
        let pick = pick(100, tries.to_vec(), &[]);
        assert_eq!(pick.cell, Some(0));
        assert_eq!(
            pick.why,
            "100 % of 100 B in the page cache, 64 KiB mapped per page fault, 2 CPUs: in brief \
             tries mmap+shared 2 MiB 2 threads 200 MiB/s was the fastest, ahead of uring \
             2 MiB queue depth 8 direct 111 MiB/s, pread 2 MiB 25.0 MiB/s"
        );
    }

    #[test]
    fn two_tries_are_averaged() {
        // 200 and 50 MiB/s against 167 twice: one fast try does not decide.
        let tries = [(0, 5), (1, 6), (0, 20), (1, 6)].map(|(cell, ms)| try_of(cell, ms));
        let pick = pick(100, tries.to_vec(), &[]);
        assert_eq!((pick.cell, pick.rate(0).unwrap() / f64::from(1 << 20)), (Some(1), 125.0));
        // A damaged session may hold any numbers.
        let huge = Try { bytes: u64::MAX, nanos: u64::MAX, ..try_of(0, 1) };
        assert!(
            Pick {
                conditions: PickConditions { span: 2, resident: Some(1), cpus: 1 },
                tries: vec![huge; 2],
                ..pick
            }
            .rate(0)
            .is_some()
        );
    }

    #[test]
    fn partly_cached_tries_count_together() {
        // 12 ms in total beats 3 x 5 ms; 32 ms does not, although two of its parts are faster.
        let tries = |ms: [u64; 3], cell| ms.map(|ms| try_of(cell, ms));
        let both = || [tries([10, 1, 1], 1), tries([5, 5, 5], 0)].concat();
        assert_eq!(pick(50, both(), &[]).cell, Some(1));
        assert_eq!(pick(100, both(), &[]).cell, Some(1));
        let slow = [tries([30, 1, 1], 1), tries([5, 5, 5], 0)].concat();
        assert_eq!((pick(50, slow.clone(), &[]).cell, pick(0, slow, &[]).cell), (Some(0), Some(1)));
    }

    #[test]
    fn without_tries_conditions_decide() {
        for (cached, out, expected) in [
            (100, &[][..], Some(0)),
            (0, &[], Some(2)),
            (100, &[0], Some(1)),
            (0, &[2], Some(0)),
            (100, &[0, 1], Some(2)),
            (0, &[0, 1, 2], None),
        ] {
            let pick = pick(cached, Vec::new(), out);
            assert_eq!(pick.cell, expected, "{cached} {out:?}");
            assert!(
                pick.why.contains(match (expected, out.len()) {
                    (None, _) => "no method works",
                    (_, 2) => "is the only method available",
                    _ => "too little data to compare methods",
                }),
                "{}",
                pick.why
            );
        }
        let unknown = PickConditions { resident: None, ..PickConditions::default() };
        assert!(unknown.is_cached() && !unknown.is_cold());
        // A try that moved nothing does not count.
        let nothing = Try { bytes: 0, ..try_of(1, 5) };
        assert_eq!(pick(100, vec![nothing, try_of(2, 5)], &[]).cell, Some(2));
    }
}
