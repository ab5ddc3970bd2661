//! Lists, completions, the host and help: every command that measures nothing.

use crate::common::{stderr_of, stdout_of};
use std::process::Command as StdCommand;

use crate::common::pty::Terminal;
use crate::common::{self, Home, each, has, output, skip, without};
use predicates::prelude::*;

#[test]
fn lists_hold_every_entry_once() {
    let home = Home::new();
    use iotui::{backend::BACKENDS, experiment::EXPERIMENTS, peer::PEERS, plan::PRESETS};
    let backends: Vec<&str> = BACKENDS.iter().map(|b| b.info().id).collect();
    let peers: Vec<&str> = PEERS.iter().map(|p| p.info().id).collect();
    let presets: Vec<&str> = PRESETS.iter().map(|p| p.0).collect();
    let experiments: Vec<&str> = EXPERIMENTS.iter().map(|e| e.id).collect();
    let references: Vec<&str> = iotui::session::references().iter().map(|r| r.id).collect();
    for (what, ids) in [
        ("backends", backends),
        ("peers", peers),
        ("presets", presets),
        ("experiments", experiments),
        ("references", references),
        ("themes", vec!["terminal", "night", "paper", "ember", "contrast"]),
    ] {
        let list = home.json(&format!("--list {what}"));
        assert_eq!(each(&list, "id"), ids, "{what}");
        assert!(each(&list, "about").iter().all(|a| !a.as_str().unwrap().is_empty()), "{what}");
        let text = home.stdout(&format!("--list {what}"));
        for id in &ids {
            let lines = text.lines().filter(|line| line.split_whitespace().next() == Some(id));
            assert_eq!(lines.count(), 1, "{what}: {id} in\n{text}");
        }
    }
    assert!(home.names().is_empty() && home.sessions().is_empty());
}

#[test]
fn user_themes_are_listed() {
    let home = Home::new();
    let own = home.home().join(".config/iotui/themes");
    std::fs::create_dir_all(&own).unwrap();
    let night = include_str!("../assets/themes/night.toml");
    std::fs::write(own.join("mine.toml"), night).unwrap();
    std::fs::write(own.join("typo.toml"), "about = ").unwrap();
    let text = home.stdout("--list themes");
    for (id, says) in
        [("night", ""), ("mine", "yours: "), ("typo", "yours: not a valid theme file")]
    {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(id));
        let line = line.unwrap_or_else(|| panic!("{id}\n{text}"));
        assert!(line.contains(says) && (id != "night" || !line.contains("yours")), "{text}");
    }
    assert!(text.contains("unavailable: ") && text.contains("typo.toml: line 1"), "{text}");
}

#[test]
fn references_are_read_only_sessions() {
    let home = Home::new();
    let shown = home.json("sessions show xeon");
    assert_eq!(
        (&shown["session"], &shown["plan"]["target"]),
        (&"xeon-os".into(), &serde_json::Value::Null)
    );
    assert_eq!(shown["results"][0]["estimate"]["low"], 12.0);
    let compared = home.json("sessions compare macbook-2017 i7-8750h");
    assert!(!compared["others"][0]["cells"].as_array().unwrap().is_empty());
    let csv = home.stdout("sessions export ryzen-5900hs --format csv");
    assert_eq!(csv.lines().count(), 41, "{csv}");
    for line in [
        "sessions rename xeon-os mine",
        "sessions delete macbook-2017",
        "--batch --plan i7-8750h --no-save",
    ] {
        let says = "is a built-in reference: it can be shown, compared and exported, but not changed or run";
        let stderr = home.cmd(line).assert().code(1).get_output().stderr.clone();
        let stderr = String::from_utf8(stderr).unwrap();
        assert!(stderr.contains(says) && stderr.lines().count() == 1, "{line}: {stderr}");
    }
    assert!(home.sessions().is_empty());
}

