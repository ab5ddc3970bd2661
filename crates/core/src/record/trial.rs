//! A trial: one timed run of one cell, with evidence of where its bytes came from.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BelowCounts, OptU64, Others, Paced, Rounds, Stopped, Surroundings, Verified};
use crate::stats::median;

/// The 32-bit XOR of a span, written as 8 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Xor(pub u32);

impl fmt::Display for Xor {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl Serialize for Xor {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Xor {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<str>>::deserialize(from)?;
        match u32::from_str_radix(&text, 16) {
            Ok(value) if text.len() == 8 => Ok(Xor(value)),
            _ => Err(serde::de::Error::custom("xor is not 8 hex digits")),
        }
    }
}

/// One timed run of one cell. Times in nanoseconds, sizes in bytes; `None` = not reported by this
/// kernel or file system.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Trial {
    /// Index into the plan's cells.
    pub cell: u32,
    /// Round, from 1.
    pub round: u32,
    pub bytes: u64,
    pub ops: u64,
    /// Unknown if another program made them and does not report the number.
    pub syscalls: OptU64,
    /// Wall time from the first thread's start to the last thread's end.
    pub nanos: u64,
    /// Complete passes over the span; 0 if the count ends before the first one.
    pub passes: u64,
    pub xor: Option<Xor>,
    pub user_nanos: u64,
    pub system_nanos: u64,
    pub device_bytes: Option<u64>,
    pub hole_bytes: Option<u64>,
    pub resident_before: Option<u64>,
    pub resident_after: Option<u64>,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// True if the budget or a signal cut it short.
    pub short: bool,
    pub evidence: Evidence,
    /// The part of each rank, where several processes measured together; absent from JSON if one
    /// did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankShare>,
}

/// The work of one rank in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RankShare {
    /// From 0.
    pub rank: u32,
    pub bytes: u64,
    pub ops: u64,
    /// Nanoseconds from the first rank's start to its own.
    pub start: u64,
    /// From its start to its end.
    pub nanos: u64,
    /// The part of the work that it did while all ranks were active, between the last one's start
    /// and the first one's end; as exact as samples of 100 ms are.
    pub active_bytes: u64,
    pub active_ops: u64,
    pub device_bytes: Option<u64>,
    /// As in [`Evidence`] and [`Trial`], of this rank alone.
    #[serde(default)]
    pub unique_bytes: u64,
    #[serde(default)]
    pub hole_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    #[serde(default)]
    pub resident_before: Option<u64>,
    /// The start is at most this much earlier or later on the clock of rank 0, nanoseconds; absent
    /// from JSON on the machine of rank 0.
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub clock_error: u64,
}

impl RankShare {
    /// Returns when it was done: nanoseconds from the first rank's start to its own end.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.nanos)
    }
}

impl Trial {
    /// Returns the throughput in bytes per second; of a trial that looks for a steady state, the
    /// median of its last rounds.
    pub fn throughput(&self) -> f64 {
        median(&self.throughputs()).unwrap_or(0.0)
    }

    /// Returns the bytes per second that stand for the trial: of each of its last rounds, if it
    /// looks for a steady state, else of all of it.
    pub fn throughputs(&self) -> Vec<f64> {
        self.rates_of(Rounds::last_throughputs, per_second(self.bytes, self.nanos))
    }

    /// Returns the operations per second that stand for the trial.
    pub fn operation_rates(&self) -> Vec<f64> {
        self.rates_of(Rounds::last_operations, per_second(self.ops, self.nanos))
    }

    fn rates_of(&self, of_rounds: fn(&Rounds) -> Vec<f64>, whole: f64) -> Vec<f64> {
        let rounds = self.evidence.rounds.as_deref().map(of_rounds);
        rounds.filter(|rates| !rates.is_empty()).unwrap_or_else(|| vec![whole])
    }

    /// Returns the operations per second, of the same time as the throughput.
    pub fn operations(&self) -> f64 {
        median(&self.operation_rates()).unwrap_or(0.0)
    }

