//! Error messages: the failed call and its offset, or the option of the command line, in one line
//! that repeats nothing.

use crate::common::stderr_of;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::common::{Home, QUICK, kernel, output};

/// The option that the message begins with (or, after a `~`, contains), and the command line.
const REFUSED: &[(&str, &str)] = &[
    ("--block-size", "--batch data.bin -s many"),
    ("--block-size", "--batch data.bin -s 0"),
    ("--block-size", "--batch data.bin -s 2g"),
    ("--block-size", "--batch data.bin -s"),
    ("--block-size", "--batch data.bin -s 4k -s 8k"),
    ("--block-size", "--batch data.bin -s 8m..1k"),
    ("~ -s ", "--batch data.bin -s 2m"),
    ("--count", "--batch data.bin -n some"),
    ("~ -n ", "--batch data.bin -s 4k -n 257"),
    ("--size", "--batch data.bin --size 0"),
    ("~--size", "--batch data.bin --size 2m"),
    ("--threads", "--batch data.bin -t 0"),
    ("--depth", "--batch data.bin -q 0"),
    ("~--depth", "--batch data.bin -b pread -q 32"),
    ("--trials", "--batch data.bin --trials 0"),
    ("--trial-time", "--batch data.bin --trial-time 9s..1s"),
    ("--budget", "--batch data.bin --budget 0s"),
    ("--seed", "--batch data.bin --seed x"),
    ("--rated", "--batch data.bin --rated fast"),
    ("--expect", "--batch data.bin --expect p99=10ms"),
    ("--expect", "--batch data.bin --expect etdc"),
    ("--expect", "--batch data.bin -p quick --expect etcd"),
    ("--expect", "--batch data.bin --expect commits>=5"),
    ("--ceilings", "--batch data.bin --ceilings some"),
    ("--direct", "--batch data.bin --direct=maybe"),
    ("--direct", "--batch data.bin --direct --direct=no"),
    ("~--direct", "--batch data.bin -b mmap --direct"),
    ("~--direct", "--batch data.bin -b read --direct -c warm"),
    ("--xor", "--batch data.bin --xor=2"),
    ("~--xor", "--batch data.bin -b splice --xor"),
    ("--backend", "--batch data.bin -b raed"),
    ("--backend", "--batch data.bin -b read+x"),
    ("--backend", "--batch data.bin -b stdio+buf"),
    ("--backend", "--batch data.bin -b +x"),
    ("~--backend", "--batch -b sendfile --op write"),
    ("~--backend", "--batch -b mmap --mix 50"),
    ("--op", "--batch data.bin --op reed"),
    ("--pattern", "--batch data.bin --pattern sek"),
    ("--cache", "--batch data.bin --cache colt"),
    ("--cold", "--batch data.bin --cold foo"),
    ("--cold", "--batch data.bin --cold meta -c warm"),
    ("--compressible", "--batch --compressible many"),
    ("--dedupe", "--batch data.bin --dedupe 20"),
    ("--sync", "--batch --op write --sync ent"),
    ("--sync", "--batch data.bin --sync end"),
    ("--verify", "--batch data.bin --verify"),
    ("--verify", "--batch --verify"),
    ("--verify", "--batch --op write --verify --dedupe 10"),
    ("--verify", "--batch --op write --verify --compressible 95"),
    ("~--verify", "--batch --op write --verify -s 23 --size 1m"),
    ("--mix", "--batch --mix 101"),
    ("--mix", "--batch --mix 50 --op read"),
    ("--cpu-cache", "--batch data.bin --cpu-cache wash"),
    ("--probe", "--batch --probe nosuch"),
    ("--probe", "--probe latency,nosuch"),
    ("--set", "--probe latency --set latency.bogus=3"),
    ("--remote", "--batch --remote a:b:c --probe rtt"),
    ("--remote", "--batch data.bin --remote x"),
    ("--preset", "--batch data.bin -p quik"),
    ("--preset", "--batch data.bin -p fast,quick"),
    ("--dir", "--batch data.bin --dir ."),
    ("~--dir", "--batch --dir nosuch"),
    ("--output", "--batch data.bin -o nosuch/out"),
    ("--output", "--batch data.bin -o ."),
    ("~--output", "--batch data.bin -o data.bin"),
    ("--format", "--batch data.bin --format jsno"),
    ("--format", "--list backends --format csv"),
    ("--format", "host --format csv"),
    ("--format", "sessions export --format jsno nosuch"),
    ("--format", "sessions export nosuch"),
    ("--color", "--batch data.bin --color sometimes"),
    ("--color", "--color"),
    ("--unit", "--batch data.bin --unit foo"),
    ("--scale", "--batch data.bin --scale foo"),
    ("--graph", "--batch data.bin --graph dots"),
    ("--save", "--batch data.bin --save a --no-save"),
    ("--baseline", "--batch data.bin --baseline x --plan y"),
    ("--baseline", "--batch data.bin --fail-if-slower 5%"),
    ("--fail-if-slower", "--batch data.bin --baseline x --fail-if-slower abc"),
    ("--fail-if-slower", "--batch data.bin --baseline x --fail-if-slower -5"),
    ("--secret-file", "--batch data.bin --secret-file nosuch"),
    ("--secret-file", "serve --secret-file nosuch"),
    ("--list", "--list"),
    ("--list", "--list backend"),
    ("--generate", "--generate pash"),
    ("--batch", "--batch --batch data.bin"),
    ("--blok-size", "--batch data.bin --blok-size 4k"),
    ("-Z", "-Z"),
    ("--ascii", "--ascii=foo"),
    ("--help", "--help=foo"),
    ("--direct", "host --direct"),
    ("--listen", "serve --listen foo"),
    ("--listen", "serve --listen"),
    ("--listen", "serve --listen 0.0.0.0"),
    ("--port", "serve --port 1"),
    ("--output", "--output x"),
    ("--strict", "--strict data.bin"),
    ("lst", "sessions lst"),
    ("sessions", "sessions"),
    ("SESSION", "sessions show"),
    ("NAME", "sessions rename nosuch"),
    ("'b'", "sessions show a b"),
    ("'b'", "host data.bin b"),
    ("~other.bin", "--batch data.bin other.bin"),
    ("~data.bin", "--batch data.bin ./data.bin"),
    ("~fast", "--batch data.bin data2.bin -p fast"),
    ("host", "data.bin host"),
    ("--theme", "--batch --theme night"),
    ("--theme", "--theme nihgt"),
    ("--no-mouse", "--batch --no-mouse data.bin"),
    ("--until", "--batch --until 5% --probe clock"),
    ("--until", "--batch --until 5% --trials 3 data.bin"),
    ("--format", "host --format png"),
];