#[test]
fn what_fio_wrote_becomes_a_session() {
    let home = Home::new();
    let file = format!("{}/tests/golden/fio/mixed.json", env!("CARGO_MANIFEST_DIR"));
    home.cmd("sessions import")
        .arg(&file)
        .assert()
        .success()
        .stderr(predicate::str::contains("imported as 20261121-165131-mixed"));
    let shown = home.json("sessions show 20261121");
    assert_eq!(
        (&shown["results"][0]["cell"]["backend"], &shown["results"][1]["cell"]["op"]),
        (&"uring".into(), &"write".into())
    );
    assert_eq!(
        (&shown["results"][0]["syscalls"], &shown["results"][0]["source"]["unknown"]),
        (&serde_json::Value::Null, &1.0.into())
    );
    home.cmd("sessions import")
        .arg(file.replace("mixed.json", "../../../Cargo.toml"))
        .assert()
        .code(1)
        .stderr(predicate::str::contains("is not an iotui session"));
}

#[test]
fn user_presets_are_listed() {
    let home = Home::new();
    let dir = home.home().join(".config/iotui/presets");
    std::fs::create_dir_all(&dir).unwrap();
    let text = "about = \"mine\"\ndoc = \"\"\nexperiment = \"sweep\"\n[settings]\nbackend = \"null\"\nsize = \"64k\"\ntrials = 2\n";
    std::fs::write(dir.join("mine.toml"), text).unwrap();
    std::fs::write(dir.join("raw.toml"), text).unwrap();
    std::fs::write(dir.join("bad.toml"), text.replace("trials", "trails")).unwrap();
    let list = home.json("--list presets");
    let of = |id: &str| {
        list.as_array()
            .unwrap()
            .iter()
            .filter(|p| p["id"] == id)
            .map(|p| p["unavailable"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("mine"), [serde_json::Value::Null]);
    assert!(of("raw").len() == 2 && of("raw")[1].as_str().unwrap().contains("has this name"));
    assert!(of("bad")[0].as_str().unwrap().contains("did you mean trials"));
    let out = home
        .cmd("--batch -p mine --dry-run --dir . --format json")
        .assert()
        .success()
        .get_output()
        .clone();
    let plan: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(
        (&plan["trials"], &plan["presets"][0], &plan["cells"][0]["backend"]),
        (&2.into(), &"mine".into(), &"null".into())
    );
    let stderr = stderr_of(&out);
    assert!(
        stderr.contains("your preset bad is ignored")
            && stderr.contains("your preset raw is ignored")
            && stderr.lines().count() == 2,
        "{stderr}"
    );
    home.cmd("--batch -p bad --dry-run")
        .assert()
        .code(2)
        .stderr(predicate::str::contains("bad.toml: line 7: trails"));
    home.cmd("--batch -p mine --dry-run --dir . --quiet").assert().success().stderr("");
}

#[test]
fn unavailable_entries_have_a_reason() {
    let home = Home::new();
    let mut command = home.std("--list backends --format json");
    common::kernel::forbid_uring(&mut command);
    let list: serde_json::Value = serde_json::from_slice(&output(&mut command).stdout).unwrap();
    let uring = list.as_array().unwrap().iter().find(|b| b["id"] == "uring").unwrap();
    assert!(uring["unavailable"].as_str().unwrap().contains("EPERM"), "{uring}");
    let read = list.as_array().unwrap().iter().find(|b| b["id"] == "read").unwrap();
    assert!(read["unavailable"].is_null(), "{read}");
}

#[test]
fn backends_are_listed_without_scratch_file() {
    let home = Home::new();
    // No folder this process could use is on a writable disk.
    let nowhere = home.path("nowhere");
    common::kernel::with_tmpfs(&nowhere, "1m", || {
        let mut command = home.std("--list backends");
        command.current_dir(&nowhere).env("HOME", &nowhere).env("TMPDIR", &nowhere);
        // The program may be in it.
        let there = std::fs::metadata("/var/tmp").is_ok();
        if there && !common::kernel::make_read_only("/var/tmp".as_ref()) {
            return skip("/var/tmp cannot be made read-only");
        }
        let ran = output(&mut command);
        assert_eq!(ran.status.code(), Some(0), "{}", stderr_of(&ran));
        assert!(stdout_of(&ran).contains("pread"));
        command = home.std(&format!("--batch {}", common::QUICK));
        command.current_dir(&nowhere).env("HOME", &nowhere).env("TMPDIR", &nowhere);
        let ran = output(&mut command);
        let stderr = stderr_of(&ran);
        assert_eq!(ran.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains("no folder for a scratch file") && stderr.contains("--dir"),
            "{stderr}"
        );
    });
}

#[test]
fn man_writes_one_page_or_all() {
    let home = Home::new();
    let text = home.stdout("--generate man");
    assert!(text.starts_with(".ie"), "{:?}", text.lines().next());
    for setting in iotui::plan::Settings::ALL {
        let name = setting.name.replace('-', "\\-");
        assert!(text.contains(&format!("\\-\\-{name}")), "{name}");
    }
    home.cmd("--generate man -o .").assert().success().stdout("");
    assert_eq!(std::fs::read_to_string(home.path("iotui.1")).unwrap(), text);
    assert!(home.path("iotui-sessions-compare.1").exists());
}

#[test]
fn shells_accept_their_completion() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = home.stdout(&format!("--generate {shell}"));
        assert!(script.contains("IOTUI_COMPLETE"), "{script}");
        if !has(shell) {
            without(shell);
            continue;
        }
        let file = home.path("completion");
        std::fs::write(&file, script).unwrap();
        let checked = output(StdCommand::new(shell).arg("-n").arg(&file));
        assert!(checked.status.success() && checked.stderr.is_empty(), "{shell}: {checked:?}");
    }
}

