//! Every run ends and says why: refused, hanging or unread; and no report is lost.

use crate::common::stderr_of;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::child::Run;
use crate::common::{Home, QUICK, is_root, kernel, output, skip};
use nix::sys::signal::Signal;

const RUN: &str = "--batch data.bin -b read -s 64k -c warm";
const ENDLESS: &str =
    "--batch data.bin -b read,mmap -s 4k..64k -c warm --trials 100000 --trial-time 5ms --budget 1h";
/// A second, and some margin for a busy machine.
const SOON: Duration = Duration::from_secs(10);
const LONG: Duration = Duration::from_secs(120);

#[test]
fn unwritable_report_is_refused_early() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    fs::create_dir(home.path("locked")).unwrap();
    fs::write(home.path("locked/out"), "old").unwrap();
    fs::set_permissions(home.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    let refused = |to: &str, why: &str| {
        let mut command = home.std(&format!("{RUN} {QUICK} -o {to}"));
        kernel::without_override(&mut command);
        let ran = output(&mut command);
        let stderr = stderr_of(&ran);
        assert_eq!(
            (ran.status.code(), ran.stdout.len(), stderr.lines().count()),
            (Some(2), 0, 1),
            "{to}: {stderr}"
        );
        assert!(
            stderr.contains(why) && stderr.contains("name a file in another folder"),
            "{to}: {stderr}"
        );
        assert_eq!(fs::read_to_string(home.path(to)).unwrap(), "old", "{to}");
        assert!(home.sessions().is_empty(), "nothing was run");
    };
    refused("locked/out", "(permission denied)");
    fs::set_permissions(home.path("locked"), fs::Permissions::from_mode(0o755)).unwrap();
    // As in /tmp: write permission on another user's file does not allow replacing it.
    if is_root() {
        fs::create_dir(home.path("sticky")).unwrap();
        fs::write(home.path("sticky/out"), "old").unwrap();
        fs::set_permissions(home.path("sticky/out"), fs::Permissions::from_mode(0o666)).unwrap();
        fs::set_permissions(home.path("sticky"), fs::Permissions::from_mode(0o1777)).unwrap();
        ["sticky/out", "sticky"]
            .iter()
            .for_each(|name| chown(home.path(name), Some(1), Some(1)).unwrap());
        refused("sticky/out", "(operation not permitted)");
    }
    kernel::with_tmpfs(&home.path("mounts"), "1m", || {
        fs::write(home.path("mounts/other"), "old").unwrap();
        fs::write(home.path("mounts/out"), "hidden").unwrap();
        assert!(kernel::bind(&home.path("mounts/other"), &home.path("mounts/out")));
        refused("mounts/out", "it is a mount point");
    });
}

#[test]
fn pipes_and_devices_take_reports() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = format!("{RUN} {QUICK} --no-save --format csv");
    for to in ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"] {
        assert!(home.stdout(&format!("{run} -o {to}")).starts_with("session,backend"), "{to}");
    }
    home.cmd(&format!("{run} -o /dev/null")).assert().success().stdout("");
    // As with >> in a shell.
    fs::write(home.path("log"), "old\n").unwrap();
    let log = OpenOptions::new().append(true).open(home.path("log")).unwrap();
    assert!(home.std(&format!("{run} -o /dev/stdout")).stdout(log).status().unwrap().success());
    assert!(fs::read_to_string(home.path("log")).unwrap().starts_with("old\nsession,backend"));
    nix::unistd::mkfifo(&home.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut fed = home.std(&format!("{run} -o pipe")).stdin(Stdio::null()).spawn().unwrap();
    assert!(fs::read_to_string(home.path("pipe")).unwrap().starts_with("session,backend"));
    assert!(fed.wait().unwrap().success());
}

#[test]
fn slow_report_is_reported() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    nix::unistd::mkfifo(&home.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut command = home.std(&format!("{RUN} {QUICK} --no-save -o pipe"));
    let mut ran = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = io::BufReader::new(ran.stderr.take().unwrap()).lines();
    let stderr = stderr.find_map(|line| line.ok().filter(|line| line.contains("writing pipe")));
    assert!(stderr.is_some_and(|stderr| stderr.contains("a system call has not returned for 5 s")));
    assert!(!fs::read(home.path("pipe")).unwrap().is_empty());
    assert!(ran.wait().unwrap().success());
}

