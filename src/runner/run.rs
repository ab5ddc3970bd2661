//! Runs the engine on its own thread, saves its events, and reports them to the front end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Instant, SystemTime};

use crate::engine::{self, Control, Link};
use crate::facts::Host;
use crate::plan::{Plan, TargetSpec};
use crate::record::{Earlier, End, Event, MachineEvidence, Warning};
use crate::runner::other_runs::{self, Announcement};
use crate::runner::{add_visited, ceilings};
use crate::session::{NewSession, Recorder, SessionError, find_unrestored, folder};
use crate::sys::threads::run_unbound;
use crate::text::slug;

/// A report of the run to the front end.
#[derive(Debug)]
pub enum Report {
    /// Another process measures on a disk of the plan; the first report if there is one.
    OtherRun(Warning),
    Event(Event),
    /// The run is over, with the error if it failed. The last report.
    Over(Option<String>),
}

/// The error of a run that a bug ended.
pub const BUG: &str =
    "the engine stopped without a result: this is a bug in iotui, please report it";

/// Creates the session file of `plan` in the session folder; its id has the time and the target.
///
/// If no file can be created now, a session without a name waits for one
/// ([`Recorder::unsaved`]): a run is worth more than its file. A session with a name must be saved.
///
/// # Errors
/// As [`folder`], and with a name as [`Recorder::create`].
pub fn create_recorder(
    name: Option<&str>,
    host: &Host,
    plan: &Plan,
) -> Result<Recorder, SessionError> {
    let slug = match &plan.target {
        TargetSpec::Scratch { .. } => "scratch".into(),
        TargetSpec::None => "lab".into(),
        TargetSpec::File { path, .. }
        | TargetSpec::New { path, .. }
        | TargetSpec::Files { dir: path, .. } => {
            slug(&path.file_name().unwrap_or_default().to_string_lossy())
        }
    };
    let make = if name.is_some() { Recorder::create } else { Recorder::create_or_wait };
    make(&folder()?, &NewSession { name, slug: &slug, host, plan, created: SystemTime::now() })
}

/// Returns a message about the last run if it may have left this machine in another variant
/// (`--between`).
pub fn describe_unrestored() -> Option<String> {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(find_unrestored(&folder().ok()?, machine.trim())?.describe())
}

/// The processes of a run.
pub enum Measuring {
    /// By this process, as further rounds of an earlier run if that has any.
    Alone(Earlier),
    /// By all ranks, of which this process is the first.
    Together(Ranks),
}

/// The ranks of a run of several processes.
pub type Ranks = Arc<dyn Link + Send + Sync>;

/// Is called with each event on the engine's thread, after it was saved: between trials, except for
/// samples and progress. It may write files; if it hangs, the run still ends with its budget.
pub type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// Where the events of a run are kept.
#[derive(Default)]
pub struct Keepers {
    /// The session file.
    pub recorder: Option<Arc<Mutex<Recorder>>>,
    pub observer: Option<Observer>,
}

/// Starts the engine on its own thread, which measures as `how` says, and keeps the run announced
/// until it ends; `keepers` get each event, then `report` is called. If a system call
/// keeps the engine from ending with the budget, another thread ends the run with the results so
/// far.
///
/// `host` is called once the target is open, before anything is measured: until then the facts
/// about the machine may still be collected.
///
/// `report` is called on these threads and must not block. Do not join the engine's thread either:
/// a system call may hang in it.
///
/// # Errors
/// The thread cannot be started.
pub fn start(
    plan: Arc<Plan>,
    how: Measuring,
    host: impl FnOnce() -> Host + Send + 'static,
    control: Arc<Control>,
    keepers: Keepers,
    report: impl FnMut(Report) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    ceilings::choose_saved_xor_loop();
    let relay = Arc::new(Relay {
        keepers,
        report: Mutex::new(Box::new(report)),
        over: AtomicBool::new(false),
        measured: AtomicBool::new(false),
    });
    let (watching, watched, watched_plan) =
        (Arc::clone(&relay), Arc::clone(&control), Arc::clone(&plan));
    // Without it, only a signal ends a run that hangs.
    let watch = Builder::new().name("budget".into()).stack_size(256 << 10).spawn(move || {
        if let Some(why) = watched.watchdog.wait(|| watched.pausing()) {
            watching.end_hung(why, engine::set_back(&watched_plan, &watched));
        }
    });
    let engine = Arc::clone(&control);
    let started = Builder::new()
        .name("engine".into())
        .spawn(move || run_engine(&plan, how, host, &engine, &relay));
    if started.is_err() {
        control.watchdog.finish();
    }
    drop(watch);
    started
}

