//! `--metrics`: a file of metrics that is kept current while the run goes on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::args::Args;
use crate::output::{print_message, report_if_slow};
use crate::record::Event;
use crate::report::{self, Interval, Intervals};
use crate::runner::Observer;
use crate::session::Session;
use crate::sys::output::{probe, to_file};
use crate::text::show_path;

/// Least time between two writes, and how often the time of a write fits between two: large
/// sessions take longer.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
const WRITE_SHARE: u32 = 50;
/// The intervals of a trial that runs, nanoseconds: a short one is not disturbed.
const INTERVAL: u64 = 10_000_000_000;

/// The file, and the run so far.
pub(super) struct MetricsFile {
    path: PathBuf,
    anonymous: bool,
    session: Session,
    intervals: Intervals,
    /// The last one of the trial that runs.
    now: Option<Interval>,
    /// It is not written before; `None` at first.
    due: Option<Instant>,
    failure: Option<String>,
    reported: Option<String>,
}

/// The file as the engine's thread and the front end share it.
pub(super) type SharedMetrics = Arc<Mutex<MetricsFile>>;

/// Checks before a run that its file can be written.
///
/// # Errors
/// The file cannot be written, is not a regular file, or is that of --output.
pub(super) fn check(args: &Args) -> anyhow::Result<()> {
    let Some(path) = &args.metrics else { return Ok(()) };
    if args.out.output.as_ref() == Some(path) {
        anyhow::bail!("--metrics and --output name the same file");
    }
    // A pipe without a reader would stop the run.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        anyhow::bail!("--metrics: {} is not a file", show_path(path));
    }
    let doing = format!("checking whether {} can be written", show_path(path));
    report_if_slow(&doing, || probe(path)).context("--metrics")
}

impl MetricsFile {
    pub fn share(path: &Path, anonymous: bool, session: Session) -> SharedMetrics {
        let (path, due, failure, reported) = (path.into(), None, None, None);
        let (intervals, now) = (Intervals::new(INTERVAL, 2 * INTERVAL), None);
        let file = MetricsFile { path, anonymous, session, intervals, now, due, failure, reported };
        Arc::new(Mutex::new(file))
    }

    /// Returns what adds the events of a run to the file, between trials, as its disk may be the
    /// one under test, and every ten seconds of a long one.
    pub fn observe(shared: &SharedMetrics) -> Observer {
        let shared = Arc::clone(shared);
        Box::new(move |event| {
            let mut file = shared.lock().unwrap_or_else(PoisonError::into_inner);
            file.take(event, Instant::now());
        })
    }

    fn take(&mut self, event: &Event, now: Instant) {
        self.session.apply(event);
        let last = self.intervals.take(event).pop();
        let is_new = last.is_some();
        self.now = last.or(self.now.take());
        if matches!(event, Event::Trial { .. }) {
            self.now = None;
        }
        // The verdict after a trial completes what it changes.
        let is_whole = matches!(
            event,
            Event::Grounds { .. }
                | Event::Verdict { .. }
                | Event::Findings { .. }
                | Event::Failed { .. }
        );
        if (is_whole || is_new && self.now.is_some()) && self.due.is_none_or(|due| now >= due) {
            let session = std::mem::take(&mut self.session);
            self.write(&session);
            self.session = session;
            let pause = now.elapsed().saturating_mul(WRITE_SHARE).max(MIN_INTERVAL);
            self.due = Instant::now().checked_add(pause);
        }
    }

    /// Writes the metrics of a session, without private names if that was asked.
    fn write(&mut self, session: &Session) {
        let hidden = self.anonymous.then(|| report::anonymize(session));
        let session = hidden.as_ref().unwrap_or(session);
        let now = self.now.as_ref();
        let written = to_file(&self.path, |to| report::write_metrics_now(session, now, to));
        self.failure = written.err().map(|error| error.to_string());
    }