#[test]
fn planted_link_is_not_followed() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    if !is_root() {
        return skip("only root can be another user");
    }
    fs::create_dir(home.path("shared")).unwrap();
    fs::set_permissions(home.path("shared"), fs::Permissions::from_mode(0o1777)).unwrap();
    fs::write(home.path("mine"), "precious").unwrap();
    for (name, to) in [("planted", "mine"), ("dangling", "none")] {
        symlink(home.path(to), home.path("shared").join(name)).unwrap();
        lchown(home.path("shared").join(name), Some(61_234), Some(61_234)).unwrap();
        let ran = output(&mut home.std(&format!("{RUN} {QUICK} -o shared/{name}")));
        assert_eq!(ran.status.code(), Some(2), "{ran:?}");
        // A kernel with fs.protected_symlinks refuses it too.
        let stderr = stderr_of(&ran);
        assert!(stderr.contains("another user's link"), "{stderr}");
    }
    assert_eq!(fs::read_to_string(home.path("mine")).unwrap(), "precious");
    assert!(!home.path("none").exists() && home.sessions().is_empty());
    // Their own, and links elsewhere, are followed.
    symlink(home.path("mine"), home.path("shared/own")).unwrap();
    let ran = output(&mut home.std(&format!("{RUN} {QUICK} -o shared/own")));
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert_ne!(fs::read_to_string(home.path("mine")).unwrap(), "precious");
}

#[test]
fn dangling_link_is_refused_as_target() {
    let home = Home::new();
    symlink("none", home.path("link")).unwrap();
    let ran = output(&mut home.std(&format!("--batch --op write --size 1m -b pread {QUICK} link")));
    let stderr = stderr_of(&ran);
    assert_eq!((ran.status.code(), stderr.lines().count()), (Some(2), 1), "{stderr}");
    assert!(stderr.contains("link is a link to a file that does not exist"), "{stderr}");
    assert!(home.sessions().is_empty() && !home.path("none").exists());
}

#[test]
fn exhausted_resources_leave_no_files() {
    let home = Home::new();
    let line = "--batch --probe metadata --trials 1 --trial-time 1ms --no-save --dir .";
    let ran = |what, most| {
        let mut command = home.std(line);
        kernel::limit(&mut command, what, most);
        // The caretaker of a folder has its stderr, so it is read until that has ended too.
        let ran = command.stdin(Stdio::null()).output();
        let begin = Instant::now();
        while !home.names().is_empty() {
            assert!(begin.elapsed() < LONG, "{most}: {:?} of {ran:?}", home.names());
            std::thread::yield_now();
        }
    };
    (3..20).for_each(|files| ran(libc::RLIMIT_NOFILE, files));
    (44..100).step_by(4).for_each(|mebibytes| ran(libc::RLIMIT_AS, mebibytes << 20));
}

/// Creates a pipe that is full and that nobody reads.
fn full_pipe() -> (io::PipeReader, OwnedFd) {
    let (reader, mut writer) = io::pipe().unwrap();
    nix::fcntl::fcntl(&writer, nix::fcntl::FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
    writer.write_all(&[b' '; 4096]).unwrap();
    (reader, writer.into())
}

/// Sends a signal and waits until it is delivered: two pending ones would merge into one.
fn signalled(run: &Run, signal: Signal) {
    run.signal(signal);
    let begin = Instant::now();
    let bit = 1u64 << (signal as u32 - 1);
    let pending = |line: &str| {
        line.strip_prefix("ShdPnd:")
            .is_some_and(|set| u64::from_str_radix(set.trim(), 16).unwrap() & bit != 0)
    };
    while fs::read_to_string(format!("/proc/{}/status", run.pid())).unwrap().lines().any(pending) {
        assert!(begin.elapsed() < LONG, "{signal} is not taken");
        std::thread::yield_now();
    }
}

/// Starts a run whose stdout nobody reads, and waits for a line of its session.
fn unread(home: &Home, line: &str, until: &str) -> (Run, io::PipeReader) {
    fs::create_dir_all(home.sessions_dir()).unwrap();
    let mut watch = kernel::Watch::of(&home.sessions_dir());
    let (reader, writer) = full_pipe();
    let run = Run::start_to(home.std(line).stderr(Stdio::null()), writer);
    let has =
        |path: &std::path::PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(until));
    watch.until(|| home.sessions().iter().any(has));
    (run, reader)
}

#[test]
fn second_signal_ends_blocked_output() {
    for (format, first, second, code) in [
        ("jsonl", Signal::SIGINT, Signal::SIGINT, 130),
        ("json", Signal::SIGINT, Signal::SIGTERM, 130),
        ("html", Signal::SIGTERM, Signal::SIGINT, 143),
        ("table", Signal::SIGHUP, Signal::SIGTERM, 129),
    ] {
        let home = Home::new();
        home.file("data.bin", 1 << 20);
        let (mut run, _reader) =
            unread(&home, &format!("{ENDLESS} --format {format}"), "\"kind\":\"trial\"");
        signalled(&run, first);
        signalled(&run, second);
        let status = run.end(SOON).unwrap_or_else(|| panic!("{format}: it goes on"));
        assert_eq!(status.code(), Some(code), "{format}");
        assert_eq!(
            home.json("sessions list").as_array().unwrap().len(),
            1,
            "{format}: what was measured is kept"
        );
    }
}

