//! Bad input of every kind: one line with the remedy, the exit code, nothing on stdout, nothing
//! lost, nothing left behind.

use crate::common::{stderr_of, stdout_of};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::common::child::Run;
use crate::common::{self, Home, QUICK, data, kernel, output, skip};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;

/// Asserts a refusal: its code, one line that contains the words, and no other output.
fn assert_refused(home: &Home, command: &mut Command, code: i32, words: &[&str]) {
    let names = home.names();
    let output = output(command);
    let (stdout, stderr) = (stdout_of(&output), stderr_of(&output));
    let report =
        format!("{command:?}\nexit {:?}\nstdout: {stdout}\nstderr: {stderr}", output.status);
    assert_eq!(output.status.code(), Some(code), "{report}");
    assert_eq!(stdout, "", "{report}");
    assert!(stderr.ends_with('\n') && stderr.lines().count() == 1, "one line: {report}");
    assert!(stderr.starts_with("iotui: "), "{report}");
    assert!(!stderr.contains("panicked"), "{report}");
    let lower = stderr.to_lowercase();
    for word in words {
        assert!(lower.contains(&word.to_lowercase()), "{word:?} is missing: {report}");
    }
    assert_eq!(home.names(), names, "something was left or lost: {report}");
    assert!(home.sessions().is_empty(), "a session was kept: {report}");
}

fn refused(home: &Home, line: &str, words: &[&str]) {
    assert_refused(home, &mut home.std(&format!("--batch {QUICK} {line}")), 2, words);
}

#[test]
fn targets_that_cannot_be_measured() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    fs::write(home.path("empty.bin"), "").unwrap();
    fs::create_dir(home.path("folder")).unwrap();
    nix::unistd::mkfifo(&home.path("pipe"), Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(home.path("socket"));
    let before = data::Print::of(&home.path("data.bin"));
    for (line, words) in [
        ("missing.bin", &["missing.bin: no such file", "--op write"][..]),
        ("folder/missing.bin", &["folder/missing.bin: no such file"]),
        ("/dev/missing", &["/dev/missing: no such device; lsblk lists them"]),
        ("/dev/disk/missing --op write", &["/dev/disk/missing: no such device"]),
        ("data.bin/below", &["data.bin/below: "]),
        ("empty.bin", &["empty.bin is empty"]),
        ("folder", &["folder is a directory", "--dir"]),
        ("pipe", &["pipe is a pipe (FIFO)"]),
        ("socket", &["socket is a socket"]),
        ("/dev/null", &["/dev/null is a character device"]),
        ("data.bin --op write", &["data.bin exists", "iotui writes only"]),
        ("/dev/null --op write", &["/dev/null exists"]),
        ("missing/new.bin --op write", &["missing: "]),
        ("data.bin --dir .", &["--dir and --keep", "data.bin"]),
        ("--dir missing", &["missing: ", "--dir"]),
        ("--dir data.bin", &["data.bin: "]),
    ] {
        refused(&home, line, words);
        // The same before anything is run.
        refused(&home, &format!("--dry-run {line}"), words);
    }
    assert_eq!(data::Print::of(&home.path("data.bin")), before);
}