    /// Returns whether its rate counts: it is complete, or was cut so late that its slowness is a
    /// result.
    pub fn counts(&self) -> bool {
        !self.short || self.evidence.overran > 0
    }

    /// Returns when the timed work of the trial ended, in nanoseconds since the session started.
    /// Untimed work between its parts is included: their preparation and reading back.
    pub fn end_time(&self) -> u64 {
        let Evidence { started, prepare_nanos, parts, .. } = self.evidence;
        let parts = parts.max(1);
        let untimed = prepare_nanos.saturating_add(self.verify_nanos());
        let between = (u128::from(untimed) * u128::from(parts - 1) / u128::from(parts)) as u64;
        started.saturating_add(self.nanos).saturating_add(between)
    }

    /// Returns how long reading back took, after the timed work of each part, nanoseconds.
    pub fn verify_nanos(&self) -> u64 {
        self.evidence.verified.as_ref().map_or(0, |verified| verified.nanos)
    }

    /// Returns whether data that was read back is not what was written.
    pub fn has_bad_data(&self) -> bool {
        self.has_bad_blocks() || self.has_other_xor()
    }

    /// Returns whether a block that was compared (`--verify`) is not what was written.
    pub fn has_bad_blocks(&self) -> bool {
        self.evidence.verified.as_ref().is_some_and(|verified| verified.bad.total() > 0)
    }

    /// Returns whether what was appended has another XOR when it is read back, or other blocks.
    pub fn has_other_xor(&self) -> bool {
        self.xor.zip(self.evidence.read_back).is_some_and(|(xor, read)| !read.matches(xor))
    }

    /// Returns the system calls per second, if they were counted.
    pub fn syscall_rate(&self) -> Option<f64> {
        Some(per_second(self.syscalls.get()?, self.nanos))
    }
}

fn per_second(amount: u64, nanos: u64) -> f64 {
    if nanos == 0 { 0.0 } else { amount as f64 * 1e9 / nanos as f64 }
}

