//! Lines for the user on stderr, also where a file system that hangs would leave them without one.

use std::io::{self, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use crate::text::{Replacement, safe_lines};

/// Prints a line to stderr and ignores errors: an unread message is not a reason to fail.
pub fn print_message(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{}", safe_lines(&line.to_string(), Replacement::Escape));
}

/// How long a call may take without a message.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Returns what `work` returns, and prints a line if that takes more than 5 seconds. `doing` says
/// what it does: "writing run.json".
pub fn tell_if_slow<T>(doing: &str, work: impl FnOnce() -> T) -> T {
    tell_after(TIMEOUT, work, {
        let line = format!(
            "iotui: {doing}: a system call has not returned for {} s; waiting",
            TIMEOUT.as_secs()
        );
        move || print_message(line)
    })
}

fn tell_after<T>(
    timeout: Duration,
    work: impl FnOnce() -> T,
    tell: impl FnOnce() + Send + 'static,
) -> T {
    let (done, over) = channel::<()>();
    // Without this thread it is silent.
    let _ = Builder::new().name("slow".into()).stack_size(256 << 10).spawn(move || {
        if over.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
            tell();
        }
    });
    let made = work();
    drop(done);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_done_in_time_is_told() {
        let (to, told) = channel();
        let tell = move || to.send(()).unwrap();
        // The work ends once the message was shown.
        tell_after(Duration::ZERO, move || told.recv().unwrap(), tell);
        let (to, told) = channel();
        let made = tell_after(Duration::from_secs(3600), || 7, move || to.send(()).unwrap());
        assert_eq!((made, told.recv().is_err()), (7, true), "the thread ends with the work");
    }
}