#[test]
fn one_signal_ends_a_finished_run() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let (mut run, _reader) =
        unread(&home, &format!("{RUN} {QUICK} --format json"), "\"kind\":\"end\"");
    let begin = Instant::now();
    let writes = format!("{} 0x", libc::SYS_write);
    // The call in which the main thread blocks.
    loop {
        match fs::read_to_string(format!("/proc/{}/syscall", run.pid())) {
            Ok(call) if call.starts_with(&writes) => break,
            Ok(_) => assert!(begin.elapsed() < LONG, "it writes no report"),
            Err(error) => return skip(&format!("/proc/PID/syscall: {error}")),
        }
        std::thread::yield_now();
    }
    run.signal(Signal::SIGTERM);
    assert_eq!(run.end(SOON).expect("it goes on").code(), Some(143));
}

/// Returns the output and status of a run in which this call never returns; `None` where no call
/// can be made to hang.
fn hanging(command: &mut Command, call: libc::c_long) -> Option<Output> {
    kernel::hang(command, call);
    let mut run =
        match command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
            Ok(run) => run,
            Err(error) => {
                skip(&format!("no call can be made to hang here: {error}"));
                return None;
            }
        };
    let begin = Instant::now();
    while run.try_wait().unwrap().is_none() {
        if begin.elapsed() > LONG {
            let _ = run.kill();
            panic!("it waits for ever");
        }
        std::thread::yield_now();
    }
    Some(run.wait_with_output().unwrap())
}

/// Checks that a run failed as its budget ended in a system call that did not return.
fn assert_budget_ended(ran: &Output, doing: &str) {
    assert_eq!(ran.status.code(), Some(1), "{}", stderr_of(ran));
    let text = format!("the budget ended while {doing}: a system call has not returned for");
    assert!(stderr_of(ran).contains(&text), "{}", stderr_of(ran));
}

#[test]
fn budget_ends_a_hanging_fill() {
    let home = Home::new();
    let mut command = home.std("--batch --dir . --size 1m -b read -s 64k --trials 1 --trial-time 1ms --budget 1s --no-save");
    let Some(ran) = hanging(&mut command, libc::SYS_fdatasync) else { return };
    assert_budget_ended(&ran, "the file was being filled");
    assert!(home.names().is_empty(), "{:?}", home.names());
}

/// A byte of the file is copied to test whether copy_file_range works; on a file system that hangs,
/// that used to take forever.
#[test]
fn budget_ends_hanging_planning() {
    let home = Home::new();
    home.file("data.bin", 8192);
    let mut command =
        home.std("--batch data.bin -b read,copy-range -s 4k --budget 200ms --no-save");
    let Some(ran) = hanging(&mut command, libc::SYS_copy_file_range) else { return };
    assert_budget_ended(&ran, "the plan was being made");
}

/// To tell other processes on which disk it measures, iotui opens the file again.
#[test]
fn budget_ends_a_hanging_start() {
    let home = Home::new();
    home.file("data.bin", 8192);
    let mut command = home.std("--batch data.bin -b read -s 4k --budget 200ms --no-save");
    let Some(ran) = hanging(&mut command, libc::SYS_bind) else { return };
    assert_budget_ended(&ran, "the target was being opened");
}

#[test]
fn budget_ends_endless_interrupts() {
    let home = Home::new();
    for call in [libc::SYS_fdatasync, libc::SYS_pwrite64] {
        let mut command =
            home.std("--batch --dir . --size 1m -b read -s 64k --budget 300ms --no-save");
        kernel::refuse(&mut command, call, libc::EINTR);
        let mut run = Run::start(command.stderr(Stdio::piped()));
        let status = run.end(LONG).expect("it goes on and on");
        let stderr = run.stderr() + &run.rest();
        assert!(
            status.code().is_some() && stderr.contains("the budget ended after"),
            "{status}: {stderr}"
        );
    }
}

#[test]
fn file_size_limit_is_an_error() {
    let home = Home::new();
    let mut command = home.std(&format!("--batch --dir . --size 8m {QUICK} --no-save"));
    kernel::limit_files(&mut command, 1 << 20);
    let ran = output(&mut command);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(stderr_of(&ran).contains("ulimit -f"), "{}", stderr_of(&ran));
}

