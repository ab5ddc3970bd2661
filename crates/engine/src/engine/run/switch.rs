//! Runs the command of a variant before its cells.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::Run;
use crate::engine::Control;
use crate::engine::error::{Failure, Halt};
use crate::engine::variants::{RESTORE_TIMEOUT, Variants};
use crate::plan::Plan;
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
        self.control.changed.store(true, Relaxed);
        match self.variants.switch(variant, &kill) {
            Ok(()) => {
                self.control.changed.store(variant != 0, Relaxed);
                Ok(())
            }
            Err(Failure::Cell(error)) => {
                self.fail_cell(index, error);
                Ok(())
            }
            Err(Failure::Stopped | Failure::Abandoned) => {
                let halt = self.halt_reason();
                let cell = self.cells[index].as_ref().filter(|cell| cell.trials.is_empty());
                if let Some(name) = cell.and_then(|cell| cell.job.variant.clone())
                    && matches!(halt, Halt::Budget)
                {
                    let error = format!("the command of {name} did not end within the budget");
                    self.fail_cell(index, error);
                }
                Err(halt)
            }
        }
    }

    fn fail_cell(&mut self, index: usize, error: String) {
        self.cells[index].iter_mut().for_each(|cell| cell.out = true);
        self.sink.event(Event::Failed { cell: index as u32, error });
    }

    /// Leaves the machine in the first variant, also after a stop.
    pub(super) fn restore_variant(&mut self) {
        if let Some(text) = set_back(self.plan, self.control) {
            self.sink.event(Event::Note { text });
            self.sink.event(Event::Unrestored);
        }
    }
}

/// Leaves the machine in the first variant of a plan, where a command of its run may have left it
/// in another. Returns what to say if it is not.
pub fn set_back(plan: &Plan, control: &Control) -> Option<String> {
    let first = plan.variants.first().filter(|_| control.changed.swap(false, Relaxed))?;
    let end = Instant::now() + RESTORE_TIMEOUT;
    control.watchdog.doing("the last command of --between was running");
    control.watchdog.until(end);
    let why = match Variants::new(plan).switch(0, &|| Instant::now() >= end) {
        Ok(()) => return None,
        Err(Failure::Cell(why)) => why,
        Err(Failure::Stopped | Failure::Abandoned) => {
            format!("its command did not end within {} s", RESTORE_TIMEOUT.as_secs())
        }
    };
    Some(format!("the machine was not set back to {}: {why}", first.name))
}
