//! Another process renames, exchanges and links files while iotui writes, or kills it: the user's
//! files stay unchanged, and nothing is left behind.
//!
//! `IOTUI_RACE_ROUNDS` sets how often each race is run.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::common::child::Run;
use crate::common::kernel::ControlGroup;
use crate::common::{self, Home, data};
use nix::sys::signal::Signal;

const LONG: Duration = Duration::from_secs(120);
const LEN: usize = 100_000;
const WRITE: &str = "--batch --op write new.bin --size 64k -b pread,uring,mmap-copy -s 4k --trials 3 --trial-time 1ms --budget 1m --no-save";

fn rounds() -> u64 {
    std::env::var("IOTUI_RACE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(8)
}

/// A file of the user, watched by its descriptor, whatever its name becomes.
struct Precious {
    file: File,
    bytes: Vec<u8>,
}

impl Precious {
    fn new(path: &Path) -> Precious {
        let bytes = data::random(LEN, 7);
        data::write(path, &bytes);
        Precious { file: File::open(path).unwrap(), bytes }
    }

    fn assert_unchanged(&self, round: u64) {
        let meta = self.file.metadata().unwrap();
        assert_eq!((meta.len(), meta.nlink()), (LEN as u64, 1), "round {round}");
        let mut now = vec![0; LEN];
        self.file.read_exact_at(&mut now, 0).unwrap();
        let changed = now.iter().zip(&self.bytes).filter(|(now, before)| now != before).count();
        assert_eq!(changed, 0, "bytes changed in round {round}");
    }
}

fn start(home: &Home, line: &str) -> Run {
    Run::start(home.std(line).stderr(Stdio::piped()))
}

fn end(run: &mut Run) -> ExitStatus {
    run.rest();
    run.end(LONG).expect("it ends")
}

/// Waits for a different time in each round, up to `most`.
fn wait_a_moment(round: u64, most: Duration) {
    let begin = Instant::now();
    let share = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44;
    let moment = most.mul_f64(share as f64 / (1u64 << 20) as f64);
    while begin.elapsed() < moment {
        std::thread::yield_now();
    }
}

fn exchange(a: &Path, b: &Path) {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    let [a, b] = [a, b].map(|path| CString::new(path.as_os_str().as_bytes()).unwrap());
    // SAFETY: renameat2(2) reads two paths, which end with a zero and outlive the call; it fails
    // while one of them is not there.
    unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            a.as_ptr(),
            libc::AT_FDCWD,
            b.as_ptr(),
            libc::RENAME_EXCHANGE,
        )
    };
}

/// Exchanges `new.bin` and `other` repeatedly while iotui writes `new.bin`; as another user if
/// `stranger`.
fn exchanged(home: &Home, other: &Path, stranger: bool, watched: &Precious) {
    let mut disturbed = 0;
    for round in 0..rounds() {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                if stranger {
                    nix::unistd::setfsuid(65534.into());
                }
                while !over.load(Relaxed) {
                    exchange(&home.path("new.bin"), other);
                }
            });
            let mut run = start(home, WRITE);
            disturbed += u64::from(!end(&mut run).success());
            over.store(true, Relaxed);
        });
        watched.assert_unchanged(round);
        // iotui did not create the user's file.
        let [new, other_now] = [home.path("new.bin"), other.to_path_buf()]
            .map(|path| fs::symlink_metadata(path).unwrap());
        let swapped =
            new.file_type().is_symlink() || new.ino() == watched.file.metadata().unwrap().ino();
        assert!(
            swapped
                != (other_now.file_type().is_symlink()
                    || other_now.ino() == watched.file.metadata().unwrap().ino())
        );
        if swapped {
            exchange(&home.path("new.bin"), other);
        }
        fs::remove_file(home.path("new.bin")).unwrap();
        assert_no_leftovers(home);
    }
    eprintln!("{} rounds, {disturbed} were warned", rounds());
}

fn assert_no_leftovers(home: &Home) {
    assert!(home.names().iter().all(|name| !name.contains("iotui-")), "{:?}", home.names());
}

#[test]
fn moved_file_keeps_its_bytes() {
    let home = Home::new();
    let begin = Instant::now();
    end(&mut start(&home, WRITE));
    let took = begin.elapsed();
    for round in 0..rounds() {
        let _ = fs::remove_file(home.path("new.bin"));
        let mine = Precious::new(&home.path("mine"));
        let mut run = start(&home, WRITE);
        wait_a_moment(round, took);
        fs::rename(home.path("mine"), home.path("new.bin")).unwrap();
        end(&mut run);
        mine.assert_unchanged(round);
        assert_eq!(home.names(), ["new.bin"]);
    }
}

#[test]
fn exchanged_file_keeps_its_bytes() {
    let home = Home::new();
    let mine = Precious::new(&home.path("mine"));
    exchanged(&home, &home.path("mine"), false, &mine);
}

#[test]
fn exchanged_link_is_not_followed() {
    let home = Home::new();
    let outside = Precious::new(&home.home().join("outside"));
    symlink(home.home().join("outside"), home.path("link")).unwrap();
    exchanged(&home, &home.path("link"), false, &outside);
}

