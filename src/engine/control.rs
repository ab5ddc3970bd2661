//! What a front end may ask of a run under way.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Flags from the front end; the stop flag is the one that signal handlers set, so it lives as long as the process.
#[derive(Debug)]
pub struct Control {
    pub stop: &'static AtomicBool,
    /// Leave the cell that runs now out of this and all later rounds.
    pub skip: AtomicBool,
}

impl Control {
    pub fn new(stop: &'static AtomicBool) -> Control {
        Control { stop, skip: AtomicBool::new(false) }
    }

    pub fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    pub fn set_pause(&self, _: bool) {}

    pub fn take_skip(&self) -> bool {
        self.skip.swap(false, Relaxed)
    }
}