#[test]
fn numbers_that_make_no_sense() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for (line, words) in [
        ("-s 0", &["block size of 0"][..]),
        ("-s 2m", &["2 MiB", "larger than the measured span of 1 MiB", "use -s 1m or less"]),
        (
            "-s 1k,4k --size 1000",
            &["1 KiB", "larger than the measured span of 1000 B", "use -s 1000 or less"],
        ),
        ("-s many", &["--block-size", "'many'"]),
        ("-s 4x", &["--block-size", "4x"]),
        ("-s -1", &["--block-size", "'-1'"]),
        ("-s 8m..1k", &["--block-size", "runs backwards"]),
        ("-s 1..1g+1", &["--block-size", "more than"]),
        ("-s 0..8k", &["--block-size", "never ends"]),
        ("-s 4k,,8k", &["--block-size", "empty"]),
        ("-s 2g", &["2 GiB", "maximum is 1 GiB"]),
        ("-s 99999999999999999999", &["--block-size"]),
        ("-s 18446744073709551615 -n 18446744073709551615", &["the maximum is"]),
        ("-s 512m -n 18446744073709551615", &["larger than the measured span of 1 MiB"]),
        ("-s 4k -n 18446744073709551615", &["use -n 256 or less"]),
        ("-s 4k -n 257", &["use -n 256 or less"]),
        ("-s 7 -n 1000000000000", &["use -n 149797 or less"]),
        ("-s 4k --size 10000 -n 4", &["use -n 3 or less"]),
        ("-s 1..1000+1 -n 1..100+1", &["100000 combinations", "the limit is 10000"]),
        ("-n some", &["--count", "'some'"]),
        ("-n -5", &["--count", "'-5'"]),
        ("--size 0", &["--size 0 leaves nothing"]),
        ("--size 2m", &["2 MiB", "the file's 1 MiB"]),
        ("-t 0", &["--threads", "between 1 and 1024"]),
        ("-t 100000", &["--threads", "between 1 and 1024"]),
        ("-q 0", &["--depth", "between 1 and 4096"]),
        ("--trials 0", &["--trials"]),
        ("--trials many", &["--trials", "'many'"]),
        ("--budget 0s", &["--budget", "above 0"]),
        ("--trial-time 9s..1s", &["--trial-time", "backwards"]),
        ("--seed x", &["--seed"]),
    ] {
        // The options of QUICK would be given twice.
        let quick = if line.contains("--trial") || line.contains("--budget") { "" } else { QUICK };
        assert_refused(
            &home,
            &mut home.std(&format!("--batch data.bin -b read -c warm {quick} {line}")),
            2,
            words,
        );
    }
}

#[test]
fn unknown_name_suggests_nearest() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for (line, words) in [
        ("-b raed", &["unknown backend 'raed'", "did you mean read"][..]),
        ("-b read,nap", &["unknown backend 'nap'"]),
        ("-b read+libcc", &["libcc", "did you mean libc"]),
        ("-b stdio+buf", &["stdio+buf=SIZE"]),
        ("-b mmap+huge=2m", &["takes no value"]),
        ("-p quik", &["unknown preset 'quik'", "did you mean quick"]),
        ("--format jsno", &["unknown format 'jsno'", "did you mean json"]),
        ("--op reed", &["--op", "did you mean read"]),
        ("--pattern sek", &["--pattern", "seq"]),
        ("--pattern stride:1", &["--pattern", "stride"]),
        ("--pattern zipf", &["--pattern", "zipf:0.99"]),
        ("--pattern zipf:6", &["--pattern", "0.001 to 5"]),
        ("--pattern zip:0.99", &["--pattern", "zipf:THETA"]),
        ("--pattern hot:80/20", &["--pattern", "did you mean hot:20/80?"]),
        ("--pattern hot:20", &["--pattern", "hot:20/80"]),
        ("--cache colt", &["--cache", "did you mean cold"]),
        ("--sync ent --op write", &["--sync", "did you mean end"]),
        ("--color sometimes", &["--color", "always"]),
        ("--blok-size 4k", &["--blok-size", "--block-size"]),
    ] {
        refused(&home, &format!("data.bin {line}"), words);
    }
    for (line, words) in [
        ("--list backend", &["--list", "backends"][..]),
        ("--generate pash", &["--generate", "bash"]),
        ("--list backends --format csv", &["csv"]),
    ] {
        assert_refused(&home, &mut home.std(line), 2, words);
    }
}