    /// Writes the whole run, and prints why it cannot.
    pub fn finish(shared: &SharedMetrics, session: &Session) {
        // Not waited for: the engine's thread may hang in it.
        if let Ok(mut file) = shared.try_lock() {
            let doing = format!("writing {}", show_path(&file.path));
            report_if_slow(&doing, || file.write(session));
        }
        MetricsFile::take_failure(shared).iter().for_each(print_message);
    }

    /// Returns why the file could not be written, once.
    pub fn take_failure(shared: &SharedMetrics) -> Option<String> {
        let mut file = shared.try_lock().ok()?;
        let failure = file.failure.clone().filter(|_| file.reported != file.failure)?;
        file.reported = Some(failure.clone());
        Some(format!("iotui: --metrics: {failure}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Sample, Verdict};
    use crate::session::testing;

    fn judged(cell: u32) -> Event {
        Event::Verdict { cell, verdict: Arc::new(Verdict::default()) }
    }

    #[test]
    fn file_follows_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("iotui.prom");
        let shared = MetricsFile::share(&path, false, testing::session(2));
        let trials = || {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            text.lines().filter(|line| line.starts_with("iotui_trials{")).count()
        };
        let mut file = shared.lock().unwrap();
        let began = Instant::now();
        file.take(&testing::trial_event(0, 1, 1 << 20), began);
        assert!(!path.exists(), "a trial without its verdict");
        file.take(&judged(0), began);
        assert_eq!(trials(), 1);
        // Soon after it is not written again.
        file.take(&testing::trial_event(1, 1, 1 << 20), began);
        file.take(&judged(1), began);
        assert_eq!(trials(), 1);
        let due = file.due.unwrap();
        assert!(due >= began + MIN_INTERVAL);
        file.take(&judged(1), due);
        assert_eq!(trials(), 2);
    }

    #[test]
    fn long_trials_keep_it_current() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("iotui.prom");
        let shared = MetricsFile::share(&path, false, testing::session(1));
        let mut file = shared.lock().unwrap();
        let began = Instant::now();
        let shows = || std::fs::read_to_string(&path).unwrap_or_default().contains("interval_op");
        for number in 1..=300u64 {
            let at = number * 100_000_000;
            let sample = Sample { at, nanos: 100_000_000, ops: 10, ..Sample::default() };
            let event = Event::Sample { cell: 0, round: 1, sample, parts: Vec::new().into() };
            file.take(&event, began + Duration::from_nanos(at));
            assert_eq!(shows(), number >= 200, "{number}");
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("iotui_interval_operations_per_second{"), "{text}");
        file.take(&testing::trial_event(0, 1, 1 << 20), began);
        let due = file.due.unwrap();
        file.take(&judged(0), due);
        assert!(!shows(), "it is over");
    }

    #[test]
    fn failure_is_reported_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gone/iotui.prom");
        let shared = MetricsFile::share(&path, false, testing::session(1));
        assert_eq!(MetricsFile::take_failure(&shared), None);
        let write = || shared.lock().unwrap().write(&testing::session(1));
        write();
        write();
        let failure = MetricsFile::take_failure(&shared).unwrap();
        assert!(failure.contains("gone/iotui.prom") && !failure.contains('\n'), "{failure}");
        assert_eq!(MetricsFile::take_failure(&shared), None);
        std::fs::create_dir(dir.path().join("gone")).unwrap();
        write();
        assert_eq!(MetricsFile::take_failure(&shared), None);
        assert!(path.exists());
    }

    #[test]
    fn private_names_are_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("iotui.prom");
        for (anonymous, shown) in [(false, true), (true, false)] {
            let mut session = testing::session(1);
            session.host.name = "secret-host".into();
            let shared = MetricsFile::share(&path, anonymous, session.clone());
            MetricsFile::finish(&shared, &session);
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.contains("secret-host"), shown, "{text}");
        }
    }
}
