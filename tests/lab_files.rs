//! The probes of files through the program: what they measure, refuse and leave behind.

use crate::common::{stderr_of, stdout_of};
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::common::child::Run;
use crate::common::{Home, each};
use nix::sys::signal::Signal;
use serde_json::Value;

const SHORT: &str = "--batch --trials 2 --trial-time 1ms --budget 2m --no-save --dir .";

#[test]
fn file_probes_remove_their_files() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let document = home.json(&format!("{SHORT} --probe metadata,fsync"));
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 10);
    for result in results {
        assert!(
            result["error"].is_null()
                && result["value"]["median"].as_f64().is_some_and(|value| value > 0.0),
            "{result}"
        );
        assert!(
            result["estimate"]["reason"].as_str().is_some_and(|reason| !reason.is_empty()),
            "{result}"
        );
    }
    assert!(home.names().is_empty(), "{:?}", home.names());
}

#[test]
fn missing_remote_file_skips_its_probe() {
    let home = Home::new();
    fs::write(home.path("data.bin"), vec![1; 5000]).unwrap();
    let refused = home.cmd("--batch --probe remote-read --no-save data.bin").output().unwrap();
    let stderr = stderr_of(&refused);
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("data.bin is local, on ") && stderr.contains("network or FUSE mount"),
        "{stderr}"
    );
    assert_eq!(fs::read(home.path("data.bin")).unwrap(), vec![1; 5000]);
    if home.on_disk() {
        let document = home.json(&format!("{SHORT} --probe remote-read,metadata"));
        assert_eq!(document["results"].as_array().unwrap().len(), 4);
        let skipped: Vec<&Value> = each(&document["skipped"], "reason");
        assert!(
            !skipped.is_empty()
                && skipped.iter().all(|why| why.as_str().unwrap().contains("no remote file")),
            "{skipped:?}"
        );
    }
}

#[test]
fn leftovers_of_killed_runs_are_swept() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    let endless = "--batch --probe metadata --trials 100000 --trial-time 1ms --budget 1h --no-save --dir . --format jsonl";
    for _ in 0..3 {
        let mut run = Run::start(home.std(endless).stderr(Stdio::piped()));
        run.until("\"trial\"");
        run.signal(Signal::SIGKILL);
        run.end(Duration::from_secs(60)).unwrap();
    }
    assert!(
        home.names().iter().all(|name| name.starts_with(".iotui-scratch-")),
        "{:?}",
        home.names()
    );
    home.json(&format!("{SHORT} --probe metadata"));
    assert!(home.names().is_empty(), "{:?}", home.names());
}

#[test]
fn file_system_is_named_above_figures() {
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    fs::write(home.path("data.bin"), vec![1; 5000]).unwrap();
    let above = |what: &str| {
        let line = "--batch --trials 2 --trial-time 1ms --budget 2m --no-save --ceilings never --details data.bin";
        let output = home.cmd(&format!("{line} {what}")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
        let text = stdout_of(&output);
        let conditions = text.lines().skip_while(|line| !line.starts_with("target"));
        conditions.take_while(|line| !line.starts_with("host")).collect::<Vec<_>>().join(" ")
    };
    let of_job = above("-b pread -s 4k -c warm");
    assert!(of_job.contains("data.bin, 4.88 KiB, "), "{of_job}");
    assert_eq!(above("--probe file-read"), of_job);
}
