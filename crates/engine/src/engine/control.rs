//! The commands of a front end to a run, and what they mean for the current step.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::progress::Pace;
use super::watchdog::Watchdog;
use crate::record::End;

/// Flags set by the front end. Signal handlers set the stop flag, so it is `'static`.
#[derive(Debug)]
pub struct Control {
    pub stop: &'static AtomicBool,
    /// The signal that stopped another rank, and with it the run; 0: none did.
    signal: AtomicI32,
    /// Cells or probes to exclude from this and all later rounds. The cell may be complete when the
    /// engine reads its index.
    skips: Mutex<Vec<u32>>,
    /// Pauses: the current step is discarded, and repeated in full after the pause.
    pub pause: AtomicBool,
    /// The current activity, for the thread that watches the budget.
    pub watchdog: Watchdog,
    /// Whether a command of `--between` may have left the machine in another variant than the
    /// first.
    pub(super) changed: AtomicBool,
}

/// How often a paused run checks its flags.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl Control {
    pub fn new(stop: &'static AtomicBool) -> Control {
        Control {
            stop,
            signal: AtomicI32::new(0),
            skips: Mutex::default(),
            pause: AtomicBool::new(false),
            watchdog: Watchdog::default(),
            changed: AtomicBool::new(false),
        }
    }

    pub fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Stops the run, as another rank has received this signal.
    pub(super) fn stop_for(&self, signal: i32) {
        self.signal.store(signal, Relaxed);
        self.stop.store(true, Relaxed);
    }

    /// Returns the signal that stopped another rank, if one did.
    pub fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Relaxed)).filter(|signal| *signal != 0)
    }

    /// Excludes a cell, or a probe, at its current or next step.
    pub fn skip(&self, index: u32) {
        self.lock_skips().push(index);
    }

    pub(super) fn is_skipped(&self, index: usize) -> bool {
        self.lock_skips().iter().any(|skip| *skip as usize == index)
    }

    /// Returns whether this cell is to be excluded, once.
    pub(super) fn take_skip(&self, index: usize) -> bool {
        let mut skips = self.lock_skips();
        let before = skips.len();
        skips.retain(|skip| *skip as usize != index);
        skips.len() < before
    }

    fn lock_skips(&self) -> MutexGuard<'_, Vec<u32>> {
        self.skips.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins or ends a pause. [`Phase::Pause`](crate::record::Phase) is sent once nothing is
    /// measured any more; the phase of the next step ends it.
    pub fn set_pause(&self, pause: bool) {
        self.pause.store(pause, Relaxed);
    }

    pub fn pausing(&self) -> bool {
        self.pause.load(Relaxed)
    }

    /// Waits until the pause is over, the run is stopped, or `also` holds. The time of the pause
    /// does not count.
    pub(super) fn wait_out_pause(&self, pace: &mut Pace, also: &dyn Fn() -> bool) {
        let begin = Instant::now();
        self.watchdog.pause();
        while self.pausing() && !self.stopping() && !also() {
            crate::sys::pause::sleep(POLL_INTERVAL);
        }
        self.forget_since(begin, pace);
    }

    /// Moves the deadline, so that the time since `begin` does not count.
    pub(super) fn forget_since(&self, begin: Instant, pace: &mut Pace) {
        pace.shift(begin.elapsed());
        self.watchdog.until(pace.deadline());
    }

    /// Returns an error if the run is to end now.
    pub(super) fn check_end(&self, pace: &Pace) -> Result<(), End> {
        if self.stopping() {
            Err(End::Interrupted)
        } else if pace.is_over() {
            Err(End::Budget)
        } else {
            Ok(())
        }
    }

    /// Returns why a step ended before it was complete: only a user interrupts a run.
    pub(super) fn end_reason(&self, pace: &Pace) -> End {
        self.check_end(pace).err().unwrap_or(End::Interrupted)
    }
}

/// How to end the current step before it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// However long the current system call takes.
    Pause,
    /// Soon: a system call that does not return is abandoned.
    End,
}

/// The stop condition of one step; remembers what cut it first.
pub(super) struct Cutter<'a> {
    control: &'a Control,
    /// The cell, or the probe.
    index: usize,
    deadline: Instant,
    /// A pause cuts it, too.
    pauses: bool,
    first: Cell<Option<Cut>>,
}

impl<'a> Cutter<'a> {
    pub fn new(control: &'a Control, index: usize, deadline: Instant) -> Cutter<'a> {
        Cutter { control, index, deadline, pauses: true, first: Cell::new(None) }
    }

    /// Sets whether a pause cuts the step.
    pub fn with_pauses(self, pauses: bool) -> Cutter<'a> {
        Cutter { pauses, ..self }
    }

    pub fn check(&self) -> Option<Cut> {
        if self.first.get().is_none() {
            let ends = self.control.stopping() || self.control.is_skipped(self.index);
            self.first.set(if ends {
                Some(Cut::End)
            } else if self.control.pausing() && self.pauses {
                Some(Cut::Pause)
            } else if Instant::now() > self.deadline {
                Some(Cut::End)
            } else {
                None
            });
        }
        // A stop overrides a pause.
        if self.control.stopping() { Some(Cut::End) } else { self.first.get() }
    }

    /// Returns whether a pause cut the step, so that its result does not count.
    pub fn paused(&self) -> bool {
        self.first.get() == Some(Cut::Pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_cut_decides_unless_stopped() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let control = Control::new(&STOP);
        let far = Instant::now() + Duration::from_secs(3600);
        let cutter = Cutter::new(&control, 3, far);
        assert_eq!((cutter.check(), cutter.paused()), (None, false));
        control.set_pause(true);
        assert_eq!((cutter.check(), cutter.paused()), (Some(Cut::Pause), true));
        // The step is discarded, whatever happens while it ends.
        control.set_pause(false);
        control.skip(3);
        assert_eq!((cutter.check(), cutter.paused()), (Some(Cut::Pause), true));
        // A skip ends a step whether or not a pause begins after it.
        assert_eq!(Cutter::new(&control, 2, far).check(), None, "another cell");
        let skipped = Cutter::new(&control, 3, far);
        assert_eq!(skipped.check(), Some(Cut::End));
        control.set_pause(true);
        assert_eq!((skipped.check(), skipped.paused()), (Some(Cut::End), false));
        let watch = Cutter::new(&control, 2, far).with_pauses(false);
        assert_eq!((watch.check(), watch.paused()), (None, false));
        STOP.store(true, Relaxed);
        assert_eq!((watch.check(), watch.paused()), (Some(Cut::End), false));
        assert_eq!((cutter.check(), cutter.paused()), (Some(Cut::End), true));
        let mut pace = Pace::new(Instant::now(), far, 1, None);
        control.wait_out_pause(&mut pace, &|| false);
    }
}
