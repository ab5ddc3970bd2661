//! Runs another program as a child process: its output is bounded, its resource usage counted, and
//! it never outlives this process.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::clock::monotonic_nanos;
use super::usage::Usage;

/// The watcher's decision about the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildAction {
    Continue,
    /// Send SIGINT once: the program prints its result and exits.
    Interrupt,
    Kill,
}

/// A child that has exited.
#[derive(Debug, Clone)]
pub struct ChildExit {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    /// Its first 64 KiB.
    pub stderr: Vec<u8>,
    /// Since its start, so it includes loading the program.
    pub usage: Usage,
    /// When it was started and when its exit was noticed, CLOCK_MONOTONIC, nanoseconds.
    pub started: u64,
    pub ended: u64,
    /// It printed more than [`MAX_OUTPUT`] and was killed for that.
    pub overflowed: bool,
}

/// Limit of standard output, bytes: more than fio prints for 1024 jobs.
pub const MAX_OUTPUT: usize = 32 << 20;
const MAX_STDERR: usize = 64 << 10;
/// Interval between calls of the watcher.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// A process that has not exited this long after SIGKILL is stuck in the kernel, and is abandoned.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// The environment variable with the secret of the network probes: hidden from other programs.
pub const SECRET: &str = "IOTUI_SECRET";

/// Finds the program of that name in the folders of `path`. Relative folders are skipped, so that
/// no file in the current folder is run.
pub fn find(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    fn runs(file: &PathBuf) -> bool {
        nix::unistd::access(file, nix::unistd::AccessFlags::X_OK).is_ok() && file.is_file()
    }
    std::env::split_paths(path?)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(program))
        .find(runs)
}

fn command(program: &Path, args: &[String]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .env("LC_ALL", "C")
        .env_remove("LANGUAGE")
        .env_remove("POSIXLY_CORRECT")
        .current_dir("/");
    command
}

/// Runs `program` and waits for it to exit: in its own process group, in `/`, without input, in the
/// C locale.
///
/// # Errors
/// If it cannot be started, or (`TimedOut`) did not exit after being killed.
pub fn run(
    program: &Path,
    args: &[String],
    watch: &mut dyn FnMut(Duration) -> ChildAction,
) -> io::Result<ChildExit> {
    wait_for(command(program, args), watch)
}

/// Runs a shell command of the user like [`run`], but in the current folder and locale.
///
/// # Errors
/// As [`run`].
pub fn run_shell(
    script: &str,
    watch: &mut dyn FnMut(Duration) -> ChildAction,
) -> io::Result<ChildExit> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    wait_for(command, watch)
}

/// Starts this program again with one argument, as a process with pipes for its input and output.
/// It runs in its own process group and never outlives the thread that starts it.
///
/// # Errors
/// If it cannot be started.
pub fn start_own(argument: &str) -> io::Result<Child> {
    let parent = std::process::id();
    // The same program, even if its file has been replaced.
    let mut command = Command::new("/proc/self/exe");
    command.arg(argument).env_remove(SECRET).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // SAFETY: the closure only makes async-signal-safe system calls.
    unsafe { command.pre_exec(move || die_with_parent(parent)) };
    let child = command.spawn()?;
    OWN_PROCESS.store(child.id(), Relaxed);
    Ok(child)
}

static OWN_PROCESS: AtomicU32 = AtomicU32::new(0);

/// Returns the process that [`start_own`] started last; 0 before.
pub fn own_process() -> u32 {
    OWN_PROCESS.load(Relaxed)
}

