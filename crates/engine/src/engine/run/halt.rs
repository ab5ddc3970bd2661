//! Pauses and ends of a run.

use std::time::Instant;

use super::Run;
use crate::engine::error::Halt;
use crate::record::{Event, Phase};

impl Run<'_> {
    /// Waits while the run is paused. A skip meanwhile excludes this cell, and the next one waits.
    pub(super) fn pause(&mut self, index: usize, round: u32) {
        self.exclude_skipped(index);
        let is_out = self.cells[index].as_ref().is_none_or(|cell| cell.out);
        if is_out || !self.control.pausing() {
            return;
        }
        let begin = Instant::now();
        self.sink.event(Event::Progress(self.pace.progress(
            Phase::Pause,
            Some(index as u32),
            round,
        )));
        self.control.wait_out_pause(|| self.control.is_skipped(index));
        self.exclude_skipped(index);
        self.pace.shift(begin.elapsed());
        self.control.watchdog.until(self.pace.deadline());
    }

    /// Excludes a cell that the user skips, and says so.
    fn exclude_skipped(&mut self, index: usize) {
        let Some(cell) = self.cells[index].as_mut().filter(|cell| !cell.out) else { return };
        if self.control.take_skip(index) {
            cell.out = true;
            self.sink.event(Event::Skipped { cell: index as u32 });
        }
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
