//! Opens or creates the targets of a run.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use crate::engine::error::EngineError;
use crate::engine::progress::Pace;
use crate::engine::run::span::FillLimit;
use crate::engine::targets::Targets;
use crate::engine::{Control, Sink, target};
use crate::plan::{Plan, TargetSpec};
use crate::record::{End, Event, Phase};
use crate::text::show_path;
use crate::units::show_bytes;

/// A disk takes some 10 ms to write one piece of a new file; slower ones are noted.
const SLOW_PIECE: Duration = Duration::from_secs(1);

/// Removes what killed runs left in the folders of a plan. Before any rank creates a file: where a
/// file system knows no locks across machines, that of another rank would look like a leftover.
pub(super) fn remove_leftovers(plan: &Plan) {
    plan.targets().for_each(target::remove_leftovers);
}

/// Returns the targets; `None` where the budget ended while one was being filled.
pub(super) fn open(
    plan: &Plan,
    pace: &mut Pace,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<Option<Targets>, EngineError> {
    control.watchdog.doing(if plan.targets().any(TargetSpec::is_ours) {
        "the file was being filled"
    } else {
        "the file was being opened and inspected"
    });
    sink.event(Event::Progress(pace.progress(Phase::Fill, None, 0)));
    let (mut last_event, mut last_piece) = (Instant::now(), Instant::now());
    let (mut filled, mut slowest) = (0, Duration::ZERO);
    let budget = pace.budget();
    let pace = RefCell::new(pace);
    let stop = || control.stopping() || pace.borrow().is_over();
    let limit = FillLimit::new(plan);
    let targets = Targets::open(plan, &stop, &mut |filling| {
        filled = filling.all;
        slowest = slowest.max(last_piece.elapsed());
        control.watchdog.mark_alive();
        if control.pausing() {
            wait_out_pause(&mut pace.borrow_mut(), control, sink);
        }
        if last_event.elapsed() > Duration::from_millis(100) {
            last_event = Instant::now();
            sink.event(Event::Progress(pace.borrow().progress(Phase::Fill, None, 0)));
        }
        last_piece = Instant::now();
        // A pause does not use up the budget.
        limit.check(budget.saturating_sub(pace.borrow().budget()), filling)
    });
    let mut targets = match targets {
        Err(EngineError::Stopped) if !control.stopping() => {
            let size = plan.targets().map(TargetSpec::size).sum();
            let text = describe_unfilled(filled, size, slowest.max(last_piece.elapsed()));
            sink.event(Event::Note { text });
            return Ok(None);
        }
        Err(EngineError::Stopped) => {
            // A stop is not a failure, whatever it stops.
            sink.event(Event::End { reason: End::Interrupted, seconds: None });
            return Err(EngineError::Stopped);
        }
        opened => opened?,
    };
    describe_kept(&targets, plan, sink);
    targets.inspect(plan);
    Ok(Some(targets))
}

/// Says where the scratch files are kept.
fn describe_kept(targets: &Targets, plan: &Plan, sink: &mut dyn Sink) {
    if matches!(plan.target, TargetSpec::Scratch { keep: true, .. }) {
        for open_target in targets.iter() {
            let path = show_path(&open_target.target.path);
            sink.event(Event::Note { text: format!("the scratch file is kept: {path}") });
        }
    }
}

/// Waits until a pause is over; its time does not count.
fn wait_out_pause(pace: &mut Pace, control: &Control, sink: &mut dyn Sink) {
    let begin = Instant::now();
    sink.event(Event::Progress(pace.progress(Phase::Pause, None, 0)));
    control.wait_out_pause(|| false);
    pace.shift(begin.elapsed());
    control.watchdog.until(pace.deadline());
    sink.event(Event::Progress(pace.progress(Phase::Fill, None, 0)));
}

fn describe_unfilled(filled: u64, size: u64, slowest: Duration) -> String {
    let (filled, size) = (show_bytes(filled), show_bytes(size));
    let slow = if slowest > SLOW_PIECE {
        format!("; the file system took {:.1} s to write one piece", slowest.as_secs_f64())
    } else {
        String::new()
    };
    format!(
        "the budget ended after {filled} of the file's {size} were written; use a longer --budget \
         or a smaller --size{slow}"
    )
}