fn wait_for(
    mut command: Command,
    watch: &mut dyn FnMut(Duration) -> ChildAction,
) -> io::Result<ChildExit> {
    let parent = std::process::id();
    command.env_remove(SECRET).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // SAFETY: the closure only makes async-signal-safe system calls.
    unsafe { command.pre_exec(move || die_with_parent(parent)) };
    let started = monotonic_nanos();
    let mut child = command.spawn()?;
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let mut stdout = Pipe::new(out, MAX_OUTPUT);
    let mut stderr = Pipe::new(err, MAX_STDERR);
    let (begin, mut asked, mut killed) = (Instant::now(), false, None::<Instant>);
    let signal = |to: i32, signal: libc::c_int| {
        // SAFETY: kill(2) takes no pointers; the child is not yet reaped, so its pid is not reused.
        unsafe { libc::kill(to, signal) };
    };
    let (status, usage) = loop {
        wait_readable(&stdout, &stderr);
        stdout.drain();
        stderr.drain();
        if let Some(gone) = reap(pid.as_raw())? {
            break gone;
        }
        match if stdout.full { ChildAction::Kill } else { watch(begin.elapsed()) } {
            ChildAction::Kill if killed.is_none() => {
                signal(-pid.as_raw(), libc::SIGKILL);
                killed = Some(Instant::now());
            }
            ChildAction::Interrupt if !asked => {
                signal(pid.as_raw(), libc::SIGINT);
                asked = true;
            }
            _ => {}
        }
        if killed.is_some_and(|at| at.elapsed() > KILL_TIMEOUT) {
            return Err(io::ErrorKind::TimedOut.into());
        }
    };
    let ended = monotonic_nanos();
    stdout.drain();
    stderr.drain();
    Ok(ChildExit {
        status,
        stdout: stdout.bytes,
        stderr: stderr.bytes,
        usage,
        started,
        ended,
        overflowed: stdout.full,
    })
}