/// The evidence for a verdict, apart from the figures.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// When the timed window began, nanoseconds since the session started.
    pub started: u64,
    /// When the preparation ended, on the same clock.
    pub prepared: u64,
    /// How long the preparation took.
    pub prepare_nanos: u64,
    pub preparation: Option<Preparation>,
    /// How often the file was prepared, opened and mapped again, each time for an equal share of
    /// the passes; 0 (older sessions) = once.
    pub parts: u64,
    /// Bytes of the span that one pass visits, or all of them where blocks are drawn; `bytes`
    /// beyond it are repeats.
    pub unique_bytes: u64,
    /// Sum of the bytes that each lane counted: a cross-check of `bytes`.
    pub lane_bytes: u64,
    /// Operations times block size; a partial last block counts with its own size.
    pub planned_bytes: u64,
    /// Bytes of the span that were assigned to more than one lane.
    pub overlap_bytes: u64,
    /// The part of `bytes` that was written; needed if reads and writes are mixed.
    pub written: Option<u64>,
    /// Number of latencies recorded in this trial.
    pub timed_ops: u64,
    /// Sum of those latencies.
    pub timed_nanos: u64,
    /// Running time summed over the lanes that had work, without a final fdatasync.
    pub lane_nanos: u64,
    /// The part of it in which lanes opened or mapped the next file of a list. Omitted
    /// from JSON if they did not.
    #[serde(default, skip_serializing_if = "crate::units::is_zero")]
    pub turn_nanos: u64,
    /// Time spent in the XOR outside the timed latencies, summed over lanes.
    pub xor_nanos: OptU64,
    /// Operations in flight per lane, averaged over its running time; `None` = not counted.
    pub achieved_depth: Option<f64>,
    /// Time between the first and the last lane's start.
    pub skew_nanos: u64,
    /// Bytes that this process dirtied or submitted for writing.
    pub write_bytes: OptU64,
    /// For writes that are synced at the end: time from the first thread's start until the last
    /// write returned, when the page cache holds everything.
    pub cached_nanos: OptU64,
    /// Dirty and under-writeback bytes of the file when the trial ended.
    pub unwritten_bytes: OptU64,
    /// Bytes that the whole disk read during the trial, for all processes.
    pub disk_read_bytes: Option<u64>,
    /// Bytes that the whole disk wrote during the trial, for all processes.
    pub disk_write_bytes: Option<u64>,
    /// Requests in which the disk moved these bytes, after the block layer merged neighbours.
    pub disk_requests: OptU64,
    /// The counters of each device below during a trial that commits, for all processes; absent
    /// from JSON in others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceCounts>,
    /// Average number of requests in the disk's queue.
    pub disk_depth: Option<f64>,
    /// Steal time, summed over all CPUs.
    pub steal_nanos: OptU64,
    /// Time that threads were ready to run but waited for a CPU, summed over all threads.
    pub queued_nanos: OptU64,
    /// Bytes in 2 MiB page-cache folios on the whole machine (FileHugePages) before the trial.
    pub huge_page_cache: OptU64,
    /// It ended when its time was over, not with its amount of work; absent from JSON if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ended_by_time: bool,
    /// The planned time, nanoseconds, of a trial that was cut after five times as long or more: it
    /// is not unfinished but slow. 0, and absent from JSON, for all others.
    #[serde(skip_serializing_if = "crate::units::is_zero")]
    pub overran: u64,
    /// How residency was determined.
    pub residency: Option<Residency>,
    /// Result of flushing the CPU caches, if that was requested.
    pub cpu_cache: Option<CacheFlush>,
    /// Read-back of a file that the trial created, after the timed window; absent from JSON if
    /// nothing was read back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_back: Option<ReadBack>,
    /// The result of reading the written blocks back, after the timed window; absent from JSON if
    /// that was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Box<Verified>>,
    /// The counts of the layers below the target; absent from JSON where they were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Box<BelowCounts>>,
    /// The others who used disks; absent from JSON where the disk moved nothing for them, or where
    /// that was not looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Box<Others>>,
    /// The surroundings of a long trial; absent from JSON where nothing was notable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Box<Surroundings>>,
    /// How its pace was kept; absent from JSON without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paced: Option<Box<Paced>>,
    /// The work of its rounds; absent from JSON unless it looks for a steady state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Box<Rounds>>,
    /// The first work of the cell in this run, before its first trial, which alone has it; absent
    /// from JSON elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Box<Visit>>,
    /// The work of the neighbour meanwhile, by samples of 100 ms; absent from JSON without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<Box<Visit>>,
    /// The bytes, `[start, end]`, that it alone reads; absent from JSON where trials read the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visited: Option<(u64, u64)>,
    /// When the timed window of a watch began, seconds since 1970; absent from JSON in others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<u64>,
    /// The condition that ended a watch before its time; absent from JSON if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Box<Stopped>>,
    pub notes: Vec<Note>,
}

/// Work outside trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Visit {
    pub bytes: u64,
    pub ops: u64,
    pub nanos: u64,
}

impl Visit {
    /// Adds later work.
    pub fn join(&mut self, more: &Visit) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.ops = self.ops.saturating_add(more.ops);
        self.nanos = self.nanos.saturating_add(more.nanos);
    }

    /// Returns the work after the work until `then`.
    pub fn since(&self, then: &Visit) -> Visit {
        Visit {
            bytes: self.bytes.saturating_sub(then.bytes),
            ops: self.ops.saturating_sub(then.ops),
            nanos: self.nanos.saturating_sub(then.nanos),
        }
    }

    /// Returns the bytes per second; `None` if it took no time.
    pub fn throughput(&self) -> Option<f64> {
        (self.nanos > 0).then(|| self.bytes as f64 * 1e9 / self.nanos as f64)
    }
}

/// Counters of a device during a trial; unknown where it lacks them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceCounts {
    /// Kernel name.
    pub device: String,
    /// Bytes written.
    pub written: OptU64,
    /// Requests to empty its cache (Linux 5.5 and newer), and how long they took together.
    pub flushes: OptU64,
    pub flush_nanos: OptU64,
}

/// Result of reading a written file back. Equal blocks cancel out in an XOR, so each block is also
/// compared with the written data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    pub xor: Xor,
    /// Blocks that differ from the written data.
    pub other_blocks: u64,
}

