//! Performs effects: those of the terminal here, the others on threads that answer with a message.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::SystemTime;

use crossterm::execute;
use crossterm::terminal::SetTitle;
use tokio::sync::mpsc::UnboundedSender;

use super::app::{Done, EffectHandler};
use super::remember;
use super::run::Runs;
use super::{clipboard, look_up, share, terminal};
use crate::backend::fold;
use crate::doctor::examine;
use crate::host::{self, SharedHost};
use crate::record::Event;
use crate::tui::msg::{Copied, Effect, Msg};
use crate::{runner, units};

/// Concurrent lookup threads; a mount that hangs may block some of them for ever.
const MAX_LOOKUPS: usize = 16;

pub struct Shell {
    guard: terminal::Guard,
    sender: UnboundedSender<Msg>,
    runs: Runs,
    host: SharedHost,
    looking: Arc<AtomicUsize>,
    /// The choices are kept for the next start.
    remembers: bool,
}

impl Shell {
    pub fn new(
        guard: terminal::Guard,
        sender: UnboundedSender<Msg>,
        save: bool,
        remembers: bool,
    ) -> Shell {
        let host = SharedHost::default();
        Shell {
            guard,
            runs: Runs::new(sender.clone(), host.clone(), save),
            sender,
            host,
            looking: Arc::default(),
            remembers,
        }
    }

    /// Closes the session file of a run that hangs; call it after the loop.
    pub fn finish(&mut self) {
        self.runs.finish();
    }

    /// Runs a lookup without blocking the screen.
    fn look_up(&self, work: impl FnOnce() -> Msg + Send + 'static) {
        if self.looking.fetch_add(1, Relaxed) >= MAX_LOOKUPS {
            self.looking.fetch_sub(1, Relaxed);
            self.say(Msg::Failed("a file system does not respond; still waiting for it".into()));
            return;
        }
        let (sender, looking) = (self.sender.clone(), Arc::clone(&self.looking));
        let spawned = std::thread::Builder::new().name("look up".into()).spawn(move || {
            // A panic releases the slot too.
            let _place = Place(looking);
            let _ = sender.send(work());
        });
        if let Err(error) = spawned {
            self.looking.fetch_sub(1, Relaxed);
            self.say(Msg::Failed(format!("cannot start a thread: {error}")));
        }
    }

    fn say(&self, msg: Msg) {
        let _ = self.sender.send(msg);
    }
}

struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl EffectHandler for Shell {
    fn perform(&mut self, effect: Effect) -> Done {
        match effect {
            Effect::Quit(code) => return Done::Quit(code),
            Effect::Redraw => return self.redraw(),
            Effect::Suspend => return self.suspend(),
            Effect::Copy(text) => self.copy(text),
            Effect::SendToTerminal(text) => self.send_to_terminal(&text),
            Effect::Title(title) => drop(execute!(io::stdout(), SetTitle(title))),
            Effect::Ring(text) => terminal::ring(&text),
            Effect::Start { plan, name, earlier } => {
                self.runs.start(plan, name.as_deref(), &earlier)
            }
            Effect::Stop => self.runs.stop(),
            Effect::Pause(on) => self.runs.pause(on),
            Effect::Skip(index) => self.runs.skip(index),
            // A failure to save the last choice is not worth a message.
            Effect::Remember(remembered) if self.remembers => drop(remember::save(&remembered)),
            Effect::Remember(_) => {}
            other => self.answer(other),
        }
        Done::Yes
    }

    fn on_message(&mut self, msg: &Msg) {
        if matches!(msg, Msg::Event(Event::Sample { .. })) {
            self.runs.note_sample();
        }
    }

    fn begin_draw(&mut self) {
        terminal::begin_draw();
    }

    fn end_draw(&mut self) {
        terminal::end_draw();
    }
}

impl Shell {
    /// Performs an effect on a thread that answers with a message.
    fn answer(&self, effect: Effect) {
        // What is found or listed now is dated.
        if matches!(effect, Effect::Host | Effect::Propose(_) | Effect::Sessions) {
            self.say(Msg::Clock(SystemTime::now()));
        }
        match effect {
            Effect::Host => self.look_at_host(),
            Effect::List(dir) => self.look_up(move || Msg::Listed(look_up::list(dir))),
            Effect::Look(path) => self.look_up(move || Msg::Seen(look_up::facts(path))),
            Effect::FindGone(paths) => self.look_up(move || Msg::Gone(look_up::find_gone(paths))),
            Effect::FindOtherRun(plan) => self.look_up(move || look_up::other_run(&plan)),
            Effect::Propose(question) => {
                let host = self.host.clone();
                self.look_up(move || look_up::propose(&question, host.get()));
            }
            Effect::Lab { file, dir, remote, sets } => {
                self.look_up(move || {
                    Msg::Lab(Box::new(look_up::lab(
                        file.as_deref(),
                        dir.as_deref(),
                        remote.as_ref(),
                        sets.as_deref(),
                    )))
                });
            }
            Effect::PlanLab(question) => self.look_up(move || look_up::plan_lab(&question)),
            Effect::MarkOnLab(id) => {
                self.look_up(move || Msg::MarkedOnLab(look_up::load_other(&id).map(Box::new)))
            }
            Effect::SavePreset { id, question } => {
                self.look_up(move || Msg::PresetSaved(look_up::save_preset(&id, &question)))
            }
            other => self.answer_about_sessions(other),
        }
    }

