//! Resource usage of a thread or the process, by getrusage(2), and waiting times: run queue, steal
//! time, memory pressure.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::text;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{SysconfVar, sysconf};

/// Counters since the start of the thread or process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Nanoseconds of CPU time in user mode (the kernel has microsecond resolution at best).
    pub user_nanos: u64,
    /// Nanoseconds of CPU time in the kernel.
    pub system_nanos: u64,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// Voluntary context switches, mostly to wait.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
}

impl Usage {
    /// Returns the usage of the calling thread.
    ///
    /// # Errors
    /// The errno of getrusage(2).
    pub fn thread() -> io::Result<Self> {
        // getrusage(2) reports a thread's time as of the last tick, up to 10 ms ago; reading this
        // clock updates it.
        clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?;
        Self::read(UsageWho::RUSAGE_THREAD)
    }

    /// Returns the usage of the process: of all its threads, including ended ones.
    ///
    /// # Errors
    /// The errno of getrusage(2).
    #[cfg(test)]
    pub fn process() -> io::Result<Self> {
        Self::read(UsageWho::RUSAGE_SELF)
    }

    fn read(who: UsageWho) -> io::Result<Self> {
        Ok(getrusage(who)?.as_ref().to_owned().into())
    }
}

impl From<libc::rusage> for Usage {
    fn from(usage: libc::rusage) -> Self {
        fn count(n: libc::c_long) -> u64 {
            u64::try_from(n).unwrap_or(0)
        }
        Self {
            user_nanos: nanos(usage.ru_utime.into()),
            system_nanos: nanos(usage.ru_stime.into()),
            minor_faults: count(usage.ru_minflt),
            major_faults: count(usage.ru_majflt),
            voluntary_switches: count(usage.ru_nvcsw),
            involuntary_switches: count(usage.ru_nivcsw),
        }
    }
}

fn nanos(time: TimeVal) -> u64 {
    let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(time.tv_usec()).unwrap_or(0) * 1000)
}

difference! {
    Usage: user_nanos, system_nanos, minor_faults, major_faults, voluntary_switches,
        involuntary_switches
}

/// Measures the time in which the thread that opened it was runnable without a CPU.
#[derive(Debug)]
pub struct RunQueue(Option<File>);

impl RunQueue {
    pub fn for_this_thread() -> RunQueue {
        RunQueue(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Returns the nanoseconds since the thread started: run_delay of /proc/PID/schedstat
    /// (Documentation/scheduler/sched-stats.rst). Excludes steal time. `None` without
    /// CONFIG_SCHED_INFO or /proc.
    pub fn nanos(&self) -> Option<u64> {
        let mut text = [0; 64];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        run_delay(str::from_utf8(text.get(..length)?).ok()?)
    }

    /// Returns the nanoseconds since the reading `before`.
    pub fn since(&self, before: Option<u64>) -> Option<u64> {
        Some(self.nanos()?.saturating_sub(before?))
    }
}

/// Parses `time on the CPU, time on the queue, time slices`.
fn run_delay(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Returns the steal time: nanoseconds since boot, summed over all CPUs, in which the hypervisor
/// ran something else although this machine had work. Granularity: a clock tick, usually 10 ms.
pub fn steal_nanos() -> Option<u64> {
    let per_second = sysconf(SysconfVar::CLK_TCK).ok()??;
    let ticks = *cpu_ticks(&text::read("/proc/stat").ok()?).get(STEAL)?;
    ticks.checked_mul(1_000_000_000u64.checked_div(u64::try_from(per_second).ok()?)?)
}

/// Parses the ticks of all CPUs from `cpu  user nice system idle iowait irq softirq steal guest
/// guest_nice`, up to steal: guest is part of user.
pub fn cpu_ticks(stat: &str) -> Vec<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    line.split_ascii_whitespace().take(STEAL + 1).map_while(|word| word.parse().ok()).collect()
}

/// The index of the steal time in [`cpu_ticks`].
pub const STEAL: usize = 7;

/// Returns the microseconds since boot in which at least one task waited for memory
/// (/proc/pressure/memory). `None` without CONFIG_PSI.
pub fn memory_pressure() -> Option<u64> {
    pressure(&text::read("/proc/pressure/memory").ok()?, "total=")
}

/// Parses a field of `some avg10=0.18 avg60=0.08 avg300=0.11 total=2846961`.
pub fn pressure<T: std::str::FromStr>(text: &str, field: &str) -> Option<T> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_ascii_whitespace().find_map(|word| word.strip_prefix(field)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_delay_only_grows() {
        assert_eq!(
            (run_delay("426028040 777932537 136\n"), run_delay("1 x"), run_delay("")),
            (Some(777_932_537), None, None)
        );
        let queue = RunQueue::for_this_thread();
        if let Some(before) = queue.nanos() {
            std::thread::yield_now();
            assert!(queue.nanos().is_some_and(|after| after >= before));
        }
    }

    #[test]
    fn a_thread_uses_time_and_faults() {
        let before = Usage::thread().unwrap();
        let process = Usage::process().unwrap();
        let mut used = Usage::default();
        // New memory faults when touched; the number of rounds is bounded, since a tick may be 10
        // ms.
        for round in 0..10_000usize {
            let mut data = memmap2::MmapMut::map_anon(1 << 20).unwrap();
            data.iter_mut().step_by(4096).for_each(|b| *b = round as u8);
            std::hint::black_box(&data);
            used = Usage::thread().unwrap() - before;
            if used.minor_faults > 0 && used.user_nanos + used.system_nanos > 0 {
                break;
            }
        }
        assert!(used.minor_faults > 0 && used.user_nanos + used.system_nanos > 0, "{used:?}");
        let all = Usage::process().unwrap() - process;
        assert!(all.minor_faults >= used.minor_faults, "{all:?} {used:?}");
        assert_eq!(Usage::default() - used, Usage::default());
    }

    #[test]
    fn thread_times_are_current() {
        fn clock() -> u64 {
            let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap();
            time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
        }
        for _ in 0..20 {
            let (start, before) = (clock(), Usage::thread().unwrap());
            // Does not read the thread's clock, which would update the usage.
            let begun = std::time::Instant::now();
            while begun.elapsed() < std::time::Duration::from_micros(500) {}
            let used = Usage::thread().unwrap() - before;
            let late = (clock() - start).saturating_sub(used.user_nanos + used.system_nanos);
            assert!(late < 100_000, "{used:?}, {late} ns behind");
        }
    }

    #[test]
    fn reads_ticks_and_pressure() {
        let stat = "cpu  10 20 30 40 50 60 70 81 90 0\ncpu0 1 2 3 4 5 6 7 8 9 0\nintr 5\n";
        assert_eq!(cpu_ticks(stat), [10, 20, 30, 40, 50, 60, 70, 81]);
        let psi = "some avg10=0.18 avg60=0.08 avg300=0.11 total=2846961\nfull avg10=0.17 \
                   avg60=0.07 avg300=0.10 total=2589025\n";
        assert_eq!(pressure(psi, "total="), Some(2_846_961));
        for odd in [
            "",
            "cpu ",
            "cpu  1 2 3",
            "cpu  a b c d e f g h",
            "some total=x",
            "some",
            "full total=3",
            "\0\u{fffd}",
        ] {
            let found = (cpu_ticks(odd).len() > STEAL, pressure::<u64>(odd, "total="));
            assert_eq!(found, (false, None), "{odd:?}");
        }
        assert!(steal_nanos().is_some());
    }
}
