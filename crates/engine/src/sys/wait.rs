//! Waits until a moment.
#![allow(unsafe_code)]

use std::time::Duration;

use super::clock::monotonic_nanos;
use super::pause;

/// Sleeps until `time`, nanoseconds of CLOCK_MONOTONIC. Returns earlier after a signal.
pub fn sleep_until(time: u64) {
    let until = libc::timespec {
        tv_sec: (time / 1_000_000_000) as libc::time_t,
        tv_nsec: (time % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `until` outlives the call; the kernel returns no rest of an absolute time.
    let refused = unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const until,
            std::ptr::null_mut(),
        )
    };
    // A sandbox.
    if refused != 0 && refused != libc::EINTR {
        pause::sleep(Duration::from_nanos(time.saturating_sub(monotonic_nanos())));
    }
}

/// Lets the kernel wake this thread at most this many nanoseconds late in favor of other timers; by
/// default 50 us. A refusal leaves that.
pub fn set_timer_slack(nanos: u64) {
    // SAFETY: prctl(2) takes no pointer for this option.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, nanos as libc::c_ulong, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_end_at_their_time() {
        std::thread::spawn(|| {
            set_timer_slack(1);
            let from = monotonic_nanos();
            for more in [0, 1_000, 3_000_000] {
                sleep_until(from + more);
                assert!(monotonic_nanos() >= from + more);
            }
            // A time in the past, and the earliest.
            sleep_until(from - 1);
            sleep_until(0);
        })
        .join()
        .unwrap();
    }
}