    fn answer_about_sessions(&self, effect: Effect) {
        match effect {
            Effect::Sessions => self.look_up(|| Msg::Sessions(look_up::sessions())),
            Effect::Preview(id) => self.look_up(move || Msg::Preview(look_up::preview(id))),
            Effect::Compare { ids, look } => {
                self.look_up(move || Msg::Compared(Box::new(share::compare(&ids, &look))))
            }
            Effect::Import(path) => self.look_up(move || share::import(&path)),
            Effect::Export(export) => self.look_up(move || Msg::Exported {
                number: export.number,
                result: share::export(&export),
            }),
            Effect::Open(id) => self.look_up(move || Msg::Opened(look_up::open(&id).map(Box::new))),
            Effect::Course { path, cell } => self.look_up(move || look_up::course(path, cell)),
            Effect::Again(id) => {
                self.look_up(move || Msg::Again(look_up::again(&id).map(Box::new)))
            }
            Effect::Replay { of, speed } => {
                self.look_up(move || Msg::Replay(look_up::record(of, speed).map(Box::new)))
            }
            Effect::Refine(request) => {
                self.look_up(move || Msg::Refined(look_up::plan_refinement(&request).map(Box::new)))
            }
            Effect::Rename { id, name } => self.look_up(move || look_up::rename(&id, &name)),
            Effect::Delete(id) => self.look_up(move || look_up::delete(id)),
            Effect::Change { id, before } => self.look_up(move || look_up::change(id, before)),
            // Performed before: listed, so that the compiler misses a new one.
            Effect::Quit(_)
            | Effect::Redraw
            | Effect::Suspend
            | Effect::Copy(_)
            | Effect::SendToTerminal(_)
            | Effect::Title(_)
            | Effect::Ring(_)
            | Effect::Start { .. }
            | Effect::Stop
            | Effect::Pause(_)
            | Effect::Skip(_)
            | Effect::Remember(_)
            | Effect::Host
            | Effect::List(_)
            | Effect::Look(_)
            | Effect::FindGone(_)
            | Effect::Propose(_)
            | Effect::FindOtherRun(_)
            | Effect::Lab { .. }
            | Effect::PlanLab(_)
            | Effect::MarkOnLab(_)
            | Effect::SavePreset { .. } => {}
        }
    }

    fn redraw(&mut self) -> Done {
        if let Err(error) = self.guard.again() {
            self.say(Msg::Failed(format!("cannot use this terminal: {error}")));
        }
        Done::Repaint
    }

    fn suspend(&mut self) -> Done {
        if let Err(error) = terminal::suspend(&self.guard) {
            self.say(Msg::Failed(format!("cannot suspend: {error}")));
        }
        self.say(Msg::Resumed);
        Done::Repaint
    }

    fn look_at_host(&self) {
        let (shared, sender) = (self.host.clone(), self.sender.clone());
        self.look_up(move || {
            // Not cached: load and free memory change.
            let host = host::collect_for_doctor();
            shared.set(host.clone());
            let _ = sender.send(Msg::Doctor(examine(&host, None, None)));
            runner::choose_saved_xor_loop();
            Msg::Host(Box::new(host), fold::comparison())
        });
    }

    fn copy(&self, text: String) {
        // Its folders may be on a file system that hangs.
        self.look_up(move || {
            let holders = clipboard::holders(&|name| std::env::var_os(name));
            Msg::Copied(clipboard::copy(&holders, text))
        });
    }

    fn send_to_terminal(&self, text: &str) {
        let written = execute!(io::stdout(), clipboard::osc52(text));
        let size = units::show_bytes(text.len() as u64);
        self.say(match written {
            // Terminals do not acknowledge it, and some ignore it.
            Ok(()) if text.len() > clipboard::MAX_TEXT_BYTES => Msg::Copied(Copied::Sent(format!(
                "sent {size} to the terminal: too large for some; e writes it to a file"
            ))),
            Ok(()) => Msg::Copied(Copied::Sent(
                "sent to the terminal's clipboard: some terminals ignore it".into(),
            )),
            Err(error) => Msg::Failed(format!("cannot copy: {error}")),
        });
    }
}
