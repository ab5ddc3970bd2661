//! Trials that look for a steady state: `--until steady`, from the command line to the session. No
//! bound here depends on how fast or how steady this machine is.

use super::common::{self, Home, stderr_of};

#[test]
fn one_long_trial_has_rounds() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for line in
        ["data.bin -b pread -s 64k -c warm", "-b pread --op write -s 64k --size 1m --direct"]
    {
        let report = home.json(&format!("--batch {line} --until steady --budget 2s --no-save"));
        common::assert_valid(&report);
        assert_eq!(report["plan"]["steady"], true);
        let result = &report["results"][0];
        let trials = result["trials"].as_array().unwrap();
        assert_eq!(trials.len(), 1, "{line}");
        let [nanos, bytes] = ["nanos", "bytes"].map(|key| trials[0][key].as_u64().unwrap());
        let rounds = &trials[0]["evidence"]["rounds"];
        let of = |key: &str| -> Vec<u64> {
            rounds[key].as_array().unwrap().iter().map(|of| of.as_u64().unwrap()).collect()
        };
        let (times, each) = (of("nanos"), of("bytes"));
        let planned = rounds["planned"].as_u64().unwrap();
        assert!(times.iter().all(|time| *time >= planned / 2), "{line}: {rounds}");
        // The round in which the trial ended is not among them.
        let all = each.iter().sum::<u64>();
        assert!(!each.is_empty() && all <= bytes && nanos > 0, "{line}: {rounds} of {nanos}");
        let text = report["answer"]["text"].as_str().unwrap();
        assert!(text.contains(" keeps ") || text.contains(" ends at "), "{text}");
    }
}

#[test]
fn others_around_a_trial_are_named() {
    use std::io::Write;
    let home = Home::new();
    if !home.on_disk() {
        return;
    }
    home.file("data.bin", 1 << 20);
    let line = "--batch data.bin -b pread -s 4k --rate 10 --trials 1 --trial-time 6s --budget 1m \
                --no-save --format json";
    let path = home.path("report.json");
    let mut run = home.std(line).stdout(std::fs::File::create(&path).unwrap()).spawn().unwrap();
    // This process is the one that uses the disk meanwhile.
    let mut other = std::fs::File::create(home.path("other.bin")).unwrap();
    let data = vec![7; 4 << 20];
    while run.try_wait().unwrap().is_none() {
        other.write_all(&data).unwrap();
        other.sync_all().unwrap();
        std::io::Seek::rewind(&mut other).unwrap();
    }
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    common::assert_valid(&report);
    let trial = &report["results"][0]["trials"][0];
    let around = &trial["evidence"]["surroundings"];
    let steps = around["steps"].as_array().unwrap();
    let processes = steps.iter().filter_map(|step| step["others"]["processes"].as_array());
    let own = std::process::id();
    assert!(processes.flatten().any(|other| other["pid"] == own), "{around}");
    let nanos = trial["nanos"].as_u64().unwrap();
    for step in steps {
        let [from, lasted] = ["from", "nanos"].map(|key| step[key].as_u64().unwrap());
        assert!(lasted >= 900_000_000 && from <= nanos, "{around} of {nanos}");
    }
}

#[test]
fn impossible_steady_states_are_refused() {
    let home = Home::new();
    home.file("data.bin", 1 << 20);
    for (line, said) in [
        ("-b pread --until steady --trials 3", "drop one of them"),
        ("-b pread --until steady -n 10", "which --count does not allow"),
        ("-b pread --until steady --rate 1k", "which a rate does not allow"),
        ("-b pread --op write --until steady", "which writing to the page cache does not allow"),
        ("-b fio --until steady", "which another program does not allow"),
        ("-p peak,sustain", "the preset sustain runs until its rate is steady; run it alone"),
        ("-p fast --until steady", "which a pick among methods does not allow"),
        ("-b pread --until stead", "answer, steady or a percentage"),
    ] {
        let file = if line.contains("write") { "" } else { "data.bin" };
        let output = home.cmd(&format!("--batch {file} -s 4k {line}")).output().unwrap();
        let error = stderr_of(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(error.contains(said), "{line}: {error}");
    }
}