#[test]
fn completion_knows_options_and_saved_names() {
    let home = Home::new();
    home.stdout("--batch -b null -s 4k --count 8 --trials 1 --size 1m --save my-disk");
    // (the words so far, what the last one can become)
    for (words, wanted) in [
        ("--pres", "--preset"),
        ("--preset qu", "quick"),
        ("--backend pread,ur", "pread,uring"),
        ("--backend uring+sq", "uring+sqpoll"),
        ("--probe netw", "network"),
        ("--op wri", "write"),
        ("--expect etc", "etcd"),
        ("--baseline my", "my-disk"),
        ("sessions show my", "my-disk"),
        ("sessions export x --format js", "json"),
        ("sess", "sessions"),
    ] {
        let index = words.split(' ').count().to_string();
        let mut ask = home.cmd(&format!("-- iotui {words}"));
        ask.env("IOTUI_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
        let output = ask.assert().success().get_output().clone();
        let offered = stdout_of(&output);
        assert!(offered.lines().any(|word| word == wanted), "{words}: {offered}");
    }
}

#[test]
fn impossible_completions_are_one_line() {
    for (shell, words) in [("tcsh", ""), ("bash", "-- iotui --pre")] {
        let home = Home::new();
        let output =
            home.cmd(words).env("IOTUI_COMPLETE", shell).assert().code(2).get_output().clone();
        let stderr = common::stderr_of(&output);
        assert!(stderr.starts_with("iotui: IOTUI_COMPLETE: "), "{shell}: {stderr}");
        assert_eq!((stderr.lines().count(), stderr.ends_with('\n')), (1, true), "{stderr}");
    }
}

#[test]
fn bash_completes_a_backend() {
    if !has("bash") {
        return without("bash");
    }
    let home = Home::new();
    std::fs::write(home.path("completion"), home.stdout("--generate bash")).unwrap();
    let script = "source ./completion; COMP_WORDS=(iotui --backend prea); COMP_CWORD=2; \
                  $(complete -p iotui | sed 's/.*-F \\([^ ]*\\) .*/\\1/') iotui prea --backend; \
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = StdCommand::new("bash");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_iotui"));
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_path_buf())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    bash.args(["-c", script]).current_dir(home.path("")).env("PATH", path.unwrap());
    let ran = output(&mut bash);
    let offered = stdout_of(&ran);
    assert!(offered.lines().any(|word| word == "pread"), "{ran:?}");
}

