//! What the person at the terminal does: keys, pastes, the mouse, and the size of the window.
//!
//! Not by crossterm's `EventStream`: it waits by edges and forgets one where a resize and a key
//! come at once, and the key is seen only with the next.

use std::io;
use std::os::fd::AsFd;
use std::thread;

use crossterm::event::{self, Event};
use crossterm::terminal;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::tui::keys::Key;
use crate::tui::msg::Msg;

/// Everything from the terminal as messages; no more come when it is gone.
///
/// # Errors
/// No thread, or no handler of the signal, can be had.
pub fn input() -> io::Result<UnboundedReceiver<Msg>> {
    let (tell, told) = unbounded_channel();
    let (resizes, hang_up) = (tell.downgrade(), tell.downgrade());
    let mut resized = signal(SignalKind::window_change())?;
    thread::Builder::new().name("keys".into()).spawn(move || listen(&tell))?;
    thread::Builder::new().name("hang-up".into()).spawn(move || {
        until_gone();
        hang_up.upgrade().map(|tell| tell.send(Msg::Leave(129)))
    })?;
    tokio::spawn(async move {
        while resized.recv().await.is_some() {
            let Some(tell) = resizes.upgrade() else { break };
            if let Ok((columns, rows)) = terminal::size() {
                let _ = tell.send(Msg::Resize(columns, rows));
            }
        }
    });
    Ok(told)
}

/// Reads until nobody listens, or until nothing can be read any more. Without a limit of time:
/// crossterm may let one pass without a look at what it has read already.
fn listen(tell: &UnboundedSender<Msg>) {
    while let Ok(event) = event::read() {
        if message(event).is_some_and(|msg| tell.send(msg).is_err()) {
            break;
        }
    }
}

/// Waits until nobody is at the other end of the terminal: crossterm reads on then without an end,
/// and without a rest.
fn until_gone() {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
    while poll(&mut fds, PollTimeout::NONE) == Err(Errno::EINTR) {}
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => Key::of(key).map(Msg::Key),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Mouse(mouse) => Some(Msg::Mouse(mouse)),
        // The size comes by its signal.
        _ => None,
    }
}
