//! Two variants of the machine in one run, each set by a command.

use crate::common::{stderr_of, stdout_of};
use std::fs;
use std::time::Duration;

use crate::common::child::Run;
use crate::common::{Home, kernel, output};
use nix::sys::signal::Signal;
use serde_json::Value;

const LINE: &str = "-b pread -s 4k,64k -c warm --trial-time 1ms --budget 10m";

/// Returns a home with a file, and the option with commands that write their names to `log`.
fn home() -> (Home, Vec<String>) {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    let option = ["--between", "old:echo old >>log", "new:echo new >>log"];
    (home, option.map(String::from).to_vec())
}

fn json(home: &Home, line: &str, option: &[String]) -> Value {
    let ran = output(home.std(line).args(option));
    assert!(ran.status.success(), "{ran:?}");
    serde_json::from_slice(&ran.stdout).unwrap()
}

#[test]
fn variants_alternate_and_are_compared() {
    let (home, option) = home();
    let line = format!("--batch data.bin {LINE} --trials 6 --save both --format json");
    let report = json(&home, &line, &option);
    // Each round ends with the variant that begins the next one, and the first is restored.
    let log = fs::read_to_string(home.path("log")).unwrap();
    let set: Vec<&str> = log.lines().collect();
    assert!((7..=8).contains(&set.len()) && set.last() == Some(&"old"), "{set:?}");
    assert!(set.windows(2).all(|two| two[0] != two[1]), "{set:?}");
    let results = report["results"].as_array().unwrap();
    let cell = |result: &Value| {
        let name = result["cell"]["variant"].as_str().unwrap().to_string();
        (
            name,
            result["cell"]["block"].as_u64().unwrap(),
            result["trials"].as_array().unwrap().len(),
        )
    };
    let mut cells: Vec<_> = results.iter().map(cell).collect();
    cells.sort();
    let expected = [("new", 4096, 6), ("new", 65536, 6), ("old", 4096, 6), ("old", 65536, 6)];
    assert_eq!(cells, expected.map(|(name, block, n)| (name.to_string(), block, n)));
    // The same work in both: otherwise start-up would weigh more in one.
    let bytes = |result: &Value| -> Vec<u64> {
        let trials = result["trials"].as_array().unwrap();
        trials.iter().map(|trial| trial["bytes"].as_u64().unwrap()).collect()
    };
    for block in [4096, 65536] {
        let same = results.iter().filter(|result| result["cell"]["block"] == block);
        let all: Vec<u64> = same.flat_map(bytes).collect();
        assert!(all.iter().all(|bytes| *bytes == all[0]), "{all:?}");
    }
    let compared = &report["variants"]["others"][0];
    assert_eq!(compared["cells"].as_array().unwrap().len(), 2, "{compared}");
    assert_eq!(compared["side"]["variant"], "new: echo new >>log");
    let answer = report["answer"]["text"].as_str().unwrap();
    assert!(answer.contains("A is old, B is new. "), "{answer}");
    let table = home.stdout("sessions compare both");
    assert!(table.starts_with("A  old: echo old >>log\nB  new: echo new >>log\n"), "{table}");
    let anonymous = home.stdout("sessions show both --anonymous --format json");
    assert!(!anonymous.contains("echo") && !anonymous.contains("\"old\""), "{anonymous}");
    for format in iotui::report::FORMATS {
        home.cmd(&format!("sessions export both --format {} -o out.x", format.id))
            .assert()
            .success();
    }
}

#[test]
fn failing_variant_command_fails_the_run() {
    let (home, _) = home();
    let gate = |between: [&str; 2], limit: &str| {
        let line = format!("--batch data.bin {LINE} --trials 7 --no-save --fail-if-slower {limit}");
        output(home.std(&line).arg("--between").args(between))
    };
    let same = gate(["a:true", "b:true"], "99%");
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    let failed = gate(["a:true", "b:echo 'no such disk' >&2; exit 3"], "99%");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let text = stdout_of(&failed);
    let wanted = "the command of b failed with exit status 3: no such disk";
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(wanted), "{text}");
}

#[test]
fn stop_restores_the_first_variant() {
    let (home, option) = home();
    let line = format!("--batch data.bin {LINE} --trials 8000 --no-save --format jsonl");
    let log = home.path("log");
    // Six trials are more than one round: both commands have run.
    let mut run = Run::start(home.std(&line).args(&option));
    (0..6).for_each(|_| assert!(!run.line().is_empty()));
    run.signal(Signal::SIGINT);
    let status = run.end(Duration::from_secs(20)).expect("it ends after a signal");
    assert_eq!(status.code(), Some(130));
    assert_eq!(fs::read_to_string(&log).unwrap().lines().last(), Some("old"));
}

#[test]
fn session_commands_are_never_run() {
    let (home, option) = home();
    let line = format!("--batch data.bin {LINE} --trials 5 --save both");
    assert!(output(home.std(&line).args(&option)).status.success());
    fs::remove_file(home.path("log")).unwrap();
    for line in ["--batch --plan both", "--batch --refine both", "--batch --baseline both"] {
        let ran = output(&mut home.std(line));
        let text = stderr_of(&ran);
        assert_eq!((ran.status.code(), text.lines().count()), (Some(2), 1), "{line}: {text}");
        assert!(text.contains("are never run"), "{text}");
    }
    assert!(!home.path("log").exists());
}

