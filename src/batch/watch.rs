//! Watches the engine: progress to stderr, trials of `jsonl` to stdout, all of it into the session
//! in memory.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::args::Args;
use super::bar::Bar;
use super::metrics::{MetricsFile, SharedMetrics};
use crate::engine::{Control, RESTORE_TIMEOUT};
use crate::output;
use crate::plan::{Metric, Plan, StopCondition};
use crate::record::{Event, Watching};
use crate::report::{self, Format, Intervals, jsonl};
use crate::runner;
use crate::runner::{Keepers, Report};
use crate::session::{Recorder, Session};
use crate::sys::signals;

/// After a signal the engine has a second for the system call in progress, and a little to report
/// it.
const STOP_TIMEOUT: Duration = Duration::from_millis(1100);

/// The length of the intervals of long trials, nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// The lines of the events, on stdout as they come.
struct Stream {
    out: File,
    names: Option<report::PrivateNames>,
    /// The plan without the names: one for all trials, as hiding them takes time.
    hidden: Option<Plan>,
    intervals: Intervals,
}

impl Stream {
    fn open(args: &Args, session: &Session) -> Option<Stream> {
        let out = output::stdout().ok()?;
        let names = args.anonymous.then(|| report::PrivateNames::new(&session.host, &session.plan));
        let mut stream =
            Stream { out, names, hidden: None, intervals: Intervals::new(SECOND, 2 * SECOND) };
        stream.hide(&session.plan);
        Some(stream)
    }

    fn hide(&mut self, plan: &Plan) {
        self.hidden = self.names.as_ref().map(|names| names.anonymize_plan(plan));
    }

    /// Writes the line of an event that `session` has taken.
    fn put(&mut self, session: &Session, event: &Event) -> io::Result<()> {
        if matches!(event, Event::Plan { .. }) {
            self.hide(&session.plan);
        }
        let plan = self.hidden.as_ref().unwrap_or(&session.plan);
        for interval in self.intervals.take(event) {
            let line = jsonl::interval_line(plan, &interval)? + "\n";
            self.out.write_all(line.as_bytes())?;
        }
        match event_line(plan, self.names.as_ref(), event) {
            Some(line) => self.out.write_all(line?.as_bytes()),
            None => Ok(()),
        }
    }
}

/// Returns the JSONL line of an event of a run of `plan`, without the names that `names` hides.
fn event_line(
    plan: &Plan,
    names: Option<&report::PrivateNames>,
    event: &Event,
) -> Option<io::Result<String>> {
    let line = match event {
        Event::Trial { trial, .. } => {
            let hidden = names.map(|names| names.anonymize_trial(trial));
            jsonl::trial_line(plan, hidden.as_ref().unwrap_or(trial))
        }
        Event::Probe { trial } => jsonl::probe_line(plan, trial),
        _ => return None,
    };
    Some(line.map(|line| line + "\n"))
}

/// Where a run is kept as it goes on.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a> {
    pub recorder: Option<&'a Arc<Mutex<Recorder>>>,
    pub metrics: Option<&'a SharedMetrics>,
}

impl Kept<'_> {
    pub fn keepers(&self) -> Keepers {
        let observer = self.metrics.map(MetricsFile::observe);
        Keepers { recorder: self.recorder.cloned(), observer }
    }
}

/// The result of a run.
pub(super) struct Outcome {
    pub session: Session,
    /// Why the run itself failed.
    pub error: Option<String>,
    pub signal: Option<i32>,
}

