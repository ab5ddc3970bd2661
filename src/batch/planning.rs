//! The budget of what comes before the run: to find out what a file allows, it is opened and a
//! little of it is read, which may hang.

use std::process::exit;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::engine::Watchdog;
use crate::output::print_message;

/// Returns what `plan` makes. Where that outlasts the budget in a system call, this process ends
/// here: nothing was measured or written yet.
pub(super) fn within<T>(budget: Duration, plan: impl FnOnce() -> T) -> T {
    let watchdog = Arc::new(Watchdog::default());
    watchdog.doing("the plan was being made");
    if let Some(deadline) = Instant::now().checked_add(budget) {
        watchdog.until(deadline);
    }
    let watching = Arc::clone(&watchdog);
    // Without this thread a call that hangs is ended by a signal only.
    let _ = Builder::new().name("budget".into()).stack_size(256 << 10).spawn(move || {
        if let Some(why) = watching.wait(|| false) {
            print_message(format!("iotui: {why}"));
            exit(1);
        }
    });
    let made = plan();
    watchdog.finish();
    made
}
