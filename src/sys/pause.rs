//! Waiting for a time, also where a sandbox refuses clock_nanosleep(2), at which the sleep of std
//! panics.

use std::thread;
use std::time::{Duration, Instant};

/// Sleeps so long. By a futex(2), which every thread needs anyway.
pub fn sleep(time: Duration) {
    let begin = Instant::now();
    while let Some(left) = time.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) {
        // It may return early: for a wake-up that was meant for something else, or because it is
        // refused.
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
