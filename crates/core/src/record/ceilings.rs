//! Upper limits of the machine and the target, with which results are compared.

use serde::{Deserialize, Serialize};

use crate::plan::names;
use crate::units::show_rate;

/// Upper limits of a machine, measured by bare loops; `None` = could not be measured. Each rate is
/// the highest and each time the shortest of several passes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ceilings {
    /// The cheapest system call, nanoseconds.
    pub syscall_nanos: Option<f64>,
    /// One reading of the clock that times latencies, nanoseconds.
    pub clock_nanos: Option<f64>,
    /// Bytes per second that one thread copies from memory into a small buffer.
    pub copy: Option<f64>,
    /// Bytes per second that one thread reads and XORs.
    pub read: Option<f64>,
    /// Bytes per second that `threads` threads copy at once, each in its own memory.
    pub copy_all: Option<f64>,
    /// Bytes per second that `threads` threads read at once, each in its own memory.
    pub read_all: Option<f64>,
    /// CPUs that this process may use.
    pub threads: u32,
    /// Bytes of memory that the loops went over: several times the last-level cache, or as much as
    /// was available.
    pub over: u64,
}

impl Ceilings {
    /// Returns the bytes per second that `threads` threads can copy, interpolated between one
    /// thread and all CPUs.
    pub fn copy_rate(&self, threads: u32) -> Option<f64> {
        interpolate(self.copy, self.copy_all, self.threads, threads)
    }

    /// Returns the bytes per second that `threads` threads can read, interpolated likewise.
    pub fn read_rate(&self, threads: u32) -> Option<f64> {
        interpolate(self.read, self.read_all, self.threads, threads)
    }

    /// Returns the sum of the limits of several machines like this one.
    pub fn of_machines(self, count: u32) -> Ceilings {
        let times = f64::from(count.max(1));
        Ceilings {
            copy_all: self.copy_all.map(|rate| rate * times),
            read_all: self.read_all.map(|rate| rate * times),
            threads: self.threads.saturating_mul(count.max(1)),
            over: self.over.saturating_mul(count.max(1).into()),
            ..self
        }
    }

    /// Returns the better figure of two measurements for each limit.
    pub fn merge_best(self, other: &Ceilings) -> Ceilings {
        fn better(a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64) -> Option<f64> {
            a.zip(b).map(|(a, b)| pick(a, b)).or(a).or(b)
        }
        Ceilings {
            syscall_nanos: better(self.syscall_nanos, other.syscall_nanos, f64::min),
            clock_nanos: better(self.clock_nanos, other.clock_nanos, f64::min),
            copy: better(self.copy, other.copy, f64::max),
            read: better(self.read, other.read, f64::max),
            copy_all: better(self.copy_all, other.copy_all, f64::max),
            read_all: better(self.read_all, other.read_all, f64::max),
            ..self
        }
    }

    /// Returns every measured figure under a name that ends in its unit.
    pub fn figures(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("syscall_nanos", self.syscall_nanos),
            ("clock_nanos", self.clock_nanos),
            ("copy_bytes_per_second", self.copy),
            ("read_bytes_per_second", self.read),
            ("copy_all_threads_bytes_per_second", self.copy_all),
            ("read_all_threads_bytes_per_second", self.read_all),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

/// Interpolates linearly between the rate of one thread and that of as many threads as CPUs.
fn interpolate(single: Option<f64>, all: Option<f64>, cpus: u32, threads: u32) -> Option<f64> {
    let single = single?;
    if threads <= 1 || cpus <= 1 {
        return Some(single);
    }
    let all = all.unwrap_or(single).max(single);
    let share = f64::from(threads.min(cpus) - 1) / f64::from(cpus - 1);
    Some(single + share * (all - single))
}

/// The speed of the slowest link between disk and processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkCeiling {
    /// For example `PCIe 4.0 x4`.
    pub name: String,
    pub bytes_per_second: f64,
}

/// Disk limits of this process's control groups, all per second; `None` = no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Throttle {
    /// The control file that sets the limit: `io.max`, `blkio.throttle`.
    pub by: String,
    pub read_bytes: Option<u64>,
    pub write_bytes: Option<u64>,
    /// Read operations.
    pub reads: Option<u64>,
    /// Write operations.
    pub writes: Option<u64>,
}