impl ReadBack {
    /// Returns true if the file holds the written data, whose XOR is `written`.
    pub fn matches(&self, written: Xor) -> bool {
        self.xor == written && self.other_blocks == 0
    }
}

/// Effect of flushing the CPU caches, measured by loads of the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CacheFlush {
    /// Time of a dependent load before the flush, when the bytes had just been used, nanoseconds.
    pub before_nanos: f64,
    /// Time of a dependent load after the flush, nanoseconds.
    pub after_nanos: f64,
    /// Bytes flushed line by line; 0 = evicted by reading other memory.
    pub flushed_bytes: u64,
}

impl CacheFlush {
    /// Returns true if loads now come from memory, which takes at least twice as long as any cache.
    pub fn is_effective(&self) -> bool {
        self.after_nanos >= 2.0 * self.before_nanos
    }
}

/// How residency was determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Residency {
    /// cachestat(2): exact.
    Cachestat,
    /// preadv2(RWF_NOWAIT) on random pages: an estimate that disturbs the cache slightly.
    Sampled,
    /// mincore(2) on a mapping: exact, even where cachestat sees only an overlay's empty inode.
    Mincore,
}

/// The state of the page cache that preparation reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "for")]
pub enum Preparation {
    /// Bytes still cached after the drop, and the processes that map them.
    Cold { left: u64, mapped_by: Vec<String> },
    /// Bytes of the span resident after reading.
    Warm { resident: u64 },
    /// Nothing was done.
    AsIs,
}

/// A circumstance of a trial that is not a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// Workers share the descriptor table: 30-40 ns more per call.
    SharedDescriptors,
    /// No huge pages behind the buffer of direct I/O.
    SmallPages,
    /// Latencies are not timed by the time-stamp counter: about 20 ns more per operation.
    SlowClock,
    /// io_uring refused the registered buffer or file: the plain path was measured.
    UringPlain(String),
    /// A kernel thread worked for the lane, and its CPU time is unknown.
    HelperUncounted,
    /// The file system can share blocks between files instead of copying them.
    Cloned,
    /// Another program did the work, and its number of system calls is unknown.
    CallsUnknown,
    /// The clock of the program that did the work has steps of this many nanoseconds, more than 1 %
    /// of the trial.
    CoarseClock(u64),
    /// Size, modification time or inode changed during the trial.
    FileChanged(String),
    /// A layer below the file changed since it was opened.
    LayersChanged(String),
    /// The clock of a pace was ahead or behind by this many nanoseconds: a suspend, or a reset. All
    /// later starts moved by them.
    ClockJumped(u64),
    /// The machine was suspended.
    Slept(Slept),
}

/// When a machine was suspended: nanoseconds after the trial began, by a clock that stood still,
/// and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slept {
    pub at: u64,
    pub nanos: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_time_includes_preparations() {
        // An older session does not record the parts: 0.
        for (parts, end) in [(0, 1100), (1, 1100), (4, 1400)] {
            let evidence =
                Evidence { started: 1000, prepare_nanos: 400, parts, ..Evidence::default() };
            let trial = Trial { nanos: 100, evidence, ..Trial::default() };
            assert_eq!(trial.end_time(), end, "{parts} parts");
        }
    }

    #[test]
    fn an_optional_u64_takes_8_bytes() {
        assert_eq!(size_of::<OptU64>(), 8);
        for (value, text) in
            [(None, "null"), (Some(0), "0"), (Some(u64::MAX - 1), "18446744073709551614")]
        {
            let optional = OptU64::from(value);
            assert_eq!(optional.get(), value);
            assert_eq!(serde_json::to_string(&optional).unwrap(), text);
            assert_eq!(serde_json::from_str::<OptU64>(text).unwrap(), optional);
            assert_eq!(format!("{optional:?}"), format!("{value:?}"));
        }
        assert_eq!(OptU64::default().get(), None);
        assert_eq!(serde_json::from_str::<OptU64>("18446744073709551615").unwrap().get(), None);
    }
}
