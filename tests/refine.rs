//! `--refine`: rounds are added to a session.

use crate::common::stderr_of;
use std::fs::File;
use std::time::{Duration, SystemTime};

use crate::common::{Home, output};
use serde_json::Value;

const LINE: &str = "data.bin -b pread -s 4k,64k -c warm --trial-time 1ms";

fn trials(report: &Value) -> Vec<usize> {
    let results = report["results"].as_array().unwrap();
    results.iter().map(|result| result["trials"].as_array().unwrap().len()).collect()
}

/// Returns the error of a refused command line.
fn refused(home: &Home, line: &str) -> String {
    let ran = output(&mut home.std(&format!("--batch {line}")));
    let stderr = stderr_of(&ran);
    assert_eq!(ran.status.code(), Some(2), "{line}: {stderr}");
    assert!(stderr.trim_end().lines().count() == 1 && ran.stdout.is_empty(), "{line}: {stderr}");
    stderr
}

#[test]
fn refine_adds_rounds() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    home.cmd(&format!("--batch {LINE} --trials 5 --save old")).assert().success();
    let before = home.json("sessions show old");
    let more = home.json("--batch --refine old --trials 6 --save new");
    assert_eq!((trials(&before), trials(&more)), (vec![5, 5], vec![11, 11]));
    for (result, old) in
        more["results"].as_array().unwrap().iter().zip(before["results"].as_array().unwrap())
    {
        let all = result["trials"].as_array().unwrap();
        assert_eq!(all[..5], old["trials"].as_array().unwrap()[..], "the old trials come first");
        let rounds: Vec<u64> = all.iter().map(|t| t["round"].as_u64().unwrap()).collect();
        assert_eq!(rounds, (1..=11).collect::<Vec<_>>());
        let counted = |of: &Value| of["latency"]["count"].as_u64().unwrap_or(0);
        assert!(counted(result) >= counted(old), "the old latencies are lost");
    }
    assert_eq!(home.json("sessions show old")["results"], before["results"]);
    let time = &more["time"];
    assert!(time["measured_seconds"].as_f64() <= time["run_seconds"].as_f64(), "{time}");
    let table = home.stdout("sessions show new").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(table.contains("the two parts of this run"), "{table}");
    // Without a number as many as before, or as many as a precision needs.
    assert_eq!(trials(&home.json("--batch --refine new --no-save")), [22, 22]);
    let until = home.json("--batch --refine new --until 100% --no-save");
    assert!(trials(&until).iter().all(|count| *count >= 11), "{until}");
}

#[test]
fn impossible_refinement_is_refused() {
    let home = Home::new();
    let file = home.file("data.bin", 1 << 20);
    home.cmd(&format!("--batch {LINE} --trials 2 --save old")).assert().success();
    assert!(refused(&home, "--refine old -s 4k").contains("only --trials, --until and --budget"));
    assert!(refused(&home, "--refine old data.bin").contains("cannot be used with"));
    assert!(refused(&home, "--refine old --plan old").contains("cannot be used with"));
    home.cmd("--batch --probe clock --trials 2 --save probes").assert().success();
    assert!(refused(&home, "--refine probes").contains("no trials of a file"));
    let later = SystemTime::now() + Duration::from_secs(5);
    File::options().write(true).open(&file).unwrap().set_modified(later).unwrap();
    assert!(refused(&home, "--refine old").contains("was modified after"));
    File::options().write(true).open(&file).unwrap().set_len(1 << 19).unwrap();
    assert!(refused(&home, "--refine old").contains("not as long as"));
}
