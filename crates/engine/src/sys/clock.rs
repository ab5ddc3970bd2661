//! The clock for latencies: the time-stamp counter if it is reliable (10 ns per reading), else
//! CLOCK_MONOTONIC (22 ns).
#![allow(unsafe_code)]

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A clock and the length of its ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    pub tsc: bool,
    /// Nanoseconds per tick, times 2^[`SHIFT`].
    scale: u64,
}

/// 2^20 keeps a relative precision of 4e-6 at one tick per 0.2 ns.
const SHIFT: u32 = 20;

impl Clock {
    /// Returns the best clock of this machine, calibrated on first use (0.5 ms).
    pub fn best() -> Clock {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        *CLOCK.get_or_init(|| {
            if tsc_is_sound() {
                Clock { tsc: true, scale: calibrate() }
            } else {
                Clock::monotonic()
            }
        })
    }

    pub fn monotonic() -> Clock {
        Clock { tsc: false, scale: 1 << SHIFT }
    }

    /// Returns the current ticks; never 0.
    #[inline(always)]
    pub fn now(self) -> u64 {
        if self.tsc { ticks() } else { monotonic_nanos() }
    }

    /// Returns the ticks once all earlier instructions, including loads, are complete, and before
    /// any later one begins. The plain counter may be read while some hundred earlier instructions
    /// are still in flight.
    #[inline(always)]
    pub fn now_ordered(self) -> u64 {
        if !self.tsc {
            return monotonic_nanos();
        }
        fence();
        let ticks = ticks();
        fence();
        ticks
    }

    /// Measures the nanoseconds between two consecutive readings, as the minimum of many.
    pub fn read_overhead(self) -> u64 {
        let pair = || {
            let start = self.now();
            self.nanos(start, self.now())
        };
        (0..64).map(|_| pair()).min().unwrap_or(0)
    }

    /// Converts an interval in nanoseconds to ticks; at least 1.
    pub fn ticks(self, nanos: u64) -> u64 {
        let ticks = (u128::from(nanos) << SHIFT) / u128::from(self.scale.max(1));
        u64::try_from(ticks).unwrap_or(u64::MAX).max(1)
    }

    /// Returns the number of ticks in a nanosecond.
    pub fn ticks_per_nano(self) -> f64 {
        f64::from(1u32 << SHIFT) / self.scale.max(1) as f64
    }

