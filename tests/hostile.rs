//! Malicious files: each is refused with one line, or shown as far as it is intact, in bounded
//! memory and time.

use std::fs;
use std::io::{Seek, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{self, Home, each, kernel, output};
use nix::sys::stat::Mode;

const GOLDEN: &str = include_str!("golden/session-v1.jsonl");
/// The address space of each process: one that needs more dies of a signal, without an exit code.
const SPACE: u64 = 256 << 20;

/// Runs the command with little memory; returns its exit code and output. Nothing may block.
fn ran(mut command: Command) -> (Option<i32>, String, String) {
    kernel::limit_memory(&mut command, SPACE);
    let ran = output(&mut command);
    let text = |bytes| String::from_utf8(bytes).expect("it says text");
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

/// Opens the file in every way: it is refused with these words or, without any, shown safely.
fn opened(home: &Home, file: &Path, refused: Option<&str>) {
    let path = file.display();
    for line in [
        format!("sessions show {path}"),
        format!("sessions show {path} --format json"),
        format!("sessions export {path} --format svg"),
        format!("sessions compare {path} {path}"),
        format!("sessions import {path}"),
        format!("--batch --dry-run --plan {path} --dir ."),
    ] {
        let (code, stdout, stderr) = ran(home.std(&line));
        let report = format!(
            "{line}\nexit {code:?}\nstdout: {}\nstderr: {stderr}",
            stdout.chars().take(2000).collect::<String>()
        );
        assert!(!stderr.contains("panicked") && code.is_some(), "{report}");
        assert!(
            !stdout.chars().chain(stderr.chars()).any(|c| c.is_control() && c != '\n'),
            "{report}"
        );
        if code != Some(0) || refused.is_some() {
            // A plan that loads may not suit the target, which is a usage error.
            let usage = refused.is_none() && line.starts_with("--batch") && code == Some(2);
            assert!(usage || code == Some(1), "{report}");
            assert!(
                stdout.is_empty()
                    && stderr.lines().count() == 1
                    && stderr.starts_with("iotui: ")
                    && stderr.len() < 1000,
                "{report}"
            );
        }
        assert!(
            stderr.contains(refused.unwrap_or_default()),
            "{:?} is missing: {report}",
            refused.unwrap_or_default()
        );
    }
}

#[test]
fn export_time_is_linear_in_text() {
    let home = Home::new();
    // This takes an hour and more where each letter is measured with all before it.
    let letters = "A".repeat(300_000);
    let words = "word ".repeat(200_000);
    let fields = ["\"target\":\"", "\"fs\":\"", "\"label\":\"", "\"message\":\""];
    let mut texts: Vec<String> = fields
        .iter()
        .filter(|field| GOLDEN.contains(**field))
        .map(|field| GOLDEN.replace(field, &format!("{field}{letters}")))
        .collect();
    texts.push(
        first().to_string() + &format!("{{\"kind\":\"note\",\"text\":\"{words}\"}}\n") + rest(),
    );
    assert!(texts.len() > 2);
    for (at, text) in texts.iter().enumerate() {
        fs::write(home.path("long.jsonl"), text).unwrap();
        for format in ["table", "html", "markdown", "svg", "card", "png"] {
            let line = format!("sessions export long.jsonl --format {format} -o out");
            let mut run = common::child::Run::start(&mut home.std(&line));
            let ended = run.end(std::time::Duration::from_secs(120));
            assert!(ended.is_some_and(|status| status.success()), "{format} of text {at}");
        }
    }
}

fn first() -> &'static str {
    GOLDEN.split_inclusive('\n').next().unwrap()
}

fn rest() -> &'static str {
    &GOLDEN[first().len()..]
}

fn trial() -> &'static str {
    GOLDEN.split_inclusive('\n').find(|line| line.contains("\"trial\"")).unwrap()
}

fn end() -> &'static str {
    GOLDEN.split_inclusive('\n').next_back().unwrap()
}

/// Repeats the cells of the plan this many times.
fn with_cells(times: usize) -> String {
    let (before, cells) = first().split_once("\"cells\":[").unwrap();
    let (cells, after) = cells.split_once("],\"trials\"").unwrap();
    format!("{before}\"cells\":[{}],\"trials\"{after}", vec![cells; times].join(","))
}

