//! A terminal that does not accept output: Ctrl-S, a connection that hangs. The drawing thread then
//! blocks in a write and ignores signals, so another thread ends the process at the second one.

use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::sys::signals;

/// How long the screen may still react after the second signal.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// Signals that end a process; all but the last leave the program at the first one.
const ENDING: [i32; 4] = [libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGINT];

/// Watches the screen that `screen` runs; without a thread for that, nothing does.
pub fn watch(screen: Handle) {
    let body = move || {
        if let Ok(runtime) = Builder::new_current_thread().enable_all().build() {
            runtime.block_on(wait(screen));
        }
    };
    drop(thread::Builder::new().name("signals".into()).stack_size(256 << 10).spawn(body));
}

async fn wait(screen: Handle) {
    let (to, mut came) = unbounded_channel();
    for number in ENDING {
        let Ok(mut arrived) = signal(SignalKind::from_raw(number)) else { return };
        let to = to.clone();
        tokio::spawn(
            async move { while arrived.recv().await.is_some() && to.send(number).is_ok() {} },
        );
    }
    let (mut leaving, mut asked) = (None, None);
    while let Some(number) = came.recv().await {
        if let Some(first) = leaving {
            // The screen has already received a request to leave.
            sleep(EXIT_TIMEOUT).await;
            end(first);
        }
        if let Some((first, answer)) = asked.take()
            && !matches!(timeout(EXIT_TIMEOUT, answer).await, Ok(Ok(())))
        {
            end(first);
        }
        if number != libc::SIGINT {
            leaving = Some(number);
        }
        // Completes as soon as the screen's thread runs anything.
        let (sender, answer) = oneshot::channel();
        screen.spawn(async move { sender.send(()) });
        asked = Some((number, answer));
    }
}

/// Returns a message where the screen cannot be restored, because its output is not read. Line mode
/// and echo can.
fn end(first: i32) -> ! {
    let _ = crossterm::terminal::disable_raw_mode();
    signals::end_at_once(128 + first)
}