#[test]
fn combinations_that_cannot_be() {
    let home = Home::new();
    home.file("data.bin", (1 << 20) + 1);
    for (line, words) in [
        ("-b pread -q 32", &["depth 32", "synchronous", "--depth 1 or -b uring"][..]),
        ("-b mmap --direct", &["mmap does not support direct I/O"]),
        ("-b splice --xor", &["splice passes no data to the program", "leave out --xor"]),
        ("-b read --mix 50", &["read cannot mix reads and writes", "pread, uring, aio can"]),
        ("-b pread --mix 50 --xor", &["leave out --xor or --mix"]),
        ("--mix 50 --op read", &["--mix both reads and writes; leave out --op"]),
        ("--mix 101", &["percentage of reads from 0 to 100"]),
        ("--cpu-cache wash", &["unknown CPU cache state"]),
        ("-b pread+sequential+random", &["contradicts"]),
        ("-b readv+parts=1025", &["between 1 and 1024"]),
        ("-b uring+submit=0", &["between 1 and 4096"]),
        ("-b uring+complete=4097", &["between 1 and 4096"]),
        ("-b uring+submit=x", &["uring+submit=x: not a number between 1 and 4096"]),
        ("-b uring+submit", &["needs a value: uring+submit=N"]),
        ("-b uring+submit=2+submit=4", &["+submit is given twice"]),
        ("-b uring+iopoll=1", &["+iopoll takes no value"]),
        ("-b uring+iopoll", &["add --direct"]),
        ("-b uring+nop+iopoll --direct", &["leave out one"]),
        ("-b uring+nop --op write --size 1m", &["uring+nop cannot write"]),
        ("-b read --direct -c warm", &["warm", "--direct"]),
        ("--pattern zipf:0.99 --xor", &["zipf:0.99 visits some blocks again", "leave out --xor"]),
        ("--pattern hot:20/80 --fresh -c cold", &["--fresh", "patterns that repeat blocks"]),
        ("-b fio --pattern zipf:0.99", &["fio does not support the pattern zipf:0.99"]),
        (
            "-b uring -q 4 --pattern hot:20/80 --verify --op write --size 1m",
            &["--verify cannot tell which is the last", "--depth 1"],
        ),
        ("-b sendfile --op write", &["sendfile cannot write", "mmap-copy"]),
        ("-b seek --op write --size 1m", &["seek cannot write"]),
        ("-b pread --op seek", &["pread cannot seek"]),
        ("--sync end", &["--sync applies only to writes", "--op write"]),
        ("--cold meta -c warm", &["--cold", "add --cache cold"]),
        ("--cold all --direct", &["--cold", "add --cache cold"]),
        ("--compressible 50", &["--compressible applies only to data that iotui writes"]),
        ("--dedupe 101", &["percentage from 0 to 100"]),
        ("--mix -1", &["percentage of reads from 0 to 100"]),
        ("-b mmap --mix 50", &["mmap cannot mix", "pread, uring, aio can"]),
        ("-b mmap+shared+shared", &["mmap+shared+shared: +shared is given twice"]),
        ("-b dd+psync", &["dd takes no options, but got 'psync'"]),
        ("--save a --no-save", &["--no-save"]),
    ] {
        let line = if ["--op write", "--mix"].iter().any(|own| line.contains(own)) {
            line.to_string()
        } else {
            format!("data.bin {line}")
        };
        refused(&home, &line, words);
    }
    let direct =
        fs::OpenOptions::new().read(true).custom_flags_direct().open(home.path("data.bin"));
    match direct {
        Ok(_) => refused(&home, "data.bin -b pread --direct -s 1000", &["multiple of", "1000"]),
        Err(error) => skip(&format!("no direct I/O here: {error}")),
    }
}

#[test]
fn shapes_of_files_that_cannot_be() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for (line, words) in [
        ("-b mmap-copy --writes append", &["mmap-copy cannot append", "read,"][..]),
        ("-b uring --writes append -q 4", &["starts with an empty file", "--depth 1"]),
        ("-b pread --writes append --pattern random", &["written in order", "--pattern seq"]),
        ("-b pread --writes append --pattern zipf:1", &["written in order", "--pattern seq"]),
        (
            "-b pread --writes preallocated --pattern zipf:1",
            &["each block is written once", "--pattern random"],
        ),
        ("-b pread --writes append --mix 50", &["nothing to read", "omit --mix"]),
        ("--op read --writes append", &["append and preallocated apply only to", "--op write"]),
        ("--writes append data.bin", &["exists, and iotui writes only"]),
        ("-b pread --writes preallocated --mix 50", &["without data", "omit --mix"]),
        ("--op read --file-per thread -t 2", &["--file-per thread applies only to", "--op write"]),
        ("-b pread --file-per thread -t 65", &["at most 64 threads", "--threads 64 or less"]),
        ("-b pread --file-per thread -t 8 -s 4k --size 16k", &["only 4 blocks for 8 files"]),
        (
            "-b pread --file-per thread -t 2 --keep",
            &["files of threads are always removed", "--keep"],
        ),
    ] {
        refused(&home, line, words);
    }
}

