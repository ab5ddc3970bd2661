//! What the person at the terminal does: keys, pastes, the mouse, and the size of the window.
//!
//! Not by crossterm's `EventStream`: it waits by edges and forgets one where a resize and a key
//! come at once, and the key is seen only with the next.

use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use crossterm::terminal;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::answers::{Answers, Taken, is_bracket, is_escape};
use crate::tui::keys::Key;
use crate::tui::msg::Msg;
use crate::tui::theme::Palette;

/// How long an escape may be the beginning of an answer.
const LAST_ANSWER: Duration = Duration::from_secs(5);
/// How long after the questions their answers are waited for at the end.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(300);
/// How long an escape waits for the rest of an answer that is due.
const PIECE: Duration = Duration::from_millis(100);

/// What the terminal may still answer.
pub struct Owed {
    /// Closed once the last answer has come, or nothing was asked.
    done: mpsc::Receiver<()>,
    asked_at: Instant,
}

impl Owed {
    /// Waits for the answers, not long: those that come later reach the prompt of the shell. The
    /// terminal must be as it was when they were asked for.
    pub fn wait(self) {
        let left = ANSWER_TIMEOUT.saturating_sub(self.asked_at.elapsed());
        let _ = self.done.recv_timeout(left);
    }
}

/// What [`input`] returns.
pub type Input = (UnboundedReceiver<Msg>, oneshot::Receiver<Palette>, Owed);

/// Returns everything from the terminal as messages, its first answer about its colours, if it was
/// `asked`, and what it owes until then.
///
/// # Errors
/// No thread, or no handler of the signal, can be had.
pub fn input(asked: bool) -> io::Result<Input> {
    let (sender, receiver) = unbounded_channel();
    let (first, answered) = oneshot::channel();
    let (owing, done) = mpsc::channel();
    let owed = Owed { done, asked_at: Instant::now() };
    let first = asked.then_some((first, owing));
    let (resizes, hang_up) = (sender.downgrade(), sender.downgrade());
    let mut resized = signal(SignalKind::window_change())?;
    thread::Builder::new().name("keys".into()).spawn(move || listen(&sender, first))?;
    thread::Builder::new().name("hang-up".into()).spawn(move || {
        until_gone();
        hang_up.upgrade().map(|sender| sender.send(Msg::Leave(129)))
    })?;
    tokio::spawn(async move {
        while resized.recv().await.is_some() {
            let Some(sender) = resizes.upgrade() else { break };
            if let Ok((columns, rows)) = terminal::size() {
                let _ = sender.send(Msg::Resize(columns, rows));
            }
        }
    });
    Ok((receiver, answered, owed))
}

/// Who waits for the first answer, and for all of them.
type First = (oneshot::Sender<Palette>, mpsc::Sender<()>);

/// Reads until the receiver is gone and nothing is owed, or the terminal ends. Without a time
/// limit: crossterm may let one pass without returning what it has already read.
fn listen(sender: &UnboundedSender<Msg>, mut first: Option<First>) {
    let mut answers = match first {
        Some(_) => Answers::due(Instant::now() + LAST_ANSWER),
        None => Answers::default(),
    };
    let mut held = None;
    while let Some(event) = held.take().or_else(|| event::read().ok()) {
        let now = Instant::now();
        // Where an answer is torn behind its first byte, that is no key either.
        if answers.is_due(now) && is_escape(&event) && event::poll(PIECE).unwrap_or(false) {
            let Ok(next) = event::read() else { break };
            if is_bracket(&next) {
                answers.begin(now);
                continue;
            }
            held = Some(next);
        }
        let msg = match answers.take(event, now) {
            Taken::Event(event) => message(event),
            Taken::Nothing => None,
            // The first frame waits for it, unless it was too late for that.
            Taken::Palette(palette) => match first.take().map(|(first, _)| first.send(palette)) {
                Some(Ok(())) => None,
                _ => Some(Msg::Palette(palette)),
            },
        };
        if msg.is_some_and(|msg| sender.send(msg).is_err()) && first.is_none() {
            break;
        }
    }
}

/// Waits until the other end of the terminal is closed: crossterm would then read in an endless
/// loop.
fn until_gone() {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
    while poll(&mut fds, PollTimeout::NONE) == Err(Errno::EINTR) {}
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => Key::from_event(key).map(Msg::Key),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Mouse(mouse) => Some(Msg::Mouse(mouse)),
        // The size comes by its signal.
        _ => None,
    }
}
