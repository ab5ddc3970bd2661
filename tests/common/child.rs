//! A run under observation: its lines as they arrive, signals, and its end within a time limit.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::kernel;

/// A child process that does not outlive the test.
pub struct Run {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
}

impl Run {
    /// Starts the command with a pipe as its stdout.
    pub fn start(command: &mut Command) -> Run {
        kernel::reset_signals(command);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().map(BufReader::new);
        Run { child, stdout }
    }

    /// Starts the command as [`Run::start`] does, with the given stdout.
    pub fn start_to(command: &mut Command, stdout: impl Into<Stdio>) -> Run {
        kernel::reset_signals(command);
        Run { child: command.stdin(Stdio::null()).stdout(stdout).spawn().unwrap(), stdout: None }
    }

    /// Starts the command as [`Run::start`] does, with a pipe as its stdin, closed on drop.
    pub fn start_with_stdin(command: &mut Command) -> (Run, ChildStdin) {
        kernel::reset_signals(command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) =
            (child.stdin.take().unwrap(), child.stdout.take().map(BufReader::new));
        (Run { child, stdout }, stdin)
    }

    /// Waits for the next line of stdout and returns it; empty at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().expect("its stdout was closed").read_line(&mut line).unwrap();
        line
    }

    /// Waits until a file that the run has open in that folder, named or unnamed, is not empty;
    /// `false` if the run ended before.
    pub fn fills_a_file_in(&mut self, folder: &Path) -> bool {
        let folder = folder.canonicalize().unwrap();
        let descriptors = PathBuf::from(format!("/proc/{}/fd", self.pid()));
        let is_there = |file: &Path| {
            fs::read_link(file).is_ok_and(|path| path.starts_with(&folder) && path != folder)
        };
        let holds =
            |file: &Path| fs::metadata(file).is_ok_and(|file| file.is_file() && file.blocks() > 0);
        while self.end(Duration::ZERO).is_none() {
            let open = fs::read_dir(&descriptors).into_iter().flatten().flatten();
            if open.map(|entry| entry.path()).any(|file| is_there(&file) && holds(&file)) {
                return true;
            }
        }
        false
    }

    /// Waits for the line of stdout that contains `text`, and returns it.
    pub fn until(&mut self, text: &str) -> String {
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "it ended without a line with {text:?}: {}", self.stderr());
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Closes the pipe from its stdout, as `head` does.
    pub fn close_stdout(&mut self) {
        self.stdout = None;
    }

    /// Returns the rest of its stdout.
    pub fn rest(&mut self) -> String {
        let mut text = String::new();
        if let Some(stdout) = &mut self.stdout {
            stdout.read_to_string(&mut text).unwrap();
        }
        text
    }

    /// Closes the pipe from its stderr.
    pub fn close_stderr(&mut self) {
        self.child.stderr = None;
    }

    /// Returns its stderr, if that is a pipe; call it after the run has ended.
    pub fn stderr(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut text).unwrap();
        }
        text
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Waits for its end, at most `most`.
    pub fn end(&mut self, most: Duration) -> Option<ExitStatus> {
        wait(&mut self.child, most)
    }

    /// Returns all of its stdout and its exit status.
    pub fn finish(mut self, most: Duration) -> (String, ExitStatus) {
        let text = self.rest();
        let status = self.end(most).expect("the run goes on and on");
        (text, status)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // A process that has ended by now cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of a child without polling: its descriptor becomes readable.
fn wait(child: &mut Child, most: Duration) -> Option<ExitStatus> {
    if let Some(status) = child.try_wait().unwrap() {
        return Some(status);
    }
    let fd = pidfd(child.id());
    ready(&fd, most).then(|| child.wait().unwrap())
}

/// Opens a descriptor that becomes readable when the process ends.
fn pidfd(pid: u32) -> OwnedFd {
    // SAFETY: pidfd_open touches no memory; it returns a new descriptor or an error.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32;
    assert!(fd >= 0, "pidfd_open: {}", std::io::Error::last_os_error());
    // SAFETY: the descriptor is new and ours.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Waits until there is something to read; `false` if a child that was not reaped yet ends first.
pub fn ready_or_ended(fd: &impl AsFd, pid: u32, most: Duration) -> bool {
    let end = pidfd(pid);
    let poll = |fd: i32| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut both = [poll(fd.as_fd().as_raw_fd()), poll(end.as_raw_fd())];
    // SAFETY: two live structs, and descriptors that are open.
    let count = unsafe { libc::poll(both.as_mut_ptr(), 2, most.as_millis() as i32) };
    assert!(count > 0, "nothing happens any more: {}", std::io::Error::last_os_error());
    both[0].revents != 0
}

/// Waits until there is something to read; `false` after the time limit.
pub fn ready(fd: &impl AsFd, most: Duration) -> bool {
    let begin = Instant::now();
    loop {
        let left = most.saturating_sub(begin.elapsed()).as_millis() as i32;
        let mut poll =
            libc::pollfd { fd: fd.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one live struct, and a descriptor that is open.
        match unsafe { libc::poll(&raw mut poll, 1, left) } {
            -1 if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            -1 => panic!("poll: {}", std::io::Error::last_os_error()),
            count => return count > 0,
        }
    }
}

/// Runs the command to its end and returns all of its output.
pub fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}
