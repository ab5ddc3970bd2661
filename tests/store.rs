//! The session store while several processes create, rename, delete and import sessions, and while
//! some are killed halfway.

use crate::common::stderr_of;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::child::Run;
use crate::common::{self, Home, each, names, output};
use nix::sys::signal::Signal;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/session-v1.jsonl");
/// The id of the imported session.
const IMPORTED: &str = "20261121-093011-scratch";
/// Three trials of the bare loop over a small file.
const RUN: &str = "--batch data.bin -b null -s 4k -c asis --trials 3 --trial-time 1ms --budget 10m";

fn home() -> Home {
    let home = Home::new();
    home.file("data.bin", 1 << 16);
    home
}

/// Starts all of them, then waits for all.
fn at_once(commands: impl IntoIterator<Item = Command>) -> Vec<Output> {
    fn start(mut command: Command) -> std::process::Child {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        quiet.spawn().unwrap()
    }
    let children: Vec<_> = commands.into_iter().map(start).collect();
    children.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

/// Writes a session with this many additional notes, so that copying it takes a while.
fn large(path: &Path, notes: usize) {
    let mut text = fs::read_to_string(GOLDEN).unwrap();
    text += &format!("{{\"kind\":\"note\",\"text\":\"{}\"}}\n", "x".repeat(1000)).repeat(notes);
    fs::write(path, text).unwrap();
}

/// Asserts that everything in the store is a complete session, and that nothing else is there.
fn assert_whole(home: &Home) -> Vec<serde_json::Value> {
    let list = home.json("sessions list");
    let ids: BTreeSet<String> =
        each(&list, "id").iter().map(|id| format!("{}.jsonl", id.as_str().unwrap())).collect();
    assert_eq!(ids, names(&home.sessions_dir()).into_iter().collect(), "something else is left");
    for (id, state) in each(&list, "id").into_iter().zip(each(&list, "state")) {
        assert_ne!(state, "unreadable", "{id}");
        home.json(&format!("sessions show {}", id.as_str().unwrap()));
    }
    list.as_array().unwrap().clone()
}

#[test]
fn concurrent_saves_get_distinct_names() {
    let home = home();
    for round in 0..4 {
        let ran = at_once((0..6).map(|_| home.std(&format!("{RUN} --save same"))));
        assert!(
            ran.iter().all(|o| o.status.success()),
            "{:?}",
            ran.iter().map(stderr_of).collect::<Vec<_>>()
        );
        let stderr = ran
            .iter()
            .filter(|o| stderr_of(o).contains("that name is in use: this session is named same-"))
            .count();
        assert_eq!(stderr, if round == 0 { 5 } else { 6 }, "each that got a number says so");
    }
    let list = assert_whole(&home);
    let got: BTreeSet<&str> = list.iter().map(|s| s["name"].as_str().unwrap()).collect();
    let numbered: Vec<String> = (2..=24).map(|n| format!("same-{n}")).collect();
    assert_eq!(got, numbered.iter().map(String::as_str).chain(["same"]).collect());
    // All with the same second and file: their ids still differ, and each has its own three trials.
    assert_eq!(list.len(), 24);
    assert!(list.iter().all(|s| s["state"] == "finished" && s["measured"] == 1), "{list:?}");
}

#[test]
fn concurrent_renames_get_distinct_names() {
    let home = home();
    for _ in 0..6 {
        home.cmd(&format!("sessions import {GOLDEN}")).assert().success();
    }
    let ids: Vec<String> =
        assert_whole(&home).iter().map(|s| s["id"].as_str().unwrap().to_string()).collect();
    for _ in 0..5 {
        let ran = at_once(ids.iter().map(|id| home.std(&format!("sessions rename {id} wanted"))));
        assert!(
            ran.iter().all(|o| o.status.success()),
            "{:?}",
            ran.iter().map(stderr_of).collect::<Vec<_>>()
        );
        let got: BTreeSet<String> =
            assert_whole(&home).iter().map(|s| s["name"].as_str().unwrap().to_string()).collect();
        assert_eq!(got.len(), ids.len(), "{got:?}");
        let stderr: BTreeSet<String> = ran
            .iter()
            .map(|o| stderr_of(o).trim_end().rsplit(' ').next().unwrap().to_string())
            .collect();
        assert_eq!(stderr, got, "each says which it got");
    }
    let taken = stderr_of(&output(&mut home.std(&format!("sessions rename {} wanted", ids[0]))));
    assert!(taken.contains("now named wanted"), "{taken}");
}

#[test]
fn concurrent_commands_harm_no_session() {
    let home = home();
    large(&home.path("large.jsonl"), 500);
    home.cmd(&format!("{RUN} --save bystander")).assert().success();
    let bystander = home.sessions().remove(0);
    let before = fs::read(&bystander).unwrap();
    let work = |worker: usize| {
        for round in 0..8 {
            let line = match (worker + round) % 4 {
                0 => format!("{RUN} --quiet --save w"),
                1 => "sessions import large.jsonl".to_string(),
                2 => format!("sessions rename {IMPORTED} r{worker}"),
                // A session that another process just took, deleted or renamed is missing: a
                // refusal without damage.
                _ => format!("sessions delete {IMPORTED}{}", ["", "-2", "-3", "-4"][round / 2]),
            };
            let ran = output(&mut home.std(&line));
            let stderr = stderr_of(&ran);
            assert!(matches!(ran.status.code(), Some(0 | 1)), "{line}: {stderr}");
            assert!(
                !stderr.contains("panicked") && stderr.lines().count() <= 2,
                "{line}: {stderr}"
            );
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|worker| drop(scope.spawn(move || work(worker)))));
    assert_whole(&home);
    assert_eq!(fs::read(&bystander).unwrap(), before);
}

#[test]
fn recorded_session_cannot_be_deleted() {
    let home = home();
    let mut command = home.std("--batch data.bin -b null -s 4k -c asis --trials 1000000 --trial-time 1ms --budget 10m --format jsonl");
    let mut run = Run::start(command.stderr(Stdio::piped()));
    run.until("\"trial\"");
    let file = home.sessions().remove(0);
    let id = file.file_stem().unwrap().to_str().unwrap();
    for line in [
        format!("sessions delete {id}"),
        format!("sessions rename {id} x"),
        format!("sessions delete {}", file.display()),
    ] {
        let ran = output(&mut home.std(&line));
        let stderr = stderr_of(&ran);
        assert_eq!((ran.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
        assert!(
            stderr.contains("still being recorded") && stderr.contains("stop its run first"),
            "{stderr}"
        );
    }
    // A copy of an incomplete file is another session.
    home.cmd(&format!("sessions import {}", file.display())).assert().success();
    run.signal(Signal::SIGKILL);
    run.end(Duration::from_secs(60)).expect("it is killed");
    assert_eq!(assert_whole(&home).iter().filter(|s| s["state"] == "interrupted").count(), 2);
    home.cmd(&format!("sessions delete {id}")).assert().success();
    assert_eq!(home.sessions().len(), 1);
}

/// Starts a command and kills it after `events` events in the sessions folder, unless it has ended
/// before.
fn killed(home: &Home, line: &str, events: usize) -> bool {
    let mut watch = common::kernel::Watch::of(&home.sessions_dir());
    let mut run = Run::start(home.std(line).stderr(Stdio::null()));
    for _ in 0..events {
        if !watch.one_or_end(&run) {
            break;
        }
    }
    run.signal(Signal::SIGKILL);
    run.end(Duration::from_secs(60)).expect("it is killed").code().is_none()
}

#[test]
fn killed_rename_is_atomic() {
    let home = home();
    large(&home.path("large.jsonl"), 3000);
    home.cmd("sessions import large.jsonl").assert().success();
    let file = home.sessions().remove(0);
    let id = file.file_stem().unwrap().to_str().unwrap().to_string();
    let rest =
        |path: &PathBuf| fs::read_to_string(path).unwrap().split_once('\n').unwrap().1.to_string();
    let (before, mut name) = (rest(&file), "golden – ünïcode".to_string());
    let mut in_the_middle = 0;
    for round in 0..40 {
        let new = format!("n{round}");
        in_the_middle +=
            usize::from(killed(&home, &format!("sessions rename {id} {new}"), round % 20));
        let list = home.json("sessions list");
        assert_eq!(
            (list.as_array().unwrap().len(), &list[0]["id"]),
            (1, &id.clone().into()),
            "{list}"
        );
        let is = list[0]["name"].as_str().unwrap().to_string();
        assert!(is == name || is == new, "{name} became {is}, not {new}");
        assert!(rest(&file) == before, "its other lines changed");
        name = is;
    }
    assert!(in_the_middle > 0, "none was killed in the middle");
    // Leftovers are removed by the next command that completes.
    home.cmd(&format!("sessions rename {id} last")).assert().success();
    assert_whole(&home);
}

#[test]
fn killed_import_is_atomic() {
    let home = home();
    large(&home.path("large.jsonl"), 3000);
    fs::create_dir_all(home.sessions_dir()).unwrap();
    let trials = iotui::session::load(&home.path("large.jsonl")).unwrap().trials;
    for round in 0..40 {
        killed(&home, "sessions import large.jsonl", round % 20);
        killed(&home, RUN, round % 7);
    }
    home.cmd("sessions import large.jsonl").assert().success();
    for listed in assert_whole(&home) {
        let session = iotui::session::load(
            &home.sessions_dir().join(format!("{}.jsonl", listed["id"].as_str().unwrap())),
        )
        .unwrap();
        if !session.name.is_empty() {
            assert!(session.trials == trials && session.notes.len() == 3001, "{listed}");
        }
    }
}
