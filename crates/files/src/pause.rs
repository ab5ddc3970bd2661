//! Sleeps even if a sandbox refuses clock_nanosleep(2), in which case std's sleep panics.

use std::thread;
use std::time::{Duration, Instant};

/// Sleeps for `time`, by futex(2), which every thread needs anyway.
pub fn sleep(time: Duration) {
    let begin = Instant::now();
    while let Some(left) = time.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) {
        // futex(2) may return early: woken for another reason, or refused.
        thread::park_timeout(left);
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_woken_early() {
        let (begin, time) = (Instant::now(), Duration::from_millis(20));
        thread::current().unpark();
        sleep(time);
        assert!(begin.elapsed() >= time);
        sleep(Duration::ZERO);
    }
}