#[test]
fn impossible_combination_is_skipped_with_reason() {
    let home = Home::new();
    home.file("data.bin", (1 << 20) + 1);
    let document =
        home.json(&format!("--batch data.bin -b pread,uring -q 1,32 -c warm -s 4k,4m {QUICK}"));
    let reasons = document["skipped"].to_string();
    assert!(reasons.contains("synchronous") && reasons.contains("larger than"), "{reasons}");
    let document =
        home.json(&format!("--batch --op write --dir . --size 1m -b pread,seek -s 64k {QUICK}"));
    assert_eq!(common::each(&document["skipped"], "reason").len(), 1, "{}", document["skipped"]);
    assert!(
        document["skipped"][0]["reason"].as_str().unwrap().contains("seek cannot write"),
        "{}",
        document["skipped"]
    );
}

#[test]
fn file_too_small_names_fitting_block() {
    let home = Home::new();
    home.file("small.bin", 1000);
    refused(
        &home,
        "small.bin",
        &["larger than the measured span of 1000 B", "use -s 1000 or less"],
    );
    refused(&home, "small.bin -p raw", &["use -s 1000 or less"]);
    for line in ["small.bin -s 1000", "small.bin -s 4k,512"] {
        home.cmd(&format!("--batch {line} --no-save {QUICK}")).assert().success();
    }
}

/// Sets O_DIRECT by name.
trait Direct {
    fn custom_flags_direct(&mut self) -> &mut Self;
}

impl Direct for fs::OpenOptions {
    fn custom_flags_direct(&mut self) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::custom_flags(self, libc::O_DIRECT)
    }
}

#[test]
fn uring_forbidden() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = |line: &str| {
        let mut command =
            home.std(&format!("--batch data.bin -s 64k -c warm --no-save {QUICK} {line}"));
        kernel::forbid_uring(&mut command);
        command
    };
    assert_refused(&home, &mut run("-b uring"), 2, &["io_uring: EPERM"]);
    let output = output(&mut run("-b pread,uring --format json"));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(document["results"].as_array().unwrap().len(), 1);
    assert_eq!(document["skipped"][0]["cell"]["backend"], "uring");
    assert!(document["skipped"][0]["reason"].as_str().unwrap().contains("io_uring: EPERM"));
}

/// If not refused, it would claim two processes on one CPU, wherever the scheduler put them.
#[test]
fn pinned_probe_needs_cpu_binding() {
    if nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0))
        .is_ok_and(|set| (0..1024).filter(|n| set.is_set(*n).unwrap_or(false)).count() < 2)
    {
        return common::skip("one CPU only");
    }
    let home = Home::new();
    let mut command = home.std(&format!("--batch --probe switch-process --no-save {QUICK}"));
    kernel::forbid(&mut command, libc::SYS_sched_setaffinity);
    assert_refused(&home, &mut command, 2, &["cannot pin to a CPU", "sched_setaffinity"]);
}

