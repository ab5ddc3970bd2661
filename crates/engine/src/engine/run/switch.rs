//! Runs the command of a variant before its cells.

use std::time::Instant;

use super::Run;
use crate::engine::error::{Failure, Halt};
use crate::engine::variants::RESTORE_TIMEOUT;
use crate::record::{Event, Phase};

impl Run<'_> {
    /// Sets the variant that a cell is measured in; where that fails, the cell does.
    pub(super) fn switch_variant(&mut self, index: usize, round: u32) -> Result<(), Halt> {
        let cell = self.cells[index].as_ref().filter(|cell| !cell.out);
        let Some(variant) = cell.and_then(|cell| self.variants.needed(self.plan, &cell.job)) else {
            return Ok(());
        };
        self.check_halt()?;
        self.control.watchdog.doing("a command of --between was running");
        let progress = self.pace.progress(Phase::Switch, Some(index as u32), round);
        self.sink.event(Event::Progress(progress));
        let (control, deadline) = (self.control, self.pace.deadline());
        let kill = || control.stopping() || Instant::now() >= deadline;
        match self.variants.switch(variant, &kill) {
            Ok(()) => Ok(()),
            Err(Failure::Cell(error)) => {
                self.cells[index].iter_mut().for_each(|cell| cell.out = true);
                self.sink.event(Event::Failed { cell: index as u32, error });
                Ok(())
            }
            Err(Failure::Stopped | Failure::Abandoned) => Err(self.halt_reason()),
        }
    }

    /// Leaves the machine in the first variant, also after a stop.
    pub(super) fn restore_variant(&mut self) {
        let Some(name) = self.variants.unrestored().cloned() else { return };
        let end = Instant::now() + RESTORE_TIMEOUT;
        self.control.watchdog.doing("the last command of --between was running");
        self.control.watchdog.until(end);
        let why = match self.variants.switch(0, &|| Instant::now() >= end) {
            Ok(()) => return,
            Err(Failure::Cell(why)) => why,
            Err(Failure::Stopped | Failure::Abandoned) => {
                format!("its command did not end within {} s", RESTORE_TIMEOUT.as_secs())
            }
        };
        let text = format!("the machine was not set back to {name}: {why}");
        self.sink.event(Event::Note { text });
    }
}