/// Asserts that no clause of a line occurs twice.
fn assert_nothing_twice(line: &str, stderr: &str) {
    let mut clauses: Vec<&str> =
        stderr.trim().split([':', ';']).map(str::trim).filter(|clause| clause.len() > 3).collect();
    let all = clauses.len();
    clauses.sort_unstable();
    clauses.dedup();
    assert_eq!(clauses.len(), all, "{line}: something is there twice: {stderr}");
}

#[test]
fn refusal_is_one_line_with_option() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    home.file("data2.bin", 1 << 20);
    for (option, line) in REFUSED {
        let ran = output(&mut home.std(line));
        let stderr = stderr_of(&ran);
        assert_eq!((ran.status.code(), ran.stdout.len()), (Some(2), 0), "{line}: {stderr}");
        assert!(stderr.ends_with('\n') && stderr.lines().count() == 1, "{line}: {stderr}");
        let rest = stderr.strip_prefix("iotui: ").unwrap_or_else(|| panic!("{line}: {stderr}"));
        match option.strip_prefix('~') {
            Some(option) => assert!(rest.contains(option), "{line}: {stderr}"),
            None => assert!(
                rest.starts_with(option)
                    && !rest[option.len()..].starts_with(char::is_alphanumeric),
                "{line}: {stderr}"
            ),
        }
        // As clap writes them: a condition of --expect has such a sign too.
        let is_placeholder = |(at, _)| rest[at + 1..].starts_with(|c: char| c.is_ascii_uppercase());
        let has_placeholder = rest.match_indices('<').any(is_placeholder);
        assert!(
            !rest.contains("error:") && !has_placeholder || rest.contains("usage: "),
            "{line}: {stderr}"
        );
        assert_nothing_twice(line, rest);
    }
    assert!(home.sessions().is_empty() && home.names() == ["data.bin", "data2.bin"]);
}

#[test]
fn invalid_utf8_names_its_option() {
    let home = Home::new();
    let bad = OsStr::from_bytes(b"a\xff");
    let joined = OsStr::from_bytes(b"--save=a\xff");
    for (option, words) in [
        ("--save: 'a\u{fffd}' ", [OsStr::new("--save"), bad]),
        ("-b: 'a\u{fffd}' ", [OsStr::new("-b"), bad]),
        ("--save: 'a\u{fffd}' ", [OsStr::new("--no-save"), joined]),
    ] {
        // A path may contain any bytes.
        let ran = output(home.std("--batch --dry-run").arg("--dir").arg(bad).args(words));
        let stderr = stderr_of(&ran);
        assert_eq!(stderr, format!("iotui: {option}is not valid UTF-8\n"), "{words:?}");
        assert_eq!(ran.status.code(), Some(2));
    }
}