#[test]
fn unreadable_file_is_refused() {
    let home = Home::new();
    let file = home.file("data.bin", 1 << 20);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let user = |line: &str| {
        let mut command = home.std(&format!("--batch {QUICK} {line}"));
        kernel::without_override(&mut command);
        command
    };
    if fs::File::open(&file).is_ok() && !common::is_root() {
        return skip("this user may read everything");
    }
    assert_refused(&home, &mut user("data.bin"), 2, &["data.bin: permission denied"]);
    fs::create_dir(home.path("locked")).unwrap();
    fs::set_permissions(home.path("locked"), fs::Permissions::from_mode(0o500)).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    for line in [
        "--dir locked",
        "--op write locked/new.bin",
        "data.bin -o locked/out",
        "--op write -o locked/out",
    ] {
        assert_refused(&home, &mut user(line), 2, &["locked", "Permission denied"]);
    }
    // A read-only file is measured.
    let ran = output(user("data.bin -b read -s 64k --no-save").stderr(Stdio::piped()));
    assert!(ran.status.success(), "{}", stderr_of(&ran));
}

#[test]
fn outputs_that_cannot_be_written() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    fs::create_dir(home.path("folder")).unwrap();
    for (to, words) in [
        ("missing/out", &["missing/out", "does not exist"][..]),
        ("folder", &["folder"]),
        ("data.bin/out", &["data.bin/out"]),
        ("folder/", &["folder"]),
    ] {
        // Detected before the run: creating a scratch file of this size would take a while.
        refused(&home, &format!("-o {to}"), words);
        refused(&home, &format!("data.bin -o {to} --dry-run"), words);
    }
}

#[test]
fn failed_output_is_reported_once() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let run = format!("--batch data.bin -b read -s 64k -c warm --no-save {QUICK}");
    let lines = [
        run.as_str(),
        "--batch data.bin --dry-run",
        "host",
        "sessions list",
        "--list backends",
        "--generate zsh",
    ];
    for line in lines {
        for to in ["-o /dev/full", "-o missing/out", "-o .", ""] {
            let mut command = home.std(&format!("{line} {to}"));
            command
                .stdin(Stdio::null())
                .stderr(Stdio::piped())
                .stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
            let ran = command.spawn().unwrap().wait_with_output().unwrap();
            let stderr = stderr_of(&ran);
            assert!(matches!(ran.status.code(), Some(1 | 2)), "{line} {to}: {stderr}");
            assert_eq!(stderr.matches("cannot write").count(), 1, "{line} {to}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{line} {to}: {stderr}");
        }
    }
    home.cmd("--generate man -o iotui.1").assert().success().stdout("");
    assert!(fs::read_to_string(home.path("iotui.1")).unwrap().contains(".TH"));
}

#[test]
fn an_output_that_is_the_target() {
    let home = Home::new();
    let file = home.file("data.bin", 1 << 20);
    std::os::unix::fs::symlink("data.bin", home.path("link")).unwrap();
    fs::hard_link(&file, home.path("second")).unwrap();
    let before = data::Print::of(&file);
    for line in [
        "data.bin -o data.bin",
        "data.bin -o ./data.bin",
        "data.bin -o link",
        "link -o data.bin",
        "data.bin -o second",
    ] {
        refused(&home, line, &["is the file being measured"]);
    }
    refused(&home, "--op write new.bin -o ../work/new.bin", &["is the file being measured"]);
    assert_eq!(data::Print::of(&file), before);
}

#[test]
fn names_that_would_steer_a_terminal() {
    let home = Home::new();
    for name in ["two\nlines", "\u{1b}[31mred", "tab\there\r"] {
        for option in ["", "-o", "--dir", "-b", "--save"] {
            let mut command = home.std(&format!("--batch --no-save {QUICK} {option}"));
            // Without these arguments there would be nothing to measure, which is refused as well.
            let output = output(command.arg(name).args(["--size", "0"]));
            let stderr = stderr_of(&output);
            assert_eq!(output.status.code(), Some(2), "{option} {name:?}: {stderr}");
            assert!(
                !stderr.trim_end().chars().any(|c| c.is_control() && c != '\n'),
                "{option} {name:?}: {stderr:?}"
            );
            assert!(stderr.lines().count() == 1, "{option} {name:?}: {stderr:?}");
        }
    }
}