/// Runs the engine to its end, on its own thread.
fn run_engine(
    plan: &Arc<Plan>,
    how: Measuring,
    host: impl FnOnce() -> Host,
    control: &Control,
    relay: &Relay,
) {
    let _announced = announce(plan, control, relay);
    let plan = &add_visited(Arc::clone(plan));
    // The target may open long after the run was ended for it.
    if relay.over.load(Acquire) {
        return control.watchdog.finish();
    }
    let mut sink = |event: Event| {
        control.watchdog.mark_alive();
        relay.pass_on(event);
    };
    let machine = || measure_machine(&host(), plan, &how);
    let end = catch_unwind(AssertUnwindSafe(|| match &how {
        Measuring::Alone(earlier) => {
            engine::continue_run(plan, earlier, machine, control, &mut sink)
        }
        Measuring::Together(ranks) => {
            engine::run_together(plan, &**ranks, machine, control, &mut sink)
        }
    }));
    // Only a panic leaves a variant set.
    if let Some(text) = engine::set_back(plan, control) {
        [Event::Note { text }, Event::Unrestored].into_iter().for_each(sink);
    }
    control.watchdog.finish();
    // Before the front end hears that it is over, and uses the ranks again.
    drop(how);
    relay.end(end.map_or_else(|_| Some(BUG.into()), |end| end.err().map(|e| e.to_string())));
}

/// Returns the facts about the machine that the verdicts rest on; measures its ceilings where the
/// plan has time for them.
fn measure_machine(host: &Host, plan: &Plan, how: &Measuring) -> MachineEvidence {
    let measure = || ceilings::measure_or_load(host.last_cache());
    let ceilings = plan.ceilings.then(|| match how {
        Measuring::Alone(_) => measure(),
        // Counts the machine, not the CPUs that the launcher left to this rank.
        Measuring::Together(_) => run_unbound(measure),
    });
    MachineEvidence { ceilings, ..host.evidence() }
}

/// Announces the run to other processes, and their runs to the front end.
fn announce(plan: &Plan, control: &Control, relay: &Relay) -> Announcement {
    // The target is opened to find its disk, which may hang.
    control.watchdog.doing("the target was being opened");
    if let Some(deadline) = Instant::now().checked_add(plan.budget) {
        control.watchdog.until(deadline);
    }
    // Announced before it looks for others: of two runs that begin at once, at least one sees the
    // other.
    let announcement = other_runs::announce(plan);
    if let Some(other) = announcement.find_other_run() {
        let note = Event::Note { text: other.message.clone() };
        relay.report(Report::OtherRun(other));
        relay.pass_on(note);
    }
    announcement
}

type ReportFn = Box<dyn FnMut(Report) + Send>;

/// Passes the engine's events to the session file, then to the front end, until the run is over.
struct Relay {
    keepers: Keepers,
    report: Mutex<ReportFn>,
    over: AtomicBool,
    /// Whether there is a result.
    measured: AtomicBool,
}

impl Relay {
    fn pass_on(&self, event: Event) {
        if let Some(recorder) = &self.keepers.recorder {
            let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
            // The run was ended while the engine hung: its late events do not count.
            if self.over.load(Acquire) {
                return;
            }
            recorder.record(&event);
        }
        if let Some(observe) = self.keepers.observer.as_ref().filter(|_| !self.over.load(Acquire)) {
            observe(&event);
        }
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.over.load(Acquire) {
            self.measured
                .fetch_or(matches!(event, Event::Trial { .. } | Event::Probe { .. }), Relaxed);
            report(Report::Event(event));
        }
    }

    fn report(&self, what: Report) {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.over.load(Acquire) {
            report(what);
        }
    }

    fn end(&self, why: Option<String>) {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.over.swap(true, AcqRel) {
            report(Report::Over(why));
        }
    }

