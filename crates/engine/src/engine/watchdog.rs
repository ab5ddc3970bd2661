//! Tracks the activity of the engine, for the thread that ends a run whose system call does not
//! return.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::ranks::Roll;

/// The engine ends a run within little more than a second of its budget. After this time it is
/// considered stuck...
const STUCK_TIMEOUT: Duration = Duration::from_millis(1500);
/// ...unless it made progress within this time: then it is about to end.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(1);

/// Shared by the engine, which reports its activity, and the thread that waits for the end of the
/// budget.
#[derive(Debug, Default)]
pub struct Watchdog {
    state: Mutex<Activity>,
    changed: Condvar,
    /// The arrivals of the ranks that measure together.
    roll: OnceLock<Arc<Roll>>,
}

#[derive(Debug, Default)]
struct Activity {
    deadline: Option<Instant>,
    doing: &'static str,
    /// When the activity began, or last made progress.
    since: Option<Instant>,
    paused: bool,
    over: bool,
}

impl Watchdog {
    fn state(&self) -> MutexGuard<'_, Activity> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches the ranks that measure together, too.
    pub fn watch_ranks(&self, roll: Arc<Roll>) {
        // A run has one set of ranks.
        let _ = self.roll.set(roll);
    }

    /// Describes the ranks that the engine waits for; `None` if it waits for none.
    pub fn describe_missing(&self) -> Option<String> {
        self.roll.get()?.describe_missing()
    }

    /// Sets the end of the budget. Also ends a pause, which moved it.
    pub fn until(&self, deadline: Instant) {
        let mut state = self.state();
        (state.deadline, state.paused, state.since) = (Some(deadline), false, Some(Instant::now()));
        self.changed.notify_all();
    }

    /// Begins a pause, which [`Watchdog::until`] ends.
    pub fn pause(&self) {
        self.state().paused = true;
    }

    /// Sets the current activity, for "the budget ended while ...".
    pub fn doing(&self, what: &'static str) {
        let mut state = self.state();
        (state.doing, state.since) = (what, Some(Instant::now()));
    }

    /// Records that the current activity makes progress.
    pub fn mark_alive(&self) {
        self.state().since = Some(Instant::now());
    }

    /// Records that the run is over, and wakes the waiting thread.
    pub fn finish(&self) {
        self.state().over = true;
        self.changed.notify_all();
    }

    /// Waits until the run is over (`None`), or until it is past its budget and [`STUCK_TIMEOUT`]
    /// without progress: then returns what it was doing.
    pub fn wait(&self, pausing: impl Fn() -> bool) -> Option<String> {
        let mut state = self.state();
        loop {
            if state.over {
                return None;
            }
            let now = Instant::now();
            let quiet = state.since.map_or(Duration::ZERO, |since| now - since);
            let left = state
                .deadline
                .and_then(|deadline| deadline.checked_add(STUCK_TIMEOUT))
                .map(|end| end.saturating_duration_since(now));
            let wait = match left {
                None => Duration::from_secs(3600),
                Some(_) if state.paused || pausing() => PROGRESS_TIMEOUT,
                Some(left) => left.max(PROGRESS_TIMEOUT.saturating_sub(quiet)),
            };
            if wait.is_zero() {
                let doing =
                    if state.doing.is_empty() { "the run was being prepared" } else { state.doing };
                let why = self.describe_missing().unwrap_or_else(|| {
                    format!("a system call has not returned for {:.1} s", quiet.as_secs_f64())
                });
                return Some(format!("the budget ended while {doing}: {why}"));
            }
            (state, _) =
                self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past() -> Instant {
        Instant::now().checked_sub(Duration::from_secs(60)).expect("the clock began an hour ago")
    }

    #[test]
    fn hanging_runs_are_reported() {
        let watchdog = Watchdog::default();
        watchdog.doing("the file was being filled");
        watchdog.until(past());
        watchdog.state().since = Some(past());
        let text = watchdog.wait(|| false).unwrap();
        let expected = "the budget ended while the file was being filled: a system call has not \
                        returned for 60.";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn silent_rank_is_the_reason() {
        let watchdog = Watchdog::default();
        let roll = Arc::new(Roll::new(2));
        watchdog.watch_ranks(Arc::clone(&roll));
        watchdog.doing("the file was being filled");
        watchdog.until(past());
        watchdog.state().since = Some(past());
        roll.come(0);
        let text = watchdog.wait(|| false).unwrap();
        let expected = "the budget ended while the file was being filled: rank 1 has not answered";
        assert!(text.starts_with(expected), "{text}");
        roll.come(1);
        let text = watchdog.wait(|| false).unwrap();
        assert!(text.contains("a system call has not returned for 60."), "{text}");
    }

    #[test]
    fn live_runs_are_not_reported() {
        let watchdog = Watchdog::default();
        watchdog.until(past());
        watchdog.state().since = Some(past());
        std::thread::scope(|scope| {
            watchdog.pause();
            let waiting = scope.spawn(|| watchdog.wait(|| false));
            watchdog.finish();
            assert_eq!(waiting.join().unwrap(), None);
        });
        assert_eq!(watchdog.wait(|| unreachable!("it is over")), None);
        // It made progress a moment ago: a second more.
        let watchdog = Watchdog::default();
        watchdog.until(past());
        let begin = Instant::now();
        assert!(watchdog.wait(|| false).is_some() && begin.elapsed() > PROGRESS_TIMEOUT / 2);
    }
}
