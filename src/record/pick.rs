//! Ways that were tried for a moment, and the one of them that was picked for the whole file: a
//! pure function of what the tries gave.

use serde::{Deserialize, Serialize};

use crate::plan::{Axis, Job};
use crate::stats;
use crate::units::{show_bytes, show_rate, show_share};

/// One way on one part of the file, or on all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Try {
    /// Index into the plan's cells.
    pub cell: u32,
    /// Where the part begins, and what was read of it.
    pub offset: u64,
    pub bytes: u64,
    pub nanos: u64,
    pub device_bytes: Option<u64>,
    pub minor_faults: u64,
}

impl Try {
    /// Bytes per second.
    pub fn rate(&self) -> f64 {
        if self.nanos == 0 { 0.0 } else { self.bytes as f64 * 1e9 / self.nanos as f64 }
    }
}

/// A way that was not tried, or whose try failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub cell: u32,
    pub why: String,
}

/// What is known before the tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Found {
    /// Bytes that are to be read, and those of them in the page cache; `None` = this kernel does
    /// not tell.
    pub span: u64,
    pub resident: Option<u64>,
    /// CPUs that this process may use.
    pub cpus: u32,
}

impl Found {
    /// From this share on a file is as good as cached, and below [`Found::NONE`] as good as not.
    const ALL: f64 = 0.9;
    const NONE: f64 = 0.01;

    /// Share of the span that is cached; 1 where nobody can tell.
    pub fn cached(&self) -> f64 {
        self.resident.map_or(1.0, |resident| resident as f64 / self.span.max(1) as f64)
    }

    pub fn is_cached(&self) -> bool {
        self.cached() >= Found::ALL
    }

    pub fn is_cold(&self) -> bool {
        self.cached() < Found::NONE
    }
}

/// Which of several ways to do the same was picked, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pick {
    /// `None`: none of them works here.
    pub cell: Option<u32>,
    #[serde(flatten)]
    pub found: Found,
    pub tries: Vec<Try>,
    pub left_out: Vec<LeftOut>,
    /// What the tries brought into the page cache was dropped again.
    pub restored: bool,
    /// In words, without a full stop.
    pub why: String,
}

/// Others that are named beside the one that was picked.
const NAMED: usize = 3;

impl Pick {
    /// The fastest of the `ways` (indexes into `cells`) by their tries; without any, the first that
    /// suits what was found: ways are listed with the usual best first. `faults`: whether a job
    /// touches a mapping page by page.
    pub fn of(
        cells: &[Job],
        ways: &[u32],
        found: Found,
        tries: Vec<Try>,
        left_out: Vec<LeftOut>,
        restored: bool,
        faults: impl Fn(&Job) -> bool,
    ) -> Pick {
        let mut pick = Pick { cell: None, found, tries, left_out, restored, why: String::new() };
        let mut rates: Vec<(u32, f64)> =
            ways.iter().filter_map(|way| Some((*way, pick.rate(*way)?))).collect();
        // Stable: of equal ones the first.
        rates.sort_by(|a, b| b.1.total_cmp(&a.1));
        let job = |way: u32| cells.get(way as usize);
        let suit =
            ways.iter().copied().filter(|way| !pick.left_out.iter().any(|out| out.cell == *way));
        let wanted = |way: &u32| job(*way).is_some_and(|job| job.direct != found.is_cached());
        pick.cell = rates
            .first()
            .map(|(way, _)| *way)
            .or_else(|| suit.clone().find(wanted).or_else(|| suit.clone().next()));
        let named =
            |&(way, rate): &(u32, f64)| Some(format!("{} {}", way_of(job(way)?), show_rate(rate)));
        let state = pick.state(cells, faults);
        let reason = match (rates.as_slice(), pick.cell.and_then(job)) {
            ([], None) => "no way works".into(),
            ([], Some(job)) if suit.clone().count() == 1 => {
                format!("{} is the only way", way_of(job))
            }
            ([], Some(job)) => {
                format!("too little to try ways on, and {} usually suits that", way_of(job))
            }
            ([only], _) => format!("{} was the only way tried", named(only).unwrap_or_default()),
            ([best, others @ ..], _) => {
                let more = others.len().saturating_sub(NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let others: Vec<String> = others.iter().take(NAMED).filter_map(named).collect();
                format!(
                    "tried for a moment, {} was the fastest, before {}{more}",
                    named(best).unwrap_or_default(),
                    others.join(", ")
                )
            }
        };
        pick.why = format!("{state}: {reason}{}", pick.did());
        pick
    }

    /// The cells that it names.
    pub fn cells(&self) -> impl Iterator<Item = u32> + '_ {
        let tried = self.tries.iter().map(|t| t.cell);
        self.cell.into_iter().chain(tried).chain(self.left_out.iter().map(|out| out.cell))
    }