#[test]
fn broken_preset_is_reported_once() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let presets = home.home().join(".config/iotui/presets");
    fs::create_dir_all(&presets).unwrap();
    fs::write(presets.join("mine.toml"), "about = ").unwrap();
    let ran = output(&mut home.std("--batch data.bin -p mine"));
    let stderr = stderr_of(&ran);
    assert_eq!(
        (ran.status.code(), stderr.lines().count(), stderr.matches("mine.toml").count()),
        (Some(2), 1, 1),
        "{stderr}"
    );
    assert!(stderr.starts_with("iotui: --preset: "), "{stderr}");
}

#[test]
fn unsavable_name_is_reported_once() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    fs::remove_dir_all(home.path("../data")).unwrap();
    fs::write(home.path("../data"), "no folder").unwrap();
    let ran = output(&mut home.std(&format!("--batch data.bin -b read -s 64k --save a {QUICK}")));
    let stderr = stderr_of(&ran);
    assert_eq!(
        (ran.status.code(), stderr.lines().count(), stderr.matches("not a directory").count()),
        (Some(2), 1, 1),
        "{stderr}"
    );
    assert!(!stderr.contains("os error"), "{stderr}");
}

/// Returns the error of the cell when its system call returns 0 bytes or an error.
fn cell(home: &Home, line: &str, call: i64, errno: i32) -> String {
    let mut command = home.std(&format!("--batch {line} -s 64k --no-save --format json {QUICK}"));
    kernel::refuse(&mut command, call, errno);
    let ran = output(&mut command);
    assert_eq!(ran.status.code(), Some(1), "{line}: {}", stderr_of(&ran));
    let document: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    document["results"][0]["error"]
        .as_str()
        .unwrap_or_else(|| panic!("{line}: {document}"))
        .to_string()
}

#[test]
fn failed_cell_names_call_and_offset() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let failed = "Input/output error (os error 5); the device failed: see the kernel log (dmesg)";
    let write = cell(&home, "--op write --size 1m -b readv", libc::SYS_pwritev, libc::EIO);
    assert_eq!(write, format!("pwritev(2) of 65536 bytes at offset 0: {failed}"));
    let read =
        cell(&home, "data.bin -b readv -c warm --pattern reverse", libc::SYS_preadv, libc::EIO);
    assert_eq!(read, format!("preadv(2) of 65536 bytes at offset 983040: {failed}"));
    let short = cell(&home, "data.bin -b readv -c warm", libc::SYS_preadv, 0);
    assert_eq!(
        short,
        "preadv(2) of 65536 bytes at offset 0: short read of 0 bytes, although the file has not shrunk"
    );
    // A failed copy is an error of the cell; files that can never be copied are refused before.
    let copy = cell(&home, "data.bin -b copy-range -c warm", libc::SYS_copy_file_range, libc::EIO);
    assert_eq!(copy, format!("copy_file_range(2) of 65536 bytes at offset 0: {failed}"));
    let mut never = home.std(&format!("--batch data.bin -b copy-range -c warm --no-save {QUICK}"));
    kernel::refuse(&mut never, libc::SYS_copy_file_range, libc::EXDEV);
    assert_eq!(output(&mut never).status.code(), Some(2));
}

#[test]
fn file_size_limit_refuses_early() {
    let home = Home::new();
    let mut command = home.std(&format!("--batch --size 8m {QUICK} --no-save"));
    kernel::limit_files(&mut command, (4 << 20) + 4096);
    let ran = output(&mut command);
    assert_eq!(
        (ran.status.code(), stderr_of(&ran).lines().count()),
        (Some(1), 1),
        "{}",
        stderr_of(&ran)
    );
    assert!(
        stderr_of(&ran)
            .contains("a file may have at most 4.00 MiB here (ulimit -f), and this plan needs 8"),
        "{}",
        stderr_of(&ran)
    );
}

#[test]
fn missing_inodes_refuse_early() {
    let home = Home::new();
    let memory = home.path("memory");
    kernel::with_tmpfs(&memory, "8m,nr_inodes=1", || {
        for dry in ["", "--dry-run"] {
            let line = format!("--batch -b pread -s 4k --size 1m --dir memory {dry}");
            let output = home.cmd(&line).assert().failure().get_output().clone();
            let error = stderr_of(&output);
            assert!(error.contains("has no inode left for another file"), "{error}");
        }
    });
}
