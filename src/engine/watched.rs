//! What the engine is at and since when: for whoever ends a run that a system call keeps from
//! ending itself.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The engine ends a run within a second and a little of its budget. One that does not has this
/// long to say so...
const PATIENCE: Duration = Duration::from_millis(1500);
/// ...unless it went on to something else within this time: then it is on its way to the end.
const QUIET: Duration = Duration::from_secs(1);

/// Shared by the engine, which tells what it does, and the thread that waits for the end of the
/// budget.
#[derive(Debug, Default)]
pub struct Watched {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    deadline: Option<Instant>,
    doing: &'static str,
    /// When it began or last showed that it goes on.
    since: Option<Instant>,
    paused: bool,
    over: bool,
}

impl Watched {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The budget ends then; also the end of a pause, which moved it.
    pub fn until(&self, deadline: Instant) {
        let mut state = self.state();
        (state.deadline, state.paused, state.since) = (Some(deadline), false, Some(Instant::now()));
        self.changed.notify_all();
    }

    /// A pause begins, which ends with [`Watched::until`].
    pub fn pause(&self) {
        self.state().paused = true;
    }

    /// What begins now, for "the budget ended while ...".
    pub fn doing(&self, what: &'static str) {
        let mut state = self.state();
        (state.doing, state.since) = (what, Some(Instant::now()));
    }

    /// It goes on with what it does.
    pub fn goes_on(&self) {
        self.state().since = Some(Instant::now());
    }

    /// The run is over: nobody waits for its budget any more.
    pub fn over(&self) {
        self.state().over = true;
        self.changed.notify_all();
    }

    /// Waits until the run is over (`None`) or its budget and [`PATIENCE`] are, and it does
    /// nothing: then what it was at.
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
                .and_then(|deadline| deadline.checked_add(PATIENCE))
                .map(|end| end.saturating_duration_since(now));
            let wait = match left {
                None => Duration::from_secs(3600),
                Some(_) if state.paused || pausing() => QUIET,
                Some(left) => left.max(QUIET.saturating_sub(quiet)),
            };
            if wait.is_zero() {
                let doing =
                    if state.doing.is_empty() { "it was being made ready" } else { state.doing };
                return Some(format!(
                    "the budget ended while {doing}: a system call has not returned for {:.1} s",
                    quiet.as_secs_f64()
                ));
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
    fn what_hangs_beyond_the_budget_is_told() {
        let watched = Watched::default();
        watched.doing("the file was being filled");
        watched.until(past());
        watched.state().since = Some(past());
        let told = watched.wait(|| false).unwrap();
        assert!(told.starts_with("the budget ended while the file was being filled: a system call has not returned for 60."), "{told}");
    }

    #[test]
    fn what_is_over_paused_or_goes_on_is_waited_for() {
        let watched = Watched::default();
        watched.until(past());
        watched.state().since = Some(past());
        std::thread::scope(|scope| {
            watched.pause();
            let waiting = scope.spawn(|| watched.wait(|| false));
            watched.over();
            assert_eq!(waiting.join().unwrap(), None);
        });
        assert_eq!(watched.wait(|| unreachable!("it is over")), None);
        // It showed a moment ago that it goes on: a second more.
        let watched = Watched::default();
        watched.until(past());
        let begin = Instant::now();
        assert!(watched.wait(|| false).is_some() && begin.elapsed() > QUIET / 2);
    }
}