    /// Converts an interval in ticks to nanoseconds. A counter that ran backwards between CPUs
    /// counts as 0.
    #[inline(always)]
    pub fn nanos(self, from: u64, to: u64) -> u64 {
        ((u128::from(to.saturating_sub(from)) * u128::from(self.scale)) >> SHIFT) as u64
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fence() {
    // SAFETY: every x86-64 CPU has SSE2.
    unsafe { std::arch::x86_64::_mm_lfence() };
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn fence() {
    // SAFETY: barriers for loads and instructions have no preconditions.
    unsafe { std::arch::asm!("dsb ld", "isb", options(nostack, preserves_flags)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn fence() {}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ticks() -> u64 {
    // SAFETY: rdtsc has no preconditions in Linux user space.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn ticks() -> u64 {
    let value: u64;
    // SAFETY: the virtual counter is readable from user space on Linux.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) value, options(nomem, nostack)) };
    value
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn ticks() -> u64 {
    monotonic_nanos()
}

/// Returns CLOCK_MONOTONIC in nanoseconds.
#[inline(always)]
pub fn monotonic_nanos() -> u64 {
    nanos_of(libc::CLOCK_MONOTONIC)
}

/// Returns the time since this machine started, including suspends.
pub fn since_boot() -> Duration {
    Duration::from_nanos(nanos_of(libc::CLOCK_BOOTTIME))
}

/// Returns the reading of a kernel clock in nanoseconds; 0 if that clock does not exist.
#[inline(always)]
pub fn nanos_of(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that outlives the call.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Reads the CPU's counter, possibly before earlier instructions are complete.
#[inline(always)]
pub fn counter() -> u64 {
    ticks()
}

/// Reads the CPU's counter after all earlier instructions are complete.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn counter_ordered() -> u64 {
    let mut processor = 0;
    // SAFETY: rdtscp writes the counter and one integer; every x86-64 CPU of the last 15 years has
    // it.
    unsafe { std::arch::x86_64::__rdtscp(&mut processor) }
}

/// Reads the CPU's counter after all earlier instructions are complete.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn counter_ordered() -> u64 {
    let value: u64;
    // SAFETY: a barrier, and the virtual counter, which is readable from user space on Linux.
    unsafe {
        std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) value, options(nomem, nostack))
    };
    value
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn counter_ordered() -> u64 {
    monotonic_nanos()
}

/// Returns whether an ordered reading is possible: some virtual machines lack `rdtscp`.
pub fn has_ordered_counter() -> bool {
    if cfg!(not(target_arch = "x86_64")) {
        return true;
    }
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    info.lines()
        .find(|line| line.starts_with("flags"))
        .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "rdtscp"))
}

/// Converts `ticks` of [`counter`], which may be shorter than a nanosecond each, to picoseconds;
/// `None` if the counter is not a reliable clock.
pub fn counter_picos(ticks: u64) -> Option<u64> {
    let clock = Clock::best();
    clock.tsc.then(|| clock.nanos(0, ticks.saturating_mul(1000)))
}

/// Returns whether the counter ticks at one rate in every power state and on every CPU: the CPU
/// declares it, and the kernel uses the counter to keep time.
fn tsc_is_sound() -> bool {
    if cfg!(target_arch = "aarch64") {
        return true;
    }
    fn read(path: &str) -> String {
        std::fs::read_to_string(path).unwrap_or_default()
    }
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let info = read("/proc/cpuinfo");
    let flags = info.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    let has = |flag: &str| flags.split_whitespace().any(|f| f == flag);
    cfg!(target_arch = "x86_64")
        && matches!(source.trim(), "tsc" | "kvm-clock")
        && has("constant_tsc")
        && has("nonstop_tsc")
}

/// Each end is known within some 10 ns, so the rate within 4e-5; every process waits this long
/// once.
const CALIBRATION_TIME: Duration = Duration::from_micros(500);

/// Returns the nanoseconds per tick, times 2^[`SHIFT`]. Each end is the tightest of five pairs of
/// readings, which excludes interrupts.
fn calibrate() -> u64 {
    fn pair() -> (u64, u64, u64) {
        let tries = (0..5).map(|_| {
            let before = ticks();
            let nanos = monotonic_nanos();
            let after = ticks();
            (after.saturating_sub(before), before + after.saturating_sub(before) / 2, nanos)
        });
        tries.min().unwrap_or_default()
    }
    let (_, ticks_a, nanos_a) = pair();
    let start = Instant::now();
    while start.elapsed() < CALIBRATION_TIME {
        std::hint::spin_loop();
    }
    let (_, ticks_b, nanos_b) = pair();
    let ticks = u128::from(ticks_b.saturating_sub(ticks_a).max(1));
    u64::try_from((u128::from(nanos_b - nanos_a) << SHIFT) / ticks).unwrap_or(1 << SHIFT).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_agree_with_the_monotonic_clock() {
        for clock in [Clock::best(), Clock::monotonic()] {
            let (outer, start) = (Instant::now(), clock.now());
            let inner = Instant::now();
            while inner.elapsed() < Duration::from_millis(20) {}
            let inner = inner.elapsed().as_nanos() as f64;
            let nanos = clock.nanos(start, clock.now()) as f64;
            let outer = outer.elapsed().as_nanos() as f64;
            assert!(
                nanos > inner * 0.999 && nanos < outer * 1.001,
                "{clock:?}: {inner} <= {nanos} <= {outer}"
            );
        }
    }

    #[test]
    fn a_backward_counter_counts_zero() {
        assert_eq!(Clock::best().nanos(10, 5), 0);
        let _ = Clock { tsc: true, scale: u32::MAX.into() }.nanos(0, u64::MAX);
    }

    #[test]
    fn ticks_are_the_inverse_of_nanoseconds() {
        for clock in [Clock::best(), Clock::monotonic(), Clock { tsc: true, scale: 330_000 }] {
            for nanos in [1_000, 99_999_999, 600_000_000_000] {
                let back = clock.nanos(0, clock.ticks(nanos));
                assert!(back <= nanos && nanos - back <= 5, "{clock:?}: {nanos}, {back}");
            }
            assert_eq!(clock.ticks(0), 1);
        }
        assert_eq!(Clock { tsc: true, scale: 1 }.ticks(u64::MAX), u64::MAX);
    }
}