    /// What the tries of a way gave, bytes per second: the median, or, where the parts differ in
    /// what is cached, all of them together.
    pub fn rate(&self, way: u32) -> Option<f64> {
        let tries = || self.tries.iter().filter(|t| t.cell == way && t.bytes > 0 && t.nanos > 0);
        if !self.found.is_cached() && !self.found.is_cold() {
            let (bytes, nanos) = tries().fold((0u64, 0u64), |(bytes, nanos), t| {
                (bytes.saturating_add(t.bytes), nanos.saturating_add(t.nanos))
            });
            return (nanos > 0).then(|| bytes as f64 * 1e9 / nanos as f64);
        }
        let rates: Vec<f64> = tries().map(Try::rate).collect();
        stats::median(&rates)
    }

    /// What the tries did to the file's place in memory, where they did something.
    fn did(&self) -> String {
        let (all, device) = self.tries.iter().fold((0u64, 0u64), |(all, device), t| {
            (all.saturating_add(t.bytes), device.saturating_add(t.device_bytes.unwrap_or(0)))
        });
        if device == 0 || self.found.is_cached() {
            return String::new();
        }
        let then =
            if self.restored { ", and what that left in the page cache was dropped" } else { "" };
        format!(
            "; the tries read {}, for which the device gave {}{then}",
            show_bytes(all),
            show_bytes(device)
        )
    }

    /// `98.0 % in the page cache, 64 KiB mapped by a page fault, 2 CPUs`.
    fn state(&self, cells: &[Job], faults: impl Fn(&Job) -> bool) -> String {
        let Found { span, resident, cpus } = self.found;
        let cached = match resident {
            Some(_) if span == 0 => String::new(),
            Some(_) => format!(
                "{} of {} in the page cache, ",
                show_share(self.found.cached().min(1.0)),
                show_bytes(span)
            ),
            None => "what is in the page cache is not known, ".into(),
        };
        let mapped = self
            .tries
            .iter()
            .find(|t| cells.get(t.cell as usize).is_some_and(&faults))
            .and_then(|t| t.bytes.checked_div(t.minor_faults))
            .filter(|_| self.found.is_cached());
        let mapped = mapped.map_or(String::new(), |bytes| {
            format!("{} mapped by a page fault, ", show_bytes(bytes))
        });
        format!("{cached}{mapped}{cpus} {}", if cpus == 1 { "CPU" } else { "CPUs" })
    }
}

/// A way without what all of them share: `mmap+shared 2 MiB 2 threads`, `uring 1 MiB queue depth 8
/// direct`.
pub fn way_of(job: &Job) -> String {
    job.describe(&[Axis::Backend, Axis::Block, Axis::Threads, Axis::Depth, Axis::Direct])
}

