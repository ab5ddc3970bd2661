//! Lines for the user on stderr, also while a file system hangs.

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

/// Does `work`, and prints a line if it takes more than 5 seconds. `doing` describes it, as in
/// `writing run.json`.
pub fn report_if_slow<T>(doing: &str, work: impl FnOnce() -> T) -> T {
    report_after(TIMEOUT, work, {
        let line = format!(
            "iotui: {doing}: a system call has not returned for {} s; waiting",
            TIMEOUT.as_secs()
        );
        move || print_message(line)
    })
}

fn report_after<T>(
    timeout: Duration,
    work: impl FnOnce() -> T,
    report: impl FnOnce() + Send + 'static,
) -> T {
    let (done, over) = channel::<()>();
    // Without this thread a slow call prints nothing.
    let _ = Builder::new().name("slow".into()).stack_size(256 << 10).spawn(move || {
        if over.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
            report();
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
    fn only_slow_work_is_reported() {
        let (to, reported) = channel();
        let report = move || to.send(()).unwrap();
        // The work ends once the message was shown.
        report_after(Duration::ZERO, move || reported.recv().unwrap(), report);
        let (to, reported) = channel();
        let made = report_after(Duration::from_secs(3600), || 7, move || to.send(()).unwrap());
        assert_eq!((made, reported.recv().is_err()), (7, true), "the thread ends with the work");
    }
}