#[test]
fn impossible_variants_are_refused() {
    let (home, _) = home();
    let refused = [
        (&["a:true", "a:false"][..], "", "both variants are named a"),
        (&["a:true", "data.bin"], "", "write NAME:COMMAND"),
        (&["a:true", "b c:true"], "", "a name has 1 to 16 letters"),
        (&["a:true"], "", "--between"),
        (&["a:true", "b:true"], "--preset lab/cpu", "choose another preset"),
        (&["a:true", "b:true"], "--preset fast", "choose another preset"),
        (&["a:true", "b:true"], "--trials 4 --fail-if-slower 5", "use --trials 5 or more"),
        (&["a:true", "b:true"], "--plan x", "--plan"),
    ];
    for (between, more, wanted) in refused {
        let mut command = home.std(&format!("--batch data.bin {more}"));
        let ran = output(command.arg("--between").args(between));
        let text = stderr_of(&ran);
        assert_eq!((ran.status.code(), text.lines().count()), (Some(2), 1), "{between:?}: {text}");
        assert!(text.contains(wanted), "{between:?}: {text}");
    }
    home.cmd("--between a:true b:true").assert().code(2);
    home.cmd("sessions compare nosuch").assert().code(1);
}

/// Returns the message about a run that may have left another variant set.
fn unrestored_message(home: &Home) -> String {
    let stderr = String::from_utf8(output(&mut home.std("sessions list")).stderr).unwrap();
    let dry =
        String::from_utf8(output(&mut home.std("--batch data.bin --dry-run")).stderr).unwrap();
    assert_eq!(stderr, dry);
    stderr
}

#[test]
fn unrestored_machine_is_reported_until_restored() {
    let (home, _) = home();
    let between = ["--between", "a:test -e ok || sleep 1000", "b:true"];
    let line = format!("--batch data.bin {LINE} --trials 5 --save held");
    let ran = output(home.std(&line.replace("10m", "3s")).args(between));
    let text = stdout_of(&ran);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(text.contains("not set back to a: its command did not end within 10 s"), "{text}");
    let stderr = unrestored_message(&home);
    let command = "in b. To set it back to a: test -e ok || sleep 1000 (iotui sessions delete ";
    assert!(stderr.contains(command) && stderr.lines().count() == 1, "{stderr}");
    fs::write(home.path("ok"), "").unwrap();
    // The command is printed, and never run.
    assert_eq!(unrestored_message(&home), stderr);
    let ran = output(home.std(&line).args(between));
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(stderr_of(&ran).contains(command), "{ran:?}");
    assert_eq!(unrestored_message(&home), "");
}

#[test]
fn killed_run_names_its_restoring_command() {
    let (home, option) = home();
    let line = format!("--batch data.bin {LINE} --trials 8000 --format jsonl");
    let mut run = Run::start(home.std(&line).args(&option));
    (0..6).for_each(|_| assert!(!run.line().is_empty()));
    assert_eq!(unrestored_message(&home), "", "it goes on");
    run.signal(Signal::SIGKILL);
    run.end(Duration::from_secs(60)).unwrap();
    let log = fs::read_to_string(home.path("log")).unwrap();
    let stderr = unrestored_message(&home);
    assert!(stderr.contains("in new. To set it back to old: echo old >>log (iotui"), "{stderr}");
    assert_eq!(fs::read_to_string(home.path("log")).unwrap(), log, "it is never run");
    home.cmd("sessions delete last").assert().success();
    assert_eq!(unrestored_message(&home), "");
}

#[test]
fn every_signal_restores_the_first_variant() {
    let (home, option) = home();
    let line = format!("--batch data.bin {LINE} --trials 8000 --no-save --format jsonl");
    for signal in
        [Signal::SIGQUIT, Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGXCPU, Signal::SIGALRM]
    {
        let mut run = Run::start(home.std(&line).args(&option));
        (0..6).for_each(|_| assert!(!run.line().is_empty()));
        run.signal(signal);
        let status = run.end(Duration::from_secs(20)).expect("it ends after a signal");
        assert_eq!(status.code(), Some(128 + signal as i32), "{signal}");
        let log = fs::read_to_string(home.path("log")).unwrap();
        assert_eq!(log.lines().last(), Some("old"), "{signal}");
    }
}

#[test]
fn hung_call_restores_the_first_variant() {
    let mut began = Vec::new();
    // The seed decides which variant comes first.
    for seed in [1, 2] {
        let (home, option) = home();
        // Each pass begins with an empty file: the first one after the command of its variant.
        let line = "--batch --op write --writes append --size 1m -b pread -s 4k --budget 2s";
        let mut command = home.std(&format!("{line} --no-save --seed {seed}"));
        kernel::hang(command.args(&option), libc::SYS_ftruncate);
        let ran = output(&mut command);
        assert_eq!(ran.status.code(), Some(1), "{ran:?}");
        let log = fs::read_to_string(home.path("log")).unwrap();
        assert_eq!(log.lines().last(), Some("old"), "{log}");
        began.extend(log.lines().next().map(String::from));
    }
    began.sort();
    assert_eq!(began, ["new", "old"]);
}

#[test]
fn hanging_variant_command_is_described() {
    let (home, _) = home();
    for (b, why) in [
        ("b:yes", "the command of b printed more than 32 MiB and was killed"),
        ("b:sleep 1000", "the command of b did not end within the budget"),
    ] {
        let line = format!("--batch data.bin {LINE} --trials 5 --no-save --format json");
        let between = ["--between", "a:echo a >>log", b];
        let ran = output(home.std(&line.replace("10m", "3s")).args(between));
        assert_eq!(ran.status.code(), Some(1), "{b}: {ran:?}");
        let json: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let results = json["results"].as_array().unwrap();
        let error = results.iter().find_map(|result| result["error"].as_str());
        assert_eq!(error, Some(why), "{b}");
        assert_eq!(fs::read_to_string(home.path("log")).unwrap().lines().last(), Some("a"));
    }
}
