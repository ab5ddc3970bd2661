//! What a machine and a target can reach at most: the lines that results are held against.

use serde::{Deserialize, Serialize};

/// What a machine can reach, measured by bare loops; `None` = could not be measured. Rates are the
/// best of several passes, times the least: a ceiling is not the middle of anything.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ceilings {
    /// The cheapest system call, nanoseconds.
    pub syscall_nanos: Option<f64>,
    /// One reading of the clock that latencies are taken with, nanoseconds.
    pub clock_nanos: Option<f64>,
    /// Bytes per second that one thread copies from memory into a small buffer.
    pub copy: Option<f64>,
    /// Bytes per second that one thread reads, folding them by XOR.
    pub read: Option<f64>,
    /// The same by `threads` threads at once, each on memory of its own.
    pub copy_all: Option<f64>,
    pub read_all: Option<f64>,
    /// CPUs that this process may use.
    pub threads: u32,
    /// Bytes of memory that the loops went over: well beyond the last cache, or as much as there
    /// was room for.
    pub over: u64,
}

impl Ceilings {
    /// Bytes per second that so many threads can copy: in proportion between one and all.
    pub fn copy_by(&self, threads: u32) -> Option<f64> {
        by(self.copy, self.copy_all, self.threads, threads)
    }

    /// Bytes per second that so many threads can read.
    pub fn read_by(&self, threads: u32) -> Option<f64> {
        by(self.read, self.read_all, self.threads, threads)
    }

    /// The better of each figure of two measurements.
    pub fn best(self, other: &Ceilings) -> Ceilings {
        let better = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| {
            a.zip(b).map(|(a, b)| pick(a, b)).or(a).or(b)
        };
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

    /// Every figure that is known, with its unit in the name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
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

fn by(one: Option<f64>, all: Option<f64>, cpus: u32, threads: u32) -> Option<f64> {
    let one = one?;
    if threads <= 1 || cpus <= 1 {
        return Some(one);
    }
    let all = all.unwrap_or(one).max(one);
    let share = f64::from(threads.min(cpus) - 1) / f64::from(cpus - 1);
    Some(one + share * (all - one))
}

/// The way between disk and processor, at most so fast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkCeiling {
    /// `PCIe 4.0 x4`.
    pub name: String,
    pub bytes_per_second: f64,
}

/// What control groups let this process do with the disk, each per second; `None` = no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Throttle {
    /// What sets it: `io.max`, `blkio.throttle`.
    pub by: String,
    pub read_bytes: Option<u64>,
    pub write_bytes: Option<u64>,
    /// Operations.
    pub reads: Option<u64>,
    pub writes: Option<u64>,
}

impl Throttle {
    /// Bytes and operations per second that it lets through.
    pub fn of(&self, writes: bool) -> (Option<u64>, Option<u64>) {
        if writes { (self.write_bytes, self.writes) } else { (self.read_bytes, self.reads) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_lie_between_one_and_all() {
        let all =
            Ceilings { copy: Some(10.0), copy_all: Some(40.0), threads: 4, ..Ceilings::default() };
        let by: Vec<f64> =
            [0, 1, 2, 4, 64].into_iter().map(|threads| all.copy_by(threads).unwrap()).collect();
        assert_eq!(by, [10.0, 10.0, 20.0, 40.0, 40.0]);
        assert_eq!(all.read_by(2), None);
        // Two threads that get in each other's way are no lower ceiling than one.
        let slower = Ceilings { copy_all: Some(8.0), ..all };
        assert_eq!(slower.copy_by(4), Some(10.0));
    }

    #[test]
    fn only_what_is_known_is_named() {
        let some = Ceilings { syscall_nanos: Some(90.0), read: Some(1e10), ..Ceilings::default() };
        assert_eq!(
            some.named().collect::<Vec<_>>(),
            [("syscall_nanos", 90.0), ("read_bytes_per_second", 1e10)]
        );
    }
}
