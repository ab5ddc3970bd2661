//! `--expect`: what the results must keep to, from the command line to the exit code. No bound here
//! depends on how fast this machine is.

use std::fs;

use super::common::kernel::with_tmpfs;
use super::common::{self, Home};

const QUICK: &str = "--trials 5 --trial-time 5ms --budget 20s";

/// Returns the exit code, stdout and stderr of a run.
fn ran(home: &Home, line: &str) -> (i32, String, String) {
    let output = home.cmd(line).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn exit_code_follows_the_expectation() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for (expect, code, outcome) in [
        ("p50<1h,iops>=1,>=1k", 0, "pass"),
        ("p50<1h,p50<1ns", 5, "fail"),
        ("max<1ns,p99.9<1h", 5, "fail"),
        ("iops>=1000000m", 5, "fail"),
    ] {
        let line = format!("--batch data.bin -b pread -s 64k -c warm {QUICK} --expect {expect}");
        let (got, stdout, _) = ran(&home, &format!("{line} --no-save"));
        let expected = format!("expected: {}: {outcome}: ", expect.replace(',', ", "));
        assert!(got == code && stdout.starts_with(&expected), "{expect}: {got}\n{stdout}");
    }
    // One trial has no interval, and one pass of 16 operations no 99.9th percentile.
    for expect in ["iops>=1", "p99.9<1h"] {
        let line = "--batch data.bin -b pread -s 64k -c warm --trials 1 -n 16 --no-save --expect";
        let (code, stdout, _) = ran(&home, &format!("{line} {expect}"));
        assert!(code == 1 && stdout.contains(": cannot tell: "), "{expect}: {code}\n{stdout}");
    }
}

#[test]
fn saved_expectation_can_be_replaced() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let line = format!("--batch data.bin -b pread -s 64k -c warm {QUICK} --save x --format json");
    let (code, stdout, stderr) = ran(&home, &format!("{line} --expect p50<1h"));
    let document = serde_json::from_str(&stdout).unwrap();
    common::assert_valid(&document);
    assert_eq!((code, &document["expected"][0]["outcome"]), (0, &"pass".into()));
    assert!(stderr.contains("iotui: expected p50<1h: pass: pread 64 KiB warm p50 "), "{stderr}");
    let shown = |options: &str| ran(&home, &format!("sessions show x {options}"));
    let (code, stdout, _) = shown("");
    assert!(code == 0 && stdout.contains("expected: p50<1h: pass"), "{stdout}");
    let (code, stdout, _) = shown("--expect p50<1ns");
    assert!(code == 5 && stdout.contains("expected: p50<1ns: fail"), "{stdout}");
    assert!(!stdout.contains("p50<1h"));
    let (code, _, stderr) = shown("--expect etcd");
    assert!(code == 2 && stderr.contains("etcd is about cells with -s 2300"), "{stderr}");
    // A run of its plan expects the same, unless it is given another.
    let again = |options: &str| ran(&home, &format!("--batch --plan x --no-save {options}"));
    assert!(again("").1.contains("expected: p50<1h: pass"));
    assert_eq!(again("--expect p50<1ns").0, 5);
}

#[test]
fn user_profile_chooses_the_measurement() {
    let home = Home::new();
    let folder = home.home().join(".config/iotui/expect");
    fs::create_dir_all(&folder).unwrap();
    let text = "about='mine'\nexpect='p50<1h,commits>=1'\n[cells]\nop='write'\nblock-size='4k'\n\
                sync='each'\n[settings]\nbackend='pread'\nsize='64k'\n";
    fs::write(folder.join("mine.toml"), text).unwrap();
    let plan = home.json("--batch --dry-run --dir . --expect mine");
    let cells = plan["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 1);
    for (key, value) in [("op", "write"), ("sync", "dsync"), ("backend", "pread")] {
        assert_eq!(cells[0][key], value);
    }
    assert_eq!((&cells[0]["block"], &cells[0]["span"]), (&4096.into(), &65536.into()));
    let plan = home.json("--batch --dry-run --dir . --expect mine -b preadv2 --size 32k");
    let cell = &plan["cells"][0];
    assert_eq!((&cell["backend"], &cell["span"]), (&"preadv2".into(), &32768.into()));
    let (code, _, stderr) = ran(&home, "--batch --dir . --expect mine -s 8k");
    let wanted =
        "iotui: --expect: mine is about cells with -s 4k --op write --sync dsync, and no cell";
    assert!(code == 2 && stderr.starts_with(wanted), "{stderr}");
    let list = home.stdout("--list profiles");
    assert!(list.contains("yours: mine") && list.contains("https://etcd.io/"), "{list}");
    assert!(home.names().is_empty(), "nothing is left: {:?}", home.names());
}

#[test]
fn tmpfs_commits_fail_the_profile() {
    let home = Home::new();
    let folder = home.path("memory");
    fs::create_dir(&folder).unwrap();
    with_tmpfs(&folder, "64m", || {
        let line = format!("--batch --dir memory --expect etcd --size 1m {QUICK} --no-save");
        let (code, stdout, _) = ran(&home, &line);
        assert!(code == 1 && stdout.contains("etcd (p99<10ms): cannot tell: "), "{stdout}");
        assert!(stdout.replace('\n', " ").contains("(memory)"), "{stdout}");
    });
}
