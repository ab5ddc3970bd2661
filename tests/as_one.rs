//! `--as-one`: files that are read as if they were one.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::common::{Home, each, stderr_of, stdout_of};
use iotui::report::FORMATS;
use serde_json::Value;

const LINE: &str = "-b pread,mmap -s 4k -n 0 -c cold,warm --trials 2 --ceilings never";

/// Returns a home with a folder `set` of three files, in it and below.
fn home() -> Home {
    let home = Home::new();
    fs::create_dir_all(home.path("set/deep")).unwrap();
    for (name, bytes) in [("set/b.bin", 70_000), ("set/a.bin", 300_001), ("set/deep/c.bin", 4096)] {
        home.file(name, bytes);
    }
    home
}

/// Returns the names in the plan, and its size.
fn listed(report: &Value) -> (Vec<&str>, u64) {
    let target = &report["plan"]["target"];
    let names = each(&target["files"], "path").into_iter().map(|path| path.as_str().unwrap());
    (names.collect(), target["size"].as_u64().unwrap())
}

#[test]
fn folders_are_read_as_one() {
    let home = home();
    let report = home.json(&format!("--batch --as-one set {LINE} --save whole"));
    assert_eq!(listed(&report), (vec!["a.bin", "b.bin", "deep/c.bin"], 374_097));
    for result in report["results"].as_array().unwrap() {
        assert_eq!(result["error"], Value::Null, "{result}");
        assert_eq!(result["cell"]["span"], 374_097);
        for trial in result["trials"].as_array().unwrap() {
            let (bytes, unique) = (&trial["bytes"], &trial["evidence"]["unique_bytes"]);
            assert_eq!((bytes.as_u64().unwrap() % 374_097, unique.as_u64()), (0, Some(374_097)));
        }
    }
    let shown = home.stdout("sessions show whole --details");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("3 files in") && shown.contains("365 KiB, read as one"), "{shown}");
    // The same files again, and others in their place.
    let again = home.json("--batch --plan whole --trials 1");
    assert_eq!(listed(&again), listed(&report));
    let baseline = home.json("--batch --baseline whole set/a.bin set/b.bin set/deep/c.bin");
    assert_eq!(listed(&baseline), listed(&report));
    // Other work is not taken for the same.
    home.file("set/b.bin", 80_000);
    let ran = home.cmd("--batch --plan whole --trials 1").output().unwrap();
    assert!(stderr_of(&ran).contains("/set/b.bin has another size"), "{}", stderr_of(&ran));
    fs::create_dir(home.path("other")).unwrap();
    home.file("other/x.bin", 400_000);
    let other = home.json("--batch --plan whole --trials 1 other");
    assert_eq!(listed(&other), (vec!["x.bin"], 400_000));
}

#[test]
fn named_files_keep_their_order() {
    let home = home();
    let line = format!("--batch --as-one set/deep set/b.bin set/a.bin {LINE}");
    let shapes = "-t 2 --file-per run,thread --opened before,timed";
    let report = home.json(&format!("{line} {shapes}"));
    assert_eq!(listed(&report).0, ["deep/c.bin", "b.bin", "a.bin"]);
    let said = |result: &Value| {
        let text = |key: &str| result["cell"][key].as_str().unwrap_or("-").to_string();
        (text("file_per"), text("opened"))
    };
    let mut shown: Vec<_> = report["results"].as_array().unwrap().iter().map(said).collect();
    shown.sort();
    shown.dedup();
    let shape = |file_per: &str, opened: &str| (file_per.to_string(), opened.to_string());
    let all = [("-", "-"), ("-", "timed"), ("thread", "-"), ("thread", "timed")];
    assert_eq!(shown, all.map(|(file_per, opened)| shape(file_per, opened)));
}

#[test]
fn loads_answer_with_a_time() {
    let home = home();
    let line = "--batch -p load --as-one set --threads 1,2 -s 4k --trials 2 --ceilings never";
    let report = home.json(line);
    let text = report["answer"]["text"].as_str().unwrap();
    assert!(!text.is_empty());
    let page = home.stdout(line);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("3 files (365 KiB) with a cold cache takes at best"), "{page}");
}

#[test]
fn anonymous_lists_hide_their_names() {
    let home = Home::new();
    fs::create_dir_all(home.path("secretset")).unwrap();
    for name in ["secretset/secret1.bin", "secretset/secret2.bin"] {
        home.file(name, 8192);
    }
    home.stdout(&format!("--batch --as-one secretset {LINE} --save kept"));
    for format in FORMATS {
        let line = format!("sessions export kept --anonymous -o out --format {}", format.id);
        let ran = home.cmd(&line).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}: {}", format.id, stderr_of(&ran));
        let out = fs::read(home.path("out")).unwrap();
        let text = (stdout_of(&ran) + &String::from_utf8_lossy(&out)).to_lowercase();
        assert!(!text.contains("secret"), "{}", format.id);
        fs::remove_file(home.path("out")).unwrap();
    }
}

#[test]
fn unreadable_lists_are_refused() {
    let home = home();
    fs::create_dir(home.path("none")).unwrap();
    fs::create_dir(home.path("odd")).unwrap();
    fs::write(home.path("odd").join(OsStr::from_bytes(b"\xff\x1b[31m.bin")), [7; 4096]).unwrap();
    for (line, said) in [
        ("--as-one", "--as-one reads files; name them, or a folder of files"),
        ("--as-one none", "there is no file with data"),
        ("--as-one missing", "missing: no such file or folder"),
        ("--as-one /dev/null", "is a character device"),
        ("--as-one set --op write", "leave out --as-one"),
        ("--as-one set -p commit", "leave out --as-one"),
        ("--as-one set -p lab", "leave out --as-one"),
        ("--as-one set -b dd", "reads one file"),
        ("--as-one set -b pread --rate 100", "--rate starts operations on one file"),
        ("--as-one set -b pread --think 1ms", "--think starts operations on one file"),
        ("--as-one set --watch 10s", "--watch starts operations on one file"),
        ("--as-one set --latency-target p99<5ms", "--latency-target starts operations on one"),
        ("--as-one set -b pread+shared", "+shared hands out the blocks of one file"),
        ("--as-one set --fresh -c cold -b pread", "leave out --as-one"),
        ("--as-one set --dir .", "drop one of the two"),
        ("set", "use --as-one to read all of its files"),
        ("set/a.bin --opened timed", "--opened applies only to files that are read --as-one"),
        ("set/a.bin --file-per thread --op read", "read --as-one"),
    ] {
        let ran = home.cmd(&format!("--batch --no-save {line}")).output().unwrap();
        let error = stderr_of(&ran);
        assert!(ran.status.code() != Some(0), "{line}");
        assert_eq!(error.trim_end().lines().count(), 1, "{line}: {error}");
        assert!(error.contains(said), "{line}: {error}");
    }
    // Names may be anything, and are shown without harm.
    let ran = home.cmd(&format!("--batch --as-one odd {LINE} --save odd --details")).output();
    let ran = ran.unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", stderr_of(&ran));
    assert!(!stdout_of(&ran).contains('\u{1b}'));
    assert_eq!(home.json("--batch --plan odd --trials 1")["plan"]["target"]["size"], 4096);
}
