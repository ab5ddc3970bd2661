//! The run of a plan under the full screen: started, steered, told.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::engine::Control;
use crate::host::Host;
use crate::plan::Plan;
use crate::record::{End, Event};
use crate::runner;
use crate::runner::Report;
use crate::session::Recorder;
use crate::sys::signals;
use crate::text;
use crate::tui::msg::Msg;

/// Samples that may wait for the screen; what is beyond is dropped and counted.
const MOST_WAITING: u64 = 64;

/// Between two attempts to save what a full disk did not take; no run goes on that they could
/// disturb.
const AGAIN: Duration = Duration::from_secs(1);

pub struct Runs {
    tell: UnboundedSender<Msg>,
    host: Arc<OnceLock<Host>>,
    /// Keep a session file.
    save: bool,
    now: Option<Now>,
    /// Samples on their way to the screen.
    waiting: Arc<AtomicU64>,
}

struct Now {
    control: Arc<Control>,
    recorder: Option<Arc<Mutex<Recorder>>>,
}

impl Runs {
    pub fn new(tell: UnboundedSender<Msg>, host: Arc<OnceLock<Host>>, save: bool) -> Runs {
        Runs { tell, host, save, now: None, waiting: Arc::default() }
    }

    pub fn start(&mut self, plan: Arc<Plan>, name: Option<&str>) {
        signals::reset();
        let host = self.host.get_or_init(Host::collect);
        let (recorder, unsaved) = self.recorder(name, host, &plan);
        let begun = match &recorder {
            Some(r) => Msg::Begun {
                path: Some(r.path().into()),
                id: r.id().into(),
                name: r.name().into(),
                created: r.created().into(),
            },
            None => Msg::Begun {
                path: None,
                id: String::new(),
                name: String::new(),
                created: text::utc(std::time::SystemTime::now()),
            },
        };
        let id = recorder.as_ref().map_or_else(String::new, |r| r.id().to_string());
        let _ = self.tell.send(begun);
        if unsaved.is_some() {
            let _ = self.tell.send(Msg::Saving { id, unsaved });
        }
        let recorder = recorder.map(|r| Arc::new(Mutex::new(r)));
        let control = Arc::new(Control::new(signals::stop_flag()));
        let started = runner::start(
            plan,
            host,
            Arc::clone(&control),
            recorder.clone(),
            self.make_reporter(recorder.clone()),
        );
        match started {
            Ok(_) => self.now = Some(Now { control, recorder }),
            Err(error) => {
                drop(self.tell.send(Msg::NotBegun(format!("cannot start a thread: {error}"))))
            }
        }
    }

    /// The file of the session, and why it cannot be written, if so: a run is worth more than its
    /// file.
    fn recorder(
        &self,
        name: Option<&str>,
        host: &Host,
        plan: &Plan,
    ) -> (Option<Recorder>, Option<String>) {
        match self.save.then(|| runner::create_recorder(name, host, plan)) {
            None => (None, None),
            Some(Ok(recorder)) => {
                let unsaved = recorder.unsaved();
                (Some(recorder), unsaved)
            }
            Some(Err(error)) => (None, Some(error.to_string())),
        }
    }

    /// What the engine's thread calls: it never waits. Samples are dropped where the screen is
    /// behind, results never.
    fn make_reporter(
        &self,
        recorder: Option<Arc<Mutex<Recorder>>>,
    ) -> impl FnMut(Report) + Send + 'static {
        let (tell, waiting) = (self.tell.clone(), Arc::clone(&self.waiting));
        waiting.store(0, Relaxed);
        let mut dropped = 0;
        let mut known = recorder.as_ref().and_then(unsaved);
        move |told| {
            if let (
                Report::Event(Event::Trial { .. } | Event::Verdict { .. } | Event::Note { .. }),
                Some(r),
            ) = (&told, &recorder)
            {
                let now = unsaved(r);
                if now != known {
                    known.clone_from(&now);
                    let _ = tell.send(Msg::Saving { id: held(r).id().into(), unsaved: now });
                }
            }
            let msg = match told {
                Report::Event(event @ Event::Sample { .. }) => {
                    if waiting.fetch_add(1, Relaxed) >= MOST_WAITING {
                        waiting.fetch_sub(1, Relaxed);
                        dropped += 1;
                        return;
                    }
                    Msg::Event(event)
                }
                Report::Event(event) => Msg::Event(event),
                Report::Over(error) => {
                    let unsaved = recorder.as_ref().and_then(|r| {
                        let mut recorder = held(r);
                        recorder.finish(End::Failed);
                        recorder.unsaved()
                    });
                    if let Some(recorder) = recorder.as_ref().filter(|r| held(r).waits()) {
                        try_on(Arc::clone(recorder), tell.clone());
                    }
                    Msg::Over { error, unsaved }
                }
            };
            if dropped > 0 {
                let _ = tell.send(Msg::Dropped(std::mem::take(&mut dropped)));
            }
            let _ = tell.send(msg);
        }
    }

    /// A sample reached the screen.
    pub fn seen(&self) {
        let _ = self.waiting.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1));
    }

    pub fn stop(&self) {
        signals::stop_flag().store(true, std::sync::atomic::Ordering::Release);
    }

    pub fn pause(&self, on: bool) {
        if let Some(now) = &self.now {
            now.control.set_pause(on);
        }
    }

    pub fn skip(&self) {
        if let Some(now) = &self.now {
            now.control.skip.store(true, Relaxed);
        }
    }

    /// Ends the file of a run that hangs in a system call; not waited for, the engine may hold the
    /// lock.
    pub fn finish(&mut self) {
        if let Some(recorder) = self.now.take().and_then(|now| now.recorder)
            && let Ok(mut recorder) = recorder.try_lock()
        {
            recorder.finish(End::Interrupted);
            recorder.retry();
        }
    }
}

fn held(recorder: &Arc<Mutex<Recorder>>) -> MutexGuard<'_, Recorder> {
    recorder.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unsaved(recorder: &Arc<Mutex<Recorder>>) -> Option<String> {
    held(recorder).unsaved()
}

/// A run is over and not all of it is saved: its file is tried until it takes the rest, or iotui is
/// left.
fn try_on(recorder: Arc<Mutex<Recorder>>, tell: UnboundedSender<Msg>) {
    let tried = move || {
        loop {
            crate::sys::pause::sleep(AGAIN);
            let mut recorder = held(&recorder);
            recorder.retry();
            if !recorder.waits() {
                let _ = tell
                    .send(Msg::Saving { id: recorder.id().into(), unsaved: recorder.unsaved() });
                return;
            }
        }
    };
    // Without a thread it stays as it was said to be.
    let _ = std::thread::Builder::new().name("save".into()).spawn(tried);
}