#[test]
fn a_read_only_file_system() {
    let home = Home::new();
    let at = home.path("disk");
    kernel::with_tmpfs(&at, "8m", || {
        data::write(&at.join("data.bin"), &data::random(1 << 20, 1));
        kernel::remount_read_only(&at);
        for line in ["--dir disk", "--op write disk/new.bin", "data.bin -o disk/out"] {
            data::write(&home.path("data.bin"), &data::random(1 << 20, 1));
            refused(&home, line, &["disk", "read-only file system"]);
        }
        // Reading it is fine.
        home.cmd(&format!("--batch disk/data.bin -b read -s 64k --no-save {QUICK}"))
            .assert()
            .success();
    });
}

#[test]
fn a_disk_without_room() {
    let home = Home::new();
    let at = home.path("disk");
    kernel::with_tmpfs(&at, "8m", || {
        refused(&home, "--dir disk --size 9m", &["9 MiB", "8 MiB free", "--size", "--dir"]);
        refused(&home, "--op write disk/new.bin --size 1g", &["1 GiB", "free"]);
        // Each file fits, but not both.
        let mut both = home.std(&format!("--batch {QUICK} --dir disk --size 5m"));
        both.arg("--neighbour=-b pread -s 64k --size 5m");
        assert_refused(&home, &mut both, 2, &["10 MiB needed", "8 MiB free", "--size"]);
        refused(
            &home,
            "--dir disk --size free --op write --writes overwrite,append",
            &["12 MiB needed"],
        );
        data::write(&at.join("data.bin"), &data::random(4096, 1));
        refused(&home, "disk/data.bin --size free", &["--size free", "that iotui makes"]);
        std::fs::remove_file(at.join("data.bin")).unwrap();
        let free = "--batch --dir disk --size free -b pread -s 64k --op write --dry-run";
        let planned = output(&mut home.std(free));
        assert!(stdout_of(&planned).contains("6 MiB"), "{planned:?}");
        let thrice = "--batch --dir disk --size 2m --precondition 3 -b pread -s 64k --dry-run";
        let planned = output(&mut home.std(thrice));
        assert!(stdout_of(&planned).contains("writes  6 MiB to make the file"), "{planned:?}");
        assert_eq!(common::names(&at), [""; 0]);
        data::write(&at.join("other"), &data::random(8 << 20, 1));
        refused(&home, "--dir disk", &["disk", "free"]);
        refused(&home, "--dir disk --size free", &["not enough space in", "free"]);
    });
}

/// Extends the file until the disk is full.
fn take_all_room(file: &fs::File) {
    let (mut len, mut step) = (0, 256 << 20);
    while step >= 4096 {
        match nix::fcntl::posix_fallocate(file, len, step) {
            Ok(()) => len += step,
            Err(_) => step /= 2,
        }
    }
}

#[test]
fn full_disk_ends_a_write() {
    let home = Home::new();
    let at = home.path("disk");
    kernel::with_tmpfs(&at, "256m", || {
        let mut command =
            home.std(&format!("--batch --op write disk/new.bin --size 200m {QUICK} -o out"));
        let free = || nix::sys::statvfs::statvfs(&at).unwrap().blocks_free();
        let before = free();
        let mut run = Run::start(command.stderr(Stdio::piped()));
        // The file has no name until it is complete; the shrinking free space shows that it is
        // being filled. Now another file takes the rest.
        let full_before = (200 << 20) / 4096;
        while before - free() < 256 && run.end(std::time::Duration::ZERO).is_none() {
            std::thread::yield_now();
        }
        run.signal(Signal::SIGSTOP);
        assert!(
            before - free() < full_before,
            "the file was whole before anybody could take its room"
        );
        take_all_room(&fs::File::create(at.join("other")).unwrap());
        run.signal(Signal::SIGCONT);
        let status = run.end(std::time::Duration::from_secs(60)).expect("the run ends");
        let (stdout, stderr) = (run.rest(), run.stderr());
        assert_eq!((status.code(), stdout.as_str()), (Some(1), ""), "{stderr}");
        assert!(stderr.contains("the disk is full") && stderr.contains("--size"), "{stderr}");
        assert_eq!(common::names(&at), ["other"], "what was made of the file is gone");
        assert_eq!(home.names(), ["disk"]);
    });
}
