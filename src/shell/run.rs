//! Starts and steers the run of a plan and reports its events to the screen.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::engine::Control;
use crate::facts::Host;
use crate::host::SharedHost;
use crate::plan::Plan;
use crate::record::{Earlier, End, Event};
use crate::runner::{self, Keepers, Measuring, Report};
use crate::session::Recorder;
use crate::sys::signals;
use crate::text;
use crate::tui::msg::Msg;

/// Samples that may wait for the screen; more are dropped and counted.
const MAX_WAITING: u64 = 64;

/// Between two attempts to save the rest after the disk was full. No run is in progress that they
/// could disturb.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

pub struct Runs {
    sender: UnboundedSender<Msg>,
    host: SharedHost,
    /// Whether to write a session file.
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
    pub fn new(sender: UnboundedSender<Msg>, host: SharedHost, save: bool) -> Runs {
        Runs { sender, host, save, now: None, waiting: Arc::default() }
    }

    pub fn start(&mut self, plan: Arc<Plan>, name: Option<&str>, earlier: &Earlier) {
        signals::reset();
        let shared = self.host.clone();
        let host = shared.get();
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
        let _ = self.sender.send(begun);
        if unsaved.is_some() {
            let _ = self.sender.send(Msg::Saving { id, unsaved });
        }
        let recorder = recorder.map(|r| Arc::new(Mutex::new(r)));
        let control = Arc::new(Control::new(signals::stop_flag()));
        let started = runner::start(
            plan,
            Measuring::Alone(earlier.clone()),
            {
                let shared = shared.clone();
                move || shared.get().clone()
            },
            Arc::clone(&control),
            Keepers { recorder: recorder.clone(), observer: None },
            self.make_reporter(recorder.clone()),
        );
        match started {
            Ok(_) => self.now = Some(Now { control, recorder }),
            Err(error) => {
                drop(self.sender.send(Msg::NotBegun(format!("cannot start a thread: {error}"))))
            }
        }
    }

    /// Creates the session file, or returns why it cannot be written: a run is worth more than its
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

    /// Creates the callback of the engine's thread, which never blocks: it drops samples if the
    /// screen is behind, but never results.
    fn make_reporter(
        &self,
        recorder: Option<Arc<Mutex<Recorder>>>,
    ) -> impl FnMut(Report) + Send + 'static {
        let (sender, waiting) = (self.sender.clone(), Arc::clone(&self.waiting));
        waiting.store(0, Relaxed);
        let mut dropped = 0;
        let mut known = recorder.as_ref().and_then(unsaved);
        move |event| {
            if let (
                Report::Event(Event::Trial { .. } | Event::Verdict { .. } | Event::Note { .. }),
                Some(r),
            ) = (&event, &recorder)
            {
                let now = unsaved(r);
                if now != known {
                    known.clone_from(&now);
                    let _ = sender.send(Msg::Saving { id: lock(r).id().into(), unsaved: now });
                }
            }
            let msg = match event {
                Report::Event(event @ Event::Sample { .. }) => {
                    if waiting.fetch_add(1, Relaxed) >= MAX_WAITING {
                        waiting.fetch_sub(1, Relaxed);
                        dropped += 1;
                        return;
                    }
                    Msg::Event(event)
                }
                Report::Event(event) => Msg::Event(event),
                // Its note is an event.
                Report::OtherRun(_) => return,
                Report::Over(error) => {
                    let unsaved = recorder.as_ref().and_then(|r| {
                        let mut recorder = lock(r);
                        if let Some(why) = &error {
                            recorder.record(&Event::Note { text: why.clone() });
                        }
                        finish(&mut recorder, End::Failed);
                        recorder.unsaved()
                    });
                    if let Some(recorder) = recorder.as_ref().filter(|r| lock(r).waits()) {
                        retry_saving(Arc::clone(recorder), sender.clone());
                    }
                    Msg::Over { error, unsaved }
                }
            };
            if dropped > 0 {
                let _ = sender.send(Msg::Dropped(std::mem::take(&mut dropped)));
            }
            let _ = sender.send(msg);
        }
    }

    /// Notes that a sample reached the screen.
    pub fn note_sample(&self) {
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

    pub fn skip(&self, index: u32) {
        if let Some(now) = &self.now {
            now.control.skip(index);
        }
    }

    /// Ends the file of a run that hangs in a system call; not waited for, the engine may hold the
    /// lock.
    pub fn finish(&mut self) {
        if let Some(recorder) = self.now.take().and_then(|now| now.recorder)
            && let Ok(mut recorder) = recorder.try_lock()
        {
            finish(&mut recorder, End::Interrupted);
            recorder.retry();
        }
    }
}

/// Finishes a session; removes one that shows nothing, as the screen reports it.
fn finish(recorder: &mut Recorder, reason: End) {
    if recorder.is_empty() {
        // A file that cannot be removed is listed as a run without a result.
        let _ = recorder.discard();
    } else {
        recorder.finish(reason);
    }
}

fn lock(recorder: &Arc<Mutex<Recorder>>) -> MutexGuard<'_, Recorder> {
    recorder.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unsaved(recorder: &Arc<Mutex<Recorder>>) -> Option<String> {
    lock(recorder).unsaved()
}

/// Retries to save the rest of a session after its run, until the file takes it or iotui ends.
fn retry_saving(recorder: Arc<Mutex<Recorder>>, sender: UnboundedSender<Msg>) {
    let tried = move || {
        loop {
            crate::sys::pause::sleep(RETRY_INTERVAL);
            let mut recorder = lock(&recorder);
            recorder.retry();
            if !recorder.waits() {
                let _ = sender
                    .send(Msg::Saving { id: recorder.id().into(), unsaved: recorder.unsaved() });
                return;
            }
        }
    };
    // Without a thread, the last report stays valid.
    let _ = std::thread::Builder::new().name("save".into()).spawn(tried);
}