#[test]
fn blocked_stdout_is_an_error() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = format!("{RUN} {QUICK} --no-save");
    let lines = [
        "--help",
        "-h",
        "--version",
        "--list backends",
        "--generate man",
        "host",
        "sessions list",
        "sessions --help",
        &run,
    ];
    let dry = format!("{run} --dry-run");
    let jsonl = format!("{run} --format jsonl");
    for line in lines.into_iter().chain([dry.as_str(), &jsonl]) {
        for to in [">&-", "1</dev/null", ">/dev/full"] {
            let own = home.std(line);
            let mut command = Command::new("sh");
            command
                .args(["-c", &format!("exec \"$@\" {to}"), "sh"])
                .arg(own.get_program())
                .args(own.get_args())
                .current_dir(home.path(""));
            command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let ran = output(&mut command);
            let stderr = stderr_of(&ran);
            assert_eq!(ran.status.code(), Some(1), "{line} {to}: {stderr}");
            assert!(
                stderr.contains("cannot write to stdout") && stderr.lines().count() == 1,
                "{line} {to}: {stderr}"
            );
        }
        // With `-o`, an unwritable stdout does not matter.
        if line == run {
            let mut command = home.std(&format!("{run} -o out"));
            command.stdout(File::open("/dev/null").unwrap()).stderr(Stdio::null());
            assert!(command.status().unwrap().success());
        }
    }
}

#[test]
fn refused_system_calls_do_not_panic() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    fn quiet(ran: &Output, what: &str) {
        assert!(ran.status.code().is_some_and(|code| code < 2), "{what}: {ran:?}");
        assert!(
            !stderr_of(ran).contains("panicked") && !stderr_of(ran).contains("bug in iotui"),
            "{what}: {}",
            stderr_of(ran)
        );
    }
    let mut asleep = home.std(&format!(
        "--batch data.bin -b read,tokio,uring -s 64k -c cold,warm --no-save {QUICK}"
    ));
    kernel::forbid(&mut asleep, libc::SYS_clock_nanosleep);
    quiet(&output(&mut asleep), "sleep");
    let mut alone = home.std(&format!("{RUN} --no-save {QUICK}"));
    kernel::forbid(&mut alone, libc::SYS_clone3);
    kernel::forbid(&mut alone, libc::SYS_clone);
    let ran = output(&mut alone);
    quiet(&ran, "threads");
    assert!(
        ran.status.code() == Some(1) && stderr_of(&ran).contains("cannot start a thread"),
        "{}",
        stderr_of(&ran)
    );
}

/// Runs as a separate user with a limited number of threads.
#[test]
fn thread_limit_fails_the_cell() {
    const USER: u32 = 61_234;
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    if !is_root() {
        return skip("only root can become another user");
    }
    let base = home.path("..");
    ["", "home", "data", "work", "work/data.bin"]
        .iter()
        .for_each(|name| chown(base.join(name), Some(USER), Some(USER)).unwrap());
    for threads in 1..9 {
        let mut command =
            home.std(&format!("--batch data.bin -b tokio,read -s 64k -c warm --no-save {QUICK}"));
        command.uid(USER).gid(USER);
        kernel::limit(&mut command, libc::RLIMIT_NPROC, threads);
        let ran = match command.stdin(Stdio::null()).output() {
            Ok(ran) => ran,
            Err(error) => return skip(&format!("another user cannot run it: {error}")),
        };
        assert!(ran.status.code().is_some_and(|code| code < 2), "{threads}: {ran:?}");
        assert!(
            !stderr_of(&ran).contains("panicked") && !stderr_of(&ran).contains("bug in iotui"),
            "{threads}: {}",
            stderr_of(&ran)
        );
    }
}

#[test]
fn address_space_limit_is_an_error() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let lines = [
        "sessions list",
        RUN,
        "--batch data.bin -b all -t 4 -s 64k -c warm",
        "--batch --probe call,latency",
        "--version",
    ];
    for mebibytes in 8..=64u64 {
        // Where the program just fits depends on its size.
        let tried = if mebibytes % 8 == 0 { lines.len() } else { 1 };
        for line in &lines[..tried] {
            let mut command =
                home.std(&format!("{line} {}", if line.contains("batch") { QUICK } else { "" }));
            kernel::limit_memory(&mut command, mebibytes << 20);
            let Ok(ran) = command.stdin(Stdio::null()).output() else { continue };
            let stderr = stderr_of(&ran);
            // If not even the program fits, the loader fails in its own way.
            if ran.status.code() == Some(127)
                || ran.status.signal() == Some(libc::SIGSEGV) && stderr.is_empty()
            {
                continue;
            }
            assert!(
                ran.status.code().is_some_and(|code| code < 2),
                "{mebibytes} MiB, {line}: {:?}: {stderr}",
                ran.status
            );
            assert!(
                !stderr.contains("memory allocation of") && !stderr.contains("panicked"),
                "{mebibytes} MiB, {line}: {stderr}"
            );
        }
    }
}