#[test]
fn the_host_is_told() {
    let home = Home::new();
    let file = home.file("data.bin", 1 << 20);
    let before = common::data::Print::of(&file);
    let text = home.stdout("host");
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert!(text.contains(kernel.trim()), "{text}");
    let json = home.json("host data.bin");
    assert_eq!(
        json["host"]["kernel"]["release"]
            .as_str()
            .or(json["host"]["kernel"].as_str())
            .map(|k| k.contains(kernel.trim())),
        Some(true)
    );
    assert_eq!(json["target"]["size"], 1 << 20, "{}", json["target"]);
    assert!(json["findings"].is_array());
    assert!(home.stdout("host data.bin").contains("data.bin"));
    assert_eq!(common::data::Print::of(&file), before);
    for missing in ["host nothing.bin", "host data.bin more"] {
        home.cmd(missing).assert().code(2).stdout("");
    }
}

#[test]
fn help_and_version_are_data() {
    let home = Home::new();
    let version = home.stdout("--version");
    assert_eq!(version.trim(), format!("iotui {}", env!("CARGO_PKG_VERSION")));
    for line in ["--help", "-h", "help sessions", "sessions --help", "host --help"] {
        assert!(home.stdout(line).contains("Usage: iotui"), "{line}");
    }
    assert!(home.stdout("-h").lines().count() < 81 && home.stdout("--help").lines().count() > 200);
    assert!(
        ["--block-size", "--trials", "--batch", "--save"]
            .iter()
            .all(|o| home.stdout("--help").contains(o))
    );
}

#[test]
fn no_terminal_suggests_batch() {
    let home = Home::new();
    home.cmd("").assert().code(2).stdout("").stderr(predicate::str::contains("--batch"));
    home.cmd("data.bin").assert().code(2).stdout("").stderr(predicate::str::contains("--batch"));
}

