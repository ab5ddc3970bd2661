//! A terminal that nobody reads: Ctrl-S, a connection that hangs. The thread that draws waits in it
//! and heeds no signal, so one beside it ends the process at the second.

use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::sys::signals;

/// What is left to the screen after the second signal.
const GRACE: Duration = Duration::from_millis(500);

/// Numbers of the signals that end a process; all but the last lead out by themselves.
const ENDING: [i32; 4] = [libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGINT];

/// Watches over the screen that `screen` runs; where no thread can be had, nobody does.
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
            // It was told to leave already.
            sleep(GRACE).await;
            end(first);
        }
        if let Some((first, answer)) = asked.take()
            && !matches!(timeout(GRACE, answer).await, Ok(Ok(())))
        {
            end(first);
        }
        if number != libc::SIGINT {
            leaving = Some(number);
        }
        // Answered as soon as the screen does anything.
        let (tell, answer) = oneshot::channel();
        screen.spawn(async move { tell.send(()) });
        asked = Some((number, answer));
    }
}

/// The screen cannot be left: nobody reads what would be written for it. Lines and echo can be had
/// back.
fn end(first: i32) -> ! {
    let _ = crossterm::terminal::disable_raw_mode();
    signals::end_at_once(128 + first)
}
