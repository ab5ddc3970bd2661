//! A trial: one timed run of one cell, with the evidence of where its bytes came from.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Known;

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

/// One timed run of one cell. Times in nanoseconds, sizes in bytes; `None` = this kernel or file
/// system does not tell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Trial {
    /// Index into the plan's cells.
    pub cell: u32,
    /// Round, from 1.
    pub round: u32,
    pub bytes: u64,
    pub ops: u64,
    /// Not known where another program made them and does not say.
    pub syscalls: Known,
    /// Wall time from the first start to the last end over all threads.
    pub nanos: u64,
    /// Whole passes over the span; 0 where the count ends before it.
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
    /// The budget or a signal cut it.
    pub short: bool,
    pub evidence: Evidence,
}

impl Trial {
    /// Bytes per second.
    pub fn throughput(&self) -> f64 {
        per_second(self.bytes, self.nanos)
    }

    /// Operations per second.
    pub fn operations(&self) -> f64 {
        per_second(self.ops, self.nanos)
    }

    /// When it ended, nanoseconds since the session started. Between the parts of a trial lie their
    /// preparations, which are not timed.
    pub fn ended(&self) -> u64 {
        let Evidence { started, prepare_nanos, parts, .. } = self.evidence;
        let parts = parts.max(1);
        let between =
            (u128::from(prepare_nanos) * u128::from(parts - 1) / u128::from(parts)) as u64;
        started.saturating_add(self.nanos).saturating_add(between)
    }

    /// System calls per second, where they were counted.
    pub fn syscall_rate(&self) -> Option<f64> {
        Some(per_second(self.syscalls.get()?, self.nanos))
    }
}

fn per_second(amount: u64, nanos: u64) -> f64 {
    if nanos == 0 { 0.0 } else { amount as f64 * 1e9 / nanos as f64 }
}

/// What a verdict needs beyond the figures themselves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// When the timed window began, nanoseconds since the session started.
    pub started: u64,
    /// When the preparation ended, on the same clock.
    pub prepared: u64,
    /// How long the preparation took.
    pub prepare_nanos: u64,
    pub preparation: Option<Prepared>,
    /// How often the trial was prepared, opened and mapped anew, each time for an equal part of its
    /// passes; 0 in older sessions: once.
    pub parts: u64,
    /// Bytes of the span that one pass over it visits once; `bytes` beyond it are repeats.
    pub unique_bytes: u64,
    /// Sum of what each lane says it moved: the cross-check of `bytes`.
    pub lane_bytes: u64,
    /// Operations times block size, an odd last block at its own size.
    pub planned_bytes: u64,
    /// Bytes of the span that were given to more than one lane.
    pub overlap_bytes: u64,
    /// Of `bytes`, those that operations wrote; needed where reads and writes are mixed.
    pub written: Option<u64>,
    /// Latencies recorded in this trial and their sum.
    pub timed_ops: u64,
    pub timed_nanos: u64,
    /// Time the lanes ran, added up over lanes that had work; an fdatasync at the end is not in it.
    pub lane_nanos: u64,
    /// Time spent in the XOR outside of the latencies, added up over lanes.
    pub xor_nanos: Known,
    /// Operations under way per lane, averaged over the time it ran; `None` = not counted.
    pub achieved_depth: Option<f64>,
    /// Spread of the lanes' starts.
    pub skew_nanos: u64,
    /// Bytes this process dirtied or sent to be written.
    pub write_bytes: Known,
    /// Of a write that is synced at its end, from the first start until the last write returned
    /// over all threads: the page cache has all.
    pub cached_nanos: Known,
    /// Dirty and under-writeback bytes of the file when the trial ended.
    pub unwritten_bytes: Known,
    /// What the whole disk did meanwhile, from everyone.
    pub disk_read_bytes: Option<u64>,
    pub disk_write_bytes: Option<u64>,
    /// Requests that these bytes were moved in: neighbours in the queue are merged into one.
    pub disk_requests: Known,
    /// Average number of requests the disk had in its queue.
    pub disk_depth: Option<f64>,
    /// Time the hypervisor gave to others, over all CPUs.
    pub steal_nanos: Known,
    /// Time in which threads were ready to run and other tasks had the CPU, over all threads.
    pub queued_nanos: Known,
    /// Bytes held in 2 MiB page-cache folios over the whole machine (FileHugePages) before the
    /// trial.
    pub huge_page_cache: Known,
    /// How residency was found.
    pub residency: Option<Residency>,
    /// That the CPU caches were emptied, where that was asked for.
    pub cpu_cache: Option<CacheFlush>,
    /// What was read back, after the timed window, of a file that the trial made; left out of JSON
    /// where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_back: Option<ReadBack>,
    pub notes: Vec<Note>,
}

/// A file that was written, as it is read. Blocks that are alike cancel out in an XOR, so each is
/// held against what was written, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    pub xor: Xor,
    /// Blocks that are not what was written.
    pub other_blocks: u64,
}

impl ReadBack {
    /// Whether it is what was written, whose XOR is this.
    pub fn is(&self, written: Xor) -> bool {
        self.xor == written && self.other_blocks == 0
    }
}

/// What emptying the CPU caches did, as loads of the same bytes show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CacheFlush {
    /// Time of a load that depends on the one before, nanoseconds, when the bytes had just been
    /// used.
    pub before_nanos: f64,
    /// The same afterwards.
    pub after_nanos: f64,
    /// Bytes whose lines were written back and dropped one by one; 0 = pushed out by reading other
    /// memory.
    pub flushed_bytes: u64,
}

impl CacheFlush {
    /// Memory takes at least twice the time of any cache.
    pub fn worked(&self) -> bool {
        self.after_nanos >= 2.0 * self.before_nanos
    }
}

/// How residency was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Residency {
    /// cachestat(2): exact.
    Cachestat,
    /// preadv2(RWF_NOWAIT) on random pages: an estimate that disturbs a little.
    Sampled,
    /// mincore(2) through a mapping: exact, where cachestat sees an overlay's empty inode.
    Mincore,
}

/// What preparation reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "for")]
pub enum Prepared {
    /// Bytes still cached after the drop, and who maps them.
    Cold { left: u64, mapped_by: Vec<String> },
    /// Bytes resident after reading, of the span.
    Warm { resident: u64 },
    /// Nothing was done.
    AsIs,
}

/// A circumstance of a trial that is no failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// The worker shares the descriptor table: 30-40 ns more per call.
    SharedDescriptors,
    /// No huge pages behind the buffer of direct I/O.
    SmallPages,
    /// The clock of latencies is not the time-stamp counter: about 20 ns more per operation.
    SlowClock,
    /// io_uring refused the registered buffer or file: the plain path was measured.
    UringPlain(String),
    /// A kernel thread worked for the lane, and its CPU time is not known.
    HelperUncounted,
    /// The file system can share blocks between files instead of copying them.
    Cloned,
    /// Another program did the work, and how many system calls it made is not known.
    CallsUnknown,
    /// The clock of the program that did the work counts in steps of so many nanoseconds, more than
    /// 1 % of the trial.
    CoarseClock(u64),
    /// Size, modification time or inode changed meanwhile.
    FileChanged(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_of_several_parts_ends_after_the_preparations_between_them() {
        let of = |parts| {
            let evidence =
                Evidence { started: 1000, prepare_nanos: 400, parts, ..Evidence::default() };
            Trial { nanos: 100, evidence, ..Trial::default() }.ended()
        };
        // An older session does not tell the parts.
        assert_eq!([0, 1, 4].map(of), [1100, 1100, 1400]);
    }
}