/// Watches the engine until the run is over, or a second after a signal.
pub(super) fn until_over(
    args: &Args,
    format: &Format,
    events: &Receiver<Report>,
    mut session: Session,
    kept: Kept,
    control: &Control,
) -> Outcome {
    let mut bar = Bar::new(args.quiet, &session.plan);
    let mut saving = Saving { recorder: kept.recorder, reported: false, recovered: args.quiet };
    let streams = format.id == report::JSONL && args.out.output.is_none();
    let mut stream = streams.then(|| Stream::open(args, &session)).flatten();
    let mut expecting = Expecting::default();
    let mut since: Option<Instant> = None;
    let mut error = None;
    let restored = if session.plan.variants.is_empty() { Duration::ZERO } else { RESTORE_TIMEOUT };
    let timeout = STOP_TIMEOUT + restored;
    loop {
        match events.recv_timeout(Duration::from_millis(50)) {
            Ok(Report::Event(event)) => {
                session.apply(&event);
                bar.show(&event);
                let news = expecting.take(&session.plan, &event);
                news.iter().filter(|_| !args.quiet).for_each(|line| bar.say(line));
                saving.report(&bar);
                let failure = kept.metrics.and_then(MetricsFile::take_failure);
                failure.iter().for_each(|failure| bar.say(failure));
                // A closed stdout ends the printing, not the run.
                if stream.as_mut().is_some_and(|stream| stream.put(&session, &event).is_err()) {
                    stream = None;
                }
            }
            Ok(Report::OtherRun(other)) if !args.quiet => {
                bar.say(&format!("iotui: {}: both runs are disturbed", other.message));
            }
            Ok(Report::OtherRun(_)) => {}
            Ok(Report::Over(why)) => {
                error = why;
                break;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                error = Some(runner::BUG.into());
                break;
            }
        }
        if signals::pending().is_some()
            && since.get_or_insert_with(Instant::now).elapsed() > timeout
        {
            if let Some(missing) = control.watchdog.describe_missing() {
                bar.say(&format!("iotui: {missing}"));
            }
            break;
        }
    }
    bar.clear();
    signals::engine_is_over();
    Outcome { session, error, signal: signals::pending().or(control.signal()) }
}

/// Judges the conditions of a watch while it runs.
#[derive(Default)]
struct Expecting {
    watching: Option<Watching>,
}

impl Expecting {
    /// Expectations are judged in windows of this length.
    const WINDOW: Duration = Duration::from_secs(60);

    /// Returns a line for the user where an expectation is not met for the first time, and where
    /// the watch was stopped.
    fn take(&mut self, plan: &Plan, event: &Event) -> Option<String> {
        match event {
            Event::Plan { .. } if plan.watch => {
                let all = plan.expect.iter().flat_map(|one| &one.conditions);
                let known = all.filter(|of| of.metric.is_latency() || of.metric == Metric::Iops);
                let windows = known.map(|of| StopCondition::opposite(of, Expecting::WINDOW));
                let job = plan.cells.first()?;
                let rate = job.operations_per_second().unwrap_or(0.0);
                self.watching = Some(Watching::new(windows, rate, job.threads));
                None
            }
            Event::Sample { sample, parts, .. } => {
                let broken = self.watching.as_mut()?.add(sample.at, parts.log.as_ref())?;
                Some(format!("iotui: not as expected: {}", broken.describe()))
            }
            Event::Trial { trial, .. } => {
                let stopped = trial.evidence.stopped.as_ref()?;
                Some(format!("iotui: stopped: {}", stopped.describe()))
            }
            _ => None,
        }
    }
}

/// Reports that a session cannot be saved, and that it is being saved again: once each.
struct Saving<'a> {
    recorder: Option<&'a Arc<Mutex<Recorder>>>,
    reported: bool,
    recovered: bool,
}

impl Saving<'_> {
    fn report(&mut self, bar: &Bar) {
        // Never waits: the lock may be held by a write to a disk that hangs.
        let Some(recorder) = self.recorder.and_then(|r| r.try_lock().ok()) else { return };
        match recorder.unsaved() {
            Some(why) if !self.reported => {
                self.reported = true;
                bar.say(&format!("iotui: this run is not saved for now: {why}; it continues, and saving is retried"));
            }
            None if self.reported && !self.recovered => {
                self.recovered = true;
                bar.say("iotui: this run is being saved again");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::VariantName;
    use crate::report::PrivateNames;
    use crate::session::testing;

    #[test]
    fn streamed_trials_are_anonymous() {
        let mut session = testing::session(1);
        let name: VariantName = "secret".parse().unwrap();
        session.plan.variants = vec!["secret:true".parse().unwrap()];
        session.plan.cells.iter_mut().for_each(|cell| cell.variant = Some(name.clone()));
        let names = PrivateNames::new(&session.host, &session.plan);
        let event = testing::trial_event(0, 1, 1 << 20);
        let line = |plan: &Plan, names| event_line(plan, names, &event).unwrap().unwrap();
        let shown = line(&session.plan, None);
        assert!(shown.contains(r#""variant":"secret""#), "{shown}");
        let hidden = line(&names.anonymize_plan(&session.plan), Some(&names));
        assert!(hidden.contains(r#""variant":"A""#), "{hidden}");
    }
}
