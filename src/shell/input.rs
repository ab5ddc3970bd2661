//! Input from the terminal: keys, pastes, the mouse, and the size of the window.
//!
//! Not by crossterm's `EventStream`: it waits by edges and forgets one where a resize and a key
//! come at once, and the key is seen only with the next.

use std::os::fd::AsFd;
use std::{io, thread};

use crossterm::event::{self, Event};
use crossterm::terminal;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::tui::keys::Key;
use crate::tui::msg::Msg;

/// Returns everything from the terminal as messages.
///
/// # Errors
/// No thread, or no handler of the signal, can be had.
pub fn input() -> io::Result<UnboundedReceiver<Msg>> {
    let (sender, receiver) = unbounded_channel();
    let (resizes, hang_up) = (sender.downgrade(), sender.downgrade());
    let mut resized = signal(SignalKind::window_change())?;
    thread::Builder::new().name("keys".into()).spawn(move || listen(&sender))?;
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
    Ok(receiver)
}

/// Reads until the receiver is gone or the terminal ends. Without a time limit: crossterm may let
/// one pass without returning what it has already read.
fn listen(sender: &UnboundedSender<Msg>) {
    while let Ok(event) = event::read() {
        if message(event).is_some_and(|msg| sender.send(msg).is_err()) {
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
