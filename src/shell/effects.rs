//! Performs effects: on the terminal here, others on threads that answer with a message.

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
use crate::tui::msg::{Copied, Effect, Msg, Query};
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
            let _slot = LookupSlot(looking);
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

struct LookupSlot(Arc<AtomicUsize>);

impl Drop for LookupSlot {
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
            Effect::Ask(query) => self.ask(query),
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
    /// Answers a query from a thread.
    fn ask(&self, query: Query) {
        // Findings and lists are dated now.
        self.say(Msg::Clock(SystemTime::now()));
        let (host, sender) = (self.host.clone(), self.sender.clone());
        self.look_up(move || answer(query, &host, &sender));
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

fn answer(query: Query, host: &SharedHost, sender: &UnboundedSender<Msg>) -> Msg {
    match query {
        Query::Host => inspect_host(host, sender),
        Query::List(dir) => Msg::Listed(look_up::list(dir)),
        Query::Look(path) => Msg::Seen(look_up::facts(path)),
        Query::FindGone(paths) => Msg::Gone(look_up::find_gone(paths)),
        Query::FindOtherRun(plan) => look_up::other_run(&plan),
        Query::Propose(question) => look_up::propose(&question, host.get()),
        Query::Lab { file, dir, remote, sets } => {
            let (file, dir) = (file.as_deref(), dir.as_deref());
            Msg::Lab(Box::new(look_up::lab(file, dir, remote.as_ref(), sets.as_deref())))
        }
        Query::PlanLab(question) => look_up::plan_lab(&question),
        Query::MarkOnLab(id) => Msg::MarkedOnLab(look_up::load_other(&id).map(Box::new)),
        Query::SavePreset { id, question } => {
            Msg::PresetSaved(look_up::save_preset(&id, &question))
        }
        Query::Sessions => Msg::Sessions(look_up::sessions()),
        Query::Preview(id) => Msg::Preview(look_up::preview(id)),
        Query::Compare { ids, look } => Msg::Compared(Box::new(share::compare(&ids, &look))),
        Query::Import(path) => share::import(&path),
        Query::Export(export) => {
            Msg::Exported { number: export.number, result: share::export(&export) }
        }
        Query::Open(id) => Msg::Opened(look_up::open(&id).map(Box::new)),
        Query::Course { path, cell } => look_up::course(path, cell),
        Query::Again(id) => Msg::Again(look_up::again(&id).map(Box::new)),
        Query::Replay { of, speed } => Msg::Replay(look_up::record(of, speed).map(Box::new)),
        Query::Refine(request) => Msg::Refined(look_up::plan_refinement(&request).map(Box::new)),
        Query::Rename { id, name } => look_up::rename(&id, &name),
        Query::Delete(id) => look_up::delete(id),
        Query::Change { id, before } => look_up::change(id, before),
    }
}

/// Collects the facts about the machine; the findings of the doctor are sent first.
fn inspect_host(shared: &SharedHost, sender: &UnboundedSender<Msg>) -> Msg {
    // Not cached: load and free memory change.
    let host = host::collect_for_doctor();
    shared.set(host.clone());
    let _ = sender.send(Msg::Doctor(examine(&host, None, None)));
    runner::choose_saved_xor_loop();
    Msg::Host(Box::new(host), fold::comparison())
}