/// The text of a session, and the words with which it is refused.
type Case = (String, Option<&'static str>);

/// Returns texts that are not sessions, or whose lines are in the wrong order.
fn broken_texts() -> Vec<Case> {
    vec![
        (String::new(), Some("it is empty")),
        ("hello\n".into(), Some("is not an iotui session")),
        ("\u{feff}".to_string() + GOLDEN, None),
        (first().replace("\"iotui\":1", "\"iotui\":2"), Some("newer iotui (schema 2")),
        (
            first().replace("\"iotui\":1", "\"iotui\":18446744073709551616"),
            Some("is not an iotui session"),
        ),
        (first().trim_end().into(), Some("no complete line")),
        (trial().to_string() + GOLDEN, None),
        (first().to_string() + GOLDEN, None),
        (first().to_string() + end() + rest(), None),
        (GOLDEN.replace('\n', "\r\n"), None),
    ]
}

/// Returns names that contain terminal control sequences or lead out of the folder.
fn steering_texts() -> Vec<Case> {
    vec![
        (GOLDEN.replace("golden", "\\u001b[2J\\u202e\\u0000/../"), None),
        (GOLDEN.replace("20261121-093011-scratch", "../../../tmp/x\\u0000/y"), None),
        (
            first().replace("\"name\":\"box\"", "\"name\":\"\\u001b]0;x\\u0007\\n\\u202e\"")
                + rest(),
            None,
        ),
        (
            first()
                .replace("\"quick\"", "\"\\u001b[2J\"")
                .replace("cannot be direct", "\\u001b[2J\\r\\n")
                + rest(),
            None,
        ),
        (
            first().replace("\"sweep\"", "\"\\u001b[2J\"").replace("/home/user", "/\\u001b[2J")
                + rest(),
            None,
        ),
    ]
}

/// Returns texts that need more memory than available, or a deeper stack.
fn large_texts() -> Vec<Case> {
    fn deep(open: &str, close: &str) -> String {
        format!(
            "{}{{\"kind\":\"note\",\"text\":{}{}}}\n\n",
            first(),
            open.repeat(100_000),
            close.repeat(100_000)
        )
    }
    vec![
        (deep("[", "]"), None),
        (deep("{\"a\":", "}"), None),
        (
            first().replace(
                "\"later_key\":",
                &format!("\"deep\":{}{},\"later_key\":", "[".repeat(100_000), "]".repeat(100_000)),
            ) + rest(),
            None,
        ),
        (with_cells(20_000) + trial(), Some("longer than 16 MiB")),
        (with_cells(2_000) + trial() + end(), None),
        (
            first().replace("\"name\":\"box\"", &format!("\"name\":\"{}\"", "x".repeat(8 << 20)))
                + rest(),
            None,
        ),
        (
            first().replace(
                "\"host\":{",
                &format!("\"host\":{{\"caches\":[{}],", vec!["{}"; 1 << 20].join(",")),
            ) + rest(),
            None,
        ),
    ]
}

#[test]
fn text_that_wants_to_harm() {
    let home = Home::new();
    let file = home.path("x.jsonl");
    for (text, refused) in [broken_texts(), steering_texts(), large_texts()].concat() {
        fs::write(&file, &text).unwrap();
        opened(&home, &file, refused);
    }
    let mut bytes = GOLDEN.as_bytes().to_vec();
    let at = GOLDEN.find("golden").unwrap();
    bytes[at] = 0xff;
    fs::write(&file, bytes).unwrap();
    opened(&home, &file, None);
}

/// Whatever the names of a file or of the sessions folder, the output of every command is free of
/// terminal control characters.
#[test]
fn hostile_names_reach_no_terminal() {
    use iotui::text::is_unsafe_char;
    let hostile = "\u{1b}]0;x\u{7} \u{1b}[31m \u{9b}2J \u{7f} \u{ad} \u{61c} \u{200b} \u{200e} \u{200f} \u{2028} \u{202a} \u{202e} \u{2060} \u{2066} \u{2069} \u{feff} \u{fff9} \u{e0041} \n \r \t";
    // In groups of four, which every file system allows in a name, and all together.
    let parts: Vec<&str> = hostile.split(' ').collect();
    let names = parts.chunks(4).map(|some| some.join("-")).chain([parts.join("-")]);
    for part in &names.collect::<Vec<_>>() {
        let home = Home::new();
        let data = home.path(&format!("data-{part}"));
        home.file(&format!("evil{part}.bin"), 1 << 16);
        let ran = |words: &[&str]| {
            let mut command = home.std("");
            command.args(words).env("XDG_DATA_HOME", &data);
            let ran = output(&mut command);
            for bytes in [ran.stdout, ran.stderr] {
                let text = String::from_utf8(bytes).expect("it says text");
                assert!(
                    !text.chars().any(|c| c != '\n' && is_unsafe_char(c)),
                    "{words:?} {part:?}: {text:?}"
                );
                assert!(!text.contains("panicked"), "{text}");
            }
        };
        let file = format!("./evil{part}.bin");
        let run =
            [&file, "-b", "null", "-s", "4k", "-c", "asis", "--trials", "1", "--trial-time", "1ms"];
        ran(&["sessions", "list"]);
        ran(&[&["--batch", "--dry-run"], &run[..]].concat());
        ran(&[&["--batch", "--save", "n"], &run[..]].concat());
        ran(&["host", &file]);
        for format in ["table", "csv", "json", "jsonl", "gbench", "markdown", "html", "svg", "fio"]
        {
            ran(&["sessions", "show", "n", "--format", format]);
        }
        ran(&["sessions", "list"]);
        ran(&["sessions", "compare", "n", "n"]);
        ran(&["sessions", "rename", "n", part]);
        ran(&["sessions", "show", &file]);
        ran(&["sessions", "import", &file]);
        ran(&["--batch", "--preset", part, &file]);
        ran(&["--batch", "-o", &format!("no/{part}"), &file]);
        ran(&["--batch", &format!("./none{part}")]);
        ran(&["serve", "--secret-file", &file]);
        ran(&["sessions", "delete", "last"]);
    }
}

#[test]
fn numbers_that_want_to_harm() {
    let home = Home::new();
    let file = home.path("x.jsonl");
    fn number(key: &str, value: &str) -> String {
        let (before, after) = trial().split_once(&format!("\"{key}\":")).unwrap();
        let after = &after[after.find([',', '}']).unwrap()..];
        format!("{}{before}\"{key}\":{value}{after}{}", first(), end())
    }
    for (key, value) in [
        ("cell", "5"),
        ("cell", "4294967296"),
        ("cell", "-1"),
        ("bytes", "1e999"),
        ("bytes", "18446744073709551616"),
        ("bytes", "-1"),
        ("bytes", "\"NaN\""),
        ("nanos", "NaN"),
        ("disk_depth", "1e999"),
    ] {
        fs::write(&file, number(key, value)).unwrap();
        opened(&home, &file, None);
    }
    for (key, value) in [
        ("bytes", "18446744073709551615"),
        ("nanos", "0"),
        ("ops", "18446744073709551615"),
        ("disk_depth", "1e308"),
    ] {
        fs::write(&file, number(key, value)).unwrap();
        opened(&home, &file, None);
    }
}

#[test]
fn files_that_are_large() {
    let home = Home::new();
    let path = home.path("x.jsonl");
    // A line longer than the memory, at the start and later, where only that line is lost; a file
    // of 2 TiB; all sparse.
    for (head, length, refused) in [
        ("", SPACE + (64 << 20), Some("longer than 16 MiB")),
        (first(), SPACE + (64 << 20), None),
        (GOLDEN, 2 << 40, Some("the limit is")),
    ] {
        let mut file = fs::File::create(&path).unwrap();
        file.write_all(head.as_bytes()).unwrap();
        if let Err(error) = file.set_len(length) {
            common::skip(&format!("no sparse file of {length} bytes: {error}"));
            continue;
        }
        opened(&home, &path, refused);
    }
    // A verdict for every trial, each longer than the trial: only the last one of a cell is loaded.
    let verdict = GOLDEN.split_inclusive('\n').find(|line| line.contains("\"verdict\"")).unwrap();
    let buckets = (1..4000).map(|n| format!("[{n},1]")).collect::<Vec<_>>().join(",");
    let (before, after) = verdict.split_once("\"buckets\":[").unwrap();
    let long = format!(
        "{before}\"buckets\":[{buckets}{}",
        &after[after.find("]]}").unwrap()..].replacen("]]}", "]}", 1)
    );
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(first().as_bytes()).unwrap();
    (0..3000).for_each(|_| file.write_all(long.as_bytes()).unwrap());
    file.write_all(end().as_bytes()).unwrap();
    assert!(file.stream_position().unwrap() > 100 << 20);
    opened(&home, &path, None);
}

#[test]
fn what_is_no_file() {
    let home = Home::new();
    let dir = home.sessions_dir();
    fs::create_dir_all(&dir).unwrap();
    let at = |name: &str| dir.join(format!("{name}.jsonl"));
    fs::create_dir(at("folder")).unwrap();
    nix::unistd::mkfifo(&at("pipe"), Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    symlink(at("loop-b"), at("loop-a")).unwrap();
    symlink(at("loop-a"), at("loop-b")).unwrap();
    symlink("/dev/zero", at("endless")).unwrap();
    symlink("missing", at("nowhere")).unwrap();
    fs::write(at("\u{1b}[2J\u{202e}"), GOLDEN).unwrap();
    fs::write(at("good"), GOLDEN).unwrap();
    let list = home.json("sessions list");
    let state = |id: &str| {
        each(&list, "id").iter().position(|found| *found == id).map(|at| list[at]["state"].clone())
    };
    assert_eq!(state("good"), Some("goal".into()));
    for (id, why) in [
        ("folder", "not a regular file"),
        ("pipe", "not a regular file"),
        ("socket", "cannot open"),
        ("loop-a", "cannot open"),
        ("endless", "not a regular file"),
        ("nowhere", "cannot open"),
    ] {
        assert_eq!(state(id), Some("unreadable".into()), "{id}: {list}");
        opened(&home, &at(id), Some(why));
        for line in [format!("sessions show {id}"), format!("sessions rename {id} x")] {
            let (code, _, stderr) = ran(home.std(&line));
            assert_eq!((code, stderr.lines().count()), (Some(1), 1), "{line}: {stderr}");
        }
    }
    let text = home.stdout("sessions list");
    assert!(text.lines().count() == 10 && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
    // These can be deleted; a folder is not a session.
    for id in ["pipe", "socket", "loop-a", "endless", "nowhere"] {
        let (code, _, stderr) = ran(home.std(&format!("sessions delete {}", at(id).display())));
        assert_eq!(code, Some(0), "{id}: {stderr}");
    }
    assert_eq!(ran(home.std(&format!("sessions delete {}", at("folder").display()))).0, Some(1));
    assert!(Path::new("/dev/zero").exists() && at("good").exists() && at("folder").exists());
}

#[test]
fn folder_of_damaged_sessions_is_listed() {
    let home = Home::new();
    let dir = home.sessions_dir();
    fs::create_dir_all(&dir).unwrap();
    for n in 0..20 {
        let path = dir.join(format!("big-{n}.jsonl"));
        let mut file = fs::File::create(&path).unwrap();
        file.write_all(b"{\"iotui\":1,\"kind\":\"session\",\"x\":\"").unwrap();
        file.set_len(1 << 30).unwrap();
        fs::write(dir.join(format!("deep-{n}.jsonl")), "[".repeat(100_000)).unwrap();
        fs::write(
            dir.join(format!("host-{n}.jsonl")),
            first().replace("\"kernel\"", &format!("\"x\":\"{}\",\"kernel\"", "y".repeat(1 << 20))),
        )
        .unwrap();
    }
    let (code, stdout, stderr) = ran(home.std("sessions list --format json"));
    assert_eq!(code, Some(0), "{stderr}");
    let list: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let count = |state: &str| each(&list, "state").iter().filter(|found| **found == state).count();
    assert_eq!((count("unreadable"), count("interrupted")), (40, 20));
}

#[test]
fn growing_session_file_is_read() {
    let home = Home::new();
    let path = home.path("x.jsonl");
    fs::write(&path, first()).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let write = |path: PathBuf| {
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        // In pieces that do not end at line ends.
        for piece in trial().as_bytes().chunks(700).cycle() {
            file.write_all(piece).unwrap();
            if done.load(std::sync::atomic::Ordering::Relaxed)
                || file.stream_position().unwrap() > 2 << 20
            {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| write(path.clone()));
        let mut before = 0;
        for _ in 0..8 {
            let shown = home.json(&format!("sessions show {}", path.display()));
            let trials = shown["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|r| r["trials"].as_array().unwrap().len())
                .sum();
            assert!(trials >= before, "{trials} after {before}");
            before = trials;
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