impl Throttle {
    /// Returns the sum of the limits of several machines.
    pub fn of_machines(self, count: u32) -> Throttle {
        let all = |limit: Option<u64>| limit.map(|limit| limit.saturating_mul(count.max(1).into()));
        Throttle {
            read_bytes: all(self.read_bytes),
            write_bytes: all(self.write_bytes),
            reads: all(self.reads),
            writes: all(self.writes),
            ..self
        }
    }

    /// Describes the limits: `blkio.throttle allows reads of 10.0 MiB/s and 300 operations/s`.
    pub fn describe(&self) -> String {
        let parts = [("reads", false), ("writes", true)].map(|(name, writes)| {
            let (bytes, operations) = self.limits(writes);
            let bytes = bytes.map(|most| show_rate(most as f64));
            let all =
                bytes.into_iter().chain(operations.map(|most| format!("{most} operations/s")));
            let all: Vec<String> = all.collect();
            (!all.is_empty()).then(|| format!("{name} of {}", all.join(" and ")))
        });
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            return "no limit".into();
        }
        format!("{} allows {}", self.by, parts.join(" and "))
    }

    /// Returns the limits of writes or reads: bytes and operations per second.
    pub fn limits(&self, writes: bool) -> (Option<u64>, Option<u64>) {
        if writes { (self.write_bytes, self.writes) } else { (self.read_bytes, self.reads) }
    }
}

names! {
    /// The caches dropped from the kernel's caches before a reading; each level includes the one
    /// before.
    "cache-drop level" DropLevel {
        /// Nothing: the file is in the page cache.
        Nothing = "nothing",
        /// The pages of the file: posix_fadvise.
        Data = "data",
        /// Also the directory entries and inodes of all files: drop_caches 2.
        Meta = "meta",
        /// Also the pages of all files, which include the blocks that store inodes and directories:
        /// drop_caches 3.
        All = "all",
    }
}

/// Times of opening and reading the file once, nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    pub open: u64,
    /// The first read of 4 KiB at offset 0, including the readahead that it triggers.
    pub first: u64,
    /// From open to the end of the last read.
    pub whole: u64,
}

/// The readings at one cache-drop level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    pub dropped: DropLevel,
    pub readings: Vec<Reading>,
    /// Bytes that one reading of the whole file returns.
    pub bytes: u64,
    /// Why there are no readings, or no more.
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_rates_are_interpolated() {
        let all =
            Ceilings { copy: Some(10.0), copy_all: Some(40.0), threads: 4, ..Ceilings::default() };
        let rates: Vec<f64> =
            [0, 1, 2, 4, 64].into_iter().map(|threads| all.copy_rate(threads).unwrap()).collect();
        assert_eq!(rates, [10.0, 10.0, 20.0, 40.0, 40.0]);
        assert_eq!(all.read_rate(2), None);
        // Threads that slow each other down do not lower the ceiling below that of one thread.
        let slower = Ceilings { copy_all: Some(8.0), ..all };
        assert_eq!(slower.copy_rate(4), Some(10.0));
    }

    #[test]
    fn lists_only_measured_figures() {
        let some = Ceilings { syscall_nanos: Some(90.0), read: Some(1e10), ..Ceilings::default() };
        assert_eq!(
            some.figures().collect::<Vec<_>>(),
            [("syscall_nanos", 90.0), ("read_bytes_per_second", 1e10)]
        );
    }

    #[test]
    fn ceilings_of_machines_add_up() {
        let one = Ceilings {
            copy: Some(10.0),
            copy_all: Some(40.0),
            threads: 4,
            over: 100,
            ..Ceilings::default()
        };
        let all = one.of_machines(3);
        assert_eq!((all.copy_rate(1), all.copy_rate(12)), (Some(10.0), Some(120.0)));
        assert_eq!((all.read_all, all.over), (None, 300));
        let limits = Throttle { reads: Some(5), ..Throttle::default() };
        assert_eq!(limits.of_machines(3).limits(false), (None, Some(15)));
    }

    #[test]
    fn limits_of_control_groups_are_described() {
        let (by, none) = ("io.max".to_string(), Throttle::default());
        let reads = Throttle { by, read_bytes: Some(10 << 20), reads: Some(300), ..none.clone() };
        assert_eq!(reads.describe(), "io.max allows reads of 10.0 MiB/s and 300 operations/s");
        let both = Throttle { writes: Some(5), ..reads };
        assert!(both.describe().ends_with(" operations/s and writes of 5 operations/s"));
        assert_eq!(none.describe(), "no limit");
    }
}
