//! The target of a run, opened or made.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use crate::engine::error::EngineError;
use crate::engine::progress::Pace;
use crate::engine::target::Bench;
use crate::engine::{Control, Sink};
use crate::plan::{Cache, Plan};
use crate::record::{End, Event, Phase};
use crate::units::show_bytes;

/// A disk takes some 10 ms for a piece of the file that is filled; what takes as long as this is
/// told.
const SLOW: Duration = Duration::from_secs(1);

/// The target; `None`: the budget ended while it was being filled.
pub(super) fn open(
    plan: &Plan,
    pace: &mut Pace,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<Option<Bench>, EngineError> {
    control.watched.doing(if plan.target.is_ours() {
        "the file was being filled"
    } else {
        "the file was being opened and looked at"
    });
    sink.event(Event::Progress(pace.at(Phase::Fill, None, 0)));
    let (mut told, mut filled, mut went, mut slowest) =
        (Instant::now(), 0, Instant::now(), Duration::ZERO);
    let pace = RefCell::new(pace);
    let stop = || control.stopping() || pace.borrow().over();
    let bench = Bench::open(plan, &stop, &mut |bytes| {
        filled = bytes;
        slowest = slowest.max(went.elapsed());
        control.watched.goes_on();
        if control.pausing() {
            wait_out_pause(&mut pace.borrow_mut(), control, sink);
        }
        if told.elapsed() > Duration::from_millis(100) {
            told = Instant::now();
            sink.event(Event::Progress(pace.borrow().at(Phase::Fill, None, 0)));
        }
        went = Instant::now();
    });
    let mut bench = match bench {
        Err(EngineError::Stopped) if !control.stopping() => {
            let text = not_filled(filled, plan.target.size(), slowest.max(went.elapsed()));
            sink.event(Event::Note { text });
            return Ok(None);
        }
        Err(EngineError::Stopped) => {
            // A stop is no failure, whatever it stops.
            sink.event(Event::End { reason: End::Interrupted });
            return Err(EngineError::Stopped);
        }
        opened => opened?,
    };
    bench.cold = plan.cold;
    if plan.cells.iter().any(|c| c.cache == Cache::Cold) {
        bench.try_counting();
    }
    Ok(Some(bench))
}

/// The time of a pause does not count.
fn wait_out_pause(pace: &mut Pace, control: &Control, sink: &mut dyn Sink) {
    let begin = Instant::now();
    sink.event(Event::Progress(pace.at(Phase::Pause, None, 0)));
    control.wait_out_pause(|| false);
    pace.shift(begin.elapsed());
    control.watched.until(pace.deadline());
    sink.event(Event::Progress(pace.at(Phase::Fill, None, 0)));
}

fn not_filled(filled: u64, size: u64, slowest: Duration) -> String {
    let (filled, size) = (show_bytes(filled), show_bytes(size));
    let slow = if slowest > SLOW {
        format!("; the file system took {:.1} s for one piece of it", slowest.as_secs_f64())
    } else {
        String::new()
    };
    format!(
        "the budget ended when {filled} of the file's {size} were filled: use a longer --budget or a smaller --size{slow}"
    )
}
