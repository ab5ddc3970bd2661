//! A run on a thread of its own, kept as it goes and told to whoever watches: the same for every
//! front end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::SystemTime;

use crate::engine::{self, Control};
use crate::host::Host;
use crate::plan::{Plan, TargetSpec};
use crate::record::{End, Event, MachineEvidence};
use crate::runner::ceilings;
use crate::session::{NewSession, Recorder, SessionError, folder};
use crate::text::slug;

/// What the engine's thread says.
#[derive(Debug)]
pub enum Told {
    Event(Event),
    /// It is over: why it failed, if it did. Nothing comes after it.
    Over(Option<String>),
}

/// What ends a run that a bug ended.
pub const BUG: &str =
    "the engine stopped without a result: this is a bug in iotui, please report it";

/// Starts the file of a session of `plan` in the folder of sessions; its id says when and of what.
///
/// Where there can be no file now, a session that has no name waits for one
/// ([`Recorder::unsaved`]): a run is worth more than its file. What is asked for by its name must
/// be kept.
///
/// # Errors
/// As [`folder`], and with a name as [`Recorder::create`].
pub fn recorder(name: Option<&str>, host: &Host, plan: &Plan) -> Result<Recorder, SessionError> {
    let slug = match &plan.target {
        TargetSpec::Scratch { .. } => "scratch".into(),
        TargetSpec::None => "lab".into(),
        TargetSpec::File { path, .. } | TargetSpec::New { path, .. } => {
            slug(&path.file_name().unwrap_or_default().to_string_lossy())
        }
    };
    let make = if name.is_some() { Recorder::create } else { Recorder::create_or_wait };
    make(&folder()?, &NewSession { name, slug: &slug, host, plan, created: SystemTime::now() })
}

/// Starts the engine on a thread of its own; each event is kept by `recorder`, then told. Where a
/// system call keeps the engine from ending with the budget, another thread ends the run with what
/// there is.
///
/// `tell` is called on these threads and must not wait. Do not wait for the thread itself either: a
/// system call may hang in it.
///
/// # Errors
/// The thread cannot be started.
pub fn start(
    plan: Arc<Plan>,
    host: &Host,
    control: Arc<Control>,
    recorder: Option<Arc<Mutex<Recorder>>>,
    tell: impl FnMut(Told) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let (machine, last_cache) = (host.evidence(), host.last_cache());
    let line = Arc::new(Line {
        recorder,
        tell: Mutex::new(Box::new(tell)),
        over: AtomicBool::new(false),
        measured: AtomicBool::new(false),
    });
    let (watching, watched) = (Arc::clone(&line), Arc::clone(&control));
    // Without it a run that hangs is ended by a signal only.
    let watch = Builder::new().name("budget".into()).stack_size(256 << 10).spawn(move || {
        if let Some(why) = watched.watchdog.wait(|| watched.pausing()) {
            watching.end(why);
        }
    });
    let started = Builder::new().name("engine".into()).spawn({
        let control = Arc::clone(&control);
        move || {
            let mut sink = |event: Event| {
                control.watchdog.mark_alive();
                line.event(event);
            };
            let machine = || MachineEvidence {
                ceilings: plan.ceilings.then(|| ceilings::of_this_boot(last_cache)),
                ..machine
            };
            let end =
                catch_unwind(AssertUnwindSafe(|| engine::run(&plan, machine, &control, &mut sink)));
            control.watchdog.finish();
            line.over(
                end.map_or_else(|_| Some(BUG.into()), |end| end.err().map(|e| e.to_string())),
            );
        }
    });
    if started.is_err() {
        control.watchdog.finish();
    }
    drop(watch);
    started
}

type Tell = Box<dyn FnMut(Told) + Send>;

/// What the engine's events go through: to the session's file, then to whoever watches, until the
/// run is over.
struct Line {
    recorder: Option<Arc<Mutex<Recorder>>>,
    tell: Mutex<Tell>,
    over: AtomicBool,
    /// There is a result.
    measured: AtomicBool,
}

impl Line {
    fn event(&self, event: Event) {
        if let Some(recorder) = &self.recorder {
            let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
            // It was ended while the engine hung; what it says when it wakes up comes too late.
            if self.over.load(Acquire) {
                return;
            }
            recorder.record(&event);
        }
        let mut tell = self.tell.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.over.load(Acquire) {
            self.measured
                .fetch_or(matches!(event, Event::Trial { .. } | Event::Probe { .. }), Relaxed);
            tell(Told::Event(event));
        }
    }

    fn over(&self, why: Option<String>) {
        let mut tell = self.tell.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.over.swap(true, AcqRel) {
            tell(Told::Over(why));
        }
    }

    /// Ends the run in the engine's place, which hangs: with what was measured, or failed where
    /// nothing was.
    fn end(&self, why: String) {
        let mut tell = self.tell.lock().unwrap_or_else(PoisonError::into_inner);
        if self.over.swap(true, AcqRel) {
            return;
        }
        let events = [Event::Note { text: why.clone() }, Event::End { reason: End::Budget }];
        // Not waited for: it may be the session's file that hangs.
        if let Some(mut recorder) =
            self.recorder.as_ref().and_then(|recorder| recorder.try_lock().ok())
        {
            events.iter().for_each(|event| recorder.record(event));
        }
        if self.measured.load(Relaxed) {
            events.into_iter().for_each(|event| tell(Told::Event(event)));
            tell(Told::Over(None));
        } else {
            tell(Told::Over(Some(why)));
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
    fn what_is_told_was_kept_before() {
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
        let (mut told, kept) = (0, path.clone());
        let tell = move |what| {
            if matches!(what, Told::Event(Event::Trial { .. })) {
                told += 1;
                assert_eq!(load(&kept).unwrap().trials.len(), told);
            }
            let _ = to.send(what);
        };
        let recorder = Some(Arc::new(Mutex::new(recorder)));
        let thread =
            start(plan, &Host::default(), Arc::new(Control::new(&NEVER)), recorder, tell).unwrap();
        let all: Vec<Told> = from.iter().collect();
        thread.join().unwrap();
        assert!(matches!(all.last(), Some(Told::Over(None))), "{:?}", all.last());
        assert_eq!(all.iter().filter(|t| matches!(t, Told::Event(Event::Trial { .. }))).count(), 2);
        assert_eq!(load(&path).unwrap().end, Some(End::Finished));
    }

    #[test]
    fn a_run_that_fails_or_panics_is_over_with_a_reason() {
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
            let tell = move |what| match what {
                Told::Event(Event::Grounds { .. }) if panics => panic!("on purpose"),
                Told::Event(_) => {}
                Told::Over(why) => to.send(why).unwrap(),
            };
            start(Arc::new(plan), &Host::default(), Arc::new(Control::new(&NEVER)), None, tell)
                .unwrap();
            assert!(from.recv().unwrap().unwrap().contains(wanted));
        }
    }
}