/// The state of the cache that it was brought into: `, cold`; nothing of a file that was taken as
/// it is.
pub fn state_of(job: &Job) -> String {
    Axis::Cache.phrase(job).map_or_else(String::new, |state| format!(", {state}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Choice, Op};

    /// A mapping, pread and direct I/O, by 2 threads the first.
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

    fn tried(cell: u32, millis: u64) -> Try {
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
        let left_out = out.iter().map(|cell| LeftOut { cell: *cell, why: "no".into() }).collect();
        let found = Found { span: 100, resident: Some(cached), cpus: 2 };
        let faults = |job: &Job| job.backend.id == "mmap";
        Pick::of(&cells(), &[0, 1, 2], found, tries, left_out, true, faults)
    }

    #[test]
    fn the_fastest_by_its_median_is_picked_and_the_reason_says_what_the_others_gave() {
        let tries = [(0, 5), (1, 4), (2, 9), (0, 5), (1, 40), (2, 9), (0, 6), (1, 50), (2, 9)]
            .map(|(cell, ms)| tried(cell, ms));
        let pick = pick(100, tries.to_vec(), &[]);
        assert_eq!(pick.cell, Some(0));
        assert_eq!(
            pick.why,
            "100 % of 100 B in the page cache, 64 KiB mapped by a page fault, 2 CPUs: tried for a moment, \
             mmap+shared 2 MiB 2 threads 200 MiB/s was the fastest, before uring 2 MiB queue depth 8 direct 111 MiB/s, pread 2 MiB 25.0 MiB/s"
        );
    }

    #[test]
    fn of_two_tries_neither_is_the_median() {
        // 200 and 50 MiB/s against twice 167: the faster one of two says little.
        let tries = [(0, 5), (1, 6), (0, 20), (1, 6)].map(|(cell, ms)| tried(cell, ms));
        let pick = pick(100, tries.to_vec(), &[]);
        assert_eq!((pick.cell, pick.rate(0).unwrap() / f64::from(1 << 20)), (Some(1), 125.0));
        // A damaged session may say anything.
        let huge = Try { bytes: u64::MAX, nanos: u64::MAX, ..tried(0, 1) };
        assert!(
            Pick {
                found: Found { span: 2, resident: Some(1), cpus: 1 },
                tries: vec![huge; 2],
                ..pick
            }
            .rate(0)
            .is_some()
        );
    }

    #[test]
    fn where_parts_differ_all_tries_count_together() {
        // One fast part of three does not make a way fast: 12 ms against 3 x 5.
        let tries = |ms: [u64; 3], cell| ms.map(|ms| tried(cell, ms));
        let both = || [tries([10, 1, 1], 1), tries([5, 5, 5], 0)].concat();
        assert_eq!(pick(50, both(), &[]).cell, Some(1));
        assert_eq!(pick(100, both(), &[]).cell, Some(1));
        let slow = [tries([30, 1, 1], 1), tries([5, 5, 5], 0)].concat();
        assert_eq!((pick(50, slow.clone(), &[]).cell, pick(0, slow, &[]).cell), (Some(0), Some(1)));
    }

    #[test]
    fn without_tries_what_suits_the_state_is_picked() {
        for (cached, out, wanted) in [
            (100, &[][..], Some(0)),
            (0, &[], Some(2)),
            (100, &[0], Some(1)),
            (0, &[2], Some(0)),
            (100, &[0, 1], Some(2)),
            (0, &[0, 1, 2], None),
        ] {
            let pick = pick(cached, Vec::new(), out);
            assert_eq!(pick.cell, wanted, "{cached} {out:?}");
            assert!(
                pick.why.contains(match (wanted, out.len()) {
                    (None, _) => "no way works",
                    (_, 2) => "is the only way",
                    _ => "too little to try",
                }),
                "{}",
                pick.why
            );
        }
        let unknown = Found { resident: None, ..Found::default() };
        assert!(unknown.is_cached() && !unknown.is_cold());
        // A try that moved nothing is none.
        let nothing = Try { bytes: 0, ..tried(1, 5) };
        assert_eq!(pick(100, vec![nothing, tried(2, 5)], &[]).cell, Some(2));
    }
}