    /// Ends the run in place of the engine, which hangs: with the results so far, or as failed if
    /// without results. `unrestored` says that the machine is not in the first variant.
    fn end_hung(&self, why: String, unrestored: Option<String>) {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        if self.over.swap(true, AcqRel) {
            return;
        }
        let mut events = vec![Event::Note { text: why.clone() }];
        if let Some(text) = unrestored {
            events.extend([Event::Note { text }, Event::Unrestored]);
        }
        events.push(Event::End { reason: End::Budget, seconds: None });
        // Only tried: it may be the session file that hangs.
        if let Some(mut recorder) =
            self.keepers.recorder.as_ref().and_then(|recorder| recorder.try_lock().ok())
        {
            events.iter().for_each(|event| recorder.record(event));
        }
        if self.measured.load(Relaxed) {
            events.into_iter().for_each(|event| report(Report::Event(event)));
            report(Report::Over(None));
        } else {
            report(Report::Over(Some(why)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Cache;
    use crate::session::{load, testing};
    use std::sync::mpsc::channel;

    static NEVER: AtomicBool = AtomicBool::new(false);

    /// Two trials of `null` on a file of 64 KiB.
    fn plan(file: &tempfile::NamedTempFile) -> Plan {
        file.as_file().set_len(65536).unwrap();
        let mut job = testing::job("null", 4096, Cache::AsIs);
        (job.span, job.count) = (65536, Some(0));
        let target = TargetSpec::File { path: file.path().into(), size: 65536 };
        Plan { target, cells: vec![job], trials: Some(2), ..testing::plan(0) }
    }

    #[test]
    fn events_are_saved_before_reported() {
        let (dir, file) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
        let plan = Arc::new(plan(&file));
        let recorder = Recorder::create(
            dir.path(),
            &NewSession {
                name: None,
                slug: "x",
                host: &Host::default(),
                plan: &plan,
                created: SystemTime::now(),
            },
        )
        .unwrap();
        let path = recorder.path().to_path_buf();
        let (to, from) = channel();
        let (mut reported, saved) = (0, path.clone());
        let report = move |what| {
            if matches!(what, Report::Event(Event::Trial { .. })) {
                reported += 1;
                assert_eq!(load(&saved).unwrap().trials.len(), reported);
            }
            let _ = to.send(what);
        };
        let recorder = Some(Arc::new(Mutex::new(recorder)));
        let thread = start(
            Arc::clone(&plan),
            Measuring::Alone(Earlier::default()),
            Host::default,
            Arc::new(Control::new(&NEVER)),
            Keepers { recorder, observer: None },
            report,
        )
        .unwrap();
        let all: Vec<Report> = from.iter().collect();
        thread.join().unwrap();
        assert!(matches!(all.last(), Some(Report::Over(None))), "{:?}", all.last());
        assert_eq!(
            all.iter().filter(|t| matches!(t, Report::Event(Event::Trial { .. }))).count(),
            2
        );
        assert_eq!(load(&path).unwrap().end, Some(End::Finished));
    }

    #[test]
    fn failed_run_ends_with_reason() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let good = plan(&file);
        let missing = Plan {
            target: TargetSpec::File { path: "/no/such/file".into(), size: 1 },
            ..good.clone()
        };
        for (plan, panics, wanted) in
            [(missing, false, "/no/such/file"), (good, true, "bug in iotui")]
        {
            let (to, from) = channel();
            let report = move |what| match what {
                Report::Event(Event::Grounds { .. }) if panics => panic!("on purpose"),
                Report::Event(_) | Report::OtherRun(_) => {}
                Report::Over(why) => to.send(why).unwrap(),
            };
            start(
                Arc::new(plan.clone()),
                Measuring::Alone(Earlier::default()),
                Host::default,
                Arc::new(Control::new(&NEVER)),
                Keepers::default(),
                report,
            )
            .unwrap();
            assert!(from.recv().unwrap().unwrap().contains(wanted));
        }
    }

    #[test]
    fn other_run_is_reported_and_saved() {
        let (dir, file) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
        let plan = Arc::new(plan(&file));
        let Some(_other) = other_runs::announce_as(&plan, 1) else { return };
        let recorder = testing::recorder(dir.path(), &plan);
        let path = recorder.path().to_path_buf();
        let keepers =
            Keepers { recorder: Some(Arc::new(Mutex::new(recorder))), ..Keepers::default() };
        let (to, from) = channel();
        let report = move |what| drop(to.send(what));
        let control = Arc::new(Control::new(&NEVER));
        start(plan, Measuring::Alone(Earlier::default()), Host::default, control, keepers, report)
            .unwrap();
        let first = from.recv().unwrap();
        let Report::OtherRun(other) = first else { panic!("{first:?}") };
        let second = from.recv().unwrap();
        let Report::Event(Event::Note { text }) = second else { panic!("{second:?}") };
        assert_eq!(text, other.message);
        assert!(matches!(from.iter().last(), Some(Report::Over(None))));
        assert!(load(&path).unwrap().notes.contains(&text));
    }
}