#[test]
fn root_follows_no_strangers_link() {
    if !nix::unistd::geteuid().is_root() {
        return common::skip("only root can be lured into that");
    }
    let home = Home::new();
    let secret = Precious::new(&home.home().join("secret"));
    fs::set_permissions(home.home().join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink(home.home().join("secret"), home.path("link")).unwrap();
    let folder = home.path("");
    fs::set_permissions(folder.parent().unwrap(), fs::Permissions::from_mode(0o711)).unwrap();
    std::os::unix::fs::chown(&folder, Some(65534), Some(65534)).unwrap();
    std::os::unix::fs::lchown(home.path("link"), Some(65534), Some(65534)).unwrap();
    exchanged(&home, &home.path("link"), true, &secret);
}

#[test]
fn unfinished_fill_leaves_the_new_file() {
    let home = Home::new();
    for (line, interrupt) in [("--budget 1h", true), ("--budget 60ms", false)] {
        let mut filling = 0;
        for round in 0..rounds() {
            let mine = Precious::new(&home.path("mine"));
            let _ = fs::remove_file(home.path("new.bin"));
            let mut run = start(
                &home,
                &format!("--batch --op write new.bin --size 1g -b pread -s 64k --no-save {line}"),
            );
            filling += u64::from(run.fills_a_file_in(&home.path("")));
            fs::rename(home.path("mine"), home.path("new.bin")).unwrap();
            if interrupt && run.end(Duration::ZERO).is_none() {
                run.signal(Signal::SIGINT);
            }
            end(&mut run);
            mine.assert_unchanged(round);
            assert_eq!(home.names(), ["new.bin"]);
        }
        assert!(filling > 0);
    }
}

#[test]
fn name_taken_during_fill_is_reported() {
    let home = Home::new();
    let mine = Precious::new(&home.path("mine"));
    let line = "--batch --op write new.bin --size 64m -b pread -s 64k --trials 1 --trial-time 1ms --no-save";
    let mut run = start(&home, line);
    assert!(run.fills_a_file_in(&home.path("")));
    fs::rename(home.path("mine"), home.path("new.bin")).unwrap();
    let status = end(&mut run);
    let stderr = run.stderr();
    assert!(
        status.code() == Some(1)
            && stderr.contains("took this name")
            && stderr.contains("choose another name"),
        "{status} {stderr}"
    );
    mine.assert_unchanged(0);
}

/// Waits until the run has a hidden folder, which it has most of the time.
fn wait_for_hidden(home: &Home) {
    let begin = Instant::now();
    while hidden(home.names()).is_empty() && begin.elapsed() < LONG {
        std::thread::yield_now();
    }
}

fn hidden(names: Vec<String>) -> Vec<String> {
    names.into_iter().filter(|name| name.starts_with('.')).collect()
}

/// The leftovers of a kill at a random moment, and nothing else, are removed and named by the next
/// run on a file in that folder.
#[test]
fn leftovers_of_kills_are_removed() {
    let kinds = [
        "--op write new.bin --size 4m -b pread -s 64k --trial-time 1ms --trials 3",
        "--dir . --keep --size 4m -b pread -s 64k --trial-time 1ms --trials 3",
        "--dir . --size 4m -b pread,copy-range -s 64k --trial-time 1ms --trials 3",
        "--dir . --probe metadata --trials 100000 --trial-time 1ms",
        "data.bin -b read -s 64k --trials 1 --trial-time 1ms -o report.json",
    ];
    for kind in kinds {
        let home = Home::new();
        home.file("data.bin", 1 << 20);
        let next = "--batch data.bin -b pread -s 64k --trials 1 --trial-time 1ms --ceilings never --budget 1m --format json -o next.json";
        let mut left = 0;
        for round in 0..rounds() {
            let mut run = start(&home, &format!("--batch {kind} --budget 1m"));
            if kind.contains("--probe") {
                wait_for_hidden(&home);
                wait_a_moment(round, Duration::from_millis(50));
            } else {
                wait_a_moment(round, Duration::from_millis(600));
            }
            run.signal(Signal::SIGKILL);
            end(&mut run);
            let before =
                [hidden(home.names()), hidden(common::names(&home.sessions_dir()))].concat();
            // Requested files are complete.
            for name in
                home.names().iter().filter(|name| name.ends_with(".bin") && *name != "data.bin")
            {
                assert_eq!(fs::metadata(home.path(name)).unwrap().len(), 4 << 20, "{kind}: {name}");
                fs::remove_file(home.path(name)).unwrap();
            }
            let mut run = start(&home, next);
            assert!(end(&mut run).success());
            let stderr = run.stderr();
            // A shell that outlives a probe may remove its folder first.
            let by_shell = kind.contains("--probe");
            assert!(
                by_shell || before.iter().all(|name| stderr.contains(name.as_str())),
                "{kind}: {before:?}: {stderr}"
            );
            let removed = stderr.lines().filter(|line| line.contains("removed ")).count();
            assert!(
                removed == before.len() || by_shell && removed < before.len(),
                "{kind}: {stderr}"
            );
            let names: Vec<String> =
                home.names().into_iter().filter(|name| name != "report.json").collect();
            assert_eq!(names, ["data.bin", "next.json"], "{kind}");
            assert!(hidden(common::names(&home.sessions_dir())).is_empty());
            left += before.len();
        }
        eprintln!("{kind}: {} kills left {left}", rounds());
        assert!(
            left > 0 || !kind.contains("--probe"),
            "{kind}: nothing was left that could be found"
        );
    }
}

/// A delegated memory control group, as systemd creates them; removed on drop.
struct Delegated(ControlGroup);

impl Delegated {
    /// Creates the group; `None` if impossible: it takes root and hierarchical cgroups of version
    /// 1.
    fn make() -> Option<Delegated> {
        let made = Delegated(ControlGroup::make("memory")?);
        let path = CString::new(made.0.path.as_os_str().as_encoded_bytes()).ok()?;
        // SAFETY: setxattr(2) reads two NUL-terminated strings and a value of one byte; all outlive
        // the call.
        let marked = unsafe {
            libc::setxattr(path.as_ptr(), c"trusted.delegate".as_ptr(), c"1".as_ptr().cast(), 1, 0)
        };
        let nested = fs::read_to_string(made.0.path.join("memory.use_hierarchy"))
            .is_ok_and(|on| on.trim() == "1");
        (marked == 0 && nested).then_some(made)
    }

    /// Starts the command's process in the group.
    fn hold(&self, command: &mut Command) {
        let processes =
            fs::OpenOptions::new().write(true).open(self.0.path.join("cgroup.procs")).unwrap();
        // SAFETY: between fork and exec it only makes one write(2), of bytes that live as long as
        // the program, to a file that the closure owns.
        unsafe { command.pre_exec(move || (&processes).write_all(b"0")) };
    }

    /// Lists the groups that iotui left in it.
    fn left(&self) -> Vec<String> {
        common::names(&self.0.path).into_iter().filter(|name| name.starts_with("iotui-")).collect()
    }
}

#[test]
fn leftover_control_group_is_removed() {
    let (home, group) = (Home::new(), Delegated::make());
    let Some(group) = group.filter(|_| home.on_disk()) else {
        return common::skip("no control group can be handed over here");
    };
    let probe = |trials: u32| {
        let line = format!(
            "--batch --dir . --probe file-cache --set file-cache.bytes=1m --trials {trials} --budget 1m --no-save -o next.txt"
        );
        let mut command = home.std(&line);
        group.hold(&mut command);
        Run::start(command.stderr(Stdio::piped()))
    };
    for round in 0..rounds().min(3) {
        let mut run = probe(100_000);
        let begin = Instant::now();
        while group.left().is_empty() && begin.elapsed() < LONG {
            std::thread::yield_now();
        }
        wait_a_moment(round, Duration::from_millis(50));
        run.signal(Signal::SIGKILL);
        end(&mut run);
        let before = group.left();
        // The process that read for it detects that it is alone, and ends.
        let alive = |name: &String| {
            fs::read_to_string(group.0.path.join(name).join("cgroup.procs"))
                .is_ok_and(|all| !all.is_empty())
        };
        while before.iter().any(alive) && begin.elapsed() < LONG {
            std::thread::yield_now();
        }
        let mut run = probe(1);
        assert!(end(&mut run).success());
        // Its lines are wrapped.
        let stderr = fs::read_to_string(home.path("next.txt"))
            .unwrap()
            .split_whitespace()
            .collect::<String>();
        assert!(before.iter().all(|name| stderr.contains(name.as_str())), "{before:?}: {stderr}");
        assert!(group.left().is_empty(), "{:?}", group.left());
    }
}

/// As left by a kill between its creation and its renaming.
#[test]
fn unfinished_report_is_removed() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let at = |name: &str| home.path(name);
    for name in [".iotui-0123456789abcdef.tmp", ".iotui-fedcba9876543210.tmp", ".iotui-mine.tmp"] {
        fs::write(at(name), "half").unwrap();
    }
    let used = File::open(at(".iotui-fedcba9876543210.tmp")).unwrap();
    // SAFETY: flock(2) takes numbers and touches no memory; the descriptor is open while `used`
    // lives.
    assert_eq!(unsafe { libc::flock(used.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }, 0);
    let mut run = start(
        &home,
        "--batch data.bin -b pread -s 64k --trials 1 --trial-time 1ms --no-save -o out.json",
    );
    assert!(end(&mut run).success());
    let stderr = run.stderr();
    assert!(
        stderr.contains("removed")
            && stderr.contains(".iotui-0123456789abcdef.tmp")
            && stderr.contains("killed"),
        "{stderr}"
    );
    assert_eq!(
        home.names(),
        [".iotui-fedcba9876543210.tmp", ".iotui-mine.tmp", "data.bin", "out.json"]
    );
}