#[test]
fn sessions_are_compared() {
    let home = Home::new();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/session-v1.jsonl");
    home.cmd(&format!("sessions import {golden}")).assert().success();
    let id = home.json("sessions list")[0]["id"].as_str().unwrap().to_string();
    let text = home.stdout(&format!("sessions compare {id} {golden}"));
    assert!(text.starts_with("A  ") && text.contains("\nB  "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json = home.json(&format!("sessions compare {id} {golden} {golden}"));
    assert_eq!(
        (&json["schema"], json["others"].as_array().map(Vec::len)),
        (&"iotui-compare/1".into(), Some(2))
    );
    let other = &json["others"][0];
    for key in ["side", "text", "differences", "cells", "alone"] {
        assert!(!other[key].is_null(), "{key} in {other}");
    }
    fn never(outcome: &serde_json::Value) -> bool {
        outcome == "faster" || outcome == "slower"
    }
    assert!(
        !other["cells"].as_array().unwrap().iter().any(|pair| never(&pair["outcome"])),
        "{other}"
    );
    home.cmd(&format!("sessions compare {id}")).assert().code(2).stdout("");
    home.cmd(&format!("sessions compare {id} nothing"))
        .assert()
        .code(1)
        .stdout("")
        .stderr(predicate::str::contains("no session"));
    let wrong = home
        .cmd(&format!("sessions compare {id} {id} --format markdwn"))
        .assert()
        .code(2)
        .stdout("");
    wrong.stderr(predicate::str::contains("did you mean markdown"));
    let (help, line) = (
        home.stdout("sessions compare --help"),
        format!("sessions compare {id} {golden} --format"),
    );
    for format in iotui::report::COMPARISONS {
        assert!(help.contains(format.id), "{help}");
        let text = home.stdout(&format!("{line} {}", format.id));
        home.cmd(&format!("{line} {} -o out", format.id)).assert().success().stdout("");
        assert_eq!(std::fs::read_to_string(home.path("out")).unwrap(), text, "{}", format.id);
    }
    assert!(home.stdout(&format!("{line} markdown")).starts_with("**B against A: "));
    home.cmd(&format!("sessions compare {id} {id} --format csv")).assert().code(2).stdout("");
}

#[test]
fn sessions_of_nobody() {
    let home = Home::new();
    assert_eq!(home.json("sessions list"), serde_json::json!([]));
    home.cmd("sessions list").assert().success().stdout(predicate::str::contains("no sessions"));
    for line in ["sessions show x", "sessions delete x", "sessions rename x y", "sessions import x"]
    {
        home.cmd(line)
            .assert()
            .code(1)
            .stdout("")
            .stderr(predicate::function(|e: &str| e.lines().count() == 1));
    }
    // A file that is not a session is refused, and stays unchanged.
    std::fs::write(home.path("no.jsonl"), "{\"iotui\":1,\"kind\":\"session\"").unwrap();
    for line in ["sessions show no.jsonl", "sessions import no.jsonl"] {
        home.cmd(line)
            .assert()
            .code(1)
            .stdout("")
            .stderr(predicate::function(|e: &str| e.lines().count() == 1));
    }
    std::fs::write(
        home.path("new.jsonl"),
        "{\"iotui\":999,\"kind\":\"session\",\"id\":\"a\",\"name\":\"\"}\n",
    )
    .unwrap();
    home.cmd("sessions show new.jsonl")
        .assert()
        .code(1)
        .stdout("")
        .stderr(predicate::str::contains("newer"));
    assert!(home.sessions().is_empty());
}

#[test]
fn every_format_is_offered_and_exported() {
    let home = Home::new();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/session-v1.jsonl");
    let help = home.stdout("sessions export --help");
    for format in iotui::report::FORMATS {
        assert!(help.contains(format.id), "{}", format.id);
        let piped = |line: &str| home.cmd(line).assert().success().get_output().stdout.clone();
        let data = piped(&format!("sessions export {golden} --format {}", format.id));
        home.cmd(&format!("sessions export {golden} --format {} -o out", format.id))
            .assert()
            .success()
            .stdout("");
        assert_eq!(std::fs::read(home.path("out")).unwrap(), data, "{}", format.id);
        assert!(
            !piped(&format!("sessions export {golden} --format {} --anonymous", format.id))
                .is_empty()
        );
    }
    home.cmd(&format!("sessions export {golden} --format jsno"))
        .assert()
        .code(2)
        .stderr(predicate::str::contains("did you mean json"));
    home.cmd(&format!("sessions export {golden}"))
        .assert()
        .code(2)
        .stderr(predicate::str::contains("--format"));
}

#[test]
fn throughput_uses_the_chosen_unit() {
    let home = Home::new();
    let table = |unit: &str| home.stdout(&format!("sessions show ryzen-5900hs --unit {unit}"));
    assert!(
        table("MB/s").contains("MB/s") && !table("MB/s").contains("GiB/s ±"),
        "{}",
        table("MB/s")
    );
    assert_eq!(table("gib"), table("GiB/s"));
    let svg = home.stdout("sessions export macbook-2017 --format svg --unit kB/s --scale linear");
    assert!(svg.contains(">kB/s: median<"), "{svg}");
    home.cmd("sessions show ryzen-5900hs --unit MiB/h")
        .assert()
        .code(2)
        .stderr(predicate::str::contains("MiB/s"));
}

#[test]
fn png_is_refused_on_a_terminal() {
    let home = Home::new();
    home.cmd("sessions export macbook-2017 --format png -o run.png").assert().success();
    assert!(std::fs::read(home.path("run.png")).unwrap().starts_with(b"\x89PNG"));
    for line in
        ["sessions export macbook-2017 --format png", "sessions show macbook-2017 --format png"]
    {
        let (code, text) = Terminal::start(&home, line, (160, 20), &[]).end();
        assert!(
            code == 2 && text.contains("-o run.png") && !text.contains("PNG"),
            "{line}: {code}, {text}"
        );
    }
}