/// Prepares the child before exec: SIGINT terminates it, and SIGKILL arrives when the thread that
/// started it ends for any reason.
fn die_with_parent(parent: u32) -> io::Result<()> {
    // SAFETY: SIG_DFL installs no handler, and signal(2) is async-signal-safe.
    // A shell's background job ignores SIGINT, and its children would too.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    super::signals::unblock()?;
    // SAFETY: PR_SET_PDEATHSIG takes a number and no pointer.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // The parent may have ended before prctl(2) took effect.
    if std::os::unix::process::parent_id() == parent {
        Ok(())
    } else {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

/// The read end of a pipe, and the output read from it.
struct Pipe<T> {
    from: Option<T>,
    bytes: Vec<u8>,
    limit: usize,
    full: bool,
}

impl<T: Read + AsFd> Pipe<T> {
    fn new(from: Option<T>, limit: usize) -> Pipe<T> {
        if let Some(from) = &from {
            // SAFETY: F_SETFL takes no pointer, and the descriptor is borrowed and therefore open.
            // If the call is refused, reads block.
            unsafe { libc::fcntl(from.as_fd().as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        }
        Pipe { from, bytes: Vec::new(), limit, full: false }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.from.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is available, and discards what exceeds the limit. Reads a few MiB at a time, so
    /// that a child that prints endlessly is still watched.
    fn drain(&mut self) {
        let mut block = [0; 16 << 10];
        for _ in 0..256 {
            let Some(from) = self.from.as_mut() else { return };
            match from.read(&mut block) {
                Ok(0) => self.from = None,
                Ok(read) => {
                    let room = self.limit - self.bytes.len();
                    self.full |= read > room;
                    self.bytes.extend_from_slice(&block[..read.min(room)]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

/// Waits until there is something to read, or for one tick.
fn wait_readable<A: Read + AsFd, B: Read + AsFd>(stdout: &Pipe<A>, stderr: &Pipe<B>) {
    let poll_entry = |fd: Option<BorrowedFd>| libc::pollfd {
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut fds = [poll_entry(stdout.fd()), poll_entry(stderr.fd())];
    // Both are closed: the child is about to exit.
    let tick =
        if fds.iter().all(|fd| fd.fd < 0) { Duration::from_millis(1) } else { POLL_INTERVAL };
    // SAFETY: `fds` has two initialised entries and outlives the call.
    let ready = unsafe {
        libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, tick.as_millis() as libc::c_int)
    };
    if ready < 0 {
        // Interrupted or refused: continue anyway.
        super::pause::sleep(Duration::from_millis(1));
    }
}

/// Returns how the child exited and what it used; `None` while it runs.
fn reap(pid: i32) -> io::Result<Option<(ExitStatus, Usage)>> {
    let mut status = 0;
    // SAFETY: a rusage consists of integers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both point to initialised variables that outlive the call.
    match unsafe { libc::wait4(pid, &mut status, libc::WNOHANG, &mut usage) } {
        0 => Ok(None),
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            error => Err(error),
        },
        _ => Ok(Some((ExitStatus::from_raw(status), usage.into()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(
        script: &str,
        watch: &mut dyn FnMut(Duration) -> ChildAction,
    ) -> io::Result<ChildExit> {
        run(Path::new("/bin/sh"), &["-c".into(), script.into()], watch)
    }

    #[test]
    fn output_status_and_usage_are_returned() {
        let done =
            shell("echo out; echo err >&2; read x; echo \"$LC_ALL $PWD\"; exit 3", &mut |_| {
                ChildAction::Continue
            })
            .unwrap();
        assert_eq!((done.status.code(), done.overflowed), (Some(3), false));
        assert_eq!(
            (done.stdout.as_slice(), done.stderr.as_slice()),
            (&b"out\nC /\n"[..], &b"err\n"[..])
        );
        assert!(done.ended > done.started && done.usage.minor_faults > 0);
        assert!(run(Path::new("/no/such/program"), &[], &mut |_| ChildAction::Continue).is_err());
    }

    #[test]
    fn shell_commands_run_here_without_input() {
        let done = run_shell("pwd; read x || exit 4", &mut |_| ChildAction::Continue).unwrap();
        let here = std::env::current_dir().unwrap();
        assert_eq!(done.stdout, format!("{}\n", here.display()).into_bytes());
        assert_eq!(done.status.code(), Some(4));
    }

    #[test]
    fn no_child_sees_the_secret() {
        // The variable is removed from every command, whether or not it is set here.
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sys::child::tests::prints_the_secret_of_a_child", "--ignored"])
            .args(["--nocapture"])
            .env(SECRET, "hidden words")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(text.contains("seen: none none"), "{text}");
    }

    #[test]
    #[ignore = "a helper of no_child_sees_the_secret"]
    fn prints_the_secret_of_a_child() {
        assert!(std::env::var_os(SECRET).is_some());
        let script = "printf %s \"${IOTUI_SECRET-none}\"";
        let plain = shell(script, &mut |_| ChildAction::Continue).unwrap().stdout;
        let users = run_shell(script, &mut |_| ChildAction::Continue).unwrap().stdout;
        let [plain, users] = [plain, users].map(|text| String::from_utf8(text).unwrap());
        println!("seen: {plain} {users}");
    }

    #[test]
    fn hangs_are_killed_and_floods_bounded() {
        let done = shell("sleep 1000 & echo $!; wait", &mut |_| ChildAction::Kill).unwrap();
        assert_eq!(done.status.signal(), Some(libc::SIGKILL));
        let flood = shell("yes", &mut |_| ChildAction::Continue).unwrap();
        assert!(flood.overflowed && flood.stdout.len() == MAX_OUTPUT, "{}", flood.stdout.len());
    }

    #[test]
    fn an_interrupted_child_prints_its_result() {
        let done = shell(
            "trap 'echo last; exit 0' INT; echo ready; while :; do sleep 0.01; done",
            &mut |since| match since.as_millis() {
                0..200 => ChildAction::Continue,
                200..5000 => ChildAction::Interrupt,
                _ => ChildAction::Kill,
            },
        );
        let done = done.unwrap();
        assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(0), &b"ready\nlast\n"[..]));
    }

    #[test]
    fn programs_come_from_absolute_folders() {
        let dir = tempfile::tempdir().unwrap();
        fn path(text: String) -> Option<PathBuf> {
            find("sh", Some(OsStr::new(&text)))
        }
        assert!(path("/bin:/usr/bin".into()).is_some_and(|found| found.is_absolute()));
        std::fs::write(dir.path().join("sh"), "not to be run").unwrap();
        assert_eq!(path(format!("{}:.:bin:", dir.path().display())), None);
        assert_eq!(
            (find("sh", None), find("no such program", std::env::var_os("PATH").as_deref())),
            (None, None)
        );
    }
}
