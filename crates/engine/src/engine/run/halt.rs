//! Pauses and ends of a run.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::Run;
use crate::engine::error::Halt;
use crate::record::{Event, Phase};

impl Run<'_> {
    /// Waits while the run is paused. A skip meanwhile excludes this cell, and the next one waits.
    pub(super) fn pause(&mut self, index: usize, round: u32) {
        let Some(cell) = self.cells[index].as_mut() else { return };
        if cell.out || !self.control.pausing() {
            return;
        }
        let begin = Instant::now();
        self.sink.event(Event::Progress(self.pace.progress(
            Phase::Pause,
            Some(index as u32),
            round,
        )));
        self.control.wait_out_pause(|| self.control.skip.load(Relaxed));
        if self.control.take_skip() {
            cell.out = true;
            self.sink.event(Event::Skipped { cell: index as u32 });
        }
        self.pace.shift(begin.elapsed());
        self.control.watchdog.until(self.pace.deadline());
    }

    /// Returns why a step was ended before it was complete: only a user interrupts a run.
    pub(super) fn halt_reason(&self) -> Halt {
        let over = Instant::now() >= self.pace.deadline();
        if self.control.stopping() || !over { Halt::Stopped } else { Halt::Budget }
    }

    pub(super) fn check_halt(&self) -> Result<(), Halt> {
        if self.control.stopping() {
            Err(Halt::Stopped)
        } else if Instant::now() >= self.pace.deadline() {
            Err(Halt::Budget)
        } else {
            Ok(())
        }
    }
}
