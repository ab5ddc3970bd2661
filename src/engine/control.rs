//! What a front end may ask of a run under way, and what that means for the step that runs.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::watched::Watched;

/// Flags from the front end; the stop flag is the one that signal handlers set, so it lives as long
/// as the process.
#[derive(Debug)]
pub struct Control {
    pub stop: &'static AtomicBool,
    /// Leave the cell that runs now out of this and all later rounds.
    pub skip: AtomicBool,
    /// Wait: the step under way is thrown away, and repeated in full when the pause is over.
    pub pause: AtomicBool,
    /// What the engine says of itself.
    pub watched: Watched,
}

/// How often a paused run looks at its flags.
const LOOK: Duration = Duration::from_millis(20);

impl Control {
    pub fn new(stop: &'static AtomicBool) -> Control {
        Control {
            stop,
            skip: AtomicBool::new(false),
            pause: AtomicBool::new(false),
            watched: Watched::default(),
        }
    }

    pub fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    pub fn take_skip(&self) -> bool {
        self.skip.swap(false, Relaxed)
    }

    /// Begins or ends a pause. It is told as [`Phase::Pause`](crate::record::Phase) once nothing is
    /// measured any more; the phase of the next step tells its end.
    pub fn set_pause(&self, pause: bool) {
        self.pause.store(pause, Relaxed);
    }

    pub fn pausing(&self) -> bool {
        self.pause.load(Relaxed)
    }

    /// Waits until the pause is over, the run is to stop, or `also`. Where the budget ends then is
    /// told by [`Watched::until`].
    pub(super) fn wait_out_pause(&self, also: impl Fn() -> bool) {
        self.watched.pause();
        while self.pausing() && !self.stopping() && !also() {
            crate::sys::pause::sleep(LOOK);
        }
    }
}

/// How a step under way is to end before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// However long the system call under way takes.
    Pause,
    /// Soon: what does not return is left behind.
    End,
}

/// Asked while one step runs; remembers what cut it first.
pub(super) struct Cutter<'a> {
    control: &'a Control,
    deadline: Instant,
    first: Cell<Option<Cut>>,
}

impl<'a> Cutter<'a> {
    pub fn new(control: &'a Control, deadline: Instant) -> Cutter<'a> {
        Cutter { control, deadline, first: Cell::new(None) }
    }

    pub fn ask(&self) -> Option<Cut> {
        if self.first.get().is_none() {
            self.first.set(match () {
                () if self.control.stopping() || self.control.skip.load(Relaxed) => Some(Cut::End),
                () if self.control.pausing() => Some(Cut::Pause),
                () if Instant::now() > self.deadline => Some(Cut::End),
                () => None,
            });
        }
        // A stop does not wait for a pause to begin.
        if self.control.stopping() { Some(Cut::End) } else { self.first.get() }
    }

    /// A pause cut the step: what it gave does not count.
    pub fn paused(&self) -> bool {
        self.first.get() == Some(Cut::Pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cut_decides_and_a_stop_is_urgent() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let control = Control::new(&STOP);
        let far = Instant::now() + Duration::from_secs(3600);
        let cutter = Cutter::new(&control, far);
        assert_eq!((cutter.ask(), cutter.paused()), (None, false));
        control.set_pause(true);
        assert_eq!((cutter.ask(), cutter.paused()), (Some(Cut::Pause), true));
        // It is thrown away, whatever comes while it ends.
        control.set_pause(false);
        control.skip.store(true, Relaxed);
        assert_eq!((cutter.ask(), cutter.paused()), (Some(Cut::Pause), true));
        // A skip ends a step whether or not a pause begins after it.
        let skipped = Cutter::new(&control, far);
        assert_eq!(skipped.ask(), Some(Cut::End));
        control.set_pause(true);
        assert_eq!((skipped.ask(), skipped.paused()), (Some(Cut::End), false));
        STOP.store(true, Relaxed);
        assert_eq!((cutter.ask(), cutter.paused()), (Some(Cut::End), true));
        control.wait_out_pause(|| false);
    }
}
